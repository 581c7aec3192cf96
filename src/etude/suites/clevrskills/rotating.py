"""Turning things, swapping them and rearranging them: rotate, rotate_restore, rotate_symmetry, swap, swap_rotate, rearrange(_restore)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from etude.catalog.registry import shape
from etude.goals.goal import All, Goal, Order, Swap
from etude.goals.leaves import AtPosition, RotatedBy
from etude.pose import Pose, multiply, yaw_quat
from etude.prompts.instruction import Instruction, ScenePicture, instruction
from etude.suites.clevrskills.stage import REACH, B, C, ClevrActor, ClevrSceneBuilder, steady
from etude.suites.clevrskills.suite import clevrskills
from etude.suites.clevrskills.things import primitives, top_pool
from etude.suites.suite import Draft, Draw

ANGLES = (30, 60, 90, 120, 150)  # degrees
DIRECTIONS = ("anti-clockwise", "clockwise")
ROTATE_OBJECTS = (2, 3)
SYMMETRY_OBJECTS = (3, 4)
REARRANGE_OBJECTS = (2, 3)


def _asked(stage: ClevrSceneBuilder) -> tuple[int, str]:
    """An angle in degrees, positive anti-clockwise, and its words."""
    degrees, direction = stage.stream.choice(ANGLES), stage.stream.choice(DIRECTIONS)
    return degrees if direction == "anti-clockwise" else -degrees, f"{degrees} degrees {direction}"


def _turned(actor: ClevrActor, pose: Pose, degrees: int, to: Pose | None = None) -> RotatedBy:
    """The actor turned on the spot, or at another place."""
    turn = multiply(yaw_quat(math.radians(degrees)), pose.rotation)
    return RotatedBy(actor.name, Pose.of((to or pose).position, turn), degrees=degrees, elsewhere=to is not None)


def _rotated(draw: Draw, restore: bool) -> Draft:
    stage = ClevrSceneBuilder(draw, *B)
    actors = stage.cast(steady(top_pool(draw.split)), stage.stream.integer(*ROTATE_OBJECTS))
    degrees, words = _asked(stage)
    poses = {actor.name: stage.find(actor, reach=REACH, free=True) for actor in actors}
    stage.things.extend(actor.body(poses[actor.name]) for actor in actors)
    actor = stage.parts(actors)[0]
    start = poses[actor.name]
    goal: Goal = _turned(actor, start, degrees)
    if restore:
        goal = Order((goal, RotatedBy(actor.name, start, degrees=-degrees)))
    end = " and then restore" if restore else ""
    prompts = (
        instruction("Rotate ", actor.picture(), f" {words}{end}"),
        instruction("Rotate object with ", actor.swatch(), f" texture {words}{end}"),
    )
    return Draft(stage.scene(), goal, prompts, roles=(("manipulated", actor.name),))


@clevrskills.task(level="L0", horizon=200)
def rotate(draw: Draw) -> Draft:
    """Turn one object about the vertical.

    Asked: "Rotate A 120 degrees clockwise". Randomised: two or three objects, textures and places; the angle (30 to 150 degrees) and its
    direction. Succeeds when A stands within 5 cm and 5° of its start turned by that angle, let go and at rest.
    """
    return _rotated(draw, restore=False)


@clevrskills.task(level="L1", horizon=400)
def rotate_restore(draw: Draw) -> Draft:
    """Turn one object about the vertical, then back.

    Asked: "Rotate A 120 degrees clockwise and then restore". Randomised as in rotate. Succeeds when A stood turned and, after that, stands
    within 5 cm and 5° of its start.
    """
    return _rotated(draw, restore=True)


@clevrskills.task(level="L1", horizon=400)
def rotate_symmetry(draw: Draw) -> Draft:
    """Turn the two objects that wear the same texture.

    Asked: "Rotate objects with TEXTURE texture 120 degrees clockwise". Randomised: three or four objects, of which two share a texture, and
    places; angle and direction as in rotate. Succeeds when both stand within 5 cm and 5° of their starts turned by that angle.
    """
    stage = ClevrSceneBuilder(draw, *B)
    count = stage.stream.integer(*SYMMETRY_OBJECTS)
    others = stage.cast(steady(top_pool(draw.split)), count - 1)
    pair = [others.pop(), *stage.cast(steady(top_pool(draw.split)), 1, worn=[stage.actors[-1].texture])]
    degrees, words = _asked(stage)
    poses = {actor.name: stage.find(actor, reach=REACH, free=True) for actor in (*others, *pair)}
    stage.things.extend(actor.body(poses[actor.name]) for actor in (*others, *pair))
    goal = All(tuple(_turned(actor, poses[actor.name], degrees) for actor in stage.parts(pair)))
    prompts = (
        instruction("Rotate objects with ", pair[0].swatch(), f" texture {words}"),
        instruction(f"Rotate identically textured objects {words}"),
    )
    return Draft(stage.scene(), goal, prompts, roles=tuple(("manipulated", actor.name) for actor in pair))


# ------------------------------------------------------------------------------------------------ swapping


def _swapped(draw: Draw, degrees: int, stage: ClevrSceneBuilder) -> tuple[ClevrActor, ClevrActor, Goal]:
    """Two prisms and a third free place, each with room for either of them."""
    actors = stage.cast(primitives(draw.split), 2, 2)
    widest = max(actors, key=lambda actor: shape(actor.item.shape, actor.item.size).radius)
    places = [stage.find(replace(widest, name=f"place {k}"), reach=REACH, free=True) for k in range(3)]
    poses = dict(zip((actor.name for actor in actors), places, strict=False))
    stage.things.extend(actor.body(poses[actor.name]) for actor in actors)
    a, b = stage.parts(actors)
    ends: dict[str, Goal] = {}
    for actor, other in ((a, b), (b, a)):
        start, end = poses[actor.name], poses[other.name]
        ends[actor.name] = _turned(actor, start, degrees, end) if degrees else AtPosition(actor.name, end.position)
    return a, b, Swap((AtPosition(a.name, places[2].position), ends[b.name], ends[a.name]))


@clevrskills.task(level="L1", horizon=500)
def swap(draw: Draw) -> Draft:
    """Exchange two objects.

    Asked: "Swap positions of A and B". Randomised: two prisms, textures and places. Succeeds when each stands within 5 cm of where the
    other began, let go and at rest.
    """
    stage = ClevrSceneBuilder(draw, *C)
    a, b, goal = _swapped(draw, 0, stage)
    prompts = (instruction("Swap positions of ", a.picture(), " and ", b.picture()),)
    return Draft(stage.scene(), goal, prompts, roles=(("manipulated", a.name), ("manipulated", b.name)))


@clevrskills.task(level="L2", horizon=500)
def swap_rotate(draw: Draw) -> Draft:
    """Exchange two objects and turn both.

    Asked: "Swap positions of A and B but rotate them by 30 degrees anti-clockwise". Randomised as in swap; angle and direction as in
    rotate. Succeeds when each stands within 5 cm of where the other began and within 5° of its own start turned by that angle.
    """
    stage = ClevrSceneBuilder(draw, *C)
    degrees, words = _asked(stage)
    a, b, goal = _swapped(draw, degrees, stage)
    prompts = tuple(
        instruction("Swap positions of ", a.picture(), " and ", b.picture(), f" {manner} {words}")
        for manner in ("but rotate them by", "while rotating them by")
    )
    return Draft(stage.scene(), goal, prompts, roles=(("manipulated", a.name), ("manipulated", b.name)))


# ------------------------------------------------------------------------------------------------ rearranging


def _there(actors: Sequence[ClevrActor], poses: Sequence[Pose]) -> Goal:
    return All(tuple(AtPosition(actor.name, pose.position) for actor, pose in zip(actors, poses, strict=True)))


def _rearranged(draw: Draw, restore: bool) -> Draft:
    stage = ClevrSceneBuilder(draw, *B)
    actors = stage.cast(top_pool(draw.split), stage.stream.integer(*REARRANGE_OBJECTS))
    places = [(actor, stage.find(actor, reach=REACH, free=True)) for actor in actors]
    widest = max(actors, key=lambda actor: shape(actor.item.shape, actor.item.size).radius)
    found = [stage.find(replace(widest, name=f"place {k}"), reach=REACH, free=True) for k in range(len(actors))]  # for whoever comes
    actors, starts = map(list, zip(*stage.roles.shuffled(places), strict=True))
    ends = [
        Pose((pose.position[0], pose.position[1], start.position[2]), pose.rotation)
        for start, pose in zip(starts, stage.parts(found), strict=True)
    ]
    stage.things.extend(actor.body(pose) for actor, pose in zip(actors, starts, strict=True))
    goal = Order((_there(actors, ends), _there(actors, starts))) if restore else _there(actors, ends)
    picture = ScenePicture("the scene in the picture", tuple((a.name, pose) for a, pose in zip(actors, ends, strict=True)))
    prompts: tuple[Instruction, ...] = (instruction("Rearrange to ", picture, " and then restore" if restore else ""),)
    return Draft(stage.scene(), goal, prompts, roles=tuple(("manipulated", actor.name) for actor in actors))


@clevrskills.task(level="L1", horizon=600)
def rearrange(draw: Draw) -> Draft:
    """Bring the objects to the places a picture shows.

    Asked: "Rearrange to PICTURE". Randomised: two or three objects, textures, places and places to go to, all clear of each other. Succeeds
    when all stand within 5 cm of their places at the same time, let go and at rest.
    """
    return _rearranged(draw, restore=False)


@clevrskills.task(level="L1", horizon=1000)
def rearrange_restore(draw: Draw) -> Draft:
    """Bring the objects to the places a picture shows, then back.

    Asked: "Rearrange to PICTURE and then restore". Randomised as in rearrange. Succeeds when all stood within 5 cm of their places at the
    same time and, after that, all stand within 5 cm of where they began.
    """
    return _rearranged(draw, restore=True)
