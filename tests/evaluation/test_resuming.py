"""Runs that are interrupted, killed, torn, sharded, joined and extended, with real episodes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from forked_process import Copy, command
from kill_harness import Subject, harness, lines, results

from etude.evaluation.plan import Plan, make_names
from etude.evaluation.record import Record
from etude.evaluation.run import RunSettings, evaluate, merge
from etude.evaluation.store import LINES, Store, read_run
from etude.names import EtudeError, rng

NAMES = make_names(["clevrskills"], ["pick", "touch"], episodes=3)
PLAN = Plan("noop", NAMES)
FEW = Subject(["evaluate", "--episodes", "3", "--policy", "noop"], results)  # the same, as a command


class Quiet:
    """Notes how a run went."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.played: list[str] = []
        self.repaired = ""
        self._stop_after = stop_after

    def began(self, store: Store) -> None:
        self.repaired = store.repaired

    def ended(self, record: Record) -> None:
        self.played.append(record.episode)
        if len(self.played) == self._stop_after:
            raise KeyboardInterrupt


def test_two_workers_leave_the_same_file_as_one(whole, tmp_path):
    evaluate(PLAN, tmp_path / "two", RunSettings(workers=2), Quiet())
    assert lines(tmp_path / "two") == lines(whole)
    assert [line["episode"] for line in lines(whole)] == list(NAMES)


def test_an_interrupted_run_goes_on_where_it_stopped(whole, tmp_path):
    first, second = Quiet(stop_after=2), Quiet()
    with pytest.raises(KeyboardInterrupt):
        evaluate(PLAN, tmp_path / "run", RunSettings(workers=1), first)
    evaluate(PLAN, tmp_path / "run", RunSettings(workers=1), second)
    assert first.played + second.played == list(NAMES)
    assert lines(tmp_path / "run") == lines(whole)


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_torn_last_line_is_noticed_and_its_episode_played_again(whole, tmp_path, cut):
    folder = shutil.copytree(whole, tmp_path / "run")
    path = folder / LINES
    path.write_bytes(path.read_bytes()[:-cut])
    again = Quiet()
    evaluate(PLAN, folder, RunSettings(workers=1), again)
    assert "was torn off" in again.repaired
    assert again.played == [NAMES[-1]]
    assert lines(folder) == lines(whole)


def test_nothing_is_played_twice_when_a_run_is_complete(whole):
    again = Quiet()
    evaluate(PLAN, whole, RunSettings(workers=1), again)
    assert again.played == []


def test_a_run_killed_at_random_moments_ends_as_if_nothing_had_happened(whole):
    count = harness(FEW, FEW.content(whole), 2, 3.0, rng("test", "kills"))
    assert count.kills == 2 and count.finished >= 1


def test_shards_joined_in_any_order_give_the_undivided_run(whole, tmp_path):
    folders = []
    for k in (2, 0, 1):
        folders.append(tmp_path / f"shard-{k}-of-3")
        evaluate(Plan("noop", NAMES, shard=(k, 3)), folders[-1], RunSettings(workers=1), Quiet())
    merge(folders, tmp_path / "joined")
    assert lines(tmp_path / "joined") == lines(whole)
    assert (tmp_path / "joined" / "plan.json").read_text() == (whole / "plan.json").read_text()


def test_a_joined_run_has_all_that_its_shards_have_kept(tmp_path):
    folders = [tmp_path / f"shard-{k}-of-2" for k in range(2)]
    for k, folder in enumerate(folders):
        evaluate(Plan("noop", make_names(["clevrskills"], ["pick"], episodes=2), shard=(k, 2)), folder, RunSettings(1, keep="all"), Quiet())
    joined = merge(folders, tmp_path / "joined").folder
    for kind in ("films", "actions", "views"):
        kept = {path.name: path.read_bytes() for folder in folders for path in (folder / kind).iterdir()}
        assert len(kept) == 2 and {path.name: path.read_bytes() for path in (joined / kind).iterdir()} == kept


def test_a_joined_run_knows_what_is_missing_and_can_be_finished(whole, tmp_path):
    evaluate(Plan("noop", NAMES, shard=(0, 2)), tmp_path / "half", RunSettings(workers=1), Quiet())
    run = merge([tmp_path / "half"], tmp_path / "joined")
    assert [name for name, _ in run.missing] == list(NAMES[1::2])
    evaluate(PLAN, tmp_path / "joined", RunSettings(workers=1), Quiet())
    assert lines(tmp_path / "joined") == lines(whole)


def test_a_finished_run_is_extended_and_the_first_command_still_works(tmp_path):
    folder, two, four = tmp_path / "run", Quiet(), Quiet()
    small = Plan("noop", make_names(["clevrskills"], ["touch"], episodes=2))
    evaluate(small, folder, RunSettings(workers=1), Quiet())
    evaluate(small, folder, RunSettings(workers=1), two, more=2)
    assert two.played == ["clevrskills/touch@test#2", "clevrskills/touch@test#3"]
    evaluate(small, folder, RunSettings(workers=1), four)
    assert four.played == [] and len(read_run(folder).records) == 4


def test_an_interrupted_extension_is_finished_before_another_begins(tmp_path):
    folder, rest = tmp_path / "run", Quiet()
    small = Plan("noop", make_names(["clevrskills"], ["touch"], episodes=1))
    evaluate(small, folder, RunSettings(workers=1), Quiet())
    with pytest.raises(KeyboardInterrupt):
        evaluate(small, folder, RunSettings(workers=1), Quiet(stop_after=1), more=3)
    evaluate(small, folder, RunSettings(workers=1), rest, more=3)
    assert len(rest.played) == 2 and len(read_run(folder).plan.names) == 4


def test_two_processes_cannot_work_on_one_run(whole):
    with Store(whole, PLAN), pytest.raises(EtudeError, match="another process is working on"):
        Store(whole, PLAN)


def test_matched_controls_are_planned_unless_told_otherwise():
    both = make_names(["clevrskills"], ["pick"], perturbations=["mask_language"], episodes=2)
    assert both == tuple(f"clevrskills/pick@test#{k}{p}" for p in ("", "+mask_language") for k in range(2))
    alone = make_names(["clevrskills"], ["pick"], perturbations=["mask_language"], episodes=2, control=False)
    assert alone == both[2:]


def test_an_interrupt_leaves_no_worker_behind(tmp_path):
    path = tmp_path / "run" / LINES
    with (tmp_path / "said").open("w") as said:
        run = command("evaluate", "--suite", "clevrskills", "--policy", "noop", "--out", str(tmp_path / "run"))
        process = Copy(run, errors=said.fileno())
    while not (path.exists() and path.stat().st_size):
        assert process.wait(0.05) is None
    workers = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
    process.send(signal.SIGINT)
    assert process.wait(60) == 130 and "repeat the command to resume" in (tmp_path / "said").read_text()
    ends = time.monotonic() + 20
    while any(alive(int(pid)) for pid in workers) and time.monotonic() < ends:  # the last helper of multiprocessing takes a moment
        time.sleep(0.05)
    assert workers and not any(alive(int(pid)) for pid in workers)
    assert all(json.loads(line)["outcome"] for line in path.read_text().splitlines())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2] if Path(f"/proc/{pid}/stat").exists() else False
