"""A run on disk: ``plan.json``, ``run.json`` and ``episodes.jsonl``. Made so that nothing that was finished is ever lost.

Lines are appended as episodes end, by one process at a time. When the last one is in, they are put in the order of the plan, so that two
runs of the same plan leave the same file but for timings.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from etude.evaluation.described import described
from etude.evaluation.plan import Plan, read_object, read_plan, refuse_foreign_plan
from etude.evaluation.record import Record
from etude.evaluation.result_table import ResultTable, result_table
from etude.names import EtudeError, json_text

PLAN, INFO, LINES, LOCK = "plan.json", "run.json", "episodes.jsonl", "lock"
KINDS: dict[str, type | tuple[type, ...]] = {
    "machine": dict, "contract": dict, "command": (str, list), "standards": dict, "code": dict, "sittings": list, "mixed": list,
    "converted": dict, "robot": dict,
    "suites": dict, "perturbations": dict, "plugins": list,
}  # fmt: skip
KEPT = ("films", "actions", "views")  # folders of what --record has kept of episodes
OURS = (PLAN, INFO, LINES, LOCK, *KEPT, f"{PLAN}.new", f"{INFO}.new", f"{LINES}.new")


@dataclass(frozen=True)
class Run:
    """The results of a run, complete or not; reading never changes the run.

    >>> run = etude.evaluate("oracle", "kitchen@test", episodes=20)
    >>> print(run.table())
    """

    folder: Path
    plan: Plan
    info: dict[str, Any]
    records: tuple[Record, ...]

    @property
    def mixed(self) -> str:
        """Empty, or in words: the run holds results of more than one state of the policy's code, as somebody has allowed."""
        who = " and ".join(self.info.get("mixed") or ())
        words = f"the code of the {who} changed during the run, and it holds results of both"
        return f"{self.plan.policy} ({self.folder.name}): {words}" if who else ""

    @property
    def backend(self) -> str:
        """What computed the decisions of policy and planner, such as "torch 2.13.0 on cpu"; empty where neither says."""
        codes = [one.get("code") or {} for one in (self.info, *(self.info.get("sittings") or ()))]
        told = [about for code in codes for about in code.values() if about and "backend" in about]
        return " and ".join(dict.fromkeys(" on ".join(about[key] for key in ("backend", "device") if key in about) for about in told))

    @property
    def judged(self) -> str:
        """Empty, or in words: a robot was judged by a person, and nothing of it was simulated."""
        name = (self.info.get("robot") or {}).get("name") or self.plan.robot
        who = f"{self.plan.policy} ({self.folder.name})"
        return f"{who}: played on the robot {name} and judged by a person; scenes were set up by hand" if self.plan.robot else ""

    def table(self) -> ResultTable:
        """Success by task and condition."""
        return result_table(self.records)

    def report(self, path: Path | str = "") -> Path:
        """Write the page about it: ``report.html`` in its folder, if no other place is given."""
        return write_page([self], Path(path) if path else self.folder / "report.html")

    def article(self, path: Path | str = "") -> Path:
        """Write it as the results section of a paper: ``article.html`` in its folder, if no other place is given."""
        return write_page([self], Path(path) if path else self.folder / "article.html", article=True)

    def plausible(self, perturbation: str) -> bool | None:
        """Should success survive the perturbation of this name? None where neither the run nor etude knows."""
        found: bool | None = self._perturbation(perturbation).get("plausible")
        return found

    def summary(self, perturbation: str) -> str:
        """What the perturbation of this name does, in a sentence; empty where nobody knows."""
        return str(self._perturbation(perturbation).get("summary", ""))

    @property
    def privileged(self) -> bool:
        """Was the policy given the true state?"""
        return bool(((self.info.get("contract") or {}).get("policy") or {}).get("privileged"))

    def varied(self, perturbation: str) -> str:
        """What the perturbation of this name changes or takes away, such as "the wording of the instruction"."""
        return str(self._perturbation(perturbation).get("varies") or f"what {perturbation} changes")

    def tasks(self, suite: str) -> tuple[str, ...]:
        """The tasks of a suite in its order: as the run wrote them down, then those of this etude, then what was played."""
        own = (self.info.get("suites") or {}).get(suite) or (described([suite], ())["suites"].get(suite)) or {}
        return tuple(dict.fromkeys((*own.get("tasks", ()), *(r.name.task for r in self.records if r.name.suite == suite))))

    def purpose(self, suite: str, split: str) -> str:
        """What a split of a suite is for, such as "training"; empty where nobody knows."""
        own = (self.info.get("suites") or {}).get(suite) or {}
        return str((own.get("splits") or described([suite], ())["suites"].get(suite, {}).get("splits") or {}).get(split, ""))

    def _perturbation(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = (self.info.get("perturbations") or {}).get(name) or described((), [name])["perturbations"].get(name) or {}
        return found

    @property
    def missing(self) -> list[tuple[str, str]]:
        """What is planned and not yet played: (name, mode)."""
        done = {r.key for r in self.records}
        return [e for e in self.plan.episodes if e not in done]


def write_page(runs: Sequence[Run], path: Path, article: bool = False) -> Path:
    """Write the report of some runs, or an article. Pages are made of runs, not runs of pages: only this door leads there."""
    from etude.report.article import write_article
    from etude.report.evaluation import write_report

    if article:
        write_article(runs, path)
    else:
        write_report(runs, path)
    return path


def read_run(folder: Path) -> Run:
    """The run in a folder, with its results in the order of the plan. A torn last line is left out."""
    if not folder.is_dir():
        raise EtudeError(f"there is no run folder {str(folder)!r}")
    if not (folder / PLAN).exists():
        raise EtudeError(f"{str(folder)!r} is not a run: it has no {PLAN}; runs are made by 'etude evaluate --out FOLDER'")
    plan = read_plan(folder / PLAN)
    records, _ = _read_lines(folder / LINES)
    return Run(folder, plan, _read_info(folder, bool(records)), tuple(_ordered(records, plan, folder / LINES)))


def _read_info(folder: Path, results: bool) -> dict[str, Any]:
    """``run.json``, which must be there where there are ``results``; what we write into it must have the form in which we do."""
    path = folder / INFO
    info = read_object(path) if path.exists() else {}
    if results and not info:
        raise EtudeError(f"{str(folder)!r} has results but no {INFO} to say what made them: bring it back, or play in a new folder")
    for what, kinds in KINDS.items():
        _refuse_foreign(path, what, info.get(what), kinds)
    _refuse_foreign(path, "machine.packages", (info.get("machine") or {}).get("packages"), dict)
    for k, sitting in enumerate(info.get("sittings") or ()):
        _refuse_foreign(path, f"sittings[{k}]", sitting, dict)
        _refuse_foreign(path, f"sittings[{k}].code", sitting.get("code"), dict)
    return info


def _refuse_foreign(path: Path, what: str, value: object, kinds: type | tuple[type, ...]) -> None:
    if value is not None and not isinstance(value, kinds):
        raise EtudeError(f"{path}: {what} is {type(value).__name__}, which no run of ours wrote: bring the file back as it was")


def _read_lines(path: Path) -> tuple[list[Record], int]:
    """The records of a file, and the bytes they take; what follows is a line that was never finished."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise EtudeError(f"{path} cannot be read: {error.strerror}") from None
    *lines, torn = text.split(b"\n")
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found.append(Record.from_line(line.decode("utf-8")))
        except (EtudeError, UnicodeDecodeError) as error:
            raise EtudeError(f"{path} line {number} is damaged ({error}): take that line out, and its episode is played again") from None
    return found, len(text) - len(torn)


def _ordered(records: Iterable[Record], plan: Plan, path: Path) -> list[Record]:
    """One record for each planned episode that has one. A later line replaces an error; two verdicts on one episode must agree."""
    planned = {key: k for k, key in enumerate(plan.episodes)}
    found: dict[tuple[str, str], Record] = {}
    for record in records:
        if record.key not in planned:
            raise EtudeError(f"{path} has a result for {record.episode} ({record.mode}), which is not in {PLAN}: it belongs to another run")
        earlier = found.get(record.key)
        if earlier is None or earlier.outcome == "error":
            found[record.key] = record
        elif record.outcome != "error" and not same_result(earlier, record):
            raise EtudeError(f"{path} has two different results for {record.episode} ({record.mode}); take the wrong line out")
    return sorted(found.values(), key=lambda r: planned[r.key])


def same_result(one: Record, other: Record) -> bool:
    """Do two records say the same, timings and videos aside?"""
    return replace(one, timings={}, film=None) == replace(other, timings={}, film=None)


class Store:
    """A run folder open for work. Use it as a context; only one process can hold it."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan
        self.repaired = ""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EtudeError(f"--out {str(folder)!r} cannot be made: {error.strerror}; choose a folder you may write to") from None
        foreign = sorted(p.name for p in folder.iterdir() if p.name not in OURS and not p.name.startswith("shard-"))
        if foreign and not (folder / PLAN).exists():
            raise EtudeError(f"--out {str(folder)!r} holds other files ({foreign[0]}, …) and no run; choose an empty or new folder")
        self._lock = self._locked()
        try:
            self._open()
        except BaseException:
            self._lock.close()
            raise

    def _locked(self) -> IO[bytes]:
        try:
            handle = (self.folder / LOCK).open("ab")
        except OSError as error:
            raise EtudeError(f"--out {str(self.folder)!r} cannot be written to: {error.strerror}") from None
        try:
            take_lock(handle)
        except OSError:
            handle.close()
            raise EtudeError(f"another process is working on {str(self.folder)!r}; wait for it, or choose another --out") from None
        return handle

    def _open(self) -> None:
        path, lines = self.folder / PLAN, self.folder / LINES
        there = read_plan(path) if path.exists() else None
        if there is not None:
            refuse_foreign_plan(there, path)
            self.plan = replace(self.plan, extra=there.extra)
        if there is None and lines.exists():
            raise EtudeError(f"{str(self.folder)!r} has results but no {PLAN}: bring it back, or choose another --out")
        records, good = _read_lines(lines)
        if records:
            _read_info(self.folder, results=True)
        if there is not None and records:
            if set(self.plan.names) <= set(there.names):  # a run that was extended since
                self.plan = replace(self.plan, names=there.names)
            _refuse_other_plan(there, self.plan, self.folder)
        elif there != self.plan:  # of a start that came to nothing, nothing is kept
            write_whole(path, self.plan.to_json())
        self.records = {r.key: r for r in _ordered(records, self.plan, lines)}
        try:
            if not records:
                (self.folder / INFO).unlink(missing_ok=True)
            self._file = lines.open("ab")
            self._end = good
            torn = self._file.tell() - good
            if torn:
                self._file.truncate(good)
                self.repaired = f"the last line of {lines} was torn off ({torn} bytes): its episode is played again"
        except OSError as error:
            raise EtudeError(f"{lines} cannot be written: {error.strerror}") from None

    @property
    def missing(self) -> list[tuple[str, str]]:
        """What is still to be played: (name, mode)."""
        return [e for e in self.plan.episodes if e not in self.records]

    def forget_errors(self) -> int:
        """Have the episodes that ended in errors played again; their lines are replaced when the new ones are in."""
        broken = [key for key, r in self.records.items() if r.outcome == "error"]
        for key in broken:
            del self.records[key]
        return len(broken)

    def extend(self, plan: Plan) -> None:
        """Take over a plan that holds everything this one does, and more."""
        self.plan = plan
        write_whole(self.folder / PLAN, plan.to_json())

    def info(self) -> dict[str, Any]:
        """``run.json``, if it was written."""
        return _read_info(self.folder, results=False)

    def write_info(self, info: dict[str, Any]) -> None:
        """Write ``run.json``."""
        write_whole(self.folder / INFO, json_text(info, indent=1) + "\n")

    def add(self, record: Record) -> None:
        """Append one result: its whole line, or nothing of it."""
        line = record.to_line().encode() + b"\n"
        handle = self._file.fileno()
        try:
            if os.fstat(handle).st_size != self._end:  # what was left of a line that could not be written
                os.ftruncate(handle, self._end)
            rest = line
            while rest:  # a disk that fills up takes a part, and refuses the rest
                rest = rest[os.write(handle, rest) :]
        except OSError as error:
            with contextlib.suppress(OSError):  # what stays is found when the next line comes, or the run is opened again
                os.ftruncate(handle, self._end)
            raise self._unwritten(error) from None
        self._end += len(line)
        self.records[record.key] = record

    def sync(self) -> None:
        """Have the operating system put on disk what was written."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._unwritten(error) from None

    def _unwritten(self, error: OSError) -> EtudeError:
        kept = f"{len(self.records)} of {len(self.plan.episodes)} episodes are kept"
        return EtudeError(f"{self.folder / LINES} cannot be written: {error.strerror}; {kept}; repeat the command to resume")

    def seal(self) -> None:
        """Put the lines in the order of the plan, once all are there."""
        if self.missing:
            return
        text = "".join(self.records[key].to_line() + "\n" for key in self.plan.episodes)
        path = self.folder / LINES
        if path.read_bytes() != text.encode():
            self._file.close()
            try:
                write_whole(path, text)
            finally:
                self._file = path.open("ab")
                self._end = self._file.tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            with contextlib.suppress(*() if error is None else (EtudeError,)):  # what went wrong first is what the user is told
                self.sync()
        finally:
            self._file.close()
            self._lock.close()


def _refuse_other_plan(there: Plan, wanted: Plan, folder: Path) -> None:
    if there == wanted:
        return
    for what in ("policy", "planner", "modes", "renderer", "patience", "shard", "robot", "advance"):
        old, new = getattr(there, what), getattr(wanted, what)
        if old != new:
            raise EtudeError(f"{str(folder)!r} holds a run with {what} {old!r}, not {new!r}: choose another --out")
    raise EtudeError(f"{str(folder)!r} holds a run of {len(there.names)} other episodes: choose another --out, or extend it with --more N")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that at every moment there is either the old one or the new one."""
    fresh = path.with_name(path.name + ".new")
    try:
        with fresh.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):  # half a file only takes up room
            fresh.unlink(missing_ok=True)
        raise EtudeError(f"{path} cannot be written: {error.strerror}") from None


def take_lock(handle: IO[bytes]) -> None:
    """Lock a file for as long as it is open; the system lets go of it when the process dies, however it dies."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def merged(runs: Sequence[Run]) -> tuple[Plan, list[Record]]:
    """Shards, or runs of the same policy, as one: their plans joined, results in the order of the joined plan."""
    first = runs[0]
    for other in runs[1:]:
        for what in ("policy", "planner", "modes", "renderer", "patience", "robot", "advance"):
            one, two = getattr(first.plan, what), getattr(other.plan, what)
            if one != two:
                advice = "; 'etude compare' sets two runs side by side" if what in ("policy", "planner") else ""
                raise EtudeError(f"{first.folder} has {what} {one!r} and {other.folder} has {two!r}: they cannot be joined{advice}")
    names = tuple(dict.fromkeys(name for run in runs for name in run.plan.names))
    extra = {key: value for run in reversed(runs) for key, value in run.plan.extra.items()}
    plan = replace(first.plan, names=names, shard=(0, 1), extra=extra)
    return plan, _ordered((r for run in runs for r in run.records), plan, first.folder / LINES)
