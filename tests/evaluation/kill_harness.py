"""Disturbs a small run, again and again, and compares what is left with a run that was never disturbed.

``python tests/evaluation/kill_harness.py 1000`` kills an evaluation a thousand times at random moments (about half an hour), ``… 100
demos`` the making of a dataset, and ``… 1000 store`` only what writes results down, without playing. ``… 100 full`` gives an evaluation a
disk that fills up (a small tmpfs: it needs root), and ``… 90 faults`` a policy that crashes, leaves or hangs in so many episodes. The tests
do it a few times.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from etude.evaluation.store import Store, read_run
from etude.names import Stream, rng

sys.path.append(str(Path(__file__).parents[1]))  # a script knows its own folder alone
from forked_process import Copy, command, forked

CHOSEN = ["--suite", "clevrskills", "--task", "pick", "--task", "touch", "--workers", "2", "--json"]


@dataclass
class Count:
    kills: int = 0
    finished: int = 0
    torn: int = 0
    lost: int = 0
    doubled: int = 0

    def compare(self, before: list[bytes], after: list[bytes]) -> None:
        """What was there before a disturbance must be there after it, once."""
        self.lost += len(set(before) - set(after))
        played = [(line["episode"], line["mode"]) for line in map(json.loads, after)]
        self.doubled += len(played) - len(set(played))


@dataclass(frozen=True)
class Subject:
    """What is killed: a command without its --out, and what a folder holds that must come out the same."""

    command: list[str]
    content: Callable[[Path], object]

    def on(self, folder: Path) -> Callable[[], None]:
        return command(*self.command, *CHOSEN, "--out", str(folder))

    def left(self) -> object:
        """What is left when nobody disturbs it."""
        with tempfile.TemporaryDirectory() as place:
            undisturbed(self.on(Path(place) / "whole"))
            return self.content(Path(place) / "whole")


def lines(folder: Path) -> list[dict[str, object]]:
    """The results without what may differ: their timings."""
    found = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
    for line in found:
        line.pop("timings")
    return found


def whole_lines(folder: Path) -> list[bytes]:
    """The lines of results that are complete."""
    return [line for path in folder.rglob("episodes.jsonl") for line in path.read_bytes().split(b"\n")[:-1]]


def results(folder: Path) -> object:
    """What is left of an evaluation."""
    return lines(folder), (folder / "plan.json").read_bytes()


def files(folder: Path) -> object:
    """Every file, to the last byte."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


SUBJECTS = {
    "evaluate": Subject(["evaluate", "--episodes", "8", "--policy", "noop"], results),
    "demos": Subject(["demos", "--episodes", "3", "--size", "64"], files),
}


def killed_once(run: Callable[[], None], after: float) -> bool:
    """Start the run, kill it after so many seconds; was it still running then?"""
    process = Copy(run)
    if process.wait(after) is None:
        process.kill()
    assert process.code in (0, -signal.SIGKILL)
    return process.code != 0


def undisturbed(run: Callable[[], None]) -> None:
    done = forked(run, alone=True)
    assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def small_disk(point: Path) -> Iterator[Callable[[int], None]]:
    """A disk of its own in the folder ``point``; what is given says how many bytes there are to be free on it."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "etude", str(point)], check=True)

    def have(free: int) -> None:
        found = os.statvfs(point)
        size = (found.f_blocks - found.f_bfree) * found.f_frsize + free
        subprocess.run(["mount", "-o", f"remount,size={max(size, found.f_frsize)}", str(point)], check=True)

    try:
        yield have
    finally:
        subprocess.run(["umount", str(point)], check=True)


def filled(subject: Subject, expected: object, times: int, most: int, stream: Stream, progress=lambda count: None) -> Count:
    """Run with a few bytes of room, at most ``most``, until the disk has been full so many times; nothing that was kept may go."""
    count = Count()
    with tempfile.TemporaryDirectory() as place:
        point = Path(place) / "disk"
        point.mkdir()
        with small_disk(point) as have:
            folder = point / "run"
            while count.kills < times or folder.exists():
                before = whole_lines(folder)
                have(int(stream.uniform(0, most)) if count.kills < times else 2**20)
                done = forked(subject.on(folder), alone=True)
                if done.returncode == 0:
                    assert subject.content(folder) == expected, f"{folder} came out otherwise"
                    count.finished += 1
                    shutil.rmtree(folder)
                    continue
                count.kills += 1
                said = done.stderr.strip().splitlines()
                assert done.returncode == 2 and said[-1].endswith(LAST_WORDS) and "Traceback" not in done.stderr, done.stderr
                count.compare(before, whole_lines(folder))
                for path in folder.rglob("episodes.jsonl"):
                    count.torn += not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
                progress(count)
    return count


LAST_WORDS = ("No space left on device", "repeat the command to resume")


def rewritten(kills: int, stream: Stream, progress=lambda count: None) -> Count:
    """Write the results of a whole run into another folder, and kill whoever does it; forked, so that a start costs nothing."""
    count = Count()
    with tempfile.TemporaryDirectory() as place:
        whole, folder = Path(place) / "whole", Path(place) / "disturbed"
        undisturbed(SUBJECTS["evaluate"].on(whole))
        run, expected = read_run(whole), results(whole)

        def write() -> None:
            with Store(folder, run.plan) as store:
                store.write_info(run.info)
                there = {r.key: r for r in run.records}
                for key in reversed(store.missing):  # so that there is something to put in order
                    store.add(there[key])
                    store.sync()
                store.seal()

        begun = time.perf_counter()
        write()
        longest = time.perf_counter() - begun
        shutil.rmtree(folder)
        while count.kills < kills:
            before = whole_lines(folder)
            writer = os.fork()
            if not writer:
                write()
                os._exit(0)
            time.sleep(stream.uniform(0.0, longest))
            os.kill(writer, signal.SIGKILL)
            if os.waitpid(writer, 0)[1]:
                count.kills += 1
                count.compare(before, whole_lines(folder))
                for path in folder.rglob("episodes.jsonl"):
                    count.torn += not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
            else:
                assert results(folder) == expected, f"{folder} came out otherwise"
                count.finished += 1
                shutil.rmtree(folder)
            progress(count)
    return count


def troubled(faults: int) -> Count:
    """Play with a policy that breaks down in every second episode: what it breaks is an error, and nothing else is touched."""
    count = Count()
    command = [sys.executable, "-c", "from etude.cli import main; main()", "evaluate", "--suite", "clevrskills", "--task", "touch"]
    with tempfile.TemporaryDirectory() as place:
        whole, folder = Path(place) / "whole", Path(place) / "troubled"
        for out, policy in ((whole, "faulty:Faulty?fault=none"), (folder, "faulty:Moody")):
            chosen = ["--episodes", str(2 * faults), "--policy", policy, "--workers", "2", "--timeout", "20", "--json", "--out", str(out)]
            subprocess.run([*command, *chosen], check=True, stdout=subprocess.DEVNULL, cwd=Path(__file__).parent)
        for seed, (one, other) in enumerate(zip(lines(whole), lines(folder), strict=True)):
            if seed % 2:
                words = ("signal SIGSEGV", "exit status 7", "no result within 20 seconds")[seed // 2 % 3]
                assert other["outcome"] == "error" and words in str(other["error"]), other
                count.kills += 1
            else:
                assert other == one, other
                count.finished += 1
    return count


def harness(subject: Subject, expected: object, kills: int, longest: float, stream: Stream, progress=lambda count: None) -> Count:
    """Kill so many times; whenever a run gets through, it must leave what the undisturbed one does."""
    count = Count()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "disturbed"
        while count.kills < kills:
            before = whole_lines(folder)
            if killed_once(subject.on(folder), stream.uniform(0.0, longest)):
                count.kills += 1
                if before and (after := whole_lines(folder)):  # a dataset that was finished has no results left beside it
                    count.compare(before, after)
                for path in folder.rglob("episodes.jsonl"):
                    count.torn += not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
            else:
                assert subject.content(folder) == expected, f"{folder} came out otherwise"
                count.finished += 1
                shutil.rmtree(folder)
            progress(count)
        undisturbed(subject.on(folder))
        assert subject.content(folder) == expected
        count.finished += 1
    return count


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("times", type=int)
    parser.add_argument("what", choices=("evaluate", "demos", "store", "full", "faults"), nargs="?", default="evaluate")
    parser.add_argument("--longest", type=float, default=0.0, help="seconds before a kill, at most")
    parser.add_argument("--stream", default="kill harness", help="other words give other moments")
    asked = parser.parse_args()

    def show(count: Count) -> None:
        if count.kills % 50 == 0:
            print(count, flush=True)

    moments = rng(asked.stream, "delays")
    if asked.what == "faults":
        print(troubled(asked.times))
    elif asked.what == "store":
        print(rewritten(asked.times, moments, show))
    elif asked.what == "full":
        print(filled(SUBJECTS["evaluate"], SUBJECTS["evaluate"].left(), asked.times, 40_000, moments, show))
    else:
        longest, subject = asked.longest or {"evaluate": 4.0, "demos": 8.0}[asked.what], SUBJECTS[asked.what]
        print(harness(subject, subject.left(), asked.times, longest, moments, show))
