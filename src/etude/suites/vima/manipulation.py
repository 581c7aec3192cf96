"""Instruction following: visual_manipulation and rotate."""

from __future__ import annotations

import math

from etude.goals.laying import Laid
from etude.prompts.instruction import instruction
from etude.suites.suite import Draft, Draw
from etude.suites.vima.stage import DECIMALS, VimaActor, VimaSceneBuilder, clear, laid
from etude.suites.vima.suite import SPLITS, vima
from etude.suites.vima.things import NOVEL_ASYMMETRIC, SEEN_ASYMMETRIC, VimaThing

DISTRACTORS, MANY = 1, 6  # T1: default and distracting
ANGLES, FINE_ANGLES = range(30, 180, 30), range(20, 180, 20)  # degrees
TURN_DISTRACTORS, MANY_TURN_DISTRACTORS = 1, 8


@vima.task(splits=SPLITS)
def visual_manipulation(draw: Draw) -> Draft:
    """T1: put one object into another.

    Asked: "Put the {dragged_obj_1} into the {base_obj}." Randomised: both objects, their textures and places, one distractor (six when
    distracting; when extreme, bases have the shapes of dragged objects). Succeeds when the object lies within 10 cm of the base and no
    distractor does.
    """
    stage = VimaSceneBuilder(draw)
    pools = stage.pools
    base = stage.actor(stage.stream.choice(pools.dragged if stage.extreme else pools.bases), stage.stream.choice(pools.base_textures))
    dragged = stage.actor(stage.stream.choice(pools.dragged), stage.stream.choice(pools.dragged_textures))
    place = stage.middle(base, stage.put(base, fixed=True))
    stage.keep_free(place)
    stage.put(dragged)
    others = distractors(stage, base, dragged, MANY if stage.distracting else DISTRACTORS)
    text = instruction("Put the ", dragged.picture("dragged_obj_1"), " into the ", base.picture("base_obj"), ".")
    goal = stage.goal(laid(dragged, place, base), [dragged], clear(others, [place]))
    return Draft(stage.scene(), goal, (text,), roles=(("manipulated", dragged.name), ("receiving", base.name)), least=1)


def distractors(stage: VimaSceneBuilder, base: VimaActor, dragged: VimaActor, count: int) -> list[VimaActor]:
    """Other things on the table, any that could be asked for as well; no two things look alike."""
    pools, taken = stage.pools, [(base.thing, base.texture), (dragged.thing, dragged.texture)]
    pairs = [(thing, texture) for thing in (*pools.dragged, *pools.bases) for texture in stage.wardrobe(thing)]
    found = []
    for thing, texture in stage.stream.sample([pair for pair in pairs if pair not in taken], count):
        other = stage.actor(thing, texture)
        stage.put(other, fixed=thing in pools.bases)
        if thing not in pools.bases:
            found.append(other)
    return found


def asymmetric(split: str) -> tuple[VimaThing, ...]:
    """Shapes whose every turn can be seen."""
    return NOVEL_ASYMMETRIC if split == "L3" else SEEN_ASYMMETRIC


@vima.task(splits=SPLITS)
def rotate(draw: Draw) -> Draft:
    """T3: turn an object by an angle.

    Asked: "Rotate the {dragged_obj} N degrees.", clockwise seen from above. Randomised: object, texture, place, angle (30° steps; 20° when
    extreme), one distractor of another texture (eight when distracting). Succeeds when it is turned to within 15° and lies within 10 cm
    of where it was.
    """
    stage = VimaSceneBuilder(draw)
    shapes, textures = asymmetric(draw.split), stage.textures
    dragged = stage.actor(stage.stream.choice(shapes), stage.stream.choice(textures))
    at = stage.put(dragged)
    place = (at.position[0], at.position[1])
    stage.keep_free(place)
    others = [t for t in textures if t != dragged.texture]
    around = [
        stage.actor(stage.stream.choice(shapes), stage.stream.choice(others))
        for _ in range(MANY_TURN_DISTRACTORS if stage.distracting else TURN_DISTRACTORS)
    ]
    for other in around:
        stage.put(other)
    degrees = stage.stream.choice(FINE_ANGLES if stage.extreme else ANGLES)
    goal = Laid(dragged.name, place, yaw=round(at.yaw - math.radians(degrees), DECIMALS), symmetry=max(1, dragged.thing.symmetry))
    text = instruction("Rotate the ", dragged.picture("dragged_obj"), f" {degrees} degrees.")
    return Draft(
        stage.scene(), stage.goal(goal, [dragged], clear(around, [place])), (text,), roles=(("manipulated", dragged.name),), least=1
    )
