"""Views: what a page is given says where everything was, what touched, and which sub-goals held."""

from __future__ import annotations

import base64
import gc
import json
import re
import weakref
import zlib
from typing import Any

import numpy as np
import pytest

from etude import api
from etude.envs.simulation import Simulation
from etude.evaluation.film import Filming
from etude.evaluation.plan import Plan
from etude.evaluation.play import Players
from etude.evaluation.repeating import repeated
from etude.evaluation.run import Quiet, RunSettings, evaluate
from etude.evaluation.saying import COMPOSED, common_words, spoken_subgoals
from etude.evaluation.view import NEXT, SATISFIED, joined, read_view, view_file, viewed
from etude.evaluation.viewing import episode_view, run_views
from etude.goals.laying import Away, Clear
from etude.goals.units import Composed
from etude.library import find
from etude.names import EtudeError
from etude.render.compact import mesh_data, texture_url

PICK = "clevrskills/pick@test#0"


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def parts(view: dict[str, Any]) -> dict[str, bytes]:
    data, found, at = unpacked(view["data"]), {}, 0
    for name, length in view["parts"].items():
        found[name], at = data[at : at + length], at + length
    assert at == len(data)
    return found


def tracks(view: dict[str, Any]) -> np.ndarray:
    """Poses (moments, tracks, 7), as the page reads them."""
    steps = np.frombuffer(parts(view)["motion"], np.uint8).reshape(2, view["tracks"], 7, view["moments"]).astype(np.uint16)
    shares = np.cumsum(steps[0] + 256 * steps[1], axis=2, dtype=np.uint16).transpose(2, 0, 1) / 65535
    low, high = np.array(view["box"])
    turned = 2 * shares[..., 3:] - 1
    return np.concatenate([low + shares[..., :3] * (high - low), turned / np.linalg.norm(turned, axis=-1, keepdims=True)], 2)


@pytest.fixture(scope="module")
def played():
    rollout = api.rollout("oracle", PICK)
    record, trajectory = rollout.record, rollout.trajectory
    return record, trajectory, viewed(trajectory.episode, trajectory.actions, trajectory.words, "oracle", record.outcome)


def test_everything_comes_back_to_a_tenth_of_a_millimetre(played):
    _, trajectory, view = played
    simulation = Simulation(trajectory.episode)
    bodies = sorted({v.body for v in simulation.world.visuals if v.body})
    found = tracks(view)
    for moment, action in enumerate([None, *trajectory.actions]):
        if action is not None:
            simulation.step(action)
        near = found[moment, : len(bodies)]
        assert np.abs(near[:, :3] - simulation.world.data.xpos[bodies]).max() < 1e-4
        likeness = np.abs((near[:, 3:] * simulation.world.data.xquat[bodies]).sum(1))
        assert likeness.min() > 1 - 1e-8
    assert view["moments"] == len(trajectory.actions) + 1


def test_rotations_do_not_jump_from_one_sign_to_the_other(played):
    turned = tracks(played[2])[..., 3:]
    assert (turned[1:] * turned[:-1]).sum(-1).min() > 0.9


def test_sub_goals_light_up_at_the_steps_that_the_record_has(played):
    record, _, view = played
    data = parts(view)
    flags = np.frombuffer(data["flags"], np.uint8).reshape(len(view["goal"]), -1)
    steps = np.frombuffer(data["steps"], "<u2")
    assert [node["path"] for node in view["goal"]] == [s.path for s in record.subgoals]
    for row, subgoal in zip(flags, record.subgoals, strict=True):
        lit = steps[(row & SATISFIED) > 0]
        assert subgoal.reached is not None and lit[0] == subgoal.reached
    assert (flags[:, 0] & NEXT).any()


def test_forces_are_told_where_and_as_they_act(played):
    _, trajectory, view = played
    simulation = Simulation(trajectory.episode)
    for action in trajectory.actions:
        simulation.step(action)
    data, contacts = parts(view), simulation.world.contacts()
    counts = np.frombuffer(data["touching"], "<u2")
    assert counts[-1] == len(contacts) > 0
    forces = np.frombuffer(data["forces"], "<i2").reshape(3, -1).T[-len(contacts) :] / 20
    places = np.frombuffer(data["places"], "<i2").reshape(3, -1).T[-len(contacts) :] / 1000
    assert np.abs(forces - np.array([c.impulse for c in contacts]) / 0.05).max() <= 0.0251
    assert np.abs(places - np.array([c.position for c in contacts])).max() <= 0.00051
    named = [view["pairs"][k] for k in np.frombuffer(data["touched"], "<u2")[-len(contacts) :]]
    assert named == [(c.first, c.second) for c in contacts]


def test_meshes_keep_their_shape(played):
    mesh = max((v.mesh for v in played[1].simulation.world.visuals), key=lambda m: len(m.vertices))
    data = mesh_data(mesh)
    raw, n, m = unpacked(data["data"]), len(mesh.vertices), len(mesh.faces)
    low, high = np.array(data["box"])
    places = low + np.frombuffer(raw[: 6 * n], "<u2").reshape(3, n).T / 65535 * (high - low)
    assert np.abs(places - mesh.vertices).max() < 2e-5
    assert (mesh.faces == np.frombuffer(raw[10 * n : 10 * n + 6 * m], "<u2").reshape(3, m).T).all()
    normals = np.frombuffer(raw[10 * n + 6 * m :], np.int8).reshape(3, n).T / 127
    assert np.abs(normals - mesh.normals).max() < 0.005


def test_views_share_what_they_have_in_common(played):
    view = played[2]
    both = joined([view, view])
    assert both["meshes"] == view["meshes"] and len(both["views"]) == 2
    assert all("meshes" not in one and "textures" not in one for one in both["views"])


def test_a_plain_colour_is_no_picture():
    assert texture_url("red") == "#ff0000" and texture_url("light wood").startswith("data:image/webp;base64,")


def test_an_episode_takes_little_room(played):
    assert len(json.dumps(played[2])) < 150_000


# ------------------------------------------------------------------------------------------------ runs


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One episode that was recorded and one that was not."""
    folder = tmp_path_factory.mktemp("views") / "run"
    one = evaluate(Plan("oracle", (PICK,)), folder, RunSettings(1, keep="all"), Quiet(), players=Players("oracle"))
    assert view_file(folder, PICK, "vanilla").exists()
    return evaluate(one.plan, folder, RunSettings(1), Quiet(), more=1, players=Players("oracle"))


def test_a_run_keeps_views_of_what_it_records(run):
    kept = read_view(view_file(run.folder, PICK, "vanilla"))
    assert (kept["episode"], kept["policy"], kept["outcome"]) == (PICK, "oracle", "success")


def test_what_was_not_recorded_is_played_again_and_that_is_said(run):
    told: list[str] = []
    views = run_views(run, (), 8, told.append)
    assert [v["episode"] for v in views] == [r.episode for r in run.records] and len(views) == 2
    assert told == [f"{run.records[1].episode} was not recorded, and is played again"]


def test_a_kept_view_is_the_one_that_is_played_again(run):
    assert read_view(view_file(run.folder, PICK, "vanilla")) == json_like(episode_view(Players("oracle"), PICK)[0])


def json_like(value: Any) -> Any:
    return json.loads(json.dumps(value))


def test_episodes_that_the_run_has_not_are_refused_by_name(run):
    with pytest.raises(EtudeError, match="unknown episode of"):
        run_views(run, ["clevrskills/pick@test#99"], 8, lambda _: None)


def test_a_decision_has_no_world():
    with pytest.raises(EtudeError, match="a decision without a world"):
        episode_view(Players("noop"), "iwisdm/low@val#0")


def test_a_file_that_is_no_view_is_refused(tmp_path):
    (tmp_path / "v.json").write_text("{}")
    with pytest.raises(EtudeError, match="not a view"):
        read_view(tmp_path / "v.json")


# ------------------------------------------------------------------------------------------------ words


def test_sub_goals_without_words_are_told_by_their_parts():
    spoken = spoken_subgoals([
        ("goal", "Composed", ""), ("goal.0", "JointAt", ""), ("goal.1", "Composed", ""), ("goal.1.0", "JointAt", ""),
        ("goal.1.1", "Control", "Grasp the handle."), ("goal.1.2", "M2Joint", "pull it open"), ("goal.2", "M1", "let go"),
    ])  # fmt: skip
    assert spoken == {
        "goal": "The whole task", "goal.0": "In the end: let go", "goal.1": "Grasp the handle, then pull it open",
        "goal.1.0": "In the end: pull it open", "goal.1.1": "Grasp the handle", "goal.1.2": "pull it open", "goal.2": "let go",
    }  # fmt: skip


def test_members_without_words_are_numbered_in_what_they_belong_to():
    spoken = spoken_subgoals([("goal", "All", ""), ("goal.0", "Mine", ""), ("goal.1", "Mine", ""), ("goal.2", "Mine", "done")])
    assert spoken["goal.0"] == "The whole task (1 of 3)" and spoken["goal.2"] == "done"


def test_rules_with_nothing_to_rule_over_are_told_as_elsewhere():
    nodes = [("goal", "All", ""), ("goal.0", "Laid", "Put A into B")]
    for k, kind in enumerate((Clear, Away), 1):
        usual, idle = kind(("C",), ((0.1, 0.2),)).words().format(C="C"), kind((), ()).words()
        spoken = spoken_subgoals([*nodes, (f"goal.{k}", kind.__name__, idle)])[f"goal.{k}"]
        assert not idle and spoken and common_words([usual, spoken]) == usual.replace("C", "…")


def test_what_is_achieved_beside_others_is_told_by_its_steps():
    spoken = spoken_subgoals([
        ("goal", "All", ""), ("goal.0", "Achieved", ""), ("goal.0.0", "JointAt", ""), ("goal.0.1", "Control", "grasp the handle"),
        ("goal.0.2", "M2Joint", "push it shut"), ("goal.1", "Picked", "Pick up the cup"),
    ])  # fmt: skip
    assert spoken["goal.0"] == "grasp the handle, then push it shut" and spoken["goal.0.0"] == "In the end: push it shut"


def test_an_end_that_repeats_those_of_its_steps_is_told_by_them():
    steps = [("goal.1", "put"), ("goal.2", "shut")]
    ends = {"goal.1": "Detected", "goal.2": "JointAt"}
    nodes = [("goal", "Composed", ""), ("goal.0", "All", ""), ("goal.0.0", "Detected", ""), ("goal.0.1", "JointAt", "")]
    nodes += [n for p, words in steps for n in ((p, "Composed", ""), (f"{p}.0", ends[p], ""), (f"{p}.1", "M1", words))]
    spoken = spoken_subgoals(nodes)
    assert (spoken["goal.0.0"], spoken["goal.0.1"]) == ("In the end: put", "In the end: shut")


def test_ends_that_can_come_about_in_two_ways_are_told_by_their_steps_in_each():
    ways = [n for k in (0, 1) for n in ((f"goal.0.{k}", "All", ""), (f"goal.0.{k}.0", "Detected", ""), (f"goal.0.{k}.1", "Detected", ""))]
    between = [("goal.2", "Composed", ""), ("goal.2.0", "JointAt", ""), ("goal.2.1", "M2Joint", "shut")]
    steps = [n for k in (1, 3) for n in ((f"goal.{k}", "Composed", ""), (f"goal.{k}.0", "Detected", ""), (f"goal.{k}.1", "M1", f"put {k}"))]
    spoken = spoken_subgoals([("goal", "Composed", ""), ("goal.0", "Either", ""), *ways, *steps[:3], *between, *steps[3:]])
    assert [spoken[f"goal.0.{k}.{n}"] for k in (0, 1) for n in (0, 1)] == ["In the end: put 1", "In the end: put 3"] * 2


def test_what_is_not_to_come_about_is_told_where_it_has_no_words_of_its_own():
    shut = [("goal", "All", ""), ("goal.0", "Always", "Undo: "), ("goal.0.0", "Not", "Undo: "), ("goal.0.0.0", "JointAt", "")]
    deed = [("goal.1", "Not", "Undo: "), ("goal.1.0", "Order", "")]
    deed += [("goal.1.0.0", "Picked", "take it"), ("goal.1.0.1", "Laid", "lay it down")]
    spoken = spoken_subgoals([*shut, *deed])
    assert {spoken[path] for path, _, _ in shut[1:]} == {"Leave shut what is to stay shut"}
    assert spoken["goal.1"] == "Do not: take it, then lay it down"


def test_pushes_are_told_as_requests_and_by_names_instead_of_numbers():
    pushes = [("goal", "All", ""), ("goal.0", "PushedTowards", "Pushing the cup to (-0.33, -0.02)")]
    pushes += [("goal.1", "PushedTo", "Pushing the cup to (-0.33, -0.02)"), ("goal.2", "AtPosition", "Place the cup on (-0.33, -0.02)")]
    named = spoken_subgoals(pushes, {"(-0.33, -0.02)": "the jug"})
    assert named["goal.0"] == "Push the cup towards where the jug stood" and named["goal.1"] == "Push the cup to where the jug stood"
    assert named["goal.2"] == "Place the cup where the jug stood"
    nameless = spoken_subgoals(pushes)
    assert nameless["goal.0"] == "Push the cup in the direction asked for" and nameless["goal.1"] == "Push the cup to (-0.33, -0.02)"


def test_a_view_names_what_a_push_leads_to():
    view = episode_view(Players("noop"), "clevrskills/push@train#0")[0]
    assert re.fullmatch(r"Push the [\w ]+ towards where the [\w ]+ stood", next(part["words"] for part in view["goal"]))


def test_every_kind_that_is_composed_is_known_by_its_name():
    assert set(COMPOSED) == {found.json_kind for found in (Composed, *Composed.__subclasses__())}


def test_the_frames_of_a_film_are_let_go_with_it():
    """A worker that keeps films would else grow by as much as a film has frames, until Python looks for cycles: which it seldom does."""
    episode = find(PICK)
    filming = Filming("still")
    gc.disable()
    try:
        repeated(episode, [np.zeros(7)] * 3, [("", "")] * 3, [filming.begin])
        film = weakref.ref(filming._film)
        del filming
        assert film() is None
    finally:
        gc.enable()
