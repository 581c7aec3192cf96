"""Picking things up and putting them on others: pick, place, simple_manipulation."""

from __future__ import annotations

from dataclasses import replace

from etude.goals.leaves import OnTop, Picked
from etude.prompts.instruction import Instruction, instruction
from etude.suites.clevrskills.stage import BESIDE, A, B, ClevrActor, ClevrSceneBuilder
from etude.suites.clevrskills.suite import clevrskills
from etude.suites.clevrskills.things import base_pool, top_pool
from etude.suites.suite import Draft, Draw

DISTRACTORS = (1, 3)  # besides the one to pick; the paper has none at times, and so nothing to choose
TOPS = (2, 3)
BASES = (2, 3)
ASIDE = 0.02  # m beyond the reach of what is held, turned in any way: dropped at once, it lands on nothing


@clevrskills.task(level="L0", horizon=200)
def pick(draw: Draw) -> Draft:
    """Pick up one object.

    Asked: "Pick up the NAME", with a picture, its name or its texture. Randomised: two to four objects, their textures and places.
    Succeeds when the object is in the hand and at least 2 cm clear of everything else.
    """
    stage = ClevrSceneBuilder(draw, *B)
    actors = stage.cast(top_pool(draw.split), 1 + stage.stream.integer(*DISTRACTORS))
    for actor in actors:
        stage.put(actor, clearance=BESIDE)
    target = stage.parts(actors)[0]
    verbs = ("Pick up", "Grab", "Lift")
    prompts = (
        *(instruction(f"{verb} the ", replace(target.picture(), words=target.words)) for verb in verbs),
        *(instruction(f"{verb} the {target.words}") for verb in verbs),
        *(instruction(f"{verb} the object with ", target.swatch(), " texture") for verb in verbs),
    )
    return Draft(stage.scene(), Picked(target.name), prompts, roles=(("manipulated", target.name),))


def _prompts(top: ClevrActor, base: ClevrActor, *verbs: str) -> tuple[Instruction, ...]:
    """By pictures, names and textures, with each of the verbs."""
    return tuple(
        told
        for verb in verbs
        for told in (
            instruction(f"{verb} ", top.picture(), " on ", base.picture()),
            instruction(f"{verb} the {top.words} on the {base.words}"),
            instruction(f"{verb} object with ", top.swatch(), " texture on object with ", base.swatch(), " texture"),
        )
    )


def _cast(stage: ClevrSceneBuilder) -> tuple[list[ClevrActor], list[ClevrActor]]:
    tops = stage.cast(top_pool(stage.draw.split), stage.stream.integer(*TOPS), 1)
    bases = stage.cast(base_pool(stage.draw.split), stage.stream.integer(*BASES), 2)
    return tops, bases


@clevrskills.task(level="L1", horizon=300)
def simple_manipulation(draw: Draw) -> Draft:
    """Pick one object up and place it on another.

    Asked: "Put A on B", or "Pick and place A on B". Randomised: two or three objects and two or three bases, textures and places. Succeeds
    when A rests on B, both at rest and let go.
    """
    stage = ClevrSceneBuilder(draw, *A)
    tops, bases = _cast(stage)
    for actor in (*bases, *tops):
        stage.put(actor, clearance=BESIDE)
    top, base = stage.parts(tops)[0], stage.parts(bases)[0]
    roles = (("manipulated", top.name), ("receiving", base.name))
    return Draft(stage.scene(), OnTop(top.name, base.name), _prompts(top, base, "Put", "Pick and place"), roles=roles)


@clevrskills.task(level="L0", horizon=200)
def place(draw: Draw) -> Draft:
    """Place what is already in the hand on another object.

    Asked: "Put A on B", or "Place A on B". Randomised as in simple_manipulation; A starts in the hand, with nothing below. Succeeds when A
    rests on B, both at rest and let go.
    """
    stage = ClevrSceneBuilder(draw, *A)
    tops, bases = _cast(stage)
    held, base = tops[0], stage.parts(bases)[0]
    stage.layout.block_disc("below the hand", stage.tip.position[:2], held.radius + ASIDE)
    for actor in (*bases, *tops[1:]):
        stage.put(actor)
    stage.hand_over(held)
    roles = (("manipulated", held.name), ("receiving", base.name))
    return Draft(stage.scene(), OnTop(held.name, base.name), _prompts(held, base, "Put", "Place"), held.name, roles)
