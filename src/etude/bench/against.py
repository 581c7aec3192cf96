"""This source beside that of a commit: the same cases in turn, each time in processes of their own, compared by CPU time.

The commit is checked out into a temporary folder, and gets the benches of this source, so that both sides do equal work, measured alike. A
suite's bench that the commit is too old for is measured by the bench it had.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import etude
from etude.bench.result import Result
from etude.index import INDEX
from etude.names import EtudeError, unknown
from etude.plugins import named
from etude.suites.suite import SUITES

SOURCE = Path(etude.__file__).parent.parent
TIMES = ("CPU ms", "CPU s", "CPU seconds", "s")  # units of which less is better; of all others, which are rates, more is
RECENT = 200  # commits among which the nearest is looked for


@dataclass(frozen=True)
class SpeedComparison:
    """Results whose references are those of the commit; ``spreads``: the least and the largest ratio of a round, by case.

    ``untold`` are the benches and cases that only one of the two has, each with the reason.
    """

    commit: str
    rounds: int
    results: list[Result]
    spreads: dict[str, tuple[float, float]]
    untold: dict[str, str]


def compare_with(commit: str, benches: Sequence[str], rounds: int, progress: Callable[[str], None]) -> SpeedComparison:
    """Measure these benches here and at a commit, in turn."""
    found = find_commit(commit)
    with checked_out(found) as theirs, tempfile.TemporaryDirectory() as folder:
        sides = {"here": SOURCE, found: theirs}
        out = Path(folder) / "side.json"
        for name, source in sides.items():
            progress(f"compiling what has to be: {name}")
            refused = _side(source, benches, out, quick=True)["refused"]
            if name == "here" and refused:
                raise EtudeError("; ".join(f"the benchmark {bench!r} does not run here: {why}" for bench, why in refused.items()))
            own_benches(source, refused)
        told: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
        for k in range(rounds):
            for name in reversed(sides) if k % 2 else sides:  # who comes first has the machine as others left it, by turns
                progress(f"round {k + 1} of {rounds}: {name}")
                told[name].append(_side(sides[name], benches, out))
    return compared(found, told["here"], told[found])


def own_benches(source: Path, refused: Iterable[str]) -> None:
    """Give the suites back the benches they had at the commit, where those of today do not run there."""
    for name in refused:
        for suite in (suite for suite in INDEX if name in SUITES[suite].benches):
            bench = source.joinpath(*INDEX[suite]["module"].split(".")) / "bench.py"
            subprocess.run(["git", "-C", str(source), "checkout", "--quiet", "--", str(bench)], capture_output=True)


def compared(commit: str, here: Sequence[dict[str, Any]], there: Sequence[dict[str, Any]]) -> SpeedComparison:
    """What the rounds of both sides say together."""
    ours, theirs = _by_case(here), _by_case(there)
    untold = {f"benchmark {name}": reason for said in there for name, reason in said["refused"].items()}
    for case in ours if not untold else ():
        if case not in theirs:
            untold[case] = f"not measured at {commit}"
    untold |= {case: "not measured here" for case in theirs if case not in ours}
    results, spreads = [], {}
    for case, rows in ours.items():
        values, unit = [row["value"] for row in rows], rows[0]["unit"]
        if case not in theirs:
            results.append(Result(case, _median(values), unit))
            continue
        references = [row["value"] for row in theirs[case]]
        ratios = [_faster(unit, a, b) for a, b in zip(values, references, strict=True)]
        known = [ratio for ratio in ratios if ratio is not None]
        ratio = round(statistics.median(known), 3) if known else None
        results.append(Result(case, _median(values), unit, commit, _median(references), ratio))
        if known:
            spreads[case] = (round(min(known), 3), round(max(known), 3))
    return SpeedComparison(commit, len(here), results, spreads, untold)


def _by_case(rounds: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Results of all rounds by case; what is missing in one of them is left out."""
    table: dict[str, list[dict[str, Any]]] = {}
    for said in rounds:
        for row in said["results"]:
            table.setdefault(row["case"], []).append(row)
    return {case: rows for case, rows in table.items() if len(rows) == len(rounds)}


def _median(values: Sequence[float]) -> float:
    return round(statistics.median(values), 4)


def _faster(unit: str, value: float, reference: float) -> float | None:
    """How many times as fast as the reference; None for shares, which are no speeds."""
    if unit == "%" or not value or not reference:
        return None
    return reference / value if unit.partition("/")[0] in TIMES else value / reference


def _side(source: Path, benches: Sequence[str], out: Path, quick: bool = False) -> dict[str, Any]:
    told = {"out": str(out), "benches": list(benches), "plugins": list(named())}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    paths = [str(source), *(path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path and Path(path) != SOURCE)]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    if quick:
        environment["ETUDE_BENCH_QUICK"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "etude.bench.side", json.dumps(told)], env=environment, cwd=out.parent, capture_output=True, text=True
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise EtudeError(f"the benchmarks cannot be run with the source of {source}: {last}")
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def _git(*arguments: str) -> str | None:
    """What git says in the checkout of this source; None where it refuses."""
    try:
        done = subprocess.run(["git", "-C", str(SOURCE), *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def find_commit(name: str) -> str:
    """The short hash of a commit of the checkout that this source stands in."""
    if _git("ls-files", "--error-unmatch", "etude/__init__.py") is None:
        raise EtudeError(f"--against needs a git checkout of etude, to find {name!r} in; this etude lies in {SOURCE}, which is none")
    found = _git("rev-parse", "--verify", "--quiet", "--short", f"{name}^{{commit}}")
    if not found:
        known = (_git("for-each-ref", "--format=%(refname:short)"), _git("log", f"-{RECENT}", "--format=%h"))
        raise unknown("commit", name, "\n".join(text for text in known if text).splitlines())
    return found


@contextlib.contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """The source of a commit in a temporary folder, with the benches of this one; removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="etude-against-") as place:
        tree = Path(place) / commit
        if _git("worktree", "add", "--detach", "--quiet", str(tree), commit) is None:
            raise EtudeError(f"git cannot check out {commit} into {tree}: see what 'git worktree add' says")
        try:
            source = tree / SOURCE.relative_to(Path(_git("rev-parse", "--show-toplevel") or SOURCE))
            shutil.rmtree(source / "etude" / "bench", ignore_errors=True)
            shutil.copytree(SOURCE / "etude" / "bench", source / "etude" / "bench", ignore=shutil.ignore_patterns("__pycache__"))
            for bench in SOURCE.glob("etude/suites/*/bench.py"):
                if (source / bench.relative_to(SOURCE)).parent.is_dir():
                    shutil.copy(bench, source / bench.relative_to(SOURCE))
            yield source
        finally:
            _git("worktree", "remove", "--force", str(tree))
