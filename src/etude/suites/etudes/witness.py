"""Who looks on while an étude is played, and notes the first thing that goes wrong: what is taken up, put down, pushed, touched, opened or
closed, beside what was due at that moment."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from etude.envs.simulation import Simulation
from etude.pose import Array, Vec3
from etude.scene.scene import Body
from etude.suites.etudes import causes
from etude.suites.etudes.errands import Errand, errands
from etude.suites.etudes.household import CHEST, IN, IN_DRAWER, LEVELS, OUT, part_of
from etude.suites.etudes.rehearsing import ThoughtWorld

CARRIED = 0.03  # m: what is held and moves so far is being carried
SHOVED = 0.05  # m: what is bumped into stays nearer to its place
DROPPED = 0.03  # m that a thing falls when it is let go
SETTLED = 40  # control steps, at most, until what was let go has come to rest


@dataclass
class _Thing:
    """What is known of a thing: where it last lay (m; of what lies in a drawer, in its frame), and what is being done to it."""

    frame: str
    lay: Vec3
    axes: Array  # (3, 3), at the start
    held: bool = False
    carried: bool = False
    touched: bool = False
    by_hand: bool = False  # was that the empty hand, and not only the arm, or what was in the hand?
    loose: int = 0  # control steps since it was let go, or pushed; 0 when it lies
    top: float = 0.0  # m: how high it was when it was let go
    since: int = 0  # the control step at which what is being done to it began
    asked: tuple[Errand, ...] = ()  # what the goal asked for then


class EtudeWitness:
    """Looks once after every control step of a simulation."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        scene, watch = simulation.episode.scene, simulation.monitor.watch
        start = ThoughtWorld(scene)
        bodies = [one for one in scene.entities if isinstance(one, Body)]
        self._places = {one.name: one.pose.position for one in bodies}
        self._things = {
            one.name: _Thing(frame := start.within[one.name][0], self._spot(one.name, frame), watch.axes(one.name).copy())
            for one in bodies
            if not one.fixed
        }
        self._joints = {part_of(level): watch.world.joint(part_of(level)) for level in LEVELS} if start.chest is not None else {}
        self._hands_on = dict.fromkeys(self._joints, False)  # was its handle in the hand since it last opened or closed?
        self._seen: tuple[tuple[bool, bool], ...] = ()
        self._step = 0
        self._found: list[causes.Lack] = []
        self._refresh()

    def _refresh(self) -> None:
        """What the goal asks for, worked out again when something has come about."""
        nodes = list(self._simulation.monitor.nodes())
        seen = tuple((node.begun, node.status.satisfied) for node in nodes)
        if seen != self._seen:
            self._seen, self._asked = seen, tuple(errands(nodes[0]))

    def look(self) -> None:
        """A control step is over. Whatever happened in it is judged by what was asked for before it."""
        self._step = self._simulation.steps + 1
        for name, thing in self._things.items():
            self._handled(name, thing)
        for part in self._joints:
            self._slid(part)
        self._refresh()

    def _spot(self, name: str, frame: str) -> Vec3:
        watch = self._simulation.monitor.watch
        return watch.world.pose(frame).inverse().point(*watch.spot(name)) if frame else watch.spot(name)

    def _note(self, lack: causes.Lack | None, since: int) -> None:
        if lack is not None:
            self._found.append(replace(lack, step=since))

    def _handled(self, name: str, thing: _Thing) -> None:
        watch = self._simulation.monitor.watch
        held = watch.grasped(name)
        if held and not thing.held:
            thing.held, thing.carried, thing.loose = True, False, 0
            if not thing.touched:
                thing.since, thing.asked = self._step, self._asked
        elif held and not thing.carried and math.dist(self._spot(name, thing.frame), thing.lay) > CARRIED:
            thing.carried = True
            self._note(causes.carried(name, thing.asked), thing.since)
        elif thing.held and not held:
            thing.held = False
            if thing.carried:
                thing.loose, thing.top, thing.since, thing.asked = 1, watch.spot(name)[2], self._step, self._asked
        elif not held:
            self._let_be(name, thing)

    def _let_be(self, name: str, thing: _Thing) -> None:
        """What is not in the hand: it falls, is pushed, or is only touched."""
        watch = self._simulation.monitor.watch
        touched = watch.by_robot(name)
        if thing.loose:
            thing.loose += 1
            if (watch.static(name) and not touched) or thing.loose > SETTLED:
                self._came_to_rest(name, thing)
            return
        if touched and not thing.touched:
            thing.since, thing.asked, thing.by_hand = self._step, self._asked, False
        elif thing.touched and not touched and self._only_touched(name, thing):
            self._note(causes.touched(name, thing.asked), thing.since)
        thing.touched = touched
        thing.by_hand = thing.by_hand or (touched and watch.held is None and watch.touches(name, "hand"))
        if math.dist(self._spot(name, thing.frame), thing.lay) > SHOVED and not touched and watch.static(name):
            made = [now - before for now, before in zip(self._spot(name, thing.frame), thing.lay, strict=True)]
            towards = {other: place for other, place in self._places.items() if other != name}
            self._note(causes.pushed(name, thing.asked, thing.lay, (made[0], made[1]), towards), thing.since)
            self._lies(name, thing)

    def _only_touched(self, name: str, thing: _Thing) -> bool:
        """By the hand, and not moved by that?"""
        return thing.by_hand and math.dist(self._spot(name, thing.frame), thing.lay) < CARRIED

    def _lies(self, name: str, thing: _Thing) -> str:
        """Note where it lies now; gives on what, or in which drawer."""
        thing.frame = next((part for part in self._joints if self._is_in(name, part)), "")
        thing.loose, thing.carried, thing.touched, thing.lay = 0, False, False, self._spot(name, thing.frame)
        watch = self._simulation.monitor.watch
        below = [other for other in watch.touching(name) if other in self._places and watch.spot(other)[2] < watch.spot(name)[2] - 0.01]
        return thing.frame or next(iter(below), CHEST if self._joints and not watch.touches(name, "table") else "table")

    def _is_in(self, name: str, part: str) -> bool:
        return all(low <= v <= high for v, low, high in zip(self._spot(name, part), *IN_DRAWER, strict=True))

    def _came_to_rest(self, name: str, thing: _Thing) -> None:
        watch = self._simulation.monitor.watch
        fell = thing.top - watch.spot(name)[2] > DROPPED
        turned = math.degrees(_heading(watch.axes(name)) - _heading(thing.axes))
        since, asked, on = thing.since, thing.asked, self._lies(name, thing)
        place: Vec3 = watch.spot(name)
        if on == CHEST:
            place = self._spot(name, CHEST)
        self._note(causes.put(name, asked, causes.RestingPlace(on, place, turned, fell)), since)

    def _slid(self, part: str) -> None:
        watch = self._simulation.monitor.watch
        before, now = self._joints[part], watch.world.joint(part)
        self._joints[part] = now
        self._hands_on[part] = self._hands_on[part] or watch.grasped(part)
        opened, closed = before <= OUT < now, before >= IN > now
        if opened or closed:
            self._note(causes.slid(part, "open" if opened else "close", self._asked, self._hands_on[part]), self._step)
            self._hands_on[part] = False

    def cause(self, misled: int | None = None, led: bool = False) -> str:
        """The ability that failed first, and what showed it, once the episode is over.

        ``misled`` is the control step at which a planner said a wrong sub-task that was not made good; ``led``: there was a planner.
        """
        for name, thing in self._things.items():
            if thing.loose:
                self._came_to_rest(name, thing)
            elif thing.touched and not thing.held and self._only_touched(name, thing):
                self._note(causes.touched(name, thing.asked), thing.since)
        return causes.first(self._simulation.monitor, self._found, self._simulation.steps, misled, led)


def _heading(axes: Array) -> float:
    """Rotation matrix (3, 3) → how it is turned about the vertical, rad."""
    return math.atan2(float(axes[1, 0]), float(axes[0, 0]))
