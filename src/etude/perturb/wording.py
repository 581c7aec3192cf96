"""Small things about words that several perturbations of instructions need."""

from __future__ import annotations

import re
from collections.abc import Sequence

from etude.prompts.instruction import Instruction, InstructionPart, Words

PICTURE = r"⟦\d+⟧"
"""A picture in a marked text, as a pattern."""

_MARK = re.compile(r"⟦(\d+)⟧")
_ARTICLE = re.compile(r"(?:the|an?|this) (?=\S)", re.IGNORECASE)
_GIVEN = re.compile(r"\b[Tt]he (?=⟦(\d+)⟧)")
_SENTENCE = re.compile(r'(?:^|(?<=[.!?] ))("?)([a-z])')


def merged(parts: Sequence[InstructionPart]) -> tuple[InstructionPart, ...]:
    """The parts with words that follow on words made one, and empty ones left out."""
    found: list[InstructionPart] = []
    for part in parts:
        if isinstance(part, Words) and found and isinstance(found[-1], Words):
            found[-1] = Words(found[-1].words + part.words)
        elif not isinstance(part, Words) or part.words:
            found.append(part)
    return tuple(found)


def marked(instruction: Instruction) -> str:
    """The instruction as one string, in which ``⟦k⟧`` is its k-th picture: words of instructions have no such brackets."""
    return instruction.template("⟦{k}⟧")


def unmarked(text: str, pictures: Sequence[InstructionPart]) -> Instruction:
    """The inverse of :func:`marked`."""
    pieces = _MARK.split(text)  # words and numbers of pictures in turn
    return Instruction(merged([Words(p) if i % 2 == 0 else pictures[int(p)] for i, p in enumerate(pieces)]))


def capitalised(text: str) -> str:
    """The text with a capital at the start of every sentence, and no letter changed anywhere else."""
    return _SENTENCE.sub(lambda match: match[1] + match[2].upper(), text)


def article_of(words: str) -> str:
    """The article that the words of a picture begin with, and the blank after it; empty if they have none."""
    match = _ARTICLE.match(words)
    return match[0] if match else ""


def once(text: str, pictures: Sequence[InstructionPart]) -> str:
    """A marked text without the articles that the words of its pictures have themselves."""
    return _GIVEN.sub(lambda match: "" if article_of(pictures[int(match[1])].words) else match[0], text)
