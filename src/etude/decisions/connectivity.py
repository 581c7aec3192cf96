"""The space that AutoTask draws from, and one attempt at a task of it (iWISDM A.2.1)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from etude.arithmetic import total
from etude.decisions.logic import Joining
from etude.decisions.operator import Operator, operator_class
from etude.decisions.space import LOCATION, StimulusSpace
from etude.names import Stream

PAPER = ("Get", "Const", "IsSame", "NotSame", "And", "Or")


@dataclass(frozen=True)
class TaskSpace:
    """A space of tasks. Ranges are (least, most), both included.

    ``roots`` are operators a question may begin with, ``booleans`` those a condition may begin with, ``operators`` those that may occur
    at all. A root is drawn by what it answers first (true or false, a property, a number), so that no kind of answer is rare.
    ``properties`` come with their weights; ``reported`` may be asked for, ``named`` may be compared with a constant. ``max_depth`` and
    ``max_operators`` hold for each question or condition by itself, in nodes. ``joins`` counts And, Or and Xor of the whole
    task; an operator of three truths counts for two.
    ``delays`` are empty frames between the objects: as many as fit, or where ``delay_chance`` is given, one after each object with this
    chance. ``sharing`` is the chance that a look goes to an object that is already looked at for
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
    delay_chance: float | None = None
    sharing: float = 0.25
    attempts: int = 1000


Maker = Callable[[Sequence[int]], Operator]  # from the frame of every look to the node


@dataclass(frozen=True)
class _Look:
    """A look at a frame for one property. It ``tells`` if it says something on its own, without a second object."""

    property: str
    tells: bool = False


class Unfit(Exception):
    """This drawing leads to no task that fits."""


@functools.cache
def _drawable(operators: tuple[str, ...], gives: str) -> tuple[str, ...]:
    return tuple(name for name in operators if operator_class(name).gives == gives)


@functools.cache
def _least_leaf(operators: tuple[str, ...], gives: str) -> tuple[int, int]:
    """The least depth and number of nodes of what joins nothing."""
    leaves = [kind.least for kind in map(operator_class, _drawable(operators, gives)) if not issubclass(kind, Joining)]
    return min((depth for depth, _ in leaves), default=99), min((size for _, size in leaves), default=99)


@functools.cache
def _shares(joins: int, inputs: int, depth: int) -> tuple[tuple[int, ...], ...]:
    """Every way to share out joins over inputs, each at most this deep above what joins nothing."""
    if joins < 0 or inputs == 0:
        return ()
    if inputs == 1:
        return ((joins,),) if joins.bit_length() <= depth else ()
    firsts = [k for k in range(joins + 1) if k.bit_length() <= depth]
    return tuple((first, *rest) for first in firsts for rest in _shares(joins - first, inputs - 1, depth))


class GraphAttempt:
    """One attempt at a task. Operators draw themselves, and ask here for looks at objects and for what is below them."""

    def __init__(self, settings: TaskSpace, stream: Stream, space: StimulusSpace) -> None:
        self.settings, self.stream, self.space = settings, stream, space
        self.spare = 0
        self.alternatives: list[tuple[range, range]] = []  # looks of which only the ones or the others will be needed
        self._looks: list[_Look] = []
        self._least = {gives: _least_leaf(settings.operators, gives) for gives in ("truth", "act")}

    # ---------------------------------------------------------------------------------------- operators

    def drawable(self, gives: str) -> tuple[str, ...]:
        """The operators that may be drawn as a "truth", a "value" or an "act", by name, in the order of the settings."""
        return _drawable(self.settings.operators, gives)

    def part(self, among: tuple[str, ...], joins: int) -> Maker:
        """A question, or condition, that is true or false and has this many joins."""
        self.spare = self.settings.max_operators - self._size(joins)
        return self.below("truth", among, joins, self.settings.max_depth)

    def below(self, gives: str, among: tuple[str, ...], joins: int, depth: int) -> Maker:
        """An operator that gives a "truth" or an "act", and what is below it."""
        options = self.options(gives, among, joins, depth)
        if not options:
            raise Unfit
        return operator_class(self.stream.choice(options)).drawn(self, joins, depth)

    def options(self, gives: str, among: tuple[str, ...], joins: int, depth: int) -> list[str]:
        """The operators that can stand for one with so many joins, itself included, and at most this depth."""
        allowed = self.drawable(gives)
        return [name for name in among if name in allowed and operator_class(name).fits(self, joins, depth)]

    def end(self, kind: str) -> Maker:
        """A question that is answered with a number, or a value of a property."""
        roots = [root for root in map(operator_class, self.settings.roots) if kind in root.ends(self.settings)]
        return (roots[0] if len(roots) == 1 else self.stream.choice(roots)).drawn_end(self, kind)

    def room(self, among: tuple[str, ...]) -> int:
        """How many joins a part can have."""
        if not any(name in self.settings.operators and operator_class(name).joins() for name in among):
            return 0
        joins = 0
        while self._size(joins + 1) <= self.settings.max_operators and self.depth(joins + 1) <= self.settings.max_depth:
            joins += 1
        return joins

    def _size(self, joins: int) -> int:
        return joins + (joins + 1) * self._least["truth"][1]

    def depth(self, joins: int, gives: str = "truth") -> int:
        """The least depth with this many joins, each with two inputs."""
        return joins.bit_length() + self._least[gives][0]

    def shares(self, joins: int, inputs: int, depth: int, gives: str = "truth") -> tuple[tuple[int, ...], ...]:
        """Every way to share out joins over inputs of at most this depth."""
        return _shares(joins, inputs, depth - self._least[gives][0])

    def property(self) -> str:
        """One of the properties, by their weights."""
        point = self.stream.uniform(0.0, total(weight for _, weight in self.settings.properties))
        for prop, weight in self.settings.properties:
            point -= weight
            if point < 0:
                return prop
        return self.settings.properties[-1][0]

    def named_value(self, prop: str) -> str:
        """The name of one of a property's values."""
        return self.stream.choice(self.space.values(prop))

    def look(self, prop: str, tells: bool = False) -> int:
        """Look at an object for a property; it ``tells`` if it says something without a second one. Gives the number of the look."""
        self._looks.append(_Look(prop, tells))
        return len(self._looks) - 1

    # ---------------------------------------------------------------------------------------- frames

    def frames(self) -> tuple[list[int], int]:
        """How many frames back each look goes, and the number of frames."""
        objects = self.objects()
        count = max(objects) + 1
        (shortest, longest), (fewest, most) = self.settings.frames, self.settings.delays
        most = most if count > 1 else 0
        low, high = max(shortest, count + fewest), min(longest, count + most)
        gaps: list[int] = []
        if self.settings.delay_chance is not None:
            for gap in range(count - 1, 0, -1):  # from the last object back, as the original's do
                if len(gaps) < most and self.stream.chance(self.settings.delay_chance):
                    gaps.append(gap)
            length = count + len(gaps)
        else:
            length = self.stream.integer(low, high) if low <= high else 0
            while len(gaps) < length - count:  # one empty frame in each gap before any has two
                gaps += self.stream.sample(range(1, count), min(count - 1, length - count - len(gaps)))
        if not low <= length <= high:
            raise Unfit
        times = [k + sum(gap <= k for gap in gaps) for k in range(count)]
        order = self._order(objects)
        return [length - 1 - times[order[o]] for o in objects], length

    def looked(self) -> int:
        """How many looks there are by now."""
        return len(self._looks)

    def looks_for(self, look: int) -> str:
        """The property that a look is for."""
        return self._looks[look].property

    def together(self, look: int, others: Mapping[int, str]) -> bool:
        """May a look go to the object that these others go to, each with its property? So it may if they are for other properties."""
        return self._looks[look].property not in others.values()

    def objects(self) -> list[int]:
        """The object each look goes to: another one, or one at which it may look together with others."""
        (shortest, longest), (fewest, most) = self.settings.frames, self.settings.delays
        least, limit = shortest - most, longest - fewest
        read: list[dict[int, str]] = []
        found = []
        for k in range(self.looked()):
            pool = [o for o, others in enumerate(read) if self.together(k, others)]
            needed = len(read) + self.looked() - k <= least
            if len(read) >= limit or (pool and not needed and self.stream.chance(self.settings.sharing)):
                if not pool:
                    raise Unfit
                chosen = self.stream.choice(pool)
            else:
                chosen = len(read)
                read.append({})
            read[chosen][k] = self._looks[k].property
            found.append(chosen)
        return found

    def _order(self, objects: list[int]) -> list[int]:
        """The place of each object in time.

        The last one is, where possible, an object that says nothing without another: otherwise the last frame would often be enough.
        """
        count = max(objects) + 1
        telling = {o for o, look in zip(objects, self._looks, strict=True) if look.tells}
        silent = [o for o in range(count) if o not in telling]
        last = self.stream.choice(silent or range(count))
        rest = self.stream.shuffled([o for o in range(count) if o != last])
        return [rest.index(o) if o != last else count - 1 for o in range(count)]
