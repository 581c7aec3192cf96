"""The cupboard that hangs over the table: boxes that go in and out, a broom that comes out; and what is composed of these."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from etude.catalog.registry import shape
from etude.goals.detecting import Detected, OnTable
from etude.goals.regions import About, AtPoint, Fixed, InBox, OnPlane, Region
from etude.goals.units import Composed, Control, MoveFree
from etude.pose import Pose, Quat, Vec2, Vec3, axis_quat, multiply, yaw_quat
from etude.scene.placement import Layout, NoRoom
from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_UPPER, TABLE_TOP
from etude.scene.scene import Body, Entity, Fixture
from etude.suites.himan.drawers import JELLO, JELLO_BOX, in_drawer, jello_in, opened
from etude.suites.himan.stage import BASE, CABINET, CUPBOARD, LEVELS, SHELF, TURN, HimanSceneBuilder, picked_up, saying
from etude.suites.himan.suite import atomic, compositional
from etude.suites.suite import Draft, Draw

IN_CUPBOARD = ((-0.18, -0.12, 0.007), (0.18, 0.12, 0.247))  # m, in the cupboard's frame: what its detector sees
ON_TABLE: tuple[Vec2, Vec2] = ((0.0, -0.4), (0.5, 0.4))  # m: where on the table a box is seen
PUT_DOWN: tuple[Vec2, Vec2] = ((0.06, -0.34), (0.44, 0.34))  # m: where the oracle puts one
ON_HOLDER = ((-0.1, -0.05, 0.044), (0.1, 0.05, 0.085))  # m, in the holder's frame
FRONT, DEEP = -0.133, -0.09  # m before the cupboard's middle: the tops of the boxes in it, and the middle of the broom
CLEARANCE = 0.03  # m before the cupboard, where what goes in or comes out is turned
APART, TALL = 0.1, 0.17  # m between boxes on the table; from the sugar, which is so tall that the hand cannot be over it
AROUND = 1.0  # rad by which the cupboard of the boxes is turned about the middle of the table, at most
REACH = (0.34, 0.74)  # m: how far from where the robot stands its hand can point down

PULLED, BEFORE = 0.22, -0.205  # m: how far a drawer is opened, and how far before the cupboard's middle what is in it must then be

BROOM, HOLDER = "broom", "broom holder"
HANDLE: tuple[Vec3, Vec3] = ((-0.08, 0.0, -0.004), (0.05, 0.0, -0.004))  # m, in its own frame: where the broom is held
STICKS_OUT: tuple[Vec3, Vec3] = ((-0.12, 0.0, -0.004), (-0.06, 0.0, -0.004))  # m, in its own frame: what can be taken in the cupboard
ON_ITS_HEAD = 0.018  # m: the middle of a broom above what it lies on


@dataclass(frozen=True)
class KeptBox:
    """A box: its name, its shape and colour, where it is kept (m beside the cupboard's middle), how it is turned there about its top."""

    name: str
    shape: str
    colour: str
    beside: float
    turned: float = 0.0

    @property
    def size(self) -> Vec3:
        """Its extents as it stands, metres."""
        return shape(self.shape).size

    @property
    def lying(self) -> Quat:
        """Its rotation in the cupboard's frame: on its back, with its top towards the open side."""
        return multiply(axis_quat((1.0, 0.0, 0.0), math.pi / 2), yaw_quat(self.turned))

    @property
    def slot(self) -> Vec3:
        """Where its middle is when it lies in the cupboard (m, in the cupboard's frame)."""
        return self.beside, FRONT + self.size[2] / 2, SHELF + (self.size[0] if self.turned else self.size[1]) / 2

    @property
    def way(self) -> float:
        """How far it is from there straight out of the cupboard, metres."""
        return self.size[2] + CLEARANCE


# HiMan-Bench has 0.08 m between them, into which open fingers do not fit, and the sugar sticks out beside the others, as hands do.
SPAM, SUGAR = KeptBox("spam", "spam", "#2a4b9b", -0.09, math.pi / 2), KeptBox("sugar", "sugar", "#f2c431", 0.09)
BOXES = (KeptBox(JELLO, JELLO_BOX, "red", 0.0), SPAM, SUGAR)


# ------------------------------------------------------------------------------------------------ stages


def box_in(box: KeptBox, pick_up: Control | None = None, text: str = "") -> Composed:
    """Put a box into its place in the cupboard; from the table, or from where ``pick_up`` takes it, as ``text`` then says."""
    x, y, z = box.slot
    return Composed(
        _in_cupboard(box.name),
        (
            pick_up or picked_up(box.name, f"the {box.name} on the table", OnTable(box.name, *ON_TABLE)),
            MoveFree(
                box.name,
                Region(CUPBOARD, InBox((x - 0.005, y - 0.005, z + 0.005), (x + 0.005, y + 0.005, z + 0.008)), Fixed(box.lying, 2)),
                f"place the {box.name} in the cupboard",
                back=box.way,
            ),
        ),
        text=text or f"put the {box.name} in the cupboard",
    )


def box_out(box: KeptBox, where: tuple[Vec2, Vec2] = PUT_DOWN) -> Composed:
    """Draw a box out of the cupboard, and stand it on the table, ``where`` (m) that is of use for what follows."""
    (lower, upper), height = where, TABLE_TOP + box.size[2] / 2 + 0.005
    return Composed(
        OnTable(box.name, *ON_TABLE),
        (
            picked_up(
                box.name,
                f"the {box.name} in the cupboard",
                _in_cupboard(box.name),
                prefer="horizontal",
                lift=False,
                out=(0.0, -box.way, 0.01),
                of=CUPBOARD,
            ),
            MoveFree(box.name, Region("", OnPlane(lower, upper, height), About()), f"place the {box.name} on the table"),
        ),
        text=f"put the {box.name} on the table",
    )


def broom_out(pick_up: Control) -> Composed:
    """Lay the broom on its holder; it is taken in this way."""
    low = shape(HOLDER).size[2] / 2 + ON_ITS_HEAD
    return Composed(
        Detected(BROOM, HOLDER, *ON_HOLDER),
        (
            pick_up,
            MoveFree(
                BROOM,
                Region(HOLDER, InBox((-0.076, -0.01, low + 0.005), (-0.056, 0.01, low + 0.008)), Fixed((1.0, 0.0, 0.0, 0.0))),
                "place the broom on the table",
            ),
        ),
        text="put the broom on the table",
    )


def broom_taken() -> Control:
    """Take the broom out of the cupboard."""
    out = (0.0, -0.22, 0.02)
    return picked_up(BROOM, "the broom in the cupboard", _in_cupboard(BROOM), lift=False, out=out, of=CUPBOARD, handle=STICKS_OUT)


def broom_back() -> Composed:
    """Put the broom into the cupboard, where it was."""
    at = Pose.flat(0.0, DEEP, SHELF + ON_ITS_HEAD + 0.005, math.pi / 2)
    return Composed(
        _in_cupboard(BROOM),
        (
            broom_on_holder(),
            MoveFree(BROOM, Region(CUPBOARD, AtPoint(at.position), Fixed(at.rotation)), "place the broom in the cupboard", back=0.2),
        ),
        text="put the broom in the cupboard",
    )


def broom_on_holder() -> Control:
    """Take the broom that lies on its holder."""
    return picked_up(BROOM, "the broom on the table", Detected(BROOM, HOLDER, *ON_HOLDER), handle=HANDLE)


def _in_cupboard(thing: str) -> Detected:
    return Detected(thing, CUPBOARD, *IN_CUPBOARD)


@saying
def with_cupboard(things: Sequence[Entity]) -> Iterator[Composed]:
    """Put everything into the cupboard, and out of it onto the table."""
    names = {thing.name for thing in things}
    if CUPBOARD in names:
        for box in (b for b in BOXES if b.name in names):
            yield from (box_in(box), box_out(box))
        if BROOM in names:
            yield broom_back()
    if {BROOM, HOLDER} <= names:
        yield broom_out(broom_taken() if CUPBOARD in names else broom_on_holder())


# ------------------------------------------------------------------------------------------------ things


def box_kept(stage: HimanSceneBuilder, cupboard: Fixture, box: KeptBox) -> str:
    """A box in its place in the cupboard."""
    stage.things.append(Body(box.name, box.shape, box.colour, cupboard.pose * Pose(box.slot, box.lying)))
    return box.name


def on_table(stage: HimanSceneBuilder, cupboard: Fixture, boxes: Sequence[KeptBox]) -> list[Vec3]:
    """Boxes on the table, where the hand can come from above: not under the cupboard. Gives their positions, metres."""
    layout = Layout(stage.stream, RLBENCH_LOWER, RLBENCH_UPPER, TABLE_TOP, 0.02)
    layout.block(cupboard.name, cupboard.pose.apply([(x, y, 0.0) for x in (-0.21, 0.21) for y in (-0.125, 0.125)])[:, :2])
    placed: list[tuple[KeptBox, Vec3]] = []
    for box in boxes:
        for _ in range(60):
            pose = layout.place(box.name, shape(box.shape))
            x, y, _z = pose.position
            apart = all(math.dist((x, y), at[:2]) >= (TALL if SUGAR in (box, other) else APART) for other, at in placed)
            if apart and REACH[0] <= math.dist((x, y), BASE) <= REACH[1]:
                break
            layout.taken.pop()
        else:
            raise NoRoom(f"no room for {box.name!r} within the robot's reach")
        placed.append((box, pose.position))
        stage.things.append(Body(box.name, box.shape, box.colour, pose))
    return [at for _, at in placed]


def broom_kept(stage: HimanSceneBuilder, cupboard: Fixture) -> str:
    """The broom in the cupboard, its handle sticking out."""
    at = cupboard.pose * Pose.flat(0.0, DEEP, SHELF + ON_ITS_HEAD, math.pi / 2)
    stage.things.append(Body(BROOM, "broom", "#754f33", at))
    return BROOM


def holder(stage: HimanSceneBuilder) -> str:
    """The block that the broom belongs on, to the robot's left; its far side is where the broom's head will be."""
    stream = stage.stream
    x, y, yaw = stream.uniform(0.20, 0.42), stream.uniform(0.18, 0.34), stream.uniform(-math.pi / 2, math.pi / 2)
    stage.things.append(Body(HOLDER, HOLDER, "#597a8a", Pose.flat(x, y, TABLE_TOP + shape(HOLDER).size[2] / 2, yaw)))
    return HOLDER


# ------------------------------------------------------------------------------------------------ atomic tasks


@atomic("box_in_cupboard")
def box_in_cupboard(draw: Draw) -> Draft:
    """Put one of the three boxes on the table into the cupboard."""
    stage = HimanSceneBuilder(draw)
    box = BOXES[stage.variation(3)]
    on_table(stage, stage.cupboard(AROUND), BOXES)
    return stage.draft(f"put the {box.name} in the cupboard", [box_in(box)], [b.name for b in BOXES], [CUPBOARD])


@atomic("box_out_of_cupboard")
def box_out_of_cupboard(draw: Draw) -> Draft:
    """Put one of the three boxes in the cupboard onto the table."""
    stage = HimanSceneBuilder(draw)
    box = BOXES[stage.variation(3)]
    cupboard = stage.cupboard(AROUND)
    names = [box_kept(stage, cupboard, b) for b in BOXES]
    return stage.draft(f"put the {box.name} on the table", [box_out(box)], names, [CUPBOARD])


@atomic("broom_out_of_cupboard")
def broom_out_of_cupboard(draw: Draw) -> Draft:
    """Put the broom in the cupboard onto its holder, which stands on the table."""
    stage = HimanSceneBuilder(draw)
    broom = broom_kept(stage, stage.cupboard(TURN))
    return stage.draft("put the broom on the table", [broom_out(broom_taken())], [broom, CUPBOARD], [holder(stage)])


# ------------------------------------------------------------------------------------------------ compositional tasks


@compositional("box_exchange")
def box_exchange(draw: Draw) -> Draft:
    """Put the sugar in the cupboard onto the table, and the spam on the table into the cupboard."""
    stage = HimanSceneBuilder(draw)
    cupboard = stage.cupboard(AROUND)
    box_kept(stage, cupboard, SUGAR)
    [(_, y, _)] = on_table(stage, cupboard, [SPAM])
    (x, right), (far, left) = PUT_DOWN
    beside = ((x, y + TALL), (far, left)) if y < 0 else ((x, right), (far, y - TALL))  # so that the spam can still be taken
    text = "exchange the positions of the spam and the sugar(put the sugar on the table and put the spam in the cupboard)"
    return stage.draft(text, [box_out(SUGAR, beside), box_in(SPAM)], [SUGAR.name, SPAM.name], [CUPBOARD], lasting=2)


@compositional("transfer_box")
def transfer_box(draw: Draw) -> Draft:
    """Open a drawer, and put the box of strawberry jello that is in it into the cupboard."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    cabinet = stage.cabinet()
    jello = jello_in(stage, cabinet, level)
    _cupboard_beside(stage, cabinet)
    text = f"take the {jello} out of the {level} drawer and put the {jello} in the cupboard"
    # Straight up until it is over the cabinet, from where the way is free.
    up = 0.18 + 0.1 * LEVELS[::-1].index(level)
    said, there = f"the {jello} in the {level} drawer", in_drawer(jello, level)
    pick_up = picked_up(jello, said, there, lift=False, out=(0.0, 0.0, up), of=CABINET)
    return stage.draft(text, [opened(level), box_in(BOXES[0], pick_up, text)], [jello], [CABINET, CUPBOARD], lasting=1)


def _cupboard_beside(stage: HimanSceneBuilder, cabinet: Fixture) -> None:
    """The cupboard, hung where the hand still gets from above at what is in an open drawer."""
    box = stage.things[-1]
    assert isinstance(box, Body)
    x, y, z = (cabinet.pose.inverse() * box.pose).position
    pulled = (cabinet.pose * Pose((x, y - PULLED, z))).position
    for _ in range(60):
        cupboard = stage.cupboard(TURN)
        if cupboard.pose.inverse().apply(pulled)[1] < BEFORE:
            return
        stage.things.pop()
    raise NoRoom("no place for the cupboard from which the open drawer is clear")
