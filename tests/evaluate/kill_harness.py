"""Kills a small run at random moments, again and again, and compares what is left with a run that was never disturbed.

``python tests/evaluate/kill_harness.py 1000`` does it a thousand times (about half an hour); the tests do it a few times.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from etude.names import Stream, rng

ARGUMENTS = ["--suite", "clevrskills", "--task", "pick", "--task", "touch", "--episodes", "25", "--policy", "noop", "--workers", "2"]


@dataclass
class Count:
    kills: int = 0
    finished: int = 0
    torn: int = 0


def command(folder: Path) -> list[str]:
    return [sys.executable, "-c", "from etude.cli import main; main()", "evaluate", *ARGUMENTS, "--out", str(folder), "--json"]


def lines(folder: Path) -> list[dict[str, object]]:
    """The results without what may differ: their timings."""
    found = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
    for line in found:
        line.pop("timings")
    return found


def killed_once(folder: Path, after: float) -> bool:
    """Start the run, kill it (and whatever it started) after so many seconds; was it still running then?"""
    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True
    assert process.returncode == 0
    return False


def harness(kills: int, longest: float, stream: Stream, progress=lambda count: None) -> Count:
    """Kill so many times; whenever a run gets through, it must equal the undisturbed one."""
    count = Count()
    with tempfile.TemporaryDirectory() as place:
        whole, folder = Path(place) / "whole", Path(place) / "disturbed"
        subprocess.run(command(whole), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        expected = lines(whole)
        while count.kills < kills:
            if killed_once(folder, stream.uniform(0.0, longest)):
                count.kills += 1
                path = folder / "episodes.jsonl"
                count.torn += path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
            else:
                assert lines(folder) == expected
                assert (folder / "plan.json").read_bytes() == (whole / "plan.json").read_bytes()
                count.finished += 1
                shutil.rmtree(folder)
            progress(count)
        if folder.exists():
            subprocess.run(command(folder), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            assert lines(folder) == expected
            count.finished += 1
    return count


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1000

    def show(count: Count) -> None:
        if count.kills % 50 == 0:
            print(count, flush=True)

    print(harness(wanted, 4.0, rng("kill harness", "delays"), show))
