"""Stack: Control(above) + M1[a2,b2](above). One object onto another, told apart by colour, side, shape or size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

from etude.catalog.registry import shape
from etude.goals.detecting import Piled
from etude.goals.regions import About, Alike, OnPlane, Region
from etude.goals.units import Composed, Control, MoveFree
from etude.suites.suite import Draft, Draw
from etude.suites.vlmbench.stage import MOON, SIDES, ObjectKind, UnitActor, UnitSceneBuilder, sides
from etude.suites.vlmbench.suite import vlmbench

LARGER = 1.5  # things to stack are this much larger than elsewhere (VLMbench 1.5)
ABOVE = 0.005  # m from which the upper object falls onto the lower (VLMbench 1.8)
SLACK = 0.02  # of the lower object's extents: how far the middle of the upper may be beside it
SCALES = {"large": (1.2, 1.4), "medium": (0.9, 1.1), "small": (0.7, 0.9)}
COLOUR_SCALES = (0.8, 1.2)


def _larger(kind: ObjectKind, most: float = 1.0) -> float:
    """The scale that stands for 1 here: ``LARGER``, or less where the largest object (``most``) would not fit between the fingers."""
    return min(LARGER, kind.largest / most)


def _draft(stage: UnitSceneBuilder, objects: Sequence[UnitActor], lower: str, upper: str) -> Draft:
    """The second of the objects belongs onto the first."""
    below, above = objects[:2]
    ground, load = (shape(a.kind.shape, a.size).mass_properties[1] for a in (below, above))
    # Weight over weight: prisms whose middle is not where they balance stay on each other at any yaw.
    x, y = float(ground[0]), float(ground[1])
    dx, dy = SLACK * below.size[0], SLACK * below.size[1]
    plane = OnPlane((x - dx, y - dy), (x + dx, y + dy), below.size[2] / 2 + ABOVE)
    # Crescents that cross touch at their horns only, and fall.
    turned = Alike() if below.kind == above.kind == MOON else About()
    under = (float(load[0]), float(load[1]), -above.size[2] / 2)
    goal = Composed(
        Piled(above.name, below.name),
        (
            Control(above.name, f"Grasp {{{above.name}}}."),
            MoveFree(
                above.name,
                Region(below.name, plane, turned, upright=True, point=under),
                f"Move the object on {{{below.name}}}. Release the gripper.",
            ),
        ),
        tuple(a.name for a in objects[2:]),
    )
    return stage.draft(f"Stack {lower} and {upper} in sequence.", goal, above.name, below.name)


@vlmbench.task(level="stack")
def stack_color(draw: Draw) -> Draft:
    """Put the object of a colour onto the object of another colour; four of one shape."""
    stage = UnitSceneBuilder(draw)
    colours = stage.some_colours(4, stage.colours[stage.variation(len(stage.colours))])
    kind = stage.stream.choice(stage.shapes)
    size = _larger(kind, COLOUR_SCALES[1])
    objects = [stage.actor(kind, c, size * stage.stream.uniform(*COLOUR_SCALES)) for c in colours]
    stage.set(objects, stage.strew(objects))
    return _draft(stage, objects, f"the {colours[0]} {kind.words}", f"the {colours[1]} {kind.words}")


@vlmbench.task(level="stack")
def stack_relative(draw: Draw) -> Draft:
    """Put the object on a side, of two of one shape, onto the object on a side, of two of another shape."""
    stage = UnitSceneBuilder(draw)
    one, other = tuple(product(SIDES, SIDES))[stage.variation(16)]
    lower, upper = stage.stream.sample(stage.shapes, 2)
    colours = stage.some_colours(4)
    objects = [stage.actor(k, c, _larger(k)) for k, c in zip((lower, lower, upper, upper), colours, strict=True)]
    stage.set(objects[:2], stage.strew(objects[:2], accept=sides([one])))
    stage.set(objects[2:], stage.strew(objects[2:], accept=sides([other])))
    cast = [objects[0], objects[2], objects[1], objects[3]]
    return _draft(stage, cast, f"the {one} {lower.words}", f"the {other} {upper.words}")


@vlmbench.task(level="stack")
def stack_shape(draw: Draw) -> Draft:
    """Put an object onto the object of a shape; all have different shapes."""
    stage = UnitSceneBuilder(draw)
    lower = stage.shapes[stage.variation(len(stage.shapes))]
    others = stage.stream.sample([k for k in stage.shapes if k != lower], stage.stream.integer(1, 3))
    objects = [stage.actor(k, stage.stream.choice(stage.colours), _larger(k)) for k in (lower, *others)]
    stage.set(objects, stage.strew(objects))
    return _draft(stage, objects, f"the {lower.words}", f"the {others[0].words}")


@vlmbench.task(level="stack")
def stack_size(draw: Draw) -> Draft:
    """Put the object of a size onto the object of another size; three of one shape."""
    stage = UnitSceneBuilder(draw)
    sizes = tuple(permutations(SCALES))[stage.variation(6)]
    kind = stage.stream.choice(stage.shapes)
    larger = _larger(kind, SCALES["large"][1])
    objects = [stage.actor(kind, c, larger * stage.stream.uniform(*SCALES[s])) for c, s in zip(stage.some_colours(3), sizes, strict=True)]
    stage.set(objects, stage.strew(objects))
    return _draft(stage, objects, f"the {sizes[0]} {kind.words}", f"the {sizes[1]} {kind.words}")
