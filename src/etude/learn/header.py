"""What a checkpoint says of itself, read without its weights."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from pathlib import Path
from typing import Any

from etude.names import EtudeError

FORMAT = "etude-learned-1"
NAME = "model.safetensors"


def checkpoint_file(path: Path) -> Path:
    """The file of a checkpoint, given as itself or as a run's folder."""
    return path / NAME if path.is_dir() else path


def checkpoint_bytes(path: Path) -> bytes:
    """A file, whole."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise EtudeError(f"the checkpoint {path} cannot be read: {error.strerror or error}") from None


def metadata_in(data: bytes, path: Path) -> dict[str, str]:
    """What is kept beside the weights, if this is a checkpoint of ours."""
    try:
        metadata: dict[str, str] = _header(data).get("__metadata__", {})
    except (ValueError, AttributeError, struct.error) as error:
        raise EtudeError(f"{path} is no checkpoint or a damaged one: {str(error)[:120]}") from None
    if metadata.get("format") != FORMAT:
        raise EtudeError(f"{path} holds tensors, but is no checkpoint of etude's (format {metadata.get('format')!r}, expected {FORMAT!r})")
    return metadata


def numbers_in(data: bytes) -> int:
    """How many numbers a checkpoint's tensors hold."""
    return sum(math.prod(one["shape"]) for name, one in _header(data).items() if name != "__metadata__")


def _header(data: bytes) -> dict[str, Any]:
    (size,) = struct.unpack("<Q", data[:8])
    found: dict[str, Any] = json.loads(data[8 : 8 + size])
    return found


def digest_of(data: bytes) -> str:
    """By which a checkpoint is known in records."""
    return hashlib.sha256(data).hexdigest()[:16]
