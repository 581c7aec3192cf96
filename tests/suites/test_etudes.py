"""Études: graphs of acts whose scenes are solved backwards, told, read again, done by the oracle and judged node by node."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache

import pytest
from etude_judge import Seen, holds, looks, meant, parts, verdict
from every import every

import etude
from etude.decisions.logic import Switch
from etude.decisions.looks import Const, Get, IsSame, Match, NotSame, Select
from etude.decisions.wording import spoken
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.goals.branching import Conditional
from etude.goals.goal import Always, Goal
from etude.goals.leaves import Untouched
from etude.goals.monitor import Monitor
from etude.library import prompts
from etude.names import EpisodeName, EtudeError, rng
from etude.skills.aim import delta_action
from etude.skills.oracle import Oracle
from etude.suites.etudes.acts import EveryThing, ForEach, InAnyOrder, InOrder, It, OneOf, Without
from etude.suites.etudes.composing import DEEDS, JOINS, composed, is_held_out
from etude.suites.etudes.deeds import PutOn, Touch
from etude.suites.etudes.meaning import EtudeGraph, goal_of
from etude.suites.etudes.solving import conditions, solved
from etude.suites.etudes.suite import etudes
from etude.suites.etudes.telling import GRAMMARS, read, told

SEEDS = range(40)
ORACLE = (1, 3, 10, 19, 34)  # every node and every deed is in one of these
LARGE = "?depth=5&nodes=9"


@cache
def made(seed: int, options: str = "", split: str = "train") -> Episode:
    return etude.episode(f"etudes/compose@{split}#{seed}{options}")


def asking(text: str) -> Episode:
    """A table with a cyan heart, an orange area, a yellow cylinder and a magenta hexagon, and what is asked for there."""
    return replace(made(2), goal=goal_of(read(text), made(2).scene))


def graph(episode: Episode) -> EtudeGraph:
    return read(episode.instruction.text)


def first(kind: type[Goal], **wanted: bool) -> Episode:
    """The first episode whose goal is of a kind, and whose condition holds or not."""
    for seed in SEEDS:
        goal = made(seed).goal
        if isinstance(goal, kind) and all(holds(json_of(made(seed))["condition"], looks(made(seed).scene)) is v for v in wanted.values()):
            return made(seed)
    raise AssertionError(f"no {kind.__name__} among {len(SEEDS)} episodes")


def json_of(episode: Episode) -> dict:
    found: dict = json.loads(graph(episode).to_json())["root"]
    return found


def played(episode: Episode, meaning: Goal | None = None, before: int = 0) -> tuple[Simulation, Seen]:
    """The oracle at work on a goal, the episode's own if none is given, after so many steps of flailing about."""
    simulation, seen = Simulation(episode), Seen()
    own = simulation.monitor if meaning is None else Monitor(meaning, simulation.world)
    oracle, stream = Oracle(episode, simulation.world, own), rng(episode.name, "flailing")
    seen.look(simulation)
    while not simulation.over and not own.status.satisfied:
        if simulation.steps < before:
            simulation.step([*(stream.uniform(-1, 1) for _ in range(6)), 1.0])
        else:
            simulation.step(delta_action(oracle.aim(), own.watch.tip))
        if own is not simulation.monitor:
            own.update()
        seen.look(simulation)
    return simulation, seen


# ------------------------------------------------------------------------------------------------ words


@every("name", [(seed, options, split) for seed in SEEDS for options, split in (("", "train"), (LARGE, "test"))])
def test_both_wordings_are_read_back_into_the_graph_that_is_the_goal(name):
    episode = made(*name)
    found = graph(episode)
    assert [read(told(found, grammar), grammar) for grammar in GRAMMARS] == [found] * len(GRAMMARS)
    assert EtudeGraph.from_json(found.to_json()) == found
    assert goal_of(found, episode.scene) == episode.goal


def test_prompts_are_the_two_wordings():
    assert [one.text for one in prompts(made(3))] == [told(graph(made(3)), grammar) for grammar in GRAMMARS]


A, B, C = (Select(0, (Match("colour", Const("colour", colour)),)) for colour in ("red", "green", "blue"))
IF = Switch(IsSame(Get("shape", A), Get("shape", B)), Touch(A), Touch(B))


@every("root", [
    InOrder(IF, InOrder(Touch(C), IF)),
    InOrder(InAnyOrder(Touch(A), InOrder(Touch(B), Touch(C))), Touch(A)),
    InAnyOrder(InOrder(Touch(A), Touch(B)), InAnyOrder(IF, InOrder(Touch(B), Touch(C)))),
    OneOf(Without(C, IF), ForEach(EveryThing(0, A.matches), InOrder(Touch(It()), Without(It(), Touch(B))))),
    Switch(NotSame(Get("shape", A), Const("shape", "star")), IF, InOrder(Touch(A), Switch(IF.condition, Touch(C), IF))),
])  # fmt: skip
def test_acts_within_acts_have_one_reading(root):
    assert [read(told(EtudeGraph(root), grammar), grammar).root for grammar in GRAMMARS] == [root] * len(GRAMMARS)


@pytest.mark.parametrize(("text", "expected"), [
    ("Juggle the red cube.", r"at character 1 .*expected something to be done \(if, both, bring"),
    ("Touch the red cubes.", r"at character 15 .*a shape \(cube, "),
    ("Put the red cube on the red cube.", "PutOn needs different things"),
    ("First, touch the red cube.", r"expected 'Then,'"),
    ("For each red thing, touch the blue cube.", "does not speak of it"),
    ("If the colour of the cube is equal to square, then touch the cube, otherwise touch the star.", "a value of colour"),
])  # fmt: skip
def test_what_is_not_understood_is_told_with_its_place(text, expected):
    with pytest.raises(EtudeError, match=expected):
        read(text)


def test_a_reference_that_fits_no_thing_or_several_is_refused():
    for text, wrong in (
        ("Touch the thing.", "one thing"),
        ("For each white area, touch it.", "there is none"),
        ("Touch it.", "'for each'"),
    ):
        with pytest.raises(EtudeError, match=wrong):
            asking(text)


@pytest.mark.parametrize("wrong", [
    lambda: EtudeGraph(IF.condition),
    lambda: EtudeGraph(InOrder(Touch(A), IF.condition)),
    lambda: EtudeGraph(Switch(Touch(A), Touch(B), Touch(C))),
    lambda: EtudeGraph(IsSame(Touch(A), Touch(B))),
    lambda: EtudeGraph(PutOn(Touch(A), B)),
])  # fmt: skip
def test_only_what_fits_can_be_connected(wrong):
    with pytest.raises(EtudeError):
        wrong()


def test_questions_are_told_as_if_there_were_no_commands():
    assert [spoken(word) for word in ("put", "tower", "touch")] == ["put", "tower", "touch"]


# ------------------------------------------------------------------------------------------------ scenes


@every("seed", SEEDS)
def test_every_reference_fits_one_thing_and_tells_nothing_that_is_asked(seed):
    episode = made(seed, LARGE)
    seen, nodes = looks(episode.scene), parts(json_of(episode))
    asked = {(meant(node["of"], seen)[0], node["property"]) for node in nodes if node["kind"] == "Get"}
    assert all(len(meant(group, seen)) > 1 for group in nodes if group["kind"] == "Group")
    for select in (node for node in nodes if node["kind"] == "Select"):
        (name,) = meant(select, seen)
        assert not {(name, match["property"]) for match in select["matches"]} & asked


def test_both_outcomes_of_conditions_come_equally_often():
    outcomes = []
    for seed in range(400):
        stream = rng("outcomes", str(seed))
        unsolved = composed(DEEDS, (1, 2), 3, stream, held_out=False)
        wanted = [rng(f"outcomes {seed}", str(k)).chance(0.5) for k in range(len(conditions(unsolved.root)))]
        try:
            found = solved(unsolved, wanted, stream)
        except EtudeError:
            continue
        seen = {str(k): {"colour": colour, "shape": shape} for k, (colour, shape) in enumerate(found.looks)}
        came = [holds(part["condition"], seen) for part in parts(json.loads(found.etude.to_json())["root"]) if part["kind"] == "Switch"]
        assert came == wanted
        outcomes += came
    assert len(outcomes) > 120
    assert abs(sum(outcomes) / len(outcomes) - 0.5) < 1.96 * math.sqrt(0.25 / len(outcomes))


def test_the_test_split_has_forms_that_training_has_not():
    assert {is_held_out(graph(made(seed)).root) for seed in SEEDS} == {False}
    assert {is_held_out(graph(made(seed, LARGE, "test")).root) for seed in SEEDS} == {True}


def test_every_node_and_deed_comes_and_the_oracle_is_tested_with_each():
    tried = {part["kind"] for seed in ORACLE for part in parts(json_of(made(seed)))}
    assert tried >= {*DEEDS, *JOINS}


def test_options_bound_the_graph_and_choose_its_deeds():
    deeds = [
        [part["kind"] for part in parts(json_of(made(seed, "?nodes=3&skills=Touch,PutOn"))) if part["kind"] in DEEDS] for seed in SEEDS
    ]
    assert {kind for each in deeds for kind in each} == {"Touch", "PutOn"} and {len(each) for each in deeds} == {2}
    with pytest.raises(EtudeError, match="nodes=0 is not possible"):
        made(0, "?nodes=0")
    with pytest.raises(EtudeError, match="did you mean 'Touch'"):
        made(0, "?skills=Tuoch")


# ------------------------------------------------------------------------------------------------ done and judged


@every("seed", ORACLE)
def test_the_oracle_does_it_and_a_second_judge_agrees(seed):
    episode = made(seed)
    simulation, seen = played(episode)
    things = looks(episode.scene)
    assert simulation.status.satisfied and verdict(json_of(episode), things, seen)
    assert not verdict(json_of(episode), things, Seen(seen.places[:1], seen.touched[:1], seen.held[:1]))


def test_nothing_is_done_at_the_start():
    for seed in SEEDS[:12]:
        nodes = Simulation(made(seed)).monitor.nodes()
        assert not any(node.status.satisfied for node in nodes if not isinstance(node.goal, (Always, Untouched)))


@pytest.mark.parametrize("held", [True, False])
def test_who_takes_the_wrong_branch_fails_for_good(held):
    episode = first(Conditional, held=held)
    goal = episode.goal
    assert isinstance(goal, Conditional)
    simulation, seen = played(episode, goal.otherwise if held else goal.then)
    assert simulation.monitor.root.memory["held"] is held
    assert simulation.status.violated and not simulation.status.satisfied and not verdict(json_of(episode), looks(episode.scene), seen)
    assert etudes.cause is not None and etudes.cause(simulation) == "wrong branch"


def test_who_does_the_second_first_fails_for_good():
    second = asking("Put the yellow cylinder on the magenta hexagon.").goal
    simulation, _ = played(asking("First, touch the cyan heart. Then, put the yellow cylinder on the magenta hexagon."), second)
    assert not simulation.over
    oracle = Oracle(simulation.episode, simulation.world, simulation.monitor)
    while not simulation.over:
        simulation.step(delta_action(oracle.aim(), simulation.monitor.watch.tip))
    assert simulation.status.violated and etudes.cause is not None and etudes.cause(simulation) == "out of order"


def test_who_touches_what_is_to_be_left_alone_fails_for_good():
    asked = asking("Without ever touching the cyan heart, put the yellow cylinder on the magenta hexagon.")
    simulation, _ = played(asked, asking("Touch the cyan heart.").goal)
    assert simulation.status.violated and etudes.cause is not None
    assert etudes.cause(simulation) == "touched what was to be left alone"


def test_the_oracle_goes_on_from_where_another_left_off():
    simulation, _ = played(asking("First, bring the cyan heart into the orange area. Then, touch the yellow cylinder."), before=25)
    assert simulation.steps > 25 and simulation.status.satisfied


def test_a_saved_étude_goes_on_as_it_was():
    episode = first(Conditional)
    simulation = Simulation(episode)
    saved = simulation.save()
    before = simulation.monitor.statuses()
    for _ in range(3):
        simulation.step([0.5] * 7)
    simulation.restore(saved)
    assert simulation.monitor.statuses() == before and simulation.monitor.root.memory["held"] is not None


def test_equal_names_give_equal_ids():
    name = EpisodeName.parse("etudes/compose@train#3")
    assert etude.episode(str(name)).id == etude.episode(str(name)).id == Episode.from_json(made(3).to_json()).id
