"""Depth, segmentation, points and torques in datasets: in every format the same, replayed, and only where they were asked for."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest
from demo_fixtures import made, order

from etude.datasets.extra import extras
from etude.datasets.folders import find_trajectories, read_trajectory
from etude.datasets.reader import DatasetReader
from etude.datasets.replaying import replay, rerender
from etude.datasets.taking import RecordingSpec
from etude.datasets.validate import validate
from etude.envs.simulation import Simulation
from etude.names import EtudeError
from etude.scene.appearance import segmentation_ids

NAME = "clevrskills/pick@train#0"
MEASURED = ("depth", "segmentation", "points", "torques")
FORMATS = ("lerobot", "lerobot-images", "lerobot-v2.1", "robomimic", "folders")


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    how = RecordingSpec(("base",), (32, 32), modalities=MEASURED)
    return made(order([NAME], how=how, formats=FORMATS), tmp_path_factory.mktemp("modalities") / "sets")


@pytest.fixture(scope="module")
def kept(sets):
    (extra,) = extras(sets / "lerobot")
    return extra


def test_they_are_what_the_world_gives(kept):
    found, looks = kept.modalities, len(kept.arrays["actions"]) + 1
    assert {m: (v.shape, v.dtype.name) for m, v in found.items()} == {
        "depth": ((1, looks, 32, 32), "float32"),
        "segmentation": ((1, looks, 32, 32), "uint16"),
        "points": ((1, looks, 32, 32, 3), "float32"),
        "torques": ((looks, 6), "float32"),
    }
    thing = next(e for e in kept.episode.scene.entities if e.name.startswith(kept.nodes[0][1].removeprefix("Pick up the ")))
    mine = found["segmentation"][0, 0] == segmentation_ids(kept.episode.scene)[thing.name]
    assert mine.any() and np.abs(found["points"][0, 0][mine].mean(0) - thing.pose.position).max() < 0.06
    simulation = Simulation(kept.episode)
    assert np.array_equal(found["torques"][0], simulation.robot.joint_torques().astype(np.float32))
    assert np.abs(found["torques"][0]).max() > 1  # N·m: an arm carries itself


@pytest.mark.parametrize("form", ["lerobot", "lerobot-images", "lerobot-v2.1"])
def test_lerobot_sets_have_them_beside_and_torques_in_a_column(sets, form, kept):
    (extra,) = extras(sets / form)
    assert all(np.array_equal(extra.modalities[m], kept.modalities[m]) for m in MEASURED)
    column = DatasetReader(sets / form).column("observation.joint_torques", 0)
    assert np.array_equal(column, kept.modalities["torques"][:-1])
    report = validate(sets / form)
    assert report.ok, report.defects
    (again,) = replay(sets / form)
    assert again.same


def test_robomimic_has_them_as_observations(sets, kept):
    with h5py.File(sets / "robomimic/demos.hdf5") as file:
        demo = file["data/demo_0"]
        assert np.array_equal(demo["obs/base_depth"][..., 0], kept.modalities["depth"][0, :-1])
        assert np.array_equal(demo["next_obs/base_points"][()], kept.modalities["points"][0, 1:])
        assert np.array_equal(demo["obs/robot0_joint_torque"][()], kept.modalities["torques"][:-1])
        assert json.loads(demo.attrs["segmentation_ids"]) == segmentation_ids(kept.episode.scene)


def test_folders_have_them_as_files(sets, kept):
    (path,) = find_trajectories(sets / "folders")
    arrays = read_trajectory(path).arrays
    assert np.array_equal(arrays["image/base/segmentation"], kept.modalities["segmentation"][0])
    assert np.array_equal(arrays["agent/joint_torques"], kept.modalities["torques"])
    assert json.loads((path / "segmentation_ids.json").read_text()) == segmentation_ids(kept.episode.scene)


def test_a_set_without_them_gets_them_when_it_is_seen_again(tmp_path, kept):
    plain = made(order([NAME], how=RecordingSpec(("base",), (32, 32))), tmp_path / "plain")
    (extra,) = extras(plain)
    assert not extra.modalities and "observation.joint_torques" not in DatasetReader(plain).features
    assert rerender(plain, tmp_path / "deep", RecordingSpec(("base",), (32, 32), modalities=("depth",))) == 1
    (extra,) = extras(tmp_path / "deep")
    assert np.array_equal(extra.modalities["depth"], kept.modalities["depth"]) and set(extra.modalities) == {"depth"}


def test_a_change_of_what_was_measured_is_noticed(sets, tmp_path):
    import pyarrow.parquet as pq

    path = next((sets / "lerobot/etude").rglob("*.parquet"))
    before = path.read_bytes()
    rows = pq.read_table(path).to_pylist()
    torques = np.frombuffer(rows[0]["torques"]["data"], np.float32).copy()
    torques[3] += 1
    rows[0]["torques"]["data"] = torques.tobytes()
    try:
        pq.write_table(type(pq.read_table(path)).from_pylist(rows, pq.read_schema(path)), path)
        (found,) = replay(sets / "lerobot")
        assert found.frames == 1 and not found.same
    finally:
        path.write_bytes(before)


def test_what_nobody_can_record_is_refused_by_name():
    with pytest.raises(EtudeError, match="did you mean 'depth'"):
        RecordingSpec(modalities=("dept",))
    with pytest.raises(EtudeError, match="given twice"):
        RecordingSpec(modalities=("depth", "depth"))
