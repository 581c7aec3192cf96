"""Datasets that people drive: they are like any other, can be extended, and lose nothing."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from demo_fixtures import made, order
from drivers import PICK, drive
from forked_process import Copy
from kill_harness import files

from etude.datasets.demos import read_facts
from etude.datasets.extra import extras
from etude.datasets.reader import DatasetReader
from etude.datasets.replaying import dataset_views, replay, rerender
from etude.datasets.taking import RecordingSpec
from etude.datasets.validate import validate
from etude.drive.driven_set import WORK, DrivenSet, agreed_setting, kept_file, setting_of
from etude.drive.recorder import Recorder, bring_up_to_date
from etude.drive.session import DrivenEpisode, DrivingSession
from etude.drive.steering import Steering
from etude.names import EtudeError, rng

OTHER = "clevrskills/pick@train#1"
SIZE = (32, 32)


def driven(name: str, solve: bool = True, policy: str = "human") -> DrivenEpisode:
    kept: list[DrivenEpisode] = []
    session = DrivingSession([name], kept.append, policy, True, 10.0, command=f"etude drive {name}")
    if solve:
        drive(session)
        assert session.state == "success"
    else:
        for _ in range(12):
            session.steer(Steering((0, 1, 0)))
            session.step(Steering((0, 1, 0)))
    session.keep()
    return kept[0]


@pytest.fixture(scope="module")
def solved() -> list[DrivenEpisode]:
    return [driven(PICK), driven(OTHER, policy="human:ann")]


def keep(folder: Path, *episodes: DrivenEpisode) -> Path:
    names = [one.episode.name for one in episodes]
    with DrivenSet(folder, agreed_setting(folder, names, (), SIZE)) as opened:
        for one in episodes:
            opened.keep(one)
    return folder


def recorded(folder: Path, *episodes: DrivenEpisode) -> Path:
    keep(folder, *episodes)
    assert bring_up_to_date(folder) == []
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """The files of the dataset, without what it was made from, and without videos: of the same pixels, x264 does not always make the same
    bytes at this size. What they show is compared when the set is replayed."""
    assert all(one.same for one in replay(folder))
    return {name: data for name, data in files(folder).items() if not name.startswith((WORK, "videos/"))}


@pytest.fixture(scope="module")
def whole(solved, tmp_path_factory) -> Path:
    return recorded(tmp_path_factory.mktemp("driven") / "set", *solved)


def test_it_is_a_data_set_without_a_defect_that_replays(whole):
    report = validate(whole)
    assert not report.defects and report.counts["episodes"] == 2
    assert all(one.same for one in replay(whole))


def test_it_holds_what_was_driven_and_says_who_drove(whole, solved):
    reader, facts, rows = DatasetReader(whole), read_facts(whole), list(extras(whole))
    for k, one in enumerate(solved):
        assert np.array_equal(reader.column("action", k), one.actions)
        assert reader.column("next.success", k).tolist() == [False] * (len(one.actions) - 1) + [True]
    assert facts["source"] == "person" and facts["policy"] == "human, human:ann" and facts["episodes"] == [PICK, OTHER]
    assert [row.policy for row in rows] == ["human", "human:ann"]
    card = (whole / "README.md").read_text()
    assert "driven by a person (`human, human:ann`)" in card and f"etude drive {PICK}\netude drive {OTHER}" in card
    assert "The same command gives the same bytes" not in card and "Every episode ended in success" in card


def test_a_set_that_is_extended_is_the_one_that_was_driven_at_once(whole, solved, tmp_path):
    folder = recorded(tmp_path / "set", solved[0])
    first = next(iter(extras(folder)))
    assert recorded(folder, solved[1]) and contents(folder) == contents(whole)
    assert np.array_equal(next(iter(extras(folder))).arrays["states"], first.arrays["states"])


def test_a_set_without_its_takes_is_extended_all_the_same(whole, solved, tmp_path):
    folder = recorded(tmp_path / "set", solved[0])
    shutil.rmtree(folder / WORK)
    recorded(folder, solved[1])
    assert contents(folder) == contents(whole)


def test_episodes_may_be_driven_again(solved, tmp_path):
    folder = recorded(tmp_path / "set", solved[0], solved[0])
    assert not validate(folder).defects and DatasetReader(folder).spans[1].length == len(solved[0].actions)


def test_failures_are_flagged_and_replay_as_failures(solved, tmp_path):
    folder = recorded(tmp_path / "set", driven(PICK, solve=False), solved[1])
    assert not validate(folder).defects and [one.same for one in replay(folder)] == [True, True]
    reader, facts = DatasetReader(folder), read_facts(folder)
    assert not reader.column("next.success", 0).any() and reader.column("next.success", 1)[-1]
    assert facts["unsolved"] == [0] and "All but 1 ended in success" in (folder / "README.md").read_text()
    assert [view["outcome"] for view in dataset_views(folder, (), 2)] == ["failure", "success"]
    assert rerender(folder, tmp_path / "other", RecordingSpec(("render",), SIZE)) == 2
    assert read_facts(tmp_path / "other")["source"] == "person"


def test_replay_notices_a_failure_that_has_become_a_success(solved, tmp_path):
    """Flags are compared, not assumed: a recorded success must succeed, a recorded failure must not."""
    short = DrivenEpisode(solved[0].episode, solved[0].actions, "human", False)
    folder = recorded(tmp_path / "set", short)  # said to be unsolved, but it is not
    assert DatasetReader(folder).column("next.success", 0)[-1] and read_facts(folder).get("unsolved") is None
    assert [one.same for one in replay(folder)] == [True]


def test_what_does_not_lead_to_success_again_is_told_and_stays_kept(solved, tmp_path):
    broken = DrivenEpisode(solved[0].episode, solved[0].actions[:20], "human", True)
    folder = keep(tmp_path / "set", broken, solved[1])
    (line,) = bring_up_to_date(folder)
    assert PICK in line and "did not end in success" in line and "\n" not in line
    assert read_facts(folder)["episodes"] == [OTHER] and kept_file(folder, 0).exists()
    recorder = Recorder(folder)
    recorder.want()
    assert "did not end in success" in recorder.finish()


def test_nothing_is_left_of_a_session_in_which_nothing_was_kept(tmp_path):
    with DrivenSet(tmp_path / "set", agreed_setting(tmp_path / "set", [PICK], (), SIZE)):
        pass
    assert list(tmp_path.iterdir()) == []


def test_two_people_do_not_drive_into_one_folder(tmp_path):
    setting = agreed_setting(tmp_path / "set", [PICK], (), SIZE)
    with DrivenSet(tmp_path / "set", setting), pytest.raises(EtudeError, match="somebody is driving into"):
        DrivenSet(tmp_path / "set", setting)


def test_a_set_goes_on_with_its_own_cameras_and_size(whole):
    assert agreed_setting(whole, [OTHER], (), None) == setting_of(whole)
    with pytest.raises(EtudeError, match="was driven with --size 32x32; leave --size out"):
        agreed_setting(whole, [OTHER], (), (64, 64))
    with pytest.raises(EtudeError, match="was driven with --camera base hand_view"):
        agreed_setting(whole, [OTHER], ("base",), None)


@pytest.mark.parametrize(
    ("names", "cameras", "size", "said"),
    [
        (["himan/open_drawer@train#0"], (), None, "unknown camera|has arm"),
        (["iwisdm/low@val#0"], (), None, "is a decision"),
        (["clevrskills/pick@train#0", "himan/open_drawer@train#0"], (), None, "has arm"),
        ([PICK], ("bse",), None, "did you mean 'base'"),
        ([PICK], (), (33, 32), "even width"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(whole, names, cameras, size, said, tmp_path):
    folder = whole if names[0].startswith("himan") else tmp_path / "set"
    with pytest.raises(EtudeError, match=said) as refused:
        agreed_setting(folder, names, cameras, size)
    assert "\n" not in str(refused.value)


def test_a_folder_that_is_something_else_is_left_alone(whole, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    made(order([PICK], size=SIZE), tmp_path / "demos")
    rerender(whole, tmp_path / "images", RecordingSpec(size=SIZE), "lerobot-images")
    before = files(tmp_path)
    for name, said in {
        "mine": "holds other files",
        "file": "is a file",
        "demos": "made by 'etude demos'",
        "images": "in another format",
    }.items():
        with pytest.raises(EtudeError, match=said):
            agreed_setting(tmp_path / name, [PICK], (), SIZE)
    assert files(tmp_path) == before


def test_what_was_kept_is_read_or_named(whole, solved, tmp_path):
    folder = keep(tmp_path / "set", solved[0])
    kept_file(folder, 0).write_text("{}")
    with pytest.raises(EtudeError, match=r"000000\.json cannot be read"):
        keep(folder, solved[1])
    kept_file(folder, 0).write_text(json.dumps([1]))
    with pytest.raises(EtudeError, match=r"000000\.json cannot be read"):
        bring_up_to_date(folder)


def test_a_recorder_that_is_killed_again_and_again_loses_nothing(whole, solved, tmp_path):
    folder, chance = keep(tmp_path / "set", *solved), rng("test", "kills")
    kills = 0
    for longest in (0.02, 0.1, 0.3, 0.6, 1.0, 2.0):  # at first, nothing can be done so soon
        process = Copy(lambda: bring_up_to_date(folder))
        if process.wait(float(chance.uniform(0.01, longest))) is None:
            process.kill()
            kills += 1
    bring_up_to_date(folder)
    assert kills and contents(folder) == contents(whole)
