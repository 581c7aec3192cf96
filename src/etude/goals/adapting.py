"""What goals are asked about other scenes than their own: one in which a thing is scaled, and one in which the ways and places that they
need must stay free. Metres, world frame, unless a frame is named."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from etude.catalog.polygon import hull
from etude.catalog.registry import default_size
from etude.names import EtudeError
from etude.pose import Array, Pose, Vec2
from etude.scene.outlines import disc, extent
from etude.scene.scene import Area, Body, Fixture, Scene

if TYPE_CHECKING:
    from etude.goals.goal import Goal

T = TypeVar("T")
ONE_SIZE = ("shape sorter box", "shape sorter lid")  # catalogue shapes with holes that fit one size only


@dataclass(frozen=True)
class Scaled:
    """A thing that was scaled: its name, by how much, the scene before and after, and the whole goal before."""

    name: str
    factor: float
    before: Scene
    after: Scene
    goal: Goal

    def __post_init__(self) -> None:
        self.refuse_one_size(self.name)

    def refuse_one_size(self, name: str) -> None:
        """Refuse the change where this thing has holes for things of one size."""
        if name and getattr(self.before.entity(name.partition("/")[0]), "shape", "") in ONE_SIZE:
            raise EtudeError("the holes of the shape sorter fit one size only")

    def meant(self, name: str) -> bool:
        """Is it this thing, or a part of it?"""
        return name.partition("/")[0] == self.name

    def times(self, value: Any) -> Any:
        """A length, or tuples of lengths, scaled."""
        return tuple(map(self.times, value)) if isinstance(value, tuple) else round(value * self.factor, 9)

    def moved(self, place: Vec2) -> Vec2:
        """A place on the table that belongs to it."""
        (x, y, _), (u, v, _) = (_origin(scene, self.name).position for scene in (self.before, self.after))
        return round(u + (place[0] - x) * self.factor, 9), round(v + (place[1] - y) * self.factor, 9)

    def raised(self) -> float:
        """By how much its origin stands higher."""
        return _origin(self.after, self.name).position[2] - _origin(self.before, self.name).position[2]

    def in_frame(self, goal: T, owner: str, *fields: str) -> T:
        """The goal with these fields, lengths in the frame of their owner, scaled with it."""
        return _changed(goal, fields, self.times) if self.meant(owner) else goal

    def on_table(self, goal: T, owner: str, *fields: str) -> T:
        """The goal with these fields, places on the table that belong to their owner, moved with it."""
        return _changed(goal, fields, self.moved) if self.meant(owner) else goal

    def along(self, goal: T, joint: str, *fields: str) -> T:
        """The goal with these fields, values of a joint ("cabinet/top"), scaled if it slides; angles stay."""
        root, _, part = joint.partition("/")
        entity = self.before.entity(root)
        slides = isinstance(entity, Fixture) and any(
            p.name == part and p.joint is not None and p.joint.kind == "slide" for p in entity.parts
        )
        return self.in_frame(goal, root, *fields) if slides else goal


def _changed(goal: T, fields: tuple[str, ...], change: Callable[[Any], Any]) -> T:
    return replace(goal, **{name: change(getattr(goal, name)) for name in fields})  # type: ignore[type-var]


def _origin(scene: Scene, name: str) -> Pose:
    pose = getattr(scene.entity(name), "pose", Pose())
    assert isinstance(pose, Pose)
    return pose


@dataclass(frozen=True)
class Room:
    """The table of a scene on which places shall stay free for things that may become ``growth`` times as large as they are."""

    scene: Scene
    growth: float = 1.0

    def half(self, thing: str) -> float:
        """How far a thing reaches from its middle, in the largest size it may get."""
        entity = self.scene.entity(thing.partition("/")[0])
        return self.growth * math.hypot(*(entity.size or default_size(entity.shape))[:2]) / 2 if isinstance(entity, (Body, Area)) else 0.05

    def around(self, x: float, y: float, thing: str) -> Array:
        """The outline (N, 2) of a place for a thing, however it is turned."""
        return disc(x, y, self.half(thing))

    def way(self, thing: str, to: Array) -> Array:
        """The outline (N, 2) of the straight way of a thing from where it stands to an outline (M, 2)."""
        return hull(np.vstack([extent(self.scene.entity(thing)).ring, to]))
