"""Datasets to learn primitives from prompts of pictures: actions of all training tasks in one layout, objects and prompts cut out."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from demo_fixtures import made, order

from etude.api import demos
from etude.datasets.extra import extras
from etude.datasets.reader import DatasetReader
from etude.datasets.replaying import replay
from etude.datasets.taking import RecordingSpec
from etude.datasets.validate import validate
from etude.envs.observer import Observer
from etude.envs.prompt_assets import prompt_assets, told_views
from etude.envs.simulation import Simulation
from etude.library import find, tasks
from etude.names import EtudeError, digest
from etude.prompts.views import object_tokens

TASKS = [name for name, task in tasks("vima").items() if "train" in task.splits]
SIZE = (256, 128)
WANTED = ("segmentation", "objects", "prompt_views")


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    folder = tmp_path_factory.mktemp("native") / "vima"
    demos("vima", episodes=1, action="own", spec=RecordingSpec(modalities=WANTED), workers=1, out=folder)
    return folder


@pytest.fixture(scope="module")
def rows(native):
    return list(extras(native))


def test_one_set_has_all_training_tasks_and_no_test(native, rows):
    names = [row.episode.parsed for row in rows]
    assert [n.task for n in names] == TASKS and len(TASKS) == 13 and {n.split for n in names} == {"train"}
    report = validate(native)
    assert report.ok, report.defects


def test_stored_actions_replay_through_the_native_space(native, rows):
    reader = DatasetReader(native)
    hands, primitives = (reader.features[c]["info"]["labels"] for c in ("observation.hand", "action.primitive"))
    met = set()
    for row in rows:
        k = row.episode_index
        episode = find(row.episode.name)
        simulation = Simulation(episode)
        observer = Observer(simulation, row.cameras, SIZE, ("rgb", "objects"))
        (hand,), (primitive,) = (np.unique(reader.column(c, k)) for c in ("observation.hand", "action.primitive"))
        assert (hands[hand], primitives[primitive]) == (episode.scene.robot.hand, episode.control)
        met.add((hands[hand], primitives[primitive]))
        cut, count = row.modalities, len(row.modalities["objects_ids"])
        for step, action in enumerate([*reader.column("action", k), None]):
            seen = observer.look()
            for part in ("crops", "boxes", "mask"):
                assert np.array_equal(seen[f"objects_{part}"][:, :count], cut[f"objects_{part}"][:, step])
            ids = simulation.world.segmentation_ids()
            assert [ids[name] for name in observer.objects] == cut["objects_ids"].tolist()
            if action is not None:
                simulation.step(action)
        assert simulation.status.satisfied, episode.name
    assert met == {("suction", "pick_place"), ("spatula", "sweep")}


def test_prompts_are_seen_by_both_cameras_at_the_size_of_observations(rows):
    for row in rows:
        assert set(row.cameras) == {"front", "top"}
        found, views = row.modalities, told_views(row.episode, SIZE, row.cameras)
        assert found["prompt_rgb"].shape == (2, len(views), 128, 256, 3) == (2, row.template.count("{image:"), 128, 256, 3)
        things = [object_tokens(v) for v in views]
        for part in ("crops", "boxes", "mask"):
            assert np.array_equal(found[f"prompt_{part}"], np.concatenate([getattr(t, part) for t in things], axis=1))
        for k, view in enumerate(views):
            for c, camera in enumerate(row.cameras):
                assert np.array_equal(found["prompt_rgb"][c, k], view[camera].rgb)
                assert np.array_equal(found["prompt_segmentation"][c, k], view[camera].segmentation)
        pairs = [[k, thing.id] for k, view in enumerate(views) for thing in view.objects]
        assert found["prompt_objects"].tolist() == pairs
        assert found["prompt_mask"].any(0).all(), row.episode.name  # nothing that is asked about is hidden from both


def test_plain_parquet_tells_what_prompts_show(native):
    (path,) = (native / "etude").rglob("*.parquet")
    for row in pq.read_table(path).to_pylist():
        _, assets = prompt_assets(find(row["name"]))
        told = json.loads(row["prompt_assets"])
        assert {one["slot"]: one["type"] for one in told} == {slot: asset["placeholder_type"] for slot, asset in assets.items()}
        assert [o["name"] for o in told[0]["objects"]] == [o["obj_name"] for o in _listed(next(iter(assets.values())))]
        crops = row["objects_crops"]
        array = np.frombuffer(crops["data"], crops["dtype"]).reshape(crops["shape"])
        ids = json.loads(row["segmentation_ids"])
        assert array.shape[3:] == (32, 32, 3) and array.shape[2] == len([name for name, k in ids.items() if k >= 8])


def _listed(asset):
    info = asset["segm"]["obj_info"]
    return info if isinstance(info, list) else [info]


SHORT = ["vima/rotate@train#0", "vima/sweep_without_exceeding@train#0"]


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    """One of each primitive, small, in every format."""
    how = RecordingSpec(size=(64, 32), modalities=("objects", "prompt_views"))
    formats = ("lerobot", "lerobot-images", "lerobot-v2.1", "robomimic", "folders")
    return made(order(SHORT, "oracle", how, formats=formats), tmp_path_factory.mktemp("formats") / "sets")


@pytest.mark.parametrize("form", ["lerobot", "lerobot-images", "lerobot-v2.1"])
def test_lerobot_forms_hold_the_same_and_replay(sets, form):
    for one, row in zip(extras(sets / "lerobot"), extras(sets / form), strict=True):
        assert one.modalities.keys() == row.modalities.keys() and len(row.modalities) == 10
        assert all(np.array_equal(one.modalities[name], values) for name, values in row.modalities.items())
    report = validate(sets / form)
    assert report.ok, report.defects
    assert all(found.same for found in replay(sets / form))


def test_other_formats_hold_them_too(sets):
    import h5py

    from etude.datasets.folders import find_trajectories, read_trajectory

    rows = list(extras(sets / "lerobot"))
    with h5py.File(sets / "robomimic/demos.hdf5") as file:
        for k, row in enumerate(rows):
            demo, front, top = file[f"data/demo_{k}"], row.cameras.index("front"), row.cameras.index("top")
            assert np.array_equal(demo["obs/top_objects_crops"][()], row.modalities["objects_crops"][top, :-1])
            assert np.array_equal(demo["next_obs/front_objects_boxes"][()], row.modalities["objects_boxes"][front, 1:])
            assert np.array_equal(demo["prompt_rgb"][()], row.modalities["prompt_rgb"])
            assert json.loads(demo.attrs["prompt_assets"])[0]["slot"]
    found = {read_trajectory(path).episode.name: read_trajectory(path).arrays for path in find_trajectories(sets / "folders")}
    for row in rows:
        arrays = found[row.episode.name]
        assert np.array_equal(arrays["image/front/objects_mask"], row.modalities["objects_mask"][row.cameras.index("front")])
        assert np.array_equal(arrays["extra/prompt_crops"], row.modalities["prompt_crops"])


def test_the_same_command_gives_the_same_bytes(sets, tmp_path):
    how = RecordingSpec(size=(64, 32), modalities=("objects", "prompt_views"))
    again = made(order(SHORT, "oracle", how), tmp_path / "again")
    for path in sorted(p for p in again.rglob("*") if p.is_file() and p.suffix in (".parquet", ".mp4")):
        assert digest(path.read_bytes().hex()) == digest((sets / "lerobot" / path.relative_to(again)).read_bytes().hex()), path.name


def _edited(folder, **changes):
    (path,) = (folder / "etude").rglob("*.parquet")
    table = pq.read_table(path)
    found = table.to_pylist()
    for name, change in changes.items():
        values = np.frombuffer(found[0][name]["data"], found[0][name]["dtype"]).reshape(found[0][name]["shape"]).copy()
        change(values)
        found[0][name]["data"] = values.tobytes()
    pq.write_table(type(table).from_pylist(found, table.schema), path)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"prompt_crops": lambda v: v.__iadd__(1)}, "prompt_crops is not what its pictures show"),
        ({"prompt_rgb": lambda v: v.fill(0)}, "prompt_crops is not what its pictures show"),
        ({"objects_boxes": lambda v: v.__iadd__(60)}, "not within 64×32 pixels"),
        ({"objects_mask": lambda v: v.fill(False)}, "an object that is not seen has a crop or a box"),
    ],
)
def test_validation_finds_tokens_that_are_not_those_of_the_pictures(sets, tmp_path, changes, text):
    shutil.copytree(sets / "lerobot", tmp_path / "set")
    _edited(tmp_path / "set", **changes)
    found = [d for d in validate(tmp_path / "set").defects if d.code == "etude-tokens"]
    assert found and text in found[0].text


@pytest.mark.parametrize("column", ["observation.hand", "action.primitive"])
def test_validation_finds_a_hand_or_a_primitive_that_is_not_the_episodes(sets, tmp_path, column):
    shutil.copytree(sets / "lerobot", tmp_path / "set")
    path = tmp_path / "set/meta/info.json"
    info = json.loads(path.read_text())
    info["features"][column]["info"]["labels"].reverse()
    path.write_text(json.dumps(info))
    assert [d.code for d in validate(tmp_path / "set").defects] == ["etude-label"] * len(SHORT)


def test_what_has_other_numbers_in_an_action_is_refused(tmp_path):
    names = ["vima/rotate@train#0", "vlmbench/pick_shape@train#0"]
    with pytest.raises(EtudeError, match="make a dataset for each"):
        made(order(names, "oracle"), tmp_path / "mixed")
