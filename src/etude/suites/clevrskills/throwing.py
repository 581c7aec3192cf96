"""Throwing at things and into areas: throw, throw_topple, throw_sort."""

from __future__ import annotations

import math
from dataclasses import replace

from etude.catalog.registry import shape
from etude.goals.goal import All
from etude.goals.leaves import Hit
from etude.names import EtudeError
from etude.pose import Pose, Vec3, yaw_quat
from etude.prompts.instruction import instruction
from etude.scene.placement import NoRoom
from etude.suites.clevrskills.stage import REACH, A, ClevrActor, ClevrSceneBuilder
from etude.suites.clevrskills.suite import clevrskills
from etude.suites.clevrskills.things import Item, primitives, textures
from etude.suites.suite import Draft, Draw

DISTANCE = (0.75, 0.85)  # m from the base to the middle of a target: out of reach
AHEAD = math.radians(45)  # to either side of straight ahead, for throw and throw_topple
AROUND = math.radians(75)  # the same for the areas of throw_sort; the original puts some of them behind the robot
THROWN: Vec3 = (0.125, 0.125, 0.025)
FLAT: Vec3 = (0.2, 0.2, 0.01)
PILLAR: Vec3 = (0.05, 0.05, 0.15)
TALL_PILLAR: Vec3 = (0.05, 0.05, 0.25)
PILLAR_DENSITY = 100.0  # kg/m³
FLAT_SHARE = 0.5  # of the targets of throw
SORTED = (2, 4)
AREAS = (2, 3)
AREA: Vec3 = (0.35, 0.35, 0.01)
MARGIN = 0.02  # m between what lies on the table
TRIES = 100


def _sized(split: str, size: Vec3) -> tuple[Item, ...]:
    return tuple(replace(item, size=size) for item in primitives(split))


def _put_afar(stage: ClevrSceneBuilder, actor: ClevrActor, either_side: float, fixed: bool, mass: float | None = None) -> None:
    """Set an actor out of the robot's reach, within an arc before it."""
    model, stream = shape(actor.item.shape, actor.item.size), stage.layout.stream
    for _ in range(TRIES):
        distance, bearing = stream.uniform(*DISTANCE), stream.uniform(-either_side, either_side)
        x, y = stage.base[0] + distance * math.cos(bearing), stage.base[1] + distance * math.sin(bearing)
        rotation = yaw_quat(stream.uniform(0.0, 2 * math.pi))
        pose = Pose((x, y, model.lift(rotation)), rotation)
        try:
            stage.layout.put(actor.name, model, pose)
        except EtudeError:
            continue
        stage.things.append(actor.body(pose, fixed, mass))
        return
    raise NoRoom(f"no room for {actor.name!r} in an arc of {math.degrees(2 * either_side):.0f}° around the robot")


def _pillar_mass(actor: ClevrActor) -> float:
    volume, _, _ = shape(actor.item.shape, actor.item.size).mesh.mass_properties()
    return PILLAR_DENSITY * float(volume)


def _throw(draw: Draw, target_size: Vec3 | None, topple: bool) -> tuple[ClevrSceneBuilder, ClevrActor, ClevrActor, Hit]:
    """The common stage: one flat prism in the hand, one target out of reach."""
    stage = ClevrSceneBuilder(draw, *A, view="wide")
    flat = target_size is None and stage.stream.chance(FLAT_SHARE)
    size = target_size or (FLAT if flat else PILLAR)
    # Thrown things wear what others are moved onto, and the reverse (ClevrSkills 1.8).
    thrown = stage.cast(_sized(draw.split, THROWN), 1, 2)[0]
    target = stage.cast(_sized(draw.split, size), 1, 1)[0]
    _put_afar(stage, target, AHEAD, flat, None if flat else _pillar_mass(target))
    stage.hand_over(thrown)
    return stage, thrown, target, Hit(thrown.name, target.name, topple)


@clevrskills.task(level="L0", horizon=100)
def throw(draw: Draw) -> Draft:
    """Throw what is in the hand at something out of reach.

    Asked: "Throw A to B". Randomised: shapes and textures, the place of B (0.75 to 0.85 m from the base, within 45° of straight ahead)
    and whether it is a flat area or a light pillar. Succeeds when A has flown at least 5 cm and touched B.
    """
    stage, thrown, target, goal = _throw(draw, None, False)
    prompts = (
        instruction("Throw ", thrown.picture(), " to ", target.picture()),
        instruction("Hit ", target.picture(), " with ", thrown.picture()),
    )
    return Draft(stage.scene(), goal, prompts, thrown.name, (("manipulated", thrown.name), ("receiving", target.name)))


@clevrskills.task(level="L0", horizon=100)
def throw_topple(draw: Draw) -> Draft:
    """Throw what is in the hand at a tall pillar out of reach so that it falls over.

    Asked: "Throw A to B such that B falls over". Randomised as in throw; B is always a pillar of 25 cm. Succeeds when A has flown at
    least 5 cm and touched B, and B leans more than 45°.
    """
    stage, thrown, target, goal = _throw(draw, TALL_PILLAR, True)
    falls = (" such that ", target.picture(), " falls over")
    prompts = (
        instruction("Throw ", thrown.picture(), " to ", target.picture(), *falls),
        instruction("Hit ", target.picture(), " with ", thrown.picture(), *falls),
    )
    return Draft(stage.scene(), goal, prompts, thrown.name, (("manipulated", thrown.name), ("receiving", target.name)))


@clevrskills.task(level="L2", horizon=700)
def throw_sort(draw: Draw) -> Draft:
    """Sort things into areas out of reach, by throwing.

    Asked: "Place the objects in the identically textured areas by throwing". Randomised: two to four prisms on the table, two or three
    areas (0.75 to 0.85 m from the base, within 75° of straight ahead), and which prism belongs to which area. Succeeds when every prism
    was thrown, not put, and lies at rest with its middle over the area of its texture.
    """
    stage = ClevrSceneBuilder(draw, *A, clearance=MARGIN, view="wide")
    count = stage.stream.integer(*SORTED)
    worn = stage.stream.sample(textures(draw.split, 1), stage.stream.integer(*AREAS))
    areas = stage.cast(_sized(draw.split, AREA), len(worn), worn=worn)
    targets = [stage.stream.choice(areas) for _ in range(count)]
    sorted_ = stage.cast(primitives(draw.split), count, worn=[t.texture for t in targets])
    for area in areas:
        _put_afar(stage, area, AROUND, True)
    for actor in sorted_:
        x, y, _ = stage.put(actor).position
        if math.hypot(x - stage.base[0], y - stage.base[1]) > REACH:
            raise NoRoom(f"{actor.name!r} would lie out of reach")
    pairs = stage.parts(list(zip(sorted_, targets, strict=True)))
    goal = All(tuple(Hit(actor.name, target.name, stay=True) for actor, target in pairs))
    prompts = (instruction("Place the objects in the identically textured areas by throwing"),)
    roles = [("manipulated", actor.name) for actor, _ in pairs] + [("receiving", area.name) for area in stage.parts(areas)]
    return Draft(stage.scene(), goal, prompts, roles=tuple(roles))
