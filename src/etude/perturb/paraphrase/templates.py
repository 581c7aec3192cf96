"""Meta-templates: sentences with alternatives.

``[put|place] the {thing} into the [bowl|]`` has four readings; alternatives may hold others, and ``<name>`` stands for alternatives that
many sentences share. ``{thing}`` is filled in later. Sentences are written without capitals, which are set at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from etude.names import Stream

_SHARED = re.compile(r"<(\w+)>")
_SLOT = re.compile(r"\{([a-z]\w*)\}")
Row = tuple["str | WordChoice", ...]


@dataclass(frozen=True)
class WordChoice:
    """One of several."""

    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Template:
    """A sentence with alternatives, taken apart."""

    row: Row

    def draw(self, stream: Stream) -> str:
        """One reading; every alternative is as likely as those beside it."""
        return _drawn(self.row, stream)


def _drawn(row: Row, stream: Stream) -> str:
    return "".join(piece if isinstance(piece, str) else _drawn(stream.choice(piece.rows), stream) for piece in row)


def template(text: str, shared: Mapping[str, str] | None = None) -> Template:
    """Take a sentence apart; ``shared`` are the alternatives that ``<name>`` stands for."""
    while shared and _SHARED.search(text):
        text = _SHARED.sub(lambda match: f"[{shared[match[1]]}]", text)
    row, end = _parsed(text, 0)
    if end != len(text):
        raise ValueError(f"a ] too many in {text!r}")
    return Template(row)


def _parsed(text: str, start: int) -> tuple[Row, int]:
    """The row that begins at ``start``, and where it ends: at "|", at "]" or with the text."""
    row: list[str | WordChoice] = []
    while start < len(text) and text[start] not in "|]":
        if text[start] == "[":
            rows = []
            while text[start] != "]":
                one, start = _parsed(text, start + 1)
                rows.append(one)
                if start == len(text):
                    raise ValueError(f"a ] is missing in {text!r}")
            row.append(WordChoice(tuple(rows)))
            start += 1
        else:
            end = next((k for k in range(start, len(text)) if text[k] in "[|]"), len(text))
            row.append(text[start:end])
            start = end
    return tuple(row), start


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with every ``{name}`` replaced by its value."""
    return _SLOT.sub(lambda match: values[match[1]], text)


@dataclass(frozen=True)
class Form:
    """The sentence of a task: how it is taken apart, what else is made of its pieces, and what it may become."""

    pattern: re.Pattern[str]
    templates: tuple[Template, ...]
    more: Callable[[Mapping[str, str]], dict[str, str]] = lambda found: {}

    @classmethod
    def maker(cls, shared: Mapping[str, str]) -> Callable[..., Form]:
        """A function of a pattern and templates, which may all use the ``shared`` choices by their names."""
        return lambda pattern, *templates: cls(re.compile(pattern), tuple(template(text, shared) for text in templates))

    def reworded(self, text: str, stream: Stream) -> str | None:
        """The sentence in other words, without capitals; None if it is not of this form."""
        match = self.pattern.fullmatch(text)
        if match is None:
            return None
        values = match.groupdict(default="")
        return filled(stream.choice(self.templates).draw(stream), values | self.more(values))
