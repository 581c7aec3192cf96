"""Building towers: stack, stack_reversed, sort_stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from etude.catalog.registry import shape
from etude.goals.goal import All, Goal
from etude.goals.goal import Sequence as InTurn
from etude.goals.leaves import OnTop, Stacked
from etude.pose import Pose, rotate
from etude.prompts.instruction import Instruction, InstructionPart, ScenePicture, instruction
from etude.suites.clevrskills.stage import REACH, A, B, ClevrActor, ClevrSceneBuilder
from etude.suites.clevrskills.suite import clevrskills
from etude.suites.clevrskills.things import primitives, textures
from etude.suites.suite import Draft, Draw

OBJECTS = (2, 4)
CLEARANCE = 0.02  # m between the objects at the start
SORT_TEXTURES = (2, 3)
SORT_OBJECTS = 6  # at most; at least one more than textures


def tower(actors: Sequence[ClevrActor], poses: Mapping[str, Pose]) -> tuple[tuple[str, Pose], ...]:
    """Where the actors stand when they are stacked on the first one, centre of mass above centre of mass, headings kept."""
    first = poses[actors[0].name]
    middle, height = None, 0.0
    stood = []
    for actor in actors:
        model, pose = shape(actor.item.shape, actor.item.size), poses[actor.name]
        offset = rotate(pose.rotation, model.mass_properties[1])
        if middle is None:
            middle, height = np.asarray(first.position) + offset, first.position[2] - model.size[2] / 2
        x, y = (middle - offset)[:2].tolist()
        stood.append((actor.name, Pose((x, y, height + model.size[2] / 2), pose.rotation)))
        height += model.size[2]
    return tuple(stood)


def stack_goal(actors: Sequence[ClevrActor]) -> Goal:
    """Each actor on the one before it, and all of it still there at the end."""
    return InTurn(tuple(OnTop(top.name, bottom.name) for bottom, top in pairwise(actors)))


def stack_prompts(actors: Sequence[ClevrActor], poses: Mapping[str, Pose], end: str = "") -> tuple[Instruction, ...]:
    """The four ways to ask for a tower, by pictures, textures, the last scene or all of them; ``end`` follows."""
    pairs = list(zip(actors[1:], actors, strict=False))
    shown: list[str | InstructionPart] = ["Stack "]
    worn: list[str | InstructionPart] = ["Stack "]
    for k, (top, bottom) in enumerate(pairs):
        comma = "" if k == 0 else ", " if k + 1 < len(pairs) else ", and "
        shown += [comma, top.picture(), " on ", bottom.picture()]
        worn += [comma, "object with ", top.swatch(), " texture on object with ", bottom.swatch(), " texture"]
    stood = tower(actors, poses)
    steps = [ScenePicture(f"scene {k}", stood[: k + 1]) for k in range(len(actors))]
    order: list[str | InstructionPart] = ["Stack objects in this order"]
    for step in steps:
        order += [" ", step]
    return (
        instruction(*shown, end),
        instruction(*worn, end),
        instruction("Stack objects as in ", steps[-1], end),
        instruction(*order, end),
    )


def set_for_stacking(draw: Draw) -> tuple[ClevrSceneBuilder, list[ClevrActor], dict[str, Pose]]:
    """Two to four prisms on the table, in the order in which they shall be stacked."""
    stage = ClevrSceneBuilder(draw, *B, clearance=CLEARANCE)
    actors = stage.cast(primitives(draw.split), stage.stream.integer(*OBJECTS))
    poses = {actor.name: stage.put(actor, reach=REACH) for actor in actors}
    return stage, stage.parts(actors), poses


def _roles(actors: Sequence[ClevrActor]) -> tuple[tuple[str, str], ...]:
    return (*(("manipulated", actor.name) for actor in actors[1:]), ("receiving", actors[0].name))


@clevrskills.task(level="L1", horizon=600)
def stack(draw: Draw) -> Draft:
    """Stack all objects in the order told.

    Asked: "Stack B on A, C on B, and D on C". Randomised: two to four prisms, textures and places. Succeeds when each rests on the one it
    was asked to rest on, all at the same time, let go and at rest.
    """
    stage, actors, poses = set_for_stacking(draw)
    return Draft(stage.scene(), stack_goal(actors), stack_prompts(actors, poses), roles=_roles(actors))


@clevrskills.task(level="L1", horizon=600)
def stack_reversed(draw: Draw) -> Draft:
    """Stack all objects in the reverse of the order told.

    Asked: "Stack A, B, C in the reversed order". Randomised as in stack. Succeeds when B rests on C and A on B, all at the same time, let
    go and at rest.
    """
    stage, actors, _ = set_for_stacking(draw)
    told_as: list[str | InstructionPart] = ["Stack "]
    for actor in actors:
        told_as += [", " if actor is not actors[0] else "", actor.picture()]
    upwards = actors[::-1]
    return Draft(stage.scene(), stack_goal(upwards), (instruction(*told_as, " in the reversed order"),), roles=_roles(upwards))


@clevrskills.task(level="L2", horizon=1000)
def sort_stack(draw: Draw) -> Draft:
    """Stack the objects that wear the same texture.

    Asked: "Stack identically textured objects". Randomised: two or three textures; from one more up to six prisms, each in one of them;
    places. Succeeds when the objects of every texture form one tower, in whatever order, let go and at rest.
    """
    stage = ClevrSceneBuilder(draw, *A, clearance=CLEARANCE)
    count = stage.stream.integer(*SORT_TEXTURES)
    kinds = stage.stream.sample(textures(draw.split, 1), count)
    total = stage.stream.integer(count + 1, SORT_OBJECTS)
    worn = [*kinds, *(stage.stream.choice(kinds) for _ in range(total - count))]
    actors = stage.cast(primitives(draw.split), total, worn=worn)
    for actor in actors:
        stage.put(actor, reach=REACH)
    groups = [tuple(actor.name for actor in actors if actor.texture == kind) for kind in stage.parts(kinds)]
    prompts = (instruction("Stack identically textured objects"), instruction("Place identically textured objects on top of each other"))
    goal = All(tuple(Stacked(group) for group in groups))
    return Draft(stage.scene(), goal, prompts, roles=tuple(("manipulated", actor.name) for actor in stage.parts(actors)))
