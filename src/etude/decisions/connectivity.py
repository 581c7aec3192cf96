"""Which operator may take which, and how the parts of a task graph are drawn at random along that table (iWISDM A.2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from etude.arithmetic import total
from etude.decisions.graph import Const, Count, Exist, Get, Match, Operator, Relative, Select
from etude.decisions.meaning import RELATIONS
from etude.decisions.space import LOCATION, NUMBER, StimulusSpace
from etude.names import Stream

PAPER = ("Get", "Const", "IsSame", "NotSame", "And", "Or")
MOST_COUNTED = 3  # frames a Count looks at


@dataclass(frozen=True)
class TaskSpace:
    """A space of tasks. Ranges are (least, most), both included.

    ``roots`` are operators a question may begin with, ``booleans`` those a condition may begin with, ``operators`` those that may occur
    at all. A root is drawn by what it answers first (true or false, a property, a number), so that no kind of answer is rare.
    ``properties`` come with their weights; ``reported`` may be asked for, ``named`` may be compared with a constant. ``max_depth`` and
    ``max_operators`` hold for each question or condition by itself, in nodes. ``joins`` counts And, Or and Xor of the whole task.
    ``delays`` are empty frames between the objects. ``sharing`` is the chance that a look goes to an object that is already looked at for
    another property.
    """

    roots: tuple[str, ...] = ("IsSame", "NotSame", "And", "Or", "Get")
    booleans: tuple[str, ...] = ("IsSame", "NotSame", "And", "Or")
    operators: tuple[str, ...] = PAPER
    properties: tuple[tuple[str, float], ...] = ((LOCATION, 1.0), ("category", 1.0), ("identity", 1.0))
    reported: tuple[str, ...] = (LOCATION, "category")
    named: tuple[str, ...] = (LOCATION, "category")
    constants: float = 1 / 15
    max_switch: int = 1
    switch_chance: float = 0.0
    max_depth: int = 10
    max_operators: int = 20
    joins: tuple[int, int] = (0, 8)
    frames: tuple[int, int] = (1, 20)
    delays: tuple[int, int] = (0, 2)
    sharing: float = 0.25
    attempts: int = 1000


# ------------------------------------------------------------------------------------------------ which operator takes which

TRUTHS = ("IsSame", "NotSame", "Exist", "Relative", "Not", "And", "Or", "Xor")
VALUES = ("Get", "Const", "Count")


@dataclass(frozen=True)
class OperatorRule:
    """What an operator takes for each input, the least depth and number of nodes from it down, and how AutoTask draws it."""

    takes: tuple[tuple[str, ...], ...]
    depth: int
    size: int
    draw: str = ""
    joins: bool = False


CONNECTIVITY: dict[str, OperatorRule] = {
    "Get": OperatorRule((("Select",),), 2, 2),
    "Const": OperatorRule((), 1, 1),
    "Count": OperatorRule((("Select",),), 2, 3, "number"),
    "IsSame": OperatorRule((VALUES, VALUES), 3, 5, "comparison"),
    "NotSame": OperatorRule((VALUES, VALUES), 3, 5, "comparison"),
    "Exist": OperatorRule((("Select",),), 2, 3, "existence"),
    "Relative": OperatorRule((("Select",), ("Select",)), 2, 3, "relation"),
    "Not": OperatorRule((("IsSame", "NotSame", "Exist", "Relative", "And", "Or", "Xor"),), 3, 4, "inputs"),
    "And": OperatorRule((TRUTHS, TRUTHS), 3, 7, "inputs", joins=True),
    "Or": OperatorRule((TRUTHS, TRUTHS), 3, 7, "inputs", joins=True),
    "Xor": OperatorRule((TRUTHS, TRUTHS), 3, 7, "inputs", joins=True),
}

Maker = Callable[[Sequence[int]], Operator]  # from the frame of every look to the node


@dataclass(frozen=True)
class _Look:
    """A look at a frame for one property. It ``tells`` if it says something on its own, without a second object."""

    property: str
    tells: bool = False


class Unfit(Exception):
    """This drawing leads to no task that fits."""


class GraphAttempt:
    """One attempt at a task."""

    def __init__(self, settings: TaskSpace, stream: Stream, space: StimulusSpace) -> None:
        self.settings, self.stream, self.space = settings, stream, space
        self.looks: list[_Look] = []
        self._spare = 0
        leaves = [CONNECTIVITY[o] for o in settings.operators if o in TRUTHS and CONNECTIVITY[o].draw != "inputs"]
        self._leaf_depth = min((line.depth for line in leaves), default=99)
        self._leaf_size = min((line.size for line in leaves), default=99)

    # ---------------------------------------------------------------------------------------- operators

    def part(self, among: tuple[str, ...], joins: int) -> Maker:
        """A question, or condition, that is true or false and has this many joins."""
        self._spare = self.settings.max_operators - self._size(joins)
        return self.truth(among, joins, self.settings.max_depth)

    def truth(self, among: tuple[str, ...], joins: int, depth: int) -> Maker:
        """An operator that is true or false, and what is below it."""
        options = [name for name in among if name in self.settings.operators and self._fits(name, joins, depth)]
        if not options:
            raise Unfit
        name = self.stream.choice(options)
        made: Maker = getattr(self, CONNECTIVITY[name].draw)(name, joins, depth)
        return made

    def room(self, among: tuple[str, ...]) -> int:
        """How many joins a part can have."""
        if not any(name in self.settings.operators and CONNECTIVITY[name].joins for name in among):
            return 0
        joins = 0
        while self._size(joins + 1) <= self.settings.max_operators and self._depth(joins + 1) <= self.settings.max_depth:
            joins += 1
        return joins

    def _size(self, joins: int) -> int:
        return joins + (joins + 1) * self._leaf_size

    def _depth(self, joins: int) -> int:
        """The least depth with this many joins, each with two inputs."""
        return joins.bit_length() + self._leaf_depth

    def _fits(self, name: str, joins: int, depth: int) -> bool:
        line = CONNECTIVITY[name]
        if line.joins:
            return joins > 0 and self._depth(joins) <= depth
        if name == "Not":
            return self._spare > 0 and self._depth(joins) < depth
        return name in TRUTHS and joins == 0 and line.depth <= depth

    def inputs(self, name: str, joins: int, depth: int) -> Maker:
        """An operator over truths: its joins are shared out over its inputs."""
        takes = CONNECTIVITY[name].takes
        if len(takes) == 1:
            self._spare -= 1
            shares = [joins]
        else:
            first = [k for k in range(joins) if max(self._depth(k), self._depth(joins - 1 - k)) < depth]
            share = self.stream.choice(first)
            shares = [share, joins - 1 - share]
        parts = [self.truth(among, share, depth - 1) for among, share in zip(takes, shares, strict=True)]
        kind = Operator.kinds[name]
        return lambda when: kind(*(part(when) for part in parts))

    def comparison(self, name: str, joins: int, depth: int) -> Maker:
        """Two values of one property; at times one of them is a constant, or a number of objects."""
        kind = Operator.kinds[name]
        ways = [way for way in CONNECTIVITY[name].takes[0] if way in self.settings.operators and way != "Const"]
        if self.stream.choice(ways) == "Count":
            many, count = self._counted()
            number = str(self.stream.integer(0, count))
            return lambda when: kind(many(when), Const(NUMBER, number))
        prop = self._property()
        if prop in self.settings.named and self.stream.chance(self.settings.constants):
            value, look = self._value(prop), self._look(prop, tells=True)
            if self.stream.chance(0.5):
                return lambda when: kind(Const(prop, value), Get(prop, Select(when[look])))
            return lambda when: kind(Get(prop, Select(when[look])), Const(prop, value))
        a, b = self._look(prop), self._look(prop)
        return lambda when: kind(Get(prop, Select(when[a])), Get(prop, Select(when[b])))

    def existence(self, name: str, joins: int, depth: int) -> Maker:
        """Is there, on a frame, an object with this value, or with that of another object?"""
        prop = self._property()
        if prop in self.settings.named and self.stream.chance(0.5):
            value, look = self._value(prop), self._look(prop, tells=True)
            return lambda when: Exist(Select(when[look], (Match(prop, Const(prop, value)),)))
        a, b = self._look(prop), self._look(prop)
        return lambda when: Exist(Select(when[a], (Match(prop, Get(prop, Select(when[b]))),)))

    def relation(self, name: str, joins: int, depth: int) -> Maker:
        """How two objects lie to each other."""
        relation, a, b = self.stream.choice(RELATIONS), self._look(LOCATION), self._look(LOCATION)
        return lambda when: Relative(relation, Select(when[a]), Select(when[b]))  # type: ignore[arg-type]

    def number(self, name: str, joins: int, depth: int) -> Maker:
        """How many objects have a value."""
        return self._counted()[0]

    def report(self, prop: str) -> Maker:
        """What is the property of an object?"""
        look = self._look(prop, tells=True)
        return lambda when: Get(prop, Select(when[look]))

    def _counted(self) -> tuple[Maker, int]:
        prop = self.stream.choice(self.settings.named)
        value, count = self._value(prop), self.stream.integer(2, MOST_COUNTED)
        looks = [self._look(prop, tells=True) for _ in range(count)]

        def made(when: Sequence[int]) -> Operator:
            return Count(tuple(Select(w, (Match(prop, Const(prop, value)),)) for w in sorted((when[k] for k in looks), reverse=True)))

        return made, count

    def _property(self) -> str:
        point = self.stream.uniform(0.0, total(weight for _, weight in self.settings.properties))
        for prop, weight in self.settings.properties:
            point -= weight
            if point < 0:
                return prop
        return self.settings.properties[-1][0]

    def _value(self, prop: str) -> str:
        return self.stream.choice(self.space.values(prop))

    def _look(self, prop: str, tells: bool = False) -> int:
        self.looks.append(_Look(prop, tells))
        return len(self.looks) - 1

    # ---------------------------------------------------------------------------------------- frames

    def frames(self) -> tuple[list[int], int]:
        """How many frames back each look goes, and the number of frames."""
        objects = self._objects()
        count = max(objects) + 1
        (shortest, longest), (fewest, most) = self.settings.frames, self.settings.delays
        most = most if count > 1 else 0
        low, high = max(shortest, count + fewest), min(longest, count + most)
        if low > high:
            raise Unfit
        length = self.stream.integer(low, high)
        gaps: list[int] = []
        while len(gaps) < length - count:  # one empty frame in each gap before any has two
            gaps += self.stream.sample(range(1, count), min(count - 1, length - count - len(gaps)))
        times = [k + sum(gap <= k for gap in gaps) for k in range(count)]
        order = self._order(objects)
        return [length - 1 - times[order[o]] for o in objects], length

    def _objects(self) -> list[int]:
        """The object each look goes to: another one, or one that is looked at for other properties only."""
        (shortest, longest), (fewest, most) = self.settings.frames, self.settings.delays
        least, limit = shortest - most, longest - fewest
        read: list[set[str]] = []
        found = []
        for k, look in enumerate(self.looks):
            pool = [o for o, properties in enumerate(read) if look.property not in properties]
            needed = len(read) + len(self.looks) - k <= least
            if len(read) >= limit or (pool and not needed and self.stream.chance(self.settings.sharing)):
                if not pool:
                    raise Unfit
                chosen = self.stream.choice(pool)
            else:
                chosen = len(read)
                read.append(set())
            read[chosen].add(look.property)
            found.append(chosen)
        return found

    def _order(self, objects: list[int]) -> list[int]:
        """The place of each object in time.

        The last one is, where possible, an object that says nothing without another: otherwise the last frame would often be enough.
        """
        count = max(objects) + 1
        telling = {o for o, look in zip(objects, self.looks, strict=True) if look.tells}
        silent = [o for o in range(count) if o not in telling]
        last = self.stream.choice(silent or range(count))
        rest = self.stream.shuffled([o for o in range(count) if o != last])
        return [rest.index(o) if o != last else count - 1 for o in range(count)]
