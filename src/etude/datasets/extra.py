"""What LeRobot has no place for, one row for each episode in ``etude/…/file-….parquet``: the whole episode as JSON, its prompt and every
other in which it can be told, with pictures, exact states, camera parameters, boxes, key steps, and the modalities that were asked for.
Enough to carry it out again and to see it from anywhere."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.datasets.take import AXES, Keystep, Take
from etude.envs.prompt_assets import pictured
from etude.episodes import Episode
from etude.library import read_episode
from etude.names import EtudeError
from etude.scene.appearance import segmentation_ids

FOLDER = "etude"
IDS = "segmentation_ids"  # the ids of things by their names, as JSON
ASSETS = "prompt_assets"  # what the pictures of the prompt show, as JSON
ARRAYS = ("actions", "lead", "states", "subgoals", "proprioception", "intrinsics", "extrinsics", "digests", "boxes", "visible")


@dataclass(frozen=True, eq=False)
class Extra:
    """One of these rows; fields as in a :class:`~etude.datasets.take.Take`."""

    episode_index: int
    episode: Episode
    id: str
    policy: str
    template: str
    prompts: tuple[tuple[str, str], ...]
    pictures: tuple[bytes, ...]
    words: tuple[tuple[str, str], ...]
    nodes: tuple[tuple[str, str], ...]
    keysteps: tuple[Keystep, ...]
    cameras: tuple[str, ...]
    size: tuple[int, int]
    smooth: bool
    fps: int
    objects: tuple[str, ...]
    arrays: dict[str, NDArray[Any]]
    modalities: dict[str, NDArray[Any]]


def row(take: Take, episode_index: int) -> dict[str, Any]:
    """The row of a take."""
    return {
        "episode_index": episode_index,
        "name": take.episode.name,
        "id": take.episode.id,
        "episode": take.episode.to_json(),
        "policy": take.policy,
        "template": take.template,
        "prompts": [{"template": a, "text": b} for a, b in take.prompts],
        "pictures": list(take.pictures),
        "words": [{"subtask": a, "step": b} for a, b in take.words],
        "nodes": [{"path": a, "words": b} for a, b in take.nodes],
        "keysteps": [{"frame": k.frame, "path": k.path, "words": k.words} for k in take.keysteps],
        "cameras": list(take.cameras),
        "width": take.size[0],
        "height": take.size[1],
        "smooth": take.smooth,
        "fps": take.fps,
        "objects": list(take.objects),
        **{name: _packed(getattr(take, name)) for name in ARRAYS},
        **{name: _packed(values) for name, values in take.modalities.items()},
        **{name: json.dumps(value, ensure_ascii=False) for name, value in explained(take).items()},
    }


def explained(take: Take) -> dict[str, Any]:
    """What the ids in arrays of modalities stand for, as plain data."""
    return {
        **({IDS: segmentation_ids(take.episode.scene)} if "segmentation" in take.modalities or "objects_ids" in take.modalities else {}),
        **({ASSETS: pictured(take.episode)} if "prompt_rgb" in take.modalities else {}),
    }


def _packed(values: NDArray[Any]) -> dict[str, Any]:
    return {"dtype": values.dtype.str, "shape": list(values.shape), "data": np.ascontiguousarray(values).tobytes()}


def unpacked(data: dict[str, Any]) -> NDArray[Any]:
    return np.frombuffer(data["data"], np.dtype(data["dtype"])).reshape(data["shape"])


def schema(modalities: Collection[str] = ()) -> Any:
    """The columns of the file; the arrays of modalities are there only if they were asked for."""
    import pyarrow as pa

    array = pa.struct([("dtype", pa.string()), ("shape", pa.list_(pa.int64())), ("data", pa.binary())])
    texts = {name: pa.string() for name in ("name", "id", "episode", "policy", "template")}
    return pa.schema([
        ("episode_index", pa.int64()),
        *texts.items(),
        ("prompts", pa.list_(pa.struct([("template", pa.string()), ("text", pa.string())]))),
        ("pictures", pa.list_(pa.binary())),
        ("words", pa.list_(pa.struct([("subtask", pa.string()), ("step", pa.string())]))),
        ("nodes", pa.list_(pa.struct([("path", pa.string()), ("words", pa.string())]))),
        ("keysteps", pa.list_(pa.struct([("frame", pa.int64()), ("path", pa.string()), ("words", pa.string())]))),
        ("cameras", pa.list_(pa.string())),
        ("width", pa.int64()), ("height", pa.int64()), ("smooth", pa.bool_()), ("fps", pa.int64()),
        ("objects", pa.list_(pa.string())),
        *((name, array) for name in (*ARRAYS, *modalities)),
        *([(IDS, pa.string())] if "segmentation" in modalities or "objects_ids" in modalities else []),
        *([(ASSETS, pa.string())] if "prompt_rgb" in modalities else []),
    ])  # fmt: skip


def extras(folder: Path, only: int | None = None) -> Iterator[Extra]:
    """The rows of a dataset, in the order of its episodes; or ``only`` that of one episode, the others not being read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = sorted((folder / FOLDER).glob("chunk-*/file-*.parquet"))
    if not files:
        raise EtudeError(f"{str(folder)!r} has no {FOLDER}/chunk-…/file-….parquet: it was not recorded by 'etude demos'")
    passed = 0
    for path in files:
        try:
            with pq.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    rows = file.metadata.row_group(group).num_rows
                    if only is None or passed <= only < passed + rows:
                        yield from (e for e in map(_extra, file.read_row_group(group).to_pylist()) if only in (None, e.episode_index))
                    passed += rows
        except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise EtudeError(f"{path} cannot be read: {error}") from None


def prompts(folder: Path) -> Iterator[tuple[int, str, tuple[bytes, ...]]]:
    """Of every episode its number, and what was told: text with {image:k}, and the pictures (PNG). Nothing else is read."""
    import pyarrow.parquet as pq

    for path in sorted((folder / FOLDER).glob("chunk-*/file-*.parquet")):
        for row in pq.read_table(path, columns=["episode_index", "template", "pictures"]).to_pylist():
            template = row["template"]
            yield row["episode_index"], template, tuple(row["pictures"][: template.count("{image:")])


def _extra(data: dict[str, Any]) -> Extra:
    return Extra(
        data["episode_index"],
        read_episode(data["episode"]),
        data["id"],
        data["policy"],
        data["template"],
        tuple((p["template"], p["text"]) for p in data.get("prompts", ())),  # none in sets from before they were kept
        tuple(data["pictures"]),
        tuple((w["subtask"], w["step"]) for w in data["words"]),
        tuple((n["path"], n["words"]) for n in data["nodes"]),
        tuple(Keystep(k["frame"], k["path"], k["words"]) for k in data["keysteps"]),
        tuple(data["cameras"]),
        (data["width"], data["height"]),
        data.get("smooth", False),  # of sets from before there was a choice
        data["fps"],
        tuple(data["objects"]),
        {name: unpacked(data[name]) for name in ARRAYS},
        {name: unpacked(data[name]) for name in AXES if data.get(name) is not None},
    )
