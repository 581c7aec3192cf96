"""A room being furnished for one episode: what a sampler needs that has no special wishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from etude.catalog.colours import SEEN
from etude.catalog.registry import shape as find_shape
from etude.goals.goal import Goal
from etude.names import EtudeError
from etude.pose import Pose, Vec2, Vec3
from etude.prompts.instruction import Instruction, ObjectPicture
from etude.scene.placement import FULL_TURN, Layout
from etude.scene.scene import Body, Entity, Scene
from etude.suites.suite import Draft, Draw

if TYPE_CHECKING:
    from etude.suites.suite import Suite

BASE = 0.15  # m about the robot's base that stays free
ABOVE = 1.0  # m above the table, and as much below: where keyposes may be, if a suite does not say
EDGE = 0.1  # m from the edge of a table that things keep, where a suite names no workspace


class Thing(str):
    """A thing that was added: its name, as goals speak of it, with the body it stands for and how it is called in words."""

    __slots__ = ("body", "words")
    body: Body
    words: str

    def picture(self) -> ObjectPicture:
        """Its picture for an instruction, with its words where there are no pictures."""
        return ObjectPicture(f"the {self.words}", self.body.shape, self.body.size, self.body.texture, self.body.texture_span)


class SceneBuilder:
    """Adds things to the room of a suite, each at a free place on the table; every choice comes from the streams of the draw."""

    def __init__(self, draw: Draw, suite: Suite) -> None:
        if suite.room is None:
            raise EtudeError(f"the suite {suite.name} has no room to furnish: give it one, Suite(…, room=rlbench_room)")
        self.room = suite.room()
        self.stream = draw.rng("things")
        height = self.room.table.height if self.room.table is not None else 0.0
        self.layout = Layout(draw.rng("layout"), *workspace(suite, self.room), height, clearance=0.02)
        self.things: list[Entity] = []
        if self.room.robot is not None:
            x, y, _ = self.room.robot.base.position
            self.layout.block_disc("robot", (x, y), BASE)
        self._colours = self.stream.shuffled(tuple(SEEN))

    def colour(self) -> str:
        """A colour that this did not give before."""
        if not self._colours:
            raise EtudeError(f"there are no more than {len(SEEN)} colours to tell things apart by")
        return self._colours.pop()

    def add(
        self,
        shape: str,
        texture: str = "",
        *,
        size: Vec3 | None = None,
        name: str = "",
        words: str = "",
        fixed: bool = False,
        yaw: tuple[float, float] = FULL_TURN,
        pose: Pose | None = None,
    ) -> Thing:
        """Put a thing of the catalogue at a free place, or at ``pose`` (m, world), and give its name.

        ``texture`` is a colour or a texture, another colour for each where none is given; ``words`` is how it is called, its texture and
        shape where nothing is said; ``yaw`` (rad) how it may be turned.
        """
        texture = texture or self.colour()
        words = words or f"{texture} {shape}"
        thing = Thing(name or f"{words} {len(self.things)}")
        model = find_shape(shape, size)
        where = self.layout.place(thing, model, yaw) if pose is None else self.layout.put(thing, model, pose)
        thing.words, thing.body = words, Body(str(thing), shape, texture, where, size, fixed=fixed)
        self.things.append(thing.body)
        return thing

    def furnish(self, *things: Entity) -> None:
        """Add what needs no place found for it: furniture, areas, markers."""
        self.things += things

    @property
    def scene(self) -> Scene:
        """The room as it is furnished now."""
        return replace(self.room, entities=(*self.room.entities, *self.things))

    def episode(self, goal: Goal, *instructions: Instruction, moved: Sequence[str] = (), receiving: Sequence[str] = ()) -> Draft:
        """What the sampler gives. ``moved`` and ``receiving`` name the things that perturbations may ask for by their part in the task."""
        roles = (*(("manipulated", str(name)) for name in moved), *(("receiving", str(name)) for name in receiving))
        return Draft(self.scene, goal, instructions, roles=roles)


def reach(suite: Suite, scene: Scene) -> tuple[Vec3, Vec3]:
    """Where the tip may be sent to keyposes (m, world): what the suite says, or above its workspace and as much below."""
    if suite.reach is not None:
        return suite.reach(scene) if callable(suite.reach) else suite.reach
    lower, upper = workspace(suite, scene)
    height = scene.table.height if scene.table is not None else 0.0
    return (*lower, height - ABOVE), (*upper, height + ABOVE)


def workspace(suite: Suite, scene: Scene) -> tuple[Vec2, Vec2]:
    """Where things may stand (m, world): the workspace of the suite, or the table up to a hand from its edge."""
    if callable(suite.workspace):
        return suite.workspace(scene)
    if suite.workspace is not None:
        return suite.workspace
    if scene.table is None:
        raise EtudeError(f"the suite {suite.name} names no workspace, and its room has no table")
    (x, y), (w, d) = scene.table.centre, scene.table.size
    return (x - w / 2 + EDGE, y - d / 2 + EDGE), (x + w / 2 - EDGE, y + d / 2 - EDGE)


__all__ = ["SceneBuilder", "Thing", "reach", "workspace"]
