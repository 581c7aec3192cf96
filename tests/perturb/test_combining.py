"""What all perturbations of instructions have in common: one thing changes, any order gives the same, and it costs next to nothing."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from every import every

from etude.episodes import Episode
from etude.library import episode, tasks
from etude.names import EtudeError, rng
from etude.perturb import plausible
from etude.perturb.perturbation import known_perturbations, perturbed
from etude.prompts.instruction import Instruction, Words

PLAUSIBLE = {
    "paraphrase": True, "descriptors": True, "gobbledygook_words": False, "gobbledygook_tokens": False,
    "mask_language": False, "mask_visual": False, "mask_instruction": False,
}  # fmt: skip
OURS = tuple(PLAUSIBLE)
NAMES = [f"{suite}/{task}@{tasks(suite)[task].splits[0]}#7" for suite in ("vima", "clevrskills") for task in tasks(suite)]


def possible(original):
    """The episode under each of the perturbations that it takes."""
    for kind in OURS:
        try:
            yield kind, perturbed(original, [kind])
        except EtudeError:
            assert kind in ("descriptors", "mask_visual")


@every("kind", OURS)
def test_each_knows_whether_it_is_plausible(kind):
    found = known_perturbations()[kind]
    assert (found.phase, found.plausible) == ("instruction", PLAUSIBLE[kind]) and found.summary
    assert plausible(["light_color", kind]) is PLAUSIBLE[kind]


@every("name", NAMES)
def test_only_the_instruction_changes_and_the_episode_is_still_a_value(name):
    original = episode(name)
    for kind, other in possible(original):
        assert replace(other, instruction=original.instruction) == original
        assert other.instruction != original.instruction, kind
        assert Episode.from_json(other.to_json()) == other


@every("kind", OURS)
def test_the_name_of_an_episode_says_how_it_is_told(kind):
    name = "vima/visual_manipulation@L1#3"
    assert episode(f"{name}+{kind}") == replace(perturbed(episode(name), [kind]), name=f"{name}+{kind}")


def test_they_draw_from_the_stream_they_are_given_and_from_nothing_else():
    state, one = random.getstate(), episode("vima/novel_adj@L1#0")
    for kind in set(OURS) - {"descriptors"}:
        change = known_perturbations()[kind].change
        assert change(one, rng("a", "b")) == change(one, rng("a", "b"))
        if kind in ("paraphrase", "gobbledygook_words", "gobbledygook_tokens"):
            assert change(one, rng("a", "b")) != change(one, rng("a", "c"))
    assert random.getstate() == state


@pytest.mark.parametrize("name", ["vima/visual_manipulation@L1#3", "vima/novel_noun@L1#3", "clevrskills/novel_noun@train#3"])
def test_any_two_of_them_give_the_same_in_either_order(name):
    for a, b in itertools.combinations(OURS, 2):
        if {a, b} == {"descriptors", "mask_visual"}:
            continue
        assert perturbed(episode(name), [a, b]).instruction == perturbed(episode(name), [b, a]).instruction
        assert episode(f"{name}+{a}+{b}") == episode(f"{name}+{b}+{a}")


def test_words_are_chosen_before_they_become_nonsense():
    name = "vima/visual_manipulation@L1#4"
    reworded = episode(f"{name}+paraphrase").instruction
    garbled = episode(f"{name}+paraphrase+gobbledygook_words").instruction
    assert sorted(map(len, garbled.template().split())) == sorted(map(len, reworded.template().split()))
    described = episode(f"{name}+paraphrase+descriptors").instruction
    assert isinstance(described.parts[0], Words) and len(described.parts) == 1
    assert [len(w) for w in described.text.split()] == [len(w) for w in reworded.text.split()]


def test_what_is_masked_stays_masked():
    name = "vima/visual_manipulation@L1#4"
    for kind in ("paraphrase", "gobbledygook_words", "gobbledygook_tokens"):
        assert episode(f"{name}+{kind}+mask_language").instruction.text == ""
        assert episode(f"{name}+{kind}+mask_instruction").instruction == Instruction(())
        assert not any(p.words for p in episode(f"{name}+{kind}+mask_visual").instruction.pictures())
    assert episode(f"{name}+mask_visual+mask_instruction+mask_language").instruction == Instruction(())


def test_pictures_that_became_words_cannot_be_masked():
    with pytest.raises(EtudeError, match="no pictures to mask"):
        episode("vima/visual_manipulation@L1#4+descriptors+mask_visual")


def test_they_go_with_perturbations_of_the_scene():
    both = episode("clevrskills/stack@train#1+light_color+paraphrase")
    assert both.scene == episode("clevrskills/stack@train#1+light_color").scene
    assert both.instruction == episode("clevrskills/stack@train#1+paraphrase").instruction
