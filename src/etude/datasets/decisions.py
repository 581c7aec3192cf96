"""Trials as datasets: JSON lines with PNG files beside them, or Hugging Face parquet with the pictures inside."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from etude.decisions.graph import operators, structure
from etude.decisions.operator import Operator
from etude.decisions.prompts import expected, messages, used
from etude.decisions.showing import PIXELS, crosses, drawn, space_of, stimuli, told
from etude.decisions.space import LOCATION, NUMBER, VIEW, SeenThing, StimulusSpace
from etude.decisions.stimuli import canvas
from etude.decisions.trial import SILENT, Trial
from etude.library import trial as find_trial
from etude.names import EtudeError, digest, encode, episode_id, pick, plain_json
from etude.policies.chat_decider import questions
from etude.render.packed import PackedPicture, laid, packed
from etude.render.png import png

SHARD = 2000  # trials in one parquet file: about 100 MB at 224 pixels
GROUP = 100  # trials that are held in memory, and written together
LINES = "trials.jsonl"


# ------------------------------------------------------------------------------------------------ one trial


def png_frames(trial: Trial, size: int = PIXELS) -> list[bytes]:
    """Every frame as the bytes of a PNG file."""
    return [_frame(trial.stimuli, trial.grid, things, cross, size) for things, cross in zip(trial.frames, crosses(trial), strict=True)]


def write_frames(trial: Trial, folder: str, size: int = PIXELS) -> list[str]:
    """Write every frame as a PNG file into a folder that is there; gives their names."""
    names = []
    for k, data in enumerate(png_frames(trial, size)):
        names.append(f"{k}.png")
        write_file(f"{folder}/{k}.png", data)
    return names


def write_file(path: str, data: bytes) -> None:
    """Write a small file with as few calls as there can be: a Path and a buffer would take as long as a frame."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
    try:
        while data:
            data = data[os.write(file, data) :]
    finally:
        os.close(file)


@functools.lru_cache(maxsize=4096)  # frames of one object repeat at times, blank ones always; 25 MB at 224 pixels
def _frame(set_name: str, grid: tuple[int, int], things: tuple[SeenThing, ...], cross: bool, size: int) -> bytes:
    """The objects and the cross are packed once and laid side by side; only where they touch, the frame is drawn and packed as a whole."""
    pixels = canvas.cell_pixels(size, grid)
    pieces = [(packed_object(set_name, t.item, t.view, pixels), *canvas.corner(size, grid, t.location)) for t in things]
    if cross:
        pieces.append((_cross(size), 0, 0))
    return laid(size, size, pieces) or png(drawn(set_name, grid, things, cross, size))


@functools.lru_cache(maxsize=8192)  # all training views of the procedural set; 50 MB at 224 pixels
def packed_object(set_name: str, item: int, view: int, pixels: int) -> PackedPicture:
    """An item from a view as it stands on a frame, packed."""
    return packed(canvas.frame(pixels, (1, 1), [(stimuli(set_name).picture(item, view, pixels), 0)]))


@functools.lru_cache(maxsize=8)
def _cross(size: int) -> PackedPicture:
    return packed(canvas.frame(size, (1, 1), fixation="cross"))


def described(trial: Trial) -> dict[str, Any]:
    """All about a trial but its pictures, as JSON data. ``task_id`` is the same for trials that ask the same, whatever they show."""
    space = space_of(trial.stimuli, trial.grid)
    counts: dict[str, int] = {}
    for placed in trial.tasks:
        for operator, count in operators(placed.task.root).items():
            counts[operator] = counts.get(operator, 0) + count
    name, data, answer = trial.parsed, encode(trial), expected(trial)
    return {
        "id": episode_id(name, plain_json(data)),
        "name": trial.name,
        "suite": name.suite,
        "task": name.task,
        "split": trial.split,
        "seed": name.seed,
        "level": trial.level,
        "task_id": digest([structure(p.task) for p in trial.tasks])[:16],
        "instruction": told(trial),
        "instruction_fluent": told(trial, "fluent"),
        "answer": answer,
        "answer_type": answer_type(answer, space),
        "answers": list(trial.answers),
        "choices": list(trial.choices),
        "n_frames": len(trial.frames),
        "n_objects": sum(len(things) for things in trial.frames),
        "n_delays": sum(not things for things in trial.frames),
        "n_questions": sum(a != SILENT for a in trial.answers),
        "operators": counts,
        "properties": sorted(used(trial)),
        "objects": list(objects(trial)),
        "graph": data["tasks"],
        "stimuli": trial.stimuli,
        "stimuli_version": stimuli(trial.stimuli).version,
    }


def answer_type(answer: str, space: StimulusSpace) -> str:
    """What an answer is: "bool", "number", or the property whose value it is."""
    if answer in ("true", "false"):
        return "bool"
    return next((p for p in space.known if p != VIEW and answer in space.values(p)), NUMBER)


def objects(trial: Trial) -> Iterator[dict[str, Any]]:
    """Everything on every frame. ``object`` is the number by which the instruction speaks of it, 0 for what it does not speak of."""
    shown, number = stimuli(trial.stimuli), 0
    for frame, things in enumerate(trial.frames):
        number += bool(things)
        meant = next((t for t in things if not t.distractor), things[0] if things else None)
        for thing in things:
            properties = _properties(trial.stimuli, trial.grid, thing.item, thing.location)
            yield {
                "frame": frame, "object": number if thing is meant else 0, **properties, "view": thing.view,
                "view angle": shown.angles[shown.angle(thing.view)], "distractor": thing.distractor,
            }  # fmt: skip


@functools.lru_cache(maxsize=8192)
def _properties(set_name: str, grid: tuple[int, int], item: int, location: int) -> dict[str, str]:
    """What an item at a place is called, by property."""
    space, thing = space_of(set_name, grid), SeenThing(item, location)
    return {p: space.values(p)[space.of(p, thing)] for p in (*space.classes, LOCATION)}


# ------------------------------------------------------------------------------------------------ many of them


def export(names: Sequence[str], folder: Path, form: str = "jsonl", size: int = PIXELS) -> int:
    """Write the trials of these names into a new folder, with frames of ``size`` pixels; gives the number of files.

    ``jsonl``: ``trials.jsonl`` with a line for each trial, whose ``frames`` are PNG files in ``images/`` and whose ``questions`` are chat
    messages, each with the id by which ``answers:FILE`` knows its answer. ``parquet``: files for each
    split in ``data/`` that ``datasets.load_dataset(folder)`` takes, with the pictures inside; needs the extra 'parquet'.
    """
    write = pick("form of export", form, {"jsonl": _write_lines, "parquet": _write_parquet})
    if not names:
        raise EtudeError("there is nothing to export: name at least one trial")
    return write(names, folder, size)


def new_folder(folder: Path) -> None:
    """Make the folder of a dataset; one in which there is something already is left alone."""
    if folder.exists() and not folder.is_dir():
        raise EtudeError(f"--out {str(folder)!r} is a file; choose a new folder to export to")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EtudeError(f"--out {str(folder)!r} cannot be made: {error.strerror}; choose a folder you may write to") from None
    if any(folder.iterdir()):
        raise EtudeError(f"{str(folder)!r} is not empty; choose another folder to export to")


def _write_lines(names: Sequence[str], folder: Path, size: int) -> int:
    new_folder(folder)
    files = 1
    # The list of trials gets its name last: a folder that has it is complete.
    unfinished = folder / f"{LINES}.unfinished"
    with unfinished.open("w", encoding="utf-8") as lines:
        for name in names:
            trial = find_trial(name)
            row = described(trial)
            place = Path("images") / re.sub(r"[^\w.]+", "-", name)  # with its options: variants of a trial may stand beside each other
            (folder / place).mkdir(parents=True, exist_ok=True)
            row["frames"] = [f"{place.as_posix()}/{file}" for file in write_frames(trial, str(folder / place), size)]
            row["questions"] = _chats(trial, row["frames"])
            files += len(trial.frames)
            lines.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    unfinished.replace(folder / LINES)
    return files


def _chats(trial: Trial, frames: Sequence[str]) -> list[dict[str, Any]]:
    """What a model is asked, question by question, as the chat protocol has it; pictures stand as the paths of their files."""
    parts, space = questions(trial), space_of(trial.stimuli, trial.grid)
    return [
        {
            "id": trial.id if len(parts) == 1 else f"{trial.id}/{number}",
            "messages": messages(part, frames[: len(part.frames)], space),
            "answer": expected(part),
        }
        for number, part in enumerate(parts, 1)
    ]


# ------------------------------------------------------------------------------------------------ parquet

_TEXT, _WHOLE = "string", "int32"
LISTS = ("choices", "frame_answers", "attributes")


def columns() -> dict[str, str]:
    """The flat columns with their types; those after them hold lists. "images" and "messages" are what trainers of language models read."""
    texts = (
        "trial_id", "name", "suite", "task", "level", "task_id", "question", "question_fluent", "answer", "answer_type", "graph_json",
        "objects_json", "stimuli", "stimuli_version",
    )  # fmt: skip
    numbers = ("n_frames", "n_objects", "n_delays", "n_questions", *_counted())
    return dict.fromkeys(texts, _TEXT) | {"seed": "int64"} | dict.fromkeys(numbers, _WHOLE)


def _counted() -> dict[str, str]:
    """The columns that count operators, "n_is_same" for IsSame, and so for whatever operators there are."""
    names = [kind for kind in Operator.kinds if kind not in ("Select", "Const")]
    return {f"n_{re.sub('(?<!^)(?=[A-Z])', '_', kind).lower()}": kind for kind in names}


def flat(trial: Trial, size: int = PIXELS) -> dict[str, Any]:
    """A trial as a row of the parquet files, by column."""
    row = described(trial)
    found = {name: row[name] for name in columns() if name in row}
    found |= {name: row["operators"].get(operator, 0) for name, operator in _counted().items()}
    compact = functools.partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    found |= {
        "trial_id": row["id"],
        "question": row["instruction"],
        "question_fluent": row["instruction_fluent"],
        "graph_json": compact(row["graph"]),
        "objects_json": compact(row["objects"]),
        "choices": row["choices"],
        "frame_answers": row["answers"],
        "attributes": row["properties"],
        "images": [{"bytes": data, "path": f"{k}.png"} for k, data in enumerate(png_frames(trial, size))],
        "messages": _placeholders(trial),
        "reward_model": {"style": "rule", "ground_truth": row["answer"]},
    }
    return found


def _placeholders(trial: Trial) -> list[dict[str, Any]]:
    """The prompt with a placeholder for each picture, in the order of ``images``."""
    asked = messages(trial, [""] * len(trial.frames), space_of(trial.stimuli, trial.grid))
    return [
        {
            "role": message["role"],
            "content": [{"type": "text" if "text" in p else "image", "text": p.get("text")} for p in message["content"]],
        }
        for message in asked
    ]


def _write_parquet(names: Sequence[str], folder: Path, size: int) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise EtudeError("parquet files need pyarrow, which is not installed: pip install 'etude[parquet]', or --form jsonl") from None
    schema = _schema(pa)
    splits: dict[str, list[str]] = {}
    for name in names:
        splits.setdefault(find_trial(name).split, []).append(name)
    new_folder(folder)
    (folder / "data").mkdir()
    files = 0
    for split, members in splits.items():
        shards = [members[k : k + SHARD] for k in range(0, len(members), SHARD)]
        for number, shard in enumerate(shards):
            place = folder / "data" / f"{split}-{number:05d}-of-{len(shards):05d}.parquet"
            with pq.ParquetWriter(place, schema, compression="zstd") as writer:
                for k in range(0, len(shard), GROUP):
                    rows = [flat(find_trial(name), size) for name in shard[k : k + GROUP]]
                    writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            files += 1
    return files


def _schema(pa: Any) -> Any:
    """The columns, and beside them how Hugging Face's ``datasets`` is to take them: as pictures, not as bytes."""
    text = pa.string()
    part = pa.struct([("type", text), ("text", text)])
    table = [(name, getattr(pa, kind)()) for name, kind in columns().items()]
    table += [(name, pa.list_(text)) for name in LISTS]
    table += [
        ("images", pa.list_(pa.struct([("bytes", pa.binary()), ("path", text)]))),
        ("messages", pa.list_(pa.struct([("role", text), ("content", pa.list_(part))]))),
        ("reward_model", pa.struct([("style", text), ("ground_truth", text)])),
    ]
    return pa.schema(table).with_metadata({"huggingface": json.dumps({"info": {"features": _features()}})})


def _features() -> dict[str, Any]:
    def value(kind: str) -> dict[str, str]:
        return {"dtype": kind, "_type": "Value"}

    text = value(_TEXT)
    return {
        **{name: value(kind) for name, kind in columns().items()},
        **{name: [text] for name in LISTS},
        "images": [{"_type": "Image"}],
        "messages": [{"role": text, "content": [{"type": text, "text": text}]}],
        "reward_model": {"style": text, "ground_truth": text},
    }
