"""Words nobody has heard before, defined in the prompt: novel_adj, novel_noun and novel_adj_and_noun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from etude.pose import Vec2, Vec3
from etude.prompts.instruction import InstructionPart, ObjectPicture, instruction
from etude.suites.suite import Draft, Draw
from etude.suites.vima.stage import VimaActor, VimaSceneBuilder, clear, laid
from etude.suites.vima.suite import SPLITS, vima
from etude.suites.vima.things import BLOCK, VimaThing, dark, with_dark

ADJECTIVES, ODD_ADJECTIVES = ("daxer", "blicker", "modier", "kobar"), ("xachupiar", "feplicatarie", "gazipierdo", "duchatler")
NOUNS, ODD_NOUNS = ("dax", "blicket", "wug", "zup"), ("xachup", "feplicat", "gazip", "duchat")  # odd: when extreme
OPPOSITE = {"shorter": "taller", "taller": "shorter", "lighter": "darker", "darker": "lighter"}
EXAMPLES = 3
SHORT, TALLER = (0.3, 0.4), 2.0  # of the usual height, and how much more of it the tall ones have
# Distractors besides the object's opposite, default and distracting (CoGeLoT E.1): pairs like the object and its opposite, and single ones.
ADJ_OTHERS, ADJ_OTHERS_MANY = (0, 0), (1, 0)
NOUN_OTHERS, NOUN_OTHERS_MANY = 1, 3
BOTH_OTHERS, BOTH_OTHERS_MANY = (1, 0), (2, 1)


@dataclass(frozen=True)
class Adjective:
    """A word for a look: ``meaning`` is a key of OPPOSITE, ``short`` the height of short things as a share of the usual one."""

    word: str
    meaning: str
    short: float

    def opposite(self) -> Adjective:
        """What is less so."""
        return replace(self, meaning=OPPOSITE[self.meaning])

    def look(self, texture: str) -> tuple[str, Vec3]:
        """Texture and scale of something that is so."""
        plain, height = texture.removeprefix("dark "), {"shorter": self.short, "taller": self.short + TALLER}.get(self.meaning, 1.0)
        return {"lighter": plain, "darker": dark(plain)}.get(self.meaning, texture), (1.0, 1.0, height)


@dataclass(frozen=True)
class ComparedPair:
    """A table with an object and its opposite on it; ``asked`` is how the object is called, ``examples`` what the prompt shows first."""

    base: VimaActor
    place: Vec2
    target: VimaActor
    others: list[VimaActor]
    asked: str
    examples: list[str | InstructionPart]

    def draft(self, stage: VimaSceneBuilder, *text: str | InstructionPart) -> Draft:
        """The episode with this prompt."""
        goal = stage.goal(laid(self.target, self.place, self.base), [self.target], clear(self.others, [self.place]))
        roles = (("manipulated", self.target.name), ("receiving", self.base.name))
        return Draft(stage.scene(), goal, (instruction(*text),), roles=roles, least=1)

    @property
    def pictures(self) -> tuple[ObjectPicture, ObjectPicture]:
        """Object and base in grey, the object at its usual height: neither look nor height gives it away."""
        usual = replace(self.target, scale=(1.0, 1.0, 1.0))
        return usual.picture("dragged_obj", grey=True), self.base.picture("base_obj", grey=True)


@vima.task(splits=SPLITS, described=False)
def novel_adj(draw: Draw) -> Draft:
    """T6: put the object that a new adjective fits into a base.

    Asked: three times "{demo_blicker_obj_i} is ADJ than {demo_less_blicker_obj_i}.", then "Put the [less ]ADJ {dragged_obj} into the
    {base_obj}.", both in grey. Randomised: the word and whether it means shorter, taller, lighter or darker; "less" in half of the
    episodes; objects, textures, places. Beside the object lies its opposite; when distracting, also such a pair of another shape. When
    extreme the words are odder and the base has the shape of another dragged object. Succeeds when the right object
    lies within 10 cm of the base and no other does.
    """
    stage = VimaSceneBuilder(draw)
    found = compared(stage, *(ADJ_OTHERS_MANY if stage.distracting else ADJ_OTHERS))
    dragged, base = found.pictures
    return found.draft(stage, *found.examples, f"Put the {found.asked} ", dragged, " into the ", base, ".")


@vima.task(splits=("L4",), described=False)
def novel_adj_and_noun(draw: Draw) -> Draft:
    """T8: put the object that a new adjective and a new noun fit into what another new noun names.

    Asked: "This is a NOUN {dragged_obj}. This is a NOUN {base_obj}." in either order, the examples of novel_adj, and "Put the [less ]ADJ
    NOUN into the NOUN." Randomised: as in novel_adj, with a second pair, of another shape (when distracting, a third one and anything
    else): neither word alone tells which object is meant. Succeeds when the right object lies within 10 cm of the base and no other does.
    """
    stage = VimaSceneBuilder(draw)
    nouns, order = stage.stream.sample(ODD_NOUNS if stage.extreme else NOUNS, 2), stage.stream.shuffled((0, 1))
    found = compared(stage, *(BOTH_OTHERS_MANY if stage.distracting else BOTH_OTHERS))
    return found.draft(
        stage, *definitions(nouns, found.pictures, order), *found.examples, f"Put the {found.asked} {nouns[0]} into the {nouns[1]}."
    )


@vima.task(splits=SPLITS)
def novel_noun(draw: Draw) -> Draft:
    """T7: put what a new noun names into what another one names.

    Asked: "This is a NOUN {dragged_obj_1}. This is a NOUN {base_obj}." in either order and in grey, then "Put a NOUN into a NOUN."
    Randomised: the nouns, both objects, their textures and places, and one distractor of another shape (three when distracting). When
    extreme the nouns are odder and the base has the shape of another dragged object. Succeeds when the object lies within 10 cm of the base
    and no distractor does.
    """
    stage = VimaSceneBuilder(draw)
    stream, pools = stage.stream, stage.pools
    dragged = stage.actor(stream.choice(pools.dragged), stream.choice(pools.dragged_textures))
    base = stage.actor(stream.choice(bases(stage, pools.dragged, dragged.thing)), stream.choice(pools.base_textures))
    nouns, order = stream.sample(ODD_NOUNS if stage.extreme else NOUNS, 2), stream.shuffled((0, 1))
    pictures = dragged.picture("dragged_obj_1", grey=True), base.picture("base_obj", grey=True)
    text = instruction(*definitions(nouns, pictures, order), f"Put a {nouns[0]} into a {nouns[1]}.")
    place = stage.middle(base, stage.put(base, fixed=True))
    stage.keep_free(place)
    stage.put(dragged)
    count = NOUN_OTHERS_MANY if stage.distracting else NOUN_OTHERS
    others = anything(stage, count, pools.dragged, pools.dragged_textures, (dragged, base))
    goal = stage.goal(laid(dragged, place, base), [dragged], clear(others, [place]))
    return Draft(stage.scene(), goal, (text,), roles=(("manipulated", dragged.name), ("receiving", base.name)), least=1)


def compared(stage: VimaSceneBuilder, pairs: int, others: int) -> ComparedPair:
    """Draw an adjective and what it is about, and set the table: beside the object and its opposite, such ``pairs``, and ``others``."""
    stream, pools = stage.stream, stage.pools
    lights = with_dark(stage.textures)
    textures = (*lights, *(dark(t) for t in lights))
    shapes = [t for t in pools.dragged if t != BLOCK]  # a flat block is no block
    more = Adjective(stream.choice(ODD_ADJECTIVES if stage.extreme else ADJECTIVES), stream.choice(list(OPPOSITE)), stream.uniform(*SHORT))
    less = stream.chance(0.5)
    wanted = more.opposite() if less else more
    thing, texture = stream.choice(shapes), stream.choice(textures)
    target = stage.actor(thing, *wanted.look(texture))
    opposite = stage.actor(thing, *wanted.opposite().look(texture))
    base = stage.actor(stream.choice(bases(stage, shapes, thing)), stream.choice(pools.base_textures))
    examples = [piece for k in range(1, EXAMPLES + 1) for piece in example(more, stream.choice(shapes), stream.choice(textures), k)]
    place = stage.middle(base, stage.put(base, fixed=True))
    stage.keep_free(place)
    stage.put(target)
    stage.put(opposite)
    rivals = []
    for other in stream.sample([t for t in shapes if t not in (thing, base.thing)], pairs):
        texture = stream.choice(textures)
        rivals += [stage.actor(other, *one.look(texture)) for one in (wanted, wanted.opposite())]
    for actor in rivals:
        stage.put(actor)
    rest = anything(stage, others, shapes, textures, (target, base, *rivals))
    return ComparedPair(base, place, target, [opposite, *rivals, *rest], f"less {more.word}" if less else more.word, examples)


def example(adjective: Adjective, thing: VimaThing, texture: str, number: int) -> list[str | InstructionPart]:
    """A sentence with two pictures: the same shape, once more and once less so."""
    pictures: list[ObjectPicture] = []
    for one, slot in ((adjective, f"demo_blicker_obj_{number}"), (adjective.opposite(), f"demo_less_blicker_obj_{number}")):
        picture = VimaActor(slot, thing, *one.look(texture)).picture(slot)
        height = {"shorter": "short ", "taller": "tall "}.get(one.meaning, "")
        words = height + picture.words
        pictures.append(replace(picture, words=words if pictures else words[0].upper() + words[1:]))
    return [pictures[0], f" is {adjective.word} than ", pictures[1], ". "]


def definitions(nouns: Sequence[str], pictures: Sequence[ObjectPicture], order: Sequence[int]) -> list[str | InstructionPart]:
    """A sentence for each noun, in this order."""
    return [piece for k in order for piece in (f"This is a {nouns[k]} ", pictures[k], ". ")]


def bases(stage: VimaSceneBuilder, shapes: Sequence[VimaThing], dragged: VimaThing) -> Sequence[VimaThing]:
    """What may receive: when extreme, the shapes of other dragged objects. In grey, equal shapes could not be told apart."""
    return [t for t in shapes if t != dragged] if stage.extreme else stage.pools.bases


def anything(
    stage: VimaSceneBuilder, count: int, shapes: Sequence[VimaThing], textures: Sequence[str], unlike: Sequence[VimaActor]
) -> list[VimaActor]:
    """Put distractors on the table that differ in shape from some actors and from each other; the answer is those that can be moved.

    ``textures`` are those of what can be moved.
    """
    bases = stage.pools.bases
    things = stage.stream.sample([t for t in (*shapes, *bases) if t not in [a.thing for a in unlike]], count)
    found = [stage.actor(t, stage.stream.choice(stage.pools.base_textures if t in bases else textures)) for t in things]
    for actor in found:
        stage.put(actor, fixed=actor.thing in bases)
    return [actor for actor in found if actor.thing not in bases]
