"""Predicates about holding and placing things."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from etude.arithmetic import dot, product
from etude.catalog.polygon import Outline, contains
from etude.catalog.registry import shape
from etude.goals.goal import Goal, GoalNode, Status, listed, spoken_place
from etude.goals.shaping import across_of, carrying, judged
from etude.names import SPARSE, EtudeError
from etude.pose import Array, Pose, Vec3, matrix, multiply, yaw_quat
from etude.scene.scene import Area, Body, Scene

if TYPE_CHECKING:
    from etude.goals.adapting import Room, Scaled
    from etude.goals.watch import Watch

FALL_STEPS = 10  # control steps for which the reward of a released thing is kept while it falls


@dataclass(frozen=True)
class Picked(Goal):
    """The thing is in the hand and clear of everything else."""

    thing: str
    clearance: float = 0.02

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def words(self) -> str:
        return f"Pick up the {{{self.thing}}}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        if not watch.grasped(self.thing):
            return judged(False, watch.reach(self.thing), 4.0)
        others = ["table", *(e.name for e in watch.world.scene.entities if isinstance(e, Body) and e.name != self.thing)]
        free = min((watch.gap(self.thing, other, 2 * self.clearance) for other in others), default=1.0)
        if free >= self.clearance:
            return judged(True, 4.0, 4.0)
        return judged(False, 2.0 + min(max(free / self.clearance, 0.0), 1.0), 4.0)


@dataclass(frozen=True)
class AtPosition(Goal):
    """The thing stands at a place on the table, let go and at rest; ``stood``: the place is told as that where this thing stood at the
    start."""

    thing: str
    position: Vec3
    tolerance: float = 0.05
    stood: str = field(default="", metadata=SPARSE)

    def scaled(self, change: Scaled) -> Goal:
        x, y, z = self.position
        return replace(self, position=(x, y, round(z + change.raised(), 9))) if change.meant(self.thing) else self

    def destinations(self, room: Room) -> Iterable[Array]:
        return (room.around(*self.position[:2], self.thing),)

    def words(self) -> str:
        if self.stood:
            where = "back to where it stood" if self.stood == self.thing else f"where the {{{self.stood}}} stood"
            return f"Put the {{{self.thing}}} {where} at the start"
        return f"Place the {{{self.thing}}} on {spoken_place(self.position)} without hitting anything else"

    def recast(self, names: Mapping[str, str], scene: Scene) -> Goal:
        return replace(self, **names, **({"position": _began(names["stood"], scene)} if "stood" in names else {}))  # type: ignore[arg-type]

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        return _placed(watch, self.thing, self.position, self.tolerance, None, 0.0)


@dataclass(frozen=True)
class AtPose(Goal):
    """The thing stands at a place on the table and turned as asked, let go and at rest. ``symmetry`` n: turns by 360°/n count as equal."""

    thing: str
    pose: Pose
    tolerance: float = 0.05
    angle: float = math.radians(5)
    symmetry: int = 1

    def scaled(self, change: Scaled) -> Goal:
        return replace(self, pose=self.pose.moved(z=change.raised())) if change.meant(self.thing) else self

    def destinations(self, room: Room) -> Iterable[Array]:
        return (room.around(*self.pose.position[:2], self.thing),)

    def words(self) -> str:
        return f"Place the {{{self.thing}}} on {spoken_place(self.pose.position)} without hitting anything else"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        turn = self.turn(watch.axes(self.thing))
        return _placed(watch, self.thing, self.pose.position, self.tolerance, turn, self.angle)

    def turn(self, axes: Array) -> float:
        """How far the thing is from being turned as asked, rad."""
        if self.symmetry == 0:
            return math.acos(min(1.0, max(-1.0, dot(axes[:, 2], matrix(self.pose.rotation)[:, 2]))))
        relative = product(matrix(self.pose.rotation).T, axes)
        about = math.atan2(relative[1, 0] - relative[0, 1], relative[0, 0] + relative[1, 1])
        step = 2 * math.pi / self.symmetry
        about -= step * round(about / step)
        tilt = math.acos(min(1.0, max(-1.0, float(relative[2, 2]))))
        return math.hypot(about, tilt)


@dataclass(frozen=True)
class RotatedBy(AtPose):
    """The thing stands at its pose, which is how it stood at the start, turned about the vertical by ``degrees`` (positive anti-clockwise,
    seen from above), on the spot or ``elsewhere``."""

    degrees: int = 0
    elsewhere: bool = False

    def words(self) -> str:
        turn = f"{abs(self.degrees)} degrees {'anti-clockwise' if self.degrees > 0 else 'clockwise'}"
        if self.elsewhere:
            return f"Place the {{{self.thing}}} on {spoken_place(self.pose.position)}, rotated {turn}, without hitting anything else"
        return f"Pick the {{{self.thing}}} and rotate it {turn}"

    def recast(self, names: Mapping[str, str], scene: Scene) -> Goal:
        thing = scene.entity(names["thing"])
        assert isinstance(thing, Body)
        place = self.pose.position if self.elsewhere else thing.pose.position
        return replace(self, thing=thing.name, pose=Pose.of(place, multiply(yaw_quat(math.radians(self.degrees)), thing.pose.rotation)))


def _began(name: str, scene: Scene) -> Vec3:
    """Where a thing stands at the start."""
    thing = scene.entity(name)
    assert isinstance(thing, Body)
    return thing.pose.position


def _placed(watch: Watch, thing: str, target: Vec3, tolerance: float, turn: float | None, angle: float) -> Status:
    p = watch.spot(thing)
    across = across_of(p, target)
    there = across < tolerance and (turn is None or turn < angle)
    grasped = watch.grasped(thing)
    down = watch.touches(thing, "table")
    if there and down and not grasped and watch.static(thing):
        return judged(True, 6.0, 6.0)
    if there and down:
        return judged(False, 5.0 if grasped else 5.9, 6.0)
    if grasped:
        return judged(False, carrying(across, p[2] - target[2], turn), 6.0)
    return judged(False, watch.reach(thing), 6.0)


@dataclass(frozen=True)
class OnTop(Goal):
    """``top`` rests on ``bottom``, both at rest and let go."""

    top: str
    bottom: str

    def words(self) -> str:
        return f"Place the {{{self.top}}} on the {{{self.bottom}}} without hitting anything else"

    def undoing(self) -> str:
        return f"Pick up the {{{self.top}}}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        return self._rest(watch, node, True)

    def _rest(self, watch: Watch, node: GoalNode, within: bool) -> Status:
        memory = node.memory
        grasped = watch.grasped(self.top)
        memory["since"] = 0 if grasped else memory.get("since", FALL_STEPS) + 1
        if within and watch.rests_on(self.top, self.bottom):
            let_go = not grasped and not watch.grasped(self.bottom)
            if let_go and watch.static(self.top) and watch.static(self.bottom):
                return judged(True, 6.0, 6.0)
            return judged(False, 5.9 if let_go else 5.0, 6.0)
        if grasped:
            p, q = watch.spot(self.top), watch.spot(self.bottom)
            memory["last"] = carrying(across_of(p, q), p[2] - q[2])
            return judged(False, memory["last"], 6.0)
        if memory["since"] < FALL_STEPS and all(t.startswith(("hand", "robot")) for t in watch.touching(self.top)):
            return judged(False, memory.get("last", 2.0), 6.0)  # on its way down
        return judged(False, watch.reach(self.top), 6.0)


@dataclass(frozen=True)
class Inside(OnTop):
    """``top`` rests on ``bottom``, seen from above with its middle inside it."""

    top: str
    bottom: str

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        p, q = watch.position(self.top), watch.position(self.bottom)
        local = product(watch.axes(self.bottom).T, p - q)
        if "plan" not in node.memory:
            entity = watch.world.scene.entity(self.bottom)
            if not isinstance(entity, (Body, Area)):
                raise EtudeError(f"{self.bottom!r} is nothing that {self.top!r} could lie on")
            node.memory["plan"] = Outline.of(shape(entity.shape, entity.size).footprint)
        return self._rest(watch, node, bool(contains(node.memory["plan"], local[None, :2])[0]))


@dataclass(frozen=True)
class Stacked(Goal):
    """The things form one tower, in whatever order."""

    things: tuple[str, ...]

    def words(self) -> str:
        return f"Stack {listed(self.things, article=True)}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        laid = {t: b for t, b in self.carriers(watch).items() if watch.static(t) and watch.static(b) and not watch.grasped(b)}
        floors = len(set(laid.values()))  # two things side by side on a third are no tower
        done = floors >= len(self.things) - 1
        best = 0.0
        for thing in () if done else self.things:
            if watch.grasped(thing):
                p = watch.position(thing)
                tops = [watch.position(t) for t in self.things if t != thing and t not in laid.values()]
                best = max([best, 2.0, *(carrying(across_of(p, q), float(p[2] - q[2])) for q in tops)])
            elif thing not in laid:
                best = max(best, watch.reach(thing))
        return judged(done, 6.0 * floors + best, 6.0 * max(1, len(self.things) - 1))

    def carriers(self, watch: Watch) -> dict[str, str]:
        """What each of the things that rests on another, let go, rests on."""
        free = [t for t in self.things if not watch.grasped(t)]
        found = {}
        for top in free:
            below = [b for b in self.things if b != top and watch.rests_on(top, b)]
            if below:
                found[top] = below[0]
        return found
