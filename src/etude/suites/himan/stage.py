"""What the tasks of HiMan-Bench share: the room, the furniture, and stages in words (HiMan-Bench 3.1 and 3.2)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from etude.goals.goal import All, Goal
from etude.goals.units import Composed, Control, Unit
from etude.names import Stream
from etude.pose import Pose
from etude.prompts.instruction import instruction
from etude.scene.fixtures import cupboard, drawer_cabinet
from etude.scene.rooms import TABLE_TOP, rlbench_room
from etude.scene.scene import Entity, Fixture, Scene
from etude.suites.suite import Draft, Draw

LEVELS = ("bottom", "middle", "top")
TURN = math.pi / 8  # rad by which furniture is turned, at most

CABINET = "cabinet"
ACROSS = (-0.24, -0.08)  # m: where it stands, as y
OPENED = 0.24  # m: a drawer that starts open
WRIST = 0.59  # m before the cabinet's middle: the wrist of a hand that is about to take the handle of an open drawer
BASE, STRETCHED = (-0.268, -0.006), 0.86  # m: where the robot stands, and how far from there that wrist may be
BLOCK = 0.032  # m
LEG, HEIGHT = 0.074, 0.301  # m: of the cabinet
TOP = LEG + HEIGHT
WOOD, DRAWERS = "#b89f7a", "#dbcfbd"

CUPBOARD = "cupboard"
CARRIER, HANGS, FROM_CARRIER = (0.225, 0.0), 1.283, 0.3315  # m: the middle about which it is turned, its lower side, its distance
SHELF = 0.0082  # m: where things stand in it, above its lower side
PALE = "#dfbc86"


Saying = Callable[[Sequence[Entity]], Iterable[Composed]]
SAYINGS: list[Saying] = []  # one of each family: what can be done with the things of a scene, whatever the task


def saying(family: Saying) -> Saying:
    """Register what a family can say of a scene."""
    SAYINGS.append(family)
    return family


@dataclass
class HimanSceneBuilder:
    """A room being furnished for one episode."""

    draw: Draw
    things: list[Entity] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stream: Stream = self.draw.rng("layout")
        self.room: Scene = rlbench_room(grasp=self.draw.option("grasp", "friction"))

    def variation(self, count: int) -> int:
        """Which of the task's variations: seeds take them in turn."""
        return self.draw.name.seed % count

    def cabinet(self, opened: Sequence[str] = (), across: tuple[float, float] = ACROSS) -> Fixture:
        """The chest of drawers somewhere on the table, some drawers open; its drawers open to the robot's left. ``across``: its y, m."""
        while True:
            x, y = self.stream.uniform(0.18, 0.30), self.stream.uniform(*across)
            pose = Pose.flat(x, y, TABLE_TOP, math.pi + self.stream.uniform(-TURN, TURN))
            if math.dist(pose.apply((0.0, -WRIST, 0.0))[:2], BASE) < STRETCHED:
                break
        values = [OPENED if level in opened else 0.0 for level in LEVELS[::-1]]
        fixture = drawer_cabinet(CABINET, pose, drawers=LEVELS[::-1], texture=WOOD, drawer_texture=DRAWERS, opened=values)
        self.things.append(fixture)
        return fixture

    def cupboard(self, turn: float) -> Fixture:
        """The cupboard over the table, turned about the carrier's middle, to which it opens, by at most ``turn`` (rad)."""
        yaw, (x, y) = self.stream.uniform(-turn, turn), CARRIER
        at = Pose.flat(x + FROM_CARRIER * math.cos(yaw), y + FROM_CARRIER * math.sin(yaw), HANGS, yaw - math.pi / 2)
        fixture = cupboard(CUPBOARD, at, wall=SHELF, texture=PALE)
        self.things.append(fixture)
        return fixture

    def scene(self) -> Scene:
        """The furnished room."""
        return replace(self.room, entities=tuple(self.things))

    def draft(
        self,
        text: str,
        stages: Sequence[Composed],
        manipulated: Sequence[str],
        receiving: Sequence[str] = (),
        lasting: int = 0,
        result: Goal | None = None,
        sayings: Sequence[Saying] = (),
    ) -> Draft:
        """The parts of an episode: one stage, or several. What counts in the end is ``result``, or those of the last ``lasting`` stages.

        Three instructions: the whole in one sentence, its stages, and their halves, one on each line. Whatever else can be done with what
        is there can be said by a planner too; ``sayings``: by families that are only here.
        """
        texts = (u.text for stage in stages for u in stage.units if isinstance(u, Unit))
        halves = "\n".join(text for text, _ in itertools.groupby(texts))  # a half may take several units
        roles = (*(("manipulated", name) for name in manipulated), *(("receiving", name) for name in receiving))
        others = tuple(other for family in (*SAYINGS, *sayings) for other in family(self.things) if other not in stages)
        goal = replace(stages[0], others=others)
        if len(stages) > 1:
            goal = Composed(result or All(tuple(s.result for s in stages[-lasting:])), tuple(stages), text=text, others=others)
        return Draft(
            self.scene(), goal, (instruction(text), instruction("\n".join(s.text for s in stages)), instruction(halves)), roles=roles
        )


def picked_up(thing: str, said: str, there: Goal, **how: Any) -> Control:
    """Take a thing, which is said to be somewhere and is ``there``; ``how`` as of any grasp."""
    return Control(thing, f"pick up {said}", towards=f"move to {said}", given=(there,), **how)


def drawer(level: str) -> str:
    """The part that is a drawer, and its joint."""
    return f"{CABINET}/{level}"
