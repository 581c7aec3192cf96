"""Pretrained models in their folders, as the library ``transformers`` saves them: named KIND:FOLDER, and known again by a digest.

Nothing here loads weights, and nothing is downloaded.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from etude.names import EtudeError, parse_json, read_text
from etude.perturb.tokenizer import tokenizer_file

T5 = "t5"
DECODERS = ("opt", "llama")
LANGUAGES = (T5, *DECODERS)
VISIONS = ("vit",)
CONFIG, WEIGHTS = "config.json", "*.safetensors"
WHATS = {LANGUAGES: "language", VISIONS: "vision"}


def parted(name: str, kinds: Sequence[str]) -> tuple[str, Path]:
    """The kind of a pretrained model, and its folder."""
    kind, sign, folder = name.partition(":")
    if kind not in kinds or not sign or not folder:
        expected = " or ".join(f"{one}:FOLDER" for one in kinds)
        what = WHATS.get(tuple(kinds), "language")
        raise EtudeError(f"{name!r} is no {what} for this model; expected {expected}, or nothing for what is learned from scratch")
    return kind, Path(folder)


def placed(name: str, kinds: Sequence[str]) -> str:
    """The same model, named so that it is found from everywhere."""
    kind, folder = parted(name, kinds)
    return f"{kind}:{folder.expanduser().absolute()}"


def configuration(kind: str, folder: Path) -> dict[str, Any]:
    """What a folder says of the model in it."""
    if not folder.is_dir():
        raise EtudeError(f"there is no folder {str(folder)!r} with a pretrained {kind}; name one that is here, nothing is downloaded")
    found = parse_json(read_text(folder / CONFIG))
    known = found.get("model_type") if isinstance(found, dict) else None
    if known != kind:
        raise EtudeError(f"{folder / CONFIG} is of a model of type {known!r}; expected {kind!r}")
    return dict(found)


def folder_digest(name: str) -> str:
    """By which a recipe knows a pretrained model again: configuration, weights, and the tokenizer of a language."""
    kind, folder = parted(name, LANGUAGES + VISIONS)
    configuration(kind, folder)
    weights = sorted(folder.glob(WEIGHTS))
    if not weights:
        raise EtudeError(f"{folder} holds no weights as {WEIGHTS}, and no others are read; save them with save_pretrained of transformers")
    words = (tokenizer_file(folder),) if kind in LANGUAGES else ()
    return _digest(tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in (folder / CONFIG, *words, *weights)))


@functools.lru_cache(maxsize=8)
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    """Weights take a second to read for each gigabyte, and several ask for the digest; sizes and times say whether they are the same."""
    digest = hashlib.sha256()
    for path, _, _ in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def refuse_other(name: str, digest: str) -> None:
    """Raise if what lies in the folder of a model is not what has this digest."""
    found = folder_digest(name)
    if found != digest:
        kind, folder = parted(name, LANGUAGES + VISIONS)
        raise EtudeError(f"{folder} holds another pretrained {kind} than the one that was learned with (digest {found}, expected {digest})")
