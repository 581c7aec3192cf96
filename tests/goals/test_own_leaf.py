"""A leaf of one's own, in a module of one's own, is judged, said, scaled, kept free, shown and solved; what it does not say is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pytest

from etude.catalog.polygon import separation
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.goals import All, Goal, OnTop, Status
from etude.goals.adapting import Room, Scaled
from etude.goals.goal import GoalNode
from etude.goals.markers import FUTURE, VISITED, marker
from etude.goals.regions import AnyTurn, AtPoint, InBox, Region, Where
from etude.goals.units import MoveFree
from etude.goals.watch import Watch
from etude.library import episode
from etude.names import EtudeError
from etude.perturb.perturbation import perturbed
from etude.pose import Array, Pose, Vec2
from etude.scene.outlines import disc, extent
from etude.scene.scene import Entity, Scene
from etude.skills.aim import TRAVEL, Aim, delta_action
from etude.skills.carrying import pick
from etude.skills.oracle import Context, Oracle, skill
from etude.skills.subtasks import describe, vocabulary

PLACE: Vec2 = (-0.1, 0.12)


@dataclass(frozen=True)
class HeldOver(Goal):
    """The thing is held over a place, its middle at least ``height`` (m) up: for a larger one by as much higher."""

    thing: str
    place: Vec2
    height: float

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        x, y, z = watch.position(self.thing).tolist()
        there = watch.grasped(self.thing) and z >= self.height and math.dist((x, y), self.place) < 0.03
        return Status(there, float(there), float(there))

    def words(self) -> str:
        return f"Hold {{{self.thing}}} over the beacon"

    def scaled(self, change: Scaled) -> Goal:
        return change.in_frame(self, self.thing, "height")

    def destinations(self, room: Room) -> Iterable[Array]:
        return (room.around(*self.place, self.thing),)

    def shown(self, node: GoalNode, scene: Scene) -> Iterable[Entity]:
        return (marker("beacon", (*self.place, 0.4), VISITED if node.status.satisfied else FUTURE),)


@skill(HeldOver)
def hold_over(context: Context[HeldOver]) -> Aim:
    """Take it, and carry it there."""
    goal, watch = context.goal, context.watch
    if not watch.grasped(goal.thing):
        return replace(pick(watch, goal.thing, 0.1), task=goal.words())
    return Aim(Pose((*goal.place, goal.height + 0.1), watch.tip.rotation), True, TRAVEL, goal.words(), "Carry it there")


@dataclass(frozen=True)
class Hot(Goal):
    """Has a number, and says nothing about it; and there is no skill for it."""

    thing: str
    degrees: float

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        return Status(False, 0.0, 0.0)


@dataclass(frozen=True)
class Warm(Hot):
    """Says in one line that nothing depends on its number."""

    scaled, destinations = Goal.unchanged, Goal.nowhere


@dataclass(frozen=True)
class OnPlate(OnTop):
    """As what it derives from."""


@dataclass(frozen=True)
class Nearby(Where):
    """A region that says nothing."""

    radius: float


def with_goal(make) -> Episode:
    """An episode with another goal, made for the thing that is manipulated."""
    found = episode("clevrskills/pick@train#7")
    thing = next(name for role, name in found.roles if role == "manipulated")
    entities = (*found.scene.entities, marker("beacon", (*PLACE, 0.4), FUTURE))
    return replace(found, scene=replace(found.scene, entities=entities), goal=make(thing))


@pytest.fixture(scope="module")
def own() -> Episode:
    return with_goal(lambda thing: All((HeldOver(thing, PLACE, 0.2),)))


def leaf(found: Episode) -> HeldOver:
    assert isinstance(found.goal, All) and isinstance(found.goal.members[0], HeldOver)
    return found.goal.members[0]


def test_the_oracle_solves_it_and_its_progress_shows(own):
    simulation = Simulation(own)
    oracle = Oracle(own, simulation.world, simulation.monitor)
    assert simulation.world.scene.entity("beacon").texture == FUTURE[0]
    while not simulation.over:
        simulation.step(delta_action(oracle.aim(), simulation.monitor.watch.tip))
    assert simulation.status.satisfied and simulation.world.scene.entity("beacon").texture == VISITED[0]


def test_it_is_part_of_the_vocabulary_and_of_the_json(own):
    said = describe(leaf(own), own.scene)
    assert said == f"Hold {leaf(own).thing} over the beacon" and said in vocabulary(own)
    assert Episode.from_json(own.to_json()) == own


def test_it_follows_a_thing_that_is_scaled(own):
    other = perturbed(own, ["mo_size"])
    a, b = (extent(e.scene.entity(leaf(own).thing)) for e in (own, other))
    times = (b.high - b.low) / (a.high - a.low)
    assert abs(times - 1) > 0.005 and leaf(other).height == pytest.approx(0.2 * times, rel=1e-3)


def test_distractors_keep_off_where_it_wants_something(own):
    x, y, _ = perturbed(own, ["distractors"]).scene.entity("distractor 0").pose.position
    other = perturbed(replace(own, goal=HeldOver(leaf(own).thing, (x, y), 0.2)), ["distractors"])
    rings = [extent(e).ring for e in other.scene.entities if e.name.startswith("distractor")]
    assert len(rings) == 2 and all(separation(ring, disc(x, y, 0.01)) > 0.04 for ring in rings)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["mo_size"], r"mo_size: the goal Hot does not say how it follows a thing that is scaled; give it a method scaled\(change\)"),
        (
            ["distractors"],
            r"distractors: the goal Hot does not say where on the table things must go; give it a method destinations\(room\)",
        ),
        (["all"], r"distractors: the goal Hot does not say"),
    ],
)
def test_what_a_leaf_does_not_say_is_refused_and_never_passed_over(names, message):
    with pytest.raises(EtudeError, match=message):
        perturbed(with_goal(lambda thing: All((Hot(thing, 60.0),))), names)


def test_a_leaf_says_in_one_line_that_nothing_depends_on_it():
    found = with_goal(lambda thing: Warm(thing, 40.0))
    assert perturbed(found, ["mo_size", "distractors"]).goal == found.goal


def test_a_region_that_does_not_say_how_it_scales_is_refused():
    inside = with_goal(lambda thing: MoveFree(thing, Region("", InBox((0.0, 0.0, 0.1), (0.1, 0.1, 0.1)), AnyTurn()), "put it there"))
    assert perturbed(inside, ["mo_size"]).goal != inside.goal
    other = with_goal(lambda thing: MoveFree(thing, Region("", Nearby(0.1), AnyTurn()), "put it near"))
    with pytest.raises(EtudeError, match=r"mo_size: the region Nearby does not say how it follows .* scaled\(times, up\)"):
        perturbed(other, ["mo_size"])
    with pytest.raises(EtudeError, match=r"distractors: the region Nearby does not say where .* corners\(\)"):
        perturbed(other, ["distractors"])


def test_points_of_regions_are_scaled_about_their_frame_and_raised():
    assert AtPoint((0.1, 0.2, 0.3)).scaled(2.0, 0.05) == AtPoint((0.2, 0.4, 0.65))


def test_the_oracle_refuses_a_leaf_without_a_skill_before_the_first_step():
    found = with_goal(lambda thing: All((HeldOver(thing, PLACE, 0.2), Hot(thing, 60.0))))
    simulation = Simulation(found)
    with pytest.raises(EtudeError, match=r"the oracle has no skill for the goal Hot; register a function for it with @skill\(Hot\)"):
        Oracle(found, simulation.world, simulation.monitor).aim()
    assert simulation.steps == 0


def test_a_derived_leaf_is_solved_like_the_one_it_derives_from_and_nobody_replaces_a_skill():
    found = with_goal(lambda thing: OnPlate(thing, thing))
    simulation = Simulation(found)
    assert Oracle(found, simulation.world, simulation.monitor).aim().task
    with pytest.raises(EtudeError, match=r"the skill of .*test_own_leaf for OnTop is there already, from etude.skills.placing"):
        skill(OnTop)(hold_over)
