"""Solving unit tasks: waypoints by depth-first search over grasps and goal poses (VLMbench 1.1).

What is chosen first may make what follows impossible: a grasp from above cannot tilt a mug over. So a grasp is kept only if a pose for
every later unit is found with it. Candidates are checked for reach and for being free; the ways between them are planned as they are gone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from etude.arithmetic import dot, norm
from etude.goals.goal import Goal
from etude.goals.regions import TURNS
from etude.goals.units import Control, MoveConstrained, MoveFree, MoveJoint
from etude.goals.watch import Watch
from etude.names import EtudeError, Stream
from etude.pose import Array, Pose, axis_quat, matrix, rotate
from etude.scene.scene import Fixture, Particles
from etude.skills.aim import AWAY, GENTLE, TRAVEL
from etude.skills.grips import flipped, grips, preference, standing, suitable
from etude.skills.keypose_motion import Keypose
from etude.skills.planning import MARGINS, FreeSpace, straight

BACK = 0.08  # m before a grasp
LIFT = 0.10  # m after it
LEAST_LIFT = 0.05
ABOVE_TABLE = 0.01  # m that the tip before a grasp is above the table, at least
TRIES = 60  # grasps that are looked at
GOALS = 24  # positions in a region that are looked at for a grasp
WAYS = 8  # poses there that are put off because there is no straight way to them, until no others are left
NODES = 1500  # poses that are checked for one solution
CLEAR = 0.004  # m that shall be free around the hand, where there is room
STRETCH = 0.9  # rad: what a joint turns between neighbouring poses of a straight way, at most
ARC = math.radians(7.5)  # that a joint turns between two waypoints: between them the hand goes straight
APART = 0.3  # m of sweep between postures that count as others
SLIDE = 0.05  # m along a sliding joint between two postures that are looked at; the whole way is one waypoint
MISSES = 8  # goals to which no straight way leads, before another grasp is tried
ROOMY = 0.05  # rad that they stay away while something is carried steadily: at a limit, an arm does not follow a straight way
EASE = 0.2  # rad that the joints of an arm stay away from their limits while it moves a joint of something else
FAR = 0.15  # for each metre of sweep: how much worse a grasp on a handle is
HANDLE = 0.03  # m between the fingers round a handle
BACKWARDS = -0.1  # cosine: a hand that points back at the robot more than this gets in its own way, as one does that points up


@dataclass(frozen=True)
class Waypoint:
    """A keypose with the unit it belongs to, and what must be in the hand when it begins; for exact places also how (tip frame).

    ``joints`` is the posture in which it begins, where the way from there was looked at.
    """

    keypose: Keypose
    unit: int
    held: str | None
    in_tip: Pose | None = None
    joints: Array | None = None


@dataclass(frozen=True)
class SupposedState:
    """A supposed state on the way to a solution: posture, and the pose of what is held in the tip's frame."""

    joints: Array
    tip: Pose
    held: str | None = None
    in_tip: Pose = Pose()


class Solver:
    """One search from the world as it is; with ``elbows`` more postures are tried for every grasp than the nearest."""

    def __init__(self, watch: Watch, units: Sequence[Goal], stream: Stream, elbows: int = 0) -> None:
        self.watch, self.units, self.stream, self._elbows = watch, units, stream, elbows
        self._space = FreeSpace(watch.world, CLEAR)
        self._left, self._around = NODES, False
        robot = watch.robot
        self._robot, self._base = robot, self._space.base.inverse()
        self._grains = {e.name for e in watch.world.scene.entities if isinstance(e, Particles)}

    def solve(self, first: int) -> list[Waypoint] | None:
        """Waypoints for the units from ``first`` on; None if none were found."""
        state = SupposedState(self._robot.joints(), self.watch.tip)
        unit = self.units[first]
        thing = getattr(unit, "thing", "")
        begin: list[Waypoint] = []
        if not isinstance(unit, Control):
            state = self._holding(state, thing)
            taken = self.units[first - 1] if first else None
            if isinstance(taken, Control) and self._stands(thing) and (away := self._away(taken, state)) is not None:
                begin, state = [Waypoint(p, first, thing) for p in away[0]], away[1]
        for self._around in (False, True):
            self._left = NODES
            found = self._from(first, state)
            if found is not None:
                return begin + found
        return None

    def _stands(self, thing: str) -> bool:
        """Does what the hand holds still touch something else?"""
        return thing in self.watch.world.loose and any(
            not t.startswith(("hand", "robot")) and t not in self._grains for t in self.watch.touching(thing)
        )

    def _holding(self, state: SupposedState, thing: str) -> SupposedState:
        return replace(state, held=thing, in_tip=state.tip.inverse() * standing(self.watch, thing))

    def _from(self, k: int, state: SupposedState) -> list[Waypoint] | None:
        if k == len(self.units):
            return []
        unit = self.units[k]
        ways: Iterator[tuple[list[Keypose], SupposedState]]
        if isinstance(unit, Control):
            ways = self._controls(unit, state)
        elif isinstance(unit, MoveFree):
            ways = self._moves(unit, state, False)
        elif isinstance(unit, MoveConstrained):
            ways = self._moves(unit, state, True)
        elif isinstance(unit, MoveJoint):
            ways = self._joints(unit, state)
        else:
            raise EtudeError(f"the oracle solves units of Control, MoveFree, MoveConstrained and MoveJoint, not of {type(unit).__name__}")
        for poses, after in ways:
            rest = self._from(k + 1, after)
            if rest is not None:
                held = None if isinstance(unit, Control) else getattr(unit, "thing", None)
                exact = isinstance(unit, (MoveFree, MoveConstrained)) and (unit.contact or unit.to.where.exact)
                found = [Waypoint(p, k, held, state.in_tip if exact else None) for p in poses]
                if isinstance(unit, MoveConstrained) and not unit.contact:
                    found[0] = replace(found[0], joints=state.joints)
                if isinstance(unit, Control):
                    found[2:] = [replace(w, held=unit.thing) for w in found[2:]]
                elif isinstance(unit, MoveFree) and unit.release:
                    found[-1] = replace(found[-1], held=None, in_tip=None)
                return found + rest
            if self._left <= 0:
                return None
        return None

    # ---------------------------------------------------------------------------------------- reach

    def _reach(self, tip: Pose, start: Array, near: bool = False) -> Array | None:
        """A posture for a tip; with ``near`` one that is a short straight way from ``start``."""
        self._left -= 1
        chain = self._space.chain
        seeds = (start,) if near else (start, chain.home)
        for seed in seeds:
            found = chain.solve(self._base * tip, seed, 80)
            if found.reached and (not near or float(np.abs(found.joints - start).max()) < STRETCH):
                return np.asarray(found.joints)
        return None

    def _postures(self, tip: Pose, start: Array) -> Iterator[Array]:
        """Postures for a tip: the one nearest to ``start``, and as many others as are asked for, with the elbow elsewhere."""
        first = self._reach(tip, start)
        if first is None:
            return
        yield first
        chain = self._space.chain
        for _ in range(self._elbows):
            drawn = chain.lower + (chain.upper - chain.lower) * self.stream.uniforms(0.0, 1.0, chain.count)
            found = self._reach(tip, drawn)
            if found is not None and self._space.sweep(found, first) > APART:
                yield found

    def _easy(self, joints: Array, ease: float = EASE) -> bool:
        """Are all joints away from their limits? A hand that follows a joint may come to the same tips in somewhat other postures."""
        chain = self._space.chain
        return bool(np.minimum(joints - chain.lower, chain.upper - joints).min() > ease)

    def _free(self, joints: Array, state: SupposedState, opening: float | None, passing: Sequence[str] = (), margin: float = CLEAR) -> bool:
        held = state.held if state.held in self.watch.world.loose else None
        self._space.suppose(held, state.in_tip, opening, passing)
        self._space.margin = margin
        return self._space.free(joints)

    # ---------------------------------------------------------------------------------------- taking hold

    def _controls(self, unit: Control, state: SupposedState) -> Iterator[tuple[list[Keypose], SupposedState]]:
        thing, watch = unit.thing, self.watch
        pose = standing(watch, thing)
        table = watch.world.scene.table
        lowest = (table.height if table is not None else 0.0) + ABOVE_TABLE
        found: list[tuple[float, Pose]] = []
        for grip in grips(watch, thing, unit.handle):
            tip = pose * grip.tip
            if suitable(tip):
                found += [(round(preference(t, unit.prefer), 1) - 0.5 * grip.score, t) for t in (tip, flipped(tip))]
        order = sorted(self.stream.shuffled(found), key=lambda item: item[0])
        handy = "/" in thing or (unit.prefer == "horizontal" and unit.lift)
        for back, tip in self._ordered(order, state, handy):
            before = tip * Pose((0.0, 0.0, -back))
            if before.position[2] < lowest:
                continue
            for at in self._postures(before, state.joints):
                there = self._reach(tip, at, near=True)
                empty = SupposedState(at, before)
                # With the fingers round the thing there need only be no contact yet.
                if there is None or not self._free(at, empty, None) or not self._free(there, empty, None, (), 0.0):
                    continue
                away = self._away(unit, SupposedState(there, tip, thing, tip.inverse() * pose))
                if away is None:
                    continue
                towards, taking = unit.steps
                yield [Keypose(before, False, step=towards), Keypose(tip, True, True, GENTLE, taking), *away[0]], away[1]

    def _ordered(self, order: Sequence[tuple[float, Pose]], state: SupposedState, handy: bool) -> Iterator[tuple[float, Pose]]:
        """Grasps in the order in which they are tried, each with how far before it the hand begins (m): nearer, if nothing else helps."""
        for back in (BACK, BACK / 2) if self._elbows else (BACK,):
            chosen = self._near(order[:TRIES], state, back) if handy else order[: 2 * TRIES]
            yield from ((back, tip) for _, tip in chosen)

    def _near(self, order: Sequence[tuple[float, Pose]], state: SupposedState, back: float) -> list[tuple[float, Pose]]:
        """The grasps within reach, first those that the arm has not far to go to: where it must contort itself, it moves no handle."""
        ways = [(cost, tip, self._reach(tip * Pose((0.0, 0.0, -back)), state.joints)) for cost, tip in order]
        far = [(cost + FAR * self._space.sweep(state.joints, at), tip) for cost, tip, at in ways if at is not None]
        return sorted(far, key=lambda item: item[0])

    def _away(self, unit: Control, state: SupposedState) -> tuple[list[Keypose], SupposedState] | None:
        """Out of and up from where what was taken stands, as far as the unit asks for it."""
        keyposes = []
        if unit.of:
            drawn = self._drawn(unit, state)
            if drawn is None:
                return None
            keyposes.append(Keypose(drawn.tip, True, True, GENTLE, "Move out."))
            state = drawn
        if unit.lift:
            raised = self._raised(state, state.tip)
            if raised is None or (unit.prefer == "horizontal" and not self._easy(raised.joints, ROOMY)):
                return None
            keyposes.append(Keypose(raised.tip, True, True, GENTLE, "Move upward."))
            state = raised
        return keyposes, state

    def _drawn(self, unit: Control, state: SupposedState) -> SupposedState | None:
        """Straight out of where the thing is."""
        out = rotate(self.watch.world.pose(unit.of).rotation, unit.out)
        steps, start = max(1, math.ceil(norm(out) / SLIDE)), state.tip
        for k in range(1, steps + 1):
            tip = start.moved(*(out * k / steps).tolist())
            joints = self._reach(tip, state.joints, near=True)
            if joints is None:
                return None
            state = replace(state, joints=joints, tip=tip)
        return state

    def _raised(self, state: SupposedState, tip: Pose) -> SupposedState | None:
        for height in (LIFT, LIFT + 0.05, LEAST_LIFT):
            up = tip.moved(z=height)
            joints = self._reach(up, state.joints, near=True)
            if joints is not None:
                return replace(state, joints=joints, tip=up)
        return None

    # ---------------------------------------------------------------------------------------- bringing it somewhere

    def _moves(
        self, unit: MoveFree | MoveConstrained, state: SupposedState, straight: bool
    ) -> Iterator[tuple[list[Keypose], SupposedState]]:
        world, to = self.watch.world, unit.to
        of = world.pose(to.of) if to.of else Pose()
        now = state.tip * state.in_tip
        from_thing = state.in_tip.inverse()
        back = unit.back if isinstance(unit, MoveFree) else 0.0
        passing = (to.of,) if unit.contact and to.of in world.loose else ()
        later: list[tuple[list[Keypose], SupposedState]] = []
        crowded: list[tuple[list[Keypose], SupposedState]] = []
        missed = 0
        tips = (goal * from_thing for goal in to.poses(of, now, self.stream, 1 if to.where.exact else GOALS))
        for tip in tips if straight else self._outwards_first(tips):
            if self._left <= 0:
                return
            if matrix(tip.rotation)[2, 2] > 0.75 or self._outwards(tip) < BACKWARDS:
                continue
            joints = self._reach(tip, state.joints)
            if joints is None:
                continue
            if straight and float(np.abs(joints - state.joints).max()) > 3 * STRETCH:
                continue
            searches = unit.searches if isinstance(unit, MoveFree) else 1
            poses = [Keypose(tip, not unit.release, straight, 0.7 * TRAVEL if straight else TRAVEL, unit.text, searches)]
            if back:
                before = tip * Pose((0.0, 0.0, -back))
                at = self._reach(before, joints, near=True)
                if at is None or not self._free(at, state, 0.03):
                    continue
                # The thing itself may be in a tight hole; the fingers round it may not.
                if unit.release and not self._free(joints, SupposedState(joints, tip), 0.04, (unit.thing,), 0.001):
                    continue
                # Let go at once, where it only has to fall: straight in, and open.
                poses = [Keypose(before, True, step=unit.text), Keypose(tip, not unit.release, True, GENTLE, unit.text)]
            elif not unit.contact and not self._free(joints, state, 0.03, passing):
                continue
            after = replace(state, joints=joints, tip=tip)
            if unit.release:
                after = SupposedState(joints, tip)
                if isinstance(unit, MoveFree):  # what was let go may lean on the hand
                    away = tip * Pose((0.0, 0.0, -BACK))
                    if self._reach(away, joints, near=True) is None:
                        continue
                    poses.append(Keypose(away, False, True, GENTLE, AWAY))
            if straight and not unit.contact:
                legs = self._legs(tip, state)
                if not legs:
                    missed += 1
                    if missed == MISSES:
                        return
                    continue
                poses = [replace(poses[0], tip=leg.tip) for leg in legs]
                after = legs[-1]
            # Fingers that open push away what stands beside them, but not what it goes to.
            if searches > 1 and unit.release and not self._free(joints, after, None, (unit.thing, *([to.of] if to.of else [])), 0.001):
                crowded.append((poses, after))
            elif straight or unit.contact or self._directly(poses[0].tip, state):
                yield poses, after
            else:
                later.append((poses, after))
                if len(later) == WAYS:
                    break
        if self._around:
            yield from (*later, *crowded)

    def _directly(self, tip: Pose, state: SupposedState) -> bool:
        """Can what is held be brought there straight? A way round may still be found, but is not sure to be."""
        self._space.suppose(state.held if state.held in self.watch.world.loose else None, state.in_tip, 0.03)
        self._space.margin = CLEAR
        self._left -= 10  # about as much work
        return straight(self._space, state.joints, tip) is not None

    def _legs(self, tip: Pose, state: SupposedState) -> list[SupposedState]:
        """Where straight ways lead to a tip: one, or two, up first and then over; none if none of them is free."""
        end = self._steadily(tip, state)
        if end is not None:
            return [replace(state, joints=end, tip=tip)]
        up = replace(state.tip, position=(*state.tip.position[:2], tip.position[2]))
        middle = self._steadily(up, state) if up.position[2] > state.tip.position[2] else None
        if middle is None:
            return []
        via = replace(state, joints=middle, tip=up)
        end = self._steadily(tip, via)
        return [] if end is None else [via, replace(state, joints=end, tip=tip)]

    def _steadily(self, tip: Pose, state: SupposedState) -> Array | None:
        """The posture in which a motion ends that goes straight to a tip; None if it would rather go round something on its way."""
        self._space.suppose(state.held if state.held in self.watch.world.loose else None, state.in_tip, 0.03)
        for margin in MARGINS:
            self._space.margin = margin
            if self._space.free(state.joints):
                self._left -= 10  # about as much work
                way = straight(self._space, state.joints, tip)
                return None if way is None or not self._easy(way.joints, ROOMY) else np.asarray(way.joints[-1])
        return None

    def _outwards(self, tip: Pose) -> float:
        """How much the hand points away from the robot: 1 if level and straight away from it, 0 if straight down."""
        away = np.subtract(tip.position, self._space.base.position)[:2]
        return dot(matrix(tip.rotation)[:2, 2], away) / norm(away)

    def _outwards_first(self, tips: Iterator[Pose]) -> Iterator[Pose]:
        """Of the ways to turn what is held, first those with the arm stretched out: folded, it is hard to move."""
        while some := list(itertools.islice(tips, TURNS)):
            yield from sorted(some, key=lambda tip: -round(self._outwards(tip), 1))

    def _joints(self, unit: MoveJoint, state: SupposedState) -> Iterator[tuple[list[Keypose], SupposedState]]:
        """The hand is led along or about the joint together with what it holds."""
        world = self.watch.world
        name, _, part = unit.joint.partition("/")
        fixture = world.scene.entity(name)
        assert isinstance(fixture, Fixture)
        joint = next(p for p in fixture.parts if p.name == part).joint
        assert joint is not None
        value, (low, high) = world.joint(unit.joint), unit.range
        target = low + (high - low) * self.stream.uniform(0.25, 0.75)  # what is held lags a little behind the hand
        steps = max(1, math.ceil(abs(target - value) / (ARC if joint.kind == "hinge" else SLIDE)))
        frame = world.pose(unit.joint)
        axis = rotate(frame.rotation, joint.axis)
        anchor = frame.apply(joint.anchor)
        along = (unit.thing, unit.joint, *(n for n in world.loose if self.watch.touches(n, unit.joint)))  # what is in a drawer moves too
        poses, joints, tip = [], state.joints, state.tip
        if not self._easy(joints):
            return
        for k in range(1, steps + 1):
            by = (target - value) * k / steps
            if joint.kind == "slide":
                tip = state.tip.moved(*(axis * by).tolist())
            else:
                turn = Pose.of(anchor, axis_quat(axis, by)) * Pose.of(anchor).inverse()
                tip = turn * state.tip
            found = self._reach(tip, joints, near=True)
            if found is None or not self._easy(found) or not self._free(found, state, HANDLE, along):
                return
            joints = found
            poses.append(Keypose(tip, True, True, GENTLE, unit.text))
        if joint.kind == "slide":
            poses = poses[-1:]
        if unit.release:
            poses[-1] = replace(poses[-1], closed=False)
        yield poses, replace(state, joints=joints, tip=tip)
