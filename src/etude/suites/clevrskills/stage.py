"""What the samplers of ClevrSkills have in common: actors with names and pictures, workspaces, and a table that fills up."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from etude.catalog.registry import shape
from etude.catalog.suction import suction_spot
from etude.names import EtudeError, Stream, unknown, whole_number
from etude.pose import IDENTITY, Pose, Vec2, Vec3
from etude.prompts.instruction import ObjectPicture, TexturePicture, with_article
from etude.scene import robots
from etude.scene.placement import FULL_TURN, Layout, NoRoom
from etude.scene.robots.anatomy import forward
from etude.scene.rooms import xarm_room
from etude.scene.scene import Body, Entity, Scene
from etude.suites.clevrskills.things import Item, texture_words, textures
from etude.suites.suite import Draw

ARM = "xarm6"  # unless the option says otherwise
# Workspaces, lower and upper corner (ClevrSkills 1.7).
A: tuple[Vec2, Vec2] = ((-0.4, -0.3), (0.05, 0.3))
B: tuple[Vec2, Vec2] = ((-0.35, -0.3), (0.1, 0.3))
C: tuple[Vec2, Vec2] = ((-0.35, -0.3), (0.0, 0.3))
BESIDE = 0.03  # m between things: nothing may stand under the cups but what they are to take
REACH = 0.66  # m from the base: what must be picked or placed upon lies within
LIP = 0.0017  # m from the tip to the top of what starts in the hand: the cups reach 1.1 mm beyond the tip
SPAN = 0.25  # m for one repetition of a texture
FINDS = 60  # places tried for one actor
CAMERAS = ("fitted", "original")  # values of the option: the default sees all that the task is about
T = TypeVar("T")


@dataclass(frozen=True)
class ClevrActor:
    """A thing with a part to play: what it is, what it wears, and how prompts speak of it."""

    name: str
    item: Item
    texture: str

    @property
    def words(self) -> str:
        """E.g. "red swirl star"."""
        return f"{texture_words(self.texture)} {self.item.words}"

    def body(self, pose: Pose, fixed: bool = False, mass: float | None = None) -> Body:
        """The actor on stage."""
        material = "ball" if self.item.rolls else "default"
        return Body(self.name, self.item.shape, self.texture, pose, self.item.size, SPAN, mass or self.item.mass, fixed, material)

    def picture(self, textured: bool = True) -> ObjectPicture:
        """Its picture for a prompt; untextured ones show the bare shape."""
        if textured:
            return ObjectPicture(f"the {self.words}", self.item.shape, self.item.size, self.texture, SPAN)
        return ObjectPicture(with_article(self.item.words), self.item.shape, self.item.size)

    @property
    def radius(self) -> float:
        """Half its diagonal, metres."""
        return math.hypot(*shape(self.item.shape, self.item.size).size) / 2

    def swatch(self) -> TexturePicture:
        """A picture of its texture."""
        return TexturePicture(texture_words(self.texture), self.texture)


@dataclass
class ClevrSceneBuilder:
    """A table being set for one episode."""

    draw: Draw
    lower: Vec2
    upper: Vec2
    clearance: float = 0.01
    view: str = "table"
    actors: list[ClevrActor] = field(default_factory=list)
    things: list[Entity] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stream: Stream = self.draw.rng("cast")
        self.roles: Stream = self.draw.rng("roles")
        self.layout = Layout(self.draw.rng("layout"), self.lower, self.upper, clearance=self.clearance)
        wanted = self.draw.option("variant", "0")
        number = whole_number(wanted)
        if number is None:
            raise EtudeError(f"variant={wanted} does not exist; expected a whole number from 0 on")
        self.variant = number
        camera = self.draw.option("camera", CAMERAS[0])
        if camera not in CAMERAS:
            raise unknown("value of camera", camera, CAMERAS)
        self.room = xarm_room(robots.arm(self.draw.option("robot", ARM)).name, self.view if camera == CAMERAS[0] else camera)
        assert self.room.robot is not None
        x, y, _ = self.room.robot.base.position
        self.base: Vec2 = (x, y)
        self.layout.block_disc("robot", self.base, 0.12)

    def cast(self, pool: Sequence[Item], count: int, group: int = 1, worn: Sequence[str] | None = None) -> list[ClevrActor]:
        """``count`` actors from a pool, each in another texture of the group (or in the textures given)."""
        free = [t for t in textures(self.draw.split, group) if t not in {a.texture for a in self.actors}]
        chosen = list(worn) if worn is not None else self.stream.sample(free, count)
        new = []
        for texture in chosen:
            item = self.stream.choice(pool)
            new.append(ClevrActor(f"{texture_words(texture)} {item.words} {len(self.actors)}", item, texture))
            self.actors.append(new[-1])
        return new

    def put(
        self,
        actor: ClevrActor,
        fixed: bool = False,
        yaw: tuple[float, float] = FULL_TURN,
        clearance: float | None = None,
        mass: float | None = None,
        reach: float = math.inf,
    ) -> Pose:
        """Find a place for an actor, at most ``reach`` metres from the robot, and set it there."""
        pose = self.find(actor, yaw, clearance, reach)
        self.things.append(actor.body(pose, fixed, mass))
        return pose

    def find(
        self,
        actor: ClevrActor,
        yaw: tuple[float, float] = FULL_TURN,
        clearance: float | None = None,
        reach: float = math.inf,
        free: bool = False,
    ) -> Pose:
        """Take a place for an actor without setting it there; with ``free``, room enough to be turned in any way."""
        model = room = shape(actor.item.shape, actor.item.size)
        if free:
            width = 2 * model.radius
            room = shape("cylinder", (width, width, model.size[2]))
        for _ in range(FINDS):
            pose = self.layout.place(actor.name, room, yaw=yaw, clearance=clearance)
            x, y, _z = pose.position
            if math.dist((x, y), self.base) <= reach:
                return Pose((x, y, self.layout.height + model.lift(IDENTITY)), pose.rotation)
            self.layout.taken.pop()
        raise NoRoom(f"no room for {actor.name!r} within {reach:g} m of the robot")

    def parts(self, actors: Sequence[T]) -> list[T]:
        """The actors (or what else is to be cast) in the order of the parts they play, to be drawn when all have their places: what is
        placed first is nearer to the middle. Option ``variant=k`` is the k-th permutation of the drawn order."""
        return permuted(self.roles.shuffled(actors), self.variant)

    @functools.cached_property
    def tip(self) -> Pose:
        """The tip of the robot at home."""
        assert self.room.robot is not None
        body, arm = self.room.robot, robots.arm(self.room.robot.arm)
        return body.base * forward(arm, body.joints or arm.home) * robots.hand(body.hand).tip

    def hand_over(self, actor: ClevrActor) -> Pose:
        """Put an actor into the hand: its suction spot just below the tip of the robot at home."""
        tip = self.tip
        model = shape(actor.item.shape, actor.item.size)
        spot = suction_spot(model) or (0.0, 0.0, model.size[2] / 2)
        below = float(model.bounds[1][2]) + LIP
        pose = Pose((tip.position[0] - spot[0], tip.position[1] - spot[1], tip.position[2] - below))
        self.things.append(actor.body(pose))
        return pose

    def scene(self) -> Scene:
        """The set table."""
        return replace(self.room, entities=tuple(self.things))


def permuted(items: Sequence[T], number: int) -> list[T]:
    """A permutation by its number, in lexicographic order and over again; 0 leaves everything as it is."""
    left, out = list(items), []
    number %= math.factorial(len(left))
    for rest in range(len(left) - 1, -1, -1):
        k, number = divmod(number, math.factorial(rest))
        out.append(left.pop(k))
    return out


def steady(pool: Sequence[Item]) -> tuple[Item, ...]:
    """The pool without the marker, which rolls when it is let go, and rocks for ever on a flat cylinder."""
    return tuple(item for item in pool if item.words != "large marker")


def resized(item: Item, factor: float) -> Item:
    """The item with all extents multiplied."""
    x, y, z = shape(item.shape, item.size).size
    size: Vec3 = (x * factor, y * factor, z * factor)
    return Item(item.words, item.shape, size, None, item.rolls)
