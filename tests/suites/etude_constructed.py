"""Failed études whose cause is known because it was built in, to count how often ``cause`` names the ability.

``python tests/suites/etude_constructed.py --seeds 20`` plays them on every task of the suite, and prints the count. The oracle does another
étude than the one that is asked for, different in one node; or it does the right one and fails at it; or its planner says what is wrong.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import etude
from etude.decisions.graph import rebuilt, selects, walk
from etude.decisions.logic import Switch
from etude.decisions.looks import Const, Select
from etude.decisions.operator import Operator
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.evaluation.play import Players, play
from etude.goals.branching import Succession
from etude.goals.goal import Goal, every
from etude.goals.leaves import AtPosition
from etude.goals.monitor import Monitor
from etude.names import EtudeError, Stream, rng
from etude.scene.scene import Body
from etude.skills.aim import delta_action
from etude.skills.oracle import Oracle
from etude.suites.etudes.acts import Deed, Drawer, InOrder, It, Without
from etude.suites.etudes.deeds import PushTowards, PutIn, PutOn, Touch, Tower, Turn, WithoutMoving
from etude.suites.etudes.facts import Lay, WasOpen
from etude.suites.etudes.furniture import Close, Open, WithoutOpening
from etude.suites.etudes.groups import ForSome, Until
from etude.suites.etudes.meaning import EtudeGraph, SetTable, goal_of
from etude.suites.etudes.memory import Recall
from etude.suites.etudes.suite import TASKS, etudes
from etude.suites.etudes.telling import read, thing
from etude.suites.etudes.things import AREA

sys.path.insert(0, str(Path(__file__).parent.parent / "evaluation"))
from constructed import ErringPlanner, FailingSkills

LONGER = 500  # control steps that something else may take longer than what is asked for
AFTERWARDS = 30  # control steps in which what was done comes to rest
Wrong = tuple[str, str, Goal]  # what is wrong, the ability that is lacking, and what is done


def other_graphs(root: Operator, table: SetTable, stream: Stream) -> Iterator[tuple[str, str, Operator]]:
    """The étude with one node changed, and what that is."""
    free = unnamed(root, table)
    for node in dict.fromkeys(walk(root)):
        for what, ability, other in changes(node, free, stream):
            yield what, ability, swapped(root, node, other)


def swapped(root: Operator, node: Operator, other: Operator) -> Operator:
    return rebuilt(root, lambda one: other if one == node else one)


def unnamed(root: Operator, table: SetTable) -> list[Select]:
    """The things that the étude does not speak of, told by colour and shape."""
    named = {body.name for one in selects(root) if not isinstance(one, (It, Drawer)) for body in meant(table, one)}
    bodies = [body for body in table.bodies if body.name not in named]
    return [thing(f"{body.texture} {table.words[body.shape]}") for body in bodies]


def meant(table: SetTable, select: Select) -> list[Body]:
    return [table.bodies[found.location] for found in table.view.selected(select) or []]


def is_area(select: Select) -> bool:
    return any(isinstance(match.value, Const) and match.value.value == AREA for match in select.matches)


def changes(node: Operator, free: list[Select], stream: Stream) -> Iterator[tuple[str, str, Operator]]:
    prisms = [one for one in free if not is_area(one)]
    if isinstance(node, Switch):
        past = any(isinstance(one, (Lay, WasOpen)) for one in walk(node.condition))
        what = "the other branch, by how it was" if past else "the other branch"
        yield what, "memory" if past else "perception", replace(node, then=node.otherwise, otherwise=node.then)
    elif isinstance(node, InOrder) and not isinstance(node.right, InOrder):
        yield "the wrong order", "planning", replace(node, left=node.right, right=node.left)
    elif isinstance(node, Without):
        yield "what was to be left alone is touched", "language", InOrder(Touch(node.thing), node.act) if prisms else node
    elif isinstance(node, WithoutMoving) and prisms:
        yield "what was to stay is moved", "language", InOrder(PutOn(node.thing, stream.choice(prisms)), node.act)
    elif isinstance(node, WithoutOpening):
        yield "what was to stay shut is opened", "language", InOrder(Open(node.thing), node.act)
    elif isinstance(node, ForSome):
        yield "one too many", "language", replace(node, count=node.count + 1)
    elif isinstance(node, Recall):
        (last,) = node.right.inputs()[:1]
        act = rebuilt(node.act, lambda one: last if isinstance(one, It) else one)
        yield "the one touched last", "memory", InOrder(InOrder(node.left, node.right), act)
    if isinstance(node, Turn):
        turned = "clockwise" if node.direction == "anti-clockwise" else "anti-clockwise"
        yield "turned the other way", "language", replace(node, direction=turned)
    if isinstance(node, PutOn) and isinstance(node.thing, Select) and not isinstance(node.thing, It):
        yield "the other way round", "language", replace(node, thing=node.on, on=node.thing)
    if isinstance(node, Tower):
        order = stream.choice([("top", "middle", "bottom"), ("bottom", "top", "middle"), ("middle", "bottom", "top")])
        bottom, middle, top = (getattr(node, part) for part in order)
        yield "a tower in another order", "planning", replace(node, bottom=bottom, middle=middle, top=top)
    if isinstance(node, (Touch, PushTowards)) and not isinstance(node.thing, It) and prisms:
        yield "another deed", "language", PutOn(node.thing, stream.choice(prisms))
    if isinstance(node, Deed):
        for k, part in enumerate(node.inputs()):
            if isinstance(node, Close):
                continue  # at most one drawer is open: to close another one is to do nothing
            if isinstance(part, Drawer):
                levels = [level for level in ("top", "middle", "bottom") if level != part.level]
                others = [thing(f"{stream.choice(levels)} drawer")]
            else:
                others = [one for one in free if is_area(one) == (isinstance(node, PutIn) and k == 1)]
            if others and not isinstance(part, It) and isinstance(part, Select):
                what = "a drawer" if isinstance(part, Drawer) else "a thing" if k == 0 else "what it goes to"
                inputs = [*node.inputs()[:k], stream.choice(others), *node.inputs()[k + 1 :]]
                yield f"another one: {what}", "perception", node.with_inputs(inputs)


def changed(goal: Goal, part: Goal, other: Goal) -> Goal:
    """A goal with one part in place of another."""
    if goal is part:
        return other

    def new(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(map(new, value))
        return changed(value, part, other) if isinstance(value, Goal) else value

    return replace(goal, **{name: new(value) for name, value in vars(goal).items()})


def other_goals(root: Operator, table: SetTable, goal: Goal, stream: Stream) -> Iterator[Wrong]:
    """Goals that no étude of their own stands for."""
    for place in every(goal, AtPosition):
        x, y, z = place.position
        angle = stream.uniform(-3.14, 3.14)
        elsewhere = next(
            (spot for k in range(16) if (spot := _clear(table, x, y, z, angle + 0.4 * k)) is not None),
            None,
        )
        if elsewhere is not None:
            yield "put back to another place", "memory", changed(goal, place, replace(place, position=elsewhere))
    for node in walk(root):
        if isinstance(node, Until):
            each = [one.goal(node.act) for one in table.from_nearest(node.things)]
            meaning = table.goal(node)
            wrong = Succession((Succession(tuple(each)), table.goal(node.after)))
            for one in every(goal, Succession):
                if one == meaning:
                    yield "on and on", "perception", changed(goal, one, wrong)


def _clear(table: SetTable, x: float, y: float, z: float, angle: float) -> tuple[float, float, float] | None:
    u, v = x + 0.13 * math.cos(angle), y + 0.13 * math.sin(angle)
    free = all(math.dist((u, v), body.pose.position[:2]) > (0.15 if body.shape == "solid square" else 0.12) for body in table.bodies)
    return (u, v, z) if free and -0.3 < u < 0.05 and -0.3 < v < 0.3 else None


def wrongs(episode: Episode, stream: Stream) -> list[Wrong]:
    """One of each kind of wrong doing that this étude leaves room for."""
    root, table = read(episode.instruction.text).root, SetTable.of(episode.scene)
    found: dict[str, list[Wrong]] = defaultdict(list)
    for what, ability, other in other_graphs(root, table, stream):
        try:
            goal = goal_of(EtudeGraph(other), episode.scene)
        except EtudeError:
            continue
        found[what].append((what, ability, goal))
    for one in other_goals(root, table, episode.goal, stream):
        found[one[0]].append(one)
    return [stream.choice(alike) for alike in found.values()]


def done_instead(episode: Episode, goal: Goal, idle: int = 10**6, drops: int = 0) -> tuple[Simulation, str | None]:
    """The oracle does something; gives the cause of the failure, None where it did not fail, or not in this way.

    From step ``idle`` on it does nothing; ``drops``: so many steps after it first took hold of something, it opens the hand, and stops.
    """
    simulation = Simulation(episode)
    assert etudes.witness is not None
    witness = etudes.witness(simulation)
    simulation.heartbeat = witness.look
    own = Monitor(goal, simulation.world)
    oracle, held, left = Oracle(episode, simulation.world, own), 0, AFTERWARDS
    built_in = False
    while not simulation.over and left:
        held += bool(held) or simulation.robot.held is not None
        failed = simulation.steps >= idle or (0 < drops < held)
        built_in = built_in or failed
        if failed or own.status.satisfied or own.status.violated:
            left -= 1
            simulation.step([0.0] * 6 + [-1.0])
        else:
            simulation.step(delta_action(oracle.aim(), own.watch.tip))
            own.update()
            built_in = built_in or (own.status.satisfied and goal is not episode.goal)
    simulation.heartbeat = None
    built_in = built_in or (simulation.status.violated and goal is not episode.goal)
    return simulation, witness.cause() if built_in and not simulation.status.satisfied else None


def found_in(name: str) -> list[tuple[str, str, str, str]]:
    """What is wrong, the ability, the cause that is said, and where."""
    episode, stream, rows = etude.episode(name), rng(name, "constructed"), []
    needed = done_instead(episode, episode.goal)[0].steps
    episode = replace(episode, horizon=needed + LONGER)
    for what, ability, goal in wrongs(episode, stream):
        _, cause = done_instead(episode, goal)
        if cause is not None:
            rows.append((what, ability, cause, name))
    _, cause = done_instead(episode, episode.goal, idle=stream.integer(1, max(2, needed - 20)))
    if cause is not None:
        rows.append(("lame from some step on", "execution", cause, name))
    _, cause = done_instead(episode, episode.goal, drops=stream.integer(8, 25))
    if cause is not None:
        rows.append(("lets go on the way", "execution", cause, name))
    if name.startswith("etudes/drawers"):
        return rows  # there a planner that errs takes minutes to do so
    for what, truth, skills, planner in (
        ("the planner errs", "planning", FailingSkills(), ErringPlanner(0)),
        ("the planner errs later on", "planning", FailingSkills(), ErringPlanner(forgets=1)),
        ("the skills of a right planner fail", "execution", FailingSkills(stream.integer(0, 1)), ErringPlanner()),
    ):
        record = play(Players(skills, planner), name, "coupled:privileged")[0]
        if record.cause:
            rows.append((what, truth, record.cause, name))
    return rows


def main() -> None:
    """Count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--tasks", nargs="*", default=TASKS)
    parser.add_argument("--wrong", action="store_true", help="show what is told wrongly")
    given = parser.parse_args()
    names = [f"etudes/{task}@test#{seed}" for task in given.tasks for seed in range(given.seeds)]
    right, all_ = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    with get_context("spawn").Pool(given.workers) as pool:
        for rows in pool.imap_unordered(found_in, names):
            for what, ability, cause, name in rows:
                all_[what, ability] += 1
                right[what, ability] += cause.startswith(ability)
                if given.wrong and not cause.startswith(ability):
                    print(what, ability, "|", cause, name, flush=True)
    share = f"`cause` names the right ability in {100 * right.total() / all_.total():.1f} % of {all_.total()} constructed failures."
    table = [
        f"| {what} | {ability} | {right[what, ability]} of {all_[what, ability]} |"
        for what, ability in sorted(all_, key=lambda one: one[1])
    ]
    print("\n".join([share, "", "| what is done | ability | named |", "|---|---|---|", *table]))


if __name__ == "__main__":
    main()
