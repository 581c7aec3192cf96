"""Descriptors say in words what pictures show, where words can."""

from __future__ import annotations

import functools
import re

import pytest
from every import every

from etude.library import episode, tasks
from etude.names import EtudeError
from etude.perturb.descriptors import described
from etude.perturb.perturbation import perturbed
from etude.prompts.instruction import ObjectPicture, TexturePicture, instruction

VIMA = [task.name for task in tasks("vima").values() if task.described]
PICTURES_NEEDED = sorted(set(tasks("vima")) - set(VIMA))
STAR = ObjectPicture("red swirl star", "star", texture="red swirl")
BOWL = ObjectPicture("the blue bowl", "bowl", texture="vima/blue")


def test_nine_tasks_of_vima_can_be_told_in_words():
    assert len(VIMA) == 9 and set(VIMA) < set(tasks("vima")) and len(PICTURES_NEEDED) == 8


drawn = functools.cache(episode)


@every("task", VIMA)
@pytest.mark.parametrize("wording", [[], ["paraphrase"]])
def test_every_object_is_named_with_one_article(task, wording):
    for seed in range(5):
        plain = drawn(f"vima/{task}@{tasks('vima')[task].splits[0]}#{seed}")
        original, other = (perturbed(plain, kinds).instruction for kinds in (wording, [*wording, "descriptors"]))
        assert not other.pictures() and other.complete
        for part in original.pictures():
            assert re.search(
                rf"\b(?:the|a|an|one|any|two|three|four|five|six|seven|all|same|a \w+) {part.words.removeprefix('the ')}", other.text, re.I
            )
        assert not re.search(r"\b(?:the|a|an) (?:the|a|an)\b|  ", other.text), other.text


def test_new_nouns_are_shown_by_things_that_are_gray():
    text = episode("vima/novel_noun@L1#0+descriptors").instruction.text
    assert re.fullmatch(r"This is a \w+, a gray [\w -]+\. This is a \w+, a gray [\w -]+\. Put a \w+ into a \w+\.", text), text
    text = episode("clevrskills/novel_noun@train#0+descriptors").instruction.text
    assert re.fullmatch(r"An? gray [\w ]+ is \w+ and a gray [\w ]+ is \w+\. Put \w+ on \w+", text), text


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("Put the ", STAR, " into ", BOWL, "."), "Put the red swirl star into the blue bowl."),
        (("Put ", STAR, " into the ", BOWL), "Put the red swirl star into the blue bowl"),
        ((STAR, " is daxer than ", BOWL, ". ", STAR, " too."), "The red swirl star is daxer than the blue bowl. The red swirl star too."),
        (("Put the less daxer ", STAR, " into the same ", BOWL), "Put the less daxer red swirl star into the same blue bowl"),
        (("Take the one in ", BOWL), "Take the one in the blue bowl"),
        (("This is an ulp ", STAR, "."), "This is an ulp, a red swirl star."),
        (("Grab the object with ", TexturePicture("tiger", "tiger"), " texture"), "Grab the object with tiger texture"),
    ],
)
def test_articles_fit_the_words_before(parts, text):
    assert described(instruction(*parts)).text == text


@pytest.mark.parametrize(
    "name",
    [
        *(f"vima/{task}@{tasks('vima')[task].splits[0]}#0" for task in PICTURES_NEEDED),
        "clevrskills/rearrange@train#0", "clevrskills/match_pose@train#0", "clevrskills/novel_adj@train#0", "clevrskills/trace@train#0",
    ],
)  # fmt: skip
def test_descriptors_are_refused_where_words_cannot_tell(name):
    with pytest.raises(EtudeError, match=r"^descriptors: .*\bwords\b") as caught:
        episode(f"{name}+descriptors")
    assert "\n" not in str(caught.value) and name.split("@")[0] in str(caught.value)
