"""Deeds: the leaves of études, each with its words, the goal it is, and what it leaves behind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from etude.decisions.looks import Select
from etude.decisions.operator import Operator
from etude.goals.branching import Succession
from etude.goals.goal import Goal, Once, Sequence
from etude.goals.leaves import AtPosition, Inside, OnTop, PushedTowards, RotatedBy, Touched
from etude.goals.whereabouts import Near
from etude.pose import Pose, multiply, yaw_quat
from etude.suites.etudes.acts import AIM, CARRIER, MOVED, ONTO_AREA, PUSHED, TABLE, TOUCHED, TURNED, Deed, Forbidding, Stage

if TYPE_CHECKING:
    from etude.decisions.connectivity import GraphAttempt, Maker

QUARTER = 90  # degrees
STAYS = 0.03  # m: what is touched may be shifted a little
DIRECTIONS: tuple[Literal["clockwise", "anti-clockwise"], ...] = ("clockwise", "anti-clockwise")


def _where_stood(stage: Stage, thing: Select, other: Select) -> Goal:
    """One thing stands where the other stood at the start."""
    return AtPosition(stage.name(thing), stage.place(other), stood=stage.name(other))


@dataclass(frozen=True)
class PutOn(Deed):
    """Put one thing on another."""

    thing: Select
    on: Select

    command = "put {thing} on {on}"
    casting = (MOVED, CARRIER)
    undoable = True

    def goal(self, stage: Stage) -> Goal:
        return OnTop(stage.name(self.thing), stage.name(self.on))

    def resting(self) -> tuple[tuple[Operator, Operator], ...]:
        return ((self.thing, self.on),)


@dataclass(frozen=True)
class PutIn(Deed):
    """Put a thing into an area."""

    thing: Select
    into: Select

    command = "bring {thing} into {into}"
    casting = (MOVED, ONTO_AREA)
    repeatable = undoable = True

    def goal(self, stage: Stage) -> Goal:
        return Inside(stage.name(self.thing), stage.name(self.into))

    def resting(self) -> tuple[tuple[Operator, Operator], ...]:
        return ((self.thing, self.into),)


@dataclass(frozen=True)
class PushTowards(Deed):
    """Push a thing towards where another one stands, a third of the way: a little less is enough."""

    thing: Select
    towards: Select

    command = "push {thing} a third of the way towards {towards}"
    casting = (PUSHED, AIM)

    def goal(self, stage: Stage) -> Goal:
        return Once(PushedTowards(stage.name(self.thing), stage.place(self.towards), towards=stage.name(self.towards)))


@dataclass(frozen=True)
class Touch(Deed):
    """Touch a thing without moving it."""

    thing: Select

    command = "touch {thing}"
    casting = (TOUCHED,)
    repeatable = True
    steps = 200

    def goal(self, stage: Stage) -> Goal:
        return Once(Touched(stage.name(self.thing)))


@dataclass(frozen=True)
class Tower(Deed):
    """Build a tower of three things: which stands on which is told by their order."""

    bottom: Select
    middle: Select
    top: Select

    command = "build a tower of {bottom}, {middle} and {top} from the bottom up"
    casting = (CARRIER, MOVED, MOVED)
    undoable = True
    steps = 600

    def goal(self, stage: Stage) -> Goal:
        bottom, middle, top = map(stage.name, (self.bottom, self.middle, self.top))
        return Sequence((OnTop(middle, bottom), OnTop(top, middle)))

    def resting(self) -> tuple[tuple[Operator, Operator], ...]:
        return (self.middle, self.bottom), (self.top, self.middle)


@dataclass(frozen=True)
class TakeOver(Deed):
    """Put a thing on another, and a third to where the first stood at the start: by then nothing shows the place any more."""

    first: Select
    on: Select
    second: Select

    command = "move {first} onto {on} and {second} to where {first} stood"
    casting = (MOVED, CARRIER, MOVED)
    steps = 600

    def goal(self, stage: Stage) -> Goal:
        return Succession((OnTop(stage.name(self.first), stage.name(self.on)), _where_stood(stage, self.second, self.first)))

    def resting(self) -> tuple[tuple[Operator, Operator], ...]:
        return ((self.first, self.on),)


@dataclass(frozen=True)
class Turn(Deed):
    """Turn a thing on the spot by a quarter, as seen from above."""

    thing: Select
    direction: Literal["clockwise", "anti-clockwise"]

    command = "turn {thing} a quarter {direction}"
    casting = (TURNED,)

    def goal(self, stage: Stage) -> Goal:
        start, degrees = stage.pose(self.thing), QUARTER if self.direction == "anti-clockwise" else -QUARTER
        turned = multiply(yaw_quat(math.radians(degrees)), start.rotation)
        return RotatedBy(stage.name(self.thing), Pose.of(start.position, turned), symmetry=stage.turns(self.thing), degrees=degrees)

    @classmethod
    def drawn(cls, attempt: GraphAttempt, joins: int, depth: int) -> Maker:
        look, direction = attempt.look(TURNED), attempt.stream.choice(DIRECTIONS)
        return lambda when: cls(Select(when[look]), direction)


@dataclass(frozen=True)
class WithoutMoving(Forbidding):
    """An act during which, and ever after, a thing stays where it is: it may be touched."""

    thing: Select
    act: Operator

    command = "without ever moving {thing}, {act}"
    forbidden = "never move {thing}"
    where: ClassVar[str] = TABLE

    def kept(self, stage: Stage) -> Goal:
        return Near(stage.name(self.thing), stage.place(self.thing), STAYS)
