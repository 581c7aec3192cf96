"""Drop pencil: Control(p) + M1[a3,b2](p). A pencil, held upright, into a basket that is told apart by colour, side or size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from etude.goals.detecting import Detected
from etude.goals.regions import About, OnLine, Region
from etude.goals.units import Composed, Control, MoveFree
from etude.pose import Pose
from etude.suites.suite import Draft, Draw
from etude.suites.vlmbench.stage import BASE, BASKET, PENCIL, SIDES, UnitActor, UnitSceneBuilder, both, grasped, scaled, sides
from etude.suites.vlmbench.suite import vlmbench

INSIDE = ((-0.04, -0.04, -0.0778), (0.04, 0.04, 0.03))  # m: what the basket's detector sees, from its floor, in the basket's frame
OVER = (0.02, 0.06)  # m: heights of the pencil's lower end over the rim (VLMbench 1.8: about a sixth of its length)
BASKETS_APART, PENCILS_APART = 0.10, 0.20  # m between middles
BASKET_AWAY = 0.18  # m from the middle of a pencil: a hand that takes it from the table has a basket beside it
NEAREST = 0.45  # m from the robot to a basket: nearer, a level hand finds no room
PENCIL_SCALES = {"smaller": (0.6, 0.9), "larger": (1.0, 1.1)}
BASKET_SCALES = {"smaller": (0.75, 0.9), "larger": (1.0, 1.1)}


def _set(
    stage: UnitSceneBuilder, pencils: Sequence[UnitActor], baskets: Sequence[UnitActor], one: Sequence[str] = (), other: Sequence[str] = ()
) -> None:
    places = stage.strew(baskets, BASKETS_APART, sides(other), away=[(Pose((*BASE, 0.0)), NEAREST)])
    stage.set(baskets, places, fixed=True)
    stage.set(pencils, stage.strew(pencils, PENCILS_APART, sides(one), away=[(p, BASKET_AWAY) for p in places]))


def _draft(stage: UnitSceneBuilder, pencils: Sequence[UnitActor], baskets: Sequence[UnitActor]) -> Draft:
    """The first of the pencils belongs into the first of the baskets."""
    (goal, *others), (thing, place) = (_dropped(p, b, baskets) for p, b in product(pencils, baskets)), (pencils[0], baskets[0])
    return stage.draft(f"Drop {thing.said} into {place.said}.", goal, others, thing.name, place.name)


def _dropped(pencil: UnitActor, basket: UnitActor, baskets: Sequence[UnitActor]) -> Composed:
    lower, upper = scaled(INSIDE, basket.scale)
    end, rim = pencil.size[1] / 2, basket.size[2] / 2
    line = OnLine((0.0, 0.0, rim + OVER[0]), (0.0, 0.0, rim + OVER[1]))
    return Composed(
        # A pencil is longer than the basket: it stands in it, on one end or the other, when that end is deep inside.
        Detected(pencil.name, basket.name, lower, upper, ((0.0, -end, 0.0), (0.0, end, 0.0))),
        (
            Control(pencil.name, grasped(pencil.said)),
            MoveFree(
                pencil.name,
                Region(basket.name, line, About((0.0, 1.0, 0.0)), point=(0.0, -end, 0.0)),  # the point, at +y, is up
                f"Move the object above {basket.said}; Release the gripper.",
            ),
        ),
        tuple(a.name for a in baskets if a != basket),
    )


@vlmbench.task(level="drop")
def drop_color(draw: Draw) -> Draft:
    """Drop the pencil of a colour into the basket of a colour."""
    stage = UnitSceneBuilder(draw)
    colours = stage.some_colours(2, stage.colours[stage.variation(len(stage.colours))])
    pencils = [stage.actor(PENCIL, c, said=f"the {c} pencil") for c in colours]
    baskets = [stage.actor(BASKET, c, said=f"the {c} container") for c in stage.some_colours(2)]
    _set(stage, pencils, baskets)
    return _draft(stage, pencils, baskets)


@vlmbench.task(level="drop")
def drop_relative(draw: Draw) -> Draft:
    """Drop the pencil on a side into the basket on a side."""
    stage = UnitSceneBuilder(draw)
    one, other = tuple(product(SIDES, SIDES))[stage.variation(16)]
    pencils = [stage.actor(PENCIL, c, said=f"the {s} pencil") for c, s in zip(stage.some_colours(2), both(one), strict=True)]
    baskets = [stage.actor(BASKET, c, said=f"the {s} container") for c, s in zip(stage.some_colours(2), both(other), strict=True)]
    _set(stage, pencils, baskets, [one], [other])
    return _draft(stage, pencils, baskets)


@vlmbench.task(level="drop")
def drop_size(draw: Draw) -> Draft:
    """Drop the larger or smaller pencil into the larger or smaller basket."""
    stage = UnitSceneBuilder(draw)
    one, other = tuple(product(PENCIL_SCALES, BASKET_SCALES))[stage.variation(4)]
    pencils = [
        stage.actor(PENCIL, c, stage.stream.uniform(*PENCIL_SCALES[s]), f"the {s} pencil")
        for c, s in zip(stage.some_colours(2), both(one), strict=True)
    ]
    baskets = [
        stage.actor(BASKET, c, stage.stream.uniform(*BASKET_SCALES[s]), f"the {s} container")
        for c, s in zip(stage.some_colours(2), both(other), strict=True)
    ]
    _set(stage, pencils, baskets)
    return _draft(stage, pencils, baskets)
