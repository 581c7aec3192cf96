"""What is wanted, as data: a tree of frozen predicates. Inner nodes are here, leaves in :mod:`etude.goals.leaves`.

A goal knows how to judge itself against a :class:`~etude.goals.watch.Watch` (what can be seen of a world after a control step) and a
memory of its own; the :class:`~etude.goals.monitor.Monitor` keeps the memories. Rewards are instantaneous, as in ClevrSkills.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from etude.arithmetic import total
from etude.names import EtudeError, Family
from etude.pose import Array, Vec3
from etude.scene.scene import Entity, Scene

if TYPE_CHECKING:
    from etude.goals.adapting import Room, Scaled
    from etude.goals.watch import Watch

T = TypeVar("T")
# Metadata of fields with goals: no part of what is wanted; or a way to it, of which it matters only which things are named.
UNASKED, WAY = {"asked": False}, {"asked": "way"}
SWAYING = 0.95  # progress of what is as it should be, but not at rest


class Undeclared(EtudeError):
    """A goal, or a part of one, does not say what it is asked: nobody else can know."""


def undeclared(one: Family, what: str) -> Undeclared:
    """The error for what this one does not say."""
    return Undeclared(f"the {'goal' if isinstance(one, Goal) else 'region'} {type(one).__name__} does not say {what}")


class Status(NamedTuple):
    """How a goal stands after a control step. ``progress`` is from 0 to 1; a ``violated`` goal can never be satisfied again."""

    satisfied: bool
    progress: float
    reward: float
    violated: bool = False


@dataclass
class GoalNode:
    """A goal with its memory and those of its members: one monitor's view of the tree. ``reached``: it has held at some moment."""

    goal: Goal
    path: str
    members: list[GoalNode]
    status: Status = Status(False, 0.0, 0.0)
    memory: dict[str, Any] = field(default_factory=dict)
    begun: bool = False
    reached: bool = False

    @classmethod
    def of(cls, goal: Goal, path: str) -> GoalNode:
        """A goal and all below it, each with a memory that is still empty."""
        return cls(goal, path, [cls.of(part, f"{path}.{i}") for i, part in enumerate(goal.parts())])

    def listed(self) -> list[GoalNode]:
        """The node and all below it, parents first."""
        return [self, *(one for member in self.members for one in member.listed())]

    def sways(self) -> bool:
        """Was the goal brought about, and is disturbed for a moment? What was never looked at was not."""
        return self.begun and self.goal.sways(self)

    def judge(self, watch: Watch) -> Status:
        """Look again; a goal that is looked at for the first time begins now."""
        if not self.begun:
            self.begun = True
            self.goal.begin(watch, self.memory)
        self.status = status = self.goal.judge(watch, self)
        if status.satisfied:
            self.reached = True
        return status


class Goal(Family):
    """Base of all goals: frozen dataclasses. A leaf says all there is to know about it: how it is judged, what it is called, how it follows
    a thing that is scaled, what must stay free for it, and what its progress shows; :func:`etude.skills.oracle.skill` adds how it is done.

    What only names things and holds other goals need not speak of sizes and places. Where a leaf has numbers of its own, only it can tell
    which of them are lengths of a thing or places on the table; until it does, perturbations that have to know are refused. A field called
    ``joint`` names a joint ("cabinet/top") whose whole travel is kept free.
    """

    sayable: ClassVar[bool] = True  # can somebody be told to do it, where it has words?

    def parts(self) -> tuple[Goal, ...]:
        """The members of an inner node: the goals in its fields, in their order."""
        return tuple(_held(self))

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        """Note what must be remembered from the moment the goal is first looked at."""

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        """How the goal stands now."""
        raise TypeError(f"{type(self).__name__} cannot be judged")

    def displaced(self, memory: dict[str, Any], thing: str, shift: Array) -> None:
        """Somebody else has moved a thing by ``shift`` (3,) m, world: what is remembered of where it was moves along."""

    def following(self, node: GoalNode) -> GoalNode | None:
        """The leaf to work on next: the node itself unless it is satisfied."""
        return None if node.status.satisfied else node

    def sways(self, node: GoalNode) -> bool:
        """Was it brought about, and is disturbed for a moment, by what is done beside it? Then something else is worked on first."""
        return False

    def choices(self, node: GoalNode) -> list[GoalNode]:
        """Every leaf that may be worked on next; the first is :meth:`following`'s, unless the order is free."""
        following = self.following(node)
        return [] if following is None else [following]

    def words(self) -> str:
        """The goal as a sub-task in words, names of entities between braces. Groups have none: their members do.

        With an article, "the {red cube 1}", a thing is told with its number only where another is called the same.
        """
        return ""

    def saying(self, node: GoalNode) -> str:
        """The sub-task that is worked on now, in words."""
        return self.words()

    def ready(self, watch: Watch) -> bool:
        """Can it be begun now, as its words have it?"""
        return True

    def undoing(self) -> str:
        """In words, what would make the goal false."""
        return f"Undo: {self.words()}"

    def recast(self, names: Mapping[str, str], scene: Scene) -> Goal:
        """What its words mean with other things of the scene in the fields of these names."""
        return replace(self, **names)  # type: ignore[type-var]

    def scaled(self, change: Scaled) -> Goal:
        """The goal for a scene in which a thing is scaled; raises :class:`EtudeError` where it could hold in no other size."""
        self._refuse_numbers("how it follows a thing that is scaled; give it a method scaled(change)")

        def followed(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(followed, value))
            return value.scaled(change) if isinstance(value, Goal) else value

        return replace(self, **{f.name: followed(getattr(self, f.name)) for f in fields(self)})  # type: ignore[type-var, arg-type]

    def unchanged(self, change: Scaled) -> Goal:
        """For leaves whose numbers do not depend on the size of anything: ``scaled = Goal.unchanged``."""
        return self

    def destinations(self, room: Room) -> Iterable[Array]:
        """Outlines (N, 2) on the table (m, world) where things must go, or pass, with room for them."""
        self._refuse_numbers("where on the table things must go; give it a method destinations(room)")
        return [ring for member in _held(self) for ring in member.destinations(room)]

    def nowhere(self, room: Room) -> Iterable[Array]:
        """For leaves that need no place kept free: ``destinations = Goal.nowhere``."""
        return ()

    def noted(self, node: GoalNode) -> dict[str, Any]:
        """What a record keeps of it besides its status, as plain data."""
        return {}

    def grasp(self) -> str:
        """The thing that fingers have to get round, beside which there must be room for them; empty where there is none."""
        return ""

    def shown(self, node: GoalNode, scene: Scene) -> Iterable[Entity]:
        """Entities of the scene that follow its progress, as they should look now."""
        return ()

    def _refuse_numbers(self, what: str) -> None:
        if any(_numbers(getattr(self, f.name)) for f in fields(self)):  # type: ignore[arg-type]
            raise undeclared(self, what)


def _numbers(value: Any) -> bool:
    """Is there anything in it but names, switches and other goals?"""
    return any(map(_numbers, value)) if isinstance(value, tuple) else not isinstance(value, (Goal, str, bool, type(None)))


def _held(value: Any) -> Iterator[Goal]:
    """The goals in the fields of a goal, but for those that are not asked for."""
    for one in value if isinstance(value, tuple) else (getattr(value, f.name) for f in fields(value) if f.metadata.get("asked", True)):
        if isinstance(one, Goal):
            yield one
        elif isinstance(one, tuple):
            yield from _held(one)


def every(goal: Goal, kind: type[T]) -> list[T]:
    """Every part of a goal that is of a kind, itself included."""
    found = [goal] if isinstance(goal, kind) else []
    return found + [one for member in _held(goal) for one in every(member, kind)]


def spoken_place(position: Vec3, height: bool = False) -> str:
    """A place in words: ``{pos:0.10 -0.20}`` (m, world)."""
    return "{pos:" + " ".join(f"{v:.2f}" for v in (position if height else position[:2])) + "}"


def listed(names: tuple[str, ...], article: bool = False) -> str:
    """Entities in words: ``{a}, {b} and {c}``, or each with its article."""
    marked = [f"the {{{name}}}" if article else f"{{{name}}}" for name in names]
    return " and ".join([", ".join(marked[:-1]), marked[-1]] if len(marked) > 1 else marked)


class _Group(Goal):
    members: tuple[Goal, ...]

    def ahead(self, node: GoalNode) -> list[GoalNode]:
        """The members that may be worked on."""
        return node.members

    def following(self, node: GoalNode) -> GoalNode | None:
        left = [member for member in self.ahead(node) if not member.status.satisfied]
        open_ones = [member for member in left if not member.sways()]
        first = next(iter(open_ones or left), None)
        return None if first is None else first.goal.following(first)

    def sways(self, node: GoalNode) -> bool:
        """All that is left of it sways."""
        left = [member for member in node.members if not member.status.satisfied]
        return bool(left) and all(member.sways() for member in left)

    def choices(self, node: GoalNode) -> list[GoalNode]:
        following = self.following(node)
        if following is None:
            return []
        turn = next(m for m in node.members if f"{following.path}.".startswith(f"{m.path}."))
        return turn.goal.choices(turn)

    def _any_order(self, node: GoalNode) -> list[GoalNode]:
        return [leaf for m in node.members if not m.status.satisfied for leaf in m.goal.choices(m)]


@dataclass(frozen=True)
class All(_Group):
    """Every member is satisfied now, in whatever order they came about."""

    members: tuple[Goal, ...]

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        done = progress = 0.0
        best: float | None = None  # of those that are open
        violated = False
        for member in node.members:
            satisfied, share, reward, lost = member.judge(watch)
            progress += share
            violated = violated or lost
            if satisfied:
                done += reward
            elif best is None or reward > best:
                best = reward
        return Status(best is None, progress / max(1, len(node.members)), done + (best or 0.0), violated)

    def choices(self, node: GoalNode) -> list[GoalNode]:
        return self._any_order(node)


@dataclass(frozen=True)
class Sequence(_Group):
    """Every member is satisfied now; they count from the first on, and must stay satisfied."""

    members: tuple[Goal, ...]

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        found = [m.judge(watch) for m in node.members]
        reward, progress, intact = 0.0, 0.0, True
        for status in found:
            if intact:
                reward += status.reward
                progress += status.progress
            intact = intact and status.satisfied
        return Status(all(s.satisfied for s in found), progress / max(1, len(found)), reward, any(s.violated for s in found))


@dataclass(frozen=True)
class Order(_Group):
    """One member after the other; what was once achieved need not last. A member is first looked at when its turn comes."""

    members: tuple[Goal, ...]

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(turn=0, best=[0.0] * len(self.members))

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        memory, count = node.memory, len(self.members)
        status = Status(True, 1.0, 0.0)
        while memory["turn"] < count:
            turn = memory["turn"]
            status = node.members[turn].judge(watch)
            memory["best"][turn] = max(memory["best"][turn], status.reward)
            if not status.satisfied:
                break
            memory["turn"] = turn + 1
        turn = memory["turn"]
        if turn == count:
            return Status(True, 1.0, total(memory["best"]))
        return Status(False, (turn + min(status.progress, 1.0)) / count, total(memory["best"][:turn]) + status.reward, status.violated)

    def following(self, node: GoalNode) -> GoalNode | None:
        turn: int = node.memory.get("turn", 0)
        if turn >= len(node.members):
            return None
        return node.members[turn].goal.following(node.members[turn])


@dataclass(frozen=True)
class Swap(_Group):
    """A detour, then two placements that must both hold at the end: the first member only clears the way."""

    members: tuple[Goal, ...]

    def __post_init__(self) -> None:
        if len(self.members) < 2:
            raise EtudeError(f"a swap needs a detour and what follows it, got {len(self.members)} members")

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(turn=0, best=[0.0] * len(self.members))

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        found = [m.judge(watch) for m in node.members]
        best, turn = node.memory["best"], node.memory["turn"]
        while turn < len(found) and found[turn].satisfied:
            best[turn] = max(best[turn], found[turn].reward)
            turn += 1
        node.memory["turn"] = turn
        satisfied = all(s.satisfied for s in found[1:])
        reward = total(best[:turn]) + (found[turn].reward if turn < len(found) else 0.0)
        progress = 1.0 if satisfied else min(0.99, (turn + (found[turn].progress if turn < len(found) else 0.0)) / len(found))
        return Status(satisfied, progress, reward, any(s.violated for s in found))

    def following(self, node: GoalNode) -> GoalNode | None:
        if node.status.satisfied:
            return None
        first, *rest = node.members
        turn = node.memory.get("turn", 0)
        if turn == 0 and not any(m.status.satisfied for m in rest):
            return first.goal.following(first)
        for member in rest:
            if not member.status.satisfied:
                return member.goal.following(member)
        return None


@dataclass(frozen=True)
class Once(Goal):
    """The member was satisfied at some moment; its reward stays what it was then."""

    member: Goal

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        if "then" not in node.memory:
            status = node.members[0].judge(watch)
            if not status.satisfied:
                return status
            node.memory["then"] = status.reward
        return Status(True, 1.0, node.memory["then"])

    def following(self, node: GoalNode) -> GoalNode | None:
        return None if node.status.satisfied else node.members[0].goal.following(node.members[0])

    def choices(self, node: GoalNode) -> list[GoalNode]:
        return [] if node.status.satisfied else node.members[0].goal.choices(node.members[0])


@dataclass(frozen=True)
class Either(_Group):
    """At least one member is satisfied now."""

    members: tuple[Goal, ...]

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        found = [m.judge(watch) for m in node.members]
        return Status(
            any(s.satisfied for s in found),
            max((s.progress for s in found), default=0.0),
            max((s.reward for s in found), default=0.0),
            bool(found) and all(s.violated for s in found),
        )

    def following(self, node: GoalNode) -> GoalNode | None:
        if node.status.satisfied or not node.members:
            return None
        best = max(node.members, key=lambda m: m.status.progress)
        return best.goal.following(best)

    def choices(self, node: GoalNode) -> list[GoalNode]:
        return [] if node.status.satisfied else self._any_order(node)


@dataclass(frozen=True)
class Not(Goal):
    """The member is not satisfied now."""

    member: Goal

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        status = node.members[0].judge(watch)
        return Status(not status.satisfied, 1.0 - status.progress, 0.0)

    def words(self) -> str:
        return self.member.undoing()


@dataclass(frozen=True)
class Always(Goal):
    """The member has held at every moment so far; once it did not, the goal is violated for good."""

    member: Goal

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        kept = node.memory.get("kept", True) and node.members[0].judge(watch).satisfied
        node.memory["kept"] = kept
        return Status(kept, float(kept), 0.0, not kept)

    def words(self) -> str:
        return self.member.words()


class Throughout(Always):
    """The same, as a rule for all that is done meanwhile: that is nothing that anybody could be told to do next."""

    sayable = False
