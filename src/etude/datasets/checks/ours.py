"""What only our own datasets have: a row in ``etude/`` for every episode, and ``meta/etude.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.datasets import extra
from etude.datasets.checks.findings import Findings, reason, shown
from etude.datasets.checks.frames import Seen, digest
from etude.datasets.checks.info import Info, read_json
from etude.datasets.checks.layout import DatasetLayout, EpisodeRow
from etude.datasets.columns import ACTION, HAND, PICTURES, PRIMITIVE, STATE
from etude.datasets.lerobot import arrow
from etude.datasets.prompt_views import prompt_tokens
from etude.datasets.take import AXES
from etude.library import read_episode
from etude.names import EtudeError

FACTS = "meta/etude.json"
KEYS = (
    "schema", "protocol", "command", "policy", "plan", "renderer", "versions", "robot", "control", "fps", "cameras", "size", "frames",
)  # fmt: skip
# How long arrays are: N actions, L looks (N + 1), C cameras, G sub-goals, K objects; letters of modalities are explained there.
SHAPES = {
    "actions": "N", "states": "L", "proprioception": "L", "subgoals": "NG", "intrinsics": "C", "extrinsics": "CL", "digests": "CL",
    "boxes": "CLK", "visible": "CLK", **AXES,
}  # fmt: skip


def is_ours(folder: Path) -> bool:
    """Was it made by ``etude demos``?"""
    return (folder / FACTS).exists() or (folder / extra.FOLDER).exists()


def check_ours(folder: Path, info: Info, layout: DatasetLayout | None, seen: Seen | None, findings: Findings) -> None:
    """Check the rows of ``etude/`` and ``meta/etude.json``."""
    names: list[str] | None = None
    if (folder / extra.FOLDER).exists():
        names = _check_rows(folder, info, layout, seen.digests if seen is not None else {}, findings)
    else:
        findings.add("etude-missing", folder / extra.FOLDER, f"there is no such folder, though there is {FACTS}")
    if (folder / FACTS).exists():
        _check_facts(folder, info, layout, names, findings)
    else:
        findings.add("etude-missing", folder / FACTS, f"there is no such file, though there is {extra.FOLDER}/")


def _check_rows(
    folder: Path, info: Info, layout: DatasetLayout | None, digests: Mapping[int, Mapping[str, str]], findings: Findings
) -> list[str] | None:
    """Check all rows; gives the names in them, or None where not all could be read."""
    names: list[str] = []
    entries = {e.index: e for e in layout.episodes} if layout is not None else {}
    for path, row in _rows(folder, findings):
        if row is None:
            return None
        number = row["episode_index"]
        if number != len(names):
            findings.add("etude-rows", path, f"row {len(names)} is of episode {shown(number)}")
        names.append(row["name"])
        try:
            _check_row(row, info, path, entries.get(number), digests.get(number, {}), findings)
            told = {"fps": row["fps"], "cameras": row["cameras"], "size": [row["width"], row["height"]]}
            _compare(told, _known(info), path, findings, number)
        except Exception as error:  # whatever a damaged row makes of the reader
            findings.add("etude-unreadable", path, f"its row cannot be read: {type(error).__name__}: {reason(error)}", number)
    if layout is not None and len(names) != len(layout.episodes):
        findings.add("etude-rows", folder / extra.FOLDER, f"there are {len(names)} rows for {len(layout.episodes)} episodes")
    return names


def _rows(folder: Path, findings: Findings) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """The rows one by one; None for a file that cannot be read."""
    for path in sorted((folder / extra.FOLDER).glob("*/*.parquet")):
        try:
            with arrow().parquet.ParquetFile(path) as file:
                there = {f.name: f.type for f in file.schema_arrow}
                wrong = [f.name for f in extra.schema() if there.get(f.name) != f.type]
                if wrong:
                    findings.add("etude-unreadable", path, f"it lacks these columns, or they are of another type: {', '.join(wrong)}")
                    yield path, None
                    continue
                for group in range(file.num_row_groups):
                    yield from ((path, row) for row in file.read_row_group(group).to_pylist())
        except Exception as error:  # whatever a damaged file makes of the reader
            findings.add("etude-unreadable", path, f"it cannot be read: {reason(error)}")
            yield path, None


def _check_row(
    row: Mapping[str, Any], info: Info, path: Path, entry: EpisodeRow | None, digests: Mapping[str, str], findings: Findings
) -> None:
    number = row["episode_index"]
    try:
        episode = read_episode(row["episode"])
    except (EtudeError, TypeError) as error:
        findings.add("etude-episode", path, f"its JSON is not an episode: {reason(error)}", number)
        episode = None
    if episode is not None:
        for name, value in (("name", episode.name), ("id", episode.id)):
            if row[name] != value:
                findings.add("etude-id", path, f"its {name} is {shown(row[name])}, that of its JSON {value!r}", number)
        if entry is not None and entry.tasks != (episode.instruction.text,):
            text = f"it is told {shown(episode.instruction.text)}, but its task is {shown(entry.tasks[0])}"
            findings.add("etude-task", path, text, number)
    arrays = {name: extra.unpacked(row[name]) for name in (*extra.ARRAYS, *(name for name in AXES if name in row))}
    length = len(arrays["actions"]) if entry is None else entry.length
    sizes = {"N": length, "L": length + 1, "C": len(row["cameras"]), "G": len(row["nodes"]), "K": len(row["objects"]),
             "H": row["height"], "W": row["width"], "O": len(arrays.get("objects_ids", ())), "T": len(arrays.get("prompt_objects", ())),
             "P": row["template"].count("{image:")}  # fmt: skip
    good = True
    for name, letters in ((name, SHAPES[name]) for name in arrays if name in SHAPES):
        shape = tuple(sizes[letter] for letter in letters)
        if arrays[name].shape[: len(shape)] != shape:
            text = f"{name} is of shape {list(arrays[name].shape)}, but the episode has {length} frames: {list(shape)}"
            findings.add("etude-length", path, text, number)
            good = False
    if len(row["words"]) != length:
        findings.add("etude-length", path, f"there are words for {len(row['words'])} actions, but {length} frames", number)
    for keystep in row["keysteps"]:
        if not 0 <= keystep["frame"] <= length:
            findings.add("etude-length", path, f"a key step is at frame {keystep['frame']}, but there are {length}", number)
    if good and digests.get(ACTION) not in (None, digest(arrays["actions"])):
        findings.add("etude-actions", path, "its actions are not those in the column 'action'", number)
    if good and digests.get(STATE) not in (None, digest(arrays["proprioception"][:-1])):
        findings.add("etude-state", path, f"its proprioception is not that in the column {STATE!r}", number)
    if good:
        _check_tokens(arrays, path, number, (row["width"], row["height"]), findings)
    robot = episode.scene.robot if episode is not None else None
    if episode is not None and robot is not None:
        _check_labels({HAND: robot.hand, PRIMITIVE: episode.control}, info, length, path, number, digests, findings)


def _check_labels(
    right: Mapping[str, str], info: Info, length: int, path: Path, number: int, digests: Mapping[str, str], findings: Findings
) -> None:
    """Do the columns of numbered names tell these?"""
    for column, name in ((column, name) for column, name in right.items() if column in info.features):
        labels = info.features[column].labels
        if name not in labels:
            findings.add("etude-label", path, f"{name!r} is not among the labels of {column!r}: {shown(list(labels))}", number)
        elif digests.get(column) not in (None, digest(np.full((length, 1), labels.index(name)))):
            findings.add("etude-label", path, f"the column {column!r} does not say {name!r} in every frame", number)


def _check_tokens(arrays: Mapping[str, NDArray[Any]], path: Path, number: int, size: tuple[int, int], findings: Findings) -> None:
    """Are crops and boxes of objects those of their pictures? Of what was seen in videos, which are not exact: could they be?"""
    if "prompt_rgb" in arrays:
        right = prompt_tokens(arrays["prompt_rgb"], arrays["prompt_segmentation"], arrays["prompt_objects"])
        for name in (name for name, values in right.items() if not np.array_equal(values, arrays[name])):
            findings.add("etude-tokens", path, f"{name} is not what its pictures show", number)
    if "objects_ids" in arrays:
        boxes, mask = arrays["objects_boxes"], arrays["objects_mask"]
        x, y, tall, wide = np.moveaxis(boxes, -1, 0)
        if ((boxes < 0).any(-1) | (x + wide // 2 >= size[0]) | (y + tall // 2 >= size[1])).any():
            findings.add("etude-tokens", path, f"a box of objects_boxes is not within {size[0]}×{size[1]} pixels", number)
        if arrays["objects_crops"][~mask].any() or boxes[~mask].any():
            findings.add("etude-tokens", path, "an object that is not seen has a crop or a box", number)


def _check_facts(folder: Path, info: Info, layout: DatasetLayout | None, names: Sequence[str] | None, findings: Findings) -> None:
    path = folder / FACTS
    facts = read_json(path, findings)
    if facts is None:
        return
    stated, failures = facts.get("episodes"), facts.get("failures")
    if not isinstance(stated, list) or not isinstance(failures, list):
        findings.add("meta-unreadable", path, "it has no lists 'episodes' and 'failures'")
        return
    if names is not None and stated != list(names):
        k = next((k for k, (a, b) in enumerate(zip(stated, names, strict=False)) if a != b), min(len(stated), len(names)))
        findings.add("etude-names", path, f"it names {len(stated)} episodes, there are {len(names)}; the first that differs is number {k}")
    for failure in failures:
        name = failure.get("episode") if isinstance(failure, dict) else failure
        if name in stated:
            findings.add("etude-failures", path, f"{shown(name)} is among the episodes and among the failures")
    for key in KEYS:
        if key not in facts:
            findings.add("etude-facts", path, f"{key!r} is missing")
    _compare(facts, _known(info) | ({"frames": layout.frames} if layout is not None else {}), path, findings)


def _known(info: Info) -> dict[str, Any]:
    """What ``meta/info.json`` says in the words of ``meta/etude.json``."""
    pictures = info.of("image", "video")
    found: dict[str, Any] = {"cameras": [f.name.removeprefix(PICTURES) for f in pictures]}
    if info.fps is not None:
        found["fps"] = info.fps
    if pictures:
        found["size"] = list(pictures[0].size[::-1])
    return found


def _compare(told: Mapping[str, Any], known: Mapping[str, Any], path: Path, findings: Findings, episode: int | None = None) -> None:
    for name, there in known.items():
        if name in told and told[name] != there:
            findings.add("etude-facts", path, f"{name} is {shown(told[name])}, but {shown(there)} in the dataset", episode)
