"""Stack: Control(above) + M1[a2,b2](above). One object onto another, told apart by colour, side, shape or size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

from etude.catalog.registry import shape
from etude.goals.detecting import Piled
from etude.goals.regions import About, Alike, OnPlane, Region
from etude.goals.units import Composed, Control, MoveFree
from etude.suites.suite import Draft, Draw
from etude.suites.vlmbench.stage import MOON, SIDES, ObjectKind, UnitActor, UnitSceneBuilder, both, grasped, sides
from etude.suites.vlmbench.suite import vlmbench

LARGER = 1.5  # things to stack are this much larger than elsewhere (VLMbench 1.5)
ABOVE = 0.005  # m from which the upper object falls onto the lower (VLMbench 1.8)
SLACK = 0.02  # of the lower object's extents: how far the middle of the upper may be beside it
SCALES = {"large": (1.2, 1.4), "medium": (0.9, 1.1), "small": (0.7, 0.9)}
TOLD_APART = 1.101  # one size to the next, at least: 10 %, and what rounding takes
COLOUR_SCALES = (0.8, 1.2)


def _larger(kind: ObjectKind, most: float = 1.0) -> float:
    """The scale that stands for 1 here: ``LARGER``, or less where the largest object (``most``) would not fit between the fingers."""
    return min(LARGER, kind.largest / most)


def _draft(stage: UnitSceneBuilder, objects: Sequence[UnitActor]) -> Draft:
    """The second of the objects belongs onto the first."""
    goal, *others = (_stacked(below, above, objects) for below, above in permutations(objects, 2))
    below, above = objects[:2]
    return stage.draft(f"Stack {below.said} and {above.said} in sequence.", goal, others, above.name, below.name)


def _stacked(below: UnitActor, above: UnitActor, objects: Sequence[UnitActor]) -> Composed:
    ground, load = (shape(a.kind.shape, a.size).mass_properties[1] for a in (below, above))
    # Weight over weight: prisms whose middle is not where they balance stay on each other at any yaw.
    x, y = float(ground[0]), float(ground[1])
    dx, dy = SLACK * below.size[0], SLACK * below.size[1]
    plane = OnPlane((x - dx, y - dy), (x + dx, y + dy), below.size[2] / 2 + ABOVE)
    # Crescents that cross touch at their horns only, and fall.
    turned = Alike() if below.kind == above.kind == MOON else About()
    under = (float(load[0]), float(load[1]), -above.size[2] / 2)
    return Composed(
        Piled(above.name, below.name),
        (
            Control(above.name, grasped(above.said)),
            MoveFree(
                above.name,
                Region(below.name, plane, turned, upright=True, point=under),
                f"Move the object on {below.said}; Release the gripper.",
            ),
        ),
        tuple(a.name for a in objects if a not in (below, above)),
    )


@vlmbench.task(level="stack")
def stack_color(draw: Draw) -> Draft:
    """Put the object of a colour onto the object of another colour; four of one shape."""
    stage = UnitSceneBuilder(draw)
    colours = stage.some_colours(4, stage.colours[stage.variation(len(stage.colours))])
    kind = stage.stream.choice(stage.shapes)
    size = _larger(kind, COLOUR_SCALES[1])
    objects = [stage.actor(kind, c, size * stage.stream.uniform(*COLOUR_SCALES), f"the {c} {kind.words}") for c in colours]
    stage.set(objects, stage.strew(objects))
    return _draft(stage, objects)


@vlmbench.task(level="stack")
def stack_relative(draw: Draw) -> Draft:
    """Put the object on a side, of two of one shape, onto the object on a side, of two of another shape."""
    stage = UnitSceneBuilder(draw)
    one, other = tuple(product(SIDES, SIDES))[stage.variation(16)]
    lower, upper = stage.stream.sample(stage.shapes, 2)
    cast = zip((lower, lower, upper, upper), stage.some_colours(4), (*both(one), *both(other)), strict=True)
    objects = [stage.actor(k, c, _larger(k), f"the {s} {k.words}") for k, c, s in cast]
    stage.set(objects[:2], stage.strew(objects[:2], accept=sides([one])))
    stage.set(objects[2:], stage.strew(objects[2:], accept=sides([other])))
    return _draft(stage, [objects[0], objects[2], objects[1], objects[3]])


@vlmbench.task(level="stack")
def stack_shape(draw: Draw) -> Draft:
    """Put an object onto the object of a shape; all have different shapes."""
    stage = UnitSceneBuilder(draw)
    lower = stage.shapes[stage.variation(len(stage.shapes))]
    others = stage.stream.sample([k for k in stage.shapes if k != lower], stage.stream.integer(1, 3))
    objects = [stage.actor(k, stage.stream.choice(stage.colours), _larger(k), f"the {k.words}") for k in (lower, *others)]
    stage.set(objects, stage.strew(objects))
    return _draft(stage, objects)


@vlmbench.task(level="stack")
def stack_size(draw: Draw) -> Draft:
    """Put the object of a size onto the object of another size; three of one shape."""
    stage = UnitSceneBuilder(draw)
    sizes = tuple(permutations(SCALES))[stage.variation(6)]
    kind = stage.stream.choice(stage.shapes)
    larger = _larger(kind, SCALES["large"][1])
    scales = _scales(stage)
    cast = zip(stage.some_colours(3), sizes, strict=True)
    objects = [stage.actor(kind, c, larger * scales[s], f"the {s} {kind.words}") for c, s in cast]
    stage.set(objects, stage.strew(objects))
    return _draft(stage, objects)


def _scales(stage: UnitSceneBuilder) -> dict[str, float]:
    """A scale for each size, neighbours so far apart that they can be told."""
    (least, largest), (smallest, most) = SCALES["large"], SCALES["small"]
    medium = stage.stream.uniform(*SCALES["medium"])
    large = stage.stream.uniform(max(least, TOLD_APART * medium), largest)
    return {"large": large, "medium": medium, "small": stage.stream.uniform(smallest, min(most, medium / TOLD_APART))}
