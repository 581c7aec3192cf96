"""Paraphrases of VLMbench ask for the same thing, of the same things, and what else changes instructions works on its sentences."""

from __future__ import annotations

import re

import pytest
from every import every
from phrasing import PHRASINGS, phrasings, well_written
from reading import PUT, first, placed

from etude.catalog.colours import SEEN, UNSEEN
from etude.library import episode, tasks
from etude.names import EtudeError
from etude.prompts.instruction import instruction
from etude.suites.vlmbench.lists import SPLITS
from etude.suites.vlmbench.rewording import FORMS

NAME = "vlmbench/pick_color@train#0"
TASKS = tuple(tasks("vlmbench"))
MOVES = ("Fully open", "Slightly open", "Fully close", "Slightly close")
SENTENCES = {
    "pick": (
        "Pick up the red object and place it into the blue container.",
        "Pick up the left object and place it into the left container.",
        "Pick up the letter of 't' and place it into the navy container.",
        "Pick up the smaller object and place it into the larger container.",
    ),
    "stack": (
        "Stack the red cross-shaped block and the lime cross-shaped block in sequence.",
        "Stack the front star and the rear triangular prism in sequence.",
        "Stack the moon and the letter of 't' in sequence.",
        "Stack the small cube and the large cube in sequence.",
    ),
    "drop": (
        "Drop the rose pencil into the gray container.",
        "Drop the right pencil into the front container.",
        "Drop the larger pencil into the smaller container.",
    ),
    "sorter": (
        "Put the red triangular prism through the hole of triangular prism shape.",
        "Put the rear star through the hole of star shape.",
        "Put the cube through the hole of cube shape.",
    ),
    "pour": (
        "Pour the water from the red mug to the blue mug.",
        "Pour the water from the left mug to the right mug.",
        "Pour the water from the smaller mug to the larger mug.",
    ),
    "wipe": (
        "Wipe the olive area with a sponge.",
        "Wipe the left area with a sponge.",
        "Wipe the star area with a sponge.",
        "Wipe the smaller area with a sponge.",
        "Wipe the horizontal area with a sponge.",
    ),
    "drawer": tuple(f"{how} the {level} drawer." for how in MOVES for level in ("top", "middle", "bottom")),
    "door": tuple(f"{how} the door." for how in MOVES),
}  # fmt: skip
"""What is said in each family of tasks (VLMbench 1.7)."""

ALL = [(family, sentence) for family, sentences in SENTENCES.items() for sentence in sentences]


def pair(sentence: str, form: str) -> tuple[str, str]:
    """The two things of an original sentence."""
    match = re.fullmatch(form, sentence)
    assert match
    return match[1], match[2]


def named(*things: str) -> str:
    """A pattern for any of the things."""
    return f"(?:{'|'.join(re.escape(t) for t in things)})"


def picked(sentence: str, text: str) -> object:
    what, where = pair(sentence, r"Pick up (.+) and place it into (.+)\.")
    text = text.replace(" and then ", " and ").replace(", then ", " and ")
    return placed(text, named(what, where)) == {"what": what.removeprefix("the "), "where": where.removeprefix("the ")}


def stacked(sentence: str, text: str) -> object:
    """Is it said that the second of the two is to be above the first?"""
    lower, upper = pair(sentence, r"Stack (.+) and (.+) in sequence\.")
    a_thing = named(lower, upper)
    match = first(
        text,
        rf"^(?:on|onto|on top of) (?P<lower>{a_thing}), (?:{PUT}|stack) (?P<upper>{a_thing})\.",
        rf"(?P<lower>{a_thing}) and (?P<upper>{a_thing}), the first (?:below|at the bottom) and the second (?:above|on top)",
        rf"with (?P<lower>{a_thing}) (?:below|at the bottom) and (?P<upper>{a_thing}) (?:above|on top)",
        rf"(?P<lower>{a_thing}) as the base of .* (?P<upper>{a_thing}) (?:on top|onto it)",
        rf"^from (?:the )?bottom (?:up|to top), .* (?P<lower>{a_thing}) and (?P<upper>{a_thing})\.",
        rf"(?P<lower>{a_thing}) and (?P<upper>{a_thing}) from (?:the )?bottom (?:up|to top)\.",
        rf"(?P<upper>{a_thing})(?: and \w+ it| ends up| \w+(?: to)? (?:go|be stacked)|) (?:on|onto|on top of) (?P<lower>{a_thing})\.",
    )  # fmt: skip
    return (match["lower"].lower(), match["upper"].lower()) == (lower, upper)


def dropped(sentence: str, text: str) -> object:
    what, where = pair(sentence, r"Drop (.+) into (.+)\.")
    a_thing = named(what, where)
    match = first(
        text,
        rf"^into (?P<where>{a_thing}), drop (?P<what>{a_thing})\.",
        rf"(?P<what>{a_thing}) (?:over|above) (?P<where>{a_thing}) and (?:drop it|let it \w+) in\.",
        rf"(?P<what>{a_thing}).* (?:into|inside|in) (?P<where>{a_thing})\.",
    )
    assert re.search(r"\b(?:drop|dropped|falls?)\b", text, re.IGNORECASE), text
    return (match["what"].lower(), match["where"].lower()) == (what, where)


def sorted_(sentence: str, text: str) -> object:
    what, hole = pair(sentence, r"Put (.+) through (the hole of .+ shape)\.")
    return len(re.findall(f"{what}\\b", text, re.IGNORECASE)) == 1 and bool(re.search(rf"\b(?:through|into) {hole}\b", text, re.IGNORECASE))


def poured(sentence: str, text: str) -> object:
    source, target = pair(sentence, r"Pour the water from (.+) to (.+)\.")
    a_thing = named(source, target)
    match = first(
        text,
        rf"^into (?P<target>{a_thing}), pour (?:the )?water from (?P<source>{a_thing})\.",
        rf"hold (?P<source>{a_thing}) (?:over|above) (?P<target>{a_thing}) and pour .*water in\.",
        rf"(?:from|out of|in|take|pick up|grab|lift|tip|tilt|use) (?P<source>{a_thing}).* (?:to|into) (?P<target>{a_thing})\.",
    )
    assert "water" in text.lower() and re.search(r"pour|flow|run", text, re.IGNORECASE), text
    return (match["source"].lower(), match["target"].lower()) == (source, target)


def wiped(sentence: str, text: str) -> object:
    area = sentence.removeprefix("Wipe ").removesuffix(" with a sponge.")
    said = r"\b(?:wipe|wiped|rub|go over)\b"
    others = re.sub(named(area, "the sponge"), "", text, flags=re.IGNORECASE)
    return len(re.findall(area, text, re.IGNORECASE)) == 1 and bool(re.search(said, text, re.IGNORECASE)) and " the " not in others


def moved(sentence: str, text: str) -> object:
    """Is the same opened or closed, by the same amount?"""
    amount, act, what = re.fullmatch(r"(Fully|Slightly) (open|close) (.+)\.", sentence).groups()
    plain = re.sub(r", not (?:\w+|all the way)\.$", ".", text).lower()
    amounts = {"Fully": r"fully|completely|entirely|all the way", "Slightly": r"slightly|a little|a bit|just a bit"}
    acts = {"open": r"\bopen(?:ed)?\b", "close": r"\b(?:closed?|shut)\b"}
    seen = [k for k, words in amounts.items() if re.search(words, plain)], [k for k, words in acts.items() if re.search(words, plain)]
    assert plain == text.lower() or amount == "Slightly", text
    return seen == ([amount], [act]) and plain.count(what) == 1


READERS = {
    "pick": picked, "stack": stacked, "drop": dropped, "sorter": sorted_, "pour": poured, "wipe": wiped, "drawer": moved, "door": moved,
}  # fmt: skip


@pytest.mark.parametrize(("family", "sentence"), ALL)
def test_every_sentence_has_twenty_phrasings_in_good_english_that_ask_for_the_same(family, sentence):
    found = [p.text for p in phrasings(instruction(sentence), NAME)]
    assert len(set(found)) >= PHRASINGS
    for text in found:
        assert text != sentence
        well_written(text)
        assert READERS[family](sentence, text), f"{sentence} -> {text}"


@every("task", TASKS)
def test_every_task_is_told_in_a_form_that_its_templates_know(task):
    """One episode of each split, each with another seed: seeds take the variations of a task in turn."""
    family = task.partition("_")[0]
    for seed, split in enumerate(SPLITS):
        name = f"vlmbench/{task}@{split}#{seed}"
        sentence = episode(name).instruction.text
        assert sum(form.pattern.fullmatch(sentence) is not None for form in FORMS.values()) == 1, sentence
        for text in (p.text for p in phrasings(instruction(sentence), name, 20)):
            assert READERS[family](sentence, text), f"{sentence} -> {text}"


@every("task", TASKS)
def test_steps_keep_their_order_and_their_things(task):
    name = f"vlmbench/{task}@train#1"
    whole = episode(f"{name}?prompt=1").instruction
    _, steps = whole.text.split(". ", 1)
    known = rf"\bthe (?:{'|'.join([*SEEN, *UNSEEN, 'top', 'middle', 'bottom'])}) [\w -]+"
    for text in (p.text for p in phrasings(whole, name, 20)):
        well_written(text)
        said = text.split(". ", 1)[1]
        assert [said.count(c) for c in ".;"] == [steps.count(c) for c in ".;"] and re.findall(known, said) == re.findall(known, steps), text


def test_a_paraphrased_episode_differs_in_its_words_alone():
    plain, other = episode(NAME), episode(f"{NAME}+paraphrase")
    assert other.instruction != plain.instruction and (other.scene, other.goal) == (plain.scene, plain.goal)
    assert episode(f"{NAME}+paraphrase") == other


def test_a_sentence_of_no_known_form_is_still_paraphrased():
    found = {p.text for p in phrasings(instruction("Juggle the red mug."), NAME, 200)}
    assert len(found) >= PHRASINGS and all("uggle the red mug." in text for text in found)


# ------------------------------------------------------------------------------------------------ what else changes instructions


@pytest.mark.parametrize("nonsense", ["gobbledygook_words", "gobbledygook_tokens"])
def test_nonsense_has_as_many_words_and_none_of_the_old(nonsense):
    plain, other = (episode(n).instruction.text.split() for n in (NAME, f"{NAME}+{nonsense}"))
    assert len(other) == len(plain) and not {w.lower() for w in other} & {w.lower() for w in plain}
    if nonsense == "gobbledygook_words":
        assert sorted(map(len, other)) == sorted(map(len, plain))


def test_without_words_nothing_is_left_of_an_instruction_in_words():
    assert episode(f"{NAME}+mask_language").instruction.parts == ()


@pytest.mark.parametrize("named_after_pictures", ["mask_visual", "descriptors"])
def test_what_needs_pictures_is_refused_in_one_line(named_after_pictures):
    with pytest.raises(
        EtudeError, match=rf"^{named_after_pictures}: the instruction of vlmbench/pick_color@train#0.* has no pictures"
    ) as caught:
        episode(f"{NAME}+{named_after_pictures}")
    assert "\n" not in str(caught.value)
