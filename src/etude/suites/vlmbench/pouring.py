"""Pour water: Control(m) + M2[a1,b2](m) + M2[a4,b4](m). From one mug into another, told apart by colour, side or size.

The mug is carried upright, by its ear, to a place beside and above the receiver, and tilted over there. The stream must meet the opening
of the receiver, so the places follow from where the lip of the tilted mug comes to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from etude.catalog.registry import shape
from etude.goals.detecting import Poured
from etude.goals.regions import Across, OnRing, Region, Tilting, WhereItIs
from etude.goals.units import Composed, Control, MoveConstrained
from etude.pose import Array, Pose, Vec3
from etude.scene.placement import NoRoom
from etude.scene.scene import Particles
from etude.suites.suite import Draft, Draw
from etude.suites.vlmbench.stage import BASE, SIDES, TRIES, ObjectKind, UnitActor, UnitSceneBuilder, both, grasped, side, sides
from etude.suites.vlmbench.suite import vlmbench

SEEN_MUGS = (
    ObjectKind("mug", "mug 1", (0.139, 0.100, 0.108), 0.149),
    ObjectKind("mug", "mug 2", (0.134, 0.098, 0.113), 0.207),
    ObjectKind("mug", "mug 3", (0.188, 0.117, 0.159), 0.314),
    ObjectKind("mug", "mug 4", (0.138, 0.107, 0.097), 0.151),
)
UNSEEN_MUGS = (ObjectKind("mug", "mug 5", (0.123, 0.088, 0.133), 0.155), ObjectKind("mug", "mug 6", (0.140, 0.101, 0.107), 0.243))
DETECTORS = {"mug 3": 0.06, "mug 5": 0.04}  # m: radius of what counts as in the mug
DETECTOR, DETECTOR_HEIGHT = 0.05, 0.06

DROPS, ENOUGH = 50, 25
FULL = 0.4  # share of the smallest mug that the drops fill
LARGEST_DROP = 0.014  # m across
PACKED = 0.55  # share of a heap of spheres that is not air
WATER = 1000.0  # kg/m³

FLOWING = math.radians(80)  # tilt at which most of the water leaves a mug
SHORT = 0.02  # m before the middle of the receiver that the lip is then: the stream flies on
ABOVE = 0.03  # m that the lip stays above the rim of the receiver

ASIDE = (math.radians(38), math.radians(75))  # that an ear points past the robot: straight at it, a level wrist is at its limits
TO_ROBOT = (math.pi / 2, 3 * math.pi / 2)  # rad: headings of an ear that a hand can take without pointing back (VLMbench 1.1.1)
NEAREST = (0.39, 0.48)  # m of the hand before an ear, and of the receiver, from the robot's base: nearer, the arm is folded too much
BEFORE = 0.08  # m from the ear to the hand that is about to take it
CORRIDOR = (0.11, 0.26)  # m beside the ear and behind it that the hand needs
APART = 0.10  # m between the middles of mugs


@dataclass(frozen=True)
class _Form:
    """A mug's measures in its own frame (m): its axis, the heights of floor, foot and rim, radii inside and at the rim."""

    axis: float
    floor: float
    rim: float
    inside: float
    lip: float

    @classmethod
    def of(cls, mug: UnitActor) -> _Form:
        model = shape(mug.kind.shape, mug.size)
        assert model.cavity is not None
        (left, _, floor), (right, _, rim) = model.cavity
        brim = model.mesh.vertices[model.mesh.vertices[:, 2] > rim - 0.001]
        # The cavity is the square in the round of its narrowest place.
        return cls((left + right) / 2, floor, rim, (right - left) / math.sqrt(2), float(np.abs(brim[:, 1]).max()))

    @property
    def room(self) -> float:
        """What goes into it at least, m³."""
        return math.pi * self.inside**2 * (self.rim - self.floor)


def _drops(form: _Form, diameter: float) -> list[Vec3]:
    """Places for the drops in a mug's own frame, in layers from the floor upwards."""
    pitch = 1.03 * diameter
    free = form.inside - pitch / 2
    steps = range(-10, 11)
    layer = [(i * pitch, j * pitch) for i in steps for j in steps if math.hypot(i * pitch, j * pitch) <= free]
    places = ((k // len(layer), *layer[k % len(layer)]) for k in range(DROPS))
    return [(form.axis + x, y, form.floor + (level + 0.55) * pitch) for level, x, y in places]


def _pour(stage: UnitSceneBuilder, mugs: Sequence[UnitActor], poses: Sequence[Pose]) -> Draft:
    """From the first of the mugs into the second."""
    full, empty = mugs[0], mugs[1]
    one, other = _Form.of(full), _Form.of(empty)
    fill = FULL * PACKED * min(one.room, other.room) / DROPS
    diameter = round(min(LARGEST_DROP, math.pow(6 * fill / math.pi, 1 / 3)), 4)
    water = tuple(_vec(p) for p in poses[0].apply(np.array(_drops(one, diameter))))
    stage.set(mugs, poses)
    stage.things.append(
        Particles("water", "sphere", diameter, "azure", water, round(WATER * math.pi / 6 * math.pow(diameter, 3), 7), "water")
    )
    ears = {mug.name: side(pose * Pose((mug.size[0], 0.0, 0.0)), pose) for mug, pose in zip(mugs, poses, strict=True)}
    goal, *others = (_poured(a, b, mugs, diameter, ears[a.name]) for a, b in permutations(mugs, 2))
    return stage.draft(f"Pour the water from {full.said} to {empty.said}.", goal, others, full.name, empty.name)


def _poured(full: UnitActor, empty: UnitActor, mugs: Sequence[UnitActor], diameter: float, ear: str) -> Composed:
    """``ear`` is the side on which the mug to pour from is taken."""
    one, other = _Form.of(full), _Form.of(empty)
    # Tilted about the middle of its axis, the lip of the mug moves on a circle.
    above = (one.rim * math.sin(FLOWING) + one.lip * math.cos(FLOWING), math.hypot(one.rim, one.lip))
    ring = OnRing(round(above[0] + SHORT, 4), round(above[1] + ABOVE, 4))
    opening: Vec3 = (round(other.axis, 5), 0.0, round(other.rim, 5))
    axis: Vec3 = (round(one.axis, 5), 0.0, 0.0)
    scale = empty.scale
    # From so high that drops on the table, beside the foot, are not taken for drops in the mug.
    low = (-empty.size[2] / 2 + other.floor + diameter) / 2
    return Composed(
        Poured(
            "water",
            empty.name,
            ENOUGH,
            (opening[0], 0.0, round(low, 5)),
            round(DETECTORS.get(empty.kind.shape, DETECTOR) * scale, 5),
            round(DETECTOR_HEIGHT * scale, 5),
        ),
        (
            Control(full.name, grasped(full.said, ear), "horizontal"),
            MoveConstrained(
                full.name,
                Region(empty.name, ring, Across(), True, point=axis, middle=opening),
                f"Move the object to the top of {empty.said} with the opening upwards.",
            ),
            MoveConstrained(
                full.name,
                Region(empty.name, WhereItIs(), Tilting(), True, point=axis, middle=opening),
                f"Rotate {full.said} toward {empty.said}.",
            ),
        ),
        tuple(m.name for m in mugs if m not in (full, empty)),
    )


def _vec(v: Array) -> Vec3:
    return float(v[0]), float(v[1]), float(v[2])


def _lay(stage: UnitSceneBuilder, mugs: Sequence[UnitActor], accept: Callable[[Sequence[Pose]], bool] = lambda poses: True) -> list[Pose]:
    """Places for the mugs: the ear of the first is turned to the robot, with room for a hand behind it."""
    for _ in range(5 * TRIES):
        before = len(stage.layout.taken)
        try:
            poses = [stage.place(mugs[0], yaw=TO_ROBOT)]
            if not _offered(mugs[0], poses[0]):
                del stage.layout.taken[before:]
                continue
            stage.layout.block("the hand", poses[0].apply(_corridor(mugs[0]))[:, :2])
            for mug in mugs[1:]:
                poses.append(stage.place(mug, [(p, APART) for p in poses]))
            if math.dist(poses[1].position[:2], BASE) > NEAREST[1] and accept(poses):
                return poses
        except NoRoom:
            pass
        del stage.layout.taken[before:]
    raise NoRoom(f"no places for {', '.join(m.name for m in mugs)} that are as they should be")


def _offered(mug: UnitActor, pose: Pose) -> bool:
    """Can a hand that comes from the robot take the ear (along +x of the mug)?"""
    x, y = (pose.apply((mug.size[0] / 2 + BEFORE, 0.0, 0.0))[:2] - BASE).tolist()
    past = abs(math.remainder(pose.yaw - math.atan2(-y, -x), 2 * math.pi))
    return math.hypot(x, y) > NEAREST[0] and ASIDE[0] < past < ASIDE[1]


def _corridor(mug: UnitActor) -> Array:
    """Where the hand will be that takes hold of the ear: corners (4, 3) in the mug's frame."""
    half, length = CORRIDOR
    ear = mug.size[0] / 2
    return np.array([(x, y, 0.0) for x in (ear - 0.03, ear + length) for y in (-half, half)])


@vlmbench.task(level="pour")
def pour_color(draw: Draw) -> Draft:
    """Pour water from the mug of a colour into the mug of another, with a third one standing by."""
    stage = UnitSceneBuilder(draw)
    colours = stage.some_colours(3, stage.colours[stage.variation(len(stage.colours))])
    kind = _kind(stage)
    mugs = [stage.actor(kind, c, said=f"the {c} mug") for c in colours]
    return _pour(stage, mugs, _lay(stage, mugs))


@vlmbench.task(level="pour")
def pour_relative(draw: Draw) -> Draft:
    """Pour water from the mug on one side into the mug on the other."""
    stage = UnitSceneBuilder(draw)
    one = SIDES[stage.variation(4)]
    kind = _kind(stage)
    mugs = [stage.actor(kind, c, said=f"the {s} mug") for c, s in zip(stage.some_colours(2), both(one), strict=True)]
    return _pour(stage, mugs, _lay(stage, mugs, sides([one])))


@vlmbench.task(level="pour")
def pour_size(draw: Draw) -> Draft:
    """Pour water from the smaller mug into the larger one, or the other way round."""
    stage = UnitSceneBuilder(draw)
    small, large = stage.stream.uniform(0.75, 0.9), stage.stream.uniform(1.0, 1.1)
    scales, words = ((small, large), both("smaller")) if stage.variation(2) == 0 else ((large, small), both("larger"))
    kind = _kind(stage)
    mugs = [stage.actor(kind, c, scale, f"the {s} mug") for c, scale, s in zip(stage.some_colours(2), scales, words, strict=True)]
    return _pour(stage, mugs, _lay(stage, mugs))


def _kind(stage: UnitSceneBuilder) -> ObjectKind:
    return stage.stream.choice(UNSEEN_MUGS if stage.unseen else SEEN_MUGS)
