"""Études that can be played whatever branch is taken, and say nothing that cannot be, or is so anyway."""

from __future__ import annotations

import pytest

import etude
from etude.audit.branches import branch_scores, branches
from etude.audit.scoring import corrected
from etude.decisions.connectivity import Unfit
from etude.decisions.graph import walk
from etude.decisions.logic import Or, Switch
from etude.decisions.looks import Select
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.names import EtudeError, rng
from etude.skills.aim import delta_action
from etude.skills.oracle import Oracle
from etude.suites.etudes.acts import Drawer, InOrder, OneOf
from etude.suites.etudes.composing import LEVELS, Unsolved, composed, settled, structure_of
from etude.suites.etudes.facts import IsOpen
from etude.suites.etudes.furniture import Open, PutAway, WithoutOpening
from etude.suites.etudes.own import unsettled
from etude.suites.etudes.roads import open_branches
from etude.suites.etudes.setting import AT_CHEST
from etude.suites.etudes.sketching import possible
from etude.suites.etudes.telling import read

SEEDS = range(8)
TELLING = "If it is false that the bottom drawer is open, then open the middle drawer, otherwise store the cup in the bottom drawer."


def own(text: str, seed: int = 0) -> Episode:
    return etude.episode(f"etudes/compose@train#{seed}?graph={text}")


@pytest.mark.parametrize("task", ["medium", "places-medium", "drawers-low", "drawers-medium", "drawers-high"])
def test_every_branch_of_what_is_drawn_can_be_carried_out(task):
    assert all(ways == (True, True) for seed in SEEDS for ways in open_branches(etude.episode(f"etudes/{task}@test#{seed}")))


def test_who_only_tries_what_is_possible_is_found_out_where_that_tells():
    """In an étude of one's own it may: close above an open drawer none can be opened."""
    leaning = [list(branches(own(TELLING, seed))) for seed in range(40)]
    assert {(case.held, case.possible) for (case,) in leaning} == {(True, (True, True)), (False, (False, True))}
    assert "only possible branch" in {one.cheat for one in corrected(list(branch_scores(("own", "train"), leaning))) if one.above}


def test_who_only_tries_what_is_possible_is_at_chance_in_what_is_drawn():
    drawn = [list(branches(etude.episode(f"etudes/drawers-medium@test#{seed}"))) for seed in range(40)]
    scores = {one.cheat: one for one in corrected(list(branch_scores(("drawers-medium", "test"), drawn)))}
    assert not scores["only possible branch"].above


def test_no_condition_that_is_drawn_asks_the_same_twice():
    def drawn(count: int) -> Unsolved:
        """Of one drawer by the same number, or of two by their own."""
        condition = Or(IsOpen(Drawer(0)), IsOpen(Drawer(count - 1)))
        root = Switch(condition, PutAway(Select(count + 2), Drawer(count)), PutAway(Select(count + 3), Drawer(count + 1)))
        return Unsolved(root, (*[frozenset({"drawer"})] * (count + 2), *[frozenset({"moved"})] * 2))

    with pytest.raises(Unfit):
        settled(drawn(1), AT_CHEST, rng("twice", "0"))
    first, second = (node for node in walk(settled(drawn(2), AT_CHEST, rng("twice", "0")).root) if isinstance(node, IsOpen))
    assert first != second
    for seed in range(30):
        root = composed(LEVELS["high"], "operators", rng("once", str(seed)), AT_CHEST).root
        for node in walk(root):
            inputs = node.inputs()
            assert node.json_kind not in ("And", "Or", "Xor", "IsSame", "NotSame") or inputs[0] != inputs[1]


@pytest.mark.parametrize("task", ["drawers-medium", "drawers-high"])
def test_words_that_name_drawers_do_not_tell_how_a_condition_comes_out(task):
    """With these drawers, and not only with others, it can come out in every way."""
    for seed in range(30):
        unsolved, given = unsettled(read(etude.episode(f"etudes/{task}@test#{seed}").instruction.text))
        fixed = {k: one.level for k, one in enumerate(given) if isinstance(one, Drawer)}
        assert all(possible(unsolved.root, fixed, fair=True).values())


def test_an_either_with_a_member_that_cannot_be_is_refused():
    middle, top = Drawer(0), Drawer(1)
    root = WithoutOpening(middle, OneOf(InOrder(Open(middle), Open(top)), Open(top)))
    assert not any(possible(root, {}).values())
    either = "(either (first open the middle drawer, then open the top drawer) or open the top drawer)"
    with pytest.raises(EtudeError, match="its drawers cannot be opened and closed"):
        own(f"Without ever opening the middle drawer, {either}.")
    with pytest.raises(EtudeError, match="an either has a side that cannot be: the étude asks for what it forbids"):
        own("Without ever touching the red cube, (either touch the star or touch the red cube).")


@pytest.mark.parametrize(("text", "wrong"), [
    ("Turn the red cube a quarter clockwise.",
     "cube looks the same, or nearly so, after a quarter turn: turn a triangle, a heart or a diamond"),
    ("Turn the red cylinder a quarter clockwise.", "a cylinder looks the same"),
    ("Without ever touching the red cube, touch the red cube.", "asks for what it forbids: 'do not touch the red cube'"),
    ("Both put the red cube on the blue star and put the blue star on the red cube.", "cannot both hold"),
    ("Both bring the red cube into the white area and bring the red cube into the blue area.", "cannot both hold"),
    ("First, put the red cube on the blue star. Then, bring the red cube into the white area.", "cannot both hold"),
])  # fmt: skip
def test_what_could_never_be_done_is_refused_in_one_line(text, wrong):
    with pytest.raises(EtudeError, match=wrong) as error:
        own(text)
    assert "\n" not in str(error.value)


def test_what_can_be_turned_and_seen_is_turned():
    assert own("Turn the red heart a quarter clockwise.").goal.json_kind == "RotatedBy"


@pytest.mark.parametrize("bound", ["nodes=3", "depth=2"])
def test_a_bound_on_études_that_are_longer_than_in_training_is_refused(bound):
    with pytest.raises(EtudeError, match="études of the split lengths are longer and deeper"):
        etude.episode(f"etudes/compose@lengths#0?{bound}")
    assert etude.episode("etudes/compose@lengths#0")


def test_structures_of_episodes_tell_which_things_are_the_same():
    same, other = (
        read(f"First, put the red cube on the star. Then, if the colour of the heart is equal to red, then touch the {what}, "
             "otherwise touch the diamond.") for what in ("heart", "triangle")
    )  # fmt: skip
    assert structure_of(unsettled(same)[0].root) != structure_of(unsettled(other)[0].root)


@pytest.mark.parametrize("text", [
    "First, touch the red cube. Then, if the colour of the star is equal to red, then touch the heart, otherwise touch the triangle.",
    "First, touch the red cube. Then, both (if the colour of the star is equal to red, then touch the heart, otherwise touch the triangle) "
    "and touch the diamond.",
])  # fmt: skip
def test_a_fresh_étude_has_a_leaf_to_begin_with(text):
    monitor = Simulation(own(text)).monitor
    leaf = monitor.next_leaf()
    assert leaf is not None and leaf.begun and [one.path for one in monitor.choices()] == [leaf.path]
    assert not any(node.sways() for node in monitor.nodes())


def test_what_sways_does_not_wait_for_what_has_not_begun():
    """While a thing that was put into a drawer rattles in it, its turn is not over: nothing after it may be worked on."""
    cans = "(for exactly 1 of the cans, store it in the top drawer, and after that close the top drawer)"
    episode = own(f"First, both store the white cup in the bottom drawer and {cans}. Then, open the top drawer.")
    simulation = Simulation(episode)
    oracle = Oracle(episode, simulation.world, simulation.monitor)
    while not simulation.over and not simulation.status.satisfied:
        leaf = simulation.monitor.next_leaf()
        assert leaf is not None and leaf.begun
        simulation.step(delta_action(oracle.aim(), simulation.monitor.watch.tip))
    assert simulation.status.satisfied
