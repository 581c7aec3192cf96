"""Physical predicates: where things are, what they rest on, what was touched, pushed, thrown or toppled.

Names are those of entities in the scene. Tolerances are fields; the defaults are the paper's (ClevrSkills 2.2), and the ceilings of the
rewards its scheme: pick 4, place-like 6, throw 12, touch 3, end effector 2, trace 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from etude.catalog.polygon import Outline, contains
from etude.catalog.registry import shape
from etude.goals.goal import Goal, Node, Status
from etude.pose import Array, Pose, Vec3, angle_between, matrix
from etude.scene.scene import Area, Body

if TYPE_CHECKING:
    from etude.goals.watch import Watch

FALL_STEPS = 10  # control steps for which the reward of a released thing is kept while it falls
HOVER = 0.15  # m: height above its target at which a carried thing is best moved
NEAR = 0.03  # m: close enough across to start lowering


def _status(satisfied: bool, reward: float, ceiling: float, violated: bool = False) -> Status:
    return Status(satisfied, 1.0 if satisfied else min(0.99, max(0.0, reward / ceiling)), reward, violated)


def _across(a: Array | Vec3, b: Array | Vec3) -> float:
    return math.hypot(a[0] - b[0], a[1] - b[1])


def _carrying(across: float, above: float, turn: float | None = None) -> float:
    """Shaping, from 2 to 5, while a thing is carried to its place: over there high up, then down."""
    if across < NEAR and (turn is None or turn < 0.05 * math.pi):
        return 4.0 if above < 0 else 4.0 + math.exp(-6.0 * above)
    far = math.exp(-max(0.0, across - NEAR))
    if turn is not None:
        far = (far + 1.0 - turn / math.pi) / 2
    return 2.0 + far + math.exp(-max(0.0, 6.0 * (HOVER - above)))


# ------------------------------------------------------------------------------------------------ the tip of the hand


@dataclass(frozen=True)
class TipAtPosition(Goal):
    """The tip of the hand is at a place."""

    position: Vec3
    tolerance: float = 0.05

    def judge(self, watch: Watch, node: Node) -> Status:
        distance = math.dist(watch.tip.position, self.position)
        there = distance < self.tolerance
        return _status(there, 2.0 if there else max(0.0, 2.0 - distance), 2.0)


@dataclass(frozen=True)
class TipAtPose(Goal):
    """The tip of the hand is at a place and turned as asked."""

    pose: Pose
    tolerance: float = 0.05
    angle: float = 0.1

    def judge(self, watch: Watch, node: Node) -> Status:
        distance = math.dist(watch.tip.position, self.pose.position)
        turn = angle_between(watch.tip.rotation, self.pose.rotation)
        there = distance < self.tolerance and turn < self.angle
        return _status(there, 2.0 if there else max(0.0, 2.0 - distance - turn / 2), 2.0)


@dataclass(frozen=True)
class Traced(Goal):
    """The tip of the hand passes a marker; its colour follows (next green, visited yellow)."""

    marker: str
    position: Vec3
    tolerance: float = 0.05

    def judge(self, watch: Watch, node: Node) -> Status:
        distance = math.dist(watch.tip.position, self.position)
        there = distance < self.tolerance
        return _status(there, 6.0 if there else max(0.0, 2.0 - distance), 6.0)


# ------------------------------------------------------------------------------------------------ holding and placing


@dataclass(frozen=True)
class Picked(Goal):
    """The thing is in the hand and clear of everything else."""

    thing: str
    clearance: float = 0.02

    def judge(self, watch: Watch, node: Node) -> Status:
        if not watch.grasped(self.thing):
            return _status(False, watch.reach(self.thing), 4.0)
        others = ["table", *(e.name for e in watch.world.scene.entities if isinstance(e, Body) and e.name != self.thing)]
        free = min((watch.gap(self.thing, other, 2 * self.clearance) for other in others), default=1.0)
        if free >= self.clearance:
            return _status(True, 4.0, 4.0)
        return _status(False, 2.0 + min(max(free / self.clearance, 0.0), 1.0), 4.0)


@dataclass(frozen=True)
class AtPosition(Goal):
    """The thing stands at a place on the table, let go and at rest."""

    thing: str
    position: Vec3
    tolerance: float = 0.05

    def judge(self, watch: Watch, node: Node) -> Status:
        return _placed(watch, self.thing, self.position, self.tolerance, None, 0.0)


@dataclass(frozen=True)
class AtPose(Goal):
    """The thing stands at a place on the table and turned as asked, let go and at rest. ``symmetry`` n: turns by 360°/n count as equal."""

    thing: str
    pose: Pose
    tolerance: float = 0.05
    angle: float = math.radians(5)
    symmetry: int = 1

    def judge(self, watch: Watch, node: Node) -> Status:
        turn = self.turn(watch.axes(self.thing))
        return _placed(watch, self.thing, self.pose.position, self.tolerance, turn, self.angle)

    def turn(self, axes: Array) -> float:
        """How far the thing is from being turned as asked, rad."""
        if self.symmetry == 0:
            return math.acos(min(1.0, max(-1.0, float(axes[:, 2] @ matrix(self.pose.rotation)[:, 2]))))
        relative = matrix(self.pose.rotation).T @ axes
        about = math.atan2(relative[1, 0] - relative[0, 1], relative[0, 0] + relative[1, 1])
        step = 2 * math.pi / self.symmetry
        about -= step * round(about / step)
        tilt = math.acos(min(1.0, max(-1.0, float(relative[2, 2]))))
        return math.hypot(about, tilt)


def _placed(watch: Watch, thing: str, target: Vec3, tolerance: float, turn: float | None, angle: float) -> Status:
    p = watch.position(thing)
    across = _across(p, target)
    there = across < tolerance and (turn is None or turn < angle)
    grasped = watch.grasped(thing)
    down = watch.touches(thing, "table")
    if there and down and not grasped and watch.static(thing):
        return _status(True, 6.0, 6.0)
    if there and down:
        return _status(False, 5.0 if grasped else 5.9, 6.0)
    if grasped:
        return _status(False, _carrying(across, float(p[2]) - target[2], turn), 6.0)
    return _status(False, watch.reach(thing), 6.0)


@dataclass(frozen=True)
class OnTop(Goal):
    """``top`` rests on ``bottom``, both at rest and let go."""

    top: str
    bottom: str

    def judge(self, watch: Watch, node: Node) -> Status:
        return self._rest(watch, node, True)

    def _rest(self, watch: Watch, node: Node, within: bool) -> Status:
        memory = node.memory
        grasped = watch.grasped(self.top)
        memory["since"] = 0 if grasped else memory.get("since", FALL_STEPS) + 1
        if within and watch.rests_on(self.top, self.bottom):
            let_go = not grasped and not watch.grasped(self.bottom)
            if let_go and watch.static(self.top) and watch.static(self.bottom):
                return _status(True, 6.0, 6.0)
            return _status(False, 5.9 if let_go else 5.0, 6.0)
        if grasped:
            p, q = watch.position(self.top), watch.position(self.bottom)
            memory["last"] = _carrying(_across(p, q), float(p[2] - q[2]))
            return _status(False, memory["last"], 6.0)
        if memory["since"] < FALL_STEPS and all(t.startswith(("hand", "robot")) for t in watch.touching(self.top)):
            return _status(False, memory.get("last", 2.0), 6.0)  # on its way down
        return _status(False, watch.reach(self.top), 6.0)


@dataclass(frozen=True)
class Inside(OnTop):
    """``top`` rests on ``bottom``, seen from above with its middle inside it."""

    top: str
    bottom: str

    def judge(self, watch: Watch, node: Node) -> Status:
        p, q = watch.position(self.top), watch.position(self.bottom)
        local = watch.axes(self.bottom).T @ (p - q)
        if "plan" not in node.memory:
            entity = watch.world.scene.entity(self.bottom)
            assert isinstance(entity, (Body, Area))
            node.memory["plan"] = Outline.of(shape(entity.shape, entity.size).footprint)
        return self._rest(watch, node, bool(contains(node.memory["plan"], local[None, :2])[0]))


@dataclass(frozen=True)
class Stacked(Goal):
    """The things form one tower, in whatever order."""

    things: tuple[str, ...]

    def judge(self, watch: Watch, node: Node) -> Status:
        pairs = 0
        best = 0.0
        for i, top in enumerate(self.things):
            below = [b for b in self.things if b != top and watch.rests_on(top, b)]
            if below and watch.static(top) and not watch.grasped(top):
                pairs += 1
            elif i or len(self.things) > 1:
                best = max(best, 4.0 if watch.grasped(top) else watch.reach(top))
        done = pairs >= len(self.things) - 1
        return _status(done, 6.0 * pairs + (0.0 if done else best), 6.0 * max(1, len(self.things) - 1))


# ------------------------------------------------------------------------------------------------ touching and pushing


class _Remembers(Goal):
    """Remembers where its thing was when it was first looked at, and whether it was ever grasped or touched."""

    thing: str

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(start=watch.position(self.thing).copy(), axes=watch.axes(self.thing).copy(), touched=False, grasped=False)

    def _remember(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory["touched"] = memory["touched"] or watch.by_robot(self.thing)
        memory["grasped"] = memory["grasped"] or watch.grasped(self.thing)


def _behind(watch: Watch, thing: str, target: Vec3) -> float:
    """1 when the hand stands behind the thing as seen from the target, falling to e^-2 on the far side."""
    p = watch.position(thing)
    a = np.array([watch.tip.position[0] - p[0], watch.tip.position[1] - p[1]])
    b = np.array([p[0] - target[0], p[1] - target[1]])
    norm = float(np.linalg.norm(a) * np.linalg.norm(b))
    return math.exp((float(a @ b) / norm if norm > 1e-9 else 1.0) - 1.0)


@dataclass(frozen=True)
class PushedTo(_Remembers):
    """The thing was brought to a place by pushing: never grasped, at rest, and the hand has left it."""

    thing: str
    position: Vec3
    tolerance: float = 0.03

    def judge(self, watch: Watch, node: Node) -> Status:
        self._remember(watch, node.memory)
        there = _across(watch.position(self.thing), self.position) < self.tolerance
        return _pushed(watch, node, self.thing, self.position, there)


@dataclass(frozen=True)
class PushedTowards(_Remembers):
    """The thing was pushed towards a place: nearer by ``share`` of the way and within ``angle`` of the direction, never grasped."""

    thing: str
    position: Vec3
    share: float = 0.3
    angle: float = math.radians(45)

    def judge(self, watch: Watch, node: Node) -> Status:
        self._remember(watch, node.memory)
        start, now = node.memory["start"], watch.position(self.thing)
        wanted, made = np.subtract(self.position, start)[:2], (now - start)[:2]
        norm = float(np.linalg.norm(wanted) * np.linalg.norm(made))
        nearer = _across(now, self.position) < (1 - self.share) * _across(start, self.position)
        straight = norm > 1e-9 and float(wanted @ made) / norm >= math.cos(self.angle)
        return _pushed(watch, node, self.thing, self.position, nearer and straight)


def _pushed(watch: Watch, node: Node, thing: str, target: Vec3, there: bool) -> Status:
    if node.memory["grasped"]:
        return _status(False, 0.0, 5.0, violated=True)
    gap = watch.gap("hand", thing)
    free = not watch.by_robot(thing)
    if there:
        reward = 3.0 + (1.0 if free else 0.0) + math.exp(min(0.0, 100.0 * (gap - 0.001)))
        return _status(free and gap >= 0.001 and watch.static(thing), reward, 5.0)
    away = _across(watch.position(thing), target)
    return _status(False, math.exp(-5.0 * gap) + math.exp(-5.0 * away) + _behind(watch, thing, target), 5.0)


@dataclass(frozen=True)
class Touched(_Remembers):
    """The hand touched the thing, and it stayed where it was, or was pushed away, or fell over; then it is at rest."""

    thing: str
    manner: Literal["touch", "push", "topple"] = "touch"
    still: float = 0.03  # m, for a mere touch
    moved: float = 0.10  # m, for a push
    lean: float = math.radians(45)

    def judge(self, watch: Watch, node: Node) -> Status:
        self._remember(watch, node.memory)
        memory = node.memory
        moved = float(np.linalg.norm(watch.position(self.thing) - memory["start"]))
        lean = math.acos(min(1.0, max(-1.0, float(watch.axes(self.thing)[:, 2] @ memory["axes"][:, 2]))))
        toppled = lean >= self.lean
        done = {
            "touch": not memory["grasped"] and moved < self.still and lean < 0.1 * math.pi,
            "push": moved >= self.moved and not toppled,
            "topple": toppled,
        }[self.manner]
        if memory["touched"] and done and watch.static(self.thing):
            return _status(True, 3.0, 3.0)
        reward = math.exp(-5.0 * max(0.0, watch.gap("hand", self.thing)))
        if self.manner == "touch":
            reward += 0.5 * (moved < self.still) + 0.5 * (moved < self.still and lean < 0.1 * math.pi)
        else:
            fallen = min(1.0, lean / self.lean)
            reward += (fallen if self.manner == "topple" else 1.0 - fallen) + min(1.0, moved / self.moved)
        spoilt = self.manner == "touch" and (memory["grasped"] or moved >= self.still) and watch.static(self.thing)
        return _status(False, min(reward, 2.9), 3.0, violated=spoilt and memory["grasped"])


@dataclass(frozen=True)
class Untouched(Goal):
    """Neither arm nor hand, nor what is in it, touches any of the things now."""

    things: tuple[str, ...]

    def judge(self, watch: Watch, node: Node) -> Status:
        hit = any(watch.by_robot(t) or (watch.held is not None and watch.touches(t, watch.held)) for t in self.things)
        return Status(not hit, float(not hit), 0.0)


# ------------------------------------------------------------------------------------------------ throwing and toppling


@dataclass(frozen=True)
class Hit(Goal):
    """``thrown``, out of the hand, flew at least ``flight`` metres and touched ``target``, which fell over if ``topple``."""

    thrown: str
    target: str
    topple: bool = False
    flight: float = 0.05
    lean: float = math.radians(45)

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        memory.update(axes=watch.axes(self.target).copy(), left=None, hit=False)

    def judge(self, watch: Watch, node: Node) -> Status:
        memory, p = node.memory, watch.position(self.thrown)
        grasped = watch.grasped(self.thrown)
        touched = watch.touching(self.thrown)
        if grasped:
            memory["left"] = None
            memory["carried"] = True
        elif memory["left"] is None and memory.get("carried"):
            memory["left"] = p.copy()
            memory["carried"] = False
        flown = memory["left"] is not None and float(np.linalg.norm(p - memory["left"])) >= self.flight
        if flown and watch.touches(self.thrown, self.target):
            memory["hit"] = True
        if touched and not grasped and not memory["hit"] and not all(t.startswith(("hand", "robot")) for t in touched):
            memory["left"] = None
        lean = math.acos(min(1.0, max(-1.0, float(watch.axes(self.target)[:, 2] @ memory["axes"][:, 2]))))
        if memory["hit"] and (not self.topple or lean > self.lean):
            return _status(True, 12.0, 12.0)
        if grasped:
            return _status(False, 4.0 + 4.0 * math.exp(-10.0 * self.miss(watch)), 12.0)
        return _status(False, 4.0 if memory["left"] is not None else watch.reach(self.thrown), 12.0)

    def miss(self, watch: Watch) -> float:
        """By how much the thing would miss if it were let go now: the least distance of its ballistic path from the target, metres."""
        aim = watch.position(self.target).copy()
        p = watch.position(self.thrown)
        v, _ = watch.world.velocity(self.thrown)
        t = np.linspace(0.0, 1.2, 49)[:, None]
        path = p + v * t + np.array([0.0, 0.0, -4.905]) * t * t
        return float(np.linalg.norm(path - aim, axis=1).min())


@dataclass(frozen=True)
class StructureToppled(Goal):
    """Everything that was stacked lies on the table."""

    things: tuple[str, ...]

    def judge(self, watch: Watch, node: Node) -> Status:
        down = [t for t in self.things if watch.touches(t, "table")]
        up = [t for t in self.things if t not in down]
        reward = 3.0 * len(down) + max((math.exp(-5.0 * max(0.0, watch.gap("hand", t))) for t in up), default=0.0)
        return _status(not up, reward, 3.0 * len(self.things))
