"""Paraphrases of HiMan-Bench: every sentence in twenty others that ask for the same, stages line by line."""

from __future__ import annotations

import re

import pytest
from every import every
from phrasing import DRAWS, PHRASINGS, phrasings, well_written

from etude.library import episode, tasks
from etude.suites.himan.rewording import FORMS

TASKS = tuple(tasks("himan"))
THINGS = r"\b(?:top|middle|bottom)\b|spam|sugar|jello|block|broom|rubbish|dirt|cupboard|table|dustpan|surface|\bother\b"


def things(text: str) -> set[str]:
    return set(re.findall(THINGS, text))


def drawers(text: str) -> list[str]:
    """Which drawers it speaks of, in their order, each once."""
    return list(dict.fromkeys(re.findall(r"\b(top|middle|bottom)\b drawer", text)))


@every("task", TASKS)
def test_every_instruction_has_twenty_phrasings_in_good_english_that_ask_for_the_same(task):
    for seed in range(3):
        name = f"himan/{task}@test#{seed}"
        told = episode(name).instruction
        found = [p.text for p in phrasings(told, name, DRAWS if seed == 0 else 20)]
        assert seed or len(set(found)) >= PHRASINGS
        for text in found:
            well_written(text)
            assert drawers(text) == drawers(told.text) and things(told.text) <= things(text.lower()), text
            assert things(text.lower()) <= things(told.text) | {"broom"}, text  # dirt is swept with it


@every("task", TASKS)
def test_every_line_of_an_instruction_has_one_form(task):
    for seed in range(6):
        for prompt in range(3):
            for line in episode(f"himan/{task}@test#{seed}?prompt={prompt}").instruction.text.split("\n"):
                assert sum(form.pattern.fullmatch(line) is not None for form in FORMS.values()) == 1, line


@pytest.mark.parametrize("prompt", [1, 2])
def test_stages_stay_in_their_order(prompt):
    name = f"himan/put_two_in_different@test#1?prompt={prompt}"
    told = episode(name).instruction
    lines = told.text.split("\n")
    for text in (p.text for p in phrasings(told, name, 10)):
        well_written(text)
        sentences = re.split(r"(?<=\.) ", text)
        assert [drawers(s) for s in sentences] == [drawers(line) for line in lines]


def test_two_verbs_are_never_taken_for_each_other():
    opened, closed = (
        {p.text.lower() for p in phrasings(episode(n).instruction, n)} for n in ("himan/open_drawer@test#0", "himan/close_drawer@test#0")
    )
    assert all("open" in text and "shut" not in text and "close" not in text for text in opened)
    assert all(("shut" in text or "close" in text) and "open" not in text for text in closed)
