"""Faults of texts that can be told exactly: articles, plurals, sentence starts, doubled words, stray spaces, names for machines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# Words that sound otherwise than they are spelt.
_VOWEL = re.compile(r"(?:[aeiou]|hour|honest|heir)(?!ne\b)", re.IGNORECASE)
_CONSONANT = re.compile(r"(?:uni(?!n)|use|usual|u-shaped|euro|ewe|one\b|once\b)", re.IGNORECASE)
_LETTERS_SPOKEN = re.compile(r"[AEFHILMNORSX](?:-|\b(?!'))")
_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten"
_THINGS = "block|cube|object|thing|container|drawer|box|prism|cylinder|star|moon|ball|mug|area"
_COUNTED = re.compile(rf"\b(?:{_NUMBERS}) (?:[a-z]+ )?({_THINGS})\b")


def faults(text: str, names: Iterable[str] = ()) -> Iterator[str]:
    """What is wrong with a text, in words. ``names`` are those of the things it speaks of: with a number in them they are for machines."""
    for found in re.finditer(r"(?:(?<=[.!?] )|^|\b(?=a))([Aa]n?) ([A-Za-z][\w-]*)", text):
        article, word = found[1].lower(), found[2]
        if _begins_with_vowel(word) != (article == "an"):
            yield f"wrong article: {found[0]!r}"
    for found in re.finditer(r"\b([A-Za-z]+) \1\b", text):
        if found[1].lower() not in ("had", "that"):
            yield f"doubled word: {found[0]!r}"
    for found in _COUNTED.finditer(text):
        yield f"wrong plural: {found[0]!r}"
    if re.search(r"\bone [a-z]+ (?:blocks|cubes|objects|containers|drawers)\b", text):
        yield "wrong plural after 'one'"
    if re.search(r" {2}| [.,;:!?](?!\.)|[.,;!?][A-Za-z]", re.sub(r"\d[.,]\d", "", text)) or text != text.strip():
        yield "stray or missing space"
    starts = [s for s in re.split(r"(?<=[.!?])\s+", text) if s]
    upper = [s[0].isupper() or not s[0].isalpha() for s in starts]
    if not all(upper) and (any(upper) or len(starts) > 1):  # all small letters are a style, as in commands of one line
        yield f"a sentence starts with a small letter: {next(s for s, ok in zip(starts, upper, strict=True) if not ok)[:30]!r}"
    numbered = (name for name in names if name[-1].isdigit() and re.search(rf"\b{re.escape(name)}\b", text))
    internal = next(numbered, None) or re.search(r"[{}]|\b\w+_\w+\b", text)
    if internal is not None:
        yield f"a name for machines: {internal if isinstance(internal, str) else internal[0]!r}"


def _begins_with_vowel(word: str) -> bool:
    if len(word) == 1 or word[1] == "-":
        return bool(_LETTERS_SPOKEN.match(word.upper()))
    return bool(_VOWEL.match(word)) and not _CONSONANT.match(word)
