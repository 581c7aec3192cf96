"""Lists of trials, by name: the paper's levels, single abilities, classic tasks, and tasks combined in time.

``trial(list, split, seed)`` is the same trial for all time. Splits differ in the views of the objects that are shown. In every list answers
are balanced by construction, and among the first thousand seeds no trial comes twice.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from etude.decisions.asking import Question
from etude.decisions.autotask import auto_question
from etude.decisions.balance import turn, wanted
from etude.decisions.classics import (
    contextual_decision,
    dual_match_to_sample,
    match_to_sample,
    n_back,
    samples_abbcca,
    samples_abcabc,
)
from etude.decisions.compose import condition, interleave, make_trial, overlap, queue
from etude.decisions.distract import Distraction
from etude.decisions.graph import DecisionGraph
from etude.decisions.listing import BOOLEAN, Lister, TrialDraw, fresh_thing
from etude.decisions.solver import Domain
from etude.decisions.space import LOCATION
from etude.decisions.trial import Placed, Trial
from etude.decisions.varied import crowded, delayed
from etude.names import EtudeError, Stream, pick, whole_number
from etude.suites.iwisdm import abilities, levels, spaces

SUITE = "iwisdm"
VERSION = f"{SUITE}-lists-2"  # counts up whenever a trial of a list changes
PROPERTIES = ("category", LOCATION, "identity")
DELAYS = (0, 4)  # between sample and test
DECISIONS = 4  # in a row, for n-back
ATTEMPTS = 200

# ------------------------------------------------------------------------------------------------ classic tasks

PAIRS = ((LOCATION, "category"), (LOCATION, "identity"))  # category and identity depend on each other


def match(draw: TrialDraw, properties: Sequence[str]) -> Trial:
    """Delayed match to sample, with a delay of 0 to 4 frames."""
    prop, visit = turn(properties, draw.list, draw.seed)
    stream = draw.stream()
    return _matched(draw, match_to_sample(prop, stream.integer(*DELAYS)), prop, visit, stream)


def dual_match(draw: TrialDraw) -> Trial:
    """Delayed match to sample in two properties: in both, or in one at least."""
    kinds = tuple((*pair, join) for pair in PAIRS for join in ("and", "or"))
    (first, second, join), visit = turn(kinds, draw.list, draw.seed)
    stream = draw.stream()
    return _matched(draw, dual_match_to_sample(first, second, stream.integer(*DELAYS), join), f"{second}/{join}", visit, stream)


def context(draw: TrialDraw) -> Trial:
    """Contextual decision making with three objects: which property of the last two counts depends on the first two."""
    kinds = tuple((first, *order) for first in PROPERTIES for pair in PAIRS for order in (pair, pair[::-1]))
    (first, then, otherwise), visit = turn(kinds, draw.list, draw.seed)
    stream = draw.stream()
    return _matched(draw, contextual_decision(first, then, otherwise, stream.integer(0, 1)), f"{first}/{then}/{otherwise}", visit, stream)


def _matched(draw: TrialDraw, task: DecisionGraph, kind: str, visit: int, stream: Stream) -> Trial:
    (answer, branch), again = turn([(a, b) for a in BOOLEAN for b in (True, False)], f"{draw.list}/{kind}", visit)
    thing = fresh_thing(draw.domain, f"{draw.list}/{kind}/{answer}/{branch}", again)
    showing = draw.showing("classic")
    return make_trial(draw.name, task, draw.domain, answer, stream, showing=showing, branch=branch, given={0: thing})


def several(draw: TrialDraw, properties: Sequence[str], name: str) -> Trial:
    """Several decisions in one trial: n-back, or samples and tests that interlock."""
    prop, visit = turn(properties, draw.list, draw.seed)
    tasks = _several(name, prop)
    answers = [wanted(BOOLEAN, f"{draw.list}/{prop}/{k}", visit) for k in range(len(tasks))]
    return make_trial(draw.name, tasks, draw.domain, answers, draw.stream(), showing=draw.showing("classic"), adapt=False)


def _several(name: str, prop: str) -> tuple[Placed, ...]:
    if name.endswith("_back"):
        return n_back(("one_back", "two_back", "three_back").index(name) + 1, prop, DECISIONS)
    return {"samples_abcabc": samples_abcabc, "samples_abbcca": samples_abbcca}[name](prop)


# ------------------------------------------------------------------------------------------------ tasks combined in time

SHORT = replace(levels.LOW, joins=(0, 1), frames=(2, 5), delays=(0, 2), constants=0.1)
LOOSE = replace(SHORT, frames=(4, 6), delays=(1, 3))  # with room between its objects


def combined(draw: TrialDraw, how: str) -> Trial:
    """Short tasks drawn at random and combined; in every second trial there are distractors."""
    distraction, visit = turn((None, Distraction(time=1, frames=1)), draw.list, draw.seed)
    first, second = wanted(tuple(product(BOOLEAN, BOOLEAN)), f"{draw.list}/{distraction is None}", visit)
    answers = [first, second]
    if how == "condition":  # the second answer is that of the task that is done; the other says something else, so the condition counts
        other = BOOLEAN[1 - BOOLEAN.index(second)]
        answers = [first, second, other] if first == "true" else [first, other, second]
    stream = draw.stream()
    for _ in range(ATTEMPTS):
        tasks = [_any(draw, stream, how).task for _ in answers]
        try:
            placed = _combined(tasks, how, stream)
            return make_trial(
                draw.name, placed, draw.domain, answers, stream, showing=draw.showing(how), distraction=distraction, adapt=False
            )
        except EtudeError:
            continue
    raise EtudeError(f"{draw.name}: no two tasks were found in {ATTEMPTS} attempts that can be combined by {how}")


def _any(draw: TrialDraw, stream: Stream, how: str) -> Question:
    return auto_question(LOOSE if how == "interleave" else SHORT, stream, draw.domain)


def _combined(tasks: Sequence[DecisionGraph], how: str, stream: Stream) -> tuple[Placed, ...]:
    if how == "queue":
        return queue(*tasks, gap=stream.integer(0, 1))
    if how == "condition":
        first, then, otherwise = tasks
        return condition(first, then, otherwise, gap=stream.integer(0, 1))
    start = stream.integer(1, tasks[0].frames - 1)
    return (overlap if how == "overlap" else interleave)(*tasks, starts=(0, start))


# ------------------------------------------------------------------------------------------------ all of them


def _lists() -> dict[str, Lister]:
    found = {**levels.LISTS, **abilities.LISTS}
    for name in ("match_to_sample", "one_back", "two_back", "three_back", "samples_abcabc", "samples_abbcca"):
        for prop, properties in (("", PROPERTIES), *((f"_{p}", (p,)) for p in PROPERTIES)):
            one: Lister = functools.partial(several, properties=properties, name=name)
            found[name + prop] = functools.partial(match, properties=properties) if name == "match_to_sample" else one
    found |= {"dual_match_to_sample": dual_match, "contextual_decision": context}
    found |= {how: functools.partial(combined, how=how) for how in ("queue", "overlap", "interleave", "condition")}
    return found | {"auto": spaces.auto}


LISTS: dict[str, Lister] = _lists()


VARIED = ("delay", "distractors", "stimuli")
"""Options of all lists: how many empty frames there are, how many distractors beside each object, and whose pictures are shown."""


def trial(task: str, split: str, seed: int, domain: Domain | None = None, stimuli: str = "procedural", **options: str) -> Trial:
    """The trial of a list for a seed. ``domain`` is that of the stimulus set and the split, unless another is given.

    ``options`` are those of its name: the same trial with a ``delay`` of so many empty frames, or so many ``distractors`` beside objects.
    """
    from etude.decisions.showing import domain_of  # with the renderer behind it

    lister = pick("list of trials", task, LISTS)
    shown = domain or domain_of(stimuli, split)
    draw = TrialDraw(SUITE, task, split, seed, shown, stimuli, tuple(options.items()))
    found = lister(draw)
    for key, vary in (("delay", _delayed), ("distractors", _crowded)):
        if key in options:
            number = whole_number(options[key])
            if number is None:
                raise EtudeError(f"{key}={options[key]} is not a whole number from 0 on")
            found = vary(found, number, draw)
    given = {**({} if stimuli == "procedural" else {"stimuli": stimuli}), **options}
    return replace(found, name=str(replace(found.parsed, options=tuple(given.items()))))


SWEPT = (0, 1, 2, 3, 4, 6, 8)  # delays
SWEEP = 50  # trials


def delays() -> tuple[str, ...]:
    """The delay sweep (iWISDM figure 11): matching to a sample by category and by location, the same trials with every delay."""
    lists = [f"{SUITE}/match_to_sample_{prop}@val" for prop in ("category", LOCATION)]
    return tuple(f"{one}#{seed}?delay={delay}" for one in lists for delay in SWEPT for seed in range(SWEEP))


def _delayed(found: Trial, count: int, draw: TrialDraw) -> Trial:
    return delayed(found, count, draw.stream("delays"))


def _crowded(found: Trial, count: int, draw: TrialDraw) -> Trial:
    return crowded(found, count, draw.domain, draw.stream("distractors")) if count else found
