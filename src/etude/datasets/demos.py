"""Making a dataset: play, keep takes of what succeeded, and write them in one or several formats.

The takes are a run like any other (see :mod:`etude.evaluation.run`), kept in ``.work`` inside the dataset's folder until it is complete.
So it goes on after any interruption, and what comes out depends on names alone: not on workers, order or machine.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from etude.datasets.card import SCHEMA, TakeCount, card
from etude.datasets.columns import RecordingKind
from etude.datasets.lerobot import LeRobotV3, write_json
from etude.datasets.lerobot21 import LeRobotV21
from etude.datasets.take import Take, read_take
from etude.datasets.taking import RecordingJob, RecordingSpec, rate, take_file
from etude.datasets.video import refuse_odd
from etude.envs.prompt_assets import pictured
from etude.episodes import ActionSpace, Episode
from etude.evaluation.plan import Plan, read_object
from etude.evaluation.record import Record
from etude.evaluation.run import Progress, RunSettings, evaluate
from etude.evaluation.store import Run, Store, write_whole
from etude.library import find
from etude.names import EpisodeName, EtudeError, pick
from etude.policies.loading import load_policy
from etude.scene.robots import arm
from etude.scene.viewpoints import camera_names
from etude.suites.suite import SUITES

WORK, NEW, OLD, FACTS = ".work", ".new", ".old", "meta/etude.json"
RUN, ORDER = "run", "order.json"
ANY_SPACE = ("oracle", "random", "noop")  # policies that act in any space
ACTIONS = ("ee_delta", "ee_pose", "joint", "own")
SPARE = 20  # more seeds, at least, that are tried where some were not solved


class DatasetWriter(Protocol):
    """Writes takes in a format."""

    def add(self, take: Take) -> None:
        """Append a demonstration."""

    def finish(self) -> None:
        """Write what is about all of them."""


@dataclass(frozen=True)
class Format:
    """How a format is made, and what it wants of a take: ``videos``, or ``images``; ``needs`` are the modules it is written with.
    ``language``: it has a place for a column of sub-tasks and steps."""

    make: Callable[[Path, RecordingSpec], DatasetWriter]
    videos: bool
    images: bool
    needs: tuple[str, ...] = ("av", "pyarrow")
    language: bool = False


def _robomimic(folder: Path, how: RecordingSpec) -> DatasetWriter:
    from etude.datasets.robomimic import Robomimic

    return Robomimic(folder)


def _folders(folder: Path, how: RecordingSpec) -> DatasetWriter:
    from etude.datasets.folders import Folders

    return Folders(folder)


def refuse_tests(names: Sequence[str]) -> None:
    """Refuse what is for testing: whoever trains on it has nothing left to be tested on."""
    for name in map(EpisodeName.parse, names):
        if SUITES[name.suite].splits.get(name.split) == "test":
            raise EtudeError(f"{name} is for testing, and a policy must not be trained on it; --allow-test records it all the same")


FORMATS: dict[str, Format] = {
    "lerobot": Format(lambda folder, how: LeRobotV3(folder, language=how.language), True, False, language=True),
    "lerobot-images": Format(lambda folder, how: LeRobotV3(folder, False, language=how.language), False, True, ("pyarrow",), True),
    "lerobot-v2.1": Format(lambda folder, how: LeRobotV21(folder), True, False),
    "robomimic": Format(_robomimic, False, True, ("h5py",)),
    "folders": Format(_folders, False, True, ("av",)),
}


def refuse_language(how: RecordingSpec, formats: Sequence[str]) -> None:
    """Refuse a column of sub-tasks and steps where no format has a place for it."""
    if how.language and not any(FORMATS[name].language for name in formats):
        able = " and ".join(name for name, one in FORMATS.items() if one.language)
        raise EtudeError(f"--language is for --format {able}: {', '.join(formats)} has no such column; words are in what etude adds to it")


@dataclass(frozen=True)
class DemosRequest:
    """What is wanted. ``wanted`` successes of every group of seeds, more being tried where some fail; 0: just the names there are."""

    names: tuple[str, ...]
    policy: str
    how: RecordingSpec
    formats: tuple[str, ...] = ("lerobot",)
    wanted: int = 0
    command: str = ""

    def __post_init__(self) -> None:
        for name in self.formats:
            pick("format", name, FORMATS)
        if len(set(self.formats)) < len(self.formats):
            raise EtudeError(f"--format {self.formats[0]} is given twice")
        refuse_language(self.how, self.formats)

    def work(self) -> RecordingSpec:
        """What takes have to hold for these formats."""
        made = [FORMATS[f] for f in self.formats]
        return replace(self.how, videos=any(f.videos for f in made), images=any(f.images for f in made))


@dataclass(frozen=True)
class Made:
    """A finished dataset: which episodes are in it, and the records of those that are not."""

    folder: Path
    kept: tuple[str, ...]
    failures: tuple[Record, ...]
    frames: int


def acting(policy: str, takeover: float | None, action: str, recovery: float | None = None) -> str:
    """The policy with its action space, and the oracle after it where it shall take over."""
    pick("value of --action", action, dict.fromkeys(ACTIONS))
    if recovery is not None:
        if policy != "oracle" or takeover is not None:
            raise EtudeError("--recovery is for the oracle alone, which makes its own mistakes; leave out --policy and --takeover")
        return f"mishap:{recovery:g}:{action}"
    if takeover is not None and policy == "oracle":
        policy = "oracle:noise=0.03"  # one that leaves the oracle's own way
    if policy.partition(":")[0] in ANY_SPACE and "action=" not in policy and action != "own":
        policy = f"{policy}{',' if ':' in policy else ':'}action={action}"
    return policy if takeover is None else f"takeover:{takeover:g}:{policy}"


def demos(order: DemosRequest, folder: Path, settings: RunSettings, progress: Progress) -> Made:
    """Make a dataset, or go on making it. Whatever is finished is never lost; once complete, it is left as it is."""
    shutil.rmtree(folder / OLD, ignore_errors=True)  # of one that was complete, and interrupted in tidying up
    if _complete(folder):
        return _known(folder, order)
    _check(order)
    _prepare(folder, order)
    work = folder / WORK / RUN
    plan = Plan(order.policy, order.names)
    settings = replace(settings, retry_errors=True)  # what broke before may work now: a disk was full, a worker was killed
    while True:
        run = evaluate(plan, work, settings, progress, make_job=partial(RecordingJob, spec=order.work()))
        more = _more(run, order)
        if more == run.plan.names:
            break
        plan = replace(run.plan, names=more)
        with Store(work, run.plan) as store:
            store.extend(plan)
        settings = replace(settings, retry_errors=False)
    kept, failures = _chosen(run, order)
    if not kept:
        why = f": {failures[0].error}" if failures and failures[0].error else ""
        raise EtudeError(f"none of {len(run.records)} episodes ended in success{why}; there is nothing to write")
    frames = _write(order, folder, run, kept, failures)
    return Made(folder, tuple(r.episode for r in kept), tuple(failures), frames)


def _complete(folder: Path) -> bool:
    return (folder / FACTS).exists() and not (folder / WORK).exists()


def read_facts(folder: Path) -> dict[str, Any]:
    """``meta/etude.json`` of a dataset."""
    found = read_object(folder / FACTS)
    if found.get("schema") != SCHEMA:
        raise EtudeError(f"{folder / FACTS} is of schema {found.get('schema')!r}, this is {SCHEMA!r}")
    return found


def name_repository(folder: Path, form: str, repository: str) -> None:
    """Have the card of a dataset say where on the Hub it is (OWNER/NAME)."""
    write_whole(folder / "README.md", card(form, read_facts(folder), repository))


def lerobot_version(folder: Path) -> str:
    """The version of LeRobot's format that a dataset is in, by which LeRobot finds it on the Hub; empty for other formats."""
    info = folder / "meta/info.json"
    return str(read_object(info)["codebase_version"]) if info.exists() else ""


def _known(folder: Path, order: DemosRequest) -> Made:
    data = read_facts(folder)
    if data["command"] != order.command:
        raise EtudeError(f"{str(folder)!r} holds a dataset made by {data['command']!r}; choose another --out")
    failures = tuple(Record.from_line(json.dumps(line)) for line in data["failures"])
    return Made(folder, tuple(data["episodes"]), failures, data["frames"])


def _check(order: DemosRequest) -> None:
    """What would fail in the end, and one of each kind of episode, is looked at before any work is done."""
    for name in order.formats:
        for module in FORMATS[name].needs:
            if importlib.util.find_spec(module) is None:
                raise EtudeError(f"--format {name} needs {module}: pip install 'etude[datasets]'")
            if module == "av":
                for suite in {EpisodeName.parse(name).suite for name in order.names}:
                    refuse_odd(order.how.size or SUITES[suite].size)
    recording_kind(order.names, load_policy(order.policy).contract.action, order.how)


def recording_kind(names: Sequence[str], action: ActionSpace | None, how: RecordingSpec) -> RecordingKind:
    """The kind of what is recorded of these episodes in this action space; refused where it differs between them. One of each task is
    looked at."""
    first: RecordingKind | None = None
    for name in _firsts(names):
        episode = find(name)
        if not isinstance(episode, Episode):
            raise EtudeError(f"{name} is a decision, which has no demonstration; 'etude export' writes decisions")
        episode = episode.under(action).seen_by(how.cameras)
        robot = episode.scene.robot
        assert robot is not None
        known = [c.name for c in episode.scene.cameras if c.name != "render"]
        for camera in camera_names(how.cameras):
            episode.scene.camera(camera)
        kind = RecordingKind(
            robot.arm, episode.control, rate(episode), len(arm(robot.arm).home), camera_names(how.cameras) or tuple(known),
            how.size or SUITES[episode.parsed.suite].size, (), True,
        )  # fmt: skip
        if "prompt_views" in how.modalities:
            pictured(episode)  # refused where some are nothing that cameras see
        first = first or kind
        first.refuse(kind, name)
    assert first is not None
    return first


def _firsts(names: Sequence[str]) -> Iterator[str]:
    seen = set()
    for name in names:
        parsed = EpisodeName.parse(name)
        key = (parsed.suite, parsed.task, parsed.perturbations, parsed.options)
        if key not in seen:
            seen.add(key)
            yield name


def _prepare(folder: Path, order: DemosRequest) -> None:
    """Take hold of the folder: it is new, empty, or one in which this very dataset was begun."""
    work = folder / WORK
    if folder.exists() and not work.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise EtudeError(f"--out {str(folder)!r} is a file or holds other files; choose an empty or new folder")
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EtudeError(f"--out {str(folder)!r} cannot be made: {error.strerror}; choose a folder you may write to") from None
    path, wanted = work / ORDER, {"command": order.command, "how": order.work().to_json()}
    if path.exists():
        begun = json.loads(path.read_text(encoding="utf-8"))
        if begun != wanted:
            raise EtudeError(f"{str(folder)!r} holds a dataset begun by {begun['command']!r}; choose another --out")
    else:
        write_whole(path, json.dumps(wanted))


def _groups(names: Sequence[str]) -> dict[EpisodeName, list[EpisodeName]]:
    found: dict[EpisodeName, list[EpisodeName]] = {}
    for name in names:
        parsed = EpisodeName.parse(name)
        found.setdefault(replace(parsed, seed=0), []).append(parsed)
    return found


def _more(run: Run, order: DemosRequest) -> tuple[str, ...]:
    """The names of the run, with as many more seeds of each group as it lacks successes."""
    if not order.wanted:
        return run.plan.names
    solved = {r.episode for r in run.records if r.success}
    most = order.wanted + max(SPARE, order.wanted)
    names: list[str] = []
    for members in _groups(run.plan.names).values():
        lacking = order.wanted - sum(str(m) in solved for m in members)
        last = members[-1]
        names += map(str, members)
        names += [str(replace(last, seed=last.seed + 1 + k)) for k in range(min(lacking, most - len(members)))]
    return tuple(names)


def _chosen(run: Run, order: DemosRequest) -> tuple[list[Record], list[Record]]:
    """What is kept, in the order of the plan, and what failed before enough had succeeded."""
    kept: list[Record] = []
    failures: list[Record] = []
    records = {r.episode: r for r in run.records}
    for members in _groups(run.plan.names).values():
        found = 0
        for name in map(str, members):
            if order.wanted and found == order.wanted:
                break
            (kept if records[name].success else failures).append(records[name])
            found += records[name].success
    return kept, failures


def _write(order: DemosRequest, folder: Path, run: Run, kept: Sequence[Record], failures: Sequence[Record]) -> int:
    """Write the formats beside what is there, then put them in place; the work is thrown away last."""
    work, new = folder / WORK, folder / NEW
    for path in folder.iterdir():  # of an earlier attempt to do the same
        if path.name != WORK:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    homes = {name: new / name if len(order.formats) > 1 else new for name in order.formats}
    for home in homes.values():
        home.mkdir(parents=True)
    writers = {name: FORMATS[name].make(home, order.how) for name, home in homes.items()}
    count = TakeCount()
    for record in kept:
        take = read_take(take_file(work / RUN, record.episode))
        for writer in writers.values():
            writer.add(take)
        count.add(take)
    for writer in writers.values():
        writer.finish()
    made = count.facts(order.command, order.policy, run.plan.digest, order.how.cameras, failures)
    write_json(new / FACTS, made)
    for name, home in homes.items():
        (home / "README.md").write_text(card(name, made), encoding="utf-8")
        write_json(home / FACTS, made)
    for path in sorted(new.iterdir()):
        path.rename(folder / path.name)
    new.rmdir()
    work.rename(folder / OLD)
    shutil.rmtree(folder / OLD)
    return count.frames


def summary(made: Made) -> Mapping[str, Any]:
    """What was made, as plain data."""
    return {
        "folder": str(made.folder),
        "episodes": len(made.kept),
        "frames": made.frames,
        "failures": [{"episode": r.episode, "outcome": r.outcome, "reason": r.error or r.cause} for r in made.failures],
    }
