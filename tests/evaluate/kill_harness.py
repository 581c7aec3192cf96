"""Kills a small run at random moments, again and again, and compares what is left with a run that was never disturbed.

``python tests/evaluate/kill_harness.py 1000`` does it a thousand times (about half an hour) to an evaluation, and
``python tests/evaluate/kill_harness.py 100 demos`` to the making of a data set; the tests do it a few times.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from etude.names import Stream, rng

CHOSEN = ["--suite", "clevrskills", "--task", "pick", "--task", "touch", "--workers", "2", "--json"]


@dataclass
class Count:
    kills: int = 0
    finished: int = 0
    torn: int = 0


@dataclass(frozen=True)
class Subject:
    """What is killed: a command without its --out, and what a folder holds that must come out the same."""

    command: list[str]
    content: Callable[[Path], object]

    def on(self, folder: Path) -> list[str]:
        return [sys.executable, "-c", "from etude.cli import main; main()", *self.command, *CHOSEN, "--out", str(folder)]


def lines(folder: Path) -> list[dict[str, object]]:
    """The results without what may differ: their timings."""
    found = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
    for line in found:
        line.pop("timings")
    return found


def results(folder: Path) -> object:
    """What is left of an evaluation."""
    return lines(folder), (folder / "plan.json").read_bytes()


def files(folder: Path) -> object:
    """Every file, to the last byte."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


SUBJECTS = {
    "evaluate": Subject(["evaluate", "--episodes", "25", "--policy", "noop"], results),
    "demos": Subject(["demos", "--episodes", "3", "--size", "64"], files),
}


def killed_once(command: list[str], after: float) -> bool:
    """Start the run, kill it (and whatever it started) after so many seconds; was it still running then?"""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True
    assert process.returncode == 0
    return False


def undisturbed(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def harness(subject: Subject, kills: int, longest: float, stream: Stream, progress=lambda count: None) -> Count:
    """Kill so many times; whenever a run gets through, it must equal the undisturbed one."""
    count = Count()
    with tempfile.TemporaryDirectory() as place:
        whole, folder = Path(place) / "whole", Path(place) / "disturbed"
        undisturbed(subject.on(whole))
        expected = subject.content(whole)
        while count.kills < kills:
            if killed_once(subject.on(folder), stream.uniform(0.0, longest)):
                count.kills += 1
                for path in folder.rglob("episodes.jsonl"):
                    count.torn += not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
            else:
                assert subject.content(folder) == expected, f"{folder} came out otherwise"
                count.finished += 1
                shutil.rmtree(folder)
            progress(count)
        if folder.exists():
            undisturbed(subject.on(folder))
            assert subject.content(folder) == expected
            count.finished += 1
    return count


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    chosen = sys.argv[2] if len(sys.argv) > 2 else "evaluate"

    def show(count: Count) -> None:
        if count.kills % 50 == 0:
            print(count, flush=True)

    print(harness(SUBJECTS[chosen], wanted, {"evaluate": 4.0, "demos": 8.0}[chosen], rng("kill harness", "delays"), show))
