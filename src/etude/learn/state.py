"""The state from which training goes on: one safetensors file cut into pieces that any channel takes, listed with their digests.

A new set of pieces is whole before the list names it, and only then the old one goes: whenever the process or the disk gives out, the list
names a set that is there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from torch import Tensor

from etude.evaluation.store import write_whole
from etude.learn.checkpoint import as_bytes, from_bytes
from etude.names import EtudeError, parse_json

FOLDER, INDEX, FORMAT = "state", "index.json", "etude-state-1"
PIECE = 15_000_000  # bytes
StateForm = Literal["full", "compact"]
STATE_FORMS: tuple[StateForm, ...] = ("full", "compact")


def compacted(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A state in 10 bytes for each weight instead of 16: what the optimizer remembers in bfloat16, and so is the way from the weights to
    their average, which is short. The weights themselves stay as they are."""
    found = {}
    for name, value in tensors.items():
        what, _, rest = name.partition(".")
        if what == "averaged":
            value = (value - tensors[f"model.{rest}"]).bfloat16()
        elif what == "optimizer" and value.ndim:
            value = value.bfloat16()
        found[name] = value
    return found


def expanded(tensors: Mapping[str, Tensor], form: StateForm) -> dict[str, Tensor]:
    """A state as it was before :func:`compacted`, or nearly."""
    if form == "full":
        return dict(tensors)
    return {name: value.float() + (tensors[f"model{name[8:]}"] if name.startswith("averaged.") else 0) for name, value in tensors.items()}


def has_state(run: Path) -> bool:
    """Is there something to go on from?"""
    return (run / FOLDER / INDEX).exists()


def write_state(run: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a state in place of the one before; where that fails, the one before stays."""
    folder = run / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    before = _listed(folder) if has_state(run) else {}
    data = as_bytes(tensors, metadata)
    pieces = [data[start : start + PIECE] for start in range(0, len(data), PIECE)]
    digests = [hashlib.sha256(piece).hexdigest() for piece in pieces]
    listed = {f"{k}-{digest[:16]}.part": digest for k, digest in enumerate(digests)}  # no name of another set, unless it is the same piece
    try:
        for name, piece in zip(listed, pieces, strict=True):
            write_whole(folder / name, piece)
        write_whole(folder / INDEX, json.dumps({"format": FORMAT, "pieces": listed}, indent=1) + "\n")
    except BaseException:
        _sweep(folder, before)
        raise
    _sweep(folder, listed)


def read_state(run: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a state, if every piece is the one that was written."""
    folder = run / FOLDER
    pieces = []
    for name, digest in _listed(folder).items():
        try:
            pieces.append((folder / name).read_bytes())
        except OSError as error:
            why = error.strerror or error
            raise EtudeError(f"the training state in {folder} lacks its piece {name}: {why}; {_way_out(folder)}") from None
        if hashlib.sha256(pieces[-1]).hexdigest() != digest:
            raise EtudeError(f"the training state in {folder} is damaged: {name} is not what was written; {_way_out(folder)}")
    return from_bytes(b"".join(pieces), folder)


def _listed(folder: Path) -> dict[str, str]:
    """Names and digests of the pieces, in their order."""
    try:
        data = parse_json((folder / INDEX).read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise EtudeError(f"its format is {data['format']!r}, expected {FORMAT!r}")
        return {Path(name).name: str(digest) for name, digest in data["pieces"].items()}
    except (OSError, UnicodeDecodeError, EtudeError, KeyError, TypeError, AttributeError) as error:
        raise EtudeError(f"{folder / INDEX} is no list of a training state, or a damaged one: {error}; {_way_out(folder)}") from None


def _way_out(folder: Path) -> str:
    return f"without the folder {folder.name!r} training begins anew"


def _sweep(folder: Path, keep: Mapping[str, str]) -> None:
    for path in folder.iterdir():
        if path.name not in keep and path.name != INDEX:
            path.unlink()
