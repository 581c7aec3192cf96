"""The words of operators as patterns, from which they are both written and read: ``"neither {left} nor {right}"``.

A field in braces stands for an input, which gets brackets where its operator asks for them and none where the pattern has them already
("not ({of})"); for several inputs, in brackets, with commas; for a number; for a name out of a few; or, if it is called ``property``, for
the name of a property.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass

from etude.names import EtudeError

EXACT, FLUENT, ORIGINAL = "exact", "fluent", "original"
QUESTION = "fluent_question"
COMMAND = "command"
ANSWERS = ("true", "false")  # are told as they are, even where an operator has them among its words
TOKEN = re.compile(r'\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<sign>[(),.;:?])|(?P<word>[^\s(),.;:?"]+))')

# A name of a property or value that holds one of these is put in quotes: they are how the end of a name is found. The words of operators
# are added to them.
RESERVED = {
    "a", "above", "an", "and", "answer", "as", "at", "below", "both", "but", "different", "do", "either", "else", "equal", "equals",
    "exists", "from", "if", "in", "is", "it", "not", "number", "object", "objects", "of", "or", "otherwise", "same", "task", "that", "the",
    "then", "there", "to", "what", "with", "xor",
}  # fmt: skip
_CLAIMED: dict[tuple[str, bool, tuple[str, ...]], str] = {}  # how a pattern begins → whose it is


@dataclass(frozen=True)
class TextPiece:
    """A part of a pattern: the words ``text``, or the field ``name``; ``bare`` says that it has brackets around it already."""

    text: str = ""
    name: str = ""
    bare: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The words, one by one, as they are compared when a text is read."""
        return tuple(keys(self.text))


def keys(text: str) -> list[str]:
    """The words and signs of a text, in small letters."""
    return [match[str(match.lastgroup)].casefold() for match in TOKEN.finditer(text)]


@functools.cache
def pieces(pattern: str) -> tuple[TextPiece, ...]:
    """A pattern in its parts."""
    found: list[TextPiece] = []
    parts = list(string.Formatter().parse(pattern))
    for k, (text, name, _, _) in enumerate(parts):
        if text:
            found.append(TextPiece(text))
        if name:
            closes = k + 1 < len(parts) and parts[k + 1][0].startswith(")")
            found.append(TextPiece(name=name, bare=text.endswith("(") and closes))
    return tuple(found)


def free(owner: str, patterns: Iterable[tuple[str, str]]) -> None:
    """Refuse patterns, each with its grammar, that begin like one of another's: nobody could tell which is read."""
    for grammar, pattern in patterns:
        taken = _CLAIMED.get(_beginning(grammar, pattern), owner)
        if taken != owner:
            raise EtudeError(f"{owner}: {taken} has {grammar} words that begin like {pattern!r} already; choose others")


def claim(owner: str, patterns: Iterable[tuple[str, str]]) -> None:
    """From now on these patterns are the owner's, and their words are not part of names; those of commands may be: no name stands where a
    command can end, and what questions are called must not depend on which commands there are."""
    for grammar, pattern in patterns:
        _CLAIMED[_beginning(grammar, pattern)] = owner
        if grammar != COMMAND:
            RESERVED.update(key for piece in pieces(pattern) for key in piece.keys if key[0].isalpha() and key not in ANSWERS)


def _beginning(grammar: str, pattern: str) -> tuple[str, bool, tuple[str, ...]]:
    parts = pieces(pattern)
    return grammar, bool(parts[0].name), next((piece.keys for piece in parts if not piece.name), ())
