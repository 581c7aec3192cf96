"""An audit of a suite: its episodes looked at one by one, cheats tried on them, splits compared.

Everything depends on names alone: the same audit gives the same bytes, whatever the number of workers.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeVar

from etude import machine
from etude.arithmetic import total
from etude.audit import answers
from etude.audit.branches import BranchCase, branch_scores, branches
from etude.audit.cheats import CHEATS, ChoosingCheat
from etude.audit.degenerate import BrokenEpisode, ambiguous, degenerate, shapes_and_textures, without_choice
from etude.audit.findings import Audit, judged
from etude.audit.leaks import Leak, SplitContent, leaks
from etude.audit.moving import EASY, MovingCheat, played
from etude.audit.parts import ChoiceCase, Named, case, given, named
from etude.audit.parts import played as roles_played
from etude.audit.scoring import CheatScore
from etude.decisions.trial import Trial
from etude.episodes import Episode
from etude.evaluation.plan import LAST_SEED, make_names
from etude.evaluation.worker import one_thread
from etude.library import find
from etude.names import EpisodeName, EtudeError, canonical_json, digest, encode
from etude.plugins import load_all
from etude.plugins import named as plugins
from etude.pose import Array, Vec2
from etude.scene.scene import Robot, Scene, Table
from etude.scene.world import World
from etude.suites.suite import SUITES, Suite, Task

CHOOSING, MOVING = 200, 30  # episodes of each task: those that are looked at, and those that are played
CONTENT = 50  # episodes of each other split, to be compared
CHUNK = 10  # episodes that a worker is given at a time
T = TypeVar("T")
R = TypeVar("R")
Told = Callable[[str], None]


@dataclass(frozen=True)
class Glance:
    """What one look at an episode gave: its choices, or the trial it is; what is wrong with it; what it holds."""

    name: str
    what: Named | Trial | None
    wrong: tuple[BrokenEpisode, ...]
    digest: str
    things: frozenset[tuple[str, str]]
    robot: Robot | None = None
    applies: tuple[str, ...] = ()  # cheats that move
    branches: tuple[BranchCase, ...] = ()


def audit(
    suite: str,
    *,
    task: Sequence[str] = (),
    split: Sequence[str] = (),
    first_seed: int = 0,
    episodes: int = CHOOSING,
    moving: int = MOVING,
    workers: int = 0,
    tell: Told = lambda text: None,
) -> Audit:
    """Find out how far a suite can be solved by cheating, which of its episodes are broken, and what leaks between its splits.

    Of every task, ``episodes`` are looked at and ``moving`` of them played; with ``moving=0`` no world is built. Where no ``split`` is
    named, the first one for testing is taken.

    >>> from etude.audit.run import audit
    >>> audit("kitchen", task=["cup_on_plate"], episodes=20, moving=0).ok
    """
    if moving < 0:
        raise EtudeError(f"--moving must not be negative, got {moving}; 0 plays nothing")
    if workers < 0:
        raise EtudeError(f"--workers must not be negative, got {workers}")
    value = SUITES[suite]
    names = make_names([suite], task, split, episodes=episodes, first_seed=first_seed)
    groups: dict[tuple[str, str], list[str]] = {}
    for name in names:
        parsed = EpisodeName.parse(name)
        groups.setdefault((parsed.task, parsed.split), []).append(name)
    compared = _compared(value, {key[0] for key in groups}, groups, first_seed, min(episodes, CONTENT))
    with _Team(workers, len(names)) as team:
        looked = team.looked([*names], built=moving > 0, tell=tell)
        held = team.looked([name for members in compared.values() for name in members], built=False, tell=tell)
        scores: list[CheatScore] = []
        broken: list[BrokenEpisode] = []
        oracle: dict[tuple[str, str], tuple[int, int]] = {}
        chances: dict[tuple[str, str], float] = {}
        each: dict[str, float] = {}
        for key, members in groups.items():
            seen = [looked[name] for name in members]
            broken += [wrong for one in seen for wrong in one.wrong]
            found = _task_scores(key, seen)
            scores += found.scores
            broken += found.broken
            chances[key] = found.chance
            each |= found.chances
        if moving:
            first = {key: [looked[name] for name in members[:moving]] for key, members in groups.items()}
            done = team.moved([one for seen in first.values() for one in seen], tell)
            for key, seen in first.items():
                scores += _moving_scores(key, seen, done, each)
                unsolved = [one.name for one in seen if not done["oracle", one.name]]
                oracle[key] = len(seen) - len(unsolved), len(seen)
                broken += [BrokenEpisode(name, "unsolved by the oracle") for name in unsolved]
    contents = [SplitContent(t, s, {n: looked[n].digest for n in m}, _things(looked[n] for n in m)) for (t, s), m in groups.items()]
    contents += [SplitContent(t, s, {n: held[n].digest for n in m}, _things(held[n] for n in m)) for (t, s), m in compared.items()]
    leaking: list[Leak] = leaks(value, contents)
    return judged(value, chances, scores, broken, leaking, oracle)


def _compared(
    suite: Suite, tasks: Iterable[str], groups: Mapping[tuple[str, str], Any], first_seed: int, count: int
) -> dict[tuple[str, str], list[str]]:
    """Episodes of the splits that are for training, and of those that promise something new."""
    found = {}
    for name in sorted(tasks):
        task: Task = suite.tasks[name]
        for split in task.splits:
            if (suite.splits[split] == "training" or split in suite.novel) and (name, split) not in groups:
                found[name, split] = [f"{suite.name}/{name}@{split}#{first_seed + k}" for k in range(count)]
    return found


def _things(seen: Iterable[Glance]) -> frozenset[tuple[str, str]]:
    return frozenset(thing for one in seen for thing in one.things)


# ------------------------------------------------------------------------------------------------ looking and choosing


def look(built: bool, name: str) -> Glance:
    """One look at an episode."""
    try:
        found = find(name)
    except EtudeError as error:
        return Glance(name, None, (BrokenEpisode(name, f"cannot be made: {error}"),), name, frozenset())
    if isinstance(found, Trial):
        return Glance(name, found, (), digest(encode((found.tasks, found.frames, found.answers))), frozenset())
    wrong = tuple(degenerate(found, built))
    moves = tuple(c.name for c in CHEATS.values() if issubclass(c.make, MovingCheat) and c.make.applies(found))
    same = _unordered(found)
    things = frozenset(shapes_and_textures(found))
    return Glance(name, named(found), wrong, same, things, found.scene.robot, moves, tuple(branches(found)))


def _unordered(episode: Episode) -> str:
    """A digest of things and goal in which neither the order nor the names of the things count: both are dealt anew for every name."""
    bare = {e.name: canonical_json({**encode(e), "name": ""}) for e in episode.scene.entities}
    goal = canonical_json(episode.goal)
    for name in sorted(bare, key=len, reverse=True):
        goal = goal.replace(canonical_json(name), canonical_json(bare[name]))
    return digest((sorted(bare.values()), goal))


@dataclass(frozen=True)
class _TaskScores:
    scores: list[CheatScore]
    broken: list[BrokenEpisode]
    chances: dict[str, float]

    @property
    def chance(self) -> float:
        values = [*self.chances.values()]
        return total(values) / len(values) if values else 1.0


def _task_scores(key: tuple[str, str], seen: Sequence[Glance]) -> _TaskScores:
    """What cheats that choose, or answer, reach on the episodes of a task."""
    trials = [one.what for one in seen if isinstance(one.what, Trial)]
    if trials:
        deciding = {c.name: c.make for c in CHEATS.values() if issubclass(c.make, answers.DecidingCheat)}
        return _TaskScores(answers.scores(*key, trials, deciding), [], {t.name: t.chance for t in trials})
    looks = [one.what for one in seen if isinstance(one.what, Named)]
    known, fixed = roles_played(looks), given(looks)
    robots = {one.name: one.robot for one in seen}
    cases = [case(one, known, fixed, hand(robots[one.episode])) for one in looks]
    wrong = [BrokenEpisode(one.episode, what) for one in cases for what in ambiguous(one)]
    scores = [*_chosen(key, cases), *branch_scores(key, [one.branches for one in seen])]
    return _TaskScores(scores, [*wrong, *without_choice(cases)], {one.episode: one.chance for one in cases})


def _chosen(key: tuple[str, str], cases: Sequence[ChoiceCase]) -> list[CheatScore]:
    open_, found = [one for one in cases if one.chance < 1], []
    for one in CHEATS.values():
        if not issubclass(one.make, ChoosingCheat):
            continue
        player: ChoosingCheat = one.make()
        asked = open_
        if player.learns:
            half = len(open_) // 2  # seeds may take variations in turn: every second one would hide some of them
            player.learn(open_[:half])
            asked = open_[half:]
        if asked:
            right = total(c.right(player.choose(c, one.name)) for c in asked)
            found.append(CheatScore(*key, one.name, right, tuple(c.chance for c in asked)))
    return found


@lru_cache(maxsize=64)
def hand(robot: Robot | None) -> Vec2:
    """Where the hand is at the start, (2,) m, world."""
    if robot is None:
        return 0.0, 0.0
    world = World(Scene(robot=robot, table=Table(), floor=None))
    assert world.robot is not None
    x, y, _ = world.robot.tip().position
    return x, y


# ------------------------------------------------------------------------------------------------ many hands


class _Team:
    """Does the same to many episodes: in this process, or in several."""

    def __init__(self, workers: int, most: int) -> None:
        self._count = min(workers or machine.cores(), most)
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> _Team:
        if self._count > 1:
            with one_thread():
                self._pool = ProcessPoolExecutor(self._count, multiprocessing.get_context("spawn"), load_all, (plugins(),))
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, function: Callable[[T], R], items: Sequence[T], chunk: int) -> Iterator[R]:
        """What the function gives, in order."""
        if self._pool is None:
            return map(function, items)
        with one_thread():
            return self._pool.map(function, items, chunksize=chunk)

    def looked(self, names: Sequence[str], built: bool, tell: Told) -> dict[str, Glance]:
        """A look at each of these episodes, by name."""
        found, before = {}, ""
        for one in self.map(partial(look, built), names, CHUNK):
            before = _told_place(one.name, before, "looking", tell)
            found[one.name] = one
        return found

    def moved(self, seen: Sequence[Glance], tell: Told) -> dict[tuple[str, str], bool]:
        """Which cheats that move, and the oracle, succeed in which episodes."""
        lessons = list(dict.fromkeys((who, _lesson(one.name)) for one in seen for who in one.applies))
        learnt = dict(zip(lessons, self.map(_learnt, lessons, 1), strict=True))
        jobs: list[tuple[str, str, Sequence[Array]]] = [
            (who, one.name, learnt.get((who, _lesson(one.name)), ())) for one in seen for who in ("oracle", *one.applies)
        ]
        found, before = {}, ""
        for (who, name, _), success in zip(jobs, self.map(_played, jobs, 1), strict=True):
            before = _told_place(name, before, "playing", tell)
            found[who, name] = success
        return found


def _told_place(name: str, before: str, doing: str, tell: Told) -> str:
    place = name.partition("#")[0]
    if place != before:
        tell(f"{place}: {doing}")
    return place


def _moving_scores(
    key: tuple[str, str], seen: Sequence[Glance], done: Mapping[tuple[str, str], bool], chances: Mapping[str, float]
) -> Iterator[CheatScore]:
    for who in dict.fromkeys(who for one in seen for who in one.applies):
        mine = [one.name for one in seen if who in one.applies]
        bounds = tuple(chances.get(name, 1.0) if chances.get(name, 1.0) < 1 else EASY for name in mine)
        yield CheatScore(*key, who, total(done[who, name] for name in mine), bounds)


def _lesson(name: str) -> str:
    """The episode of the same task that cheats may learn from: of a seed that no list has."""
    return str(replace(EpisodeName.parse(name), seed=LAST_SEED))


def _learnt(job: tuple[str, str]) -> Sequence[Array]:
    who, name = job
    lesson: Sequence[Array] = CHEATS[who].make.learn(name)
    return lesson


def _played(job: tuple[str, str, Sequence[Array]]) -> bool:
    who, name, lesson = job
    return played(who if who == "oracle" else CHEATS[who].make(lesson), name).success
