"""Paraphrases say the same in other words: pictures, roles, numbers and novel words survive, in at least twenty phrasings of every task."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st
from phrasing import PHRASINGS, phrasings, well_written
from reading import READERS

from etude import library
from etude.library import episode, tasks
from etude.names import EpisodeName, EtudeError, rng
from etude.perturb.paraphrase import paraphrased
from etude.perturb.paraphrase.templates import template
from etude.perturb.wording import marked
from etude.prompts.instruction import Instruction, ObjectPicture, Words, instruction
from etude.suites.vima.rewording import FORMS

CLEVRSKILLS = tuple(tasks("clevrskills"))


def prompts(suite, task, seed):
    """Every prompt of an episode, with its name."""
    name = f"{suite}/{task}@{tasks(suite)[task].splits[0]}#{seed}"
    return [(name, told) for told in library.prompts(episode(name))]


# ------------------------------------------------------------------------------------------------ VIMA


@every("task", sorted(FORMS))
def test_every_task_of_vima_is_told_in_a_form_that_its_templates_know(task):
    for split in tasks("vima")[task].splits:
        for difficulty in ("default", "extremely_distracting"):
            instruction = episode(f"vima/{task}@{split}#3?difficulty={difficulty}").instruction
            assert FORMS[task].pattern.fullmatch(marked(instruction)), marked(instruction)


def test_every_task_of_vima_has_templates():
    assert set(FORMS) == set(tasks("vima")) == set(READERS)


@every("task", sorted(FORMS))
def test_a_reader_finds_the_same_roles_in_every_paraphrase(task):
    split = tasks("vima")[task].splits[0]
    for seed, difficulty in ((1, "default"), (2, "extreme"), (3, "extreme")):
        name = f"vima/{task}@{split}#{seed}?difficulty={difficulty}"
        original = episode(name).instruction
        meant = READERS[task](original.template(slots=True)) if task not in UNREADABLE else UNREADABLE[task](original.template(slots=True))
        for other in phrasings(original, name):
            text = other.template(slots=True)
            assert READERS[task](text) == meant, f"{original.template(slots=True)} -> {text}"
            assert Counter(other.pictures()) == Counter(original.pictures()), text
            assert re.findall(r"\d+", re.sub(r"\{\w+\}", "", text)) == re.findall(
                r"\d+", re.sub(r"\{\w+\}", "", original.template(slots=True))
            )


def _neighbour(text):
    return re.fullmatch(r"First put (\{\w+\}) into (\{\w+\}) then .* at its (\w+) into the same (\{\w+\})\.", text).groups()


UNREADABLE = {"manipulate_old_neighbor": _neighbour}
"""Originals without the articles that a paraphrase has, read to the letter."""


@every("task", sorted(FORMS))
def test_every_task_of_vima_has_twenty_phrasings_in_good_english(task):
    name = f"vima/{task}@{tasks('vima')[task].splits[0]}#5"
    original = episode(name).instruction
    found = phrasings(original, name)
    assert len({p.template() for p in found}) >= PHRASINGS
    for other in found:
        assert other.template() != original.template() and other.text != original.text
        well_written(other.template(slots=True))
        well_written(other.text)


def test_novel_words_keep_their_letters_and_twist_its_quotes():
    for task, words in (("novel_adj", r"\b\w+(?= than)"), ("novel_noun", r"(?<=is a )\w+"), ("twist", r'"\w+"')):
        for seed in range(3):
            name = f"vima/{task}@L1#{seed}?difficulty=extreme"
            original = episode(name).instruction
            novel = {word.lower() for word in re.findall(words, original.template())}
            assert novel
            for other in phrasings(original, name, 40):
                assert all(word in other.template().lower() for word in novel), other.template()
                assert not any(word.capitalize() in other.template() for word in novel if '"' not in word), other.template()


def test_a_sentence_that_templates_do_not_know_is_still_paraphrased():
    star = ObjectPicture("red star", "star", slot="dragged_obj_1")
    found = phrasings(instruction("Kindly juggle the ", star, " twice"), "vima/visual_manipulation@L1#0", 200)
    assert len({p.template() for p in found}) >= PHRASINGS
    assert all(p.pictures() == (star,) and "Kindly juggle the {image:0} twice." in p.template() for p in found)


# ------------------------------------------------------------------------------------------------ ClevrSkills


@every("task", CLEVRSKILLS)
def test_every_prompt_of_clevrskills_has_twenty_phrasings_with_its_pictures_in_order(task):
    for name, original in prompts("clevrskills", task, 4):
        found = phrasings(original, name)
        assert len({p.template() for p in found}) >= PHRASINGS
        for other in found:
            assert other.pictures() == original.pictures(), other.template()
            assert other.template().rstrip(".") != original.template()
            assert re.findall(r"\b\d+ degrees|[\w-]*clockwise", other.template()) == re.findall(
                r"\b\d+ degrees|[\w-]*clockwise", original.template()
            )
            well_written(other.template("{{picture}}"))
            well_written(other.text)


@pytest.mark.parametrize(
    ("task", "prompt", "reads"),
    [
        ("place", 0, r"\{0\} (?:on|onto|on top of) \{1\}"),
        ("simple_manipulation", 3, r"\{0\} and \w+ it (?:on|onto|on top of) \{1\}"),
        ("throw", 0, r"(?:throw|toss) \{0\} (?:to|at) \{1\}"),
        ("throw", 1, r"(?:hit|strike) \{0\} with \{1\}"),
        ("push", 0, r"(?:push|shove) \{0\} (?:towards?|in the direction of) \{1\}"),
        ("neighbour", 0, r"first \w+ \{0\} in(?:to|side)? \{1\} and then \w+ the \w+ that .* its \w+ in(?:to|side)? the same \{2\}"),
        ("novel_noun", 0, r"\{0\} is (\w+) and \{1\} is (\w+)\. .*\b\1 (?:on|onto|on top of) \2"),
        ("follow_order", 1, r"\{0\} (?:on|onto|on top of) \{1\}"),
        ("swap_push", 0, r"\{0\} and \{1\}.* by pushing|by pushing.*\{0\} and \{1\}"),
    ],
)  # fmt: skip
def test_what_goes_where_survives_in_clevrskills(task, prompt, reads):
    for seed in range(4):
        name, original = prompts("clevrskills", task, seed)[prompt]
        for other in phrasings(original, name, 60):
            assert re.search(reads, other.template("{{{k}}}"), re.IGNORECASE), other.template()


def test_objects_told_in_words_keep_their_words():
    name, original = prompts("clevrskills", "place", 4)[1]
    things = re.fullmatch(r"Put (the .+) on (the .+)", original.text).groups()
    for other in phrasings(original, name):
        assert other.text.index(things[0]) < other.text.index(things[1])


# ------------------------------------------------------------------------------------------------ any instruction

LETTERS = st.text(st.characters(categories=("L", "N", "P"), exclude_characters="⟦⟧"), min_size=1, max_size=8)


@given(st.lists(LETTERS, min_size=1, max_size=12), st.integers(0, 10**6))
def test_any_instruction_at_all_gets_other_words_and_loses_none_of_its_pictures(words, seed):
    red, blue = ObjectPicture("the red star", "star"), ObjectPicture("the blue bowl", "bowl")
    half = len(words) // 2
    original = instruction("Fetch ", " ".join(words[:half]), " ", red, " ", " ".join(words[half:]), " ", blue)
    name = EpisodeName.parse(f"himan/task@train#{seed}")
    other = paraphrased(original, name, rng(name, "test"))
    assert other.template() != original.template()
    assert Counter(other.pictures()) == Counter((red, blue))


def test_instructions_of_suites_without_rewordings_have_twenty_phrasings():
    for original in (instruction("Open the top drawer"), instruction("Öffne die Schublade."), instruction("What is this? Wipe it.")):
        assert len({p.text for p in phrasings(original, "himan/task@train#0", 200)}) >= PHRASINGS


def test_an_instruction_without_words_is_refused():
    with pytest.raises(EtudeError, match="no words"):
        paraphrased(Instruction((Words(" "),)), EpisodeName.parse("himan/task@train#0"), rng("x", "test"))


def test_brackets_that_do_not_match_are_noticed():
    for text in ("[a|b", "a]b", "[a|[b|c]"):
        with pytest.raises(ValueError, match=r"\]"):
            template(text)
