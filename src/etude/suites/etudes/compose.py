"""Études of all settings as tasks: low, medium, high and compose at the table, and three levels of every other setting."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import pairwise
from urllib.parse import unquote

from etude.arithmetic import total
from etude.decisions.graph import walk
from etude.decisions.logic import Switch
from etude.decisions.looks import Select
from etude.decisions.operator import Operator
from etude.goals.whereabouts import apart
from etude.names import EtudeError, Stream, pick, rng, whole_number
from etude.pose import Vec2, Vec3
from etude.prompts.instruction import instruction
from etude.scene.placement import NoRoom
from etude.scene.scene import Scene
from etude.suites.clevrskills.stage import REACH, A, ClevrActor, ClevrSceneBuilder
from etude.suites.clevrskills.touching import past, pushable
from etude.suites.etudes.acts import Act, Deed
from etude.suites.etudes.chest import furnished_for
from etude.suites.etudes.composing import LENGTHS, LEVELS, OPERATORS, WORDS, EtudeLevel, Unsolved, composed, drawn
from etude.suites.etudes.deeds import PushTowards
from etude.suites.etudes.facts import Lay, Lies
from etude.suites.etudes.groups import Until
from etude.suites.etudes.meaning import SetTable, goal_of
from etude.suites.etudes.own import read_etude, unsettled
from etude.suites.etudes.rehearsing import PUSHED_SHARE, Rehearsal, holding
from etude.suites.etudes.roads import refuse_dead_ends
from etude.suites.etudes.setting import AT_CHEST, AT_TABLE, IN_PLACES, SETTINGS, EtudeSetting
from etude.suites.etudes.solving import Solved, conditions, solved
from etude.suites.etudes.suite import etudes, task_name
from etude.suites.etudes.telling import GRAMMARS, told
from etude.suites.etudes.things import AREA, item
from etude.suites.suite import Draft, Draw

CLEARANCE = 0.05  # m between things: room for the hand to get behind one
DEPTH, NODES = 3, 5  # unless the options say otherwise
DEEPEST, MOST_NODES = 6, 9
BOUNDS = ("depth", "nodes", "skills")
BY_LOOKS = ("mo_color", "ro_color", "mo_texture", "ro_texture")  # what is told, asked and counted goes by looks
SPARE = 100  # control steps
HORIZON = 1000  # of tables: each étude has its own
NEARER = 0.03  # m between the distances of things that come in order from the nearest on
LAYOUTS = 40
GRAPHS = 400
FACTS = 0.75  # of the études about places have conditions on them
PASSING = 0.13  # m from the way of a thing that is pushed to the middle of another: two half diagonals, and 2 cm
ADDED = {"table": "", "places": " Also by where things are, and were.", "drawers": " At a chest of drawers, with household things."}
SUMMARIES = {
    "low": "Do one thing, or two that are joined or chosen between: études of one or two deeds.",
    "medium": "Do two or three things that are joined, or chosen between by a condition of up to two truths.",
    "high": "Do three or four things that are joined and chosen between within each other, by conditions of up to three truths.",
}


def _whole(draw: Draw, key: str, default: int, most: int) -> int:
    given = draw.option(key, str(default))
    found = whole_number(given)
    if found is None or not 1 <= found <= most:
        raise EtudeError(f"{key}={given} is not possible; it is a number from 1 to {most}")
    return found


def _skills(draw: Draw, setting: EtudeSetting) -> tuple[str, ...]:
    names = draw.option("skills", "")
    chosen = names.split(",") if names else setting.deeds
    for name in chosen:
        pick(f"skill of an étude {setting.words}", name, dict.fromkeys(setting.deeds))
    return tuple(name for name in setting.deeds if name in chosen)


def _level(setting: EtudeSetting, name: str, level: EtudeLevel) -> None:
    def sample(draw: Draw) -> Draft:
        return _drawn(draw, setting, level, setting.deeds)

    sample.__doc__ = SUMMARIES[name] + ADDED[setting.name]
    etudes.task(task_name(setting.name, name), level=task_name(setting.name, name), horizon=HORIZON, without=BY_LOOKS)(sample)


for _setting in SETTINGS.values():
    for _name, _bounds in LEVELS.items():
        _level(_setting, _name, _bounds)


@etudes.task(level="own", horizon=HORIZON, options=(*BOUNDS, "setting", "graph"), without=BY_LOOKS)
def compose(draw: Draw) -> Draft:
    """Do what an étude asks for: deeds in order, in any order, or one or the other by what can be seen.

    Asked: a graph of deeds in words, at most ``?depth=`` deep, with at most ``?nodes=`` deeds, orders and branches, of the deeds in
    ``?skills=``, at the table or in another ``?setting=``; or the étude ``?graph=``, in words, as JSON, or from a file. Randomised: the
    graph, how its conditions come out, things and their places. Succeeds when all that is asked for by the branches that are to be taken
    has come about in its order and still holds, and no other branch has been carried out.
    """
    if own := draw.option("graph", ""):
        for key in (*BOUNDS, "setting"):
            if draw.option(key, ""):
                raise EtudeError(f"an étude of your own is what it is: leave out {key!r}")
        etude = read_etude(unquote(own))
        return _drafted(draw, etude.setting, *unsettled(etude))
    setting = pick("setting of an étude", draw.option("setting", AT_TABLE.name), SETTINGS)
    if draw.split == LENGTHS and (bound := next((key for key in BOUNDS[:2] if draw.option(key, "")), "")):
        raise EtudeError(f"{bound}= is for training: études of the split {LENGTHS} are longer and deeper by one act; leave it out")
    depth, nodes = _whole(draw, "depth", DEPTH, DEEPEST), _whole(draw, "nodes", NODES, MOST_NODES)
    most = (nodes - 1) // 2  # a join of two parts is a node more than they are
    level = EtudeLevel((min(1, most), most), depth, (0, 1))
    return _drawn(draw, setting, level, _skills(draw, setting))


def _drawn(draw: Draw, setting: EtudeSetting, level: EtudeLevel, skills: tuple[str, ...]) -> Draft:
    stream = draw.rng("étude")
    shallow = draw.split == OPERATORS and level.depth < LEVELS["medium"].depth
    if setting is AT_TABLE or (setting is IN_PLACES and shallow):  # there is no room for both a fact and an operator that is held out
        return _drafted(draw, setting, composed(level, draw.split, stream, setting, skills))
    first = next(drawn(level, draw.split, stream, setting, skills))
    fits = _sort_of(first.root, setting, draw.rng("sort"))
    for _ in range(GRAPHS):
        try:
            return _drafted(draw, setting, composed(level, draw.split, stream, setting, skills, fits))
        except NoRoom:
            pass
    raise NoRoom(f"no étude of {GRAPHS} can be played {setting.words}")


def _sort_of(root: Operator, setting: EtudeSetting, stream: Stream) -> Callable[[Operator], bool]:
    """Of what sort a graph shall be, which is settled before any is refused: those that are refused most would become rare otherwise.

    At a chest it has conditions or not, as the first that is drawn. About places it has what no other setting has: facts, or what must not
    be moved.
    """
    if setting is AT_CHEST:
        conditional = bool(conditions(root))
        return lambda other: bool(conditions(other)) is conditional
    news = {*setting.truths} if stream.chance(FACTS) else {*setting.joins}
    news -= {*AT_TABLE.operators()}
    return lambda other: any(node.json_kind in news for node in walk(other))


def _drafted(draw: Draw, setting: EtudeSetting, unsolved: Unsolved, given: Sequence[Select] = ()) -> Draft:
    # Whatever graphs are drawn, and drawn again, the outcomes of their conditions stay as they are: so they are fair.
    outcomes = [rng(draw.name, f"outcome/{k}").chance(0.5) for k in range(len(conditions(unsolved.root)))]
    try:
        if setting is AT_CHEST:
            found, scene = furnished_for(unsolved, outcomes, draw.rng("looks"), given)
        else:
            found = solved(unsolved, outcomes, draw.rng("looks"), given, setting)
            scene = _laid_out(draw, found, outcomes)
            goal = goal_of(found.etude, scene)
            Rehearsal(found.etude, goal, scene).outcomes()
            refuse_dead_ends(found.etude, goal, scene, fair=True)
    except EtudeError as error:
        raise NoRoom(str(error)) from None
    root = found.etude.root
    texts = tuple(instruction(told(found.etude, grammar, other_words=draw.split == WORDS)) for grammar in GRAMMARS)
    roles = tuple(dict.fromkeys(SetTable.of(scene).roles(root)))
    return Draft(scene, goal_of(found.etude, scene), texts, roles=roles, horizon=SPARE + _steps(root))


def _laid_out(draw: Draw, found: Solved, outcomes: Sequence[bool]) -> Scene:
    """The things at places where every push of the étude can be made, those that come in order can be told apart by their distance, and
    those whose places are asked for are clearly where they should be."""
    stage = ClevrSceneBuilder(draw, *A)
    # Numbers in names say nothing of the parts that things play.
    cast = enumerate(stage.roles.shuffled(found.looks))
    actors = [ClevrActor(f"{colour} {shape} {k}", item(shape), colour) for k, (colour, shape) in cast]
    free = len(stage.layout.taken)
    for _ in range(LAYOUTS):
        del stage.layout.taken[free:], stage.things[:]
        for actor in sorted(actors, key=lambda actor: actor.item.words != AREA):
            stage.put(actor, fixed=actor.item.words == AREA, clearance=CLEARANCE, reach=REACH)
        scene = stage.scene()
        table = SetTable.of(scene)
        free_ways = _pushes_are_free(found.etude.root, table, stage.base) and _orders_are_clear(found.etude.root, table)
        if free_ways and _sides_are_clear(found, table) and all(map(operator.eq, holding(found.etude.root, scene), outcomes)):
            return scene
    raise NoRoom(f"no layout of {LAYOUTS} leaves room for all that is pushed, and tells what is nearer")


def _orders_are_clear(root: Operator, table: SetTable) -> bool:
    """Can everybody tell which thing of a group is nearer to the robot?"""
    each = [sorted(map(table.distance, table.members(node.things))) for node in walk(root) if isinstance(node, Until)]
    return all(b - a >= NEARER for distances in each for a, b in pairwise(distances))


def _sides_are_clear(found: Solved, table: SetTable) -> bool:
    """Is everything as much nearer, or farther to a side, as the solver wanted it, and can everybody see that?"""
    space = IN_PLACES.looks.space
    for node in walk(found.drawn):
        if isinstance(node, (Lies, Lay)):
            cells = [found.seen[one.when].location for one in (node.first, node.second)]
            first, second = (table.place(found.told[one.when]) for one in (node.first, node.second))
            gap = apart(node.side, first, second, (*table.base, 0.0))
            if abs(gap) < NEARER or (gap > 0) is not space.related(node.relation, *cells):
                return False
    return True


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
    return (node.rounds if isinstance(node, Act) else 0) * total(map(_steps, node.inputs()))
