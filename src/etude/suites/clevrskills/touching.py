"""Touching, pushing and toppling: touch, touch_push, touch_topple, push, swap_push, stack_topple."""

from __future__ import annotations

import math
from collections.abc import Sequence as Row
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Literal

from etude.catalog.registry import shape
from etude.goals.goal import All, Once, Sequence, Swap
from etude.goals.leaves import OnTop, PushedTo, PushedTowards, StructureToppled, Touched
from etude.pose import Pose, Vec2, Vec3
from etude.prompts.instruction import Instruction, InstructionPart, ScenePicture, instruction
from etude.scene.placement import NoRoom
from etude.suites.clevrskills.stage import B, C, ClevrActor, ClevrSceneBuilder
from etude.suites.clevrskills.suite import clevrskills
from etude.suites.clevrskills.things import Item, primitives
from etude.suites.suite import Draft, Draw

TARGETS = (1, 2)  # things to touch, push or topple
CLEARANCE = 0.02  # m between things
PILLAR: Vec3 = (0.05, 0.05, 0.2)  # what is to be toppled
PUSH_GAP = 0.18  # m between what is pushed and what it is pushed towards: twice their size (ClevrSkills 1.10)
STACK = (2, 4)

# Swapping by pushing: three corners of a triangle, wide enough that each push is straight and passes the thing at the third corner.
PASSING = 0.16  # m from a corner to the opposite side: two half diagonals of a prism, and 2 cm
BEHIND = 0.13  # m from the middle of a prism to the tip of the hand that is about to push it
HAND_ROOM = 0.14  # m from there to the middle of another prism
HAND_REACH: Vec2 = (0.19, 0.67)  # m from the base, where the hand can work low above the table
BUFFERS = 200  # places tried for the detour


def _prisms(split: str) -> tuple[Item, ...]:
    """The plain prisms. Cylinders get rolling friction, or a pushed one would wobble on its rim, and a fallen one roll, for ever."""
    return tuple(replace(item, rolls=item.shape == "cylinder") for item in primitives(split))


def _touching(draw: Draw, manner: Literal["touch", "push", "topple"], verb: str) -> Draft:
    stage = ClevrSceneBuilder(draw, *C, clearance=CLEARANCE)
    pool = _prisms(draw.split)
    if manner == "topple":
        pool = tuple(replace(item, size=PILLAR) for item in pool)
    actors = stage.cast(pool, stage.stream.integer(*TARGETS))
    for actor in actors:
        stage.put(actor)
    goal = All(tuple(Touched(actor.name, manner) for actor in actors))
    pictures = [piece for actor in actors for piece in (", ", actor.picture())][1:]
    return Draft(stage.scene(), goal, (instruction(f"{verb} ", *pictures),), roles=(("manipulated", actors[0].name),))


@clevrskills.task(level="L0", horizon=200)
def touch(draw: Draw) -> Draft:
    """Touch every object without moving it.

    Asked: "Touch A, B". Randomised: one or two prisms, their textures and places. Succeeds when the hand has touched each of them, none
    was ever grasped, and all stand within 3 cm of where they stood.
    """
    return _touching(draw, "touch", "Touch")


@clevrskills.task(level="L0", horizon=200)
def touch_push(draw: Draw) -> Draft:
    """Push every object away.

    Asked: "Touch and push A, B". Randomised: one or two prisms, their textures and places. Succeeds when the hand has touched each of
    them and each rests, upright and never grasped, at least 10 cm from where it stood.
    """
    return _touching(draw, "push", "Touch and push")


@clevrskills.task(level="L0", horizon=200)
def touch_topple(draw: Draw) -> Draft:
    """Knock every object over.

    Asked: "Touch and topple A, B". Randomised: one or two pillars 20 cm high, their textures and places. Succeeds when the hand has
    touched each of them and each lies at rest, its axis leant by at least 45°.
    """
    return _touching(draw, "topple", "Touch and topple")


@clevrskills.task(level="L0", horizon=200)
def push(draw: Draw) -> Draft:
    """Push one object towards another.

    Asked: "Push A towards B". Randomised: two prisms, their textures and places. Succeeds when A, never grasped, rests at least 30 %
    nearer to where B stood at the start, has moved within 45° of that direction, and the hand has left it.
    """
    stage = ClevrSceneBuilder(draw, *C, clearance=PUSH_GAP)
    actors = stage.cast(_prisms(draw.split), 2)
    poses = {actor.name: stage.put(actor) for actor in actors}
    pushed, other = stage.parts(actors)
    prompts = (
        instruction("Push ", pushed.picture(), " towards ", other.picture()),
        instruction("Push object with ", pushed.swatch(), " texture towards object with ", other.swatch(), " texture"),
        instruction("Push object with ", pushed.swatch(), " texture towards the object with ", other.swatch(), " texture"),
    )
    roles = (("manipulated", pushed.name), ("receiving", other.name))
    return Draft(stage.scene(), PushedTowards(pushed.name, poses[other.name].position), prompts, roles=roles)


# ------------------------------------------------------------------------------------------------ swapping by pushing


@clevrskills.task(level="L2", horizon=600)
def swap_push(draw: Draw) -> Draft:
    """Let two objects change places by pushing them.

    Asked: "Swap positions of A and B by pushing". Randomised: two prisms, their textures and places, and a free place for the detour.
    Succeeds when each, never grasped, rests within 3 cm of where the other stood, and the hand has left it.
    """
    stage = ClevrSceneBuilder(draw, *C, clearance=CLEARANCE)
    actors = stage.cast(_prisms(draw.split), 2)
    at = {actor.name: stage.put(actor).position for actor in actors}
    first, second = stage.parts(actors)
    start, end = at[first.name], at[second.name]
    goal = Swap((PushedTo(first.name, _detour(stage, start, end)), PushedTo(second.name, start), PushedTo(first.name, end)))
    prompts = (instruction("Swap positions of ", first.picture(), " and ", second.picture(), " by pushing"),)
    return Draft(stage.scene(), goal, prompts, roles=(("manipulated", first.name), ("receiving", second.name)))


def _detour(stage: ClevrSceneBuilder, first: Vec3, second: Vec3) -> Vec3:
    """A place for the first thing to wait while the second is pushed to where it stood."""
    stream = stage.draw.rng("detour")
    (x0, y0), (x1, y1) = stage.lower, stage.upper
    for _ in range(BUFFERS):
        place = (stream.uniform(x0, x1), stream.uniform(y0, y1), first[2])
        corners = (first, second, place)
        if all(past(c, a, b) >= PASSING for a, b, c in permutations(corners)) and all(
            pushable(stage.base, *push) for push in ((first, place, second), (second, first, place), (place, second, first))
        ):
            return place
    raise NoRoom("no place from which two things can be pushed past each other; another layout may have one")


def past(point: Vec3, start: Vec3, end: Vec3) -> float:
    """Distance in plan view from a point to the way from ``start`` to ``end``."""
    length = math.dist(start[:2], end[:2])
    ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    along = min(max((point[0] - start[0]) * ux + (point[1] - start[1]) * uy, 0.0), length)
    return math.dist(point[:2], (start[0] + along * ux, start[1] + along * uy))


def pushable(base: Vec2, start: Vec3, end: Vec3, other: Vec3) -> bool:
    """Can the hand get behind a thing at ``start``, and push it to ``end`` while another thing stands at ``other``?"""
    length = math.dist(start[:2], end[:2])
    ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    hands = [(p[0] - BEHIND * ux, p[1] - BEHIND * uy) for p in (start, end)]
    near, far = HAND_REACH
    return all(near <= math.dist(base, hand) <= far for hand in hands) and math.dist(hands[0], other[:2]) >= HAND_ROOM


# ------------------------------------------------------------------------------------------------ toppling a stack


@clevrskills.task(level="L2", horizon=600)
def stack_topple(draw: Draw) -> Draft:
    """Stack objects in the order given, then topple the stack.

    Asked: "Stack B on A, and C on B and then topple the stack". Randomised: two to four prisms, their textures and places. Succeeds when
    the stack has stood as asked at some moment, and afterwards every object touches the table.
    """
    stage = ClevrSceneBuilder(draw, *B, clearance=CLEARANCE)
    standing = [(actor, stage.put(actor)) for actor in stage.cast(_prisms(draw.split), stage.stream.integer(*STACK))]
    actors, poses = zip(*stage.parts(standing), strict=True)
    names = tuple(actor.name for actor in actors)
    stacked = Sequence(tuple(OnTop(top, bottom) for bottom, top in pairwise(names)))
    goal = Sequence((Once(stacked), StructureToppled(names)))
    roles = (("manipulated", names[-1]), ("receiving", names[0]))
    return Draft(stage.scene(), goal, _stacking(actors, poses), roles=roles)


def _stacking(actors: Row[ClevrActor], poses: Row[Pose]) -> tuple[Instruction, ...]:
    """The four ways to ask for a stack."""
    pairs = list(pairwise(actors))
    pictured: list[str | InstructionPart] = []
    textured: list[str | InstructionPart] = []
    for i, (bottom, top) in enumerate(pairs):
        link = "Stack " if i == 0 else ", and " if i == len(pairs) - 1 else ", "
        pictured += [link, top.picture(), " on ", bottom.picture()]
        comma = "Stack " if i == 0 else ", "
        textured += [f"{comma}object with ", top.swatch(), " texture on object with ", bottom.swatch(), " texture"]
    stages = _growing(actors, poses)
    shown = [piece for picture in stages for piece in (" ", picture)]
    end = " and then topple the stack"
    return (
        instruction(*pictured, end),
        instruction(*textured, end),
        instruction("Stack objects as in ", stages[-1], end),
        instruction("Stack objects in this order", *shown, end),
    )


def _growing(actors: Row[ClevrActor], poses: Row[Pose]) -> list[ScenePicture]:
    """Pictures of the stack as it grows, the untouched scene first."""
    x, y, _ = poses[0].position
    top = shape(actors[0].item.shape, actors[0].item.size).size[2]
    moved: tuple[tuple[str, Pose], ...] = ()
    found = [ScenePicture("the scene as it is")]
    for actor, pose in zip(actors[1:], poses[1:], strict=True):
        height = shape(actor.item.shape, actor.item.size).size[2]
        moved = (*moved, (actor.name, Pose((x, y, top + height / 2), pose.rotation)))
        top += height
        found.append(ScenePicture("the scene shown", moved))
    return found
