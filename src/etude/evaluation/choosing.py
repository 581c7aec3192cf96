"""Which episodes: from suites, tasks, names and lists to the names of a plan. What is asked for is done or refused, never ignored."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from etude.evaluation.plan import (
    changeable,
    checked,
    make_names,
    option_sets,
    own_options,
    perturbation_sets,
    read_names,
    tell_what_fits,
)
from etude.foreign import UnmadeEpisode
from etude.library import find, find_task, named_plan
from etude.names import EpisodeName, EtudeError, repeated, unknown
from etude.suites.suite import Purpose

_log = logging.getLogger(__name__)
SEEDS = 20  # of each task, where nothing else is said
_SELECTOR = re.compile(r"(?P<suite>[^/@#]+)(?:/(?P<task>[^/@#]+))?(?:@(?P<split>[^/@#]+))?")


Words = str | Sequence[str]


class Choice(TypedDict, total=False):
    """What chooses among episodes and varies them: the arguments of :func:`choose`, wherever they are passed on."""

    task: Words
    split: Words
    level: Words
    difficulty: Words
    perturb: Words
    options: Mapping[str, str] | None
    episodes: int | None
    first_seed: int | None
    control: bool


def choose(
    what: str | Path | Sequence[str | Path],
    *,
    task: Words = (),
    split: Words = (),
    level: Words = (),
    difficulty: Words = (),
    perturb: Words = (),
    options: Mapping[str, str] | None = None,
    episodes: int | None = None,
    first_seed: int | None = None,
    control: bool = True,
    purpose: Purpose = "test",
    left_out: list[str] | None = None,
) -> tuple[str, ...]:
    """The names of what was asked for, in order: suites (``kitchen``, ``kitchen@test``, ``kitchen/cup@test``), episodes by name, lists.

    A list is a file (a plan.json, or a name on each line) or a frozen one by its name. Of suites, ``episodes`` seeds are taken of
    everything. Of names and lists, ``task``, ``split``, ``level``, ``first_seed`` and ``episodes`` (the first so many of each kind) choose
    among what is there. ``perturb``, ``difficulty`` and ``options`` are added to all of them.
    ``purpose`` is what splits are for where none is named. Names that an arm cannot play are put into ``left_out``.
    """
    task, split, level, difficulty, perturb = (words(one) for one in (task, split, level, difficulty, perturb))
    seeds = SEEDS if episodes is None else episodes
    made = functools.partial(
        make_names, difficulties=difficulty, perturbations=perturb, options=options, episodes=seeds, first_seed=first_seed or 0,
        control=control, levels=level, purpose=purpose,
    )  # fmt: skip
    names: list[str] = []
    whole: list[str] = []  # suites without a task or split of their own: chosen together, so that a task need be in one of them only
    listed: list[str] = []
    for one in places(what):
        found = None if is_listed(one) else _SELECTOR.fullmatch(str(one))
        if found is None:
            listed += [str(one)] if "#" in str(one) and not Path(one).is_file() else read_names(Path(one))
        elif found["task"] is None and found["split"] is None:
            whole.append(found["suite"])
        elif (found["task"] and task) or (found["split"] and split):
            raise EtudeError(f"{one} names a task or split of its own, which is not combined with --task or --split")
        else:
            names += made([found["suite"]], [found["task"]] if found["task"] else task, [found["split"]] if found["split"] else split)
    if whole:
        names = [*made(whole, task, split), *names]
    if listed:
        if (twice := repeated(listed := [*checked(listed)])) is not None:
            raise EtudeError(f"the plan has {twice} twice")
        narrowed = _narrowed([EpisodeName.parse(name) for name in listed], task, split, level, episodes, first_seed)
        names += _varied(narrowed, option_sets(options, difficulty), perturbation_sets(perturb, control))
    if options and "robot" in options:
        names = _within_reach(names, options["robot"], [] if left_out is None else left_out)
    return _applicable(names) if perturb else tuple(names)


def _applicable(names: Sequence[str]) -> tuple[str, ...]:
    """Without the tasks that refuse their perturbations, with a count and the reason; where all do, the first refusal stands."""
    kinds: dict[tuple[str, ...], dict[str, str]] = {}  # by perturbations: the first name of each task
    for name in names:
        parsed = EpisodeName.parse(name)
        if parsed.perturbations:
            kinds.setdefault(parsed.perturbations, {}).setdefault(f"{parsed.suite}/{parsed.task}", name)
    refused: dict[tuple[tuple[str, ...], str], EtudeError] = {}
    for perturbations, firsts in kinds.items():
        for task, name in firsts.items():
            try:
                find(name)
            except UnmadeEpisode:  # to be recorded as an error when its turn comes
                continue
            except EtudeError as error:
                refused[perturbations, task] = error
        reasons = [error for (which, _), error in refused.items() if which == perturbations]
        if len(reasons) == len(firsts):
            raise reasons[0]
        if reasons:
            _log.warning("%s: %d of %d tasks are left out: %s", "+".join(perturbations), len(reasons), len(firsts), reasons[0])
    kept = [(name, EpisodeName.parse(name)) for name in names]
    return tuple(name for name, n in kept if (n.perturbations, f"{n.suite}/{n.task}") not in refused)


def _within_reach(names: Sequence[str], arm: str, left_out: list[str]) -> list[str]:
    """Without the episodes that this arm cannot play, with a count and a reason; where it can play none, the reason stands."""
    bases = {name: str(replace(EpisodeName.parse(name), perturbations=())) for name in names}
    refused: dict[str, EtudeError] = {}
    for base in dict.fromkeys(bases.values()):
        try:
            find(base)
        except UnmadeEpisode:  # to be recorded as an error when its turn comes
            continue
        except EtudeError as error:
            refused[base] = error
    kept = [name for name in names if bases[name] not in refused]
    if refused:
        reason = next(iter(refused.values()))
        if not kept:
            raise reason
        left_out += [name for name in names if bases[name] in refused]
        _log.warning("robot=%s: %d of %d episodes are left out: %s", arm, len(names) - len(kept), len(names), reason)
    return kept


def words(value: Words) -> tuple[str, ...]:
    """One text or several, as several."""
    return (value,) if isinstance(value, str) else tuple(value)


def places(what: str | Path | Sequence[str | Path]) -> tuple[str | Path, ...]:
    """One place to look for episodes or several, as several."""
    return (what,) if isinstance(what, (str, Path)) else tuple(what)


def is_listed(one: str | Path) -> bool:
    """Does this name episodes one by one: a file, a frozen list, or an episode's name?"""
    return isinstance(one, Path) or named_plan(one) is not None or "#" in one or Path(one).is_file()


def selected(one: str) -> tuple[str, str | None, str | None]:
    """The suite, task and split that are written as ``kitchen``, ``kitchen@test``, ``kitchen/cup`` or ``kitchen/cup@test``."""
    found = _SELECTOR.fullmatch(one)
    if found is None:
        raise EtudeError(f"{one!r} names neither episodes nor a suite; expected kitchen, kitchen@test, kitchen/cup, kitchen/cup@test")
    return found["suite"], found["task"], found["split"]


def _narrowed(
    names: Sequence[EpisodeName],
    task: Sequence[str],
    split: Sequence[str],
    level: Sequence[str],
    episodes: int | None,
    first_seed: int | None,
) -> list[EpisodeName]:
    """Those of a list that are asked for; a wish that leaves nothing, or changes nothing it should, is refused."""
    if episodes is not None and episodes < 1:
        raise EtudeError(f"--episodes must be at least 1, got {episodes}")
    for what, wanted, values in (
        ("task", task, [{n.task, f"{n.suite}/{n.task}"} for n in names]),
        ("split", split, [{n.split} for n in names]),
        ("level", level, [{find_task(n).level or n.split} for n in names]),
    ):
        for one in wanted:
            if not any(one in mine for mine in values):
                raise unknown(f"{what} among the listed episodes", one, {min(mine, key=len) for mine in values})
        if wanted:
            names = [name for name, mine in zip(names, values, strict=True) if mine & {*wanted}]
    if first_seed is not None:
        names = [name for name in names if name.seed >= first_seed]
    if not names:
        raise EtudeError("none of the listed episodes has the task, split, level and seed that are asked for")
    if episodes is None:
        return list(names)
    kinds: dict[EpisodeName, list[EpisodeName]] = {}
    for name in names:
        kinds.setdefault(replace(name, seed=0), []).append(name)
    if max(map(len, kinds.values())) < episodes:
        raise EtudeError(
            f"--episodes {episodes} of each kind: the list has at most {max(map(len, kinds.values()))}; leave it out to play all"
        )
    kept = {name for members in kinds.values() for name in members[:episodes]}
    return [name for name in names if name in kept]


def _varied(names: Sequence[EpisodeName], extras: Sequence[Mapping[str, str]], sets: Sequence[tuple[str, ...]]) -> list[str]:
    """The names with these options, and with each set of perturbations besides their own; no name is made to say two things."""
    found: dict[str, None] = {}
    tell_what_fits([find_task(name) for name in names], extras, sets)
    for extra in extras:
        for name in names:
            for key, value in name.options:
                if extra.get(key, value) != value:
                    raise EtudeError(f"{name} has {key}={value} already, so that {key}={extra[key]} cannot be asked of it")
        for one in sets:
            for name in (name for name in names if changeable(find_task(name), one)):
                options = tuple(sorted({**dict(name.options), **own_options(find_task(name), extra)}.items()))
                made = replace(name, perturbations=tuple({*name.perturbations, *one}), options=options)
                find_task(made)
                found[str(made)] = None
    return list(found)
