"""What the samplers of VIMA have in common: actors with pictures, difficulty, and a table that fills up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from etude.catalog.registry import shape
from etude.catalog.shape import Shape
from etude.goals.goal import All, Always, Goal
from etude.goals.laying import Clear, Laid, OnBoard
from etude.pose import IDENTITY, Pose, Vec2, Vec3
from etude.prompts.instruction import ObjectPicture, ScenePicture
from etude.scene.placement import FULL_TURN
from etude.scene.rooms import UR5_LOWER, UR5_UPPER, ur5_room
from etude.scene.scene import Body, Entity
from etude.suites.building import RoomBuilder
from etude.suites.suite import Draw
from etude.suites.vima.things import VimaThing, pools, worn

DIFFICULTIES = ("default", "distracting", "extreme", "extremely_distracting")
BESIDE = 0.02  # m between things
REACH = 0.86  # m from the robot: farther out the hand cannot carry things high enough
SPAN = 0.1  # m for one repetition of a texture
EPS = 0.1  # m: how near is near enough, in most tasks
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

    @property
    def model(self) -> Shape:
        """Its shape."""
        return shape(self.thing.shape, self.size)

    def body(self, pose: Pose, fixed: bool = False) -> Body:
        """The actor on stage."""
        return Body(self.name, self.thing.shape, worn(self.texture), pose, self.size, SPAN, self.thing.mass, fixed)

    def standing(self, x: float, y: float, yaw: float = 0.0) -> Pose:
        """Its pose when it stands on the table."""
        return Pose.flat(x, y, self.model.lift(IDENTITY), yaw)

    def picture(self, slot: str, grey: bool = False) -> ObjectPicture:
        """Its picture for a prompt, as the cameras of the table see it; grey shows the bare shape."""
        words = f"gray {self.thing.words}" if grey else self.words
        return ObjectPicture(words, self.thing.shape, self.size, "" if grey else worn(self.texture), SPAN, None, slot, "front")


class VimaSceneBuilder(RoomBuilder):
    """A table being set for one episode. Every random choice of a sampler comes from ``stream``."""

    def __init__(self, draw: Draw, hand: str = "suction") -> None:
        super().__init__(draw, ur5_room(hand, draw.option("arm", "hidden") == "visible"), UR5_LOWER, UR5_UPPER, clearance=BESIDE)
        self.actors: list[VimaActor] = []
        self.pools = pools(draw.split)
        self._kept: list[tuple[Vec2, float]] = []
        self.difficulty = self.one_of("difficulty", DIFFICULTIES)
        self.distracting = self.difficulty in ("distracting", "extremely_distracting")
        self.extreme = self.difficulty in ("extreme", "extremely_distracting")
        self.strict = self.one_of("mistakes", ("allowed", "none")) == "none"
        self.one_of("arm", ("hidden", "visible"))

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

        def accept(at: Vec2) -> bool:
            return math.hypot(*at) <= REACH and all(math.dist(at, place) > distance for place, distance in self._kept)

        return self.free_place(actor, accept, yaw, clearance, free)

    def set_at(self, actor: VimaActor, pose: Pose, fixed: bool = False) -> None:
        """Set an actor at a given pose; nothing else is put there."""
        self.layout.block(actor.name, actor.model.outline(pose.rotation) + np.asarray(pose.position[:2]))
        self.things.append(actor.body(pose, fixed))

    def middle(self, base: VimaActor, pose: Pose) -> Vec2:
        """Where things belong that are put into a base: above the middle of its hollow, not of its outline with the handle."""
        hollow = base.model.cavity
        if hollow is None:
            return pose.position[0], pose.position[1]
        (x0, y0, _), (x1, y1, _) = hollow
        x, y, _ = pose.apply(((x0 + x1) / 2, (y0 + y1) / 2, 0.0)).tolist()
        return round(x, DECIMALS), round(y, DECIMALS)

    def goal(self, main: Goal, movable: Sequence[VimaActor], *rules: Goal) -> Goal:
        """The whole goal: what is asked for, nothing of it off the table, and the task's own rules.

        A rule that is broken for a moment can be mended, unless the option ``mistakes=none`` makes it final (VIMA: an episode ends at
        the first failure; CoGeLoT: it goes on).
        """
        names = tuple(a.name for a in movable)
        found = [*rules, OnBoard(names, UR5_LOWER, UR5_UPPER)]
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
