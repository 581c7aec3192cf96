"""LeRobotDataset v3.0: Parquet tables and MP4 videos that hold many episodes each.

The same takes give the same bytes: rows are in the order of the takes, tasks in the order in which they are first met, and files are begun
anew by the number of bytes that were written.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.datasets import columns, extra, statistics
from etude.datasets.columns import LANGUAGE, PICTURES, RecordingKind, kind_of
from etude.datasets.take import Take
from etude.datasets.video import Joiner
from etude.names import EtudeError

VERSION = "v3.0"
CHUNK = 1000  # files in a folder
DATA_MB, VIDEO_MB = 100, 200  # where a file is full
ENTERED = 200  # episodes that are entered in a table at once
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATH = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
EXTRA_PATH = extra.FOLDER + "/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
MEGA = 2**20


def arrow() -> Any:
    """pyarrow, or one line that says how to get it."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise EtudeError("this format needs pyarrow: pip install 'etude[datasets]'") from None
    return pa


class Place:
    """Where the next file goes: numbered files in numbered folders."""

    def __init__(self, root: Path, template: str, key: str = "") -> None:
        self._root, self._template, self._key = root, template, key
        self.number = -1

    @property
    def chunk(self) -> int:
        """The number of the folder."""
        return self.number // CHUNK

    @property
    def file(self) -> int:
        """The number of the file in it."""
        return self.number % CHUNK

    def following(self) -> Path:
        """The next file; its folder is made."""
        self.number += 1
        path = self._root / self._template.format(video_key=self._key, chunk_index=self.chunk, file_index=self.file)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


class Rolling:
    """A table in files of limited size; each episode is a row group."""

    def __init__(self, place: Place, schema: Any, limit: float = DATA_MB * MEGA, compression: str = "snappy") -> None:
        self.place, self.schema, self._limit, self._compression = place, schema, limit, compression
        self._sink: Any = None
        self._writer: Any = None

    def ready(self) -> tuple[int, int]:
        """The folder and the file that the next rows go to."""
        if self._writer is None or self._sink.tell() >= self._limit:
            self.close()
            pa = arrow()
            self._sink = pa.OSFile(str(self.place.following()), "wb")
            self._writer = pa.parquet.ParquetWriter(self._sink, self.schema, compression=self._compression)
        return self.place.chunk, self.place.file

    def add(self, table: Any) -> tuple[int, int]:
        """Append rows; gives the folder and the file they are in."""
        place = self.ready()
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        return place

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
            self._sink.close()
            self._writer = None


def extra_table(folder: Path, take: Take, limit: float = DATA_MB * MEGA) -> Rolling:
    """The table of what the format has no place for, with a column for each modality that takes like this one have."""
    return Rolling(Place(folder, EXTRA_PATH), extra.schema(take.modalities), limit, "zstd")


class _Reel:
    """The videos of one camera."""

    def __init__(self, root: Path, key: str, fps: int, limit: float) -> None:
        self._place, self._fps, self._limit = Place(root, VIDEO_PATH, key), fps, limit
        self._joiner: Joiner | None = None
        self._bytes = 0

    def add(self, video: bytes, frames: int) -> dict[str, Any]:
        """Append the video of an episode; gives where it is."""
        if self._joiner is None or self._bytes >= self._limit:
            self.close()
            self._joiner, self._bytes = Joiner(self._place.following(), self._fps), 0
        begun = self._joiner.frames
        self._joiner.add(video)
        if self._joiner.frames != begun + frames:
            raise EtudeError(f"a video has {self._joiner.frames - begun} frames, not the {frames} of its episode")
        self._bytes += len(video)
        return {
            "chunk_index": self._place.chunk,
            "file_index": self._place.file,
            "from_timestamp": begun / self._fps,
            "to_timestamp": self._joiner.frames / self._fps,
        }

    def close(self) -> None:
        if self._joiner is not None:
            self._joiner.close()
            self._joiner = None


class _Register:
    """``meta/episodes``: a row for each episode, written some at a time."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._rows: list[dict[str, Any]] = []
        self._table: Rolling | None = None

    def add(self, row: dict[str, Any]) -> None:
        """Enter an episode."""
        self._rows.append(row)
        if len(self._rows) == ENTERED:
            self._write()

    def _write(self) -> None:
        pa = arrow()
        if self._table is None:
            schema = pa.Table.from_pylist([{**self._rows[0], **_PLACE}]).schema
            self._table = Rolling(Place(self._root, EPISODES_PATH), schema)
        chunk, file = self._table.ready()
        placed = [{**row, "meta/episodes/chunk_index": chunk, "meta/episodes/file_index": file} for row in self._rows]
        self._table.add(pa.Table.from_pylist(placed, self._table.schema))
        self._rows.clear()

    def close(self) -> None:
        if self._rows:
            self._write()
        if self._table is not None:
            self._table.close()


_PLACE = {"meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0}


class Shared:
    """What both versions of the format keep of all takes: kind, tasks, statistics."""

    def __init__(self, videos: bool) -> None:
        self._videos = videos
        self.kind: RecordingKind | None = None
        self.tasks: dict[str, int] = {}
        self.frames = 0
        self.episodes = 0
        self._columns: dict[str, statistics.ColumnStatistics] = {}
        self._counts: dict[str, NDArray[np.int64]] = {}

    def take_in(self, take: Take) -> tuple[dict[str, NDArray[Any]], dict[str, statistics.Stats]]:
        """Count a take; gives its columns that are numbers, and its own statistics. Called before anything of it is written."""
        kind = kind_of(take, self._videos)
        if self.kind is None:
            self.kind = kind
        self.kind.refuse(kind, take.episode.name)
        task = self.tasks.setdefault(take.episode.instruction.text, len(self.tasks))
        found = {**columns.numbers(take), **columns.counters(take, self.episodes, self.frames, task)}
        stats = {f"{PICTURES}{c}": statistics.of_pictures(h, take.length) for c, h in zip(take.cameras, take.histograms, strict=True)}
        stats |= {name: statistics.of_numbers(values) for name, values in found.items()}
        for name, values in found.items():
            self._columns.setdefault(name, statistics.ColumnStatistics()).add(values)
        for camera, counts in zip(take.cameras, take.histograms, strict=True):
            self._counts[camera] = self._counts.get(camera, 0) + counts
        self.frames += take.length
        self.episodes += 1
        return found, stats

    def statistics(self) -> dict[str, statistics.Stats]:
        """Of everything."""
        pictures = {f"{PICTURES}{c}": statistics.of_pictures(h, self.frames) for c, h in self._counts.items()}
        return {**pictures, **{name: tally.stats() for name, tally in self._columns.items()}}


class LeRobotV3:
    """Writes takes as a LeRobotDataset v3.0 into an empty folder; a table or video of so many MB is full, and another is begun.

    ``language``: with a column of sub-tasks and steps. Its texts are as many as there are steps, which no default collate of torch puts in
    a batch.
    """

    def __init__(
        self, folder: Path, videos: bool = True, data_mb: float = DATA_MB, video_mb: float = VIDEO_MB, language: bool = False
    ) -> None:
        self._folder, self._shared, self._limits, self._language = folder, Shared(videos), (data_mb, video_mb), language
        self._data: Rolling | None = None
        self._extra: Rolling | None = None
        self._reels: dict[str, _Reel] = {}
        self._register = _Register(folder)

    def add(self, take: Take) -> None:
        """Append an episode."""
        pa, shared, number, first = arrow(), self._shared, self._shared.episodes, self._shared.frames
        found, stats = shared.take_in(take)
        assert shared.kind is not None
        if self._data is None:
            self._data = Rolling(Place(self._folder, DATA_PATH), table_schema(shared.kind, self._language), self._limits[0] * MEGA)
            self._extra = extra_table(self._folder, take, self._limits[0] * MEGA)
            videos = take.cameras if shared.kind.videos else ()
            self._reels = {camera: _Reel(self._folder, PICTURES + camera, take.fps, self._limits[1] * MEGA) for camera in videos}
        chunk, file = self._data.add(table_of(take, found, shared.kind, self._language))
        assert self._extra is not None
        self._extra.add(pa.Table.from_pylist([extra.row(take, number)], self._extra.schema))
        entry: dict[str, Any] = {
            "episode_index": number,
            "tasks": [take.episode.instruction.text],
            "length": take.length,
            "data/chunk_index": chunk,
            "data/file_index": file,
            "dataset_from_index": first,
            "dataset_to_index": shared.frames,
        }
        for camera, reel in self._reels.items():
            where = reel.add(take.videos[camera], take.length)
            entry |= {f"videos/{PICTURES}{camera}/{name}": value for name, value in where.items()}
        entry |= {f"stats/{name}/{stat}": value for name, one in stats.items() for stat, value in one.items()}
        self._register.add(entry)

    def finish(self) -> None:
        """Write what is about all episodes."""
        shared = self._shared
        assert shared.kind is not None and self._data is not None and self._extra is not None
        self._data.close()
        self._extra.close()
        for reel in self._reels.values():
            reel.close()
        self._register.close()
        write_tasks(self._folder / "meta/tasks.parquet", shared.tasks)
        write_json(self._folder / "meta/stats.json", shared.statistics())
        write_json(self._folder / "meta/info.json", {
            "codebase_version": VERSION,
            "robot_type": shared.kind.arm,
            "total_episodes": shared.episodes,
            "total_frames": shared.frames,
            "total_tasks": len(shared.tasks),
            "chunks_size": CHUNK,
            "data_files_size_in_mb": self._limits[0],
            "video_files_size_in_mb": self._limits[1],
            "fps": shared.kind.fps,
            "splits": {"train": f"0:{shared.episodes}"},
            "data_path": DATA_PATH,
            "video_path": VIDEO_PATH if self._reels else None,
            "features": columns.features(shared.kind, self._language),
        })  # fmt: skip


def write_json(path: Path, data: Any) -> None:
    """JSON in a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=4, ensure_ascii=False) + "\n", encoding="utf-8")


def write_tasks(path: Path, tasks: Mapping[str, int]) -> None:
    """``meta/tasks.parquet``: a pandas table with the texts as its index."""
    pa = arrow()
    described = [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy, "metadata": None}
        for name, kind, numpy in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
    ]
    pandas = {"index_columns": ["task"], "column_indexes": [], "columns": described, "creator": {}, "pandas_version": "2.0"}
    schema = pa.schema([("task_index", pa.int64()), ("task", pa.string())], metadata={"pandas": json.dumps(pandas)})
    path.parent.mkdir(parents=True, exist_ok=True)
    pa.parquet.write_table(pa.table([list(tasks.values()), list(tasks)], schema=schema), path)


# ------------------------------------------------------------------------------------------------ tables of frames


def language_type() -> Any:
    """The arrow type of ``language_persistent``."""
    pa = arrow()
    return pa.list_(pa.struct([
        pa.field("role", pa.string(), nullable=False), ("content", pa.string()), ("style", pa.string()),
        pa.field("timestamp", pa.float32(), nullable=False), ("camera", pa.string()), ("tool_calls", pa.list_(pa.string())),
    ]))  # fmt: skip


@functools.lru_cache(maxsize=8)
def table_schema(kind: RecordingKind, language: bool) -> Any:
    """The schema of the frames of a dataset, with the types that Hugging Face's ``datasets`` shall see."""
    pa = arrow()
    fields: list[Any] = []
    known: dict[str, Any] = {}
    for name, feature in columns.features(kind, language).items():
        dtype, (first, *_) = feature["dtype"], feature["shape"]
        if dtype == "video":
            continue
        if dtype == "image":
            fields.append(pa.field(name, pa.struct([("bytes", pa.binary()), ("path", pa.string())])))
            known[name] = {"_type": "Image"}
        elif dtype == "language":
            fields.append(pa.field(name, language_type()))
            known[name] = _LANGUAGE
        else:
            value = {"dtype": dtype, "_type": "Value"}
            simple = pa.bool_() if dtype == "bool" else pa.type_for_alias(dtype)
            vector = feature["names"] is not None
            fields.append(pa.field(name, pa.list_(simple, first) if vector else simple))
            known[name] = {"feature": value, "length": first, "_type": "List"} if vector else value
    return pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": known}})})


_TEXT = {"dtype": "string", "_type": "Value"}
_LANGUAGE = {
    "feature": {
        "role": _TEXT, "content": _TEXT, "style": _TEXT, "timestamp": {"dtype": "float32", "_type": "Value"}, "camera": _TEXT,
        "tool_calls": {"feature": _TEXT, "_type": "List"},
    },
    "_type": "List",
}  # fmt: skip


def table_of(take: Take, found: Mapping[str, NDArray[Any]], kind: RecordingKind, language: bool) -> Any:
    """The frames of a take as a table."""
    pa = arrow()
    schema = table_schema(kind, language)
    made = []
    for field in schema:
        if field.name.startswith(PICTURES):
            images = take.images[field.name.removeprefix(PICTURES)][: take.length]
            files = [{"bytes": data, "path": f"frame-{k:06d}.png"} for k, data in enumerate(images)]
            made.append(pa.array(files, field.type))
        elif field.name == LANGUAGE:
            rows = pa.array([columns.language_rows(take)], field.type)
            made.append(rows.take(pa.array(np.zeros(take.length, np.int64))))  # the same for every frame
        elif pa.types.is_fixed_size_list(field.type):
            flat = pa.array(np.ascontiguousarray(found[field.name]).ravel(), field.type.value_type)
            made.append(pa.FixedSizeListArray.from_arrays(flat, type=field.type))
        else:
            made.append(pa.array(found[field.name], field.type))
    return pa.Table.from_arrays(made, schema=schema)
