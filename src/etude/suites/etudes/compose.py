"""Études at the table: compose."""

from __future__ import annotations

from etude.arithmetic import total
from etude.decisions.graph import walk
from etude.decisions.logic import Switch
from etude.decisions.operator import Operator
from etude.names import EtudeError, pick, rng, whole_number
from etude.pose import Vec2, Vec3
from etude.prompts.instruction import instruction
from etude.scene.placement import NoRoom
from etude.scene.scene import Scene
from etude.suites.clevrskills.stage import REACH, A, ClevrActor, ClevrSceneBuilder
from etude.suites.clevrskills.touching import past, pushable
from etude.suites.etudes.acts import Deed, ForEach
from etude.suites.etudes.composing import DEEDS, composed
from etude.suites.etudes.deeds import PushTowards
from etude.suites.etudes.meaning import SetTable, goal_of
from etude.suites.etudes.solving import MOST_EACH, Solved, conditions, solved
from etude.suites.etudes.suite import etudes
from etude.suites.etudes.telling import GRAMMARS, told
from etude.suites.etudes.things import AREA, item
from etude.suites.suite import Draft, Draw

CLEARANCE = 0.05  # m between things: room for the hand to get behind one
DEPTH, NODES = 3, 5  # unless the options say otherwise
DEEPEST, MOST_NODES = 6, 9
SPARE = 100  # control steps
LAYOUTS = 40
PASSING = 0.13  # m from the way of a thing that is pushed to the middle of another: two half diagonals, and 2 cm
PUSHED_SHARE = 0.45  # of the way to its aim, that a thing is pushed at most: 30 % are asked for


def _whole(draw: Draw, key: str, default: int, most: int) -> int:
    given = draw.option(key, str(default))
    found = whole_number(given)
    if found is None or not 1 <= found <= most:
        raise EtudeError(f"{key}={given} is not possible; it is a number from 1 to {most}")
    return found


def _skills(draw: Draw) -> tuple[str, ...]:
    names = draw.option("skills", "")
    chosen = names.split(",") if names else DEEDS
    for name in chosen:
        pick("skill of an étude", name, dict.fromkeys(DEEDS))
    return tuple(name for name in DEEDS if name in chosen)


@etudes.task(horizon=1000, options=("depth", "nodes", "skills"))
def compose(draw: Draw) -> Draft:
    """Do what an étude asks for: deeds in order, in any order, or one or the other by what can be seen.

    Asked: a graph of deeds in words, at most ``?depth=`` deep, with at most ``?nodes=`` deeds, orders and branches, of the deeds in
    ``?skills=``. Randomised: the graph, how its conditions come out, the things and their places. Succeeds when all that is asked for by
    the branches that are to be taken has come about in its order and still holds, and no other branch has been carried out.
    """
    depth, nodes = _whole(draw, "depth", DEPTH, DEEPEST), _whole(draw, "nodes", NODES, MOST_NODES)
    most = (nodes - 1) // 2  # a join of two parts is a node more than they are
    found = _drawn(draw, _skills(draw), (min(1, most), most), depth)
    scene = _laid_out(draw, found)
    texts = tuple(instruction(told(found.etude, grammar)) for grammar in GRAMMARS)
    return Draft(scene, goal_of(found.etude, scene), texts, horizon=SPARE + _steps(found.etude.root))


def _drawn(draw: Draw, skills: tuple[str, ...], joins: tuple[int, int], depth: int) -> Solved:
    stream = draw.rng("étude")
    unsolved = composed(skills, joins, depth, stream, held_out=draw.split == "test")
    # Whatever graphs are drawn, and drawn again, the outcomes of their conditions stay as they are: so they are fair.
    outcomes = [rng(draw.name, f"outcome/{k}").chance(0.5) for k in range(len(conditions(unsolved.root)))]
    try:
        return solved(unsolved, outcomes, stream)
    except EtudeError as error:
        raise NoRoom(str(error)) from None


def _laid_out(draw: Draw, found: Solved) -> Scene:
    """The things at places where every push of the étude can be made."""
    stage = ClevrSceneBuilder(draw, *A)
    actors = [ClevrActor(f"{colour} {shape} {k}", item(shape), colour) for k, (colour, shape) in enumerate(found.looks)]
    free = len(stage.layout.taken)
    for _ in range(LAYOUTS):
        del stage.layout.taken[free:], stage.things[:]
        for actor in sorted(stage.roles.shuffled(actors), key=lambda actor: actor.item.words != AREA):
            stage.put(actor, fixed=actor.item.words == AREA, clearance=CLEARANCE, reach=REACH)
        scene = stage.scene()
        if _pushes_are_free(found.etude.root, SetTable.of(scene), stage.base):
            return scene
    raise NoRoom(f"no layout of {LAYOUTS} leaves room for all that is pushed")


def _pushes_are_free(root: Operator, table: SetTable, base: Vec2) -> bool:
    """Can the hand get behind everything that is pushed, and has that a free way, also when what else is pushed has gone its own?"""
    ways: dict[str, tuple[Vec3, Vec3]] = {}
    for node in walk(root):
        if isinstance(node, PushTowards):
            start, aim = table.place(node.thing), table.place(node.towards)
            x, y = (a + PUSHED_SHARE * (b - a) for a, b in zip(start[:2], aim[:2], strict=True))
            ways[table.name(node.thing)] = start, (x, y, start[2])
    return all(
        pushable(base, start, end, place) and past(place, start, end) >= PASSING
        for name, (start, end) in ways.items()
        for body in table.bodies
        for place in ways.get(body.name, (body.pose.position,))
        if body.name != name
    )


def _steps(node: Operator) -> int:
    """Control steps for the longest way through it."""
    if isinstance(node, Switch):
        return max(_steps(node.then), _steps(node.otherwise))
    if isinstance(node, Deed):
        return node.steps
    return (MOST_EACH if isinstance(node, ForEach) else 1) * total(map(_steps, node.inputs()))
