"""Shapes and what is found out about them, kept for the next process (see :mod:`etude.kept`): equal to the last bit to those made anew."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.catalog.mesh import Mesh
from etude.catalog.shape import Piece, Shape
from etude.kept import KeptArrays, kept

HOUSE = Path(__file__).parent
UPSTAIRS = ("arithmetic", "loops", "names", "pose")  # what the catalogue computes with
OURS = "etude.catalog."


@functools.cache
def making_code() -> str:
    """A digest of everything that decides what the catalogue makes; "" where its source cannot be read."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {np.__version__}".encode())
    try:
        for path in (*(HOUSE.parent / f"{name}.py" for name in UPSTAIRS), *sorted(HOUSE.rglob("*.py"))):
            digest.update(path.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()


def kept_shape(name: str, size: tuple[float, float, float], module: str, make: Callable[[], Shape]) -> Shape:
    """The shape of a maker that stands in ``module``. Only our own are kept: of others the code is not known."""
    if not (module.startswith(OURS) and making_code()):
        return make()
    return _shape(kept("shape", [making_code(), name, *size], lambda: _record(make())))


def kept_array(kind: str, parameters: list[Any], module: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """An array that is made of the parameters alone, by code that stands in ``module``."""
    if not (module.startswith(OURS) and making_code()):
        return make()
    return kept(kind, [making_code(), *parameters], lambda: KeptArrays({}, {"": make()})).arrays[""]


def kept_finding(kind: str, shape: Shape, parameters: list[Any], find: Callable[[], Any]) -> Any:
    """What the catalogue's own code finds out about a shape, wherever that comes from: something that JSON can say."""
    if not making_code():
        return find()
    return kept(kind, [making_code(), _content(shape), *parameters], lambda: KeptArrays({"found": find()}, {})).facts["found"]


@functools.lru_cache(maxsize=1024)
def _content(shape: Shape) -> str:
    """A digest of all that a shape is, but for its name."""
    facts, arrays = _record(shape)
    digest = hashlib.sha256(json.dumps({**facts, "name": ""}).encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _record(shape: Shape) -> KeptArrays:
    mesh = shape.mesh
    arrays: dict[str, NDArray[Any]] = {"vertices": mesh.vertices, "normals": mesh.normals, "uv": mesh.uv, "faces": mesh.faces}
    pieces: list[Any] = []
    for i, piece in enumerate(shape.pieces):
        pieces.append((piece.kind, piece.size, piece.position, piece.rotation))
        if piece.points is not None:
            arrays[f"points {i}"] = piece.points
    facts = {
        "name": shape.name,
        "pieces": pieces,
        "symmetry": shape.symmetry,
        "density": shape.density,
        "mass": shape.mass,
        "cavity": shape.cavity,
    }
    return KeptArrays(facts, arrays)


def _shape(record: KeptArrays) -> Shape:
    facts, arrays = record
    mesh = Mesh(arrays["vertices"], arrays["normals"], arrays["uv"], arrays["faces"])
    pieces = [
        Piece(kind, tuple(size), tuple(position), tuple(rotation), arrays.get(f"points {i}"))
        for i, (kind, size, position, rotation) in enumerate(facts["pieces"])
    ]
    hollow = facts["cavity"]
    cavity = None if hollow is None else (tuple(hollow[0]), tuple(hollow[1]))
    return Shape(facts["name"], mesh, tuple(pieces), facts["symmetry"], facts["density"], facts["mass"], cavity)
