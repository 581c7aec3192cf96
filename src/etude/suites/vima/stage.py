"""What the samplers of VIMA have in common: actors with pictures, difficulty, and a table that fills up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from etude.catalog.registry import shape
from etude.goals.goal import All, Always, Goal, every
from etude.goals.imitating import NotAmong
from etude.goals.laying import Clear, Laid, OnBoard
from etude.names import EtudeError, Stream, unknown
from etude.pose import IDENTITY, Pose, Vec2, Vec3
from etude.prompts.instruction import ObjectPicture, ScenePicture
from etude.scene.placement import FULL_TURN, Layout, NoRoom
from etude.scene.rooms import UR5_LOWER, UR5_UPPER, ur5_room
from etude.scene.scene import Body, Entity, Scene
from etude.suites.suite import Draw
from etude.suites.vima.things import TEXTURES, VimaThing, pools, worn

DIFFICULTIES = ("default", "distracting", "extreme", "extremely_distracting")
BESIDE = 0.02  # m between things
REACH = 0.86  # m from the robot: farther out the hand cannot carry things high enough
SPAN = 0.1  # m for one repetition of a texture
EPS = 0.1  # m: how near is near enough, in most tasks
FINDS = 60
DECIMALS = 9  # what is computed with sines is rounded: names and results must not depend on a machine's last bit


@dataclass(frozen=True)
class VimaActor:
    """A thing with a part to play. ``scale`` multiplies its extents."""

    name: str
    thing: VimaThing
    texture: str
    scale: Vec3 = (1.0, 1.0, 1.0)

    @property
    def words(self) -> str:
        """E.g. "red swirl star"."""
        return f"{self.texture} {self.thing.words}"

    @property
    def size(self) -> Vec3 | None:
        """Its extents, metres; None for the catalogue's own."""
        if self.scale == (1.0, 1.0, 1.0):
            return self.thing.size
        x, y, z = shape(self.thing.shape, self.thing.size).size
        return (x * self.scale[0], y * self.scale[1], z * self.scale[2])

    def body(self, pose: Pose, fixed: bool = False) -> Body:
        """The actor on stage."""
        return Body(self.name, self.thing.shape, worn(self.texture), pose, self.size, SPAN, self.thing.mass, fixed)

    def standing(self, x: float, y: float, yaw: float = 0.0) -> Pose:
        """Its pose when it stands on the table."""
        return Pose.flat(x, y, shape(self.thing.shape, self.size).lift(IDENTITY), yaw)

    def picture(self, slot: str, grey: bool = False) -> ObjectPicture:
        """Its picture for a prompt, as the cameras of the table see it; grey shows the bare shape."""
        words = f"gray {self.thing.words}" if grey else self.words
        return ObjectPicture(words, self.thing.shape, self.size, "" if grey else worn(self.texture), SPAN, None, slot, "front")


@dataclass
class VimaSceneBuilder:
    """A table being set for one episode. Every random choice of a sampler comes from ``stream``."""

    draw: Draw
    hand: str = "suction"
    actors: list[VimaActor] = field(default_factory=list)
    things: list[Entity] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stream: Stream = self.draw.rng("cast")
        self.layout = Layout(self.draw.rng("layout"), UR5_LOWER, UR5_UPPER, clearance=BESIDE)
        new = self.one_of("textures", ("mixed", "new")) == "new"
        if new and self.draw.split != "L3":
            raise EtudeError(f"textures=new is for L3, the level of new objects, not for {self.draw.name.split}")
        self.pools = pools(self.draw.split, new)
        self.textures = TEXTURES if self.draw.split in ("L3", "L4") and not new else self.pools.dragged_textures
        self._kept: list[tuple[Vec2, float]] = []
        self.difficulty = self.one_of("difficulty", DIFFICULTIES)
        self.distracting = self.difficulty in ("distracting", "extremely_distracting")
        self.extreme = self.difficulty in ("extreme", "extremely_distracting")
        self.strict = self.one_of("failure", ("mended", "final")) == "final"
        self.room = ur5_room(self.hand, self.one_of("arm", ("hidden", "visible")) == "visible")

    def one_of(self, key: str, valid: tuple[str, ...]) -> str:
        """The value of an option; the first of the valid ones is the default."""
        value = self.draw.option(key, valid[0])
        if value not in valid:
            raise unknown(f"value of {key}", value, valid)
        return value

    def wardrobe(self, thing: VimaThing) -> tuple[str, ...]:
        """Textures of a distractor of this shape: those of what it could be taken for, so that no texture tells a part."""
        return self.pools.base_textures if thing in self.pools.bases else self.pools.dragged_textures

    def actor(self, thing: VimaThing, texture: str, scale: Vec3 = (1.0, 1.0, 1.0)) -> VimaActor:
        """A new actor, with a name of its own."""
        self.actors.append(VimaActor(f"{texture} {thing.words} {len(self.actors)}", thing, texture, scale))
        return self.actors[-1]

    def put(self, actor: VimaActor, fixed: bool = False, yaw: tuple[float, float] = FULL_TURN, clearance: float | None = None) -> Pose:
        """Find a free place for an actor and set it there."""
        pose = self.find(actor, yaw, clearance)
        self.things.append(actor.body(pose, fixed))
        return pose

    def keep_free(self, place: Vec2, distance: float = EPS + BESIDE) -> None:
        """Have no middle of what is found a place later come this near: it would lie where something else belongs."""
        self._kept.append((place, distance))

    def find(self, actor: VimaActor, yaw: tuple[float, float] = FULL_TURN, clearance: float | None = None, free: bool = False) -> Pose:
        """Take a free place within reach without setting the actor there; with ``free``, room enough to be turned in any way."""
        model = room = shape(actor.thing.shape, actor.size)
        if free:
            width = 2 * model.radius
            room = shape("cylinder", (width, width, model.size[2]))
        for _ in range(FINDS):
            pose = self.layout.place(actor.name, room, yaw=yaw, clearance=clearance)
            x, y, _z = pose.position
            if math.hypot(x, y) <= REACH and all(math.dist((x, y), place) > distance for place, distance in self._kept):
                return Pose((x, y, model.lift(IDENTITY)), pose.rotation)
            self.layout.taken.pop()
        raise NoRoom(f"no room for {actor.name!r} within {REACH:g} m of the robot")

    def set_at(self, actor: VimaActor, pose: Pose, fixed: bool = False) -> None:
        """Set an actor at a given pose; nothing else is put there."""
        model = shape(actor.thing.shape, actor.size)
        self.layout.block(actor.name, model.outline(pose.rotation) + np.asarray(pose.position[:2]))
        self.things.append(actor.body(pose, fixed))

    def middle(self, base: VimaActor, pose: Pose) -> Vec2:
        """Where things belong that are put into a base: above the middle of its hollow, not of its outline with the handle."""
        hollow = shape(base.thing.shape, base.size).cavity
        if hollow is None:
            return pose.position[0], pose.position[1]
        (x0, y0, _), (x1, y1, _) = hollow
        x, y, _ = pose.apply(((x0 + x1) / 2, (y0 + y1) / 2, 0.0)).tolist()
        return round(x, DECIMALS), round(y, DECIMALS)

    def scene(self) -> Scene:
        """The set table."""
        return replace(self.room, entities=tuple(self.things))

    def goal(self, main: Goal, movable: Sequence[VimaActor], *rules: Goal) -> Goal:
        """The whole goal: what is asked for, nothing of it off the table, and the task's own rules.

        A rule that is broken for a moment can be mended, unless the option ``failure=final`` ends the episode (VIMA: at the first failure;
        CoGeLoT: it goes on). An object left where a distractor lies is a failure too, but nothing that would have to be mended.
        """
        names = tuple(a.name for a in movable)
        found = [*rules, OnBoard(names, UR5_LOWER, UR5_UPPER)]
        others = tuple(name for rule in rules if isinstance(rule, Clear) for name in rule.things)
        if self.strict and others:
            found.append(NotAmong(tuple(every(main, Laid)), others))
        return All((main, *(Always(r) if self.strict else r for r in found)))


def laid(actor: VimaActor, place: Vec2, base: VimaActor | None = None, eps: float = EPS) -> Laid:
    """The actor lies near a place, whatever way it is turned."""
    return Laid(actor.name, place, eps, into=base.name if base is not None else "")


def clear(actors: Sequence[VimaActor], places: Sequence[Vec2], eps: float = EPS) -> Clear:
    """None of the actors lies near one of the places."""
    return Clear(tuple(a.name for a in actors), tuple(places), eps)


def scene_picture(slot: str, things: Sequence[Entity], words: str = "this scene") -> ScenePicture:
    """A picture of the table with these things on it and nothing else."""
    return ScenePicture(words, camera="front", slot=slot, things=tuple(things))
