"""Études of one's own: in English, more of which is understood than is told, as JSON, and in Python."""

from __future__ import annotations

import json

import pytest
from every import every

import etude
from etude.decisions.graph import rebuilt, walk
from etude.decisions.logic import And, Negation, Or, Switch, Xor
from etude.decisions.looks import Const, Get, IsSame, NotSame
from etude.names import EtudeError, rng
from etude.suites.etudes import (
    bring,
    close_drawer,
    each,
    either,
    exactly,
    first,
    in_any_order,
    open_drawer,
    push,
    put,
    take_out,
    take_over,
    touch,
    tower,
    turn,
    undo,
    up_to,
    when,
    with_the_first,
    without_moving,
    without_opening,
    without_touching,
    written,
)  # fmt: skip
from etude.suites.etudes.acts import InAnyOrder, InOrder, It, OneOf, Without
from etude.suites.etudes.composing import LEVELS, NOVEL, composed
from etude.suites.etudes.deeds import PutOn, TakeOver, Touch, Tower, Turn
from etude.suites.etudes.groups import ForEach, ForSome, Until
from etude.suites.etudes.meaning import EtudeGraph
from etude.suites.etudes.memory import Undo
from etude.suites.etudes.negation import straightened
from etude.suites.etudes.own import read_etude
from etude.suites.etudes.setting import SETTINGS
from etude.suites.etudes.telling import GRAMMARS, read, some_things, thing, things, told, truth

SAID = {
    "Touch the red cube": "Touch the red cube.",
    "Touch the cube. Touch the star.": "First, touch the cube. Then, touch the star.",
    "first touch the cube, then touch the star": "First, touch the cube. Then, touch the star.",
    "Touch the cube, then touch the star": "First, touch the cube. Then, touch the star.",
    "if the drawer holds a red thing, close it, otherwise put the cup in":
        "If the top drawer holds a red thing, then close the top drawer, otherwise store the cup in the top drawer.",
    "Open the middle drawer. Put the can in it.": "First, open the middle drawer. Then, store the can in the middle drawer.",
    "bring all the red things into the white area": "Bring each red thing into the white area.",
    "for each heart, touch it": "Touch each heart.",
    "For each heart: touch it.": "Touch each heart.",
    "Touch exactly two red things and after that touch the star.":
        "Touch exactly two of the red things, and after that touch the star.",
    "For exactly 2 of the red things, touch it, and after that touch the star.":
        "Touch exactly two of the red things, and after that touch the star.",
    "Both touch the cube and touch the star.": "In any order: touch the cube and touch the star.",
    "Touch the heart, then put the cube on it.": "First, touch the heart. Then, put the cube on the heart.",
    "If the number of red things is greater than 2, touch the cube, otherwise touch the star.":
        "If there are more than two red things, then touch the cube, otherwise touch the star.",
    "If there are fewer than two cubes, touch the heart, else touch the star.":
        "If there is at most one cube, then touch the heart, otherwise touch the star.",
    "If the colour of the cube is equal to red, then touch the heart, otherwise touch the star.":
        "If the cube is red, then touch the heart, otherwise touch the star.",
    "If neither the cube is red nor the red thing is a star, touch the heart, otherwise touch the diamond.":
        "If the cube is not red and the red thing is not a star, then touch the heart, otherwise touch the diamond.",
    "Build a tower of the cube, the star, and the heart.": "Build a tower of the cube, the star and the heart from the bottom up.",
    "If either the cube is red or the star is red, or both, and the heart is red, touch the heart, otherwise touch the diamond.":
        "If either the cube is red or the star is red, or both, and the heart is red, then touch the heart, otherwise touch the diamond.",
    "If the cube is red or both the star is red and the heart is red, or both, then touch the heart, otherwise touch the diamond.":
        "If at least one of these is so: the cube is red or both the star is red and the heart is red, then touch the heart, otherwise "
        "touch the diamond.",
    "If exactly one of these is so: the cube is red or the star is red, then touch the heart, otherwise touch the diamond.":
        "If either the cube is red or the star is red, but not both, then touch the heart, otherwise touch the diamond.",
    "If either the cube is red or both the star is red and the heart is red, but not both, then touch the heart, otherwise touch the "
    "diamond.":
        "If exactly one of these is so: the cube is red or both the star is red and the heart is red, then touch the heart, otherwise "
        "touch the diamond.",
    "Push the cube towards the star.": "Push the cube a third of the way towards the star.",
    "Move the cube onto the star and the heart to where it stood.": "Move the cube onto the star and the heart to where the cube stood.",
    "Take the cup out of the top drawer.": "Take the cup out of the top drawer and put it on the chest.",
    "If the top drawer is closed, open it, otherwise close it.":
        "If the top drawer is not open, then open the top drawer, otherwise close the top drawer.",
}  # fmt: skip


@pytest.mark.parametrize(("said", "canonical"), SAID.items())
def test_more_is_understood_than_is_told(said, canonical):
    assert told(read(said)) == told(read_etude(said)) == canonical
    assert read(canonical) == read(said)


@pytest.mark.parametrize(("text", "wrong"), [
    ("Tuch the cube.", "at character 1 .* did you mean 'touch'"),
    ("Touch the red cbue.", "at character 15 .* did you mean 'cube'"),
    ("Touch the rde cube.", "at character 11 .*a colour .*did you mean 'red'"),
    ("Touch the cube and touch the star.", "in any order"),
    ("Touch exactly two of the red things.", "and after that"),
    ("If the cube is red and the heart is blue or the star is green, touch the cube, otherwise touch the star.", "two ways"),
    ("If the cube is red, touch the cube.", "', otherwise'"),
    ("If there are at most 12 cubes, touch the heart, otherwise touch the star.", "at most 9 things"),
    ("Put the cup in.", "none has been named"),
    ("Put each cube on each star.", "stand once"),
    ("Close it.", "none has been named"),
    ("Push the cube left.", "at character 15 .*'towards'"),
    ("Build a tower of the cube and the star.", "at character 18 .*three things"),
    ("If exactly one of these is so: the cube is red, the star is red or the heart is red, touch the cube, otherwise touch the star.",
     "two of which one is so"),
    ("Wipe the table.", "no tools"),
    ("Pick up the cube.", "nothing stays in the hand"),
    ("Sort the cubes.", "bring each red thing into the red area"),
    ("Don't touch the star. Touch the cube.", "at character 1 .*never touch"),
    ("Touch the cube then the star.", r"without ever touching\)$"),
    ("Open the botom drawer.", "did you mean 'bottom'"),
])  # fmt: skip
def test_what_is_not_understood_is_told_with_what_was_expected(text, wrong):
    with pytest.raises(EtudeError, match=wrong):
        read(text)


A, B, C = (thing(f"{colour} cube") for colour in ("red", "green", "blue"))
RED, STAR = (
    IsSame(Get("colour", thing("star")), Const("colour", "red")),
    NotSame(Get("shape", thing("white thing")), Const("shape", "star")),
)
IF, ROW, ANY = Switch(RED, Touch(A), Touch(B)), InOrder(Touch(A), Touch(B)), InAnyOrder(Touch(B), TakeOver(A, C, B))
ACTS = (Touch(A), IF, ROW, ANY, OneOf(ROW, Touch(C)), Without(C, ANY), Undo(Tower(A, B, C)), ForEach(things("heart"), Touch(It())),
        ForSome(2, some_things("heart"), Touch(It()), Touch(A)),
        Until(things("heart"), Touch(It()), truth("it is not red", True), ROW))  # fmt: skip


@every("outer", ACTS)
def test_acts_of_any_depth_have_one_reading(outer):
    for inner in ACTS:
        for root in (
            InOrder(inner, outer), InOrder(outer, InOrder(inner, outer)), InAnyOrder(outer, inner), OneOf(inner, InAnyOrder(outer, inner)),
            Switch(STAR, inner, outer), Switch(STAR, Switch(RED, outer, inner), outer), Without(C, Switch(RED, inner, outer)),
            ForSome(1, some_things("red thing"), InOrder(Touch(It()), inner), outer),
        ):  # fmt: skip
            made = EtudeGraph(root)
            assert [read(told(made, grammar), grammar) for grammar in GRAMMARS] == [made] * len(GRAMMARS)
            assert read(told(made, other_words=True)) == made


@every("condition", [
    And(RED, Or(STAR, RED)), Or(And(RED, STAR), And(STAR, RED)), And(RED, And(STAR, RED)), And(And(RED, STAR), RED),
    Xor(RED, Or(STAR, RED)), Or(RED, Or(STAR, RED)), Negation(And(RED, STAR)), Negation(RED), And(Negation(Negation(RED)), Xor(RED, STAR)),
    And(Or(RED, STAR), RED), And(Xor(RED, STAR), Or(STAR, RED)), And(RED, And(Or(RED, STAR), STAR)), Or(Xor(Or(RED, STAR), STAR), RED),
])  # fmt: skip
def test_conditions_of_any_depth_have_one_reading(condition):
    made = EtudeGraph(Switch(condition, ROW, ANY))
    assert [read(told(made, grammar), grammar) for grammar in GRAMMARS] == [made] * len(GRAMMARS)


@every("setting", SETTINGS.values())
def test_nothing_that_is_drawn_is_false_that_could_be_said_straight_out(setting):
    for split in ("train", *NOVEL):
        for seed in range(30):
            root = composed(LEVELS["high"], split, rng("straight", f"{split} {seed}"), setting).root
            assert rebuilt(root, straightened) == root
            denied = [node.of for node in walk(root) if isinstance(node, Negation)]
            assert not any(isinstance(one, (Negation, IsSame, NotSame, And, Or, Xor)) for one in denied)


def test_a_truth_and_its_normal_form_mean_the_same():
    both, not_red = And(RED, STAR), NotSame(RED.left, RED.right)
    assert rebuilt(Negation(both), straightened) == Or(not_red, IsSame(STAR.left, STAR.right))
    assert rebuilt(Negation(Negation(RED)), straightened) == RED
    assert rebuilt(Negation(Xor(RED, STAR)), straightened) == Xor(not_red, STAR)


@pytest.mark.parametrize(("made", "words"), [
    (first(touch("cyan heart"), each("red thing", bring(into="white area"))),
     "First, touch the cyan heart. Then, bring each red thing into the white area."),
    (in_any_order(push("cube", towards="star"), turn("heart", direction="clockwise")),
     "In any order: push the cube a third of the way towards the star and turn the heart a quarter clockwise."),
    (either(tower("cube", "star", "heart"), take_over("cube", on="star", then="heart")),
     "Either build a tower of the cube, the star and the heart from the bottom up; or move the cube onto the star and the heart to where "
     "the cube stood."),
    (exactly(2, "red things", touch(), then=undo(put("star", on="heart"))),
     "Touch exactly two of the red things, and after that do and then undo this: put the star on the heart."),
    (up_to("it is a cube", "red thing", touch(), then=touch("blue star")),
     "Touch one red thing after the other, from the nearest to the robot on, up to the first that is a cube, and after that touch the blue "
     "star."),
    (with_the_first(touch("cube"), touch("star"), put(on="heart")),
     "In either order: touch the cube and touch the star, then put the one that was touched first on the heart."),
    (when("the cube is red", without_touching("star", touch("cube")), without_moving("heart", touch("heart"))),
     "If the cube is red, then without ever touching the star, touch the cube. Otherwise, without ever moving the heart, touch the heart."),
    (without_opening("top", first(open_drawer("middle"), put("cup", into="middle drawer"), close_drawer("middle"))),
     "Without ever opening the top drawer, first open the middle drawer, then store the cup in the middle drawer, then close the middle "
     "drawer."),
    (take_out("cup", of="top"), "Take the cup out of the top drawer and put it on the chest."),
])  # fmt: skip
def test_études_in_python_are_those_in_words(made, words):
    assert str(made) == words and written(words) == made


def test_an_étude_in_python_has_episodes():
    mine = first(touch("cyan heart"), put("red cube", on="blue star"))
    assert mine.episode(3).name == mine.name(3) == f"etudes/compose@train#3?graph={mine}"
    assert mine.episode(3) == etude.episode(mine.name(3)) != mine.episode(4)


RED_HEARTS = {"kind": "Group", "when": 0, "matches": []}
HEART = {"kind": "Select", "when": 0, "matches": [{"property": "shape", "value": {"kind": "Const", "property": "shape", "value": "heart"}}]}
TOUCHED = {"kind": "Touch", "thing": {"kind": "It", "when": 0, "matches": []}}


@pytest.mark.parametrize(("wrong", "why"), [
    (lambda: Touch("red cube"), "Touch takes a thing, as in thing.*not 'red cube'"),
    (lambda: Turn("left", "clockwise"), "Turn takes a thing"),
    (lambda: Turn(A, "left"), "valid: anti-clockwise, clockwise"),
    (lambda: PutOn(things("cube"), None), "'on', not None"),
    (lambda: ForSome("two", some_things("heart"), Touch(It()), Touch(A)), "whole number as its 'count', not 'two'"),
    (lambda: ForSome(True, some_things("heart"), Touch(It()), Touch(A)), "whole number"),
    (lambda: ForSome(2, things("heart"), Touch(It()), Touch(A)), "some_things"),
    (lambda: ForEach(some_things("heart"), Touch(It())), "a group of things"),
    (lambda: EtudeGraph(Switch("red", Touch(A), Touch(B))), "'condition', not 'red'"),
    (lambda: EtudeGraph("touch"), "not of 'touch'"),
    (lambda: EtudeGraph(Touch(It())), "'it'"),
    (lambda: read_etude(json.dumps({"root": {"kind": "ForSome", "count": 2, "things": RED_HEARTS, "act": TOUCHED, "after": TOUCHED}})),
     "some_things"),
    (lambda: read_etude(json.dumps({"root": {"kind": "Turn", "thing": HEART, "direction": "left"}})), "clockwise"),
    (lambda: read_etude("[1]"), "an object"),
    (lambda: read_etude("mine.txt"), "no file 'mine.txt'"),
    (lambda: first(touch("star")), "two acts or more"),
    (lambda: first("touch", "star"), "nothing that can be done"),
    (lambda: touch(3), "told in words"),
    (lambda: put("star"), "one place"),
    (lambda: touch("rde star"), "did you mean 'red'"),
    (lambda: str(touch()), "'it'"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_line(wrong, why):
    with pytest.raises(EtudeError, match=why) as error:
        wrong()
    assert "\n" not in str(error.value)
