"""robomimic's file: what was recorded is in it, its models take its states, and the same takes give the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
from demo_fixtures import taken

from etude.datasets.robomimic import FILE, Robomimic
from etude.datasets.take import Take, write_take
from etude.datasets.taking import STATE, RecordingSpec
from etude.datasets.video import pixels_of
from etude.episodes import Episode
from etude.names import EtudeError
from etude.scene.world import World

h5py = pytest.importorskip("h5py")

HOW = RecordingSpec(size=(32, 32), videos=False, images=True, spaces=True)
NAMES = {
    "clevrskills": "clevrskills/pick@train#3",
    "himan": "himan/open_drawer@test#0",
    "vima": "vima/visual_manipulation@train#0",
}


@pytest.fixture(scope="module")
def takes() -> dict[str, Take]:
    return {suite: taken(name, HOW, "oracle:action=ee_delta") for suite, name in NAMES.items()}


def written(folder: Path, *takes: Take) -> Path:
    folder.mkdir(parents=True)
    writer = Robomimic(folder)
    for take in takes:
        writer.add(take)
    writer.finish()
    assert [p.name for p in folder.iterdir()] == [FILE]
    return folder / FILE


@pytest.fixture(scope="module")
def file(takes: dict[str, Take], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = written(tmp_path_factory.mktemp("robomimic") / "out", takes["clevrskills"])
    with h5py.File(path, "r") as opened:
        yield opened


def test_actions_states_and_rewards_are_those_of_the_take(file: Any, takes: dict[str, Take]) -> None:
    take, demo = takes["clevrskills"], file["data/demo_0"]
    assert file["data"].attrs["total"] == demo.attrs["num_samples"] == take.length
    assert demo["actions"].dtype == np.float32 and np.abs(demo["actions"]).max() <= 1
    assert np.array_equal(demo["actions"], take.actions)
    assert np.array_equal(np.vstack([demo["states"], demo["last_state"]]), take.states)
    assert np.array_equal(demo["rewards"], take.rewards) and np.array_equal(demo["success"], take.success)
    assert demo["dones"][:].tolist() == [0] * (take.length - 1) + [1]
    assert {space: demo["action_dict"][space].shape for space in demo["action_dict"]} == {s: v.shape for s, v in take.spaces.items()}
    assert "lead" not in demo


def test_pictures_before_and_after_each_action_are_exact(file: Any, takes: dict[str, Take]) -> None:
    take, demo = takes["clevrskills"], file["data/demo_0"]
    for camera in take.cameras:
        looks = np.array([pixels_of(data) for data in take.images[camera]])
        before, after = demo[f"obs/{camera}_image"], demo[f"next_obs/{camera}_image"]
        assert before.dtype == np.uint8 and before.chunks == (1, 32, 32, 3) and before.compression == "gzip"
        assert np.array_equal(before, looks[:-1]) and np.array_equal(after, looks[1:])
    assert [np.array_equal(demo["prompt"][str(k)], pixels_of(data)) for k, data in enumerate(take.pictures)] == [True] * len(take.pictures)


def test_what_the_robot_felt_has_robosuites_names_and_order(file: Any, takes: dict[str, Take]) -> None:
    take, demo = takes["clevrskills"], file["data/demo_0"]
    joints, velocities, position, rotation, hand = np.split(take.proprioception, [6, 12, 15, 19], axis=1)
    expected = {
        "joint_pos": joints, "joint_vel": velocities, "eef_pos": position, "eef_quat": rotation[:, [1, 2, 3, 0]],
        "gripper_closed": hand[:, :1], "gripper_held": hand[:, 1:2], "gripper_qpos": hand[:, 2:],
    }  # fmt: skip
    for key, values in expected.items():
        assert np.array_equal(demo[f"obs/robot0_{key}"], values[:-1]), key
        assert np.array_equal(demo[f"next_obs/robot0_{key}"], values[1:]), key
    assert {k for k in demo["obs"] if k.startswith("robot0_")} == {f"robot0_{k}" for k in expected}


def test_the_episode_and_its_words_are_there(file: Any, takes: dict[str, Take]) -> None:
    take, attributes = takes["clevrskills"], file["data/demo_0"].attrs
    assert attributes["episode_name"] == take.episode.name and Episode.from_json(attributes["episode"]) == take.episode
    assert tuple(map(tuple, json.loads(attributes["words"]))) == take.words
    told = {"lang": take.episode.instruction.text, "template": take.template, "prompts": [list(form) for form in take.prompts]}
    assert json.loads(attributes["ep_meta"]) == told and len(take.prompts) > 1
    assert [k["frame"] for k in json.loads(attributes["keysteps"])] == [k.frame for k in take.keysteps]


def test_the_environment_can_be_made_from_what_is_said_about_it(file: Any, takes: dict[str, Take]) -> None:
    take, demo = takes["clevrskills"], file["data/demo_0"]
    said = json.loads(file["data"].attrs["env_args"])
    assert set(said) == {"env_name", "env_version", "type", "env_kwargs"} and said["env_name"] == "etude/clevrskills.pick-v1"
    own = json.loads(demo.attrs["env_args"])
    environment = gymnasium.make(own["env_name"], **own["env_kwargs"])
    seen, _ = environment.reset(options={"episode": demo.attrs["episode_name"]})
    assert np.array_equal(seen["base"], demo["obs/base_image"][0])
    assert environment.action_space.shape == take.actions.shape[1:]


@pytest.mark.parametrize("suite", NAMES)
def test_states_set_in_the_stored_model_put_every_body_where_it_was(suite: str, takes: dict[str, Take], tmp_path: Path) -> None:
    take = takes[suite]
    with h5py.File(written(tmp_path / "out", take), "r") as file:
        demo = file["data/demo_0"]
        model = mujoco.MjModel.from_xml_string(demo.attrs["model_file"])
        states = demo["states"][:]
    world, data = World(take.episode.scene), mujoco.MjData(model)
    assert mujoco.mj_stateSize(model, STATE) == states.shape[1]
    assert [model.body(k).name for k in range(model.nbody)] == [world.model.body(k).name for k in range(model.nbody)]
    for state in states[:: take.length // 5]:
        for one, its in ((model, data), (world.model, world.data)):
            mujoco.mj_setState(one, its, state, STATE)
            mujoco.mj_kinematics(one, its)
        assert np.abs(data.xpos - world.data.xpos).max() < 1e-12 and np.abs(data.xmat - world.data.xmat).max() < 1e-12
        assert np.abs(data.geom_xpos - world.data.geom_xpos).max() < 1e-6


def test_a_robot_of_another_kind_and_a_take_without_images_are_refused(takes: dict[str, Take], tmp_path: Path) -> None:
    writer = Robomimic(tmp_path)
    writer.add(takes["clevrskills"])
    with pytest.raises(EtudeError, match=r"has arm 'panda'.*make a dataset for each"):
        writer.add(takes["himan"])
    with pytest.raises(EtudeError, match="recorded without images"):
        writer.add(replace(takes["clevrskills"], images={}))


def test_without_h5py_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(EtudeError, match=r"this format needs h5py: pip install 'etude\[datasets\]'"):
        Robomimic(tmp_path)


def test_one_layout_in_ten_is_for_validation_with_all_its_variants(takes: dict[str, Take], tmp_path: Path) -> None:
    take = short(takes["clevrskills"])
    names = [f"clevrskills/pick@train#{k}" for k in range(12)] + ["clevrskills/pick@train#9?prompt=1", "clevrskills/pick@train#1?prompt=1"]
    many = [replace(take, episode=replace(take.episode, name=name)) for name in names]
    with h5py.File(written(tmp_path / "many", *many), "r") as file:
        train, valid = ([name.decode() for name in file[f"mask/{mask}"]] for mask in ("train", "valid"))
        assert valid == ["demo_9", "demo_12"]
        assert sorted(train + valid) == sorted(file["data"]) and len(train) == 12
    with h5py.File(written(tmp_path / "few", *many[:3]), "r") as file:
        assert file["mask/valid"][:].tolist() == [b"demo_2"] and file["mask/train"][:].tolist() == [b"demo_0", b"demo_1"]
    with h5py.File(written(tmp_path / "one", *many[:1]), "r") as file:
        assert file["mask/valid"].shape == (0,)


def short(take: Take) -> Take:
    """The first action of a take alone, led by one that comes before it."""
    count = slice(2)
    return replace(
        take,
        actions=take.actions[1:2] * 50,
        lead=take.actions[:1],
        words=take.words[:1],
        rewards=take.rewards[:1],
        success=take.success[:1],
        progress=take.progress[:1],
        spaces={},
        proprioception=take.proprioception[count],
        states=take.states[count],
        images={camera: files[count] for camera, files in take.images.items()},
    )


def test_actions_are_stored_as_they_were_carried_out_and_the_lead_beside_them(takes: dict[str, Take], tmp_path: Path) -> None:
    take = short(takes["clevrskills"])
    assert np.abs(take.actions).max() > 1
    with h5py.File(written(tmp_path / "out", take), "r") as file:
        demo = file["data/demo_0"]
        assert np.array_equal(demo["actions"], np.clip(take.actions, -1, 1)) and np.array_equal(demo["lead"], take.lead)


def test_the_same_takes_give_the_same_bytes_in_another_process(takes: dict[str, Take], tmp_path: Path) -> None:
    take = takes["clevrskills"]
    once = written(tmp_path / "once", take, take)
    write_take(take, tmp_path / "take.npz")
    program = (
        "import sys; from pathlib import Path; from etude.datasets.robomimic import Robomimic; from etude.datasets.take import read_take;"
        "from etude.library import tasks; tasks('clevrskills'); take = read_take(Path(sys.argv[1])); writer = Robomimic(Path(sys.argv[2]));"
        "writer.add(take); writer.add(take); writer.finish()"
    )
    (tmp_path / "twice").mkdir()
    subprocess.run([sys.executable, "-c", program, tmp_path / "take.npz", tmp_path / "twice"], check=True)
    assert (tmp_path / "twice" / FILE).read_bytes() == once.read_bytes()
