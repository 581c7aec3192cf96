"""Tables of frames: do their columns have the types of the features, and what are their values?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.datasets.checks.findings import Findings
from etude.datasets.checks.info import V3, Feature, Info
from etude.datasets.lerobot import arrow

BATCH = 1024  # rows that are read at once
LANGUAGE_FIELDS = ("role", "content", "style", "camera", "tool_calls")


def check_schema(schema: Any, info: Info, where: Any, findings: Findings) -> list[Feature]:
    """Compare the columns of a table with the features; gives those that can be read."""
    usable = []
    for feature in info.features.values():
        if feature.dtype == "video":
            continue
        if schema.get_field_index(feature.name) < 0:
            text = f"there is no column {feature.name!r}" if schema.names.count(feature.name) == 0 else f"{feature.name!r} is there twice"
            findings.add("column-missing", where, text)
            continue
        fault = _fault(schema.field(feature.name).type, feature)
        if fault:
            code, text = fault
            findings.add(code, where, text)
        else:
            usable.append(feature)
    if info.version == V3:  # v2.1 is read by what the tables say
        for name in schema.names:
            if name not in info.names.difference(f.name for f in info.of("video")):
                findings.add("column-unknown", where, f"the column {name!r} is not one of the features that are stored in tables")
        if info.of("image") and b"huggingface" not in (schema.metadata or {}):
            findings.add("huggingface-schema", where, "its metadata lack 'huggingface', so that images are read as raw bytes")
    return usable


def _fault(kind: Any, feature: Feature) -> tuple[str, str] | None:
    """What is wrong with the type of a column."""
    types = arrow().types
    if isinstance(kind, arrow().BaseExtensionType):
        kind = kind.storage_type
    wrong = ("column-type", f"the column {feature.name!r} is {kind}, its feature {feature.dtype} of shape {list(feature.shape)}")
    if feature.dtype == "image":
        fits = types.is_struct(kind) and {"bytes", "path"} <= {f.name for f in kind.fields}
        return None if fits else wrong
    if feature.dtype == "language":
        fields = {f.name for f in kind.value_type.fields} if _is_list(kind) and types.is_struct(kind.value_type) else set()
        wanted = {*LANGUAGE_FIELDS, *(["timestamp"] if feature.name == "language_persistent" else [])}
        return None if wanted <= fields else wrong
    if feature.dtype == "string":
        return None if types.is_string(kind) or types.is_large_string(kind) else wrong
    sizes = []
    while _is_list(kind):
        sizes.append(kind.list_size if types.is_fixed_size_list(kind) else None)
        kind = kind.value_type
    wanted_sizes = [] if feature.shape == (1,) else list(feature.shape)
    if len(sizes) != len(wanted_sizes):
        return wrong
    if any(n is not None and n != m for n, m in zip(sizes, wanted_sizes, strict=True)):
        return "column-shape", f"the column {feature.name!r} has {sizes} numbers in each frame, its feature the shape {wanted_sizes}"
    simple = types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind)
    return None if simple and np.dtype(kind.to_pandas_dtype()) == np.dtype(feature.dtype) else wrong


def _is_list(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def segments(file: Any, lengths: Sequence[int], names: Sequence[str]) -> Iterator[Any]:
    """The rows of a file in tables of these lengths, never more of it in memory than one of them and a batch."""
    pa = arrow()
    batches = file.iter_batches(batch_size=BATCH, columns=list(names))
    kept: list[Any] = []
    held = 0
    for length in lengths:
        while held < length:
            batch = next(batches)
            kept.append(batch)
            held += batch.num_rows
        table = pa.Table.from_batches(kept)
        yield table.slice(0, length)
        kept = table.slice(length).to_batches()
        held -= length


class Broken(Exception):
    """A column whose values cannot be used; ``code`` and the message are those of its defect."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


def numbers(column: Any, feature: Feature) -> NDArray[Any]:
    """The values of a column, (N, width); raises :class:`Broken` where some are missing or a frame has more or fewer than the feature."""
    pa = arrow()
    import pyarrow.compute as pc

    rows = len(column)
    values = column.combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks)
    if isinstance(values.type, pa.BaseExtensionType):
        values = values.storage
    for size in (*feature.shape, None):
        if values.null_count:
            raise Broken("value-null", f"{feature.name} has {values.null_count} missing values")
        if size is None or not _is_list(values.type):
            break
        if not pc.all(pc.equal(pc.list_value_length(values), size)).as_py():
            raise Broken("column-shape", f"{feature.name} has not {list(feature.shape)} numbers in every frame")
        values = values.flatten()
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(rows, feature.width)
