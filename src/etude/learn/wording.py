"""Words as numbers: in buckets of our own, learned from scratch, or as the pieces of a pretrained language model that lies in a folder.

A language is named by a text: ``""`` is our own, ``t5:FOLDER`` a T5 as the library ``transformers`` saves it. Nothing here loads weights.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from etude.names import EtudeError, parse_json, read_text
from etude.perturb.tokenizer import local_tokenizer, tokenizer_file

BUCKETS = 1024  # of each of two tables of words: with both, no two words of a suite are the same
DIGIT = 1 << 15  # the number of a piece is kept in two digits of 16 bits
T5 = "t5"
CONFIG, WEIGHTS = "config.json", "*.safetensors"
_ENDS = 1  # T5's piece that ends a text, unless its configuration names another
WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Wording:
    """How texts become tokens of two numbers: those of a text between pictures, and what every prompt ends with."""

    tokens: Callable[[str], Sequence[tuple[int, int]]]
    ending: tuple[tuple[int, int], ...] = ()


@functools.lru_cache(maxsize=65536)
def buckets(word: str) -> tuple[int, int]:
    """The rows of a word in two tables: no vocabulary has to be kept, and words never heard before have some too."""
    digest = hashlib.sha256(word.lower().encode()).digest()
    return int.from_bytes(digest[:4], "big") % BUCKETS, int.from_bytes(digest[4:8], "big") % BUCKETS


@functools.lru_cache(maxsize=4)
def wording_of(language: str) -> Wording:
    """The wording of a language; of a pretrained one it is that of its tokenizer."""
    if not language:
        return Wording(lambda text: [buckets(word) for word in WORDS.findall(text)])
    folder = language_folder(language)
    tokenizer, ends = local_tokenizer(tokenizer_file(folder)), configuration(folder).get("eos_token_id", _ENDS)
    return Wording(lambda text: [divmod(piece, DIGIT) for piece in tokenizer.encode(text.strip())], (divmod(ends, DIGIT),))


# ------------------------------------------------------------------------------------------------ a pretrained language in its folder


def language_folder(language: str) -> Path:
    """The folder of a pretrained language."""
    kind, sign, folder = language.partition(":")
    if kind != T5 or not sign or not folder:
        raise EtudeError(f"{language!r} is no language for a model; expected {T5}:FOLDER, or nothing for words learned from scratch")
    return Path(folder)


def placed_language(language: str) -> str:
    """The same language, named so that it is found from everywhere."""
    return f"{T5}:{language_folder(language).expanduser().absolute()}"


def configuration(folder: Path) -> dict[str, Any]:
    """What a folder says of the T5 in it."""
    if not folder.is_dir():
        raise EtudeError(f"there is no folder {str(folder)!r} with a pretrained T5; name one that is here, nothing is downloaded")
    found = parse_json(read_text(folder / CONFIG))
    kind = found.get("model_type") if isinstance(found, dict) else None
    if kind != T5:
        raise EtudeError(f"{folder / CONFIG} is of a model of type {kind!r}; expected {T5!r}")
    return dict(found)


def language_digest(language: str) -> str:
    """By which a recipe knows a pretrained language again: configuration, tokenizer and weights."""
    folder = language_folder(language)
    configuration(folder)
    weights = sorted(folder.glob(WEIGHTS))
    if not weights:
        raise EtudeError(f"{folder} holds no weights as {WEIGHTS}, and no others are read; save them with save_pretrained of transformers")
    return _digest(
        tuple((file, file.stat().st_size, file.stat().st_mtime_ns) for file in (folder / CONFIG, tokenizer_file(folder), *weights))
    )


@functools.lru_cache(maxsize=8)
def _digest(files: tuple[tuple[Path, int, int], ...]) -> str:
    """Weights take a second to read for each gigabyte, and several ask for the digest; sizes and times say whether they are the same."""
    digest = hashlib.sha256()
    for path, _, _ in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def refuse_other(language: str, digest: str) -> None:
    """Raise if what lies in the folder of a language is not what has this digest."""
    found = language_digest(language)
    if found != digest:
        folder = language_folder(language)
        raise EtudeError(f"{folder} holds another pretrained T5 than the one that was learned with (digest {found}, expected {digest})")
