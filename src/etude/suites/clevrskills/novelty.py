"""New words for sizes and things: novel_adj, novel_noun, novel_adj_noun."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from etude.arithmetic import total
from etude.catalog.registry import shape
from etude.catalog.shape import Shape
from etude.catalog.suction import suction_spot
from etude.goals.leaves import OnTop
from etude.prompts.instruction import InstructionPart, ObjectPicture, instruction
from etude.suites.clevrskills.stage import BESIDE, REACH, A, ClevrActor, ClevrSceneBuilder, resized, steady
from etude.suites.clevrskills.suite import clevrskills
from etude.suites.clevrskills.things import Item, base_pool, randoms, textures, top_pool, tops
from etude.suites.suite import Draft, Draw

ADJECTIVES = ("daxer", "blicker", "modier", "kobar")
NOUNS = ("dax", "blicket", "wug", "zup")
FACTORS = (0.5, 0.75, 1.5)  # how much larger the one is than the other
EXAMPLES = (1, 3)
TOPS = (2, 3)
BASES = (2, 3)
HAND = 0.05  # m left free around everything, for the hand must come down beside things taller than the one it takes
HEAVIEST = 2.0  # kg
BALLS = ("apple", "softball", "tennis ball", "racquetball", "baseball")
LARGEST = 0.2  # m: what is enlarged beyond this cannot be carried past other things
LEAST_SEEN = 0.00115  # m² seen from 45° above: 20 pixels and some at the far end of the table


@dataclass(frozen=True)
class Pair:
    """The same thing in two sizes: ``meant`` is the one that the adjective fits. Either may be of the usual size, either the larger one."""

    meant: ClevrActor
    other: ClevrActor
    usual: Item

    def example(self, adjective: str) -> list[str | InstructionPart]:
        """ "X is kobar than Y"."""
        sizes = ("small", "large") if self.meant.radius < self.other.radius else ("large", "small")
        frame = max(self.meant.radius, self.other.radius)
        return [_sized(self.meant, sizes[0], frame), f" is {adjective} than ", _sized(self.other, sizes[1], frame)]

    def bare(self) -> ObjectPicture:
        """The thing in its usual size, without texture."""
        return _bare(replace(self.meant, item=self.usual))


def _sized(actor: ClevrActor, size: str, frame: float) -> ObjectPicture:
    """A picture at a scale of its own (metres), so that two can be compared, and words that tell the size, for text alone."""
    return replace(actor.picture(), words=f"the {size} {actor.words}", frame=frame)


def _bare(actor: ClevrActor) -> ObjectPicture:
    """A picture without texture, to follow an article and a made-up word; at a scale of its own, which tells nothing of sizes."""
    return replace(actor.picture(textured=False), words=actor.item.words, frame=actor.radius)


def _portable(item: Item) -> bool:
    """Can the hand hold it in this size, and the camera see it?"""
    model = shape(item.shape, item.size)
    held = suction_spot(model) is not None and max(model.size) <= LARGEST and model.mass_properties[0] <= HEAVIEST
    return held and _seen(model) >= LEAST_SEEN


@functools.lru_cache(maxsize=512)
def _seen(model: Shape) -> float:
    """Its area as seen from 45° above, m²: half of that of all faces, foreshortened; what a thing hides of itself counts too."""
    a, b, c = (model.mesh.vertices[model.mesh.faces[:, k]] for k in range(3))
    (ux, uy, uz), (vx, vy, vz) = (b - a).T, (c - a).T
    along = uy * vz - uz * vy + ux * vy - uy * vx  # the normals, twice as long as their faces are large, along (1, 0, 1)
    doubled: float = total(np.abs(along).tolist())
    return math.sqrt(0.5) * doubled / 4


def _pairs(stage: ClevrSceneBuilder, factor: float, count: int) -> list[Pair]:
    """Things of different kinds, each in two sizes and two textures."""
    split = stage.draw.split
    fit = [item for item in steady(top_pool(split)) if _portable(item) and _portable(resized(item, factor))]
    worn = stage.stream.sample(textures(split, 1), 2)
    spare = [texture for texture in textures(split, 1) + textures(split, 2) if texture not in worn]
    worn = stage.stream.sample(spare, 2 * count - 2) + worn  # group 1 alone would not do for all examples
    made, usual = [], stage.stream.chance(0.5)  # whether the adjective means the thing of the usual size
    for k, item in enumerate(stage.stream.sample(fit, count)):
        (changed,) = stage.cast([resized(item, factor)], 1, worn=worn[2 * k : 2 * k + 1])
        (plain,) = stage.cast([item], 1, worn=worn[2 * k + 1 : 2 * k + 2])
        made.append(Pair(*((plain, changed) if usual else (changed, plain)), item))
    return made


def _examples(pairs: Sequence[Pair], adjective: str) -> list[str | InstructionPart]:
    said: list[str | InstructionPart] = []
    for k, pair in enumerate(pairs):
        said += [", " if k else "", *pair.example(adjective)]
    return said


def _compared(draw: Draw) -> tuple[ClevrSceneBuilder, list[Pair], ClevrActor]:
    """A table with a base and one pair; the other pairs are only spoken of."""
    stage = ClevrSceneBuilder(draw, *A)
    factor = stage.stream.choice(FACTORS)
    pairs = _pairs(stage, factor, 1 + stage.stream.integer(*EXAMPLES))
    taken = pairs[-1].usual.words
    (base,) = stage.cast([item for item in base_pool(draw.split) if item.words != taken], 1, 2)
    for actor in (base, *stage.roles.shuffled((pairs[-1].meant, pairs[-1].other))):  # what is placed first is nearer to the middle
        stage.put(actor, clearance=HAND, reach=REACH)
    return stage, pairs, base


@clevrskills.task(level="L1", horizon=300)
def novel_adj(draw: Draw) -> Draft:
    """Place the one of two equal objects that a made-up adjective means.

    Asked: "X is kobar than Y, … . Put the kobar A on B". Randomised: the adjective and the change of size it stands for (0.5 to 1.5, or
    the reverse), one to three example pairs, which are shown in the prompt only; the object, which is there in both sizes; the base;
    textures and places. Succeeds when the A that is meant rests on B, let go and at rest.
    """
    stage, pairs, base = _compared(draw)
    adjective = stage.stream.choice(ADJECTIVES)
    target = pairs[-1].meant
    said = _examples(pairs[:-1], adjective)
    prompt = instruction(*said, f". Put the {adjective} ", pairs[-1].bare(), " on ", base.picture())
    return Draft(stage.scene(), OnTop(target.name, base.name), (prompt,), roles=(("manipulated", target.name), ("receiving", base.name)))


@clevrskills.task(level="L1", horizon=300)
def novel_noun(draw: Draw) -> Draft:
    """Place one object on another, both known by made-up nouns.

    Asked: "A is dax and B is wug. Put dax on wug", with untextured pictures of A and B. Randomised: the nouns, two or three objects and
    two or three bases, all of different shapes, textures and places. Succeeds when A rests on B, let go and at rest.
    """
    stage = ClevrSceneBuilder(draw, *A)
    things = _different(stage, steady(tops(draw.split) + randoms(draw.split)), stage.stream.integer(*TOPS), 1)
    bases = _different(stage, base_pool(draw.split), stage.stream.integer(*BASES), 2)
    for actor in (*bases, *things):
        stage.put(actor, reach=REACH, clearance=BESIDE)
    thing, base = stage.parts(things)[0], stage.parts(bases)[0]
    first, second = stage.stream.sample(NOUNS, 2)
    prompt = instruction(
        thing.picture(textured=False), f" is {first} and ", base.picture(textured=False), f" is {second}. Put {first} on {second}"
    )  # fmt: skip
    roles = (("manipulated", thing.name), ("receiving", base.name))
    return Draft(stage.scene(), OnTop(thing.name, base.name), (prompt,), roles=roles)


def _different(stage: ClevrSceneBuilder, pool: Sequence[Item], count: int, group: int) -> list[ClevrActor]:
    """Actors of which no two share their shape: a picture without texture could not tell them apart."""
    chosen: list[ClevrActor] = []
    for _ in range(count):
        taken = {_look(actor.item) for actor in stage.actors}
        chosen += stage.cast([item for item in pool if _look(item) not in taken], 1, group)
    return chosen


def _look(item: Item) -> str:
    """What a picture without texture shows: balls differ in size alone, and that by little."""
    return "ball" if item.words in BALLS else item.words


@clevrskills.task(level="L1", horizon=300)
def novel_adj_noun(draw: Draw) -> Draft:
    """Place the one of two equal objects that a made-up adjective and noun mean.

    Asked: "This is a dax A. This is a wug B. X is kobar than Y, … . Put the kobar dax on wug". Randomised and judged as novel_adj, with
    made-up nouns for the object and the base.
    """
    stage, pairs, base = _compared(draw)
    adjective = stage.stream.choice(ADJECTIVES)
    first, second = stage.stream.sample(NOUNS, 2)
    target = pairs[-1].meant
    prompt = instruction(
        f"This is a {first} ", pairs[-1].bare(), f". This is a {second} ", _bare(base), ". ",
        *_examples(pairs[:-1], adjective), f". Put the {adjective} {first} on {second}",
    )  # fmt: skip
    return Draft(stage.scene(), OnTop(target.name, base.name), (prompt,), roles=(("manipulated", target.name), ("receiving", base.name)))
