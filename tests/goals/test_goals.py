"""Goals: what counts as done, what is remembered, and what it is worth."""

from __future__ import annotations

import math

import pytest

from etude.goals import (
    All,
    Always,
    AtPose,
    AtPosition,
    Either,
    Goal,
    Inside,
    Monitor,
    Not,
    Once,
    OnTop,
    Order,
    Picked,
    Sequence,
    Stacked,
    Status,
    StructureToppled,
    Swap,
    TipAtPose,
    TipAtPosition,
    Touched,
    Untouched,
)
from etude.names import canonical_json, from_json
from etude.pose import Pose, yaw_quat
from etude.scene import Body, Robot, Scene, Table, World

SIDE = 0.05
PLACES = {"a": (0.3, -0.2), "b": (0.3, 0.0), "c": (0.3, 0.2)}


def world() -> World:
    bodies = [Body(n, "cube", "red", Pose.flat(x, y, SIDE / 2), (SIDE, SIDE, SIDE)) for n, (x, y) in PLACES.items()]
    area = Body("area", "box", "green", Pose.flat(0.5, 0.0, 0.005), (0.2, 0.2, 0.01), fixed=True)
    made = World(Scene((*bodies, area), Robot("panda", "vacuum"), Table(endless=True), None))
    made.step(12)
    return made


def at(name: str, x: float, y: float, z: float = SIDE / 2, yaw: float = 0.0) -> dict[str, Pose]:
    return {name: Pose.flat(x, y, z, yaw)}


def put(made: World, *places: dict[str, Pose]) -> None:
    for place in places:
        made.teleport(place)
    made.step(16)


def look(monitor: Monitor) -> Status:
    """Look twice, one control step apart, as a running episode does: rest is judged by what happened in between."""
    monitor.update()
    monitor.watch.world.step()
    return monitor.update()


HERE = {name: AtPosition(name, (x, y, SIDE / 2)) for name, (x, y) in PLACES.items()}
THERE = {name: AtPosition(name, (x + 0.2, y, SIDE / 2)) for name, (x, y) in PLACES.items()}


def moved(made: World, name: str) -> None:
    x, y = PLACES[name]
    put(made, at(name, x + 0.2, y + (0.12 if name == "b" else 0.0)))


def test_all_wants_every_member_now_in_any_order():
    made = world()
    monitor = Monitor(All((THERE["a"], THERE["c"])), made)
    put(made, at("c", 0.5, 0.2))
    assert not look(monitor).satisfied
    assert monitor.statuses()["goal.1"].satisfied
    put(made, at("a", 0.5, -0.2))
    assert look(monitor).satisfied
    assert monitor.status.reward == pytest.approx(12.0)
    put(made, at("c", 0.3, 0.2))
    assert not look(monitor).satisfied


def test_all_is_worth_what_is_done_and_the_best_of_the_rest():
    made = world()
    monitor = Monitor(All((HERE["a"], THERE["b"], THERE["c"])), made)
    rewards = [monitor.statuses()[f"goal.{i}"].reward for i in range(3)]
    assert monitor.status.reward == pytest.approx(6.0 + max(rewards[1:]))


def test_a_sequence_counts_only_up_to_the_first_open_member():
    made = world()
    monitor = Monitor(Sequence((THERE["a"], HERE["b"], HERE["c"])), made)
    first = monitor.statuses()["goal.0"].reward
    assert monitor.status.reward == pytest.approx(first)
    put(made, at("a", 0.5, -0.2))
    assert look(monitor).reward == pytest.approx(18.0)
    assert monitor.status.satisfied


def test_an_order_goes_on_and_never_back():
    made = world()
    monitor = Monitor(Order((THERE["a"], HERE["a"])), made)
    assert monitor.next_leaf().path == "goal.0"
    put(made, at("a", 0.5, -0.2))
    assert not look(monitor).satisfied
    assert monitor.next_leaf().path == "goal.1"
    put(made, at("a", 0.3, -0.2))
    assert look(monitor).satisfied  # on the same look, not one later
    put(made, at("a", 0.5, -0.2))
    assert look(monitor).satisfied


def test_an_order_first_looks_at_a_member_when_its_turn_comes():
    made = world()
    monitor = Monitor(Order((THERE["a"], Touched("b", "push"))), made)
    put(made, at("b", 0.5, 0.12))
    put(made, at("a", 0.5, -0.2))
    look(monitor)
    memory = monitor.root.members[1].memory
    assert memory["start"][0] == pytest.approx(0.5, abs=1e-3)


def test_once_is_for_ever_and_keeps_its_reward():
    made = world()
    monitor = Monitor(Once(THERE["a"]), made)
    put(made, at("a", 0.5, -0.2))
    assert look(monitor) == (True, 1.0, 6.0, False)
    put(made, at("a", 0.3, -0.2))
    assert look(monitor) == (True, 1.0, 6.0, False)


def test_always_is_violated_for_good():
    made = world()
    monitor = Monitor(Sequence((Always(HERE["a"]), THERE["b"])), made)
    assert not monitor.status.violated
    put(made, at("a", 0.5, -0.2))
    assert look(monitor).violated
    put(made, at("a", 0.3, -0.2))
    assert look(monitor).violated
    assert monitor.first_failure() == "goal.0"


def test_either_and_not():
    made = world()
    assert Monitor(Either((THERE["a"], HERE["b"])), made).status.satisfied
    assert not Monitor(Either((THERE["a"], THERE["b"])), made).status.satisfied
    assert Monitor(Not(THERE["a"]), made).status.satisfied
    assert not Monitor(Not(HERE["a"]), made).status.satisfied


def test_a_swap_needs_its_detour_only_to_clear_the_way():
    made = world()
    goal = Swap((AtPosition("a", (0.5, -0.2, SIDE / 2)), AtPosition("b", (0.3, -0.2, SIDE / 2)), AtPosition("a", (0.3, 0.0, SIDE / 2))))
    monitor = Monitor(goal, made)
    assert monitor.next_leaf().path == "goal.0"
    put(made, at("a", 0.5, -0.2), at("b", 0.3, -0.2))
    look(monitor)
    put(made, at("a", 0.3, 0.0))
    assert look(monitor).satisfied
    other = world()
    direct = Monitor(goal, other)
    put(other, at("a", 0.6, 0.3), at("b", 0.3, -0.2), at("a", 0.3, 0.0))
    assert look(direct).satisfied


def test_on_top_means_carrying_its_weight_at_rest():
    made = world()
    monitor = Monitor(OnTop("a", "b"), made)
    made.teleport(at("a", 0.3, 0.0, 0.3))
    assert not look(monitor).satisfied  # in the air
    put(made, at("a", 0.3, 0.0, 1.5 * SIDE + 0.001))
    assert look(monitor).satisfied
    assert monitor.status.reward == 6.0
    assert not Monitor(OnTop("b", "a"), made).status.satisfied


def test_leaning_on_something_is_not_resting_on_it():
    made = world()
    put(made, at("a", 0.3, -SIDE - 0.0005))
    assert not Monitor(OnTop("a", "b"), made).status.satisfied


def test_inside_wants_the_middle_inside():
    made = world()
    monitor = Monitor(Inside("a", "area"), made)
    put(made, at("a", 0.5, 0.0, SIDE / 2 + 0.01))
    assert look(monitor).satisfied
    put(made, at("a", 0.61, 0.0, SIDE / 2 + 0.0101))
    assert not look(monitor).satisfied


def test_a_pose_wants_its_heading_up_to_symmetry():
    made = world()
    put(made, at("a", 0.5, -0.2, yaw=math.radians(60)))
    wanted = Pose((0.5, -0.2, SIDE / 2), yaw_quat(math.radians(62)))
    assert Monitor(AtPose("a", wanted), made).status.satisfied
    off = Pose((0.5, -0.2, SIDE / 2), yaw_quat(math.radians(70)))
    assert not Monitor(AtPose("a", off), made).status.satisfied
    quarter = Pose((0.5, -0.2, SIDE / 2), yaw_quat(math.radians(150)))
    assert not Monitor(AtPose("a", quarter), made).status.satisfied
    assert Monitor(AtPose("a", quarter, symmetry=4), made).status.satisfied


def test_picked_wants_it_clear_of_everything():
    made = world()
    made.teleport({"a": made.robot.tip().moved(z=-0.03)})
    made.robot.grip(True)
    made.attach("a")
    made.step(4)
    assert Monitor(Picked("a"), made).status == (True, 1.0, 4.0, False)
    assert not Monitor(Picked("b"), made).status.satisfied
    assert not Monitor(AtPosition("a", made.pose("a").position), made).status.satisfied  # it is still in the hand


def test_the_tip_is_where_it_is():
    made = world()
    tip = made.robot.tip()
    assert Monitor(TipAtPose(tip), made).status.reward == 2.0
    assert Monitor(TipAtPosition(tip.moved(x=0.04).position), made).status.satisfied
    assert not Monitor(TipAtPosition(tip.moved(x=0.06).position), made).status.satisfied
    turned = tip * Pose((0, 0, 0), yaw_quat(0.3))
    assert not Monitor(TipAtPose(turned), made).status.satisfied


def test_a_tower_is_a_tower_in_any_order():
    made = world()
    monitor = Monitor(Stacked(("a", "b", "c")), made)
    assert not monitor.status.satisfied
    put(made, at("c", 0.3, 0.0, 1.5 * SIDE + 0.0005), at("a", 0.3, 0.0, 2.5 * SIDE + 0.001))
    assert look(monitor).satisfied
    fallen = Monitor(StructureToppled(("a", "b", "c")), made)
    assert not fallen.status.satisfied
    put(made, at("c", 0.5, 0.2), at("a", 0.5, -0.2))
    assert look(fallen).satisfied


def test_untouched_is_lost_at_a_touch():
    made = world()
    monitor = Monitor(Always(Untouched(("a",))), made)
    assert monitor.status.satisfied
    made.teleport({"a": made.robot.tip().moved(z=-SIDE / 2)})
    assert look(monitor).violated


GOALS: list[Goal] = [
    All((HERE["a"], Order((THERE["b"], Once(OnTop("a", "b")))))),
    Sequence((Always(Untouched(("a", "b"))), TipAtPose(Pose((0.1, 0.2, 0.3))))),
    Swap((HERE["a"], HERE["b"], HERE["c"])),
    Either((Not(Picked("a")), Stacked(("a", "b")), StructureToppled(("a",)), Touched("a", "topple"))),
]


@pytest.mark.parametrize("goal", GOALS, ids=lambda g: type(g).__name__)
def test_goals_round_trip_through_json(goal):
    assert from_json(Goal, canonical_json(goal)) == goal
