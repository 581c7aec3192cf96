"""ClevrSkills' folders: what was recorded is in them and comes back from them, names are unique, the same takes give the same bytes."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from demo_fixtures import taken

from etude.datasets.folders import REQUIRED, Folders, FolderTrajectory, find_trajectories, read_trajectory, trajectory_path
from etude.datasets.take import Take, write_take
from etude.datasets.taking import STATE, RecordingSpec
from etude.datasets.video import Pixels, pixels_of
from etude.library import episode, prompts
from etude.names import EpisodeName, EtudeError
from etude.prompts.pictures import multimodal
from etude.render.camera import project
from etude.scene.world import World

PICK, DRAWER, PRIMITIVE = "clevrskills/pick@train#3", "himan/open_drawer@test#0", "vima/visual_manipulation@train#0"
HOW = RecordingSpec(size=(64, 48), videos=False, images=True, spaces=True)


@pytest.fixture(scope="module")
def takes() -> dict[str, Take]:
    return {PICK: taken(PICK, HOW), DRAWER: taken(DRAWER, HOW, "oracle:action=ee_delta"), PRIMITIVE: taken(PRIMITIVE, HOW)}


@pytest.fixture(scope="module")
def folder(takes: dict[str, Take], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("folders")
    write(out, *takes.values())
    return out


def write(folder: Path, *takes: Take) -> None:
    writer = Folders(folder)
    for take in takes:
        writer.add(take)
    writer.finish()


@pytest.fixture(scope="module")
def pick(folder: Path) -> FolderTrajectory:
    return read_trajectory(folder / "pick/traj_3")


def test_every_episode_is_found_where_its_name_says(folder: Path) -> None:
    found = [str(path.relative_to(folder)) for path in find_trajectories(folder)]
    assert found == ["himan/open_drawer/traj_0@test", "pick/traj_3", "vima/visual_manipulation/traj_0"]


@pytest.mark.parametrize("name", [PICK, DRAWER, PRIMITIVE])
def test_numbers_words_and_the_episode_come_back_as_they_were(name: str, folder: Path, takes: dict[str, Take]) -> None:
    take, read = takes[name], read_trajectory(folder / trajectory_path(EpisodeName.parse(name)))
    assert read.episode == take.episode and read.labels == take.words
    expected = {
        "actions": take.actions, "rewards": take.rewards, "success": take.success, "env_states": take.states,
        "extra/progress": take.progress, "extra/subgoals": take.subgoals,
        **{f"extra/actions/{space}": values for space, values in take.spaces.items()},
    }  # fmt: skip
    for path, values in expected.items():
        assert read.arrays[path].dtype == values.dtype and np.array_equal(read.arrays[path], values), path
    assert read.ep_info["elapsed_steps"] == take.length and read.ep_info["info"]["success"] is True
    assert read.ep_info["control_mode"] == take.episode.control
    assert take.template in read.info["prompts"] and read.info["textual_description"] == take.episode.instruction.text
    assert [(read.path / p).read_bytes() for p in read.info["pictures"]] == list(take.pictures)


def test_every_way_to_tell_the_task_is_kept_with_its_pictures(folder: Path) -> None:
    for path in find_trajectories(folder):
        read = read_trajectory(path)
        forms = prompts(read.episode)
        assert read.info["textual_descriptions"] == [form.text for form in forms]
        for k, form in enumerate(forms):
            alone, pictures = multimodal(episode(f"{read.episode.name}?prompt={k}").instruction, read.episode.scene, HOW.prompt)
            assert re.sub(r"\d+", "#", read.info["prompts"][k]) == re.sub(r"\d+", "#", alone) and len(form.pictures()) == len(pictures)
            shown = [int(number) for number in re.findall(r"\{image:(\d+)\}", read.info["prompts"][k])]
            for number, picture in zip(shown, pictures, strict=True):
                assert np.array_equal(pixels_of((read.path / f"prompt/{number}.png").read_bytes()), picture)
    assert len(read_trajectory(folder / "pick/traj_3").info["prompts"]) == 9


def test_labels_are_counted_from_one_as_in_the_paper(pick: FolderTrajectory, takes: dict[str, Take]) -> None:
    labels = json.loads((pick.path / "action_labels.json").read_text(encoding="utf-8"))
    assert list(labels) == [str(k) for k in range(1, takes[PICK].length + 1)]
    assert all(set(one) == {"mid_act_label", "low_act_label"} for one in labels.values())


def test_what_the_robot_felt_is_told_part_by_part(folder: Path, pick: FolderTrajectory, takes: dict[str, Take]) -> None:
    felt, agent = takes[PICK].proprioception, pick.arrays
    assert np.array_equal(np.hstack([agent[f"agent/{k}"] for k in ("qpos", "qvel", "ee_pose")]), felt[:, :19])
    assert np.array_equal(agent["agent/vacuum_on"], felt[:, 19]) and np.array_equal(agent["agent/vacuum_grasping"], felt[:, 20])
    robot = takes[PICK].episode.scene.robot
    assert robot is not None and agent["agent/base_pose"].shape == (len(felt), 7)
    assert np.allclose(agent["agent/base_pose"][-1], [*robot.base.position, *robot.base.rotation])
    fingers = read_trajectory(folder / "himan/open_drawer/traj_0@test").arrays
    assert fingers["agent/gripper_opening"].max() > 0.01 and "agent/vacuum_on" not in fingers


def test_states_and_cameras_lead_to_the_pixels_of_the_boxes(pick: FolderTrajectory, takes: dict[str, Take]) -> None:
    take, world = takes[PICK], World(takes[PICK].episode.scene)
    for look in (0, take.length):
        mujoco.mj_setState(world.model, world.data, pick.arrays["env_states"][look], STATE)
        mujoco.mj_kinematics(world.model, world.data)
        for camera, body in itertools.product(take.cameras, take.objects):
            eye, centre = world.scene.camera(camera), np.asarray(world.pose(body).position)
            found = {n: pick.arrays[f"camera_param/{camera}/{n}"][look] for n in ("extrinsic_cv", "cam2world_gl", "intrinsic_cv")}
            local = found["extrinsic_cv"] @ [*centre, 1.0]
            in_gl = np.linalg.inv(found["cam2world_gl"]) @ [*centre, 1.0]
            assert np.allclose(local, in_gl * [1, -1, -1, 1])
            pixel = (found["intrinsic_cv"] @ local[:3] / local[2])[:2]
            if local[2] > 0:
                assert np.allclose(pixel, project(eye, centre, world.camera_pose(eye), take.size)[0])
            (x0, y0, _), (x1, y1, _) = pick.arrays[f"extra/actor_mesh_bbox/{camera}/{body}"][look]
            if local[2] > 0 and (np.array([0, 0]) < pixel).all() and (pixel < np.array(take.size) - 1).all():
                assert x0 <= pixel[0] <= x1 and y0 <= pixel[1] <= y1


def test_boxes_and_visibility_have_the_papers_shapes(pick: FolderTrajectory, takes: dict[str, Take]) -> None:
    take = takes[PICK]
    for (c, camera), (k, body) in itertools.product(enumerate(take.cameras), enumerate(take.objects)):
        box, visible = (pick.arrays[f"extra/{what}/{camera}/{body}"] for what in ("actor_mesh_bbox", "actor_is_visible"))
        assert box.shape == (take.length + 1, 2, 3) and (box[:, :, 2] == 1).all()
        assert np.array_equal(box[:, :, :2].reshape(-1, 4), take.boxes[c, :, k])
        assert np.array_equal(visible, take.visible[c, :, k].astype(float)) and set(visible.tolist()) <= {0.0, 1.0}


def apart(first: Pixels, second: Pixels) -> float:
    return float(np.abs(first.astype(int) - second).mean())


def test_videos_show_all_looks_and_key_steps_are_stills_of_them(pick: FolderTrajectory, takes: dict[str, Take]) -> None:
    take = takes[PICK]
    for camera in take.cameras:
        looks, frames = [pixels_of(data) for data in take.images[camera]], list(pick.frames(camera))
        assert len(frames) == take.length + 1 and frames[0].shape == (48, 64, 3)
        assert max(apart(a, b) for a, b in zip(frames, looks, strict=True)) < 10
        assert sum(map(apart, frames, looks)) < sum(map(apart, frames, looks[1:]))  # none is a look too late
        for k, keystep in enumerate(take.keysteps):
            still = pixels_of((pick.path / f"keysteps/{k}_{camera}.jpg").read_bytes())
            assert apart(still, looks[keystep.frame]) < 10
    assert len(list((pick.path / "keysteps").iterdir())) == len(take.cameras) * len(take.keysteps)


def test_different_names_have_different_folders() -> None:
    names = [
        "clevrskills/pick@train#3", "clevrskills/pick@test#3", "clevrskills/pick@train#3+test", "clevrskills/pick@train#3+a+b",
        "clevrskills/pick@train#3+a:0.5", "clevrskills/pick@train#3+a,0.5", "clevrskills/pick@train#3?prompt=1",
        "clevrskills/pick@train#3?a=1~b&c=2", "clevrskills/pick@train#3?a=1&c=2", "clevrskills/pick@train#3?a=x y",
        "clevrskills/pick@train#3?a=x_y", "clevrskills/pick@train#3?a=x:y", "vima/pick@train#3",
    ]  # fmt: skip
    paths = [trajectory_path(EpisodeName.parse(name)) for name in names]
    assert len(set(paths)) == len(paths)
    assert [str(p) for p in paths[:2]] == ["pick/traj_3", "pick/traj_3@test"] and str(paths[-1]) == "vima/pick/traj_3"
    assert all(set(p.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.,=@+~-") for p in paths)


@pytest.mark.parametrize("name", REQUIRED)
def test_an_episode_that_is_not_whole_is_refused(name: str, pick: FolderTrajectory, tmp_path: Path) -> None:
    shutil.copytree(pick.path, tmp_path / "traj_3", ignore=lambda _, names: [Path(name).name] if Path(name).name in names else [])
    with pytest.raises(EtudeError, match=f"is not a whole episode: {name} is missing"):
        find_trajectories(tmp_path)


def test_wrong_use_is_refused_in_one_line(takes: dict[str, Take], folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EtudeError, match="there is no folder traj_"):
        find_trajectories(tmp_path)
    with pytest.raises(EtudeError, match="is given twice"):
        Folders(folder).add(takes[PICK])
    with pytest.raises(EtudeError, match="recorded without images"):
        Folders(tmp_path).add(replace(takes[PICK], images={}))


def test_actions_before_the_first_look_are_kept_beside_the_others(takes: dict[str, Take], tmp_path: Path) -> None:
    write(tmp_path, replace(takes[PRIMITIVE], lead=takes[PRIMITIVE].actions))
    read = read_trajectory(find_trajectories(tmp_path)[0])
    assert np.array_equal(read.arrays["lead"], takes[PRIMITIVE].actions)


def test_the_same_takes_give_the_same_bytes_in_another_process(takes: dict[str, Take], folder: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{k}.npz" for k in range(len(takes))]
    for take, file in zip(takes.values(), files, strict=True):
        write_take(take, file)
    program = (
        "import sys; from pathlib import Path; from etude.datasets.folders import Folders; from etude.datasets.take import read_take;"
        "from etude.library import tasks; [tasks(s) for s in ('clevrskills', 'himan', 'vima')]; writer = Folders(Path(sys.argv[1]));"
        "[writer.add(read_take(Path(f))) for f in sys.argv[2:]]; writer.finish()"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "twice", *files], check=True)
    one, two = (sorted(p.relative_to(f) for p in f.rglob("*") if p.is_file()) for f in (folder, tmp_path / "twice"))
    assert one == two and len(one) > 100
    assert all((folder / p).read_bytes() == (tmp_path / "twice" / p).read_bytes() for p in one)


def test_nothing_is_a_pickle(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            assert path.suffix in (".npy", ".json", ".mp4", ".jpg", ".png")
        if path.suffix == ".npy":
            assert np.load(path, allow_pickle=False).dtype != object
