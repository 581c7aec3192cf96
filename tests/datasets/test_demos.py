"""Datasets of demonstrations: what is in them, that they come out the same, and that what was done can be done again."""

import base64
import json
import shutil
import zlib

import numpy as np
import pyarrow.parquet as pq
import pytest
from demo_fixtures import Quiet, made, order
from kill_harness import Subject, files, harness

from etude.datasets.demos import acting, demos
from etude.datasets.extra import extras
from etude.datasets.reader import DatasetReader
from etude.datasets.replaying import dataset_views, replay, rerender
from etude.datasets.taking import RecordingSpec
from etude.datasets.windows import Windows, WindowShape
from etude.envs.simulation import Simulation
from etude.evaluation.run import RunSettings
from etude.evaluation.view import SATISFIED
from etude.names import EtudeError, rng

NAMES = ("clevrskills/pick@train#0", "clevrskills/pick@train#1", "clevrskills/place@train#0")
ACROSS = (
    "vima/visual_manipulation@L1#0", "vlmbench/door@train#1", "himan/sweep_to_dustpan@train#2+mo_color",
)  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return made(order(NAMES), tmp_path_factory.mktemp("whole") / "set")


def test_the_same_order_gives_the_same_bytes_whatever_the_workers(whole, tmp_path):
    again = made(order(NAMES), tmp_path / "again", workers=2)
    assert files(again) == files(whole)


def test_what_is_recorded_is_what_happened(whole):
    reader = DatasetReader(whole)
    for extra in extras(whole):
        simulation = Simulation(extra.episode)
        for k, action in enumerate(reader.column("action", extra.episode_index)):
            assert np.array_equal(simulation.proprioception(), reader.column("observation.state", extra.episode_index)[k])
            status = simulation.step(action)
            assert np.float32(status.reward) == reader.column("next.reward", extra.episode_index)[k]
            assert status.satisfied == reader.column("next.success", extra.episode_index)[k]
        assert simulation.status.satisfied
        assert reader.column("next.done", extra.episode_index).tolist() == [False] * k + [True]


def test_replay_reproduces_states_frames_and_success(whole):
    found = list(replay(whole))
    assert len(found) == 3 and all(one.same for one in found)


def test_a_recorded_demonstration_can_be_walked_around_in(whole):
    view, other = dataset_views(whole, (), 2)
    assert [view["episode"], other["episode"]] == [extra.episode.name for extra in extras(whole)][:2]
    assert dataset_views(whole, [1], 9) == [other]
    flags = zlib.decompress(base64.b64decode(view["data"]))[view["parts"]["motion"] + view["parts"]["progress"] :]
    assert flags[view["moments"] - 1] & SATISFIED  # the whole goal, at the last moment


def test_replay_notices_another_action_and_another_video(whole, tmp_path):
    folder = tmp_path / "set"
    shutil.copytree(whole, folder)
    path = next((folder / "etude").rglob("*.parquet"))
    rows = pq.read_table(path).to_pylist()
    schema = pq.read_schema(path)
    data = np.frombuffer(rows[0]["actions"]["data"], np.float32).copy()
    data[7 * 10] += 0.2
    rows[0]["actions"]["data"] = data.tobytes()
    pq.write_table(type(pq.read_table(path)).from_pylist(rows, schema), path, row_group_size=1)
    videos = sorted((folder / "videos").rglob("*.mp4"))
    shutil.copy(videos[0], videos[1])
    first, second, _ = replay(folder)
    assert first.states or not first.success
    assert second.states == second.frames == 0 and second.stored and not second.same


@pytest.mark.parametrize("name", ACROSS)
def test_demonstrations_of_every_suite_replay(name, tmp_path):
    folder = made(order([name], size=(32, 32)), tmp_path / "set")
    (one,) = replay(folder)
    assert one.same


def test_primitives_are_recorded_one_frame_each(tmp_path):
    folder = made(order(["vima/visual_manipulation@L1#3"], policy="oracle"), tmp_path / "set")
    (one,) = replay(folder)
    assert one.same and one.steps == 1 and DatasetReader(folder).fps == 1


def test_the_action_in_every_space_leads_to_the_same_states(tmp_path):
    folder = made(order(["clevrskills/pick@train#2"], how=RecordingSpec(size=(32, 32), spaces=True)), tmp_path / "set")
    (extra,), reader = extras(folder), DatasetReader(folder)
    states = extra.arrays["states"]
    simulation = Simulation(extra.episode.under("joint"))
    for k, action in enumerate(reader.column("action.joint", 0)):
        simulation.step(action)
        assert np.array_equal(simulation.world.data.qpos, states[k + 1][1 : 1 + simulation.world.model.nq])  # to the last bit
    simulation = Simulation(extra.episode.under("ee_pose"))
    for action in reader.column("action.ee_pose", 0):
        simulation.step(action)
    tip = reader.column("observation.state", 0)[-1][12:15]
    assert simulation.status.satisfied
    assert np.linalg.norm(np.subtract(simulation.robot.tip().position, tip)) < 0.03


def test_failures_are_listed_and_other_seeds_take_their_place(tmp_path):
    shaky = order([f"vima/visual_manipulation@train#{k}" for k in range(4)], policy="oracle:noise=0.05", wanted=4)
    result = demos(shaky, tmp_path / "set", RunSettings(workers=2), Quiet())
    assert len(result.kept) == 4 and result.failures
    listed = json.loads((tmp_path / "set/meta/etude.json").read_text())
    assert [f["episode"] for f in listed["failures"]] == [r.episode for r in result.failures]
    assert not set(result.kept) & {r.episode for r in result.failures}
    assert all(one.same for one in replay(tmp_path / "set"))


def test_the_oracle_takes_over_from_another_policy(tmp_path):
    taken = order(["clevrskills/pick@train#0", "clevrskills/pick@train#5"], policy=acting("random", 0.1, "ee_delta"))
    folder = made(taken, tmp_path / "set")
    assert any(len(extra.arrays["lead"]) for extra in extras(folder))
    assert all(one.same for one in replay(folder))
    for extra in extras(folder):
        assert extra.words[0][0].startswith("Pick up")  # the oracle's, not the other's


def test_rerendering_changes_nothing_but_the_pictures(whole, tmp_path):
    assert rerender(whole, tmp_path / "other", RecordingSpec(("render",), (96, 64))) == 3
    before, after = DatasetReader(whole), DatasetReader(tmp_path / "other")
    assert after.cameras == ("render",) and next(after.frames(0, "render")).shape == (64, 96, 3)
    for k in range(3):
        assert np.array_equal(before.column("action", k), after.column("action", k))
    assert all(one.same for one in replay(tmp_path / "other"))


def test_sub_tasks_and_steps_are_a_column_where_that_is_asked_for(whole, tmp_path):
    assert "language_persistent" not in DatasetReader(whole).features
    assert rerender(whole, tmp_path / "told", RecordingSpec(language=True)) == 3
    assert {*DatasetReader(tmp_path / "told").features} - {*DatasetReader(whole).features} == {"language_persistent"}
    rows = pq.read_table(tmp_path / "told/data", columns=["language_persistent"]).to_pylist()
    assert {row["style"] for row in rows[0]["language_persistent"]} == {"plan", "subtask", "motion"}
    assert all(one.same for one in replay(tmp_path / "told"))
    with pytest.raises(EtudeError, match=r"--language is for --format lerobot and lerobot-images: lerobot-v2\.1 has no such column"):
        order(NAMES, how=RecordingSpec(language=True), formats=("lerobot-v2.1",))


def test_windows_hold_what_was_seen_and_done(whole):
    windows, reader = Windows(whole, WindowShape(seen=3, done=5)), DatasetReader(whole)
    assert len(windows) == sum(span.length for span in reader.spans)
    first, last = windows[0], windows[len(windows) - 1]
    assert first["images"].shape == (2, 3, 64, 64, 3) and np.array_equal(first["images"][:, 0], first["images"][:, 2])
    assert last["action_is_pad"].tolist() == [False, True, True, True, True]
    length = reader.spans[0].length
    window = windows[length + 7]  # in the second episode
    frames = list(reader.frames(1, reader.cameras[1], 5, 3))
    assert np.array_equal(window["images"][1], np.stack(frames))
    assert np.array_equal(window["action"], reader.column("action", 1)[7:12])
    assert window["prompt_text"] == "Pick up the {image:0}" and window["prompt_mask"].tolist() == [True] + [False] * 7
    assert window["prompt_images"][0].any()


@pytest.mark.parametrize(
    ("names", "change", "said"),
    [
        (("clevrskills/pick@train#0", "himan/open_drawer@train#0"), {}, "has arm"),
        (("iwisdm/low@test#0",), {}, "no demonstration"),
        (NAMES, {"formats": ("lerobotics",)}, "did you mean"),
        (NAMES, {"how": RecordingSpec(size=(63, 64))}, "even width"),
        (NAMES, {"how": RecordingSpec(("hnd_view",))}, "did you mean 'hand_view'"),
        (NAMES, {"policy": "noop"}, "none of"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(names, change, said, tmp_path):
    with pytest.raises(EtudeError, match=said) as refused:
        made(order(names, **change), tmp_path / "set")
    assert "\n" not in str(refused.value)


def test_a_folder_with_other_things_is_left_alone(whole, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(EtudeError, match="other files"):
        made(order(NAMES), tmp_path)
    with pytest.raises(EtudeError, match="choose another --out"):
        made(order(NAMES[:1], command="etude demos something else"), whole)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_what_an_interrupted_tidying_up_left_is_taken_away(whole, tmp_path):
    folder = tmp_path / "set"
    shutil.copytree(whole, folder)
    (folder / ".old/run").mkdir(parents=True)
    (folder / ".old/run/plan.json").write_text("{}")
    assert files(made(order(NAMES), folder)) == files(whole)


def test_killed_at_random_moments_it_ends_as_if_nothing_had_happened():
    few = Subject(["demos", "--episodes", "1", "--size", "32"], files)
    count = harness(few, few.left(), 2, 4.0, rng("test", "kills"))
    assert count.kills == 2 and count.finished >= 1
