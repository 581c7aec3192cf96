"""Reading a LeRobot dataset without LeRobot and without torch: numbers by column, frames by episode, for v3.0 and v2.1."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.datasets.columns import PICTURES
from etude.datasets.lerobot import arrow
from etude.datasets.video import frames_of, pixels_of
from etude.evaluation.plan import read_object
from etude.names import EtudeError

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Span:
    """Where the frames of an episode are: rows [first, first + length) of the table ``data``; its frames in each video likewise."""

    index: int
    task: str
    length: int
    data: Path
    first: int
    videos: dict[str, tuple[Path, int]]


class DatasetReader:
    """A dataset on disk. Nothing is read before it is asked for."""

    def __init__(self, folder: Path) -> None:
        path = folder / "meta/info.json"
        if not path.exists():
            raise EtudeError(f"{str(folder)!r} is not a LeRobot dataset: it has no meta/info.json")
        self.folder = folder
        self.info: dict[str, Any] = read_object(path)
        try:
            self.fps = int(self.info["fps"])
            self.features: dict[str, dict[str, Any]] = dict(self.info["features"])
            kinds = {name: str(feature["dtype"]) for name, feature in self.features.items()}
            str(self.info["codebase_version"])
        except (KeyError, TypeError, ValueError):
            raise EtudeError(f"{path} does not describe a LeRobot dataset; 'etude validate {folder}' says what is wrong with it") from None
        self.cameras = tuple(name.removeprefix(PICTURES) for name, kind in kinds.items() if kind in ("image", "video"))
        self.videos = "video" in kinds.values()

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self.spans)

    @functools.cached_property
    def spans(self) -> tuple[Span, ...]:
        """Where every episode is."""
        version = self.info["codebase_version"]
        if version == "v3.0":
            return tuple(self._spans())
        if version == "v2.1":
            return tuple(self._single())
        raise EtudeError(f"{str(self.folder)!r} is a LeRobot dataset {version}; v3.0 and v2.1 can be read")

    def _spans(self) -> Iterator[Span]:
        pq = arrow().parquet
        started: dict[Path, int] = {}
        for path in sorted((self.folder / "meta/episodes").glob("chunk-*/file-*.parquet")):
            names = [n for n in pq.read_schema(path).names if not n.startswith("stats/")]
            for row in pq.read_table(path, columns=names).to_pylist():
                where = {"chunk_index": row["data/chunk_index"], "file_index": row["data/file_index"]}
                data = self.folder / self.info["data_path"].format(**where)
                first = row["dataset_from_index"] - started.setdefault(data, row["dataset_from_index"])
                videos = {}
                for camera in self.cameras if self.videos else ():
                    key = f"videos/{PICTURES}{camera}"
                    place = {"chunk_index": row[f"{key}/chunk_index"], "file_index": row[f"{key}/file_index"]}
                    video = self.folder / self.info["video_path"].format(video_key=PICTURES + camera, **place)
                    videos[camera] = (video, round(row[f"{key}/from_timestamp"] * self.fps))
                yield Span(row["episode_index"], row["tasks"][0], row["length"], data, first, videos)

    def _single(self) -> Iterator[Span]:
        for line in (self.folder / "meta/episodes.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            index = row["episode_index"]
            where = {"episode_chunk": index // self.info["chunks_size"], "episode_index": index}
            paths = {c: self.folder / self.info["video_path"].format(video_key=PICTURES + c, **where) for c in self.cameras}
            data = self.folder / self.info["data_path"].format(**where)
            yield Span(index, row["tasks"][0], row["length"], data, 0, {c: (p, 0) for c, p in paths.items()} if self.videos else {})

    def chosen(self, episodes: Sequence[int]) -> frozenset[int]:
        """The numbers of episodes that were named, or of all."""
        for index in episodes:
            if not 0 <= index < len(self):
                raise EtudeError(f"there is no episode {index}; {str(self.folder)!r} has 0 to {len(self) - 1}")
        return frozenset(episodes or range(len(self)))

    def column(self, name: str, episode: int) -> NDArray[Any]:
        """The values of a column in an episode, (N,) or (N, D)."""
        span = self.spans[episode]
        found = self._table(span.data, name)
        return found[span.first : span.first + span.length]

    @functools.lru_cache(maxsize=256)  # noqa: B019  (a reader lives as long as what it reads is needed)
    def _table(self, path: Path, name: str) -> NDArray[Any]:
        if name not in self.features:
            raise EtudeError(f"there is no column {name!r}; there are {', '.join(self.features)}")
        pa = arrow()
        column = pa.parquet.read_table(path, columns=[name]).column(0).combine_chunks()
        if pa.types.is_fixed_size_list(column.type):
            values = column.flatten().to_numpy(zero_copy_only=False)
            return np.asarray(values.reshape(-1, column.type.list_size))
        return np.asarray(column.to_numpy(zero_copy_only=False))

    def frames(self, episode: int, camera: str, first: int = 0, count: int | None = None) -> Iterator[Pixels]:
        """Pictures (H, W, 3) of an episode from its ``first`` frame on, ``count`` of them or all that follow."""
        span = self.spans[episode]
        count = span.length - first if count is None else min(count, span.length - first)
        if camera not in self.cameras:
            raise EtudeError(f"there is no camera {camera!r}; there are {', '.join(self.cameras)}")
        if self.videos:
            path, begin = span.videos[camera]
            yield from frames_of(path, begin + first, count, self.fps)
            return
        start = span.first + first
        column = self._images(span.data, PICTURES + camera)
        for k in range(start, start + count):
            yield pixels_of(column[k].as_py()["bytes"])

    @functools.lru_cache(maxsize=16)  # noqa: B019
    def _images(self, path: Path, name: str) -> Any:
        return arrow().parquet.read_table(path, columns=[name], memory_map=True).column(0).combine_chunks()
