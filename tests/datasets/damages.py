"""Ways to damage a dataset: each edits real files as an accident or another program would."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from etude.datasets.video import encoded, frames_of

INFO, STATS, TASKS, FACTS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet", "meta/etude.json"
EPISODES, DATA = "meta/episodes/chunk-000/file-000.parquet", "data/chunk-000/file-000.parquet"
EXTRA, VIDEO = "etude/chunk-000/file-000.parquet", "videos/observation.images.base/chunk-000/file-000.mp4"
Damage = Callable[[Path], None]


def edit_json(name: str, change: Callable[[Any], Any]) -> Damage:
    def damage(folder: Path) -> None:
        data = json.loads((folder / name).read_text())
        change(data)
        (folder / name).write_text(json.dumps(data))

    return damage


def edit_lines(name: str, row: int, change: Callable[[Any], Any]) -> Damage:
    def damage(folder: Path) -> None:
        lines = (folder / name).read_text().splitlines()
        data = json.loads(lines[row])
        change(data)
        lines[row] = json.dumps(data)
        (folder / name).write_text("\n".join(lines))

    return damage


def rewrite(path: Path, table: Any, groups: list[int] | None = None) -> None:
    """Write a table with its row groups as they were, or of these lengths."""
    if groups is None:
        metadata = pq.read_metadata(path)
        groups = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    with pq.ParquetWriter(path, table.schema) as writer:
        first = 0
        for rows in groups:
            writer.write_table(table.slice(first, rows), row_group_size=max(rows, 1))
            first += rows


def edit_column(name: str, column: str, change: Callable[[list[Any]], Any], kind: Any = None) -> Damage:
    """Change the values of a column, and its type if one is given."""

    def damage(folder: Path) -> None:
        table = pq.read_table(folder / name)
        place, values = table.schema.get_field_index(column), table.column(column).to_pylist()
        change(values)
        field = pa.field(column, kind or table.schema.field(column).type)
        rewrite(folder / name, table.set_column(place, field, pa.array(values, field.type)))

    return damage


def edit_table(name: str, change: Callable[[Any], Any], groups: Callable[[Any], list[int]] | None = None) -> Damage:
    def damage(folder: Path) -> None:
        table = change(pq.read_table(folder / name))
        rewrite(folder / name, table, groups(table) if groups else None)

    return damage


def put(place: int, value: Any) -> Callable[[list[Any]], None]:
    return lambda values: values.__setitem__(place, value)


def shifted(first: int, by: float) -> Callable[[list[Any]], None]:
    def change(values: list[Any]) -> None:
        values[first:] = [v + by for v in values[first:]]

    return change


def edit_language(**fields: Any) -> Damage:
    """Change fields of the first language row, alike in all frames of the first episode."""
    text, time = pa.string(), pa.float32()
    kind = pa.list_(pa.struct([
        ("role", text), ("content", text), ("style", text), ("timestamp", time), ("camera", text), ("tool_calls", pa.list_(text)),
    ]))  # fmt: skip

    def change(values: list[Any]) -> None:
        same = values[0]
        for place, rows in enumerate(values):
            if rows == same:
                values[place] = [{**rows[0], **fields}, *rows[1:]]

    return edit_column(DATA, "language_persistent", change, kind)


def edit_video(change: Callable[[list[Any]], list[Any]], name: str = VIDEO, fps: int = 20) -> Damage:
    def damage(folder: Path) -> None:
        (folder / name).write_bytes(encoded(change(list(frames_of(folder / name))), fps))

    return damage


def delayed(folder: Path) -> None:
    """Show every frame after the tenth 4 ms late."""
    source, buffer = av.open(str(folder / VIDEO)), io.BytesIO()
    with av.open(buffer, "w", format="mp4") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        late = int(0.004 / source.streams.video[0].time_base)
        for k, packet in enumerate(p for p in source.demux(video=0) if p.dts is not None):
            packet.pts, packet.dts = packet.pts + late * (k > 10), packet.dts + late * (k > 10)
            packet.stream = stream
            target.mux(packet)
    source.close()
    (folder / VIDEO).write_bytes(buffer.getvalue())


def cut(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[: (folder / name).stat().st_size // 2]) and None


def gone(name: str) -> Damage:
    return lambda folder: shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink()


def copy(name: str, to: str) -> Damage:
    def damage(folder: Path) -> None:
        (folder / to).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / name, folder / to)

    return damage


def garbage(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes(b"PAR1 is not enough" * 50) and None


def split_data(folder: Path) -> None:
    """Move the last episode into a second file."""
    table = pq.read_table(folder / DATA)
    groups = [pq.read_metadata(folder / DATA).row_group(k).num_rows for k in range(3)]
    second = folder / "data/chunk-000/file-001.parquet"
    rewrite(second, table.slice(sum(groups[:2])), groups[2:])
    rewrite(folder / DATA, table.slice(0, sum(groups[:2])), groups[:2])
    edit_column(EPISODES, "data/file_index", put(2, 1))(folder)


def exchanged(folder: Path) -> None:
    """The same with the names of both files exchanged."""
    split_data(folder)
    first, second = folder / DATA, folder / "data/chunk-000/file-001.parquet"
    first.rename(folder / "aside")
    second.rename(first)
    (folder / "aside").rename(second)
    edit_column(EPISODES, "data/file_index", lambda values: values.__setitem__(slice(None), [1, 1, 0]))(folder)


def changed_actions(rows: list[Any]) -> None:
    data = np.frombuffer(rows[1]["data"], np.float32).copy()
    data[3] += 1e-3
    rows[1] = {**rows[1], "data": data.tobytes()}


def changed_episode(rows: list[Any]) -> None:
    episode = json.loads(rows[0])
    rows[0] = json.dumps({**episode, "horizon": episode["horizon"] + 1})


def set_info(*path: str, to: Any) -> Damage:
    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = to

    return edit_json(INFO, change)
