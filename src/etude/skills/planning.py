"""Collision-free ways for an arm: straight where that is free, otherwise RRT-Connect in joint space, shortened afterwards.

Bounded by iterations, never by a clock, and random only through the stream that is given: the same question has the same answer.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from etude.arithmetic import dot, dots, norm, product, total
from etude.names import EtudeError, Stream
from etude.pose import Array, Pose, angle_between, axis_quat, conjugate, multiply
from etude.scene.materials import CONTROL_PERIOD
from etude.scene.world import World
from etude.skills.aim import TRAVEL

MARGINS = (0.02, 0.008, 0.0)  # m to keep from everything else: the widest that works
FINEST = 0.006  # m: least spacing of checks along a way
REACH_OUT = 0.6  # m of sweep by which a tree grows at a time
ITERATIONS = 400  # of RRT-Connect, for each margin
SHORTCUTS = 50
ATTEMPTS = 3  # ways tried at a margin: an arm with a joint to spare may not follow the first as planned
SEEDS = 12  # random starts of inverse kinematics, when the obvious ones fail
GOALS = 4  # postures at the target that are tried at once
ROOM = 1.2  # rad around start and goals in which postures are drawn
TURN = 0.08  # rad of the tip for each control step
FOLLOWING = 8  # iterations of inverse kinematics in a control step
NEAR = 0.005  # m and rad by which the end of a way may be missed
HASTE = 0.8  # share of a joint's speed that a way may use


@dataclass(frozen=True, eq=False)
class Way:
    """Where to go, one row for each control step, the start first: joint values (N, n) and tips (world)."""

    joints: Array
    tips: tuple[Pose, ...]
    straight: bool


class FreeSpace:
    """Where the arm of a world may be: a scratch copy in which only the robot, with what it holds, meets other things.

    ``margin`` (m) is what must stay free around it. The far end of the arm is also kept from its own base, shoulder and upper arm, which
    physics would let it pass through.
    """

    def __init__(self, world: World, margin: float = MARGINS[0], held: str | None = None) -> None:
        if world.robot is None or world.scene.robot is None:
            raise EtudeError("ways are planned for a robot, but the scene has none")
        robot = world.robot
        self.chain, self.base = robot.chain, world.scene.robot.base
        self.model = copy.copy(world.model)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_copyData(self.data, world.model, world.data)
        self.checks = 0
        # No point of the arm moves farther than the sum of lever · turn.
        tip = norm((robot.arm.flange * robot.hand.tip).position)
        lengths = [*(norm(link.origin.position) for link in robot.arm.links[1:]), tip]
        self.lever = np.cumsum(lengths[::-1])[::-1].copy()
        model, count = self.model, self.chain.count
        first = int(model.joint("joint1").qposadr[0])
        self._posture = self.data.qpos[first : first + count]  # a view
        self._hand = int(model.body("hand").id)
        self._world = world
        self._grains = frozenset(world.grains())
        self._ignored: frozenset[int] = self._grains  # water is in nobody's way
        self._held = -1
        self._grasp = (np.zeros(3), np.zeros(4))
        held = robot.held or held
        if held is not None and held in world.loose:
            self._held = int(model.body(held).id)
            self._grasp = _relative(self.data, self._hand, self._held)
        self._sort_geoms()
        self.margin = margin

    def _sort_geoms(self) -> None:
        model, count = self.model, self.chain.count
        model.opt.enableflags = 0  # a sleeping thing is in the way like any other
        root = model.body("robot").id
        near = {root, model.body("link1").id, model.body("link2").id}
        far = {model.body(f"link{i}").id for i in range(count - 2, count + 1)} | {self._hand, self._held}
        far |= {b for b in range(model.nbody) if model.body_parentid[b] == self._hand}
        mine = [int(model.body_rootid[b]) == root or int(b) == self._held for b in model.geom_bodyid]
        self._mine = np.flatnonzero(mine)
        self._bodies = np.unique(model.geom_bodyid[self._mine])
        for g, own in enumerate(mine):
            body = int(model.geom_bodyid[g])
            model.geom_contype[g] = (3 if body in far else 1) if own else 0
            model.geom_conaffinity[g] = (2 if body in near else 0) if own else int(body not in self._ignored)

    def suppose(self, held: str | None, in_tip: Pose = Pose(), opening: float | None = None, passing: Sequence[str] = ()) -> None:
        """Suppose that the hand holds a thing, at this pose in the tip's frame, with its fingers so far apart (m; None: fully open).

        Whatever is ``passing`` is in nobody's way.
        """
        world, model, robot = self._world, self.model, self._world.robot
        assert robot is not None
        mujoco.mj_copyData(self.data, world.model, world.data)
        self._held = -1 if held is None else int(model.body(held).id)
        in_hand = robot.hand.tip * in_tip
        self._grasp = (np.array(in_hand.position), np.array(in_hand.rotation))
        self._ignored = self._grains | {world.body(name) for name in passing}
        self._sort_geoms()
        robot.spread(self.data, opening)
        self.margin = self._margin

    @property
    def margin(self) -> float:
        """What must stay free around the robot, metres."""
        return self._margin

    @margin.setter
    def margin(self, value: float) -> None:
        self._margin = value
        self.stride = max(FINEST, 1.5 * value)  # below twice the margin nothing slips through between two checks
        self.model.geom_margin[self._mine] = value
        self.model.body_margin[self._bodies] = value  # MuJoCo rules out pairs of bodies first, by a margin of their own

    def free(self, joints: Array) -> bool:
        """Is the robot free of everything else in this posture?"""
        self.checks += 1
        model, data = self.model, self.data
        self._posture[:] = joints
        mujoco.mj_kinematics(model, data)
        if self._held >= 0:
            offset, turn = self._grasp
            q = int(model.jnt_qposadr[model.body_jntadr[self._held]])
            data.qpos[q : q + 3] = data.xpos[self._hand] + product(data.xmat[self._hand].reshape(3, 3), offset)
            mujoco.mju_mulQuat(data.qpos[q + 3 : q + 7], data.xquat[self._hand], turn)
            mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        return bool(data.ncon == 0)

    def sweep(self, a: Array, b: Array) -> float:
        """How far any point of the arm moves at most between two postures, metres."""
        return dot(self.lever, np.abs(b - a))

    def open(self, a: Array, b: Array) -> bool:
        """Is the way from posture ``a``, known to be free, straight to ``b`` free, its end included?"""
        parts = max(1, math.ceil(self.sweep(a, b) / self.stride))
        return all(self.free(a + (b - a) * share) for share in _shares(parts))

    def tip(self, joints: Array) -> Pose:
        """The tip in the world."""
        return self.base * self.chain.forward(joints)


def _relative(data: object, hand: int, held: int) -> tuple[Array, Array]:
    """Position and quaternion of the held body in the frame of the hand's."""
    poses = [Pose.of(data.xpos[b], data.xquat[b]) for b in (hand, held)]  # type: ignore[attr-defined]
    found = poses[0].inverse() * poses[1]
    return np.array(found.position), np.array(found.rotation)


@functools.lru_cache(maxsize=256)
def _shares(parts: int) -> tuple[float, ...]:
    """1/parts … 1, the end and the middles first: what is blocked is mostly blocked there."""
    order, seen = [parts], {parts}
    gap = 1 << (parts.bit_length() - 1)
    while gap:
        order += [k for k in range(gap, parts, gap) if k not in seen]
        seen.update(order)
        gap //= 2
    return tuple(k / parts for k in order)


# ------------------------------------------------------------------------------------------------ planning


def plan(
    world: World,
    targets: Sequence[Pose],
    stream: Stream,
    iterations: int = ITERATIONS,
    margins: Sequence[float] = MARGINS,
    held: str | None = None,
    start: Array | None = None,
    farther: float = math.inf,
) -> Way | None:
    """A free way from where the arm is to one of the tips ``targets`` (world; the first that can be reached is preferred).

    ``held`` is what the fingers hold, if anything: it comes along. ``start`` is the posture to begin from, if not the present one.
    Postures at the target that take ``farther`` times the way of the nearest are left alone: the arm would turn right round for them.

    None when the arm is not free where it stands, or no way was found within ``iterations`` at any of the margins.
    """
    assert world.robot is not None
    start = np.clip(world.robot.joints() if start is None else start, world.robot.chain.lower, world.robot.chain.upper)
    space = FreeSpace(world, held=held)
    for margin in margins:
        space.margin = margin
        if not space.free(start):
            continue
        way = straight(space, start, targets[0])
        if way is not None:
            return way
        goals = postures(space, targets, start, stream)
        if not goals:
            continue
        goals = [q for q in goals if space.sweep(start, q) <= farther * space.sweep(start, goals[0])]
        for _ in range(ATTEMPTS):
            found = connect(space, start, goals, stream, iterations)
            if found is None:
                break
            way = realised(space, paced(space, shortened(space, found, stream)), start)
            if way is not None:
                return way
    return None


def straight(space: FreeSpace, start: Array, target: Pose) -> Way | None:
    """The tip goes straight to the target, turning steadily, if that is within reach and free all the way."""
    begin, inverse = space.tip(start), space.base.inverse()
    turn = angle_between(begin.rotation, target.rotation)
    steps = max(1, math.ceil(max(math.dist(begin.position, target.position) / TRAVEL, turn / TURN)))
    limit = HASTE * space.chain.speed * CONTROL_PERIOD
    joints = [start]
    for k in range(1, steps + 1):
        found = space.chain.solve(inverse * between(begin, target, k / steps), joints[-1])
        if not found.reached or np.any(np.abs(found.joints - joints[-1]) > limit):
            return None
        joints.append(found.joints)
    if not all(space.open(a, b) for a, b in itertools.pairwise(joints)):
        return None
    return Way(np.array(joints), tuple(between(begin, target, k / steps) for k in range(steps + 1)), True)


def between(a: Pose, b: Pose, share: float) -> Pose:
    """The pose at ``share`` of the straight way from ``a`` to ``b``."""
    w, x, y, z = multiply(conjugate(a.rotation), b.rotation)
    if w < 0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    rotation = a.rotation if sine < 1e-9 else multiply(a.rotation, axis_quat((x, y, z), share * 2 * math.atan2(sine, w)))
    return Pose.of(np.asarray(a.position) * (1 - share) + np.asarray(b.position) * share, rotation)


def postures(space: FreeSpace, targets: Sequence[Pose], start: Array, stream: Stream) -> list[Array]:
    """Free postures with the tip at a target, nearest to ``start`` first; those of earlier targets are preferred."""
    chain, inverse = space.chain, space.base.inverse()
    found: list[Array] = []
    for target in targets:
        wanted = inverse * target
        drawn = (chain.lower + (chain.upper - chain.lower) * stream.uniforms(0.0, 1.0, chain.count) for _ in range(SEEDS))
        for seed in itertools.chain((start, chain.home), drawn):
            solution = chain.solve(wanted, seed)
            if not solution.reached:
                continue
            joints = _unwound(solution.joints, start, chain.lower, chain.upper)
            if all(space.sweep(joints, other) > 0.05 for other in found) and space.free(joints):
                found.append(joints)
            if len(found) == GOALS:
                break
        if found:
            break
    return sorted(found, key=lambda q: space.sweep(start, q))


def _unwound(joints: Array, start: Array, lower: Array, upper: Array) -> Array:
    """The same posture with as few whole turns between it and ``start`` as the limits allow."""
    full = 2 * math.pi
    turned = joints - full * np.round((joints - start) / full)
    return np.where((turned >= lower) & (turned <= upper), turned, joints)


class _Tree:
    """Postures that are connected to one or more roots."""

    def __init__(self, roots: Sequence[Array], room: int) -> None:
        self.points = np.zeros((room + len(roots), len(roots[0])))
        self.points[: len(roots)] = roots
        self.parents = [-1] * len(roots)

    def nearest(self, space: FreeSpace, joints: Array) -> int:
        known = self.points[: len(self.parents)]
        return int(np.argmin(dots(np.abs(known - joints), space.lever)))

    def add(self, joints: Array, parent: int) -> int:
        if len(self.parents) == len(self.points):
            self.points = np.vstack([self.points, np.zeros_like(self.points)])
        self.points[len(self.parents)] = joints
        self.parents.append(parent)
        return len(self.parents) - 1

    def grow(self, space: FreeSpace, target: Array, greedy: bool) -> tuple[int, bool]:
        """Reach out towards a posture, once or as far as it goes; gives the last node and whether it is the target."""
        node = self.nearest(space, target)
        while True:
            here = self.points[node].copy()
            length = space.sweep(here, target)
            if length < 1e-9:
                return node, True
            there = target if length <= REACH_OUT else here + (target - here) * (REACH_OUT / length)
            if not space.open(here, there):
                return node, False
            node = self.add(there, node)
            if not greedy:
                return node, length <= REACH_OUT

    def branch(self, node: int) -> list[Array]:
        """The postures from a node to its root."""
        out = []
        while node >= 0:
            out.append(self.points[node].copy())
            node = self.parents[node]
        return out


def connect(space: FreeSpace, start: Array, goals: Sequence[Array], stream: Stream, iterations: int) -> list[Array] | None:
    """RRT-Connect: two trees that grow towards drawn postures and each other. Gives corner postures, or None."""
    for goal in goals:
        if space.open(start, goal):
            return [start, goal]
    ends = np.vstack([start, *goals])
    lower = np.maximum(space.chain.lower, ends.min(0) - ROOM)
    upper = np.minimum(space.chain.upper, ends.max(0) + ROOM)
    growing, waiting = _Tree([start], 64), _Tree(goals, 64)
    for k in range(iterations):
        drawn = lower + (upper - lower) * stream.uniforms(0.0, 1.0, len(start))
        before = len(growing.parents)
        node, _ = growing.grow(space, drawn, False)
        if len(growing.parents) > before:
            met, reached = waiting.grow(space, growing.points[node].copy(), True)
            if reached:
                from_start, from_goal = growing.branch(node)[::-1], waiting.branch(met)
                way = from_start + from_goal[1:]
                return way if k % 2 == 0 else way[::-1]
        growing, waiting = waiting, growing
    return None


def shortened(space: FreeSpace, corners: list[Array], stream: Stream, attempts: int = SHORTCUTS) -> list[Array]:
    """The way with detours cut off wherever a straight stretch between two of its points is free."""
    for _ in range(attempts):
        if len(corners) < 3:
            break
        lengths = np.cumsum([0.0, *(space.sweep(a, b) for a, b in itertools.pairwise(corners))])
        (i, p), (j, q) = (_point(corners, lengths, t) for t in sorted(stream.uniforms(0.0, float(lengths[-1]), 2).tolist()))
        if i < j and space.open(p, q):
            corners = [*corners[: i + 1], p, q, *corners[j + 1 :]]
    # Corners that turned out to be superfluous.
    k = 1
    while k < len(corners) - 1:
        if space.open(corners[k - 1], corners[k + 1]):
            del corners[k]
        else:
            k += 1
    return corners


def _point(corners: list[Array], lengths: Array, at: float) -> tuple[int, Array]:
    """The stretch in which a length falls, and the posture there."""
    k = min(int(np.searchsorted(lengths, at, side="right")) - 1, len(corners) - 2)
    share = (at - lengths[k]) / max(1e-12, lengths[k + 1] - lengths[k])
    return k, corners[k] + (corners[k + 1] - corners[k]) * share


def paced(space: FreeSpace, corners: Sequence[Array]) -> list[Pose]:
    """The tips along the way, in steps that the arm can make in one control period each."""
    limit = HASTE * space.chain.speed * CONTROL_PERIOD
    joints = [corners[0]]
    for a, b in itertools.pairwise(corners):
        # The tip's own path over a stretch, measured finely: it is longer than the distance of its ends.
        fine = [space.tip(a + (b - a) * t) for t in np.linspace(0.0, 1.0, 1 + max(2, math.ceil(space.sweep(a, b) / 0.1)))]
        path = total(math.dist(p.position, q.position) for p, q in itertools.pairwise(fine))
        turn = total(angle_between(p.rotation, q.rotation) for p, q in itertools.pairwise(fine))
        steps = max(1, math.ceil(max(path / TRAVEL, turn / TURN, float(np.max(np.abs(b - a) / limit)))))
        joints += [a + (b - a) * (k / steps) for k in range(1, steps + 1)]
    return [space.tip(q) for q in joints]


def realised(space: FreeSpace, tips: Sequence[Pose], start: Array) -> Way | None:
    """The way as the control stack makes it when it is led by its tips alone, if it stays free.

    Near singular postures, and with joints to spare, that need not be the posture the tips were made from.
    """
    inverse, joints = space.base.inverse(), [start]
    for tip in tips[1:]:
        joints.append(space.chain.solve(inverse * tip, joints[-1], FOLLOWING).joints)
    reached = space.tip(joints[-1])
    if math.dist(reached.position, tips[-1].position) > NEAR or angle_between(reached.rotation, tips[-1].rotation) > NEAR:
        return None
    if not all(space.open(a, b) for a, b in itertools.pairwise(joints)):
        return None
    return Way(np.array(joints), tuple(tips), False)
