"""Sub-tasks in words: what can be said in an episode, what it means, and what would be right to say now.

A planner speaks; the words are looked up here. Besides what the goal asks for, the vocabulary holds the same sub-tasks with every other
thing of the scene in their places, so that a planner can be wrong, and what it said can still be carried out.
"""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace
from itertools import product
from typing import Any

from etude.episodes import Episode
from etude.goals.goal import Goal, GoalNode
from etude.goals.monitor import Monitor
from etude.scene.scene import Area, Body, Scene

LONGEST = 400  # sub-tasks in a vocabulary; goals with many entities keep to those that differ in one of them
_PLACE = re.compile(r"\{pos:([^}]*)\}")


def describe(goal: Goal) -> str:
    """A leaf in plain words: ``Pick up red cube 1``; places read ``(0.10, -0.20)``, metres in the world."""
    return plain(goal.words())


def plain(text: str) -> str:
    """Words without the braces that mark things and places in them."""
    text = _PLACE.sub(lambda m: f"({', '.join(m[1].split())})", text)
    return text.replace("{", "").replace("}", "")


def leaves(goal: Goal) -> list[Goal]:
    """The leaves of a goal that have words, in order."""
    if goal.words():
        return [goal]
    return [leaf for part in goal.parts() for leaf in leaves(part)]


def vocabulary(episode: Episode) -> dict[str, Goal]:
    """Every sub-task there are words for in this episode, the goal's own first."""
    own = leaves(episode.goal)
    found = {describe(leaf): leaf for leaf in reversed(own)}  # of two that sound alike, the first
    found = dict(sorted(found.items(), key=lambda item: own.index(item[1])))
    for leaf in own:
        for other in _variants(leaf, episode.scene):
            found.setdefault(describe(other), other)
    return found


def _variants(leaf: Goal, scene: Scene) -> list[Goal]:
    """The leaf with other things of the same sort in the places of its own, never one of them twice."""
    sorts = {e.name: _sort(e) for e in scene.entities if isinstance(e, (Body, Area))}
    own = {f.name: getattr(leaf, f.name) for f in fields(leaf) if isinstance(getattr(leaf, f.name), str)}  # type: ignore[arg-type]
    own = {place: name for place, name in own.items() if name in sorts}
    others = {place: [n for n, sort in sorts.items() if sort == sorts[name]] for place, name in own.items()}
    if math.prod(map(len, others.values())) > LONGEST:
        changes = [{**own, place: name} for place in own for name in others[place]]
    else:
        changes = [dict(zip(own, chosen, strict=True)) for chosen in product(*others.values())]
    changed: list[Any] = [replace(leaf, **c) for c in changes if len(set(c.values())) == len(c)]  # type: ignore[type-var]
    return changed


def _sort(entity: Body | Area) -> str:
    """What can stand in for each other: things to be moved, or places that stay."""
    return "place" if isinstance(entity, Area) or entity.fixed else "thing"


def right_now(monitor: Monitor) -> dict[str, GoalNode]:
    """The sub-tasks that would be right to work on now, in words, with the nodes they stand for."""
    found: dict[str, GoalNode] = {}
    for node in monitor.choices():
        if node.goal.words():
            found.setdefault(describe(node.goal), node)
    return found
