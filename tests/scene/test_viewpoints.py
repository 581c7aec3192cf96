"""Cameras of one's own: written as text, seen in observations, kept with runs and datasets, and nothing else is changed by them."""

from __future__ import annotations

import json
from dataclasses import replace

import av
import gymnasium
import numpy as np
import pytest
from demo_fixtures import made, order
from PIL import Image
from refusing import refused, told

import etude
from etude.datasets.replaying import replay, rerender
from etude.datasets.taking import RecordingSpec
from etude.envs.simulation import Simulation
from etude.evaluation.film import Filming
from etude.evaluation.run import RunSettings
from etude.names import EtudeError
from etude.policies.address import Address
from etude.policies.contract import Contract, mismatches
from etude.pose import rotate
from etude.render.studio import Studio
from etude.scene.scene import Camera, look_at
from etude.scene.viewpoints import camera_text, own_camera

NAME = "clevrskills/touch@train#0"
SIDE = "side=0.9:-0.6:0.7:0:0:0.1:50"


def test_a_text_is_a_place_what_is_looked_at_and_a_field_of_view():
    camera = own_camera(SIDE)
    assert camera == Camera("side", look_at((0.9, -0.6, 0.7), (0.0, 0.0, 0.1)), 50.0)
    assert own_camera(camera_text(camera)) == camera
    assert own_camera("base") is None
    down = own_camera("above=0.1:0:1:0.1:0:0:40")
    assert np.allclose(rotate(down.pose.rotation, (0.0, 0.0, 1.0)), (0.0, 0.0, -1.0))
    assert np.allclose(rotate(down.pose.rotation, (0.0, -1.0, 0.0)), (1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("side=1:2:3", "'side=1:2:3' is not a camera; the form is NAME=X:Y:Z:TO_X:TO_Y:TO_Z:FOV"),
        ("side=1:2:3:4:5:6:wide", "is not a camera"),
        ("side=1:2:3:4:5:6:nan", "is not a camera"),
        ("side=1:2:3:1:2:3:50", "cannot look at the point where it stands"),
        ("side=1:2:3:0:0:0:200", "fov must be between 0.01 and 179 degrees"),
        ("side=1:2:3:1:1:0:0:50", "the quaternion of camera 'side' has the length 1.41421"),
    ],
)
def test_what_is_no_camera_is_refused(text, words):
    with pytest.raises(EtudeError, match=words.replace("(", r"\(")):
        Contract(cameras=(text,))


def test_an_environment_shows_what_the_camera_sees_and_plays_the_same_episode():
    own, usual = (gymnasium.make("etude/clevrskills.touch-v1", cameras=cameras, size=(48, 48)) for cameras in (("base", SIDE), ("base",)))
    seen, info = own.reset(seed=0)
    plain, _ = usual.reset(seed=0)
    assert seen["side"].shape == (48, 48, 3) and not np.array_equal(seen["side"], seen["base"])
    assert np.array_equal(seen["base"], plain["base"]) and np.array_equal(seen["proprioception"], plain["proprioception"])
    assert info["episode_name"] == NAME
    twin = gymnasium.make("etude/clevrskills.touch-v1", cameras=(own_camera(SIDE),), size=(48, 48))
    assert np.array_equal(twin.reset(seed=0)[0]["side"], seen["side"])


def test_a_camera_of_the_scene_written_out_sees_the_same_pixels():
    base = etude.episode(NAME).scene.camera("base")
    again = camera_text(Camera("again", base.pose, base.fov, size=base.size))
    env = gymnasium.make("etude/clevrskills.touch-v1", cameras=("base", again), size=(64, 64))
    seen, _ = env.reset(seed=0)
    assert np.array_equal(seen["again"], seen["base"])


class Watching:
    """Looks from the side, and does nothing."""

    contract = Contract.etude("ee_delta", cameras=(SIDE,), size=(32, 32))

    def reset(self, instruction, pictures, episode):
        pass

    def act(self, observation):
        assert observation["side"].shape == (32, 32, 3)
        return np.zeros(7)


def test_a_policy_brings_its_cameras_and_the_run_keeps_them(tmp_path):
    run = etude.evaluate(Watching(), [f"{NAME}"], out=tmp_path / "run")
    (record,) = run.records
    assert record.outcome == "failure" and record.id == etude.episode(NAME).id
    assert json.loads((tmp_path / "run/run.json").read_text())["contract"]["policy"]["cameras"] == [SIDE]


class Fallen(Watching):
    """Leans over, without looking."""

    contract = Contract.etude("ee_delta")

    def act(self, observation):
        return np.array([0.0, 0.3, 0.3, 0.0, 0.2, 0.0, -1.0])


def test_films_are_taken_with_a_camera_of_ones_choice(tmp_path):
    texts = ("", SIDE, "base", "render")
    runs = [
        etude.evaluate(Fallen(), [NAME], out=tmp_path / str(k), settings=RunSettings(1, keep="all", camera=text))
        for k, text in enumerate(texts)
    ]
    assert len({replace(run.records[0], timings={}, film=None).to_line() for run in runs}) == 1  # what films show changes no result
    simulation = Simulation(etude.episode(NAME).seen_by([SIDE]))
    firsts = []
    for name in ("", "side", "base", "render"):
        filming = Filming("nobody", 1, name)
        filming.begin(simulation)
        firsts.append(filming._film.frames[0][:, :384])
    assert np.array_equal(firsts[0], firsts[2])  # "base" is what shows most
    assert np.array_equal(firsts[1], Studio(simulation.world).shoot("side", (384, 384), supersample=True).rgb)
    for run, shown in zip(runs, firsts, strict=True):
        kept = first_frame(run.folder / run.records[0].film)[:, :384].astype(float)
        near = [float(np.abs(kept - other).mean()) for other in firsts]
        assert near.index(min(near)) == [np.array_equal(other, shown) for other in firsts].index(True)


def first_frame(film):
    with av.open(str(film)) as container:
        return next(container.decode(video=0)).to_ndarray(format="rgb24")


@pytest.mark.parametrize(
    ("what", "settings", "words"),
    [
        (NAME, {"camera": "wrong"}, "--camera chooses the camera of videos: add --record failures, or all"),
        (NAME, {"camera": "side=1:2", "keep": "all"}, "'side=1:2' is not a camera; the form is NAME=X:Y:Z"),
        (NAME, {"camera": "bas", "keep": "all"}, "unknown camera of clevrskills 'bas'; did you mean 'base'"),
        (NAME, {"camera": SIDE.replace("side", "base"), "keep": "all"}, "clevrskills has a 'base' already; give it another name"),
        ("iwisdm/low@val#0", {"camera": SIDE, "keep": "all"}, "decisions are not recorded on video"),
    ],
)
def test_a_camera_that_films_cannot_be_taken_with_is_refused_before_the_first_step(what, settings, words, tmp_path):
    with pytest.raises(EtudeError) as caught:
        etude.evaluate("noop", [what], out=tmp_path / "run", settings=RunSettings(1, **settings))
    assert words in str(caught.value)


def test_names_that_are_taken_and_names_given_twice_are_refused():
    (found,) = mismatches(Contract(cameras=(SIDE.replace("side", "base"),)), etude.episode(NAME))
    assert found == "camera: policy brings 'base', which clevrskills has too; give it another name"
    with pytest.raises(EtudeError, match="two cameras that are called 'side'"):
        Contract(cameras=(SIDE, "side"))
    with pytest.raises(EtudeError, match="nothing else"):
        Contract(cameras=(Camera("side", fov=None, extent=0.5),))


def test_the_address_of_a_server_takes_them_too():
    assert Address.parse(f"ws://127.0.0.1:1?cameras=base,{SIDE}").stated["cameras"] == ["base", SIDE]


def test_a_command_shows_an_episode_from_anywhere(capsys, monkeypatch, tmp_path):
    out = tmp_path / "side.png"
    told(capsys, monkeypatch, "show", NAME, "--camera", SIDE, "--size", "40", "--out", str(out))
    env = gymnasium.make("etude/clevrskills.touch-v1", cameras=(SIDE,), size=(40, 40))
    assert out.is_file() and Image.open(out).size[0] >= 40 and env.observation_space["side"].shape == (40, 40, 3)
    assert "is not a camera" in refused(capsys, monkeypatch, "show", NAME, "--camera", "side=1", "--out", str(out))


def test_data_sets_are_recorded_seen_again_and_replayed_with_them(tmp_path):
    folder = made(order([NAME], how=RecordingSpec(cameras=("base", SIDE), size=(32, 32))), tmp_path / "set")
    facts = json.loads((folder / "meta/etude.json").read_text())
    assert facts["cameras"] == ["base", "side"] and facts["own_cameras"] == {"side": SIDE}
    assert all(result.same for result in replay(folder))
    above = "above=0:0:1.2:0:0:0:50"
    rerender(folder, tmp_path / "again", RecordingSpec(cameras=(above,), size=(32, 32)))
    seen = json.loads((tmp_path / "again/meta/etude.json").read_text())
    assert seen["cameras"] == ["above"] and seen["own_cameras"] == {"above": above}
    assert all(result.same for result in replay(tmp_path / "again"))
