"""The skills that put things somewhere: pick up, at a place, at a pose, on and in others, into towers, and off again."""

from __future__ import annotations

import math

from etude.goals.goal import Goal, Not
from etude.goals.placing import AtPose, AtPosition, Inside, OnTop, Picked, Stacked
from etude.goals.watch import Watch
from etude.names import EtudeError
from etude.pose import Pose, Vec3
from etude.skills.aim import NOTHING, Aim
from etude.skills.carrying import pick, place
from etude.skills.oracle import Context, held_still, named, skill
from etude.skills.spots import centre_of_mass, resting_place
from etude.skills.steady import SETTLING, SteadyWords

PATIENCE = 40  # control steps for a thing to come to rest
AWAY = 0.005  # m by which the next try goes elsewhere, at most
COMFORTABLE = 0.42  # m from the base, where the hand reaches highest: towers are best built there


@skill(Picked)
def pick_up(context: Context[Picked]) -> Aim:
    """Take it and hold it up."""
    goal = context.goal
    return named(pick(context.watch, goal.thing, 0.1), goal.words())


def _carry(
    watch: Watch, thing: str, target: Pose, turned: bool, task: str, onto: tuple[str, ...] = (), point: Vec3 = (0.0, 0.0, 0.0)
) -> Aim:
    if watch.grasped(thing):
        return named(place(watch, thing, target, turned, onto, f"Place the {{{thing}}}", point), task)
    return named(pick(watch, thing), task)


def _arrived(context: Context[Goal]) -> bool:
    """Does the thing stand where it should, let go, and has only to come to rest? What rocks for too long is put down anew beside."""
    if context.watch.held:
        context.hints["waited"] = 0
        return False
    if context.node.status.reward < 5.0:
        return False
    waited: int = context.hints.get("waited", 0)
    context.hints["waited"] = waited + 1
    if waited == PATIENCE:
        context.hints["shift"] = (context.stream.uniform(-AWAY, AWAY), context.stream.uniform(-AWAY, AWAY))
    return waited < PATIENCE


def _leave(watch: Watch, thing: str, task: str) -> Aim:
    """Rise from what was just put down, and wait."""
    if watch.tip.position[2] - watch.extent(thing)[1] < 0.03:
        return Aim(watch.tip.moved(z=0.02), False, 0.012, task, NOTHING)
    return held_still(watch, False, task)


@skill(AtPosition)
def put_at(context: Context[AtPosition]) -> Aim:
    """Pick, carry, put down at a place."""
    goal = context.goal
    task = goal.words()
    if _arrived(context):
        return _leave(context.watch, goal.thing, task)
    return _carry(context.watch, goal.thing, Pose(goal.position), False, task)


@skill(AtPose)
def put_turned(context: Context[AtPose]) -> Aim:
    """Pick, carry, turn, put down at a pose."""
    goal = context.goal
    task = goal.words()
    if _arrived(context):
        return _leave(context.watch, goal.thing, task)
    return _carry(context.watch, goal.thing, goal.pose, True, task)


@skill(OnTop, Inside)
def put_on(context: Context[OnTop]) -> Aim:
    """Pick, carry, put down on or in another thing."""
    goal = context.goal
    task = goal.words()
    if _arrived(context):
        return _leave(context.watch, goal.top, task)
    return _put_on(context, goal.top, goal.bottom, task)


def _put_on(context: Context[Goal], top: str, bottom: str, task: str) -> Aim:
    watch = context.watch
    target = resting_place(watch, top, bottom, context.hints)
    return _carry(watch, top, target, False, task, (bottom,), centre_of_mass(watch, top))


@skill(Stacked)
def build(context: Context[Stacked]) -> Aim:
    """Build one tower: the tallest there is grows, by what is nearest to the hand."""
    aim, thing = _building(context)
    words: SteadyWords = context.hints.setdefault("words", SteadyWords())
    same = context.hints.get("said of") == thing  # of one thing, what is below it, or whether it was put down, may be lost for a moment
    context.hints["said of"] = thing
    back = aim.step.startswith("Pick") and words.step.startswith("Place")
    return words.of(aim, SETTLING if same and (back or aim.task != words.task) else 0)


def _building(context: Context[Stacked]) -> tuple[Aim, str]:
    """What to do for a tower, and with which thing."""
    goal, watch = context.goal, context.watch
    below = goal.carriers(watch)
    above = {b: t for t, b in below.items()}
    for thing in below:  # a tower that sways is left alone
        if watch.held is None and not watch.static(thing):
            top = _upwards(thing, above)[-1]
            return _leave(watch, top, OnTop(top, below[top]).words()), top
    towers = [_upwards(thing, above) for thing in goal.things if thing not in below and not watch.grasped(thing)]
    tower = max(towers, key=lambda t: (len(t), -abs(watch.from_base(*watch.position(t[0])[:2].tolist())[0] - COMFORTABLE), t[0]))
    loose = [t[-1] for t in towers if t is not tower]
    if not loose and watch.held not in goal.things:  # all of it stands, and has only to come to rest
        return _leave(watch, tower[-1], OnTop(tower[-1], below[tower[-1]]).words()), tower[-1]
    thing = watch.held if watch.held in goal.things else min(loose, key=lambda t: (_from_tip(watch, t), t))
    assert thing is not None
    return _put_on(context, thing, tower[-1], OnTop(thing, tower[-1]).words()), thing


def _upwards(thing: str, above: dict[str, str]) -> list[str]:
    """The thing, and all that stands on it, from below."""
    tower = [thing]
    while tower[-1] in above:
        tower.append(above[tower[-1]])
    return tower


def _from_tip(watch: Watch, thing: str) -> float:
    return math.dist(watch.tip.position[:2], watch.position(thing)[:2])


@skill(Not)
def undo(context: Context[Not]) -> Aim:
    """Take off what shall not (yet) be there."""
    goal = context.goal
    if not isinstance(goal.member, OnTop):
        raise EtudeError(f"the oracle can undo OnTop, and no {type(goal.member).__name__}")
    return named(pick(context.watch, goal.member.top, 0.1), goal.words())
