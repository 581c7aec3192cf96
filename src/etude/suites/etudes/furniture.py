"""Deeds at a chest of drawers: to open and close drawers, to put things in and to take them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from etude.decisions.looks import Select
from etude.decisions.operator import Operator
from etude.goals.detecting import Detected, JointAt
from etude.goals.goal import Goal, Not, Once
from etude.goals.regions import About, InBox, Region
from etude.goals.units import Achieved, Control, MoveFree, MoveJoint
from etude.suites.etudes.acts import CHEST as AT_CHEST
from etude.suites.etudes.acts import DRAWER, MOVED, STORED, Deed, Drawer, Forbidding, Stage
from etude.suites.etudes.household import CHEST, FLOOR, IN, IN_DRAWER, ON_TOP, OUT, TOP, part_of

PULLED, PUSHED_IN = (0.21, 0.238), (-0.005, 0.01)  # m that the hand pulls a drawer out, and pushes it in
# m, in the frame of a drawer: its front half. Nearer to the chest, the wrist would meet it.
FRONT = (-0.09, -0.085), (0.085, -0.035)
SEARCHES = 6  # for a way round the chest with a thing in the hand
ABOVE = (0.012, 0.022)  # m above where it will stand, at which a thing is let go
BACK, STOOD = 0.012, 0.05  # m about where a thing stood: where it is put back to, and what counts


def pulled(level: str) -> Achieved:
    """A drawer is open."""
    part, said = part_of(level), f"the {level} drawer"
    grasp = Control(part, f"grasp the handle of {said}", "horizontal", lift=False, towards=f"move to the handle of {said}")
    return Achieved(JointAt(part, OUT, 1.0), (grasp, MoveJoint(part, part, PULLED, f"pull {said} open", release=True)), text=f"open {said}")


def pushed(level: str) -> Achieved:
    """A drawer is shut."""
    part, said = part_of(level), f"the {level} drawer"
    grasp = Control(part, f"grasp the handle of {said}", "horizontal", lift=False, towards=f"move to the handle of {said}")
    return Achieved(
        JointAt(part, -1.0, IN), (grasp, MoveJoint(part, part, PUSHED_IN, f"push {said} shut", release=True)), text=f"close {said}"
    )


def _words(name: str) -> str:
    """A thing as its name tells it, without the number."""
    return f"the {name.rpartition(' ')[0]}"


@dataclass(frozen=True)
class Open(Deed):
    """Open a drawer."""

    drawer: Drawer

    command = "open {drawer}"
    casting = (DRAWER,)
    where = AT_CHEST
    undoable = True
    steps = 250

    def goal(self, stage: Stage) -> Goal:
        return Once(pulled(self.drawer.level))

    def undone(self, stage: Stage) -> tuple[Goal, ...]:
        return (pushed(self.drawer.level),)


@dataclass(frozen=True)
class Close(Deed):
    """Close a drawer."""

    drawer: Drawer

    command = "close {drawer}"
    casting = (DRAWER,)
    where = AT_CHEST
    undoable = True
    steps = 250

    def goal(self, stage: Stage) -> Goal:
        return Once(pushed(self.drawer.level))

    def undone(self, stage: Stage) -> tuple[Goal, ...]:
        return (pulled(self.drawer.level),)


@dataclass(frozen=True)
class PutAway(Deed):
    """Put a thing into a drawer, which is opened for that if need be."""

    thing: Select
    drawer: Drawer

    command = "store {thing} in {drawer}"
    casting = (MOVED, DRAWER)
    where = AT_CHEST
    repeatable = undoable = True
    steps = 600

    def goal(self, stage: Stage) -> Goal:
        name, level = stage.name(self.thing), self.drawer.level
        part, said, middle = part_of(level), _words(name), FLOOR + stage.height(self.thing) / 2
        low, high = ((*corner, middle + above) for corner, above in zip(FRONT, ABOVE, strict=True))
        inside = Detected(name, part, *IN_DRAWER)
        put = Achieved(
            inside,
            (
                Control(name, f"pick up {said}", towards=f"move to {said}"),
                MoveFree(name, Region(part, InBox(low, high), About()), f"place {said} in the {level} drawer", searches=SEARCHES),
            ),
            text=f"store {said} in the {level} drawer",
        )
        return Achieved(inside, (pulled(level), put), text=put.text)

    def resting(self) -> tuple[tuple[Operator, Operator], ...]:
        return ((self.thing, self.drawer),)

    def undone(self, stage: Stage) -> tuple[Goal, ...]:
        name = stage.name(self.thing)
        x, y, z = stage.on_chest(self.thing)
        about = InBox((x - BACK, y - BACK, z + 0.004), (x + BACK, y + BACK, z + 0.014))
        units = (
            Control(name, f"pick up {_words(name)}", towards=f"move to {_words(name)}"),
            MoveFree(name, Region(CHEST, about, About()), f"put {_words(name)} back", searches=SEARCHES),
        )
        stood = Detected(name, CHEST, (x - STOOD, y - STOOD, z - STOOD), (x + STOOD, y + STOOD, z + STOOD))
        return (Achieved(stood, units, text=f"put {_words(name)} back to where it stood"),)


@dataclass(frozen=True)
class TakeOut(Deed):
    """Take a thing out of a drawer, which is opened for that if need be, and put it onto the chest."""

    thing: Select
    drawer: Drawer

    command = "take {thing} out of {drawer} and put it on the chest"
    casting = (STORED, DRAWER)
    where = AT_CHEST
    steps = 600

    def goal(self, stage: Stage) -> Goal:
        name, level = stage.name(self.thing), self.drawer.level
        said, low = _words(name), TOP + stage.height(self.thing) / 2 + 0.004
        on_top = Detected(name, CHEST, *ON_TOP)
        taken = Achieved(
            on_top,
            (
                Control(name, f"pick up {said}", towards=f"move to {said}"),
                MoveFree(
                    name,
                    Region(CHEST, InBox((-0.08, -0.08, low), (0.08, 0.08, low + 0.01)), About()),
                    f"place {said} on the chest",
                    searches=SEARCHES,
                ),
            ),
            text=f"take {said} out of the {level} drawer",
        )
        return Achieved(on_top, (pulled(level), taken), text=taken.text)

    def carried(self) -> tuple[Select, ...]:
        return (self.thing,)


@dataclass(frozen=True)
class WithoutOpening(Forbidding):
    """An act during which, and ever after, a drawer is not opened."""

    thing: Drawer
    act: Operator

    command = "without ever opening {thing}, {act}"
    forbidden = "never open {thing}"
    part = DRAWER
    where: ClassVar[str] = AT_CHEST

    def kept(self, stage: Stage) -> Goal:
        return Not(JointAt(part_of(self.thing.level), OUT, 1.0))
