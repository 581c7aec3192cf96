"""Our datasets in the hands of the real lerobot, and of torch. ``make test-lerobot`` runs this in an environment of its own."""

import json
import os
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

torch = pytest.importorskip("torch", reason="make test-lerobot")
pytest.importorskip("lerobot", reason="make test-lerobot")
os.environ["HF_HUB_OFFLINE"] = "1"

from demo_fixtures import made, order  # noqa: E402
from lerobot.datasets.lerobot_dataset import LeRobotDataset  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

from etude.datasets.extra import extras  # noqa: E402
from etude.datasets.reader import DatasetReader  # noqa: E402
from etude.datasets.taking import RecordingSpec  # noqa: E402
from etude.datasets.windows import Windows, WindowShape  # noqa: E402
from etude.learn.dataset import WindowDataset  # noqa: E402

NAMES = [f"clevrskills/{task}@train#{seed}" for task in ("pick", "place", "stack") for seed in range(3)]
FORMATS = ("lerobot", "lerobot-images", "lerobot-v2.1")


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    place = tmp_path_factory.mktemp("sets")
    os.environ["HF_HOME"] = str(tmp_path_factory.mktemp("cache"))
    return made(order(NAMES, how=RecordingSpec(spaces=True), formats=FORMATS), place / "set", workers=2)


def loaded(folder):
    return LeRobotDataset("local/etude", root=folder, video_backend="pyav")


def pixels(item, key):
    return (item[key] * 255).round().to(torch.uint8).permute(1, 2, 0).numpy()


@pytest.mark.parametrize("form", FORMATS[:2])
def test_lerobot_reads_the_first_and_last_frame_of_every_episode(sets, form):
    data, ours = loaded(sets / form), DatasetReader(sets / form)
    assert data.num_episodes == len(NAMES) == len(ours)
    begin = 0
    for episode, span in enumerate(ours.spans):
        for frame in (0, span.length - 1):
            item = data[begin + frame]
            assert (int(item["episode_index"]), int(item["frame_index"])) == (episode, frame)
            assert item["task"] == span.task
            assert np.array_equal(item["action"].numpy(), ours.column("action", episode)[frame])
            assert np.array_equal(item["observation.state"].numpy(), ours.column("observation.state", episode)[frame])
            for camera in ours.cameras:
                (seen,) = ours.frames(episode, camera, frame, 1)
                there = pixels(item, f"observation.images.{camera}")
                assert np.abs(there.astype(int) - seen).max() <= (2 if form == "lerobot" else 0)
        begin += span.length
    assert begin == data.num_frames


def test_stored_images_are_the_rendered_ones_exactly(sets):
    import zlib

    data = loaded(sets / "lerobot-images")
    for extra in extras(sets / "lerobot-images"):
        if extra.episode_index == 0:
            for k, camera in enumerate(extra.cameras):
                assert zlib.crc32(pixels(data[0], f"observation.images.{camera}").tobytes()) == extra.arrays["digests"][k, 0]


@pytest.mark.parametrize("form", FORMATS[:2])
def test_a_plain_data_loader_of_torch_makes_batches(sets, form):
    data = loaded(sets / form)
    loader = DataLoader(data, batch_size=16, shuffle=True, num_workers=2)
    batch = next(iter(loader))
    assert batch["observation.images.base"].shape == (16, 3, 128, 128) and batch["action"].shape == (16, 7)
    assert len(batch["task"]) == 16 and {*batch["task"]} <= {span.task for span in DatasetReader(sets / form).spans}


def test_plan_sub_tasks_and_steps_arrive_where_they_are_asked_for(tmp_path, sets):
    from lerobot.utils.collate import lerobot_collate_fn

    data = loaded(made(order(NAMES[:2], how=RecordingSpec(size=(64, 64), language=True)), tmp_path / "told"))
    assert len(next(iter(DataLoader(data, batch_size=4, shuffle=True, collate_fn=lerobot_collate_fn)))["task"]) == 4
    rows = data[0]["language_persistent"]
    styles = [row["style"] for row in rows]
    assert styles.count("plan") == 1 and "subtask" in styles and "motion" in styles
    assert next(row["content"] for row in rows if row["style"] == "subtask").startswith("Pick up")


def test_what_lerobot_computes_of_an_episode_is_what_we_wrote(sets):
    from lerobot.datasets.compute_stats import compute_episode_stats

    ours = DatasetReader(sets / "lerobot")
    features = {name: ours.features[name] for name in ("action", "observation.state")}
    theirs = compute_episode_stats({name: ours.column(name, 0) for name in features}, features)
    (episode,) = pq.read_table(sets / "lerobot/meta/episodes/chunk-000/file-000.parquet").slice(0, 1).to_pylist()
    for name in features:
        for stat in ("min", "max", "mean", "std"):
            assert np.allclose(theirs[name][stat], episode[f"stats/{name}/{stat}"], atol=1e-5)


def test_lerobot_turns_our_v21_into_v30(sets, tmp_path):
    from lerobot.scripts.convert_dataset_v21_to_v30 import convert_dataset

    shutil.copytree(sets / "lerobot-v2.1", tmp_path / "etude")
    convert_dataset(repo_id="local/etude", root=tmp_path / "etude", push_to_hub=False)
    data = loaded(tmp_path / "etude")
    assert data.num_episodes == len(NAMES)
    assert json.loads((tmp_path / "etude/meta/info.json").read_text())["codebase_version"] == "v3.0"
    assert data[data.num_frames - 1]["task"] == DatasetReader(sets / "lerobot").spans[-1].task


def test_torch_gets_windows_from_several_workers(sets):
    windows = WindowDataset(Windows(sets / "lerobot", WindowShape(seen=2, done=8)))
    loader = DataLoader(windows, batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    *_, batch = loader
    assert batch["images"].shape[1:] == (2, 2, 3, 128, 128) and batch["images"].dtype == torch.uint8
    assert batch["prompt_images"].shape[1:3] == (8, 3) and isinstance(batch["text"][0], str)
    assert sum(len(batch["images"]) for batch in loader) == len(windows)
