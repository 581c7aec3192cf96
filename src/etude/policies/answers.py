"""Reads a language model's answer as one of a list of sub-tasks.

Several readers, because what counts as an answer differs between evaluations and their numbers are worth reporting: :func:`strict` wants
the asked form and the very words, :func:`plain` the very words in any form, :func:`lenient` also takes what a person would understand
without doubt. None of them guesses.
"""

from __future__ import annotations

import itertools
import json
import re
import string
from collections.abc import Sequence
from typing import NamedTuple

_ENDS = string.punctuation + string.whitespace + "“”‘’«»…–—"  # what may stand around a sentence
_ARTICLES = ("a", "an", "the")
_TAG = r"sub[ _-]?task"

# Elements without elements in them, one of which is <sub_task>.
_OTHER = r"(?:<(?!sub_task>)(?P<{name}>\w+)>[^<]*</(?P={name})>\s*)*"
_XML = re.compile(rf"\s*{_OTHER.format(name='before')}<sub_task>(?P<said>[^<]*)</sub_task>\s*{_OTHER.format(name='after')}")

_TAGGED = re.compile(rf"<\s*{_TAG}\s*>(.*?)(?=<\s*/?\s*{_TAG}\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_KEYED = re.compile(rf"[\"']{_TAG}[\"']\s*:\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)')", re.DOTALL | re.IGNORECASE)

# Models that think aloud end a thought by its closing tag; some servers cut the opening one off. A thought is not the answer.
_THOUGHT = re.compile(rf"<(think|thinking|reasoning)>.*?(?:</\1>|(?=<\s*{_TAG}\s*>)|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)

_TOKEN = re.compile(r"-?\d+\.\d+|[^\W_]+")  # coordinates with their sign; words and whole numbers


def normalised(text: str) -> str:
    """The text in small letters, with single spaces, without punctuation at its ends and without braces around names of things."""
    return " ".join(text.casefold().replace("{", "").replace("}", "").split()).strip(_ENDS)


def strict(answer: str, vocabulary: Sequence[str]) -> str | None:
    """The entry the answer is: XML with one ``<sub_task>``, a JSON object with ``"sub_task"``, or the bare text; equal once normalised."""
    said = _formatted(answer)
    return _equal(answer if said is None else said, vocabulary)


def lenient(answer: str, vocabulary: Sequence[str]) -> str | None:
    """The one entry the answer speaks of, or None where there is none or a doubt.

    A tag or a JSON field counts before everything around it, and the last one before earlier ones. Articles, markdown, what follows
    "without" and the numbers of things may be missing as long as one entry fits; a number that is said must be right.
    """
    found = strict(answer, vocabulary)
    if found is not None:
        return found
    said = given(answer)
    return _equal(said, vocabulary) or _contained(said, vocabulary)


def plain(answer: str, vocabulary: Sequence[str]) -> str | None:
    """The entry that equals the sub-task :func:`given` in the answer once both are normalised."""
    return _equal(given(answer), vocabulary)


def given(answer: str) -> str:
    """What the answer gives as the sub-task, letter for letter: what its tag or field holds, or all of it but thoughts."""
    said = _formatted(answer)
    return _spoken(_THOUGHT_ENDS.split(_THOUGHT.sub(" ", answer))[-1]) if said is None else said


def _equal(text: str, vocabulary: Sequence[str]) -> str | None:
    wanted = normalised(text)
    found = {entry for entry in vocabulary if normalised(entry) == wanted}
    return found.pop() if wanted and len(found) == 1 else None


def _formatted(answer: str) -> str | None:
    """What stands in the tag or field of an answer that is XML or JSON as a whole."""
    match = _XML.fullmatch(answer)
    if match is not None:
        return match["said"]
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    said = data.get("sub_task") if isinstance(data, dict) else None
    return said if isinstance(said, str) else None


def _spoken(text: str) -> str:
    """What the last tag or JSON field with words in it holds; the whole text where there is none."""
    found = [(m.start(), m[1]) for m in _TAGGED.finditer(text)]
    found += [(m.start(), _unescaped(m[2] if m[1] is None else m[1])) for m in _KEYED.finditer(text)]
    worded = [said for _, said in sorted(found) if _TOKEN.search(said)]
    return worded[-1] if worded else text


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


# ------------------------------------------------------------------------------------------------ entries within sentences


class _SubtaskMention(NamedTuple):
    """Tokens ``start`` to ``end`` of an answer read as an entry, of which ``missing`` parts were not said."""

    entry: str
    start: int
    end: int
    missing: int


def _contained(text: str, vocabulary: Sequence[str]) -> str | None:
    tokens = _tokens(text)
    mentions = [m for entry in dict.fromkeys(vocabulary) for m in _mentions(entry, tokens)]
    mentions.sort(key=lambda m: (m.start, -m.end, m.missing))
    found, reached = set(), 0
    for _, group in itertools.groupby(mentions, key=lambda m: m.start):
        best, *rest = group
        if best.end > reached:  # else all of these are words within a longer mention
            found |= {best.entry, *(m.entry for m in rest if m[2:] == best[2:])}
            reached = best.end
    return found.pop() if len(found) == 1 else None


def _mentions(entry: str, tokens: list[str]) -> list[_SubtaskMention]:
    words = _tokens(entry)
    cut = words.index("without") if "without" in words[1:] else len(words)
    body, tail = words[:cut], words[cut:]
    if all(map(_is_number, body)):  # nothing that could be recognised
        return []
    found = []
    for start in range(len(tokens)):
        match = _follow(body, tokens, start)
        if match is None:
            continue
        end, missing = match
        if tail and tokens[end : end + len(tail)] == tail:
            end += len(tail)
        elif tail:
            missing += 1
        found.append(_SubtaskMention(entry, start, end, missing))
    return found


def _follow(body: list[str], tokens: list[str], start: int) -> tuple[int, int] | None:
    """Where the words of an entry end that are said from ``start`` on, and how many numbers of things were left out."""
    at, missing, silent = start, 0, False
    for i, word in enumerate(body):
        silent = False
        if at < len(tokens) and tokens[at] == word:
            at += 1
        elif i > 0 and _is_number(word) and body[i + 1 : i + 2] not in (["degree"], ["degrees"]):
            silent, missing = True, missing + 1
        else:
            return None
    other = silent and at < len(tokens) and _is_number(tokens[at])  # "mug 5" is not "mug 3" with its number left out
    return None if other else (at, missing)


def _tokens(text: str) -> list[str]:
    """The words of a text without articles; the A in "letter A" is none."""
    found: list[str] = []
    for token in _TOKEN.findall(text.casefold().replace("−", "-")):
        if token not in _ARTICLES or found[-1:] == ["letter"]:
            found.append(token)
    return found


def _is_number(token: str) -> bool:
    return token.isdecimal()
