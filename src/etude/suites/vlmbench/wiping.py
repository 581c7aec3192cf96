"""Wipe table: Control(sponge) + M1[a4,b2](sponge) + M2[a2,b2](sponge). The dirt off an area, told apart by colour, side, shape, size or
direction.

Every area is equally dirty, so that the dirt does not tell which one is meant; only that of the target counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from etude.arithmetic import dot, norm
from etude.catalog.registry import shape
from etude.goals.detecting import Wiped
from etude.goals.regions import About, Across, AtPoint, OnPlane, Region
from etude.goals.units import Composed, Control, MoveConstrained, MoveFree
from etude.names import EtudeError
from etude.pose import Array, Pose
from etude.scene.appearance import LIFT
from etude.scene.placement import FULL_TURN, NoRoom
from etude.scene.scene import Area, Specks
from etude.suites.suite import Draft, Draw
from etude.suites.vlmbench.stage import BASE, REACH, SIDES, SPONGE, ObjectKind, UnitActor, UnitSceneBuilder, both, grasped, sides
from etude.suites.vlmbench.suite import vlmbench

RECTANGLE = ObjectKind("rectangle area", "rectangle", (0.30, 0.10, 0.001), 0.1)
ROUND = ObjectKind("round area", "disc", (0.20, 0.20, 0.001), 0.1)
STAR = ObjectKind("star area", "star", (0.328, 0.314, 0.001), 0.1)
TRIANGLE = ObjectKind("triangle area", "triangle", (0.20, 0.30, 0.001), 0.1)  # lies along y
CROSS = ObjectKind("cross area", "cross", (0.30, 0.10, 0.001), 0.1)
FLOWER = ObjectKind("flower area", "flower", (0.25, 0.25, 0.001), 0.1)
SEEN_AREAS, UNSEEN_AREAS = (RECTANGLE, ROUND, STAR, TRIANGLE), (CROSS, FLOWER)
DIRECTIONAL = (RECTANGLE, TRIANGLE, CROSS)  # those with a main axis

CELLS, CELL = 50, (0.005, 0.005, 0.001)  # of dirt, and the size of one in metres (VLMbench 1.9)
DIRT = "#4b3621"
TOGETHER = 500  # draws of all areas
SPREAD = 0.005  # m: how far dirt lies from the main axis, as a standard deviation
WIPES = (0.021, 0.05, SPONGE.size[2] / 2)  # m: half extents of the part of the sponge that wipes (VLMbench 1.3)
BACK = 0.05  # m above the side of the area, where the hand stops first
PRESS = 0.003  # m by which the sponge is pressed onto the table
APART, DIRECTIONS_APART = 0.10, 0.20  # m between the middles of areas
USUAL, SMALL, LARGE = (0.9, 1.1), (0.75, 0.9), (1.0, 1.2)  # scales
EIGHTH = math.pi / 8
# Ranges of headings (rad): along the robot's view, or across it.
TURNED = {"vertical": ((-EIGHTH, EIGHTH),), "horizontal": ((3 * EIGHTH, 5 * EIGHTH), (-5 * EIGHTH, -3 * EIGHTH))}


def _areas(stage: UnitSceneBuilder) -> tuple[ObjectKind, ...]:
    return UNSEEN_AREAS if stage.unseen else SEEN_AREAS


def _axis(kind: ObjectKind) -> Array:
    """The direction (3,), in the frame of the area, in which it is wiped: its main axis, or its x."""
    return np.array((0.0, 1.0, 0.0) if kind == TRIANGLE else (1.0, 0.0, 0.0))


def _end(area: UnitActor) -> Array:
    """Where (3,) the way across the area ends, in its frame; it begins on the opposite side."""
    axis = _axis(area.kind)
    return axis * dot(axis, area.size) / 2


def _reached(area: UnitActor, pose: Pose) -> bool:
    """Can the hand point down at both ends of the way across the area?"""
    ends = pose.apply([-_end(area), _end(area)])
    return all(REACH[0] <= math.dist((x, y), BASE) <= REACH[1] for x, y, _ in ends.tolist())


def _laid(
    stage: UnitSceneBuilder, areas: Sequence[UnitActor], apart: float = APART, wanted: str = "", turned: Sequence[tuple[float, float]] = ()
) -> tuple[UnitActor, list[Pose]]:
    """Set the areas, the first of two on its ``wanted`` side of the second, and the sponge; gives the sponge and where the areas are.

    ``turned`` are the ranges of their headings (rad). All places are drawn before they are compared: who may choose first lies nearer to
    the middle, and the first is the one that is meant.
    """
    ordered, layout = sides([wanted]) if wanted else None, stage.layout
    for _ in range(TOGETHER):
        poses = [_somewhere(stage, area, yaw) for area, yaw in zip(areas, turned or [FULL_TURN] * len(areas), strict=True)]
        if any(math.dist(a.position, b.position) < apart for a, b in combinations(poses, 2)) or not (ordered is None or ordered(poses)):
            continue
        try:
            for area, pose in zip(areas, poses, strict=True):
                layout.put(area.name, shape(area.kind.shape, area.size), pose, layout.clearance)
            break
        except EtudeError:
            layout.taken.clear()
    else:
        raise NoRoom("no places for the areas that are as they should be")
    sponge = UnitActor("sponge", SPONGE, stage.stream.choice(stage.colours), said="the sponge")
    [place] = stage.strew([sponge])
    stage.things.append(replace(sponge.body(place), material="sponge"))
    return sponge, poses


def _somewhere(stage: UnitSceneBuilder, area: UnitActor, yaw: tuple[float, float]) -> Pose:
    """A place for an area, as if it were alone."""
    [pose] = stage.strew([area], accept=lambda poses: _reached(area, poses[0]), yaw=yaw)
    stage.layout.taken.pop()
    return pose


def _dirt_on(area: UnitActor) -> str:
    return f"dirt on {area.name}"


def _dirt(stage: UnitSceneBuilder, area: UnitActor, pose: Pose) -> Specks:
    """Cells along the main axis of a directional area, about the middle of another (VLMbench 1.9)."""
    stream, end = stage.stream, _end(area)
    if area.kind in DIRECTIONAL:
        aside = np.array((-end[1], end[0], 0.0)) / norm(end)
        along = [end * (2 * k + 1 - CELLS) / CELLS + aside * stream.normal(0.0, SPREAD) for k in range(CELLS)]
        places = [(float(p[0]), float(p[1])) for p in along]
    else:
        most = min(area.size[:2]) / 4
        polar = [(stream.uniform(0.0, most), stream.uniform(0.0, 2 * math.pi)) for _ in range(CELLS)]
        places = [(r * math.cos(angle), r * math.sin(angle)) for r, angle in polar]
    top = area.size[2] / 2 + LIFT
    cells = pose.apply([(x, y, top) for x, y in places]).round(6).tolist()
    return Specks(_dirt_on(area), CELL, DIRT, tuple((x, y, z) for x, y, z in cells))


def _draft(stage: UnitSceneBuilder, areas: Sequence[UnitActor], sponge: UnitActor, poses: Sequence[Pose]) -> Draft:
    """The first of the areas is to be wiped."""
    dirt = [_dirt(stage, a, p) for a, p in zip(areas, poses, strict=True)]
    stage.things += [Area(a.name, a.kind.shape, a.colour, p, a.size) for a, p in zip(areas, poses, strict=True)]
    stage.things += dirt
    goal, *others = (_wiped(area, sponge, areas) for area in areas)
    return stage.draft(f"Wipe {areas[0].said} with a sponge.", goal, others, sponge.name, areas[0].name)


def _wiped(area: UnitActor, sponge: UnitActor, areas: Sequence[UnitActor]) -> Composed:
    x, y, _ = _end(area).tolist()
    height = sponge.size[2] / 2 - area.size[2] / 2 - PRESS
    spared = [a for a in areas if a != area]
    return Composed(
        Wiped(sponge.name, _dirt_on(area), CELLS // 2 - 1, WIPES, tuple(map(_dirt_on, spared))),
        (
            Control(sponge.name, grasped(sponge.said)),
            MoveFree(
                sponge.name,
                # The long side of the sponge, its y, across the way: so it wipes most.
                Region(area.name, AtPoint((-x, -y, height)), Across(side=(0.0, 1.0, 0.0))),
                f"Move the object to the side of {area.said}.",
                release=False,
                back=BACK,
                contact=True,
            ),
            MoveConstrained(
                sponge.name,
                Region(area.name, OnPlane((x, y), (x, y), height), About()),
                f"Move the object along the main direction of {area.said}.",
                contact=True,
            ),
        ),
        other_places=tuple(a.name for a in spared),
    )


def _pair(
    stage: UnitSceneBuilder, colours: Sequence[str], words: Sequence[str], scales: Sequence[tuple[float, float]] = (USUAL, USUAL)
) -> list[UnitActor]:
    kind = stage.stream.choice(_areas(stage))
    return [stage.actor(kind, c, stage.stream.uniform(*s), f"the {w} area") for c, w, s in zip(colours, words, scales, strict=True)]


@vlmbench.task(level="wipe")
def wipe_color(draw: Draw) -> Draft:
    """Wipe the area of a colour, of two of the same shape."""
    stage = UnitSceneBuilder(draw)
    colours = stage.some_colours(2, stage.colours[stage.variation(len(stage.colours))])
    areas = _pair(stage, colours, colours)
    return _draft(stage, areas, *_laid(stage, areas))


@vlmbench.task(level="wipe")
def wipe_relative(draw: Draw) -> Draft:
    """Wipe the area on a side, of two of the same shape."""
    stage = UnitSceneBuilder(draw)
    wanted = SIDES[stage.variation(4)]
    areas = _pair(stage, stage.some_colours(2), both(wanted))
    return _draft(stage, areas, *_laid(stage, areas, wanted=wanted))


@vlmbench.task(level="wipe")
def wipe_shape(draw: Draw) -> Draft:
    """Wipe the area of a shape, beside one or two of other shapes."""
    stage = UnitSceneBuilder(draw)
    kinds = _areas(stage)
    kind = kinds[stage.variation(len(kinds))]
    others = [k for k in kinds if k != kind]
    chosen = [kind, *stage.stream.sample(others, stage.stream.integer(1, min(2, len(others))))]
    areas = [stage.actor(k, stage.stream.choice(stage.colours), stage.stream.uniform(*USUAL), f"the {k.words}") for k in chosen]
    return _draft(stage, areas, *_laid(stage, areas))


@vlmbench.task(level="wipe")
def wipe_size(draw: Draw) -> Draft:
    """Wipe the smaller or the larger area, of two of the same shape."""
    stage = UnitSceneBuilder(draw)
    word, scales = (("smaller", (SMALL, LARGE)), ("larger", (LARGE, SMALL)))[stage.variation(2)]
    areas = _pair(stage, stage.some_colours(2), both(word), scales)
    return _draft(stage, areas, *_laid(stage, areas))


@vlmbench.task(level="wipe")
def wipe_direction(draw: Draw) -> Draft:
    """Wipe the area that lies across the table, or the one that points away from the robot, of two of the same shape with a main axis."""
    stage = UnitSceneBuilder(draw)
    words = (("horizontal", "vertical"), ("vertical", "horizontal"))[stage.variation(2)]
    kind = stage.stream.choice([k for k in _areas(stage) if k in DIRECTIONAL])
    cast = zip(stage.some_colours(2), words, strict=True)
    areas = [stage.actor(kind, c, stage.stream.uniform(*USUAL), f"the {w} area") for c, w in cast]
    own = math.atan2(*_axis(kind)[1::-1].tolist())
    turned = [(low - own, high - own) for low, high in (stage.stream.choice(TURNED[w]) for w in words)]
    return _draft(stage, areas, *_laid(stage, areas, DIRECTIONS_APART, turned=turned))
