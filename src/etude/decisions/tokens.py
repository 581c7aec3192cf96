"""The words of an instruction, one after the other, with their places."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from etude.decisions.templates import RESERVED, TOKEN
from etude.names import EtudeError

_NEAR = 24  # characters of the text that an error shows


class Token(NamedTuple):
    """A word, a name in quotes, or a sign; ``start`` is the character at which it begins, from 0."""

    text: str
    start: int
    kind: str = "word"

    @property
    def key(self) -> str:
        """What it is compared by, where words have a meaning."""
        return "" if self.kind == "quoted" else self.text.casefold()

    @property
    def is_name(self) -> bool:
        """Can it be part of the name of a property or a value?"""
        return self.kind == "quoted" or (self.kind == "word" and self.key not in RESERVED)

    @property
    def is_number(self) -> bool:
        """Is it a whole number, and not a long one?"""
        return self.kind == "word" and re.fullmatch("[0-9]{1,6}", self.text) is not None


class TokenReader:
    """A text that is read from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.all: list[Token] = []
        end = len(text.rstrip())
        at = 0
        while at < end:
            match = TOKEN.match(text, at)
            if match is None:
                raise self.wrong("a quotation mark that is closed again", Token("", len(text) - len(text[at:].lstrip())))
            kind = str(match.lastgroup)
            self.all.append(Token(_unquoted(match[kind]) if kind == "quoted" else match[kind], match.start(kind), kind))
            at = match.end()
        self._next = 0

    @property
    def done(self) -> bool:
        """Is there nothing left?"""
        return self._next >= len(self.all)

    def peek(self, ahead: int = 0) -> Token:
        """A token that comes, or with a negative number came; one without text where there is none."""
        at = self._next + ahead
        return self.all[at] if 0 <= at < len(self.all) else Token("", len(self._text), "end")

    def take(self) -> Token:
        """The next token."""
        token = self.peek()
        self._next += 1
        return token

    def at(self, *keys: str) -> bool:
        """Are these the next words?"""
        return all(self.peek(k).key == key for k, key in enumerate(keys))

    def accept(self, *keys: str) -> bool:
        """Take these words if they come next."""
        found = self.at(*keys)
        self._next += len(keys) * found
        return found

    def expect(self, *keys: str) -> None:
        """Take these words, which must come next."""
        for key in keys:
            if not self.accept(key):
                raise self.wrong(repr(key))

    def number(self, what: str) -> int:
        """Take a whole number."""
        if not self.peek().is_number:
            raise self.wrong(what)
        return int(self.take().text)

    def wrong(self, expected: str, at: Token | None = None) -> EtudeError:
        """The error for a text in which something else was expected at a token, by default the next one."""
        start = (self.peek() if at is None else at).start
        near = self._text[start : start + _NEAR]
        where = f"at character {start + 1} ({near!r})" if near else "at its end"
        return EtudeError(f"the instruction cannot be read {where}; expected {expected}")


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:  # an escape that JSON does not know
        return text[1:-1]
