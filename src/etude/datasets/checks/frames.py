"""The tables of frames, file by file and episode by episode: counters, values, language, images; statistics are counted on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import total
from etude.datasets.checks import language
from etude.datasets.checks.findings import Findings, reason
from etude.datasets.checks.info import V3, Feature
from etude.datasets.checks.layout import DatasetLayout, EpisodeRow
from etude.datasets.checks.tables import Broken, check_schema, numbers, segments
from etude.datasets.checks.tallies import WIDEST, ColumnBounds, stated_width
from etude.datasets.columns import ACTION, COUNTERS, HAND, PRIMITIVE, STATE
from etude.datasets.lerobot import arrow
from etude.datasets.video import pixels_of

CLOSE = 1e-4  # seconds: the tolerance of LeRobot's readers
IMAGES = 64  # images that are read at once


@dataclass
class Seen:
    """What was seen in the frames. ``tainted``: columns whose statistics mean nothing, because some values are known to be wrong.

    ``tallies`` by column; ``digests`` of actions and states by episode; ``whole``: has every row been read? ``last``: the index before.
    """

    rows: int = 0
    whole: bool = True
    last: int | None = -1
    tainted: set[str] = field(default_factory=set)
    tallies: dict[str, ColumnBounds] = field(default_factory=dict)
    digests: dict[int, dict[str, str]] = field(default_factory=dict)


class Frames:
    """Goes through all frames once. ``stats``: what the dataset states of its columns, from which their width is taken."""

    def __init__(self, layout: DatasetLayout, findings: Findings, stats: Mapping[str, Any]) -> None:
        self.layout, self.findings, self.stats = layout, findings, stats
        self.seen = Seen()
        self.cameras = [f.name for f in layout.info.of("image", "video")]

    def episodes(self) -> Iterator[tuple[EpisodeRow, dict[str, ColumnBounds]]]:
        """Check file after file; gives the statistics of every episode that could be read, without columns that are wrong."""
        for path, entries in self.layout.files().items():
            try:
                yield from self._file(path, entries)
            except Exception as error:  # whatever a damaged file makes of the reader
                self._lost(path, "data-unreadable", f"it cannot be read: {reason(error)}")

    def _lost(self, path: Path, code: str, text: str) -> None:
        self.findings.add(code, path, text)
        self.findings.skip(f"frames in {self.findings.place(path)}", code)
        self.seen.whole, self.seen.last = False, None

    def _file(self, path: Path, entries: Sequence[EpisodeRow]) -> Iterator[tuple[EpisodeRow, dict[str, ColumnBounds]]]:
        if not path.is_file():
            self._lost(path, "data-missing", f"there is no such file, but episode {entries[0].index} is in it")
            return
        with arrow().parquet.ParquetFile(path) as file:
            usable = check_schema(file.schema_arrow, self.layout.info, path, self.findings)
            lengths = self._lengths(file, path, entries, {f.name for f in usable})
            self.seen.rows += file.metadata.num_rows
            if lengths is None:
                self.findings.skip(f"frames in {self.findings.place(path)}", "rows-wrong")
                self.seen.whole, self.seen.last = False, None
                return
            columns = [f for f in usable if f.dtype != "image"]
            for entry, table in zip(entries, segments(file, lengths, [f.name for f in columns]), strict=True):
                yield entry, self._episode(entry, table, columns)
            self._images(file, path, entries, lengths, [f for f in usable if f.dtype == "image"])

    def _lengths(self, file: Any, path: Path, entries: Sequence[EpisodeRow], usable: Collection[str]) -> list[int] | None:
        """How many rows of the file belong to each episode."""
        metadata, lengths = file.metadata, [e.length for e in entries]
        groups = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
        if metadata.num_rows == total(lengths):
            if self.layout.info.version == V3 and groups != lengths:
                text = f"it has {len(groups)} row groups for {len(lengths)} episodes; each episode should be one"
                self.findings.add("row-groups", path, text)
            return lengths
        if "episode_index" in usable:
            values = file.read(columns=["episode_index"]).column("episode_index").to_numpy()
            starts = np.flatnonzero(np.diff(values, prepend=-1))
            if values[starts].tolist() == [e.index for e in entries]:
                found: list[int] = np.diff(starts, append=len(values)).tolist()
                for entry, rows in zip(entries, found, strict=True):
                    if rows != entry.length:
                        self.findings.add("length-wrong", path, f"its length is {entry.length}, but it has {rows} rows", entry.index)
                return found
        self.findings.add(
            "rows-wrong", path, f"it has {metadata.num_rows} rows, but the lengths of its episodes add up to {total(lengths)}"
        )
        return None

    # -------------------------------------------------------------------------------------------- one episode

    def _episode(self, entry: EpisodeRow, table: Any, columns: Sequence[Feature]) -> dict[str, ColumnBounds]:
        arrays: dict[str, NDArray[Any]] = {}
        wrong: set[str] = set()
        for feature in columns:
            column = table.column(feature.name)
            if not feature.number:
                self._text(entry, column, feature)
                continue
            try:
                values = numbers(column, feature)
            except Broken as fault:
                self.findings.add(fault.code, entry.data, str(fault), entry.index)
                wrong.add(feature.name)
                continue
            finite = np.isfinite(values).all(axis=1) if values.dtype.kind == "f" else np.ones(1, bool)
            if not finite.all():
                first = int(np.flatnonzero(~finite)[0])
                self.findings.add("value-not-finite", entry.data, f"{feature.name} is {values[first].tolist()}", entry.index, first)
                wrong.add(feature.name)
                continue
            arrays[feature.name] = values
        wrong |= self._counters(entry, {name: arrays[name][:, 0] for name in COUNTERS if name in arrays})
        self.seen.tainted |= wrong
        self.seen.digests[entry.index] = {n: digest(arrays[n]) for n in (ACTION, STATE, HAND, PRIMITIVE) if n in arrays}
        tallies = {}
        for name in arrays.keys() - wrong:
            feature = self.layout.info.features[name]
            if not 0 < feature.width <= WIDEST:
                self.findings.skip(f"statistics of {name}", f"it has {feature.width} numbers in each frame")
                continue
            one = tallies[name] = ColumnBounds.of(arrays[name], stated_width(feature, self.stats.get(name)))
            before = self.seen.tallies.get(name)
            self.seen.tallies[name] = one if before is None else before + one
        return tallies

    def _text(self, entry: EpisodeRow, column: Any, feature: Feature) -> None:
        if column.null_count:
            text = f"{feature.name} has {column.null_count} missing values"
            self.findings.add("value-null", entry.data, text, entry.index)
        elif feature.dtype == "language":
            end = (len(column) - 1) / (self.layout.info.fps or 1)
            for code, frame, text in language.judged(column, feature.name, self.cameras, end):
                self.findings.add(code, entry.data, text, entry.index, frame)

    def _counters(self, entry: EpisodeRow, found: Mapping[str, NDArray[Any]]) -> set[str]:
        """Check what counts; gives the columns that are wrong."""
        wrong = set()

        def compare(name: str, code: str, expected: NDArray[Any], tolerance: float | NDArray[Any] = 0) -> None:
            if name not in found:
                return
            bad = np.flatnonzero(np.abs(found[name] - expected) > tolerance)
            if bad.size:
                k = int(bad[0])
                text = f"{name} is {found[name][k]}, not {expected[k]}"
                self.findings.add(code, entry.data, text + (f" ({bad.size} frames are wrong)" if bad.size > 1 else ""), entry.index, k)
                wrong.add(name)

        rows = len(next(iter(found.values()), ()))
        frames = np.arange(rows)
        compare("episode_index", "episode-index", np.full(rows, entry.index))
        compare("frame_index", "frame-index", frames)
        if self.layout.info.fps is not None:
            times = frames / self.layout.info.fps
            compare("timestamp", "timestamp-drift", times, CLOSE + np.finfo(np.float32).eps * times)
        if "index" in found and rows:
            index = found["index"]
            before = int(index[0]) - 1 if self.seen.last is None else self.seen.last
            jumps = np.flatnonzero(np.diff(index, prepend=before) != 1)
            if jumps.size:
                k = int(jumps[0])
                earlier = before if k == 0 else index[k - 1]
                text = f"index is {index[k]}, not {earlier + 1}" + (f" (and {jumps.size - 1} more gaps)" if jumps.size > 1 else "")
                self.findings.add("index-gap", entry.data, text, entry.index, k)
            if jumps.size or "index" in self.seen.tainted:  # all that follows a gap is shifted
                wrong.add("index")
            self.seen.last = int(index[-1])
        if "task_index" in found and not self._tasks(entry, found["task_index"]):
            wrong.add("task_index")
        return wrong

    def _tasks(self, entry: EpisodeRow, index: NDArray[Any]) -> bool:
        tasks = self.layout.tasks
        if tasks is None:
            return True
        bad = np.flatnonzero((index < 0) | (index >= len(tasks)))
        if bad.size:
            text = f"task_index is {index[bad[0]]}, but there are {len(tasks)} tasks"
            self.findings.add("task-index", entry.data, text, entry.index, int(bad[0]))
            return False
        used = {tasks[k] for k in np.unique(index)}
        if used != set(entry.tasks) and set(entry.tasks) <= set(tasks):
            text = f"its frames have the tasks {sorted(used)}, its row {sorted(set(entry.tasks))}"
            self.findings.add("task-mismatch", entry.data, text, entry.index)
            return False
        return True

    # -------------------------------------------------------------------------------------------- images

    def _images(self, file: Any, path: Path, entries: Sequence[EpisodeRow], lengths: Sequence[int], images: Sequence[Feature]) -> None:
        """All images must be there; the first and the last of every episode are decoded."""
        ends = np.cumsum(lengths)
        wanted = {int(end) - back: (entry, 0 if back == rows else rows - 1)
                  for entry, end, rows in zip(entries, ends, lengths, strict=True) for back in (rows, 1)}  # fmt: skip
        for feature in images:
            row = 0
            for batch in file.iter_batches(batch_size=IMAGES, columns=[feature.name]):
                files = batch.column(batch.schema.get_field_index(feature.name)).field("bytes")
                for k, data in enumerate(files):
                    entry, frame = wanted.get(row + k, (None, 0))
                    if not data.is_valid:
                        at = int(np.searchsorted(ends, row + k, side="right"))
                        place = entries[at].index, row + k - int(ends[at] - lengths[at])
                        self.findings.add("value-null", path, f"{feature.name} has no bytes", *place)
                    elif entry is not None:
                        self._image(data.as_py(), feature, entry, frame)
                row += batch.num_rows

    def _image(self, data: bytes, feature: Feature, entry: EpisodeRow, frame: int) -> None:
        try:
            height, width = pixels_of(data).shape[:2]
        except Exception as error:  # whatever damaged bytes make of the reader
            self.findings.add("image-unreadable", entry.data, f"{feature.name}: {reason(error)}", entry.index, frame)
            return
        if (height, width) != feature.size:
            wanted = f"{feature.size[1]}×{feature.size[0]}"
            self.findings.add("image-size", entry.data, f"{feature.name} is {width}×{height}, not {wanted}", entry.index, frame)


def digest(values: NDArray[Any]) -> str:
    """A short text that stands for numbers and their shape."""
    return hashlib.sha256(str(values.shape).encode() + np.asarray(values, np.float64, order="C").tobytes()).hexdigest()[:24]
