"""The real client of the Hugging Face Hub pushes what etude made to a Hub of our own (make test-hub)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub", reason="the client of the Hub is not installed: make test-hub")

from hub_server import TOKEN, FakeHub, hub_server
from huggingface_hub import DatasetCard, RepoCard
from made_checkpoints import written_checkpoint

DEMOS = ("demos", "--suite", "clevrskills", "--task", "pick", "--size", "32", "--workers", "1", "--out", "data")


@pytest.fixture(scope="module")
def hub():
    with hub_server() as served:
        yield served


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pushed")


def etude(hub: FakeHub, folder: Path, *arguments: str, token: str = TOKEN) -> subprocess.CompletedProcess[str]:
    """A process of its own: the client reads where the Hub is, and who is logged in, when it is imported."""
    # The store of large files has a protocol of its own, which the client does without where it is told to.
    asked = {"HF_ENDPOINT": hub.address, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    known = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
    return subprocess.run(
        [sys.executable, "-m", "etude", *arguments], cwd=folder, env={**known, **asked, "HF_TOKEN": token}, capture_output=True, text=True
    )


def held(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_data_set_arrives_whole_with_the_tag_that_lerobot_looks_for(hub: FakeHub, folder: Path):
    done = etude(hub, folder, *DEMOS, "--episodes", "1", "--push", "my-lab/pick", "--private")
    assert done.returncode == 0, done.stderr
    assert f"pushed to {hub.address}/datasets/my-lab/pick" in done.stdout
    arrived = hub.files["datasets/my-lab/pick"]
    assert arrived == held(folder / "data") and any(name.endswith(".mp4") for name in arrived)
    assert hub.tags["datasets/my-lab/pick"] == {"v3.0": arrived}
    assert hub.made["datasets/my-lab/pick"]["visibility"] == "private"
    assert b"--push" not in arrived["README.md"] and b"--private" not in arrived["meta/etude.json"]


def test_what_is_pushed_again_takes_the_place_of_what_was_there(hub: FakeHub, folder: Path):
    there = hub.files["datasets/my-lab/pick"]
    there |= {"data/chunk-000/file-999.parquet": b"of another data set", "notes.txt": b"of the owner"}
    done = etude(hub, folder, *DEMOS, "--episodes", "1", "--push", "my-lab/pick")
    assert done.returncode == 0, done.stderr
    assert there == {**held(folder / "data"), "notes.txt": b"of the owner"} == hub.tags["datasets/my-lab/pick"]["v3.0"]


def test_what_the_hub_refuses_is_told_in_a_line(hub: FakeHub, folder: Path):
    done = etude(hub, folder, *DEMOS, "--episodes", "1", "--push", "forbidden/pick")
    assert done.returncode == 2 and "the Hub was asked to take data, for forbidden/pick" in done.stderr
    assert "the rights to create a repository" in done.stderr and "Traceback" not in done.stderr


def test_who_is_not_logged_in_is_told_before_anything_is_recorded(hub: FakeHub, folder: Path):
    nobody = etude(hub, folder, *DEMOS[:-1], "other", "--push", "my-lab/pick", token="")
    assert nobody.returncode == 2 and "hf auth login" in nobody.stderr and not (folder / "other").exists()
    stranger = etude(hub, folder, *DEMOS[:-1], "other", "--push", "my-lab/pick", token="hf_of_a_stranger")
    assert stranger.returncode == 2 and "the Hub was asked who is logged in" in stranger.stderr and not (folder / "other").exists()


def test_a_model_arrives_with_its_card(hub: FakeHub, folder: Path):
    run = written_checkpoint(folder / "trained", "vima/objects-xattn")
    done = etude(hub, folder, "zoo", "push", "trained", "my-lab/turner")
    assert done.returncode == 0, done.stderr
    arrived = hub.files["models/my-lab/turner"]
    assert set(arrived) == {"README.md", "model.safetensors", "curve.jsonl"} and f"{hub.address}/my-lab/turner" in done.stdout
    assert arrived["model.safetensors"] == (run / "model.safetensors").read_bytes()
    assert RepoCard(arrived["README.md"].decode()).data.pipeline_tag == "robotics"


def test_cards_are_what_the_hub_reads(hub: FakeHub):
    about = DatasetCard(hub.files["datasets/my-lab/pick"]["README.md"].decode()).data
    assert (about.license, about.task_categories, about.language) == ("apache-2.0", ["robotics"], ["en"])
    assert about.pretty_name == "Demonstrations in etude (clevrskills)" and about.size_categories == ["n<1K"]
    assert about.configs == [{"config_name": "default", "data_files": "data/*/*.parquet"}] and "LeRobot" in about.tags
