"""Sub-tasks in words: what can be said in an episode, what it means, and what would be right to say now.

A planner speaks; the words are looked up here. Besides what the goal asks for, the vocabulary holds the same sub-tasks with every other
thing of the scene in their places, and whatever else a goal says can be done there, so that a planner can be wrong, and what it said can
still be carried out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import product

from etude.episodes import Episode
from etude.goals.goal import Goal, GoalNode, every, spoken_place
from etude.goals.monitor import Monitor
from etude.goals.units import Composed
from etude.goals.watch import Watch
from etude.scene.scene import Area, Body, Scene

LONGEST = 400  # sub-tasks in a vocabulary; goals with many entities keep to those that differ in one of them
_NUMBER = re.compile(r" \d+$")
_KNOWN = re.compile(r"the \{([^}]*?)((?: \d+)?)\}")
_PLACE = re.compile(r"\{pos:([^}]*)\}")


def describe(goal: Goal, scene: Scene) -> str:
    """A leaf in plain words: ``Pick up the red cube``; places read ``(0.10, -0.20)``, metres in the world."""
    return plain(goal.words(), scene)


def plain(text: str, scene: Scene) -> str:
    """Words without the braces that mark things and places in them, and without the numbers of things that need none."""
    text = _PLACE.sub(lambda m: f"({', '.join(m[1].split())})", text)
    if "the {" in text:
        alike = Counter(_NUMBER.sub("", entity.name) for entity in scene.entities)
        text = _KNOWN.sub(lambda m: f"the {m[1]}" + (m[2] if alike[m[1]] > 1 else ""), text)
    return text.replace("{", "").replace("}", "")


def standing(scene: Scene) -> dict[str, str]:
    """What stands where at the start, both in plain words: ``(0.10, -0.20)`` and ``the red cube``."""
    bodies = [entity for entity in scene.entities if isinstance(entity, Body)]
    return {plain(spoken_place(body.pose.position), scene): plain(f"the {{{body.name}}}", scene) for body in bodies}


def leaves(goal: Goal) -> list[Goal]:
    """The leaves of a goal that have words, in order."""
    return [found.leaf for found in _meanings(goal, goal)]


@dataclass(frozen=True)
class MeantSubtask:
    """A leaf that words can stand for, and the sequence it is a unit of, which whoever carries it out must know; or itself."""

    leaf: Goal
    whole: Goal


@dataclass(frozen=True)
class CurrentSubtask:
    """What a planner has said, with the node of a goal that it stands for, and what that is a unit of where that is no part of the
    episode's goal. No node: nobody understands it, or it cannot be begun as things are."""

    text: str
    node: GoalNode | None
    parent: GoalNode | None = None


def _meanings(goal: Goal, whole: Goal) -> Iterator[MeantSubtask]:
    if not goal.sayable:
        return
    if goal.words():
        yield MeantSubtask(goal, whole if isinstance(whole, Composed) else goal)
    else:
        for part in goal.parts():
            yield from _meanings(part, goal)


def vocabulary(episode: Episode) -> dict[str, list[MeantSubtask]]:
    """Every sub-task there are words for in this episode, with all that each can stand for, the goal's own first."""
    own = list(_meanings(episode.goal, episode.goal))
    said = [m for one in every(episode.goal, Composed) for other in one.others for m in _meanings(other, other)]
    variants = [MeantSubtask(other, other) for meaning in own for other in _variants(meaning.leaf, episode.scene)]
    found: dict[str, list[MeantSubtask]] = {}
    for meaning in (*own, *said):
        found.setdefault(describe(meaning.leaf, episode.scene), []).append(meaning)
    for meaning in variants:
        found.setdefault(describe(meaning.leaf, episode.scene), [meaning])
    return found


def meant(meanings: Sequence[MeantSubtask], watch: Watch) -> MeantSubtask | None:
    """What words stand for as things are now: of leaves that sound alike, the first that can be begun; None where none can.

    What is to be moved may first be taken, where the words leave no doubt what that is.
    """
    found = next((meaning for meaning in meanings if meaning.leaf.ready(watch)), None)
    if found is None and len({getattr(meaning.leaf, "thing", "") for meaning in meanings}) == 1:
        wholes = ((meaning, meaning.whole) for meaning in meanings)
        return next((meaning for meaning, whole in wholes if isinstance(whole, Composed) and whole.units[0].ready(watch)), None)
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
    return [leaf.recast(c, scene) for c in changes if len(set(c.values())) == len(c)]


def _sort(entity: Body | Area) -> str:
    """What can stand in for each other: things to be moved, or places that stay."""
    return "place" if isinstance(entity, Area) or entity.fixed else "thing"


def right_now(monitor: Monitor) -> dict[str, GoalNode]:
    """The sub-tasks that would be right to work on now, in words, with the nodes they stand for."""
    found: dict[str, GoalNode] = {}
    for node in monitor.choices():
        if node.goal.words():
            found.setdefault(describe(node.goal, monitor.watch.world.scene), node)
    return found
