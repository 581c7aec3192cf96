"""A language model's answer read as one of those it may choose from.

Two readings, because what counts as an answer differs between evaluations and both numbers are worth reporting. Neither of them guesses.
"""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_ENDS = string.punctuation + string.whitespace + "“”‘’«»…–—"  # what may stand around an answer
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # with its apostrophes

# Models that think aloud end a thought by its closing tag; some servers cut the opening one off. A thought is not the answer.
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)

_TAGGED = re.compile(r"<\s*answer\s*>(.*?)(?=<[\s/]*answer\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_KEYED = re.compile(r"[\"']answer[\"']\s*:\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\w+)", re.DOTALL | re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")

_NEGATIONS = frozenset({"not", "never", "neither", "nor", "cannot", "without"})
_FILLERS = frozenset({"a", "an", "the", "at", "in", "on", "be", "equal", "equals", "to", "really", "actually", "necessarily", "simply"})
_TRUTHS = {"yes": "true", "no": "false"}
_REASONS = frozenset({"because", "since", "reason", "explanation"})


def read_answer(text: str, choices: Sequence[str]) -> tuple[str | None, str | None]:
    """What a text answers, read strictly and leniently; None where it answers nothing, or not clearly.

    Strict: the text is one of the choices, but for capitals and what stands around it. Lenient: the choice in the last tag, JSON field or
    box; the one after the last "answer"; the one before "because"; or the last one that is said. A choice that is said not to be it, or
    one of two with "or" between them, is no answer. Where true and false may be chosen and none is said, "yes" and "no" stand for them at
    the beginning, at the end, or after "answer".
    """
    strict = _equal(text, choices)
    return strict, strict if strict is not None else _lenient(text, choices)


def normalised(text: str) -> str:
    """The text in small letters, with single spaces, without punctuation at its ends."""
    return " ".join(text.casefold().split()).strip(_ENDS)


def _equal(text: str, choices: Sequence[str]) -> str | None:
    wanted = normalised(text)
    found = {choice for choice in choices if normalised(choice) == wanted}
    return found.pop() if wanted and len(found) == 1 else None


def _lenient(text: str, choices: Sequence[str]) -> str | None:
    spoken = _THOUGHT_ENDS.split(_THOUGHT.sub(" ", text))[-1]
    marked = [(m.start(), m[1]) for pattern in (_TAGGED, _KEYED, _BOXED) for m in pattern.finditer(spoken)]
    worded = [said for _, said in sorted(marked) if _WORD.search(said)]
    said = worded[-1] if worded else spoken
    return _equal(said, choices) or _said(said, choices) or _agreed(said, choices)


def _agreed(text: str, choices: Sequence[str]) -> str | None:
    """True for "yes", false for "no", where either is the answer and not a word like any other."""
    if not {"true", "false"} <= set(choices) or set(_TRUTHS) & {normalised(choice) for choice in choices}:
        return None
    words = _Sentence(text).words
    places = {0, len(words) - 1, *(k for k in range(1, len(words)) if _led(words[max(0, k - 4) : k]))}
    found = {_TRUTHS[words[k]] for k in places if words and words[k] in _TRUTHS}
    return found.pop() if len(found) == 1 else None


def _led(words: list[str]) -> bool:
    """Do these words lead to an answer?"""
    lead = [w for w in words if w not in _FILLERS]
    return lead[-1:] == ["answer"] or lead[-2:] in (["answer", "is"], ["answer", "would"])


# ------------------------------------------------------------------------------------------------ choices within sentences


class _Mention(NamedTuple):
    """Words ``start`` to ``end`` of a text are a choice."""

    start: int
    end: int
    choice: str


class _Sentence:
    """A text as words; ``between`` gives what stands between two of them."""

    def __init__(self, text: str) -> None:
        self._text = _folded(text)
        self._matches = list(_WORD.finditer(self._text))
        self.words = [m[0] for m in self._matches]

    def between(self, one: _Mention, other: _Mention) -> str:
        return self._text[self._matches[one.end - 1].end() : self._matches[other.start].start()].strip()


def _said(text: str, choices: Sequence[str]) -> str | None:
    sentence = _Sentence(text)
    mentions = _without_alternatives(list(_mentions(sentence.words, choices)), sentence)
    return _meant(_answering(mentions, sentence.words), mentions, sentence.words) if mentions else None


def _folded(text: str) -> str:
    return text.casefold().replace("’", "'")


def _mentions(words: list[str], choices: Sequence[str]) -> Iterator[_Mention]:
    """Every choice that is said, the longest where several begin at one word."""
    table: dict[tuple[str, ...], set[str]] = {}
    for choice in choices:
        table.setdefault(tuple(_WORD.findall(_folded(choice))), set()).add(choice)
    known = {key: found.pop() for key, found in table.items() if key and len(found) == 1}
    lengths = sorted({len(key) for key in known}, reverse=True)
    at = 0
    while at < len(words):
        length = next((n for n in lengths if tuple(words[at : at + n]) in known), 0)
        if length:
            yield _Mention(at, at + length, known[tuple(words[at : at + length])])
        at += max(length, 1)


def _without_alternatives(mentions: list[_Mention], sentence: _Sentence) -> list[_Mention]:
    """All but those that are offered beside others: "true or false" says neither."""
    offered = set()
    for one, other in itertools.pairwise(mentions):
        if one.choice != other.choice and sentence.between(one, other) in ("or", "/", "|"):
            offered |= {one, other}
    return [m for m in mentions if m not in offered]


def _answering(mentions: Sequence[_Mention], words: list[str]) -> int:
    """Which mention is the answer, if any is: the last one right after "answer", the first one if reasons follow it, or the last."""
    for k in reversed(range(len(mentions))):
        if _led(words[max(0, mentions[k].start - 4) : mentions[k].start]):
            return k
    first = mentions[0]
    return 0 if first.start == 0 and _REASONS & set(words[first.end : first.end + 3]) else len(mentions) - 1


def _meant(at: int, mentions: Sequence[_Mention], words: list[str]) -> str | None:
    """The choice, unless it is said that it is not the one; "false, not true" says false."""
    back = mentions[at].start - 1
    while back >= 0 and words[back] in _FILLERS:
        back -= 1
    if back < 0 or not (words[back] in _NEGATIONS or words[back].endswith("n't")):
        return mentions[at].choice
    contrast = at > 0 and mentions[at - 1].end == back and words[back] == "not"
    return _meant(at - 1, mentions, words) if contrast else None
