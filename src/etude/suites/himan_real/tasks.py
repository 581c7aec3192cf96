"""RoboHiMan's real-robot tasks (appendix D): the top drawer, an item on the table or in a box, and what is composed of these.

The paper says what is done, and in which words; what it leaves open (which items, how large the box is, where things stand) is ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from etude.catalog.registry import shape
from etude.catalog.shape import Shape
from etude.goals.detecting import Detected, OnTable
from etude.goals.goal import Goal
from etude.goals.regions import About, InBox, OnPlane, Region
from etude.goals.units import Composed, Control, MoveFree
from etude.pose import Pose, Vec2, Vec3
from etude.scene.fixtures import board
from etude.scene.placement import Layout, NoRoom
from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_UPPER, TABLE_TOP
from etude.scene.scene import Body, Entity, Fixture, FixturePart
from etude.suites.himan.drawers import FLOOR, JELLO, JELLO_BOX, closed, in_drawer, opened
from etude.suites.himan.stage import BASE, CABINET, LEVELS, TURN, HimanSceneBuilder, drawer, picked_up
from etude.suites.himan_real.suite import atomic, compositional
from etude.suites.suite import Draft, Draw

TOP = "top"  # the drawer of all tasks
ACROSS = (-0.30, -0.24)  # m: where the cabinet stands, so that there is room on the table before its open drawer
BOX = "box"
BOX_SIZE: Vec3 = (0.18, 0.16, 0.045)  # m, outside
WALL = 0.005  # m
IN_BOX = ((-0.085, -0.075, 0.0), (0.085, 0.075, 0.1))  # m, in the box's frame, which is the middle of its lower side
ON_TABLE: tuple[Vec2, Vec2] = (RLBENCH_LOWER, RLBENCH_UPPER)
REACH = (0.36, 0.62)  # m: how far from where the robot stands its hand can point down, and be raised
SWEPT: tuple[Vec2, Vec2] = ((-0.152, -0.45), (0.152, 0.153))  # m, in the cabinet's frame: it and its open drawers, with their handles
ABOVE = 0.40  # m by which an item is raised
BESIDE = 0.09  # m from that to an item: half of an open hand, which comes down there
BOX_BESIDE = 0.03  # m from that to the box: its item lies in its middle
SPREAD = 0.015  # m: how far from the middle of the box the item lies, along each side
TRIES = 200


@dataclass(frozen=True)
class RealItem:
    """What is put away: how it is called, its shape and colour."""

    name: str
    shape: str
    colour: str

    @property
    def height(self) -> float:
        """As it stands, metres."""
        return shape(self.shape).size[2]


ITEMS = (
    RealItem("foam brick", "foam brick", "#b5483a"),
    RealItem("rubiks cube", "rubiks cube", "rainbow"),
    RealItem(JELLO, JELLO_BOX, "red"),
)


# ------------------------------------------------------------------------------------------------ stages


def out_of_box(item: RealItem) -> Composed:
    """Take an item out of the box, and put it on the table."""
    plane = OnPlane((0.02, -0.05), (0.40, 0.40), TABLE_TOP + item.height / 2 + 0.005)
    return Composed(
        _on_table(item.name),
        (_from_box(item), MoveFree(item.name, Region("", plane, About()), f"place the {item.name} on the table")),
        text=f"pick the {item.name} from the box and place it on the table",
    )


def table_to_drawer(item: RealItem, level: str) -> Composed:
    """Take an item from the table, and put it into an open drawer."""
    text = f"pick the {item.name} from the table and place it into the opened {level} drawer"
    return Composed(in_drawer(item.name, level), (_from_table(item), _into(item, level)), text=text)


def box_to_drawer(item: RealItem, level: str) -> Composed:
    """Take an item out of the box, and put it into an open drawer: halves of two other stages."""
    text = f"pick the {item.name} from the box and place it into the opened {level} drawer"
    return Composed(in_drawer(item.name, level), (_from_box(item), _into(item, level)), text=text)


def _from_box(item: RealItem) -> Control:
    return _raised(item, f"the {item.name} in the box", Detected(item.name, BOX, *IN_BOX))


def _from_table(item: RealItem) -> Control:
    return _raised(item, f"the {item.name} on the table", _on_table(item.name))


def _raised(item: RealItem, said: str, there: Goal) -> Control:
    """Straight up until it is above the open drawer: what comes from the side would push it shut."""
    return picked_up(item.name, said, there, lift=False, out=(0.0, 0.0, ABOVE), of=CABINET)


def _into(item: RealItem, level: str) -> MoveFree:
    """Into the front half of a drawer: nearer to the cabinet, the wrist would meet it."""
    low = FLOOR + item.height / 2 + 0.012
    region = Region(drawer(level), InBox((-0.08, -0.09, low), (0.08, -0.05, low + 0.01)), About())
    return MoveFree(item.name, region, f"place the {item.name} in the {level} drawer")


def _on_table(thing: str) -> Goal:
    return OnTable(thing, *ON_TABLE)


def with_items(things: Sequence[Entity]) -> Iterator[Composed]:
    """Put every item from wherever it may be into every drawer, and out of the box onto the table."""
    names = {thing.name for thing in things}
    for item in (item for item in ITEMS if item.name in names):
        if BOX in names:
            yield out_of_box(item)
            yield from (box_to_drawer(item, level) for level in LEVELS)
        yield from (table_to_drawer(item, level) for level in LEVELS)


# ------------------------------------------------------------------------------------------------ things


def open_box(pose: Pose) -> Fixture:
    """A box without a lid that stays where it is."""
    width, depth, height = BOX_SIZE
    x, y, z = (width - WALL) / 2, (depth - WALL) / 2, height / 2
    card = "#b98a55"
    solids = (
        board((width, depth, WALL), (0.0, 0.0, WALL / 2), card),
        *(board((width, WALL, height), (0.0, s * y, z), card) for s in (-1, 1)),
        *(board((WALL, depth - 2 * WALL, height), (s * x, 0.0, z), card) for s in (-1, 1)),
    )
    return Fixture(BOX, (FixturePart("walls", solids, mass=0.3),), pose)


class RealSceneBuilder(HimanSceneBuilder):
    """HiMan-Bench's room with its cabinet, whose top drawer may be open, and an item on the table or in a box."""

    def furnish(self, opened: bool, where: str = "") -> RealItem:
        """Bring everything in; ``where`` is "table", "box", or nothing where there is no item. Gives what the item would be."""
        item = ITEMS[self.variation(len(ITEMS))]
        cabinet = self.cabinet([TOP] if opened else [], ACROSS)
        if where == "table":
            self.things.append(Body(item.name, item.shape, item.colour, self._place(cabinet, item.name, shape(item.shape), BESIDE)))
        elif where == "box":
            x, y, z = self._place(cabinet, BOX, shape("cube", BOX_SIZE), BOX_BESIDE).position
            box = open_box(Pose.flat(x, y, z - BOX_SIZE[2] / 2, self.stream.uniform(-TURN, TURN)))
            aside, deep = self.stream.uniform(-SPREAD, SPREAD), self.stream.uniform(-SPREAD, SPREAD)
            at = Pose.flat(aside, deep, WALL + item.height / 2, self.stream.uniform(-math.pi, math.pi))
            self.things += [box, Body(item.name, item.shape, item.colour, box.pose * at)]
        return item

    def _place(self, cabinet: Fixture, name: str, what: Shape, clear: float) -> Pose:
        """Where it stands on the table: ``clear`` (m) of the cabinet and its open drawers, and where the hand comes from above."""
        layout = Layout(self.stream, RLBENCH_LOWER, RLBENCH_UPPER, TABLE_TOP, clear)
        (left, front), (right, back) = SWEPT
        layout.block(CABINET, cabinet.pose.apply([(x, y, 0.0) for x in (left, right) for y in (front, back)])[:, :2])
        for _ in range(TRIES):
            pose = layout.place(name, what)
            layout.taken.pop()
            if REACH[0] <= math.dist(pose.position[:2], BASE) <= REACH[1]:
                return pose
        raise NoRoom(f"no room for {name!r} within the robot's reach")

    def told(self, text: str, stages: Sequence[Composed], item: RealItem | None = None, lasting: int = 0) -> Draft:
        """The parts of an episode; ``item`` is what is moved, if anything is."""
        manipulated, receiving = ([item.name], [CABINET]) if item is not None else ([CABINET], ())
        return self.draft(text, stages, manipulated, receiving, lasting, sayings=(with_items,))


# ------------------------------------------------------------------------------------------------ atomic tasks


@atomic("open_drawer")
def open_drawer(draw: Draw) -> Draft:
    """Open the top drawer."""
    stage = RealSceneBuilder(draw)
    stage.furnish(opened=False)
    return stage.told("open the top drawer", [opened(TOP)])


@atomic("close_drawer")
def close_drawer(draw: Draw) -> Draft:
    """Close the top drawer."""
    stage = RealSceneBuilder(draw)
    stage.furnish(opened=True)
    return stage.told("close the top drawer", [closed(TOP)])


@atomic("box_item_on_table")
def box_item_on_table(draw: Draw) -> Draft:
    """Pick an item from the box and place it on the table."""
    stage = RealSceneBuilder(draw)
    item = stage.furnish(opened=False, where="box")
    return stage.told(f"pick the {item.name} from the box and place it on the table", [out_of_box(item)], item)


@atomic("table_item_in_opened_drawer")
def table_item_in_opened_drawer(draw: Draw) -> Draft:
    """Pick an item from the table and place it into the top drawer, which is open."""
    stage = RealSceneBuilder(draw)
    item = stage.furnish(opened=True, where="table")
    return stage.told(f"pick the {item.name} from the table and place it into the opened top drawer", [table_to_drawer(item, TOP)], item)


# ------------------------------------------------------------------------------------------------ compositional tasks


@compositional("table_item_in_opened_drawer_close")
def table_item_in_opened_drawer_close(draw: Draw) -> Draft:
    """Put an item from the table into the top drawer, which is open, and close it."""
    stage = RealSceneBuilder(draw)
    item = stage.furnish(opened=True, where="table")
    text = f"pick the {item.name} from the table, put it into the opened drawer, and then close it"
    return stage.told(text, [table_to_drawer(item, TOP), closed(TOP)], item, lasting=2)


@compositional("table_item_in_drawer")
def table_item_in_drawer(draw: Draw) -> Draft:
    """Open the top drawer, put an item from the table into it, and close it."""
    stage = RealSceneBuilder(draw)
    item = stage.furnish(opened=False, where="table")
    text = f"open the top drawer, pick the {item.name} from the table, put it inside, and then close the drawer"
    return stage.told(text, [opened(TOP), table_to_drawer(item, TOP), closed(TOP)], item, lasting=2)


@compositional("box_item_in_opened_drawer_close")
def box_item_in_opened_drawer_close(draw: Draw) -> Draft:
    """Put an item from the box into the top drawer, which is open, and close it."""
    stage = RealSceneBuilder(draw)
    item = stage.furnish(opened=True, where="box")
    text = f"pick the {item.name} from the box, put it into the opened drawer, and then close it"
    return stage.told(text, [box_to_drawer(item, TOP), closed(TOP)], item, lasting=2)


@compositional("box_item_in_drawer")
def box_item_in_drawer(draw: Draw) -> Draft:
    """Open the top drawer, put an item from the box into it, and close it."""
    stage = RealSceneBuilder(draw)
    item = stage.furnish(opened=False, where="box")
    text = f"open the top drawer, pick the {item.name} from the box, put it into the drawer, and then close the drawer"
    return stage.told(text, [opened(TOP), box_to_drawer(item, TOP), closed(TOP)], item, lasting=2)
