"""Draws paraphrases, and checks that they are written as they should be."""

from __future__ import annotations

import re

from etude.names import EpisodeName, rng
from etude.perturb.paraphrase import paraphrased
from etude.prompts.instruction import Instruction

DRAWS = 120
PHRASINGS = 20  # different ones among so many draws, at least


def phrasings(instruction: Instruction, name: str, count: int = DRAWS) -> list[Instruction]:
    """Paraphrases of one instruction, from as many streams."""
    parsed = EpisodeName.parse(name)
    return [paraphrased(instruction, parsed, rng(f"reading {k}", "test")) for k in range(count)]


def well_written(text: str) -> None:
    """Full stops, blanks and capitals where they belong, and no word twice."""
    assert text.endswith("."), text
    assert not re.search(r"  | [.,:]|\.\.|\b(\w+) \1\b(?<!that that)", text), text
    for sentence in re.split(r"(?<=[.!?]) ", text):
        assert re.match(r'"?[A-Z{]', sentence), text
