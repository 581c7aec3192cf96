"""The list of work: which episodes, played by whom, in which mode. It is a file, and everything a run does is a set operation on it."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from etude.evaluation.record import MODES
from etude.evaluation.schema import SCHEMA, newer, read, written
from etude.library import EVERYWHERE, find_task, named_plan, plan_names, tasks
from etude.names import PROTOCOL, SPARSE, EpisodeName, EtudeError, digest, json_text, parse_json, read_text, repeated, unknown
from etude.perturb.gobbledygook import asked_for
from etude.perturb.perturbation import find_perturbation, known_perturbations
from etude.suites.suite import SUITES, Purpose, Task

_log = logging.getLogger(__name__)
MOST = 1_000_000  # episodes of a plan: more names than that do not fit into memory with their results
LAST_SEED = 10**18 - 1
RENDERERS = ("raster", "gl")
PATIENCE = 150  # control steps a planner waits for a sub-task before it is asked again
PLANNED = ("planner", "coupled", "coupled:privileged", "offline")  # modes in which the planner that was given speaks

OWN = {  # modes that not every suite has, and what is asked of one that does
    "grasped": "whose tasks begin with a grasp",
    "rule": "in which the hand changes once in a sub-task at most",
}
ON_ROBOTS = ("vanilla", "rule", "coupled")  # modes that use nothing a robot would not know
ADVANCES = ("hand", "idle", "person")  # what ends a sub-task on a robot, besides a person's word
INSTEAD = {"rule": "; there, --mode rule:privileged goes by the true end of sub-tasks"}


@dataclass(frozen=True)
class Plan:
    """Every name of ``names`` is played once in every mode. ``renderer`` and ``patience`` are here because they can move a result.

    ``out_of_reach`` are names that were asked for and left out, because the arm that they name cannot play them.
    ``robot`` is the address of a robot on which episodes are played and judged by a person, and ``advance`` what ends a sub-task there.
    A ``shard`` (i, n) stands for every n-th of the names, from the i-th on; the names stay whole, so that shards can be joined again.
    ``extra``: see :mod:`etude.evaluation.schema`.
    """

    policy: str
    names: tuple[str, ...]
    planner: str = ""
    modes: tuple[str, ...] = ("vanilla",)
    renderer: str = "raster"
    patience: int = PATIENCE
    shard: tuple[int, int] = (0, 1)
    out_of_reach: tuple[str, ...] = field(default=(), metadata=SPARSE)
    robot: str = field(default="", metadata=SPARSE)
    advance: str = field(default="", metadata=SPARSE)
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if not self.names:
            raise EtudeError("a plan needs at least one episode")
        if (twice := repeated(self.names)) is not None:
            raise EtudeError(f"the plan has {twice} twice")
        for what, text in (("policy", self.policy), ("planner", self.planner), ("robot", self.robot)):
            if not text.isprintable():  # half a character, as of a name that the terminal could not decode, is not
                raise EtudeError(f"--{what} {text!r} has characters that cannot be written down")
        for mode in self.modes:
            if mode not in MODES:
                raise unknown("mode", mode, MODES)
            if self.robot and mode not in ON_ROBOTS:
                raise EtudeError(f"--mode {mode} needs the true state, which no robot knows; with --robot: {', '.join(ON_ROBOTS)}")
            if mode in PLANNED and not self.planner:
                raise EtudeError(f"--mode {mode} needs a planner: --planner rule, oracle or chat:MODEL@http://host:port/v1")
            if mode in PLANNED and mode != "offline" and self.planner.startswith("answers:"):
                raise EtudeError(f"--mode {mode} asks as things go, which a file does not know: answers:FILE is for --mode offline")
        if self.planner and not set(self.modes) & {*PLANNED}:
            raise EtudeError(
                f"--planner {self.planner} is used by the modes planner, coupled and offline, not by {' and '.join(self.modes)}"
            )
        if (twice := repeated(self.modes)) is not None:
            raise EtudeError(f"the mode {twice} is given twice")
        if self.robot and self.advance not in ADVANCES:
            raise unknown("value of --advance", self.advance, ADVANCES)
        if self.advance and not self.robot:
            raise EtudeError("--advance says what ends a sub-task on a robot: name one with --robot ws://host:port")
        index, count = self.shard
        if not 0 <= index < count:
            raise EtudeError(f"shard {index}/{count}: shards are counted from 0 to one less than there are")
        if self.patience < 1:
            raise EtudeError(f"--patience must be at least 1 control step, got {self.patience}")

    @property
    def episodes(self) -> list[tuple[str, str]]:
        """What is to be played, in order: (name, mode)."""
        index, count = self.shard
        return [(name, mode) for mode in self.modes for name in self.names[index::count]]

    @property
    def digest(self) -> str:
        """Of everything in it."""
        return digest(written(self))

    def extended(self, count: int) -> Plan:
        """The plan with ``count`` more seeds of everything it has; the new ones follow the highest seed there is."""
        if count < 1:
            raise EtudeError(f"--more must be at least 1, got {count}")
        parsed = [EpisodeName.parse(n) for n in self.names]
        grouped: dict[EpisodeName, list[EpisodeName]] = {}
        for name in parsed:
            grouped.setdefault(replace(name, seed=0), []).append(name)
        names = []
        for members in grouped.values():
            last = max(members, key=lambda n: n.seed)
            names += [*members, *(replace(last, seed=last.seed + 1 + k) for k in range(count))]
        return replace(self, names=tuple(map(str, names)))

    def to_json(self) -> str:
        """The text of ``plan.json``."""
        return json_text({"schema": SCHEMA, "protocol": PROTOCOL, **written(self)}, indent=1) + "\n"


def read_plan(path: Path) -> Plan:
    """A plan from its file; what is not one is refused in one line. Its tasks need not be known here: names are parsed, not looked up."""
    data = read_object(path)
    if "protocol" not in data or "names" not in data:
        raise EtudeError(f"{path} is not a plan; plans are made by 'etude evaluate' and have the fields protocol and names")
    if data["protocol"] == PROTOCOL:
        del data["protocol"]  # another one is kept, so that nobody plays under this one what was begun under that
    try:
        plan = read(Plan, newer(data, "plan"), "plan")
        for name in plan.names:
            EpisodeName.parse(name)
    except EtudeError as error:
        raise EtudeError(f"{path}: {error}") from None
    return plan


def refuse_foreign_plan(plan: Plan, path: Path) -> None:
    """Refuse to play what was planned under another protocol or by a later release: it can be read, but may mean something else."""
    for key, here in (("protocol", PROTOCOL), ("schema", SCHEMA)):
        if key in plan.extra:
            raise EtudeError(f"{path} was made with {key} {plan.extra[key]!r}, this is {here!r}: start a new run in another folder")


def refuse_foreign_modes(plan: Plan) -> None:
    """Refuse to play in modes that a suite of the plan does not have; what was played in them once can still be read."""
    for mode, why in OWN.items():
        if mode in plan.modes:
            having = [name for name, suite in SUITES.items() if mode in suite.modes]
            others = sorted({EpisodeName.parse(n).suite for n in plan.names} - set(having))
            if others:
                raise EtudeError(f"--mode {mode} is for suites {why} ({', '.join(having)}), not for {others[0]}{INSTEAD.get(mode, '')}")


def read_object(path: Path) -> dict[str, Any]:
    """A JSON object from a file, or one line that says why not."""
    text = read_text(path)
    try:
        data = parse_json(text)
    except EtudeError as error:
        raise EtudeError(f"{path} is {error}") from None
    if not isinstance(data, dict):
        raise EtudeError(f"{path} is not a JSON object")
    return data


def read_names(path: Path) -> tuple[str, ...]:
    """Episode names from a file: a ``plan.json``, or text with one name on each line (``# `` begins a comment); or a frozen list's."""
    named = named_plan(str(path))
    if named is not None:
        return named()
    if path.suffix == ".json":
        return checked(read_plan(path).names)
    try:
        lines = [line.strip() for line in read_text(path).splitlines()]
    except EtudeError as error:
        if not path.suffix and not path.exists():
            raise EtudeError(f"{error}; taken as SUITE-PLAN: {unknown('list of episodes', str(path), plan_names())}") from None
        raise EtudeError(f"{error}; --plan takes a text file with one episode name on each line, a plan.json, or SUITE-PLAN") from None
    names = [line for line in lines if line and not line.startswith("#")]
    if not names:
        raise EtudeError(f"{str(path)!r} names no episodes; it needs one name on each line, SUITE/TASK@SPLIT#SEED")
    return checked(names)


def checked(names: Sequence[str]) -> tuple[str, ...]:
    """The names in canonical form; the first that names nothing is refused."""
    found = []
    for name in names:
        parsed = EpisodeName.parse(name)
        find_task(parsed)
        found.append(str(parsed))
    return tuple(found)


def make_names(
    suites: Sequence[str],
    chosen: Sequence[str] = (),
    splits: Sequence[str] = (),
    difficulties: Sequence[str] = (),
    perturbations: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    episodes: int = 20,
    first_seed: int = 0,
    control: bool = True,
    levels: Sequence[str] = (),
    purpose: Purpose = "test",
) -> tuple[str, ...]:
    """Names of suites × tasks × splits × difficulties × perturbations × seeds, in this order.

    What is left empty takes all tasks, and the first split of each that is for this ``purpose``; tasks that have none are left out. A
    perturbation reads ``a+b``; its matched unperturbed episodes come first, unless ``control`` is False. ``levels`` choose tasks; where a
    task has a level for each split, they choose splits.
    """
    if episodes < 1:
        raise EtudeError(f"--episodes must be at least 1, got {episodes}")
    if first_seed < 0:
        raise EtudeError(f"--first-seed must not be negative, got {first_seed}")
    if first_seed + episodes > LAST_SEED + 1:
        raise EtudeError(f"--first-seed {first_seed} with --episodes {episodes} goes beyond the last seed, {LAST_SEED}")
    sets, extras = perturbation_sets(perturbations, control), option_sets(options, difficulties)
    found = []
    for task in _tasks(suites, chosen):
        by_split = levels and not splits and not task.level
        found += [(task, split) for split in (task.splits if by_split else _splits(task, splits, purpose, bool(chosen)))]
    known = {task.level or split for task, split in found}
    for level in levels:
        if level not in known:
            raise unknown(f"level of {' and '.join(suites)}", level, known)
    found = [(task, split) for task, split in found if not levels or (task.level or split) in levels]
    tell_what_fits([task for task, _ in found], extras, sets)
    bases: dict[EpisodeName, None] = {}
    for task, split in found:
        for extra in extras:
            for one in (one for one in sets if changeable(task, one)):
                bases[EpisodeName(task.suite, task.name, split, first_seed, one, tuple(own_options(task, extra).items()))] = None
    if len(bases) * episodes > MOST:
        raise EtudeError(f"--episodes {episodes} makes a plan of more than {MOST} episodes; give fewer, or fewer tasks")
    for base in bases:
        find_task(base)
    names = [str(replace(base, seed=first_seed + k)) for base in bases for k in range(episodes)]
    if not names:
        raise EtudeError(
            f"none of the chosen tasks has {'the split ' + ' or '.join(map(repr, splits)) if splits else f'a split for {purpose}'}"
        )
    return tuple(names)


def perturbation_sets(perturbations: Sequence[str], control: bool) -> list[tuple[str, ...]]:
    """Perturbations that are applied together, each set once; the empty set first where a ``control`` is wanted."""
    sets = [tuple(map(asked_for, p.split("+"))) for p in perturbations]
    if not control and not sets:
        raise EtudeError("--no-control leaves out the unperturbed twins of perturbed episodes, but no --perturb is given")
    for one in sets:
        if (twice := repeated(one)) is not None:
            raise EtudeError(f"perturbation {twice!r} is given twice in {'+'.join(one)}")
        for name in one:
            find_perturbation(name)
    return list(dict.fromkeys([()] * control + [tuple(sorted(one)) for one in sets]))


def option_sets(options: Mapping[str, str] | None, difficulties: Sequence[str]) -> list[dict[str, str]]:
    """The options of episodes, once for each difficulty."""
    own = dict(options or {})
    return [{**own, **({} if d == "default" else {"difficulty": d})} for d in difficulties] or [own]


def own_options(task: Task, options: Mapping[str, str]) -> dict[str, str]:
    """Those of the options that a task has."""
    return {key: value for key, value in options.items() if key in (*EVERYWHERE, *task.options)}


def changeable(task: Task, perturbations: Sequence[str]) -> bool:
    """Can episodes of a task have all of these perturbations?"""
    return all(known_perturbations()[name].suits(task) for name in perturbations)


def tell_what_fits(tasks: Sequence[Task], options: Sequence[Mapping[str, str]], sets: Sequence[tuple[str, ...]]) -> None:
    """Say which wishes concern only some of the tasks, with a count; those that concern none are refused."""
    known = list(dict.fromkeys(tasks))
    for key, value in {key: value for extra in options for key, value in extra.items()}.items() if known else ():
        having = sum(bool(own_options(task, {key: value})) for task in known)
        if not having:
            find_task(
                EpisodeName(known[0].suite, known[0].name, known[0].splits[0], 0, (), ((key, value),))
            )  # raises, with the nearest one
        if having < len(known):
            _log.warning("%s=%s: %d of %d tasks have it; the others are played without it", key, value, having, len(known))
    for one in sets if known else ():
        fitting = [changeable(task, one) for task in known].count(True)
        if not fitting:
            raise EtudeError(f"{'+'.join(one)} cannot be applied to {' or '.join(task.name for task in known[:3])}")
        if fitting < len(known):
            _log.warning("%s: %d of %d tasks are left out, which it cannot be applied to", "+".join(one), len(known) - fitting, len(known))


def _tasks(suites: Sequence[str], chosen: Sequence[str]) -> list[Task]:
    known = [task for suite in dict.fromkeys(suites) for task in tasks(suite).values()]
    if not known:
        raise EtudeError(f"name a suite: --suite {' or '.join(SUITES)}")
    for name in chosen:
        if not any(name in (t.name, f"{t.suite}/{t.name}") for t in known):
            raise unknown(f"task of {' and '.join(suites)}", name, [t.name for t in known])
    return [t for t in known if not chosen or t.name in chosen or f"{t.suite}/{t.name}" in chosen]


def _splits(task: Task, splits: Sequence[str], purpose: Purpose, named: bool) -> list[str]:
    if not splits:
        found = SUITES[task.suite].split_of(task, purpose)
        if found is None and named:
            raise EtudeError(f"{task.suite}/{task.name} has no split for {purpose}; its splits are {', '.join(task.splits)}")
        return [] if found is None else [found]
    for split in splits:
        if not any(split in t.splits for t in tasks(task.suite).values()):
            raise unknown(f"split of {task.suite}", split, task.splits)
    return [s for s in dict.fromkeys(splits) if s in task.splits]


# Variables by which schedulers tell a process which of several it is: (index, count, first index).
SCHEDULERS = (
    ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"),
    ("SLURM_PROCID", "SLURM_NTASKS", ""),
    ("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", ""),
    ("RANK", "WORLD_SIZE", ""),
)


def read_shard(text: str, environment: Mapping[str, str] = os.environ) -> tuple[int, int]:
    """``i/n`` as numbers, counted from 0; ``auto`` reads what SLURM, Kubernetes or torchrun set."""
    if text == "auto":
        for index, count, first in SCHEDULERS:
            if index in environment and count in environment:
                text = f"{int(environment[index]) - int(environment.get(first, '0'))}/{environment[count]}"
                break
        else:
            names = ", ".join(f"{i} with {c}" for i, c, _ in SCHEDULERS)
            raise EtudeError(f"--shard auto found none of {names} in the environment; write --shard i/n")
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None:
        raise EtudeError(f"--shard {text!r} is not of the form i/n, e.g. 0/8")
    shard = int(match[1]), int(match[2])
    if shard[0] >= shard[1]:
        raise EtudeError(f"--shard {text}: shards are counted from 0 to {max(shard[1] - 1, 0)}")
    return shard
