"""The validator: what is whole passes, and whatever is damaged is named by its code."""

from __future__ import annotations

import importlib.metadata
import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from damages import (
    DATA,
    EPISODES,
    EXTRA,
    FACTS,
    INFO,
    STATS,
    TASKS,
    VIDEO,
    Damage,
    changed_actions,
    changed_episode,
    copy,
    cut,
    delayed,
    edit_column,
    edit_json,
    edit_language,
    edit_lines,
    edit_table,
    edit_video,
    exchanged,
    garbage,
    gone,
    put,
    set_info,
    shifted,
    split_data,
)

from etude import cli
from etude.datasets.checks.info import Feature
from etude.datasets.checks.tallies import ColumnBounds, judged
from etude.datasets.demos import DemosRequest, demos
from etude.datasets.statistics import of_numbers
from etude.datasets.taking import RecordingSpec
from etude.datasets.validate import CODES, validate
from etude.datasets.video import png
from etude.evaluation.run import RunSettings

LEROBOT = bool(importlib.metadata.packages_distributions().get("lerobot"))
FORMS = ("lerobot", "lerobot-images", "lerobot-v2.1")


class Quiet:
    """Progress that nobody watches."""

    def began(self, store: Any) -> None:
        """The run is open."""

    def ended(self, record: Any) -> None:
        """One more episode is over."""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three demonstrations in all three forms, each in its folder."""
    folder = tmp_path_factory.mktemp("demos") / "set"
    names = tuple(f"clevrskills/pick@train#{k}" for k in range(3))
    order = DemosRequest(names, "oracle:action=ee_delta", RecordingSpec(size=(64, 64), language=True), FORMS, 0, "etude demos")
    assert len(demos(order, folder, RunSettings(workers=1), Quiet()).kept) == 3
    return folder


def copied(made: Path, form: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / form, tmp_path / "copy"))


def codes(folder: Path) -> set[str]:
    return {d.code for d in validate(folder).defects}


# ------------------------------------------------------------------------------------------------ what is whole


@pytest.mark.parametrize("form", FORMS)
def test_what_we_write_has_no_defects(made, form):
    report = validate(made / form)
    assert not report.defects and not report.skipped and report.ok
    assert report.counts["episodes"] == report.counts["tasks"] == 3
    assert report.counts["frames"] == json.loads((made / form / INFO).read_text())["total_frames"]
    assert report.counts["videos"] == {"lerobot": 2, "lerobot-images": 0, "lerobot-v2.1": 6}[form]


def test_what_others_write_needs_nothing_of_ours(made, tmp_path):
    folder = copied(made, "lerobot", tmp_path)
    shutil.rmtree(folder / "etude")
    (folder / FACTS).unlink()
    edit_json(STATS, lambda data: [one.pop(q) for one in data.values() for q in ("q01", "q10", "q50", "q90", "q99")])(folder)
    edit_table(DATA, lambda table: table.drop_columns(["language_persistent", "next.progress"]))(folder)
    edit_json(INFO, lambda data: [data["features"].pop(name) for name in ("language_persistent", "next.progress")])(folder)
    edit_table(TASKS, lambda table: table.rename_columns(["task_index", "__index_level_0__"]))(folder)
    assert validate(folder).ok


def test_episodes_may_be_in_several_files(made, tmp_path):
    folder = copied(made, "lerobot", tmp_path)
    split_data(folder)
    assert validate(folder).ok


def test_lists_of_any_length_are_as_good_as_fixed_ones(made, tmp_path):
    folder = copied(made, "lerobot", tmp_path)
    edit_column(DATA, "action", lambda values: None, pa.list_(pa.float32()))(folder)
    assert validate(folder).ok


# ------------------------------------------------------------------------------------------------ what is damaged

# Damage, the code it must be named by, and all others that follow from it; None: whichever do.
DAMAGES: dict[str, tuple[Damage, str, tuple[str, ...] | None]] = {
    "info without a key": (edit_json(INFO, lambda d: d.pop("robot_type")), "info-missing-key", ()),
    "info is missing": (gone(INFO), "meta-missing", ()),
    "info is not JSON": (lambda folder: (folder / INFO).write_text("{") and None, "meta-unreadable", ()),
    "info is a list": (lambda folder: (folder / INFO).write_text("[]") and None, "meta-unreadable", ()),
    "fps is a text": (set_info("fps", to="20"), "info-type", ()),
    "fps is another": (set_info("fps", to=25), "timestamp-drift", None),
    "version of nobody": (set_info("codebase_version", to="v9.0"), "version-unknown", ()),
    "total_frames": (set_info("total_frames", to=7), "total-wrong", ()),
    "split beyond the end": (set_info("splits", to={"train": "0:9"}), "info-splits", ()),
    "path that nobody can fill": (set_info("data_path", to="data/{nothing}.parquet"), "info-path", None),
    "dtype of nobody": (set_info("features", "action", "dtype", to="flaot32"), "feature-invalid", ()),
    "feature with a name too few": (set_info("features", "action", "names", to=["dx", "dy"]), "feature-names", ()),
    "counter without a feature": (edit_json(INFO, lambda d: d["features"].pop("index")), "feature-invalid", ("column-unknown",)),
    "video info": (set_info("features", "observation.images.base", "info", "video.fps", to=30), "video-info", ()),
    "tasks are missing": (gone(TASKS), "meta-missing", ()),
    "tasks out of order": (edit_column(TASKS, "task_index", lambda v: v.reverse()), "tasks-order", ()),
    "task of an episode": (edit_column(EPISODES, "tasks", put(1, ["dance"])), "episode-task", ("etude-task",)),
    "episodes are garbage": (garbage(EPISODES), "meta-unreadable", ()),
    "episodes are missing": (gone("meta/episodes"), "meta-missing", ()),
    "episodes without a column": (edit_table(EPISODES, lambda t: t.drop_columns(["length"])), "episodes-column", ()),
    "episode of no length": (edit_column(EPISODES, "length", put(1, None)), "episode-invalid", ()),
    "episode of another length": (edit_column(EPISODES, "length", shifted(2, 1)), "length-wrong", None),
    "episodes out of order": (edit_column(EPISODES, "episode_index", lambda v: v.reverse()), "episode-order", None),
    "episode elsewhere": (edit_column(EPISODES, "meta/episodes/file_index", put(1, 3)), "episode-place", ()),
    "dataset_to_index": (edit_column(EPISODES, "dataset_to_index", put(1, 1)), "dataset-index", ()),
    "files out of order": (exchanged, "file-order", None),
    "data is missing": (gone(DATA), "data-missing", ()),
    "data is garbage": (garbage(DATA), "data-unreadable", ()),
    "data is cut": (cut(DATA), "data-unreadable", ()),
    "data of nobody": (copy(DATA, "data/chunk-000/file-007.parquet"), "data-orphan", ()),
    "column is missing": (edit_table(DATA, lambda t: t.drop_columns(["next.reward"])), "column-missing", ()),
    "column of nobody": (edit_table(DATA, lambda t: t.append_column("more", t.column("index"))), "column-unknown", ()),
    "column of another type": (edit_column(DATA, "action", lambda v: None, pa.list_(pa.float64(), 7)), "column-type", ()),
    "feature of another shape": (set_info("features", "action", to={"dtype": "float32", "shape": [8], "names": None}), "column-shape", ()),
    "frame with a number less": (edit_column(DATA, "action", lambda v: v[5].pop(), pa.list_(pa.float32())), "column-shape", ()),
    "row groups": (edit_table(DATA, lambda t: t, lambda t: [t.num_rows]), "row-groups", ()),
    "row too few": (edit_table(DATA, lambda t: t.slice(0, t.num_rows - 1)), "length-wrong", None),
    "index with a gap": (edit_column(DATA, "index", shifted(60, 5)), "index-gap", ()),
    "episode_index": (edit_column(DATA, "episode_index", put(60, 0)), "episode-index", ()),
    "frame_index": (edit_column(DATA, "frame_index", shifted(100, 1)), "frame-index", ()),
    "timestamp": (edit_column(DATA, "timestamp", shifted(120, 0.01)), "timestamp-drift", ()),
    "task_index beyond the end": (edit_column(DATA, "task_index", put(3, 9)), "task-index", ()),
    "task_index of another task": (edit_column(DATA, "task_index", put(3, 2)), "task-mismatch", ()),
    "action is not a number": (edit_column(DATA, "action", lambda v: v[9].__setitem__(2, float("nan"))), "value-not-finite", ()),
    "reward is missing": (edit_column(DATA, "next.reward", put(4, None)), "value-null", ()),
    "language: role": (edit_language(role=None), "language-role", ()),
    "language: style": (edit_language(style="vqa", camera="observation.images.base"), "language-style", ()),
    "language: style of nobody": (edit_language(style="poem"), "language-style", ()),
    "language: camera": (edit_language(camera="observation.images.base"), "language-camera", ()),
    "language: timestamp": (edit_language(timestamp=99.0), "language-timestamp", ()),
    "language: tool calls": (edit_language(tool_calls=["say("]), "language-content", ()),
    "language: not in all frames": (edit_column(DATA, "language_persistent", put(7, [])), "language-broadcast", ()),
    "stats are missing": (gone(STATS), "meta-missing", ()),
    "stats: mean": (edit_json(STATS, lambda d: d["action"]["mean"].__setitem__(1, 0.5)), "stats-wrong", ()),
    "stats: max": (edit_json(STATS, lambda d: d["observation.state"]["max"].__setitem__(0, 9.0)), "stats-wrong", ()),
    "stats: quantile": (edit_json(STATS, lambda d: d["observation.state"]["q50"].__setitem__(0, 9.0)), "stats-wrong", ()),
    "stats: count": (edit_json(STATS, lambda d: d["action"].update(count=[3])), "stats-wrong", ()),
    "stats: a feature is missing": (edit_json(STATS, lambda d: d.pop("action")), "stats-missing", ()),
    "stats: shape": (edit_json(STATS, lambda d: d["action"].update(std=[1.0])), "stats-invalid", ()),
    "stats: of 255": (edit_json(STATS, lambda d: d["observation.images.base"].update(max=[[[255.0]]] * 3)), "stats-picture", ()),
    "stats of an episode": (edit_column(EPISODES, "stats/action/min", put(2, [-9.0] * 7)), "stats-wrong", ()),
    "video is missing": (gone(VIDEO), "video-missing", ()),
    "video is cut": (cut(VIDEO), "video-unreadable", ()),
    "video is empty": (lambda folder: (folder / VIDEO).write_bytes(b"") and None, "video-unreadable", ()),
    "video of nobody": (copy(VIDEO, VIDEO.replace("file-000", "file-004")), "video-orphan", ()),
    "video with a frame less": (edit_video(lambda frames: frames[:-1]), "video-short", ()),
    "video with a frame more": (edit_video(lambda frames: [*frames, frames[-1]]), "video-long", ()),
    "video of another size": (edit_video(lambda frames: [f[::2, ::2] for f in frames]), "video-size", ()),
    "video of another rate": (edit_video(lambda frames: frames, fps=10), "video-fps", ()),
    "video with late frames": (delayed, "video-timestamps", ()),
    "from_timestamp": (edit_column(EPISODES, "videos/observation.images.base/from_timestamp", shifted(2, 0.05)), "video-start", ()),
    "to_timestamp": (edit_column(EPISODES, "videos/observation.images.base/to_timestamp", shifted(2, 0.05)), "video-span", ()),
    "etude/ is missing": (gone("etude"), "etude-missing", ()),
    "etude.json is missing": (gone(FACTS), "etude-missing", ()),
    "etude/ is garbage": (garbage(EXTRA), "etude-unreadable", ()),
    "etude/ without a row": (edit_table(EXTRA, lambda t: t.slice(0, 2), lambda t: [1, 1]), "etude-rows", ("etude-names",)),
    "etude/: order": (edit_table(EXTRA, lambda t: t.take([1, 0, 2])), "etude-rows", ("etude-names",)),
    "etude/: actions": (edit_column(EXTRA, "actions", changed_actions), "etude-actions", ()),
    "etude/: no JSON": (edit_column(EXTRA, "episode", put(1, "{")), "etude-episode", ()),
    "etude/: other JSON": (edit_column(EXTRA, "episode", changed_episode), "etude-id", ()),
    "etude/: words": (edit_column(EXTRA, "words", lambda v: v[2].pop()), "etude-length", ()),
    "etude/: fps": (edit_column(EXTRA, "fps", put(0, 5)), "etude-facts", ()),
    "etude.json: names": (edit_json(FACTS, lambda d: d["episodes"].reverse()), "etude-names", ()),
    "etude.json: frames": (edit_json(FACTS, lambda d: d.update(frames=1)), "etude-facts", ()),
    "etude.json: failures": (edit_json(FACTS, lambda d: d["failures"].append({"episode": d["episodes"][1]})), "etude-failures", ()),
}  # fmt: skip

IMAGES: dict[str, tuple[Damage, str]] = {
    "not a picture": (edit_column(DATA, "observation.images.base", put(0, {"bytes": b"PNG", "path": "0"})), "image-unreadable"),
    "of another size": (
        edit_column(DATA, "observation.images.base", put(-1, {"bytes": png(np.zeros((8, 8, 3), np.uint8)), "path": "0"})),
        "image-size",
    ),
    "no bytes": (edit_column(DATA, "observation.images.base", put(5, {"bytes": None, "path": "0"})), "value-null"),
    "no schema": (edit_table(DATA, lambda table: table.replace_schema_metadata(None)), "huggingface-schema"),
}

ONE = "data/chunk-000/episode_000001.parquet"
FILM = "videos/chunk-000/observation.images.base/episode_000002.mp4"
V21: dict[str, tuple[Damage, str]] = {
    "data is missing": (gone(ONE), "data-missing"),
    "index with a gap": (edit_column(ONE, "index", shifted(3, 1)), "index-gap"),
    "video with a frame less": (edit_video(lambda frames: frames[:-1], FILM), "video-short"),
    "video with a frame more": (edit_video(lambda frames: [*frames, frames[0]], FILM), "video-long"),
    "total_videos": (set_info("total_videos", to=5), "total-wrong"),
    "tasks are no lines": (lambda folder: (folder / "meta/tasks.jsonl").write_text("{}{") and None, "meta-unreadable"),
    "episode of no length": (edit_lines("meta/episodes.jsonl", 1, lambda row: row.pop("length")), "episode-invalid"),
    "stats of an episode": (
        edit_lines("meta/episodes_stats.jsonl", 1, lambda row: row["stats"]["action"]["mean"].__setitem__(0, 3.0)),
        "stats-wrong",
    ),
    "stats are missing": (gone("meta/episodes_stats.jsonl"), "meta-missing"),
    "modality": (edit_json("meta/modality.json", lambda data: data["action"]["close"].update(end=99)), "modality-wrong"),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_damage_is_named(made, tmp_path, what):
    damage, code, others = DAMAGES[what]
    folder = copied(made, "lerobot", tmp_path)
    damage(folder)
    found = codes(folder)
    assert code in found
    if others is not None:
        assert found == {code, *others}


@pytest.mark.parametrize("what", IMAGES)
def test_damaged_images_are_named(made, tmp_path, what):
    damage, code = IMAGES[what]
    folder = copied(made, "lerobot-images", tmp_path)
    damage(folder)
    assert codes(folder) == {code}


@pytest.mark.parametrize("what", V21)
def test_damage_of_the_older_version_is_named(made, tmp_path, what):
    damage, code = V21[what]
    folder = copied(made, "lerobot-v2.1", tmp_path)
    damage(folder)
    assert codes(folder) == {code}


def test_defects_say_where(made, tmp_path):
    folder = copied(made, "lerobot", tmp_path)
    edit_column(DATA, "timestamp", shifted(-1, 0.5))(folder)
    (defect,) = validate(folder).defects
    length = pq.read_table(folder / EPISODES).column("length").to_pylist()[2]
    assert defect.where == f"{DATA}, episode 2, frame {length - 1}"
    assert "timestamp is" in defect.text


def test_checks_that_cannot_be_made_are_told(made, tmp_path):
    folder = copied(made, "lerobot", tmp_path)
    gone(DATA)(folder)
    assert any("statistics" in text for text in validate(folder).skipped)
    gone(EPISODES)(folder)
    assert any("frames, statistics and videos" in text for text in validate(folder).skipped)


def test_an_empty_folder_is_not_a_data_set(tmp_path):
    assert codes(tmp_path) == {"meta-missing"}


def test_a_set_of_another_form_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta/etude.json").write_text("{}")
    (found,) = [one for one in validate(tmp_path).defects if one.code == "meta-missing"]
    assert "only LeRobot's forms are checked, and this is another" in found.text


def test_no_damage_of_bytes_is_an_exception(made, tmp_path):
    chance = random.Random(0)
    files = sorted(p.relative_to(made) for p in made.rglob("*") if p.suffix in (".json", ".jsonl", ".parquet", ".mp4"))
    for trial in range(30):
        name = chance.choice([f for f in files if f.parts[0] in FORMS])
        folder = copied(made, name.parts[0], tmp_path / str(trial))
        path = folder / name.relative_to(name.parts[0])
        data = bytearray(path.read_bytes())
        for _ in range(40):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.randrange(len(data))] if trial % 2 else data)
        assert "check-failed" not in codes(folder), name
        shutil.rmtree(folder)


def test_every_code_means_something():
    assert all(meaning and code == code.lower() for code, meaning in CODES.items())
    tried = {code for _, code, _ in DAMAGES.values()} | {code for _, code in (*IMAGES.values(), *V21.values())}
    assert len(tried) > 55 and tried <= set(CODES)


def test_quantiles_as_lerobot_estimates_them_pass():
    chance = np.random.default_rng(0)
    parts = [chance.normal(k, 1, (50, 3)).astype(np.float32) for k in range(3)]
    whole = ColumnBounds(parts[0]) + ColumnBounds(parts[1]) + ColumnBounds(parts[2])
    stats = of_numbers(np.concatenate(parts))
    feature = Feature("action", "float32", (3,))
    assert not list(judged(stats, feature, whole, True))
    of_episodes = np.mean([of_numbers(p)["q90"] for p in parts], axis=0).tolist()  # LeRobot: the mean of those of episodes
    assert not list(judged({**stats, "q90": of_episodes}, feature, whole, True))
    assert [code for code, _ in judged({**stats, "q90": stats["q10"]}, feature, whole, True)] == ["stats-wrong"]


# ------------------------------------------------------------------------------------------------ the command


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["etude", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_command_passes_what_is_whole(made, monkeypatch, capsys):
    assert run(monkeypatch, "validate", str(made / "lerobot")) == 0
    assert "no defects" in capsys.readouterr().out


def test_command_names_defects_and_counts_those_of_a_kind(made, tmp_path, monkeypatch, capsys):
    folder = copied(made, "lerobot", tmp_path)
    edit_json(STATS, lambda data: [one.pop("mean") for one in data.values()])(folder)
    assert run(monkeypatch, "validate", str(folder)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("stats-missing meta/stats.json: there is no mean") for line in lines) == 5
    assert any(line.startswith("stats-missing … ") for line in lines)


def test_command_gives_json(made, tmp_path, monkeypatch, capsys):
    folder = copied(made, "lerobot", tmp_path)
    set_info("total_frames", to=1)(folder)
    assert run(monkeypatch, "validate", str(folder), "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert [d["code"] for d in report["defects"]] == ["total-wrong"]
    assert report["version"] == "v3.0" and not report["ok"] and report["counts"]["episodes"] == 3


def test_command_refuses_a_folder_that_is_not_there(tmp_path, monkeypatch, capsys):
    assert run(monkeypatch, "validate", str(tmp_path / "nowhere")) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.skipif(LEROBOT, reason="LeRobot is installed")
def test_command_says_how_to_get_lerobot(made, monkeypatch, capsys):
    assert run(monkeypatch, "validate", str(made / "lerobot"), "--lerobot") == 2
    assert "pip install lerobot" in capsys.readouterr().err


@pytest.mark.skipif(not LEROBOT, reason="LeRobot is not installed")
@pytest.mark.parametrize("form", ["lerobot", "lerobot-images"])
def test_lerobot_loads_what_we_write(made, form, monkeypatch):
    assert run(monkeypatch, "validate", str(made / form), "--lerobot") == 0
