"""What went wrong first in an étude, and which ability that shows to be lacking: perception, memory, language, planning or execution."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from etude.goals.branching import Conditional, Exactly, Recollection, Succession
from etude.goals.goal import Always, GoalNode
from etude.goals.leaves import PushedTowards, Touched
from etude.goals.monitor import Monitor
from etude.pose import Vec2, Vec3
from etude.suites.etudes.errands import EARLY, TOO_MANY, UNDONE, WRONG_BRANCH, WRONG_ONE, Errand, Verb, ability, broken

WRONG_THING = "perception: wrong thing"
WRONG_PLACE = "memory: wrong place"
OTHER_WAY = "language: the other way round"
TURNED_BACK = "language: turned the other way"
OTHER_DEED = "language: another deed"
UNASKED = "language: did what nobody asked for"
DROPPED, BESIDE, ASTRAY = "execution: dropped", "execution: put beside it", "execution: pushed astray"
NOT_DONE, SPOILT, FELL = "execution: not done", "execution: spoilt", "execution: came undone"
MISLED, DISOBEYED = "planning: wrong sub-task", "execution: another sub-task than was said"
# Of a thing that plays several parts, the one that tells most.
TELLING = ("memory", "perception", "language", "planning")
ALIGNED, OFF = 15.0, 45.0  # degrees: pushed straight towards something, and not towards it
BACKWARDS = 8.0  # degrees by which a quarter turn the wrong way may be missed
THERE = 0.05  # m about a place


@dataclass(frozen=True)
class Lack:
    """Something that went wrong at a control step. It is made good when all the parts of the goal in ``mends`` come about after all, each
    told with whether it had come about before."""

    words: str
    mends: tuple[tuple[GoalNode, bool], ...] = field(default=(), repr=False)
    step: int = 0

    @classmethod
    def mended_by(cls, words: str, *parts: GoalNode) -> Lack:
        """With the parts of the goal that make it good."""
        return cls(words, tuple((node, node.reached) for node in parts))

    @property
    def made_good(self) -> bool:
        """Has what should have been done instead come about?"""
        return bool(self.mends) and all(node.status.satisfied or (node.reached and not before) for node, before in self.mends)


@dataclass(frozen=True)
class RestingPlace:
    """How a thing came to rest: on what or in which drawer, where (m, world; on a chest in its frame), how far it is turned from how it
    stood at the start (degrees), and whether it ``fell`` there."""

    on: str
    place: Vec3
    turned: float
    fell: bool


def _instead(words: str, asked: Sequence[Errand], wanted: Callable[[Errand], bool] = lambda one: True) -> Lack:
    """Done in place of what was due, or of that of it which was ``wanted``."""
    due = [errand for errand in asked if errand.due]
    found = [errand for errand in due if wanted(errand)] or due
    return Lack.mended_by(words, *{id(node): node for node in (errand.whole or errand.node for errand in found)}.values())


def _not_now(found: Sequence[Errand], asked: Sequence[Errand]) -> Lack | None:
    """Something that the goal speaks of, but does not ask for now."""
    if not found:
        return None
    # What must not be done at all comes before what it would be part of.
    errand = min(found, key=lambda one: (not one.forbidden, one.lack == UNDONE, TELLING.index(one.lack.partition(":")[0])))
    if errand.lack == EARLY:
        return Lack.mended_by(EARLY, errand.node)
    if errand.lack == UNDONE:
        return Lack.mended_by(UNDONE, errand.node) if errand.node.status.satisfied else None
    words = errand.lack + (" begun" if errand.lack.endswith(WRONG_BRANCH) else "")
    return _instead(words, asked) if errand.instead is None else Lack.mended_by(words, errand.instead)


def _other_tower(errand: Errand, asked: Sequence[Errand]) -> Lack:
    """A tower is begun in another order; made good when all of it stands."""
    return Lack.mended_by(EARLY, *(one.node for one in asked if one.tower == errand.tower))


def carried(thing: str, asked: Sequence[Errand]) -> Lack | None:
    """A thing is taken away."""
    own = [errand for errand in asked if errand.thing == thing]
    due = [errand for errand in own if errand.due]
    if any(errand.carries for errand in due):
        return None
    if due:
        return Lack.mended_by(OTHER_DEED, *(errand.node for errand in due))
    if lack := _not_now(own, asked):
        return lack
    below = [errand for errand in asked if errand.due and errand.to == thing]
    if below and below[0].tower:
        return _other_tower(below[0], asked)
    if below:
        return Lack.mended_by(OTHER_WAY, *(errand.node for errand in below))
    alike = any(errand.due and errand.carries for errand in asked)
    return _instead(WRONG_THING if alike else UNASKED, asked, lambda one: one.carries)


def put(thing: str, asked: Sequence[Errand], rest: RestingPlace) -> Lack | None:
    """A thing that was carried has come to rest."""
    due = [errand for errand in asked if errand.thing == thing and errand.due and errand.carries]
    if not due or any(errand.to == rest.on and errand.place is None for errand in due):
        return None
    mends = [errand.whole or errand.node for errand in due]
    turns = [errand.node.goal for errand in due if errand.verb == "turn"]
    if turns and not rest.fell:
        wanted, alike = turns[0].degrees, 360.0 / (turns[0].symmetry or 360)  # type: ignore[attr-defined]
        back = abs((rest.turned + wanted + alike / 2) % alike - alike / 2)
        right = abs((rest.turned - wanted + alike / 2) % alike - alike / 2)
        return Lack.mended_by(TURNED_BACK if back < BACKWARDS and back + BACKWARDS < right else BESIDE, *mends)
    if rest.fell:
        return Lack.mended_by(DROPPED, *mends)
    others = [errand for errand in asked if errand.thing == thing and not errand.due and errand.to == rest.on and errand.carries]
    places = [errand.place for errand in due if errand.place is not None]
    if places and not any(math.dist(place[:2], rest.place[:2]) <= THERE for place in places) and not others:
        return Lack.mended_by(WRONG_PLACE, *mends)
    if others and (lack := _not_now(others, asked)):
        return lack
    for errand in due:
        if rest.on in errand.tower:
            return _other_tower(errand, asked)
    stands = rest.on in ("table", "chest")
    return Lack.mended_by(BESIDE if stands else WRONG_THING, *mends)


def pushed(thing: str, asked: Sequence[Errand], start: Vec3, made: Vec2, others: Mapping[str, Vec3]) -> Lack | None:
    """A thing was pushed away from where it lay, or bumped into; ``made`` is how far (m)."""
    own = [errand for errand in asked if errand.thing == thing and errand.verb == "push"]
    due = [errand for errand in own if errand.due]
    if due:
        off = min(_off(made, start, errand.place) for errand in due if errand.place is not None)
        straight = any(_off(made, start, place) < min(ALIGNED, off - ALIGNED) for place in others.values())
        if off <= OFF and not straight:
            return None
        return Lack.mended_by(WRONG_THING if straight else ASTRAY, *(errand.whole or errand.node for errand in due))
    if lack := _not_now(own, asked):
        return lack
    foreign = not any(errand.thing == thing for errand in asked)
    alike = any(errand.due and errand.verb == "push" for errand in asked)
    return _instead(WRONG_THING, asked, lambda one: one.verb == "push") if foreign and alike else None


def _off(made: Vec2, start: Vec3, place: Vec3) -> float:
    """Degrees between a way and that to a place."""
    way = math.atan2(place[1] - start[1], place[0] - start[0]) - math.atan2(made[1], made[0])
    return abs(math.degrees(math.remainder(way, 2 * math.pi)))


def touched(thing: str, asked: Sequence[Errand]) -> Lack | None:
    """A thing was touched by the empty hand, and left where it is. That happens on many ways, and so counts only where a touch is due, or
    asked for some other time."""
    own = [errand for errand in asked if errand.thing == thing]
    same = [errand for errand in own if errand.lack != UNDONE and (errand.forbidden or errand.verb == "touch")]
    if any(errand.due for errand in own):
        return None
    if same:
        return _not_now(same, asked)
    alike = any(errand.due and errand.verb == "touch" for errand in asked)
    return _instead(WRONG_THING, asked, lambda one: one.verb == "touch") if alike else None


def slid(part: str, verb: Verb, asked: Sequence[Errand], by_hand: bool) -> Lack | None:
    """A drawer was opened or closed, ``by_hand``: by its handle."""
    own = [errand for errand in asked if (errand.thing == part and errand.verb == verb) or (verb == "open" and errand.opens == part)]
    if not by_hand or any(errand.due for errand in own):
        return None
    if lack := _not_now(own, asked):
        return lack
    same = [errand for errand in asked if errand.due and (errand.verb == verb or (verb == "open" and errand.opens))]
    return _instead(WRONG_THING if same else UNASKED, asked, lambda one: one in same)


def first(monitor: Monitor, found: Sequence[Lack], steps: int, misled: int | None, led: bool) -> str:
    """What went wrong first and was not made good. What cannot be mended ends an episode, and so comes last."""
    end = Lack(_end(monitor), step=steps)
    begun = sorted((lack for lack in found if not lack.made_good), key=lambda lack: lack.step)
    lacks = [*(replace(lack, words=end.words) if lack.words == f"{end.words} begun" else lack for lack in begun), end]
    if misled is not None and misled <= lacks[0].step:
        return MISLED
    words = lacks[0].words
    return DISOBEYED if led and words.startswith("planning") else words


def _end(monitor: Monitor) -> str:
    """How things stand at the end."""
    for node in monitor.nodes():
        if final := _final(node):
            return final
    if monitor.status.violated:
        return SPOILT
    leaf = monitor.next_leaf()
    return FELL if leaf is None or leaf.reached else NOT_DONE


def _final(node: GoalNode) -> str:
    """What went wrong for good at a node, if anything did."""
    goal, memory = node.goal, node.memory
    if isinstance(goal, Conditional) and memory.get("wrong"):
        return f"{ability(goal.fact)}: {WRONG_BRANCH}"
    if isinstance(goal, Recollection) and memory.get("wrong"):
        return WRONG_ONE
    if isinstance(goal, Succession) and memory.get("early"):
        return EARLY
    if isinstance(goal, Exactly) and memory.get("over"):
        return TOO_MANY
    if isinstance(goal, Always) and node.status.violated:
        return broken(goal.member)
    if isinstance(goal, (Touched, PushedTowards)) and node.status.violated and memory.get("grasped"):
        return OTHER_DEED
    return ""
