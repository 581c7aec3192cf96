"""The real client of the Hugging Face Hub pushes what etude made to a Hub of our own (make test-hub)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub", reason="the client of the Hub is not installed: make test-hub")

from checkpoint_fixtures import written_checkpoint
from hub_server import TOKEN, FakeHub, hub_server
from huggingface_hub import DatasetCard, RepoCard

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


EVALUATE = ("evaluate", "--suite", "clevrskills", "--task", "pick", "--split", "test", "--episodes", "2", "--workers", "1")


def test_a_board_arrives_as_a_static_space_whose_rows_were_replayed(hub: FakeHub, folder: Path):
    for policy in ("oracle", "noop"):
        keep = ("--record", "all") if policy == "oracle" else ()
        assert etude(hub, folder, *EVALUATE, "--policy", policy, "--out", policy, *keep).returncode == 0
    (folder / "site").mkdir()
    (folder / "site/notes.txt").write_text("of the owner, and for nobody else")
    done = etude(hub, folder, "board", "oracle", "noop", "--out", "site", "--title", "Pick", "--push", "my-lab/board", "--private")
    assert done.returncode == 0, done.stderr
    assert f"pushed to {hub.address}/spaces/my-lab/board" in done.stdout
    made, arrived = hub.made["spaces/my-lab/board"], hub.files["spaces/my-lab/board"]
    assert (made["sdk"], made["visibility"]) == ("static", "private")
    assert set(arrived) == {"README.md", "index.html", "board.json", "1-oracle.html", "2-noop.html"}
    assert arrived == {name: data for name, data in held(folder / "site").items() if name != "notes.txt"}
    card = RepoCard(arrived["README.md"].decode())
    assert (card.data.sdk, card.data.app_file, card.data.title, card.data.license) == ("static", "index.html", "Pick", "apache-2.0")
    assert "replayed 2 of 2: same ends" in card.content and "claimed" in card.content


def test_a_board_that_is_pushed_again_takes_its_own_pages_away(hub: FakeHub, folder: Path):
    there = hub.files["spaces/my-lab/board"]
    there |= {"data.csv": b"of the owner", "about.html": b"of the owner"}
    done = etude(hub, folder, "board", "noop", "--out", "other", "--push", "my-lab/board", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pushed"] == f"{hub.address}/spaces/my-lab/board"
    assert set(there) == {"README.md", "index.html", "board.json", "1-noop.html", "data.csv", "about.html"}


def test_who_is_not_logged_in_is_told_before_a_board_is_made(hub: FakeHub, folder: Path):
    done = etude(hub, folder, "board", "noop", "--out", "none", "--push", "my-lab/board", token="")
    assert done.returncode == 2 and "hf auth login" in done.stderr and not (folder / "none").exists()


def test_a_readme_that_is_not_a_boards_is_not_written_over(hub: FakeHub, folder: Path):
    (folder / "home").mkdir(exist_ok=True)
    (folder / "home/README.md").write_text("mine")
    done = etude(hub, folder, "board", "noop", "--out", "home", "--push", "my-lab/board")
    assert done.returncode == 2 and "is not a board's" in done.stderr and not (folder / "home/index.html").exists()


def test_cards_name_their_repository_and_how_to_cite_it(hub: FakeHub):
    demos, model = (hub.files[place]["README.md"].decode() for place in ("datasets/my-lab/pick", "models/my-lab/turner"))
    assert 'LeRobotDataset("my-lab/pick")' in demos and "OWNER/NAME" not in demos
    assert "\n1 episode, " in demos and "1 episodes" not in demos and "It ended in success, and has been" in demos
    for card, where, title in ((demos, "datasets/my-lab/pick", "Demonstrations in etude"), (model, "my-lab/turner", "turner: a policy")):
        assert f"howpublished = {{Hugging Face Hub, {where}}}" in card and f"title = {{{{{title}" in card
        assert "note = {made by etude" in card and "protocol etude-v2" in card and "the *Community* tab" in card


def test_cards_are_what_the_hub_reads(hub: FakeHub):
    about = DatasetCard(hub.files["datasets/my-lab/pick"]["README.md"].decode()).data
    assert (about.license, about.task_categories, about.language) == ("apache-2.0", ["robotics"], ["en"])
    assert about.pretty_name == "Demonstrations in etude (clevrskills)" and about.size_categories == ["n<1K"]
    assert about.configs == [{"config_name": "default", "data_files": "data/*/*.parquet"}] and "LeRobot" in about.tags
