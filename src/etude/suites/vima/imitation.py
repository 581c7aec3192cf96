"""One-shot imitation: follow_motion and follow_order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from etude.catalog.registry import shape
from etude.goals.goal import Goal, Order
from etude.goals.imitating import Anew, Followed
from etude.goals.laying import Laid
from etude.pose import Vec2
from etude.prompts.instruction import InstructionPart, instruction
from etude.scene.scene import Entity
from etude.suites.suite import Draft, Draw
from etude.suites.vima.stage import EPS, VimaActor, VimaSceneBuilder, laid, scene_picture
from etude.suites.vima.suite import SPLITS, vima
from etude.suites.vima.things import EVERY

MOVES = 2  # one fewer than frames
DISTRACTORS, MANY = 1, 3
CENTRE, RADIUS = (0.5, 0.0), 0.19  # m: the circle that motions follow
POINTS, MORE_POINTS = 5, 10
ROW = 0.5  # m: x of the stacks
PLACES, MORE_PLACES = (-0.25, 0.0, 0.25), (-0.4, -0.2, 0.0, 0.2, 0.4)  # m: y of the stacks
ORDINALS = ("first", "second", "third")


@vima.task(splits=("L4",), described=False)
def follow_motion(draw: Draw) -> Draft:
    """T10: move an object as the frames show.

    Asked: "Follow this motion for {dragged_obj}: {frame_0} {frame_1} {frame_2}." Randomised: object, texture, the two moves, each to a
    neighbouring one of five points on a circle (ten when extreme), and what else is there: one distractor on a point of the circle that the
    motion does not come near, another one in the middle of the frames (when distracting, two more of each, beside them). Succeeds when the
    object was put within 10 cm of the second and the third frame's point, one after the other; every other move is a mistake.
    """
    stage = VimaSceneBuilder(draw)
    pairs = [(thing, texture) for thing in EVERY for texture in stage.textures]
    dragged, *others = [stage.actor(*pair) for pair in stage.stream.sample(pairs, 1 + 2 * MANY)]
    count = MORE_POINTS if stage.extreme else POINTS
    points = [_on_circle(k, count) for k in range(count)]
    at = stage.stream.integer(0, count - 1)
    way = [points[at]]
    for _ in range(MOVES):
        at = (at + stage.stream.choice((-1, 1))) % count
        way.append(points[at])
    stage.set_at(dragged, dragged.standing(*way[0]))
    for point in points:
        stage.layout.block_disc("a point of the motion", point, _radius(dragged))
    shown = MANY if stage.distracting else DISTRACTORS
    here, there = others[:shown], others[MANY : MANY + shown]
    aside = [point for point in points if all(math.dist(point, other) > 2 * EPS for other in way)]
    stage.set_at(here[0], here[0].standing(*stage.stream.choice(aside)))
    stage.layout.block_disc("the middle", CENTRE, _radius(there[0]))
    for other in here[1:]:
        stage.put(other)
    elsewhere = [there[0].body(there[0].standing(*CENTRE)), *(other.body(stage.find(other)) for other in there[1:])]
    pictures = [[dragged.body(dragged.standing(*point)), *elsewhere] for point in way]
    text = instruction("Follow this motion for ", dragged.picture("dragged_obj"), ": ", *_frames(pictures), ".")
    moves = tuple(laid(dragged, point) for point in way[1:])
    return Draft(stage.scene(), _imitated(stage, moves, [dragged, *here]), (text,), roles=(("manipulated", dragged.name),), least=MOVES)


def _on_circle(k: int, count: int) -> Vec2:
    angle = 2 * math.pi * k / count
    return (round(CENTRE[0] + RADIUS * math.cos(angle), 9), round(CENTRE[1] + RADIUS * math.sin(angle), 9))


def _radius(actor: VimaActor) -> float:
    return max(math.hypot(x, y) for x, y in shape(actor.thing.shape, actor.size).footprint.tolist())


def _frames(pictures: Sequence[Sequence[Entity]]) -> list[str | InstructionPart]:
    """The frames of a demonstration, with blanks between them."""
    found: list[str | InstructionPart] = []
    for k, things in enumerate(pictures):
        found += [" "] * (k > 0)
        found.append(scene_picture(f"frame_{k}", things, f"the {ORDINALS[k]} frame"))
    return found


def _imitated(stage: VimaSceneBuilder, moves: tuple[Laid, ...], loose: Sequence[VimaActor]) -> Goal:
    """The moves one after the other, each by itself; whatever else is moved is a mistake."""
    meant = [a for a in loose if a.name in {m.thing for m in moves}]
    return stage.goal(Order(tuple(Anew(m) for m in moves)), meant, Followed(moves, tuple(a.name for a in loose)))


@vima.task(splits=SPLITS, described=False)
def follow_order(draw: Draw) -> Draft:
    """T11: stack objects as the frames show.

    Asked: "Stack objects in this order {frame_0} {frame_1} {frame_2}." Randomised: the shape of the three objects in a row (five when
    extreme), their textures, and two moves, each of which takes the top of one stack to another place of the row; one distractor of
    another shape (three when distracting). Succeeds when both moves were made in their order, each to within 10 cm; every other move is
    a mistake.
    """
    stage = VimaSceneBuilder(draw)
    textures = stage.textures
    thing = stage.stream.choice(stage.pools.dragged)
    ys = MORE_PLACES if stage.extreme else PLACES
    actors = [stage.actor(thing, texture) for texture in stage.stream.sample(textures, len(MORE_PLACES))[: len(ys)]]
    height = shape(thing.shape, thing.size).size[2]
    stacks, moves, pictures = [[a] for a in actors], [], [_stacked([[a] for a in actors], ys, height)]
    for _ in range(MOVES):
        start = stage.stream.choice([k for k, stack in enumerate(stacks) if stack])
        end = stage.stream.choice([k for k in range(len(ys)) if k != start])
        top = stacks[start].pop()
        stacks[end].append(top)
        moves.append(laid(top, (ROW, ys[end])))
        pictures.append(_stacked(stacks, ys, height))
    for actor, y in zip(actors, ys, strict=True):
        stage.set_at(actor, actor.standing(ROW, y))
    shapes = [t for t in stage.pools.dragged if t != thing]
    others = [stage.actor(stage.stream.choice(shapes), stage.stream.choice(textures)) for _ in range(MANY)]
    others = others[: MANY if stage.distracting else DISTRACTORS]
    for other in others:
        stage.put(other)
    text = instruction("Stack objects in this order ", *_frames(pictures), ".")
    goal = _imitated(stage, tuple(moves), [*actors, *others])
    return Draft(stage.scene(), goal, (text,), roles=(("manipulated", moves[0].thing),), least=MOVES)


def _stacked(stacks: Sequence[Sequence[VimaActor]], ys: Sequence[float], height: float) -> list[Entity]:
    """The row of stacks as a picture shows it."""
    return [a.body(a.standing(ROW, y).moved(z=k * height)) for stack, y in zip(stacks, ys, strict=True) for k, a in enumerate(stack)]
