"""Words as numbers: in buckets of our own, learned from scratch, or as the pieces of a pretrained language model that lies in a folder.

A language is named by a text: ``""`` is our own, ``t5:FOLDER``, ``opt:FOLDER`` or ``llama:FOLDER`` one in a folder
(:mod:`etude.learn.folders`). Nothing here loads weights.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from etude.learn.folders import LANGUAGES, T5, configuration, parted
from etude.perturb.tokenizer import local_tokenizer, tokenizer_file

BUCKETS = 1024  # of each of two tables of words: with both, no two words of a suite are the same
DIGIT = 1 << 15  # the number of a piece is kept in two digits of 16 bits
_ENDS, _BEGINS = 1, 2  # the piece that ends a T5's text, or begins that of the others, unless a configuration names another
WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Wording:
    """How texts become tokens of two numbers: those of a text between pictures, and what every prompt begins and ends with."""

    tokens: Callable[[str], Sequence[tuple[int, int]]]
    beginning: tuple[tuple[int, int], ...] = ()
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
    kind, folder = parted(language, LANGUAGES)
    tokenizer, told = local_tokenizer(tokenizer_file(folder)), configuration(kind, folder)

    def tokens(text: str) -> list[tuple[int, int]]:
        # Those that are no T5 tell by a blank before a word that it begins there, and not in the middle of another.
        return [divmod(piece, DIGIT) for piece in tokenizer.encode(text.strip() if kind == T5 else text.rstrip())]

    if kind == T5:
        return Wording(tokens, ending=(divmod(told.get("eos_token_id", _ENDS), DIGIT),))
    return Wording(tokens, beginning=(divmod(told.get("bos_token_id", _BEGINS), DIGIT),))
