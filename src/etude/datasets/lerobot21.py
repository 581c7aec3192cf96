"""LeRobotDataset v2.1, with the ``modality.json`` that GR00T wants: one table and one video of each camera for every episode.

It has no columns for language: sub-tasks and steps are in ``etude/`` (see :mod:`etude.datasets.extra`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from etude.datasets import columns, extra
from etude.datasets.columns import ACTION, PICTURES, STATE, RecordingKind
from etude.datasets.lerobot import CHUNK, Rolling, Shared, arrow, extra_table, table_of, write_json
from etude.datasets.take import Take

VERSION = "v2.1"
DATA_PATH = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
VIDEO_PATH = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"


class LeRobotV21:
    """Writes takes as a LeRobotDataset v2.1 into an empty folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._shared = folder, Shared(True)
        self._extra: Rolling | None = None
        (folder / "meta").mkdir()
        self._lines = {name: (folder / f"meta/{name}.jsonl").open("w", encoding="utf-8") for name in ("episodes", "episodes_stats")}

    def add(self, take: Take) -> None:
        """Append an episode."""
        pa, shared, number = arrow(), self._shared, self._shared.episodes
        found, stats = shared.take_in(take)
        assert shared.kind is not None
        where = {"episode_chunk": number // CHUNK, "episode_index": number}
        data = self._placed(DATA_PATH.format(**where))
        table = table_of(take, found, shared.kind, language=False)
        pa.parquet.write_table(table, data, compression="snappy", row_group_size=max(1, take.length))
        for camera in take.cameras:
            self._placed(VIDEO_PATH.format(video_key=PICTURES + camera, **where)).write_bytes(take.videos[camera])
        self._extra = self._extra or extra_table(self._folder, take)
        self._extra.add(pa.Table.from_pylist([extra.row(take, number)], self._extra.schema))
        entry = {"episode_index": number, "tasks": [take.episode.instruction.text], "length": take.length}
        self._lines["episodes"].write(_line(entry))
        self._lines["episodes_stats"].write(_line({"episode_index": number, "stats": stats}))

    def _placed(self, path: str) -> Path:
        place = self._folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def finish(self) -> None:
        """Write what is about all episodes."""
        shared, meta = self._shared, self._folder / "meta"
        assert shared.kind is not None and self._extra is not None
        self._extra.close()
        for file in self._lines.values():
            file.close()
        episodes = shared.episodes
        write_json(meta / "info.json", {
            "codebase_version": VERSION,
            "robot_type": shared.kind.arm,
            "total_episodes": episodes,
            "total_frames": shared.frames,
            "total_tasks": len(shared.tasks),
            "total_videos": episodes * len(shared.kind.cameras),
            "total_chunks": -(-episodes // CHUNK),
            "chunks_size": CHUNK,
            "fps": shared.kind.fps,
            "splits": {"train": f"0:{episodes}"},
            "data_path": DATA_PATH,
            "video_path": VIDEO_PATH,
            "features": columns.features(shared.kind, language=False),
        })  # fmt: skip
        tasks = "".join(_line({"task_index": k, "task": text}) for text, k in shared.tasks.items())
        (meta / "tasks.jsonl").write_text(tasks, encoding="utf-8")
        write_json(meta / "stats.json", shared.statistics())
        write_json(meta / "modality.json", modality(shared.kind))


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def modality(kind: RecordingKind) -> dict[str, Any]:
    """``modality.json``: what the numbers of state and action are, by name, and which pictures and texts there are."""
    n = kind.joints
    ends = {"joints": n, "joint_velocities": 2 * n, "tip_position": 2 * n + 3, "tip_rotation": 2 * n + 7, "closed": 2 * n + 8}
    state = _parts({**ends, "held": 2 * n + 9, "opening": 2 * n + 10}, STATE)
    state["tip_rotation"]["rotation_type"] = "quaternion"
    moved = {
        "ee_delta": {"position": 3, "rotation": 6, "close": 7},
        "ee_pose": {"position": 3, "rotation": 7, "close": 8},
        "keypose": {"position": 3, "rotation": 7, "close": 8},
        "joint": {"joints": n, "close": n + 1},
        "stroke": {"start": 6, "end": 12},
    }[kind.layout]
    action = _parts(moved, ACTION)
    for part in action.values():
        part["absolute"] = kind.control != "ee_delta"
    if "rotation" in action:
        action["rotation"]["rotation_type"] = "axis_angle" if kind.control == "ee_delta" else "quaternion"
    return {
        "state": state,
        "action": action,
        "video": {camera: {"original_key": PICTURES + camera} for camera in kind.cameras},
        "annotation": {"human.task_description": {"original_key": "task_index"}},
    }


def _parts(ends: dict[str, int], key: str) -> dict[str, dict[str, Any]]:
    found, start = {}, 0
    for name, end in ends.items():
        found[name] = {"start": start, "end": end, "original_key": key, "dtype": "float32"}
        start = end
    return found
