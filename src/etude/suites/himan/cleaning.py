"""Broom and dustpan: sweeping dirt, dropping rubbish; and what is composed of these.

Everything on the table belongs to one group, which is shifted and turned as a whole: the broom lies on the robot's left, the dirt before
the robot, and the dustpan on its right is open towards the dirt. Places in the group are those of HiMan-Bench (3.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from etude.catalog.registry import shape
from etude.goals.detecting import Contained, Detected, OnTable
from etude.goals.regions import About, AtPoint, Fixed, InBox, OnPlane, Region
from etude.goals.units import Composed, Control, MoveConstrained, MoveFree
from etude.pose import Array, Pose, Vec2, Vec3, yaw_quat
from etude.scene.placement import NoRoom
from etude.scene.rooms import TABLE_TOP
from etude.scene.scene import Body, Entity, Particles
from etude.suites.himan.cupboards import AROUND, BROOM, HOLDER, ON_TABLE, PUT_DOWN, broom_kept, broom_on_holder, broom_taken
from etude.suites.himan.stage import CUPBOARD, TURN, HimanSceneBuilder, picked_up, saying
from etude.suites.himan.suite import atomic, compositional
from etude.suites.suite import Draft, Draw

DUSTPAN, DIRT, RUBBISH = "dustpan", "dirt", "rubbish"
CENTRE = (0.25, 0.0)  # m: what the group turns about
SHIFTS = ((-0.08, 0.03), (-0.05, 0.05))  # m along x and y by which it is shifted; it is turned by as much as furniture is
PAN_AT, HOLDER_AT, BROOM_AT, RUBBISH_AT = (0.249, -0.326), (0.40, 0.303), (0.334, 0.296), (0.476, 0.0055)
OUT_OF_THE_WAY = (0.49, 0.303)  # m: of the holder where the broom is not on it: held by its end, it brings the hand near there
DIRT_AT = ((0.30, -0.05), (0.275, 0.0), (0.25, -0.05), (0.30, 0.0), (0.25, -0.075))
GRAIN = 0.016  # m: HiMan-Bench has 0.01, five of which are some ten pixels of a picture
STICK_AT = (0.249, -0.421)  # m: the stick of the dustpan, which is higher than the cupboard hangs
CUPBOARD_HALF, APART = (0.209, 0.125), 0.06  # m: half extents of the cupboard, and what is free between it and the stick

FLOOR = -0.30  # m: the table, in the frame of the dustpan
LIP = 0.109  # m: the edge of the dustpan, ahead of its middle
DETECTOR: tuple[Vec3, Vec3] = ((-0.125, -0.049, FLOOR - 0.012), (0.125, 0.101, FLOOR + 0.038))  # in the frame of the dustpan
BRISTLES: Vec3 = (0.137, 0.0, 0.0)  # m: its front
HOVER = 0.005  # m between broom and table: less than the dirt is high, more than the dustpan's lip
BEHIND = 0.03  # m from the dirt to where the stroke begins
INTO = 0.010  # m beyond the lip that it ends: before the sides of the dustpan, which may be narrower than the broom
AWAY = 0.10  # m by which the broom is raised afterwards


# ------------------------------------------------------------------------------------------------ stages


def swept(group: Pose, pick_up: Control) -> Composed:
    """Sweep the dirt into the dustpan with the broom, taken in this way; where some is left, once more."""
    text, height = "sweep dirt to dustpan", shape(BROOM).size[2] / 2 + HOVER
    # Where it begins is told in the frame of the world: a smaller dustpan does not bring that nearer.
    start = group * Pose.flat(PAN_AT[0], max(y for _, y in DIRT_AT) + GRAIN / 2 + BEHIND, TABLE_TOP + height, -math.pi / 2)
    behind = Region("", AtPoint(start.position), Fixed(start.rotation), point=BRISTLES)
    towards = Fixed(yaw_quat(-math.pi / 2))
    inside, above = (Region(DUSTPAN, AtPoint((0.0, LIP - INTO, FLOOR + height + up)), towards, point=BRISTLES) for up in (0.0, AWAY))
    return Composed(
        Contained(DIRT, DUSTPAN, *DETECTOR, len(DIRT_AT)),
        (
            pick_up,
            MoveFree(BROOM, behind, text, release=False),
            MoveConstrained(BROOM, inside, text, contact=True),
            MoveConstrained(BROOM, above, text, contact=True),
        ),
        text=text,
    )


def dropped(thing: str, pick_up: Control) -> Composed:
    """Put a thing, taken in this way, into the dustpan."""
    text, height = f"drop the {thing} into the dustpan", FLOOR + shape(thing).size[2] / 2
    inside = InBox((-0.06, -0.01, height + 0.015), (0.06, 0.04, height + 0.025))
    return Composed(Detected(thing, DUSTPAN, *DETECTOR), (pick_up, MoveFree(thing, Region(DUSTPAN, inside, About()), text)), text=text)


def rubbish_on_table() -> Control:
    """Take the rubbish from the table."""
    return picked_up(RUBBISH, "the rubbish on the table", OnTable(RUBBISH, *ON_TABLE))


def laid_down() -> Composed:
    """Put the rubbish somewhere else on the table."""
    lower, upper = PUT_DOWN
    anywhere = Region("", OnPlane(lower, upper, TABLE_TOP + shape(RUBBISH).size[2] / 2 + 0.005), About())
    text = "place the rubbish on the table"
    return Composed(OnTable(RUBBISH, *ON_TABLE), (rubbish_on_table(), MoveFree(RUBBISH, anywhere, text)), text=text)


@saying
def with_dustpan(things: Sequence[Entity]) -> Iterator[Composed]:
    """Sweep the dirt and drop everything else into the dustpan, or not."""
    names = {thing.name: thing for thing in things}
    pan = names.get(DUSTPAN)
    if not isinstance(pan, Body):
        return
    broom = broom_taken() if CUPBOARD in names else broom_on_holder()
    if BROOM in names:
        yield dropped(BROOM, broom)
    if RUBBISH in names:
        yield from (dropped(RUBBISH, rubbish_on_table()), laid_down())
    if {BROOM, DIRT} <= set(names):
        yield swept(pan.pose * Pose.flat(*PAN_AT, TABLE_TOP - FLOOR).inverse(), broom)


# ------------------------------------------------------------------------------------------------ things


def placed(stage: HimanSceneBuilder) -> Pose:
    """The frame of the group: that of the world, shifted and turned a little."""
    x, y = (stage.stream.uniform(*limits) for limits in SHIFTS)
    turned = Pose.flat(*CENTRE, 0.0, stage.stream.uniform(-TURN, TURN)) * Pose.flat(*CENTRE).inverse()
    return turned.moved(x, y)


def laid_out(stage: HimanSceneBuilder, group: Pose, names: Sequence[str], holder_at: Vec2 = HOLDER_AT) -> None:
    """Put these things onto the table: dustpan, dirt, holder, broom (on the holder) and rubbish, as far as they are named."""

    def at(place: Vec2, height: float) -> Pose:
        return group * Pose.flat(*place, TABLE_TOP + height)

    block = shape("broom holder").size[2]
    bodies = {
        DUSTPAN: Body(DUSTPAN, "dustpan", "#3f5f8f", at(PAN_AT, -FLOOR), fixed=True),
        HOLDER: Body(HOLDER, "broom holder", "#597a8a", at(holder_at, block / 2)),
        BROOM: Body(BROOM, "broom", "#754f33", at(BROOM_AT, block + shape("broom").size[2] / 2)),
        RUBBISH: Body(RUBBISH, "rubbish", "#e9e6dd", at(RUBBISH_AT, shape("rubbish").size[2] / 2)),
    }
    stage.things += [body for name, body in bodies.items() if name in names]
    if DIRT in names:
        stage.things.append(Particles(DIRT, "cube", GRAIN, "#4b3621", tuple(at(place, GRAIN / 2).position for place in DIRT_AT)))


def _beside(cupboard: Pose, point: Array) -> bool:
    """Is a point (3,) of the table, seen from above, not too near to the cupboard?"""
    x, y, _ = cupboard.inverse().apply(point)
    return math.hypot(max(abs(x) - CUPBOARD_HALF[0], 0.0), max(abs(y) - CUPBOARD_HALF[1], 0.0)) > APART


# ------------------------------------------------------------------------------------------------ atomic tasks


@atomic("sweep_to_dustpan")
def sweep_to_dustpan(draw: Draw) -> Draft:
    """Sweep five pieces of dirt into the dustpan with the broom that lies on its holder."""
    stage = HimanSceneBuilder(draw)
    group = placed(stage)
    laid_out(stage, group, (DUSTPAN, HOLDER, BROOM, DIRT))
    return stage.draft("sweep dirt to dustpan", [swept(group, broom_on_holder())], [BROOM, DIRT], [DUSTPAN, HOLDER])


@atomic("rubbish_in_dustpan")
def rubbish_in_dustpan(draw: Draw) -> Draft:
    """Drop a crumpled sheet of paper into the dustpan; broom and holder stand about."""
    stage = HimanSceneBuilder(draw)
    laid_out(stage, placed(stage), (DUSTPAN, HOLDER, BROOM, RUBBISH))
    return stage.draft("drop the rubbish into the dustpan", [dropped(RUBBISH, rubbish_on_table())], [RUBBISH], [DUSTPAN])


# ------------------------------------------------------------------------------------------------ compositional tasks


@compositional("sweep_and_drop")
def sweep_and_drop(draw: Draw) -> Draft:
    """Drop the rubbish into the dustpan, then sweep the dirt into it."""
    stage = HimanSceneBuilder(draw)
    group = placed(stage)
    laid_out(stage, group, (DUSTPAN, HOLDER, BROOM, DIRT, RUBBISH))
    stages = [dropped(RUBBISH, rubbish_on_table()), swept(group, broom_on_holder())]
    return stage.draft("clean all the dirt and rubbish into the dustpan", stages, [BROOM, DIRT, RUBBISH], [DUSTPAN], lasting=2)


@compositional("retrieve_and_sweep")
def retrieve_and_sweep(draw: Draw) -> Draft:
    """Take the broom out of the cupboard, and sweep the dirt into the dustpan with it."""
    stage = HimanSceneBuilder(draw)
    cupboard = stage.cupboard(AROUND)
    group = placed(stage)
    if not _beside(cupboard.pose, group.apply((*STICK_AT, 0.0))):
        raise NoRoom("the stick of the dustpan would reach into the cupboard")
    broom_kept(stage, cupboard)
    laid_out(stage, group, (DUSTPAN, HOLDER, DIRT), OUT_OF_THE_WAY)
    return stage.draft("sweep dirt to dustpan", [swept(group, broom_taken())], [BROOM, DIRT], [DUSTPAN, CUPBOARD, HOLDER])
