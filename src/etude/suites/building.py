"""A room being furnished for one episode: what a sampler needs that has no special wishes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from etude.arithmetic import norms
from etude.catalog.colours import SEEN
from etude.catalog.registry import shape as find_shape
from etude.catalog.shape import Shape
from etude.goals.goal import Goal
from etude.names import EtudeError, unknown
from etude.pose import IDENTITY, Pose, Vec2, Vec3
from etude.prompts.instruction import Instruction, ObjectPicture
from etude.scene.placement import FULL_TURN, Layout, NoRoom
from etude.scene.scene import Body, Entity, Scene
from etude.suites.suite import Draft, Draw

if TYPE_CHECKING:
    from etude.suites.suite import Suite

BASE = 0.15  # m about the robot's base that stays free
EDGE = 0.1  # m from the edge of a table that things keep, where a suite names no workspace
TRIES = 60  # places tried for one thing


class Actor(Protocol):
    """What a place is sought for: a thing with a name and a shape."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> Shape: ...


class RoomBuilder:
    """A room being furnished for one episode: what is in it, where there is still room, and the stream of the sampler's choices."""

    def __init__(
        self, draw: Draw, room: Scene, lower: Vec2, upper: Vec2, height: float = 0.0, clearance: float = 0.01, purpose: str = "cast"
    ) -> None:
        self.draw, self.room = draw, room
        self.stream = draw.rng(purpose)
        self.layout = Layout(draw.rng("layout"), lower, upper, height, clearance)
        self.things: list[Entity] = []

    def one_of(self, key: str, valid: Sequence[str]) -> str:
        """The value of an option; the first of the valid ones is the default."""
        value = self.draw.option(key, valid[0])
        if value not in valid:
            raise unknown(f"value of {key}", value, valid)
        return value

    def variation(self, count: int) -> int:
        """Which of the task's variations: seeds take them in turn."""
        return self.draw.name.seed % count

    def free_place(
        self,
        actor: Actor,
        accept: Callable[[Vec2], bool],
        yaw: tuple[float, float] = FULL_TURN,
        clearance: float | None = None,
        free: bool = False,
    ) -> Pose:
        """Take a free place whose middle is accepted; with ``free``, one with room enough to be turned in any way."""
        model = room = actor.model
        if free:
            width = 2 * float(norms(model.footprint).max())
            room = find_shape("cylinder", (width, width, model.size[2]))
        for _ in range(TRIES):
            pose = self.layout.place(actor.name, room, yaw=yaw, clearance=clearance)
            x, y, _z = pose.position
            if accept((x, y)):
                return Pose((x, y, self.layout.height + model.lift(IDENTITY)), pose.rotation)
            self.layout.taken.pop()
        raise NoRoom(f"no room for {actor.name!r} within the robot's reach")

    @property
    def scene(self) -> Scene:
        """The room as it is furnished now."""
        return replace(self.room, entities=(*self.room.entities, *self.things))

    def drafted(
        self,
        goal: Goal,
        instructions: Sequence[Instruction],
        moved: Sequence[str] = (),
        receiving: Sequence[str] = (),
        held: str = "",
        least: int = 0,
    ) -> Draft:
        """What the sampler gives. ``moved`` and ``receiving`` name the things that perturbations may ask for by their part in the task."""
        roles = (*(("manipulated", str(name)) for name in moved), *(("receiving", str(name)) for name in receiving))
        return Draft(self.scene, goal, tuple(instructions), held, roles, least)


class Thing(str):
    """A thing that was added: its name, as goals speak of it, with the body it stands for and how it is called in words."""

    __slots__ = ("body", "words")
    body: Body
    words: str

    def picture(self) -> ObjectPicture:
        """Its picture for an instruction, with its words where there are no pictures."""
        return ObjectPicture(f"the {self.words}", self.body.shape, self.body.size, self.body.texture, self.body.texture_span)


class SceneBuilder(RoomBuilder):
    """Adds things to the room of a suite, each at a free place on the table; every choice comes from the streams of the draw."""

    def __init__(self, draw: Draw, suite: Suite) -> None:
        if suite.room is None:
            raise EtudeError(f"the suite {suite.name} has no room to furnish: give it one, Suite(…, room=rlbench_room)")
        room = suite.room()
        height = room.table.height if room.table is not None else 0.0
        super().__init__(draw, room, *workspace(suite, room), height, clearance=0.02, purpose="things")
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

    def episode(self, goal: Goal, *instructions: Instruction, moved: Sequence[str] = (), receiving: Sequence[str] = ()) -> Draft:
        """What the sampler gives; see :meth:`~RoomBuilder.drafted`."""
        return self.drafted(goal, instructions, moved, receiving)


def workspace(suite: Suite, scene: Scene) -> tuple[Vec2, Vec2]:
    """Where things may stand (m, world): the workspace of the suite, or the table up to a hand from its edge."""
    if suite.workspace is not None:
        return suite.workspace
    if scene.table is None:
        raise EtudeError(f"the suite {suite.name} names no workspace, and its room has no table")
    (x, y), (w, d) = scene.table.centre, scene.table.size
    return (x - w / 2 + EDGE, y - d / 2 + EDGE), (x + w / 2 - EDGE, y + d / 2 - EDGE)


__all__ = ["RoomBuilder", "SceneBuilder", "Thing", "workspace"]
