"""A disk that fills up: a line is whole or not there, nothing that was kept goes, and with room again the run goes on."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

import pytest
from kill_harness import filled, lines
from small_disks import files_of_at_most
from test_resuming import FEW, NAMES, PLAN, Quiet

from etude.evaluation.record import Record
from etude.evaluation.run import RunSettings, evaluate
from etude.evaluation.store import INFO, LINES, Store, read_run
from etude.evaluation.worker import Job
from etude.names import EtudeError, rng

FULL = ["mount", "-t", "tmpfs", "-o", "size=4k", "etude"]


def test_a_line_is_whole_or_not_there_wherever_it_is_cut(whole, tmp_path):
    first, second, *_ = read_run(whole).records
    one, two = (record.to_line().encode() + b"\n" for record in (first, second))
    with Store(tmp_path / "run", PLAN) as store:
        store.add(first)
        for cut in (0, 1, len(two) // 2, len(two) - 1):
            with (
                files_of_at_most(len(one) + cut),
                pytest.raises(EtudeError, match="1 of 6 episodes are kept; repeat the command to resume"),
            ):
                store.add(second)
            assert (tmp_path / "run" / LINES).read_bytes() == one
            assert second.key not in store.records
        store.add(second)
    assert (tmp_path / "run" / LINES).read_bytes() == one + two


def test_what_is_left_of_a_line_is_taken_away_before_the_next_one(whole, tmp_path):
    first, second, *_ = read_run(whole).records
    with Store(tmp_path / "run", PLAN) as store:
        store.write_info(read_run(whole).info)
        store.add(first)
        with (tmp_path / "run" / LINES).open("ab") as file:
            file.write(b'{"id":"clevr')  # as when it could not be taken back at once
        store.add(second)
    assert [r.key for r in read_run(tmp_path / "run").records] == [first.key, second.key]


class Filling(Quiet):
    """From the first result on, there is room for half a line."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._path = folder / LINES

    def ended(self, record: Record) -> None:
        super().ended(record)
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._path.stat().st_size + 200, most))


def test_a_run_whose_disk_fills_up_goes_on_when_there_is_room(whole, tmp_path):
    folder, again = tmp_path / "run", Quiet()
    with files_of_at_most(2**30), pytest.raises(EtudeError, match="File too large; 1 of 6 episodes are kept"):
        evaluate(PLAN, folder, RunSettings(workers=1), Filling(folder))
    assert len(read_run(folder).records) == 1 and (folder / LINES).read_bytes().endswith(b"\n")
    evaluate(PLAN, folder, RunSettings(workers=1), again)
    assert again.played == list(NAMES[1:])
    assert lines(folder) == lines(whole)


def test_results_stay_whole_where_there_is_no_room_to_put_them_in_order(whole, tmp_path):
    records = read_run(whole).records
    size = (whole / LINES).stat().st_size
    with pytest.raises(EtudeError, match="cannot be written"), Store(tmp_path / "run", PLAN) as store:
        store.write_info(read_run(whole).info)
        for record in reversed(records):
            store.add(record)
        with files_of_at_most(size - 1):
            store.seal()
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == ["episodes.jsonl", "lock", "plan.json", "run.json"]
    assert read_run(tmp_path / "run").records == records


def test_half_a_file_is_not_left_to_take_up_room(tmp_path):
    with Store(tmp_path / "run", PLAN) as store:
        with files_of_at_most(10), pytest.raises(EtudeError, match="cannot be written: File too large"):
            store.write_info({"command": "etude evaluate"})
        assert not list((tmp_path / "run").glob(f"{INFO}*"))


def test_a_film_without_room_stops_the_run_and_is_no_error_of_the_episode(tmp_path):
    job = Job("noop", str(tmp_path), keep="all")
    players = job.players()
    with files_of_at_most(100):
        told = job.answer(players, NAMES[-1], "vanilla")
    assert told == {"refused": f"the video of {NAMES[-1]} cannot be saved: File too large; free space and repeat the command"}


def may_mount(place: Path) -> bool:
    if os.geteuid() or subprocess.run([*FULL, str(place)], capture_output=True, check=False).returncode:
        return False
    subprocess.run(["umount", str(place)], check=True)
    return True


def test_the_command_tells_of_a_full_disk_in_one_line_and_goes_on_later(whole, tmp_path):
    if not may_mount(tmp_path):
        pytest.skip("this user may not mount a small disk")
    count = filled(FEW, FEW.content(whole), 1, 10_000, rng("test", "rooms"))
    assert (count.kills, count.lost, count.doubled, count.torn) == (1, 0, 0, 0) and count.finished == 1
