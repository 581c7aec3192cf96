"""Visual reasoning: same_texture and same_shape."""

from __future__ import annotations

from collections.abc import Sequence

from etude.goals.goal import All, Once
from etude.prompts.instruction import instruction
from etude.suites.suite import Draft, Draw
from etude.suites.vima.stage import VimaActor, VimaSceneBuilder, clear, laid
from etude.suites.vima.suite import SPLITS, vima
from etude.suites.vima.things import BLOCK, BOWL, NOVEL, SHORTER_BLOCK, VimaThing

MATCHING = 2
PROFILES = ("square", "circle")
DISTRACTORS, MANY = 1, 5
NEAR, NEAR_BOWL = 0.125, 0.0875  # m: what counts as in the base
APART = 0.02  # m beyond that, for everything that does not lie there from the start


@vima.task(splits=("L4",))
def same_texture(draw: Draw) -> Draft:
    """T14: gather what looks like the base.

    Asked: "Put all objects with the same texture as {base_obj} into it." Randomised: base, texture, two objects of that texture, one
    distractor of another (five when distracting; when extreme, the base has the shape of a dragged object), all places. Succeeds when
    both objects have been within 12.5 cm of the base (8.75 cm of a bowl), and no distractor is.
    """
    stage = VimaSceneBuilder(draw)
    shapes = draggable(stage)
    base = stage.actor(stage.stream.choice(shapes if stage.extreme else stage.pools.bases), stage.stream.choice(stage.pools.base_textures))
    textures = [t for t in stage.pools.base_textures if t != base.texture]
    same = [stage.actor(thing, base.texture) for thing in stage.stream.sample(shapes, MATCHING)]
    others = [stage.actor(stage.stream.choice(shapes), stage.stream.choice(textures)) for _ in range(MANY)]
    return gathered(stage, base, same, others, "texture")


@vima.task(splits=SPLITS)
def same_shape(draw: Draw) -> Draft:
    """T15: gather what has the outline of the base.

    Asked: "Put all objects with the same profile as {base_obj} into it." Randomised: the profile (square or circle), a base and two objects
    of it, one distractor of the other one (when distracting, four more of any other), textures and places. When extreme, the base has the
    shape of a dragged object; one that is neither square nor circle has the profile of its own shape only. Succeeds when both objects have
    been within 12.5 cm of the base (8.75 cm of a bowl), and no distractor is.
    """
    stage = VimaSceneBuilder(draw)
    shapes = draggable(stage)
    wanted = stage.stream.choice(PROFILES)
    bases = shapes if stage.extreme else [t for t in stage.pools.bases if t.profile == wanted]
    base = stage.actor(stage.stream.choice(bases), stage.stream.choice(stage.pools.base_textures))
    alike = [t for t in shapes if same_profile(t, base.thing)]
    unlike = [t for t in shapes if not same_profile(t, base.thing)]
    textures = stage.stream.sample(stage.pools.dragged_textures, MATCHING + MANY)
    same = [stage.actor(stage.stream.choice(alike), texture) for texture in textures[:MATCHING]]
    rivals = [t for t in unlike if bool(t.profile) == bool(base.thing.profile)]  # what another base would ask for
    things = [stage.stream.choice(rivals), *(stage.stream.choice(unlike) for _ in range(MANY - 1))]
    others = [stage.actor(thing, texture) for thing, texture in zip(things, textures[MATCHING:], strict=True)]
    return gathered(stage, base, same, others, "profile")


def draggable(stage: VimaSceneBuilder) -> tuple[VimaThing, ...]:
    """What may lie about: blocks are the shorter ones here, and those are there at every level."""
    shapes = tuple(SHORTER_BLOCK if t == BLOCK else t for t in stage.pools.dragged)
    return (*shapes, SHORTER_BLOCK) if stage.pools.dragged == NOVEL else shapes


def same_profile(one: VimaThing, other: VimaThing) -> bool:
    """Do they look alike from above, as far as the task goes: both square, both round, or of the very same shape?"""
    return one.profile == other.profile if one.profile or other.profile else one == other


def gathered(stage: VimaSceneBuilder, base: VimaActor, same: Sequence[VimaActor], others: Sequence[VimaActor], what: str) -> Draft:
    """Set the table with base, matching objects and distractors; put the matching ones into the base."""
    others = others[: MANY if stage.distracting else DISTRACTORS]
    place = stage.middle(base, stage.put(base, fixed=True))
    eps = NEAR_BOWL if base.thing == BOWL else NEAR
    stage.keep_free(place, eps + APART)
    for actor in (*same, *others):
        stage.put(actor)
    text = instruction(f"Put all objects with the same {what} as ", base.picture("base_obj"), " into it.")
    goal = stage.goal(All(tuple(Once(laid(a, place, base, eps)) for a in same)), same, clear(others, [place], eps))
    roles = (("manipulated", same[0].name), ("receiving", base.name))
    return Draft(stage.scene(), goal, (text,), roles=roles, least=MATCHING)
