"""Pick & place: Control(o) + M1[a1,b1](o). An object into a container, told apart by colour, side, shape or size."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from etude.goals.detecting import Detected
from etude.goals.regions import AnyTurn, InBox, Region
from etude.goals.units import Composed, Control, MoveFree
from etude.suites.suite import Draft, Draw
from etude.suites.vlmbench.stage import CONTAINER, SIDES, UnitActor, UnitSceneBuilder, both, grasped, scaled, sides
from etude.suites.vlmbench.suite import vlmbench

INSIDE = ((-0.10, -0.06, -0.025), (0.10, 0.06, 0.04))  # m: what the container's detector sees, in the container's frame
APART = 0.25  # m between the middles of containers


def _draft(stage: UnitSceneBuilder, objects: Sequence[UnitActor], containers: Sequence[UnitActor]) -> Draft:
    """The first of the objects belongs into the first of the containers."""
    (goal, *others), (thing, place) = (_placed(o, c, containers) for o, c in product(objects, containers)), (objects[0], containers[0])
    return stage.draft(f"Pick up {thing.said} and place it into {place.said}.", goal, others, thing.name, place.name)


def _placed(object_: UnitActor, container: UnitActor, containers: Sequence[UnitActor]) -> Composed:
    lower, upper = scaled(INSIDE, container.scale)
    half = object_.size[2] / 2
    room = min(object_.radius, 0.045)
    goal_lower = (-0.09 * container.scale + room, -0.05 * container.scale + min(room, 0.04), 0.033 * container.scale + half)
    goal_upper = (-goal_lower[0], -goal_lower[1], goal_lower[2] + 0.03)
    return Composed(
        Detected(object_.name, container.name, lower, upper),
        (
            Control(object_.name, grasped(object_.said)),
            MoveFree(
                object_.name,
                Region(container.name, InBox(goal_lower, goal_upper), AnyTurn()),
                f"Move the object into {container.said}; Release the gripper.",
            ),
        ),
        tuple(a.name for a in containers if a != container),
    )


@vlmbench.task(level="pick")
def pick_color(draw: Draw) -> Draft:
    """Put the object of a colour into the container of a colour."""
    stage = UnitSceneBuilder(draw)
    colours = stage.some_colours(2, stage.colours[stage.variation(len(stage.colours))])
    kind = stage.stream.choice(stage.shapes)
    objects = [stage.actor(kind, c, stage.stream.uniform(0.8, 1.2), f"the {c} object") for c in colours]
    containers = [stage.actor(CONTAINER, c, said=f"the {c} container") for c in stage.some_colours(2)]
    stage.set(containers, stage.strew(containers, APART))
    stage.set(objects, stage.strew(objects))
    return _draft(stage, objects, containers)


@vlmbench.task(level="pick")
def pick_relative(draw: Draw) -> Draft:
    """Put the object on a side into the container on a side."""
    stage = UnitSceneBuilder(draw)
    one, other = tuple(product(SIDES, SIDES))[stage.variation(16)]
    kind = stage.stream.choice(stage.shapes)
    objects = [stage.actor(kind, c, said=f"the {s} object") for c, s in zip(stage.some_colours(2), both(one), strict=True)]
    containers = [stage.actor(CONTAINER, c, said=f"the {s} container") for c, s in zip(stage.some_colours(2), both(other), strict=True)]
    stage.set(containers, stage.strew(containers, APART, sides([other])))
    stage.set(objects, stage.strew(objects, accept=sides([one])))
    return _draft(stage, objects, containers)


@vlmbench.task(level="pick")
def pick_shape(draw: Draw) -> Draft:
    """Put the object of a shape into the container of a colour."""
    stage = UnitSceneBuilder(draw)
    kind = stage.shapes[stage.variation(len(stage.shapes))]
    others = [k for k in stage.shapes if k != kind]
    kinds = [kind, *stage.stream.sample(others, stage.stream.integer(1, len(others)))]
    objects = [stage.actor(k, stage.stream.choice(stage.colours), said=f"the {k.words}") for k in kinds]
    containers = [stage.actor(CONTAINER, c, said=f"the {c} container") for c in stage.some_colours(2)]
    stage.set(containers, stage.strew(containers, APART))
    stage.set(objects, stage.strew(objects))
    return _draft(stage, objects, containers)


@vlmbench.task(level="pick")
def pick_size(draw: Draw) -> Draft:
    """Put the larger or smaller object into the larger or smaller container."""
    stage = UnitSceneBuilder(draw)
    one, other = tuple(product(("smaller", "larger"), repeat=2))[stage.variation(4)]
    kind = stage.stream.choice(stage.shapes)
    sizes = {"smaller": stage.stream.uniform(0.6, 0.9), "larger": stage.stream.uniform(1.1, 1.2)}
    holds = {"smaller": stage.stream.uniform(0.8, 0.9), "larger": stage.stream.uniform(1.1, 1.25)}
    objects = [stage.actor(kind, c, sizes[s], f"the {s} object") for c, s in zip(stage.some_colours(2), both(one), strict=True)]
    places = zip(stage.some_colours(2), both(other), strict=True)
    containers = [stage.actor(CONTAINER, c, holds[s], f"the {s} container") for c, s in places]
    stage.set(containers, stage.strew(containers, APART))
    stage.set(objects, stage.strew(objects))
    return _draft(stage, objects, containers)
