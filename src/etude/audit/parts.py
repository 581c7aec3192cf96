"""Which things a goal names, in which parts, and what else could play them: the choices of an episode, read off its goal and its scene."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from etude.audit.symmetry import Pattern, assignments, canonical, exchangeable, mentions, symmetries
from etude.catalog.registry import shape as find_shape
from etude.episodes import Episode
from etude.goals.goal import WAY, All, Either, Swap
from etude.goals.goal import Sequence as InSequence
from etude.pose import Pose, Vec2
from etude.scene.scene import Area, Body, Entity, Fixture, Scene
from etude.suites.building import workspace
from etude.suites.suite import SUITES

MOVED, RECEIVING = "manipulated", "receiving"
_UNORDERED = (All, Either, InSequence, Swap)
HERE = 1e-4  # m: a goal that is so near to where a thing stands means that place
Kind = tuple[str, ...]
Played = Mapping[tuple[Any, ...], frozenset[str]]


@dataclass(frozen=True)
class Candidate:
    """What could be chosen: an entity, or a jointed part of one ("cabinet/top").

    ``index`` counts through the scene's list; ``place`` (m, world) is where it stands; ``volume`` (m³) is that of its box.
    """

    name: str
    index: int
    kind: Kind
    form: tuple[Any, ...]  # shape and size: what it is, whatever it is painted like
    shape: str
    texture: str
    place: Vec2
    volume: float

    @property
    def number(self) -> int | None:
        """The last number in its name."""
        found = re.findall(r"\d+", self.name)
        return int(found[-1]) if found else None


@dataclass(frozen=True)
class Named:
    """What an episode says about its things before anything is known of its task: those named by its goal, each with its part."""

    episode: str
    candidates: tuple[Candidate, ...]
    parts: tuple[tuple[str, str], ...]  # (name, role)
    pattern: Pattern
    held: str
    text: str
    middle: Vec2


@dataclass(frozen=True)
class ChoiceSlot:
    """One thing to be chosen: the right one, and all that could play this part."""

    role: str
    right: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class ChoiceCase:
    """The choices of one episode. ``chance``: how often one is right who draws every one of them uniformly, no thing twice."""

    episode: str
    slots: tuple[ChoiceSlot, ...]
    pattern: Pattern
    chance: float
    text: str
    middle: Vec2
    hand: Vec2

    def right(self, chosen: Sequence[str]) -> bool:
        """Do these things, one for each slot, make the same goal? Those that are told apart by nothing may stand for each other."""
        numbers = {slot.right: k for k, slot in enumerate(self.slots)}
        if len(chosen) < len(self.slots) or not all(name in numbers for name in chosen):
            return False
        return canonical(self.pattern, [numbers[name] for name in chosen]) == canonical(self.pattern)


# ------------------------------------------------------------------------------------------------ one episode


def named(episode: Episode) -> Named:
    """The things that the goal names: those with a role first, in the order of the roles, then as the goal comes to them."""
    there = {c.name: c for c in candidates(episode.scene)}
    starts = {c.name: c.place for c in there.values() if "/" not in c.name}
    roles = {name: role for role, name in reversed(episode.roles)}
    asked = dict.fromkeys((*(name for _, name in episode.roles), *_names(episode.goal)))
    numbers = {name: k for k, name in enumerate(name for name in asked if name in there)}
    used = {k for k in numbers.values() if mentions(_pattern(episode.goal, numbers, starts, {}), k)}
    found = [name for name, k in numbers.items() if k in used]
    pattern = _pattern(episode.goal, {name: k for k, name in enumerate(found)}, starts, {})
    low, high = workspace(SUITES[episode.parsed.suite], episode.scene)
    return Named(
        episode.name, tuple(there.values()), tuple((name, roles.get(name, "")) for name in found), ("goal", pattern), episode.held,
        episode.instruction.text, ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2),
    )  # fmt: skip


def candidates(scene: Scene) -> Iterator[Candidate]:
    """Bodies, areas, furniture and its jointed parts, in the order of the scene. Markers, grains and dirt are no choice of their own."""
    for index, entity in enumerate(scene.entities):
        if isinstance(entity, (Body, Area)):
            kind: Kind = (type(entity).__name__, str(getattr(entity, "fixed", True)))
            form = entity.shape, None if entity.size is None else tuple(round(s, 2) for s in entity.size)
            yield Candidate(
                entity.name, index, kind, form, entity.shape, entity.texture, entity.pose.position[:2], _volume(entity.shape, entity.size)
            )
        elif isinstance(entity, Fixture):
            place = entity.pose.position[:2]
            yield Candidate(entity.name, index, ("Fixture",), (), entity.name, "", place, 1.0)
            for k, part in enumerate(entity.jointed()):
                assert part.joint is not None
                kind = ("part", entity.name, part.joint.kind, str(part.joint.axis), str(part.joint.range))
                x, y, _ = part.pose.position
                yield Candidate(f"{entity.name}/{part.name}", k, kind, (), part.name, "", (place[0] + x, place[1] + y), 1.0)


@functools.cache
def _volume(name: str, size: tuple[float, float, float] | None) -> float:
    lower, upper = find_shape(name, size).bounds
    return math.prod(float(b - a) for a, b in zip(lower, upper, strict=True))


def _names(value: Any) -> Iterator[str]:
    """Every text in a goal, in order: names of things are among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _names(one)
    elif is_dataclass(value):
        for name in _asked(value):
            yield from _names(getattr(value, name))


def _asked(value: Any) -> list[str]:
    """The fields of a goal that say what is wanted; what else a planner could ask for is not among them."""
    return [f.name for f in fields(value) if f.metadata.get("asked", True)]


def _ways(value: Any) -> frozenset[str]:
    """The fields of a goal that only say how it may come about: of what is in them it matters which things they name."""
    return frozenset(f.name for f in fields(value) if f.metadata == WAY)


def _pattern(value: Any, numbers: Mapping[str, int], starts: Mapping[str, Vec2], values: dict[Any, int]) -> Any:
    """A goal with numbers in place of things and of values. What is meant by a place where a thing stands is that thing."""
    if isinstance(value, str):
        if value in numbers:
            return "#", numbers[value]
        return "" if "{" in value or " " in value else value
    if _is_place(value):
        at = next((name for name, start in starts.items() if math.dist(start, value[:2]) < HERE), None)
        return ("at", numbers.get(at, at)) if at is not None else ("value", values.setdefault(value, len(values)))
    if isinstance(value, tuple):
        found = [_pattern(one, numbers, starts, values) for one in value]
        unordered = all(isinstance(one, str) for one in value) or all(_is_place(one) for one in value)
        return ("set" if unordered else "row", *found)
    if isinstance(value, Pose):
        return _pattern(value.position, numbers, starts, values), _pattern(("row", *value.rotation), numbers, starts, values)
    if is_dataclass(value) and not isinstance(value, type):
        return _leaf(value, numbers, starts, values)
    return ("value", values.setdefault((type(value).__name__, value), len(values)))


def _leaf(value: Any, numbers: Mapping[str, int], starts: Mapping[str, Vec2], values: dict[Any, int]) -> Any:
    held = {name: getattr(value, name) for name in _asked(value)}
    own = {starts[one] for one in held.values() if isinstance(one, str) and one in starts}
    parts: list[Any] = [type(value).__name__]
    places = [p for one in held.values() if (p := _place(one)) is not None]
    ways = _ways(value)
    stays = any(math.dist(p, start) < HERE for p in places for start in own)  # numbers of what turns on the spot are its own
    for name, one in held.items():
        if name in ways:
            parts.append(("set", *(("#", numbers[thing]) for thing in dict.fromkeys(_names(one)) if thing in numbers)))
        elif isinstance(value, _UNORDERED) and name == "members":  # what must hold in the end; of a swap, the first is but a detour
            kept = one[1:] if isinstance(value, Swap) else one
            parts.append(("set", *(_pattern(member, numbers, starts, values) for member in kept)))
        elif not ((stays and not isinstance(one, (str, tuple))) or (stays and _place(one) is not None)):
            parts.append(_pattern(one, numbers, starts, values))
    return tuple(parts)


def _is_place(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) in (2, 3) and all(isinstance(one, float) for one in value)


def _place(value: Any) -> Vec2 | None:
    if isinstance(value, Pose):
        return value.position[:2]
    return value[:2] if _is_place(value) else None


# ------------------------------------------------------------------------------------------------ a task


def played(looks: Iterable[Named]) -> Played:
    """Which roles things of each shape have played in some episodes. Sizes are left out: they may be what is asked for."""
    found: dict[tuple[Any, ...], set[str]] = {}
    for one in looks:
        things = {c.name: c for c in one.candidates}
        for name, role in one.parts:
            if role:
                found.setdefault((things[name].kind, things[name].shape), set()).add(role)
    return {form: frozenset(roles) for form, roles in found.items()}


def given(looks: Sequence[Named]) -> frozenset[str]:
    """Things that a task is always about, with no other of their shape beside them: the rubbish, the cupboard. They are no choice."""
    always = frozenset.intersection(*(frozenset(name for name, _ in look.parts) for look in looks)) if looks else frozenset()
    shapes = [Counter((c.kind, c.shape) for c in look.candidates) for look in looks]
    return frozenset(
        c.name for c in (looks[0].candidates if looks else ()) if c.name in always and all(n[c.kind, c.shape] == 1 for n in shapes)
    )


def case(look: Named, known: Played, fixed: frozenset[str], hand: Vec2) -> ChoiceCase:
    """The choices of an episode. A thing could play a part if it is of the kind of the right one, and not of a form that is only ever seen
    in other parts: who knows the task knows that a bowl is not what goes into the bowl. Things in ``fixed`` are no choice."""
    things = {c.name: c for c in look.candidates}
    roles = {c.name: known.get((c.kind, c.shape), frozenset()) for c in look.candidates}
    taken = fixed | {look.held}
    slots = []
    for name, told in look.parts:
        right = things[name]
        usual = RECEIVING if roles[name] == {RECEIVING} or right.kind != ("Body", "False") else MOVED
        role = told or usual

        def fits(c: Candidate, right: Candidate = right, role: str = role) -> bool:
            if c.name == right.name:
                return True
            return c.kind == right.kind and c.name not in taken and (not roles[c.name] or role in roles[c.name])

        pool = (right,) if name in taken else tuple(c for c in look.candidates if fits(c))
        slots.append(ChoiceSlot(role, name, pool))
    return ChoiceCase(look.episode, tuple(slots), look.pattern, _chance(slots, look.pattern), look.text, look.middle, hand)


def _chance(slots: Sequence[ChoiceSlot], pattern: Pattern) -> float:
    """How often one is right who draws: a thing for each slot, none twice; and where all of a kind are wanted for one part, a kind."""
    pools = [{c.name for c in slot.candidates} for slot in slots]
    allowed = [frozenset(k for k, slot in enumerate(slots) if slot.right in pool) for pool in pools]
    kinds, drawn, taken = 1, set[int](), set[str]()
    for members in exchangeable(pattern, tuple(allowed)):
        left, wanted = [c for c in slots[members[0]].candidates if c.name not in taken], {slots[k].right for k in members}
        if len(members) > 1 and (count := _kinds(left, wanted)):
            kinds, drawn, taken = kinds * count, drawn | {*members}, taken | wanted
    allowed = [frozenset({k}) if k in drawn else mine - drawn for k, mine in enumerate(allowed)]
    ways = assignments([sorted(pool - taken) for k, pool in enumerate(pools) if k not in drawn])
    return symmetries(pattern, tuple(allowed)) / ways / kinds


def _kinds(pool: Sequence[Candidate], wanted: set[str]) -> int:
    """How many kinds of things there are, by what the wanted ones have in common, form or texture; 0 if nothing, or others have it too."""

    def look(c: Candidate) -> tuple[Any, ...]:
        return tuple(value for value, common in (((c.form, c.kind), forms), (c.texture, textures)) if len(common) == 1)

    right = [c for c in pool if c.name in wanted]
    forms, textures = {(c.form, c.kind) for c in right}, {c.texture for c in right}
    looks = [look(c) for c in pool]
    return len(set(looks)) if look(right[0]) and looks.count(look(right[0])) == len(right) else 0


def entity_of(name: str) -> str:
    """The entity that a name is of: that of a part is its furniture's."""
    return name.partition("/")[0]


def role_entities(episode: Episode) -> list[Entity]:
    """The things with a role, each once."""
    return [episode.scene.entity(name) for name in dict.fromkeys(name for _, name in episode.roles)]
