"""The tables of tasks and episodes: which episodes there are, and where their frames and videos are."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from etude.datasets.checks.findings import Findings, reason, shown
from etude.datasets.checks.info import V3, Info
from etude.datasets.lerobot import arrow

TASKS, EPISODES = "meta/tasks.parquet", "meta/episodes"
TASKS_21, EPISODES_21, STATS_21 = "meta/tasks.jsonl", "meta/episodes.jsonl", "meta/episodes_stats.jsonl"
_WHERE = ("data/chunk_index", "data/file_index")
_CLIP = ("chunk_index", "file_index", "from_timestamp", "to_timestamp")
_SPAN = ("dataset_from_index", "dataset_to_index")
_HOME = ("meta/episodes/chunk_index", "meta/episodes/file_index")


@dataclass(frozen=True)
class Clip:
    """Where an episode is in a video, seconds."""

    path: Path
    start: float
    stop: float


@dataclass(frozen=True)
class EpisodeRow:
    """The row of an episode; ``first`` is the number of frames before it."""

    index: int
    length: int
    first: int
    tasks: tuple[str, ...]
    data: Path
    clips: Mapping[str, Clip]


@dataclass(frozen=True)
class DatasetLayout:
    """All episodes in order, and the texts of the tasks; None where these cannot be told."""

    folder: Path
    info: Info
    episodes: tuple[EpisodeRow, ...]
    tasks: tuple[str, ...] | None

    @property
    def frames(self) -> int:
        """How many frames there should be."""
        return sum(int(e.length) for e in self.episodes)

    def files(self) -> dict[Path, list[EpisodeRow]]:
        """The tables of frames with the episodes in them."""
        found: dict[Path, list[EpisodeRow]] = {}
        for entry in self.episodes:
            found.setdefault(entry.data, []).append(entry)
        return found

    def videos(self, key: str) -> dict[Path, list[EpisodeRow]]:
        """The videos of a feature with the episodes in them."""
        found: dict[Path, list[EpisodeRow]] = {}
        for entry in self.episodes:
            found.setdefault(entry.clips[key].path, []).append(entry)
        return found


def read_layout(folder: Path, info: Info, findings: Findings) -> DatasetLayout | None:
    """Read and check both tables; None where it cannot be told which episodes there are."""
    tasks = _tasks(folder, info, findings)
    entries = _entries(folder, info, findings)
    if entries is None:
        return None
    layout = DatasetLayout(folder, info, tuple(entries), tasks)
    for place, entry in enumerate(layout.episodes):
        if entry.index != place:
            text = f"row {place} is of episode {entry.index}; episodes must be numbered 0, 1, 2, … in the order of the rows"
            findings.add("episode-order", _home(folder, info), text)
            break
    for entry in layout.episodes if tasks is not None else ():
        for task in set(entry.tasks).difference(tasks or ()):
            findings.add("episode-task", _home(folder, info), f"{shown(task)} is not among the tasks", entry.index)
    _check_files(layout, findings)
    return layout


def _home(folder: Path, info: Info) -> Path:
    return folder / (EPISODES if info.version == V3 else EPISODES_21)


# ------------------------------------------------------------------------------------------------ tasks


def _tasks(folder: Path, info: Info, findings: Findings) -> tuple[str, ...] | None:
    """The texts of the tasks by their number."""
    path = folder / (TASKS if info.version == V3 else TASKS_21)
    rows: list[tuple[Any, Any]] = []
    if info.version == V3:
        if not path.is_file():
            findings.add("meta-missing", path, "there is no such file")
            return None
        try:
            table = arrow().parquet.read_table(path)
        except Exception as error:  # whatever a damaged file makes of the reader
            findings.add("meta-unreadable", path, f"it cannot be read: {reason(error)}")
            return None
        text = next((n for n in ("task", "__index_level_0__") if n in table.column_names), None)
        if text is None or "task_index" not in table.column_names:
            findings.add("meta-unreadable", path, f"it has the columns {', '.join(table.column_names)}, not task and task_index")
            return None
        rows = list(zip(table.column("task_index").to_pylist(), table.column(text).to_pylist(), strict=True))
    else:
        lines = list(read_lines(path, findings))
        if None in lines:
            return None
        pairs = [(row.get("task_index"), row.get("task")) for row in lines if row is not None]
        rows = sorted(pairs, key=lambda pair: pair[0] if _whole(pair[0]) else -1)
    for place, (number, task) in enumerate(rows):
        if type(number) is not int or not isinstance(task, str):
            findings.add(
                "meta-unreadable", path, f"row {place} has task_index {shown(number)} and task {shown(task)}, not a number and a text"
            )
            return None
        if number != place:
            findings.add("tasks-order", path, f"row {place} is of task {number}; readers find tasks by the place of their row")
            return None
    texts = [task for _, task in rows]
    if len(set(texts)) < len(texts):
        twice = next(t for k, t in enumerate(texts) if t in texts[:k])
        findings.add("tasks-repeated", path, f"{shown(twice)} is there more than once")
    return tuple(texts)


def read_lines(path: Path, findings: Findings) -> Iterator[dict[str, Any] | None]:
    """The objects in a file of JSON lines; None, and nothing after it, where there is none."""
    if not path.is_file():
        findings.add("meta-missing", path, "there is no such file")
        yield None
        return
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                found = json.loads(line)
                if not isinstance(found, dict):
                    findings.add("meta-unreadable", path, f"line {number} holds {shown(found)}, not an object")
                    yield None
                    return
                yield found
    except (OSError, ValueError, RecursionError) as error:
        findings.add("meta-unreadable", path, f"it is not JSON lines: {reason(error)}")
        yield None


# ------------------------------------------------------------------------------------------------ episodes


def _entries(folder: Path, info: Info, findings: Findings) -> list[EpisodeRow] | None:
    """The rows of all episodes, or None where one cannot be used."""
    made: list[EpisodeRow] = []
    first, whole = 0, True
    reached: int | None = 0
    for path, row in _rows(folder, info, findings):
        entry = _entry(folder, info, path, row, first, findings) if row is not None else None
        if entry is None:
            whole, reached = False, None
            continue
        assert row is not None
        if info.version == V3:
            reached = _check_span(row, entry, reached, path, findings)
            _check_home(row, entry, path, findings)
        made.append(entry)
        first += entry.length
    if whole and not made:
        findings.add("meta-missing", _home(folder, info), "there is no episode in it")
    return made if whole and made else None


def _rows(folder: Path, info: Info, findings: Findings) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """The rows of the tables; None for a table that cannot be used."""
    if info.version != V3:
        path = folder / EPISODES_21
        lines = list(read_lines(path, findings))
        yield from (
            (path, row) for row in sorted(lines, key=lambda row: row["episode_index"] if row and _whole(row.get("episode_index")) else -1)
        )
        return
    needed = ["episode_index", "tasks", "length", *_WHERE, *(f"videos/{f.name}/{name}" for f in info.of("video") for name in _CLIP)]
    for path in episode_files(folder):
        try:
            with arrow().parquet.ParquetFile(path) as file:
                there = set(file.schema_arrow.names)
                for name in (*needed, *_SPAN, *_HOME):
                    if name not in there:
                        findings.add("episodes-column", path, f"it has no column {name!r}")
                if not there.issuperset(needed):
                    yield path, None
                    continue
                wanted = [n for n in (*needed, *_SPAN, *_HOME) if n in there]
                for group in range(file.num_row_groups):
                    yield from ((path, row) for row in file.read_row_group(group, columns=wanted).to_pylist())
        except Exception as error:  # whatever a damaged file makes of the reader
            findings.add("meta-unreadable", path, f"it cannot be read: {reason(error)}")
            yield path, None


def episode_files(folder: Path) -> list[Path]:
    """The tables of episodes of v3.0."""
    return sorted((folder / EPISODES).glob("*/*.parquet"))


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _entry(folder: Path, info: Info, path: Path, row: Mapping[str, Any], first: int, findings: Findings) -> EpisodeRow | None:
    index = row.get("episode_index")
    number = index if _whole(index) else None

    def refuse(text: str) -> None:
        findings.add("episode-invalid", path, text, number)

    tasks, length = row.get("tasks"), row.get("length")
    if number is None:
        refuse(f"episode_index is {shown(index)}, not a whole number")
        return None
    if not _whole(length) or not length:
        refuse(f"length is {shown(length)}, not a whole number above 0")
        return None
    if not isinstance(tasks, list) or not tasks or not all(isinstance(t, str) for t in tasks):
        refuse(f"tasks is {shown(tasks)}, not a list of texts")
        return None
    numbers = [n for n in (*_WHERE, *(f"videos/{f.name}/{n}" for f in info.of("video") for n in _CLIP[:2])) if n in row]
    for name in numbers:
        if not _whole(row[name]):
            refuse(f"{name} is {shown(row[name])}, not a whole number")
            return None
    clips = {}
    try:
        if info.version == V3:
            data = folder / (info.data_path or "").format(chunk_index=row[_WHERE[0]], file_index=row[_WHERE[1]])
        else:
            place = {"episode_chunk": number // (info.chunks or 1), "episode_index": number}
            data = folder / (info.data_path or "").format(**place)
        for feature in info.of("video"):
            key = f"videos/{feature.name}"
            if info.version == V3:
                place = {"chunk_index": row[f"{key}/chunk_index"], "file_index": row[f"{key}/file_index"]}
                start, stop = row[f"{key}/from_timestamp"], row[f"{key}/to_timestamp"]
            else:
                start, stop = 0.0, length / (info.fps or 1)
            if not all(isinstance(t, (int, float)) and math.isfinite(t) for t in (start, stop)):
                refuse(f"{key} is from {shown(start)} to {shown(stop)}, which are not times")
                return None
            clips[feature.name] = Clip(folder / (info.video_path or "").format(video_key=feature.name, **place), start, stop)
    except Exception as error:  # a template may ask for anything
        findings.add("info-path", folder / "meta/info.json", f"data_path or video_path cannot be filled in: {reason(error)}")
        return None
    return EpisodeRow(number, length, first, tuple(tasks), data, clips)


def _check_span(row: Mapping[str, Any], entry: EpisodeRow, reached: int | None, path: Path, findings: Findings) -> int | None:
    """See that an episode begins where the one before ends, if that is known, and is as long as it says; gives where it ends."""
    if not row.keys() >= set(_SPAN):
        return None
    begin, end = (row[name] for name in _SPAN)
    if not _whole(begin) or not _whole(end):
        findings.add("episode-invalid", path, f"it is from {shown(begin)} to {shown(end)}, which are not whole numbers", entry.index)
        return None
    if reached is not None and begin != reached:
        findings.add("dataset-index", path, f"dataset_from_index is {begin}, but the episode before ends at {reached}", entry.index)
    if end != begin + entry.length:
        text = f"dataset_to_index is {end}, but it begins at {begin} and has {entry.length} frames"
        findings.add("dataset-index", path, text, entry.index)
    return int(end)


def _check_home(row: Mapping[str, Any], entry: EpisodeRow, path: Path, findings: Findings) -> None:
    if not row.keys() >= set(_HOME):
        return
    chunk, file = (row[name] for name in _HOME)
    if not _whole(chunk) or not _whole(file) or path.parts[-2:] != (f"chunk-{chunk:03d}", f"file-{file:03d}.parquet"):
        findings.add("episode-place", path, f"its row says that it is in chunk {shown(chunk)}, file {shown(file)}", entry.index)


# ------------------------------------------------------------------------------------------------ files


def _check_files(layout: DatasetLayout, findings: Findings) -> None:
    """See that episodes are in the order of files, and that no file belongs to nobody."""
    for before, after in zip(layout.episodes, layout.episodes[1:], strict=False):
        if after.data < before.data:
            text = f"it is in an earlier file than episode {before.index}; readers take files in the order of their names"
            findings.add("file-order", after.data, text, after.index)
            break
    info = layout.info
    known = set(layout.files())
    for path in _under(layout.folder, info.data_path, ".parquet"):
        if path not in known:
            findings.add("data-orphan", path, "no episode is in it")
    known = {clip.path for entry in layout.episodes for clip in entry.clips.values()}
    for path in _under(layout.folder, info.video_path, ".mp4"):
        if path not in known:
            findings.add("video-orphan", path, "no episode is in it")


def _under(folder: Path, template: str | None, suffix: str) -> list[Path]:
    """The files of a kind in the folder that a template of paths begins with."""
    top = (template or "").partition("/")[0]
    if not top or "{" in top or top.startswith("."):
        return []
    return sorted(p for p in (folder / top).rglob(f"*{suffix}") if p.is_file())
