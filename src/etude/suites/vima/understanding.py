"""Instruction following with a picture of another table: scene_understanding."""

from __future__ import annotations

from etude.catalog.registry import shape
from etude.prompts.instruction import ScenePicture, instruction
from etude.scene.placement import Layout
from etude.scene.rooms import UR5_LOWER, UR5_UPPER
from etude.suites.suite import Draft, Draw
from etude.suites.vima.stage import BESIDE, VimaActor, VimaSceneBuilder, clear, laid, scene_picture
from etude.suites.vima.suite import SPLITS, vima

DISTRACTORS, MANY = 1, 3  # in the picture, and as many on the table: default and distracting


@vima.task(splits=SPLITS, described=False)
def scene_understanding(draw: Draw) -> Draft:
    """T2: put the object of a texture, as a picture shows it, into the base of a texture.

    Asked: "Put the TEXTURE object in {scene} into the TEXTURE object." Randomised: both objects, their textures and places; a picture of
    the object beside a distractor of another texture (three when distracting); on the table one distractor (three), either another shape
    with the object's texture, so that only the picture tells which is meant, or the base's shape with another texture. When extreme, bases
    have the shapes of dragged objects. Succeeds when the object lies within 10 cm of the base and no distractor does.
    """
    stage = VimaSceneBuilder(draw)
    pools, count = stage.pools, MANY if stage.distracting else DISTRACTORS
    dragged = stage.actor(stage.stream.choice(pools.dragged), stage.stream.choice(pools.dragged_textures))
    textures = [texture for texture in pools.base_textures if texture != dragged.texture]
    base = stage.actor(stage.stream.choice(pools.dragged if stage.extreme else pools.bases), stage.stream.choice(textures))
    place = stage.middle(base, stage.put(base, fixed=True))
    stage.keep_free(place)
    stage.put(dragged)
    around = [lookalike(stage, dragged, base) for _ in range(count)]
    for other in around:
        stage.put(other, fixed=other.thing in pools.bases)
    text = instruction(f"Put the {dragged.texture} object in ", shown(stage, dragged, count), f" into the {base.texture} object.")
    movable = [other for other in around if other.thing not in pools.bases]
    goal = stage.goal(laid(dragged, place, base), [dragged], clear(movable, [place]))
    return Draft(stage.scene(), goal, (text,), roles=(("manipulated", dragged.name), ("receiving", base.name)), least=1)


def lookalike(stage: VimaSceneBuilder, dragged: VimaActor, base: VimaActor) -> VimaActor:
    """A distractor: another shape with the texture of what is asked for, or the base's shape with another texture."""
    pools = stage.pools
    if stage.stream.chance(0.5):
        return stage.actor(stage.stream.choice([t for t in pools.dragged if t != dragged.thing]), dragged.texture)
    return stage.actor(base.thing, stage.stream.choice([texture for texture in pools.base_textures if texture != base.texture]))


def shown(stage: VimaSceneBuilder, dragged: VimaActor, count: int) -> ScenePicture:
    """The picture: the object and distractors that wear other textures, strewn over an empty table."""
    pools, layout = stage.pools, Layout(stage.draw.rng("picture"), UR5_LOWER, UR5_UPPER, clearance=BESIDE)
    things = [stage.stream.choice((*pools.dragged, *pools.bases)) for _ in range(count)]
    others = [stage.actor(thing, stage.stream.choice([t for t in stage.wardrobe(thing) if t != dragged.texture])) for thing in things]
    return scene_picture("scene", [a.body(layout.place(a.name, shape(a.thing.shape, a.size))) for a in (dragged, *others)])
