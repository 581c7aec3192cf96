"""What went wrong in an étude: which ability failed first, as far as the goal and the table can tell. What cannot be mended ends an
episode, so what is violated in the end came first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields

from etude.envs.simulation import Simulation
from etude.goals.branching import Conditional, Exactly, Recollection, Succession
from etude.goals.detecting import JointAt
from etude.goals.goal import Always, Goal, GoalNode, Not
from etude.goals.leaves import AtPosition, Untouched
from etude.goals.whereabouts import Near
from etude.scene.scene import Body
from etude.suites.etudes.rehearsing import ThoughtWorld

MOVED = 0.05  # m: what is bumped into stays nearer to its place


def cause(simulation: Simulation) -> str:
    """The ability and what showed its lack.

    Perception: the other branch was taken or begun, or things were gone through too far. Memory: of two things the wrong one was taken for
    the first, or a thing was put to a wrong place. Language: what was to be left alone was touched, moved or opened, there was one too
    many, or a thing was moved that nobody asked for. Planning: out of order, or undone again. Execution: done in a way that cannot be
    mended, or not done.
    """
    monitor = simulation.monitor
    for node in monitor.nodes():
        if found := _final(node):
            return found
    moved, due, left = _moved(simulation), set(_due(monitor.root)), set(_left(monitor.root))
    if moved & (left - due):
        return "perception: wrong branch begun"
    if moved - left - due:
        return "language: moved what nobody asked for"
    if monitor.status.violated:
        return "execution: spoilt"
    leaf = monitor.next_leaf()
    if leaf is not None and isinstance(leaf.goal, AtPosition) and leaf.begun and _put_elsewhere(simulation, leaf.goal):
        return "memory: wrong place"
    return "planning: came undone" if leaf is None or leaf.reached else "execution: not done"


def _final(node: GoalNode) -> str:
    """What went wrong for good at a node, if anything did."""
    goal, memory = node.goal, node.memory
    if isinstance(goal, Conditional) and memory.get("wrong"):
        return "perception: wrong branch"
    if isinstance(goal, Recollection) and memory.get("wrong"):
        return "memory: wrong one of two"
    if isinstance(goal, Succession) and memory.get("early"):
        return "planning: out of order"
    if isinstance(goal, Exactly) and memory.get("over"):
        return "language: one too many"
    if isinstance(goal, Always) and node.status.violated:
        return _broken(goal.member)
    return ""


def _broken(member: Goal) -> str:
    """What was not kept to."""
    if isinstance(member, Untouched):
        return "language: touched what was to be left alone"
    if isinstance(member, Near):
        return "language: moved what was to stay where it is"
    if isinstance(member, Not) and isinstance(member.member, JointAt):
        return "language: opened what was to stay shut"
    return "perception: went too far"


def _moved(simulation: Simulation) -> set[str]:
    """The things that stand elsewhere than at the start; what is in a drawer moves with it, which does not count."""
    watch, start = simulation.monitor.watch, ThoughtWorld(simulation.episode.scene)
    bodies = [one for one in simulation.episode.scene.entities if isinstance(one, Body) and not one.fixed]
    found = set()
    for body in bodies:
        frame, local = start.within[body.name]
        place = watch.world.pose(frame).inverse().point(*watch.spot(body.name)) if frame else watch.spot(body.name)
        if math.dist(place, local.position) > MOVED:
            found.add(body.name)
    return found


def _due(node: GoalNode) -> Iterator[str]:
    """The names in all that is asked for by the branches that are to be taken."""
    if isinstance(node.goal, Conditional):
        yield from _due(node.goal.taken(node)) if node.begun else (name for member in node.members for name in _due(member))
    else:
        yield from _names(node.goal)
        for member in node.members:
            yield from _due(member)


def _left(node: GoalNode) -> Iterator[str]:
    """The names in branches that are not to be taken."""
    for one in node.listed():
        if isinstance(one.goal, Conditional) and one.begun:
            taken = one.goal.taken(one)
            yield from (name for member in one.members if member is not taken for below in member.listed() for name in _names(below.goal))


def _names(goal: Goal) -> Iterator[str]:
    for field in fields(goal):  # type: ignore[arg-type]
        value = getattr(goal, field.name)
        yield from (one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, str))


def _put_elsewhere(simulation: Simulation, goal: AtPosition) -> bool:
    """Has it been put down on the table, but not where it should stand?"""
    watch = simulation.monitor.watch
    return goal.thing in _moved(simulation) and not watch.grasped(goal.thing) and watch.touches(goal.thing, "table")
