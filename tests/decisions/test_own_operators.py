"""Operators, properties and stimulus sets of one's own, in a file that is none of etude's: they work like those that come with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest

from etude.datasets.decisions import described
from etude.decisions.asking import Question
from etude.decisions.autotask import auto_question
from etude.decisions.compose import Showing, make_trial
from etude.decisions.connectivity import TaskSpace
from etude.decisions.formulas import Formula, exactly, negated
from etude.decisions.graph import DecisionGraph, operators, properties_of, structure
from etude.decisions.logic import And, Connective, Switch
from etude.decisions.looks import Const, Exist, Get, IsSame, Match, Relative, Select, ValueComparison
from etude.decisions.meaning import answer
from etude.decisions.networks import from_networkx, to_networkx
from etude.decisions.operator import Operator
from etude.decisions.parse import parse
from etude.decisions.prompts import messages, used
from etude.decisions.showing import domain_of, pictures, space_of, told
from etude.decisions.solver import Domain
from etude.decisions.space import LOCATION, SPLITS, SeenThing, StimulusSpace, seen_property, standard_space
from etude.decisions.stimuli.sets import stimulus_set
from etude.decisions.text import question
from etude.decisions.trial import Placed
from etude.names import EtudeError, rng
from etude.report.graphs import draw_task, svg

GRAMMARS = ("exact", "fluent")


@dataclass(frozen=True)
class Nor(Connective):
    """Is neither true?"""

    left: Operator
    right: Operator

    exact = "neither {left} nor {right}"
    fluent = "neither {left} nor {right} holds"
    commutative = True

    def combined(self, *parts: Formula) -> Formula:
        left, right = parts
        return negated(("or", left, right))


@dataclass(frozen=True)
class TwoOfThree(Connective):
    """Are at least two of three true?"""

    first: Operator
    second: Operator
    third: Operator

    exact = "at least two of ({first}, {second}, {third})"
    fluent = "at least two of these hold: {first}; {second}; {third}"
    commutative = True

    def combined(self, *parts: Formula) -> Formula:
        return "or", exactly(2, parts), exactly(3, parts)


@seen_property("side", of="location", words=("left", "right"))
def side(space: StimulusSpace, location: int) -> int:
    return int(2 * space.column(location) >= space.grid[0])


@stimulus_set("squares")
class Squares:
    """Coloured squares: a category is a colour, an identity a shade of it."""

    name, version, angles = "squares", "1", ("front",)
    properties: Mapping[str, tuple[str, ...]] = {"category": ("red", "green"), "identity": ("dark red", "red", "dark green", "green")}
    classes: Mapping[str, tuple[int, ...]] = {"category": (0, 0, 1, 1), "identity": (0, 1, 2, 3)}

    def views(self, split: str, item: int | None = None) -> tuple[int, ...]:
        return (SPLITS.index(split),)

    def angle(self, view: int) -> int:
        return 0

    def picture(self, item: int, view: int, pixels: int = 112) -> np.ndarray:
        found = np.zeros((pixels, pixels, 4), np.uint8)
        found[..., item // 2] = 120 if item % 2 == 0 else 240
        found[..., 3] = 255
        return found


SPACE = standard_space()
A = IsSame(Get("category", Select(2)), Get("category", Select(0)))
B = Exist(Select(1, (Match("category", Const("category", "cars")),)))
C = Relative("left of", Select(2), Select(1))
OURS = {
    "nor": Nor(A, C),
    "two of three": TwoOfThree(A, B, C),
    "nested": TwoOfThree(Nor(A, B), And(B, C), Nor(C, TwoOfThree(A, B, C))),
    "switched": Switch(Nor(A, B), Get("category", Select(0)), TwoOfThree(A, B, C)),
}
TRUTH = {
    "nor": lambda a, b, c: not (a or c),
    "two of three": lambda a, b, c: a + b + c >= 2,
    "nested": lambda a, b, c: (not (a or b)) + (b and c) + (not (c or a + b + c >= 2)) >= 2,
}


def seen(a: bool, b: bool, c: bool) -> tuple[tuple[SeenThing, ...], ...]:
    """Frames on which A, B and C are so. Cars are the items from 16 on, boats those from 8 on."""
    return (SeenThing(8, 0 if c else 1),), (SeenThing(16 if b else 0, 1 if c else 0),), (SeenThing(9 if a else 24, 3),)


@pytest.mark.parametrize("name", TRUTH)
def test_what_comes_out_is_what_a_person_works_out(name: str) -> None:
    task = DecisionGraph(OURS[name], 3)
    for truths in product((True, False), repeat=3):
        assert answer(task, seen(*truths), SPACE) == str(bool(TRUTH[name](*truths))).lower()


@pytest.mark.parametrize("name", OURS)
def test_objects_are_found_for_every_answer(name: str) -> None:
    task = DecisionGraph(OURS[name], 3)
    asked = Question(task, SPACE)
    assert {"true", "false"} <= set(asked.answers)
    for wanted in asked.answers:
        for seed in range(5):
            things = asked.things(wanted, rng(f"own/{name}/{wanted}/{seed}", "things"))
            assert answer(task, [(things[frame],) for frame in range(3)], SPACE) == wanted


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("grammar", GRAMMARS)
def test_what_is_said_is_read_again(name: str, grammar: str) -> None:
    task = DecisionGraph(OURS[name], 3)
    shown = {
        "exact": "observe object 1, observe object 2, observe object 3,",
        "fluent": "Look at object 1. Look at object 2. Look at object 3.",
    }
    assert parse(f"{shown[grammar]} {question(task, SPACE, grammar)}", SPACE, grammar) == (Placed(task),)


def test_the_words_are_those_of_the_class() -> None:
    exact, fluent = (question(DecisionGraph(OURS["nor"], 3), SPACE, grammar) for grammar in GRAMMARS)
    assert exact == "neither category of object 1 equals category of object 3 nor object 1 is left of object 2?"
    assert fluent == (
        "Is it true that neither the category of object 1 is the same as the category of object 3 "
        "nor object 1 is to the left of object 2 holds?"
    )
    assert question(DecisionGraph(And(Nor(A, B), C), 3), SPACE).startswith("(neither ")
    with pytest.raises(EtudeError, match="no words for Nor here; valid for this question: exact, fluent"):
        question(DecisionGraph(OURS["nor"], 3), SPACE, "original")


def test_names_with_words_of_the_operator_are_quoted() -> None:
    space = StimulusSpace({"category": (0, 1)}, {"category": ("neither", "cars")})
    task = DecisionGraph(IsSame(Get("category", Select(0)), Const("category", "neither")), 1)
    assert question(task, space) == 'category of object 1 equals "neither"?'


@pytest.mark.parametrize("name", OURS)
def test_it_is_drawn_and_goes_through_json_and_networkx(name: str) -> None:
    task = DecisionGraph(OURS[name], 3)
    assert DecisionGraph.from_json(task.to_json()) == task
    assert from_networkx(to_networkx(task)) == task
    texts = ["".join(t.itertext()) for t in ElementTree.fromstring(svg(draw_task(task))).iter("{http://www.w3.org/2000/svg}text")]
    for kind in operators(task.root).keys() & {"Nor", "TwoOfThree"}:
        assert kind in texts


def test_the_order_of_inputs_makes_no_other_structure() -> None:
    one, other = DecisionGraph(TwoOfThree(A, B, C), 3), DecisionGraph(TwoOfThree(C, A, B), 3)
    assert structure(one) == structure(other) != structure(DecisionGraph(TwoOfThree(A, B, B), 3))


SETTINGS = TaskSpace(
    roots=("Nor", "TwoOfThree", "And"),
    booleans=("IsSame", "Nor", "TwoOfThree"),
    operators=("Get", "Const", "IsSame", "NotSame", "And", "Nor", "TwoOfThree"),
    joins=(1, 4),
    switch_chance=0.5,
    frames=(2, 9),
    delays=(0, 3),
)


def test_auto_task_composes_it_when_asked() -> None:
    stream, domain, found = rng("own", "tasks"), Domain(SPACE), dict[str, int]()
    for _ in range(40):
        task = auto_question(SETTINGS, stream, domain).task
        found = {kind: found.get(kind, 0) + count for kind, count in (found | operators(task.root)).items()}
        assert DecisionGraph.from_json(task.to_json()) == task
    assert found["Nor"] > 5 and found["TwoOfThree"] > 5
    plain = replace(SETTINGS, roots=("And",), booleans=("IsSame",), operators=("Get", "IsSame", "And"))
    assert not {"Nor", "TwoOfThree"} & set(operators(auto_question(plain, stream, domain).task.root))


def test_a_trial_with_ones_own_operators_and_pictures_is_shown_told_and_exported() -> None:
    domain, stream = domain_of("squares", "val"), rng("own", "trial")
    task = auto_question(replace(SETTINGS, properties=(("category", 1.0), (LOCATION, 1.0))), stream, domain).task
    made = make_trial("mine/squares@val#0", task, domain, "true", stream, showing=Showing("", "squares", "val"))
    row = described(made)
    assert row["stimuli"] == "squares" and row["answer"] == "true"
    assert {"Nor", "TwoOfThree"} & set(row["operators"]) and json.loads(json.dumps(row)) == row
    assert row["objects"][0]["category"] in ("red", "green")
    assert parse(told(made), space_of("squares")) == made.tasks
    first = next(f for f, things in zip(pictures(made, 64), made.frames, strict=True) if things)
    assert first.shape == (64, 64, 3) and first[..., :2].max() >= 120


# ------------------------------------------------------------------------------------------------ properties


def test_a_property_of_ones_own_is_asked_about_solved_for_and_said() -> None:
    task = DecisionGraph(Switch(IsSame(Get("side", Select(1)), Const("side", "left")), Get("side", Select(0)), A.left), 3)
    asked = Question(task, SPACE)
    assert {"left", "right", "cars"} <= set(asked.answers)
    for wanted in ("left", "right", "cars"):
        things = asked.things(wanted, rng(wanted, "side"))
        frames = [(things[frame],) for frame in range(3)]
        assert answer(task, frames, SPACE) == wanted
        left = things[1].location in (0, 2)
        assert wanted == (("left" if things[2].location in (0, 2) else "right") if left else "cars")
    text = "observe object 1, observe object 2, observe object 3, " + question(task, SPACE)
    assert "side of object 2 equals left" in text and parse(text, SPACE) == (Placed(task),)
    assert properties_of(task.root) == {"side", "category"}


def test_it_is_explained_to_language_models_only_where_it_is_asked_about() -> None:
    domain = Domain(SPACE)

    def prompt(prop: str) -> str:
        made = make_trial("mine/side@val#0", DecisionGraph(Get(prop, Select(0)), 1), domain, None, rng(prop, "prompt"))
        assert used(made) == {prop}
        return messages(made, [""], SPACE)[0]["content"][0]["text"]

    assert "The side of an object is always one of 2: left and right." in prompt("side")
    assert "side" not in prompt("category")


# ------------------------------------------------------------------------------------------------ what is refused


def test_what_an_operator_does_not_say_is_refused_by_name() -> None:
    @dataclass(frozen=True)
    class Riddle(Operator):
        of: Select

        def kind(self) -> str:
            return "bool"

    task = DecisionGraph(Riddle(Select(0)), 1)
    with pytest.raises(EtudeError, match=f"{__name__}: Riddle does not say its evaluate"):
        answer(task, [[SeenThing(0, 0)]], SPACE)
    with pytest.raises(EtudeError, match="Riddle does not say its formula"):
        Question(task, SPACE)
    with pytest.raises(EtudeError, match="Riddle does not say its exact words"):
        question(task, SPACE)
    with pytest.raises(EtudeError, match="Riddle does not say its reads"):
        properties_of(task.root)


def test_names_and_words_that_are_taken_are_refused_with_both_modules() -> None:
    with pytest.raises(EtudeError, match=rf"{__name__}.*etude.decisions.logic has a 'And' already"):
        type("And", (Connective,), {"__module__": __name__})
    with pytest.raises(EtudeError, match=rf"{__name__}.Both: etude.decisions.logic.And has fluent words that begin like 'both \{{of\}}'"):
        type("Both", (Connective,), {"__module__": __name__, "fluent": "both {of}"})
    with pytest.raises(EtudeError, match=r"etude.decisions.looks.IsSame has exact words"):
        type("Equal", (ValueComparison,), {"__module__": __name__, "signs": {"exact": ("equals",)}})
    assert not {"Both", "Equal"} & Operator.kinds.keys()
    with pytest.raises(EtudeError, match=rf"{__name__}: {__name__} has the stimulus set 'squares' already"):
        stimulus_set("squares")(Squares)
    with pytest.raises(EtudeError, match=rf"{__name__}: etude.decisions.space has the property 'location' already"):
        seen_property("location", of="item", words=("here",))(side)


def test_a_slip_of_the_pen_gets_the_nearest_name() -> None:
    with pytest.raises(EtudeError, match="unknown stimulus set 'sqares'; did you mean 'squares'"):
        space_of("sqares")
    with pytest.raises(EtudeError, match="unknown property 'sied'; did you mean 'side'"):
        SPACE.values("sied")
    with pytest.raises(EtudeError, match="unknown operator 'TwoOfThre'; did you mean 'TwoOfThree'"):
        auto_question(replace(SETTINGS, roots=("TwoOfThre",)), rng("x", "t"), Domain(SPACE))
