"""The chest of drawers: opening and closing, blocks and a box that go in and out; and what is composed of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from etude.catalog.registry import shape
from etude.goals.detecting import Detected, JointAt
from etude.goals.goal import All, Either
from etude.goals.regions import About, InBox, Region
from etude.goals.units import Composed, Control, MoveFree, MoveJoint
from etude.pose import Pose
from etude.scene.scene import Body, Entity, Fixture
from etude.suites.himan.stage import BLOCK, CABINET, LEVELS, TOP, HimanSceneBuilder, drawer, picked_up, saying
from etude.suites.himan.suite import atomic, compositional
from etude.suites.suite import Draft, Draw

IN_DRAWER = ((-0.12, -0.12, -0.045), (0.12, 0.12, 0.045))  # m, in the drawer's frame: what its detector sees
ON_TOP = ((-0.12, -0.12, TOP), (0.12, 0.12, TOP + 0.06))  # in the cabinet's frame
OPEN, SHUT = 0.15, 0.03  # m
FLOOR = -0.0395  # m: of a drawer, below its middle
JELLO, JELLO_BOX = "strawberry jello", "strawberry jello box"
PAIRS = tuple((a, b) for a in LEVELS for b in LEVELS if a != b)


# ------------------------------------------------------------------------------------------------ stages


def opened(level: str) -> Composed:
    """Open a drawer."""
    part = drawer(level)
    return Composed(
        JointAt(part, OPEN, 1.0),
        (
            _handle(level, "grasp"),
            MoveJoint(part, part, (0.21, 0.238), f"pull the {level} drawer open", release=True),
        ),
        text=f"open the {level} drawer",
    )


def _handle(level: str, verb: str) -> Control:
    said = f"the {level} drawer handle"
    return Control(drawer(level), f"{verb} {said}", "horizontal", lift=False, towards=f"move to {said}")


def closed(level: str) -> Composed:
    """Close a drawer."""
    part = drawer(level)
    return Composed(
        JointAt(part, -1.0, SHUT),
        (
            Control(
                part, f"move close to the {level} drawer handle", "horizontal", lift=False, towards=f"move to the {level} drawer handle"
            ),
            MoveJoint(part, part, (-0.005, 0.01), f"push the {level} drawer shut", release=True),
        ),
        text=f"close the {level} drawer",
    )


def put_in(thing: str, level: str, words: str = "block", height: float = BLOCK) -> Composed:
    """Put a thing from the top of the cabinet into an open drawer."""
    part, middle = drawer(level), FLOOR + height / 2
    return Composed(
        in_drawer(thing, level),
        (  # Into its front half: nearer to the cabinet, the wrist would meet it.
            picked_up(thing, f"the {words} on the drawer's surface", _on_top(thing)),
            MoveFree(
                thing,
                Region(part, InBox((-0.08, -0.09, middle + 0.012), (0.08, -0.05, middle + 0.022)), About()),
                f"place the {words} in the {level} drawer",
            ),
        ),
        text=f"put the {words} in the {level} drawer",
    )


def taken_out(thing: str, level: str, words: str = "block", height: float = BLOCK, side: int = 0) -> Composed:
    """Take a thing out of an open drawer, and put it on the cabinet, on one ``side`` if something else comes on the other."""
    low = TOP + height / 2 + 0.004
    left, right = (-0.10, -0.03) if side < 0 else (0.03, 0.10) if side else (-0.10, 0.10)
    return Composed(
        _on_top(thing),
        (
            picked_up(thing, f"the {words} in the {level} drawer", in_drawer(thing, level)),
            MoveFree(
                thing,
                Region(CABINET, InBox((left, -0.10, low), (right, 0.10, low + 0.01)), About()),
                f"place the {words} on the drawer's surface",
            ),
        ),
        text=f"take the {words} out of the {level} drawer and place the {words} on the drawer's surface",
    )


def in_drawer(thing: str, level: str) -> Detected:
    """A thing is in a drawer."""
    return Detected(thing, drawer(level), *IN_DRAWER)


def _on_top(thing: str) -> Detected:
    return Detected(thing, CABINET, *ON_TOP)


@saying
def with_drawers(things: Sequence[Entity]) -> Iterator[Composed]:
    """Open and close every drawer, put everything into it and take it out."""
    if not any(thing.name == CABINET for thing in things):
        return
    bodies = [thing for thing in things if isinstance(thing, Body) and not thing.fixed]
    for level in LEVELS:
        yield from (opened(level), closed(level))
        for body in bodies:
            words, height = ("block", BLOCK) if body.shape == "cube" else (body.name, shape(body.shape).size[2])
            yield from (put_in(body.name, level, words, height), taken_out(body.name, level, words, height))


# ------------------------------------------------------------------------------------------------ things


def block_on_top(stage: HimanSceneBuilder, cabinet: Fixture, name: str, x: float) -> str:
    """A block on the cabinet, ``x`` metres beside the middle."""
    stage.things.append(Body(name, "cube", "#d05a3c", cabinet.pose * Pose((x, 0.0, TOP + BLOCK / 2)), (BLOCK, BLOCK, BLOCK), mass=0.033))
    return name


def block_in(stage: HimanSceneBuilder, cabinet: Fixture, level: str, name: str, back: float = -0.102) -> str:
    """A block in a drawer, ``back`` metres behind the drawer's middle."""
    at = _in(cabinet, level, back, BLOCK)
    stage.things.append(Body(name, "cube", "#d05a3c", at, (BLOCK, BLOCK, BLOCK), mass=0.033))
    return name


def jello_in(stage: HimanSceneBuilder, cabinet: Fixture, level: str) -> str:
    """The box of strawberry jello, standing in a drawer."""
    stage.things.append(Body(JELLO, JELLO_BOX, "red", _in(cabinet, level, -0.05, shape(JELLO_BOX).size[2])))
    return JELLO


def _in(cabinet: Fixture, level: str, back: float, height: float) -> Pose:
    """Where a thing of a height stands in a drawer, open or not."""
    part = next(p for p in cabinet.parts if p.name == level)
    value = dict(zip([p.name for p in cabinet.jointed()], cabinet.joints, strict=True))[level]
    return cabinet.pose * part.pose * Pose((0.0, back - value, FLOOR + height / 2))


# ------------------------------------------------------------------------------------------------ atomic tasks


@atomic("open_drawer")
def open_drawer(draw: Draw) -> Draft:
    """Open one of three drawers."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    stage.cabinet()
    return stage.draft(f"open the {level} drawer", [opened(level)], [CABINET])


@atomic("close_drawer")
def close_drawer(draw: Draw) -> Draft:
    """Close the drawer that is open."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    stage.cabinet([level])
    return stage.draft(f"close the {level} drawer", [closed(level)], [CABINET])


@atomic("put_in_opened_drawer")
def put_in_opened_drawer(draw: Draw) -> Draft:
    """Put the block on the cabinet into the drawer that is open."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    block = block_on_top(stage, stage.cabinet([level]), "block", 0.0)
    return stage.draft(_in_text(level), [put_in(block, level)], [block], [CABINET])


@atomic("take_out_of_opened_drawer")
def take_out_of_opened_drawer(draw: Draw) -> Draft:
    """Put the block in the open drawer onto the cabinet."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    block = block_in(stage, stage.cabinet([level]), level, "block", -0.052)
    return stage.draft(_out_text(level), [taken_out(block, level)], [block], [CABINET])


@atomic("box_out_of_opened_drawer")
def box_out_of_opened_drawer(draw: Draw) -> Draft:
    """Put the box of strawberry jello in the open drawer onto the cabinet."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    box = jello_in(stage, stage.cabinet([level]), level)
    return stage.draft(_out_text(level, JELLO), [taken_out(box, level, JELLO, shape(JELLO_BOX).size[2])], [box], [CABINET])


# ------------------------------------------------------------------------------------------------ compositional tasks


@compositional("put_in_without_close")
def put_in_without_close(draw: Draw) -> Draft:
    """Open a drawer, and put the block in."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    block = block_on_top(stage, stage.cabinet(), "block", 0.0)
    return stage.draft(_in_text(level), [opened(level), put_in(block, level)], [block], [CABINET], lasting=1)


@compositional("take_out_without_close")
def take_out_without_close(draw: Draw) -> Draft:
    """Open a drawer, and put the block that is in it onto the cabinet."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    block = block_in(stage, stage.cabinet(), level, "block")
    return stage.draft(_out_text(level), [opened(level), taken_out(block, level)], [block], [CABINET], lasting=1)


@compositional("put_in_and_close")
def put_in_and_close(draw: Draw) -> Draft:
    """Open a drawer, put the block in, and close it."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    block = block_on_top(stage, stage.cabinet(), "block", 0.0)
    stages = [opened(level), put_in(block, level), closed(level)]
    return stage.draft(f"{_in_text(level)} and close it", stages, [block], [CABINET], lasting=2)


@compositional("take_out_and_close")
def take_out_and_close(draw: Draw) -> Draft:
    """Open a drawer, put the block that is in it onto the cabinet, and close the drawer."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    block = block_in(stage, stage.cabinet(), level, "block")
    text = f"take the block out of the {level} drawer, place the block on the drawer's surface, and then close the {level} drawer"
    return stage.draft(text, [opened(level), taken_out(block, level), closed(level)], [block], [CABINET], lasting=2)


@compositional("put_two_in_same")
def put_two_in_same(draw: Draw) -> Draft:
    """Open a drawer, and put both blocks in."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    one, other = _two_on_top(stage)
    stages = [opened(level), put_in(one, level), put_in(other, level)]
    return stage.draft(f"put two blocks in the {level} drawer", stages, [one, other], [CABINET], lasting=2)


@compositional("take_two_out_of_same")
def take_two_out_of_same(draw: Draw) -> Draft:
    """Open a drawer, and put both blocks that are in it onto the cabinet."""
    stage = HimanSceneBuilder(draw)
    level = LEVELS[stage.variation(3)]
    cabinet = stage.cabinet()
    one, other = block_in(stage, cabinet, level, "block 0"), block_in(stage, cabinet, level, "block 1", -0.042)
    stages = [opened(level), taken_out(one, level, side=-1), taken_out(other, level, side=1)]
    text = f"take two blocks out of the {level} drawer and place them on the drawer's surface"
    return stage.draft(text, stages, [one, other], [CABINET], lasting=2)


@compositional("put_two_in_different")
def put_two_in_different(draw: Draw) -> Draft:
    """Put one block into a drawer, close it, and the other one into another drawer."""
    stage = HimanSceneBuilder(draw)
    first, second = PAIRS[stage.variation(6)]
    one, other = _two_on_top(stage)
    stages = [opened(first), put_in(one, first), closed(first), opened(second), put_in(other, second)]
    text = f"put one block in the {first} drawer and put the other block in the {second} drawer"
    either = Either(tuple(All((in_drawer(a, first), in_drawer(b, second))) for a, b in ((one, other), (other, one))))
    return stage.draft(text, stages, [one, other], [CABINET], result=either)


@compositional("take_two_out_of_different")
def take_two_out_of_different(draw: Draw) -> Draft:
    """Take a block out of a drawer, close it, take the other one out of another drawer; both belong onto the cabinet."""
    stage = HimanSceneBuilder(draw)
    first, second = PAIRS[stage.variation(6)]
    cabinet = stage.cabinet()
    one, other = block_in(stage, cabinet, first, "block 0"), block_in(stage, cabinet, second, "block 1")
    stages = [opened(first), taken_out(one, first, side=-1), closed(first), opened(second), taken_out(other, second, side=1)]
    text = (
        f"take one block out of the {first} drawer and take the other block out of the {second} drawer, "
        "then place them on the drawer's surface"
    )
    return stage.draft(text, stages, [one, other], [CABINET], result=All((stages[1].result, stages[4].result)))


def _two_on_top(stage: HimanSceneBuilder) -> tuple[str, str]:
    cabinet = stage.cabinet()
    return block_on_top(stage, cabinet, "block 0", -0.05), block_on_top(stage, cabinet, "block 1", 0.05)


def _in_text(level: str) -> str:
    return f"put the block in the {level} drawer"


def _out_text(level: str, words: str = "block") -> str:
    return f"take the {words} out of the {level} drawer and place the {words} on the drawer's surface"
