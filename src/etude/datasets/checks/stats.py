"""``meta/stats.json`` and the statistics of single episodes, against what the frames give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from etude.datasets.checks.findings import Findings, reason
from etude.datasets.checks.frames import Frames, Seen
from etude.datasets.checks.info import V3, Info, read_json
from etude.datasets.checks.layout import STATS_21, DatasetLayout, episode_files, read_lines
from etude.datasets.checks.tallies import ColumnBounds, judged, judged_picture
from etude.datasets.lerobot import arrow

PATH = "meta/stats.json"
STALE = (
    "index",
    "episode_index",
    "task_index",
)  # nobody normalises by them, and LeRobot's own tools that merge and delete do not mend them
Row = tuple[Path, int | None, dict[str, Any]]  # the file, the episode, and the statistics of its features


def check_frames(layout: DatasetLayout, findings: Findings, ours: bool) -> Seen:
    """Go through all frames, and compare what is stated about them. ``ours``: quantiles must be there, and counters right too."""
    info = layout.info
    path = layout.folder / PATH
    stats: Mapping[str, Any] | None = None
    if info.version == V3 or path.exists():  # v2.1 has them for episodes only, though some readers want both
        stats = read_json(path, findings)
    frames = Frames(layout, findings, stats or {})
    rows: Iterator[Row] | None = _rows(layout, findings)
    for entry, tallies in frames.episodes():
        row = _of(entry.index, rows)
        if row is None:
            if rows is not None:
                findings.skip("statistics of episodes", f"those of episode {entry.index} and after it are not in their place")
            rows = None
            continue
        _compare(row[2], info, tallies, ours, findings, row[0], entry.index)
    seen = frames.seen
    if stats is None:
        if info.version == V3:
            findings.skip("statistics", f"{PATH} cannot be used")
        return seen
    if not seen.whole:
        findings.skip("statistics of numbers", "not all frames could be read")
    for name in sorted(seen.tainted):
        findings.skip(f"statistics of {name}", "some of its values are wrong")
    whole = {name: tally for name, tally in seen.tallies.items() if seen.whole and name not in seen.tainted}
    _compare(stats, info, whole, ours, findings, path)
    return seen


def _compare(
    stats: Mapping[str, Any],
    info: Info,
    tallies: Mapping[str, ColumnBounds],
    every: bool,
    findings: Findings,
    path: Path,
    episode: int | None = None,
) -> None:
    for feature in info.features.values():
        if feature.dtype in ("image", "video"):
            faults = judged_picture(stats.get(feature.name), feature, every)
        elif feature.name in tallies and (every or feature.name not in STALE):
            faults = judged(stats.get(feature.name), feature, tallies[feature.name], every)
        else:
            continue
        for code, text in faults:
            findings.add(code, path, text, episode)


def _of(index: int, rows: Iterator[Row] | None) -> Row | None:
    """The next row, where it is that of this episode; those of episodes whose frames could not be read are passed over."""
    for row in rows or ():
        if row[1] is None or row[1] >= index:
            return row if row[1] == index else None
    return None


def _rows(layout: DatasetLayout, findings: Findings) -> Iterator[Row]:
    """The statistics of episodes, in their order."""
    if layout.info.version != V3:
        for line in read_lines(layout.folder / STATS_21, findings):
            if line is not None and isinstance(line.get("stats"), dict):
                yield layout.folder / STATS_21, line.get("episode_index"), line["stats"]
        return
    for path in episode_files(layout.folder):
        try:
            with arrow().parquet.ParquetFile(path) as file:
                names = [n for n in file.schema_arrow.names if n.startswith("stats/") and n.count("/") == 2]
                if not names:
                    findings.add("stats-missing", path, "there are no columns stats/…: episodes have no statistics of their own")
                    return
                for group in range(file.num_row_groups):
                    for row in file.read_row_group(group, columns=["episode_index", *names]).to_pylist():
                        yield path, row["episode_index"], _nested({n: row[n] for n in names})
        except Exception as error:  # whatever a damaged file makes of the reader
            findings.add("meta-unreadable", path, f"it cannot be read: {reason(error)}")
            return


def _nested(row: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Columns ``stats/<feature>/<name>`` by feature and name."""
    found: dict[str, dict[str, Any]] = {}
    for column, value in row.items():
        _, feature, name = column.split("/")
        found.setdefault(feature, {})[name] = value
    return found
