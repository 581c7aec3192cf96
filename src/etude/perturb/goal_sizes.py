"""Goals follow what they speak of: lengths in the frame of a thing that was scaled are scaled with it.

One walk over the dataclasses of a goal, with tables of which fields are lengths, and in whose frame.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from etude.catalog.registry import shape
from etude.goals.balance import Balanced
from etude.goals.detecting import Contained, Detected, JointAt, JointMoved, Poured, Wiped
from etude.goals.goal import Goal
from etude.goals.laying import Clear, Laid
from etude.goals.placing import AtPose, AtPosition
from etude.goals.regions import About, AtPoint, Fixed, InBox, OnLine, OnPlane, OnRing, Region, Tilting, Where
from etude.goals.sweeping import Gathered, KeptOff, NoMore
from etude.goals.units import Control, MoveConstrained, MoveFree, MoveJoint
from etude.pose import Pose, Vec2, Vec3, align, rotate
from etude.scene.scene import Body, Fixture, Scene

T = TypeVar("T")
# Lengths in the frame of the thing that another field names.
IN_FRAME: Mapping[type, Mapping[str, str]] = {
    Detected: {"lower": "by", "upper": "by", "points": "thing"},
    Contained: {"lower": "by", "upper": "by"},
    Control: {"handle": "thing"},
    Poured: {"middle": "into", "radius": "into", "height": "into"},
    Wiped: {"half": "sponge"},
    Balanced: {"thickness": "scale"},
}
# Values of joints: lengths where they slide, angles otherwise.
ALONG: Mapping[type, tuple[str, ...]] = {JointMoved: ("least", "most"), JointAt: ("least", "most"), MoveJoint: ("range",)}
# Places on the table (world) that belong to the thing that another field names.
ON_TABLE: Mapping[type, Mapping[str, str]] = {
    Laid: {"place": "into"},
    Gathered: {"lower": "into", "upper": "into"},
    NoMore: {"lower": "into", "upper": "into"},
    KeptOff: {"lower": "area", "upper": "area"},
}
# Positions of the thing itself (world): only its height above the table changes.
STANDING: Mapping[type, tuple[str, str]] = {AtPosition: ("position", "thing"), AtPose: ("pose", "thing")}


@dataclass(frozen=True)
class Scaled:
    """A thing that was scaled: its name, by how much, and the scene before and after."""

    name: str
    factor: float
    before: Scene
    after: Scene

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

    def slides(self, joint: str) -> bool:
        """Is this a joint of it that slides?"""
        root, _, part = joint.partition("/")
        entity = self.before.entity(root)
        return self.meant(root) and isinstance(entity, Fixture) and any(
            p.name == part and p.joint is not None and p.joint.kind == "slide" for p in entity.parts
        )  # fmt: skip


def _origin(scene: Scene, name: str) -> Pose:
    pose = getattr(scene.entity(name), "pose", Pose())
    assert isinstance(pose, Pose)
    return pose


def followed(goal: Goal, change: Scaled) -> Goal:
    """The goal for the scene in which the thing is scaled."""
    places = {laid.place: change.moved(laid.place) for laid in every(goal, Laid) if change.meant(laid.into)}
    new = _walked(goal, change, places)
    assert isinstance(new, Goal)
    return new


def every(value: Any, kind: type[T]) -> list[T]:
    """Every part of a goal that is of a kind, itself included."""
    found = [value] if isinstance(value, kind) else []
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return found + [one for f in dataclasses.fields(value) for one in every(getattr(value, f.name), kind)]
    return found + [one for item in value for one in every(item, kind)] if isinstance(value, tuple) else found


def _walked(value: Any, change: Scaled, places: dict[Vec2, Vec2]) -> Any:
    if isinstance(value, tuple):
        return tuple(_walked(item, change, places) for item in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, (type, Pose)):
        return value
    kind, new = type(value), dict[str, Any]()
    for name, owner in IN_FRAME.get(kind, {}).items():
        if change.meant(getattr(value, owner)):
            new[name] = change.times(getattr(value, name))
    for name in ALONG.get(kind, ()):
        if change.slides(getattr(value, "joint")):  # noqa: B009
            new[name] = change.times(getattr(value, name))
    for name, owner in ON_TABLE.get(kind, {}).items():
        if change.meant(getattr(value, owner)):
            new[name] = change.moved(getattr(value, name))
    if isinstance(value, Clear):
        new["places"] = tuple(places.get(p, p) for p in value.places)
    if kind in STANDING and change.meant(getattr(value, STANDING[kind][1])):
        new[STANDING[kind][0]] = _raised(getattr(value, STANDING[kind][0]), change.raised())
    if isinstance(value, (MoveFree, MoveConstrained)):
        new["to"] = _region(value.to, value.thing, change)
    rest = {f.name: _walked(getattr(value, f.name), change, places) for f in dataclasses.fields(value) if f.name not in new}
    changed = {**rest, **new}
    return value if all(changed[f.name] is getattr(value, f.name) for f in dataclasses.fields(value)) else replace(value, **changed)


def _raised(place: Any, by: float) -> Any:
    if isinstance(place, Pose):
        return place.moved(z=by)
    x, y, z = place
    return x, y, round(z + by, 9)


# ------------------------------------------------------------------------------------------------ regions


def _region(region: Region, thing: str, change: Scaled) -> Region:
    """The region for a thing that is brought there.

    Heights in a region are those of a point of the thing, but what matters is how high its lower side comes: that height is scaled with
    what the region belongs to, and kept where it is the thing that is scaled.
    """
    if not (change.meant(region.of) or change.meant(thing)):
        return region
    below, where = _below(region, thing, change.before), region.where
    if change.meant(thing):
        if isinstance(where, OnRing):  # beside and above something by as much as the thing itself needs, to be tilted there
            where = OnRing(change.times(where.radius), change.times(where.height))
        else:
            where = _lifted(where, 1.0, (change.factor - 1.0) * below)
        return replace(region, point=change.times(region.point), where=where)
    return replace(region, middle=change.times(region.middle), where=_lifted(where, change.factor, (1.0 - change.factor) * below))


def _below(region: Region, thing: str, scene: Scene) -> float:
    """How far the thing reaches below its point when it is turned as the region asks, metres."""
    entity = scene.entity(thing.partition("/")[0])
    turned = region.turned
    if not isinstance(entity, Body) or isinstance(turned, Tilting):
        return 0.0
    rotation = entity.pose.rotation
    if isinstance(turned, About):
        rotation = align(np.asarray(turned.own), np.asarray(turned.along))
    elif isinstance(turned, Fixed):
        rotation = turned.rotation
    return shape(entity.shape, entity.size).lift(rotation) + float(rotate(rotation, region.point)[2])


def _lifted(where: Where, factor: float, up: float) -> Where:
    """Positions scaled about the origin, then raised."""

    def at(p: Vec3) -> Vec3:
        return round(p[0] * factor, 9), round(p[1] * factor, 9), round(p[2] * factor + up, 9)

    def flat(p: Vec2) -> Vec2:
        return round(p[0] * factor, 9), round(p[1] * factor, 9)

    if isinstance(where, InBox):
        return InBox(at(where.lower), at(where.upper))
    if isinstance(where, OnPlane):
        return OnPlane(flat(where.lower), flat(where.upper), round(where.height * factor + up, 9))
    if isinstance(where, OnLine):
        return OnLine(at(where.start), at(where.end))
    return AtPoint(at(where.position)) if isinstance(where, AtPoint) else where
