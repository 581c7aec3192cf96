"""A verb defined by examples: twist."""

from __future__ import annotations

import math

from etude.goals.goal import All, Once
from etude.goals.laying import Laid
from etude.prompts.instruction import InstructionPart, instruction
from etude.suites.suite import Draft, Draw
from etude.suites.vima.manipulation import ANGLES, FINE_ANGLES, asymmetric
from etude.suites.vima.stage import VimaActor, VimaSceneBuilder, clear, scene_picture
from etude.suites.vima.suite import SPLITS, vima

WIDE_ANGLES = range(30, 360, 30)  # degrees: what the original declares but does not use (VIMA 3, T9)
ANGLE_SETS = ("usual", "wide")
# Objects of one texture on the table, default and distracting; one of these groups is to be twisted. Distractors come in groups too: with
# textures of their own, each, whatever there are two of would be asked for.
GROUPS, MANY_GROUPS = (1, 2), (1, 1, 2, 2, 2)
EXAMPLES = 3
SPREAD = (0.0625, 0.375)  # m: how far from the middle of the table an example may lie, in x and in y
NEAR = 0.05  # m


@vima.task(splits=SPLITS, options=("angles",), described=False)
def twist(draw: Draw) -> Draft:
    """T9: turn all objects of a texture by the angle that examples show.

    Asked: '"Twist" is defined as rotating object a specific angle. For examples: From {before_twist_1} to {after_twist_1}.' and two more,
    then "Now twist all TEXTURE objects." Randomised: the angle (30° to 150° in steps of 30°, to 330° with ``angles=wide``; 20° to 160° in
    steps of 20° when extreme), clockwise; one or two objects of one texture and any shapes, their places; distractors, two or one of
    another texture (when distracting, eight things in total, one or two of each texture); shape, texture and pose of every example.
    Succeeds when every object has been turned to within 15° within 5 cm of where it was.
    """
    stage = VimaSceneBuilder(draw)
    stream, shapes, textures = stage.stream, asymmetric(draw.split), stage.textures
    wide = stage.one_of("angles", ANGLE_SETS) == "wide"
    angle = stream.choice(FINE_ANGLES if stage.extreme else WIDE_ANGLES if wide else ANGLES)
    texture, count = stream.choice(textures), stream.choice(GROUPS)
    twisted = [stage.actor(stream.choice(shapes), texture) for _ in range(count)]
    other_textures = [t for t in textures if t != texture]
    text: list[str | InstructionPart] = ['"Twist" is defined as rotating object a specific angle. For examples:']
    for number in range(1, EXAMPLES + 1):
        actor = stage.actor(stream.choice(twisted).thing, stream.choice(other_textures))
        text += example(stage, actor, angle, number)
    text.append(f" Now twist all {texture} objects.")
    starts = [stage.find(actor, free=True) for actor in twisted]
    stage.things += [actor.body(pose) for actor, pose in zip(twisted, starts, strict=True)]
    groups = list(MANY_GROUPS if stage.distracting else GROUPS)
    groups.remove(count)
    around = [
        stage.actor(stream.choice(shapes), other)
        for other, size in zip(stream.sample(other_textures, len(groups)), groups, strict=True)
        for _ in range(size)
    ]
    for actor in around:
        stage.put(actor)
    places = [(pose.position[0], pose.position[1]) for pose in starts]
    turned = tuple(
        Once(Laid(actor.name, place, NEAR, round(pose.yaw - math.radians(angle), 9), symmetry=max(1, actor.thing.symmetry)))
        for actor, place, pose in zip(twisted, places, starts, strict=True)
    )
    goal = stage.goal(All(turned), twisted, clear(around, places, NEAR))
    return Draft(stage.scene(), goal, (instruction(*text),), roles=(("manipulated", twisted[0].name),), least=len(twisted))


def example(stage: VimaSceneBuilder, actor: VimaActor, degrees: int, number: int) -> list[str | InstructionPart]:
    """A sentence with two pictures of a thing that lies anywhere: as it was, and twisted."""
    x, y = (middle + stage.stream.uniform(-spread, spread) for middle, spread in zip((0.5, 0.0), SPREAD, strict=True))
    yaw = stage.stream.uniform(-math.pi, math.pi)
    before, after = (actor.body(actor.standing(x, y, turned)) for turned in (yaw, yaw - math.radians(degrees)))
    return [" From ", scene_picture(f"before_twist_{number}", [before]), " to ", scene_picture(f"after_twist_{number}", [after]), "."]
