"""Gobbledygook keeps the shape of an instruction and nothing of its meaning."""

from __future__ import annotations

import functools
import re
import string

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from etude.envs.prompt_assets import prompt_assets
from etude.library import episode, tasks
from etude.names import EtudeError, rng
from etude.perturb.gobbledygook import garbled, gobbledygook_tokens_with, nonsense
from etude.perturb.perturbation import PERTURBATIONS, known_perturbations, perturbed
from etude.perturb.tokenizer import Pieces, built_in
from etude.perturb.wording import merged
from etude.prompts.instruction import ObjectPicture, Words, instruction

KINDS = ("gobbledygook_words", "gobbledygook_tokens")
NAMES = [f"{suite}/{task}@{tasks(suite)[task].splits[0]}#6" for suite in ("vima", "clevrskills") for task in tasks(suite)]


@functools.cache
def original_of(name):
    """The episode, drawn once for all tests."""
    return episode(name)


@functools.cache
def before_and_after(name, kind):
    """The instruction of an episode, and what the perturbation makes of it."""
    return original_of(name).instruction, perturbed(original_of(name), [kind]).instruction


def words_between(instruction):
    """How many words stand before, between and after the pictures."""
    return [len(re.findall(r"\w\S*", chunk)) for chunk in re.split(r"\{\d+\}", instruction.template("{{{k}}}"))]


@every("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_pictures_stay_in_place_with_as_many_words_between_them(name, kind):
    original, other = before_and_after(name, kind)
    assert words_between(other) == words_between(original)
    assert [type(p) for p in other.parts] == [type(p) for p in merged(original.parts)]
    for a, b in zip(original.pictures(), other.pictures(), strict=True):
        assert {**vars(a), "words": ""} == {**vars(b), "words": ""}


@every("name", NAMES)
def test_gobbledygook_words_has_words_of_the_same_lengths(name):
    original, other = before_and_after(name, "gobbledygook_words")
    assert sorted(map(len, original.template("#").split())) == sorted(map(len, other.template("#").split()))
    for a, b in zip(original.pictures(), other.pictures(), strict=True):  # in the text-only form too
        assert sorted(map(len, a.words.split())) == sorted(map(len, b.words.split()))


@every("name", NAMES)
def test_gobbledygook_tokens_has_words_of_the_same_numbers_of_tokens(name):
    original, other = before_and_after(name, "gobbledygook_tokens")
    spoken = [[i.template(" "), *(p.words for p in i.pictures())] for i in (original, other)]
    for a, b in zip(*spoken, strict=True):  # between pictures, and in the place of each
        assert sorted(len(built_in().encode(word)) for word in a.split()) == sorted(len(built_in().encode(word)) for word in b.split())


@every("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_long_word_survives_in_the_text_only_form_either(name, kind):
    original, other = before_and_after(name, kind)
    said = {word.lower() for word in re.findall(r"\w{4,}", original.text)}
    common = {built_in().decode([k]) for k in built_in().vocabulary}  # "than" and the like may come up by chance
    assert not (said - common) & {word.lower() for word in re.findall(r"\w{4,}", other.text)}


def test_words_are_random_letters_and_signs_stay_with_their_pictures():
    red, blue = ObjectPicture("the red star", "star"), ObjectPicture("the blue bowl", "bowl")
    other = episode("vima/follow_motion@L4#0+gobbledygook_words").instruction
    assert re.fullmatch(r"(\w+ )+\{image:0\}: \{image:1\} \{image:2\} \{image:3\}\.", other.template())
    other = garbled(
        instruction("Put ", red, ", and (", blue, ") ,", " then stop."), lambda words, s: ["x" * len(w) for w in words], rng("a", "b")
    )
    assert sorted(other.template().split()) == sorted(["xxx", "{image:0},", "xxx", "({image:1})", "x", "xxxx", "xxxxx"])
    assert set("".join(other.template("").split())) <= {*string.ascii_letters, *",()"}


def test_words_change_their_places():
    lengths = [len(word) for word in episode("vima/twist@L1#1").instruction.template("").split()]
    moved = [len(word) for word in episode("vima/twist@L1#1+gobbledygook_words").instruction.template("").split()]
    assert lengths != moved


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_picture_twice_stays_the_same_picture(kind):
    found = episode(f"vima/manipulate_old_neighbor@L1#0+{kind}")
    assert found.instruction.pictures()[1] == found.instruction.pictures()[2]
    assert set(prompt_assets(found)[1]) == {"dragged_obj", "base_obj"}


# ------------------------------------------------------------------------------------------------ tokenizers


@given(st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=20))
def test_the_built_in_tokenizer_gives_back_every_word(word):
    assert built_in().decode(built_in().encode(word)) == word


def test_the_built_in_tokenizer_takes_the_longest_piece():
    pieces = Pieces(["a", "b", "ab", "abab"])
    assert [pieces.decode([k]) for k in pieces.encode("ababab ba!")] == ["abab", "ab", "b", "a", "!"]


class HuggingFaceLike:
    """What tokenizers of Hugging Face offer, for words made of two signs: a capital begins a word, small letters go on."""

    all_special_ids = (0,)

    def get_vocab(self):
        return {"</s>": 0, "<slot>": 99} | {sign: k for k, sign in enumerate(string.ascii_letters, 1)}

    def get_added_vocab(self):
        return {"<slot>": 99}

    def encode(self, text, add_special_tokens=True):
        found = [1 + string.ascii_letters.find(sign) for sign in text if sign in string.ascii_letters]
        return found + [0] * add_special_tokens

    def decode(self, ids, clean_up_tokenization_spaces=True):
        signs = ["</s>", *string.ascii_letters, *["<slot>"] * 99]
        return "".join(f" {signs[k]}" if signs[k].isupper() else signs[k] for k in ids)


def test_another_tokenizer_can_be_registered_and_special_tokens_are_never_drawn():
    known_perturbations()
    name = gobbledygook_tokens_with(HuggingFaceLike(), "letters")
    try:
        original, other = (episode(f"vima/visual_manipulation@L1#0{more}").instruction for more in ("", f"+{name}"))
        assert name == "gobbledygook_tokens:letters" and not PERTURBATIONS[name].plausible
        assert words_between(other) == words_between(original)
        assert sorted(map(len, other.text.split())) == sorted(map(len, original.text.split()))
        assert "<" not in other.text
    finally:
        del PERTURBATIONS[name]
    with pytest.raises(EtudeError, match="cannot be part of an episode's name"):
        gobbledygook_tokens_with(HuggingFaceLike(), "my letters")


def test_a_tokenizer_without_other_words_is_refused():
    with pytest.raises(EtudeError, match="no other word of 1 tokens"):
        nonsense("a", Pieces(["a"]), rng("x", "test"))


def test_words_of_text_parts_that_touch_are_one_word():
    other = garbled(instruction("Pu", "t it"), lambda words, s: [w.upper() for w in words], rng("x", "test"))
    assert isinstance(other.parts[0], Words) and sorted(other.text.split()) == ["IT", "PUT"]
