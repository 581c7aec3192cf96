"""The paper's levels of complexity (iWISDM table 1): single frames, low, medium, high; each with all properties, or with one only.

Every trial has a task of its own. Which answer it has, and through which branch, is settled first; then a task is drawn that can have it.
``low``, ``medium`` and ``high`` are distributed as the paper's: 4, 6.2 and 7 objects on average, four in five answers of high true or
false, all answers offered. In ``low_balanced`` and so on delays are longer, objects are looked at for several properties, all
answers come equally often, and those are offered that the question can have.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from etude.arithmetic import total
from etude.decisions.autotask import auto_question
from etude.decisions.balance import turn, wanted
from etude.decisions.compose import make_trial
from etude.decisions.connectivity import TaskSpace
from etude.decisions.graph import DecisionGraph
from etude.decisions.listing import BOOLEAN, Lister, TrialDraw, fresh_thing
from etude.decisions.looks import Const, Get, IsSame, NotSame, Select
from etude.decisions.space import LOCATION, StimulusSpace
from etude.decisions.trial import Trial

COMPARING = ("IsSame", "And", "Or", "NotSame")

# Frames, And, Or and Switch are the paper's (table 1); depth, operators and constants those of its configuration files. 15 operators leave
# no room for And or Or within And or Or. Delays are what is left of the frames: between none and four.
LOW = TaskSpace(roots=COMPARING, constants=0.2, max_switch=0, max_depth=5, max_operators=15, joins=(1, 1), frames=(6, 6), delays=(0, 4))
MEDIUM = replace(LOW, max_switch=1, switch_chance=1.0, max_depth=7, frames=(8, 8))
HIGH = replace(MEDIUM, roots=(*COMPARING, "Get"), max_depth=8, joins=(1, 2), frames=(9, 9))
LEVELS = {"low": LOW, "medium": MEDIUM, "high": HIGH}
TRUTH = "bool"
SHARES = {"category": 12, LOCATION: 11}  # of a hundred answers at the paper's high; all others are true or false
NAMEABLE = 1.5  # comparisons for each that can have a constant, in the paper's: identities have no names
ONE_PROPERTY = {LOCATION: 0.1, "category": 0.1, "identity": 0.0}  # the chance of constants then


def restricted(settings: TaskSpace, prop: str) -> TaskSpace:
    """The same level with one property only. Identities have no names: they are neither told nor compared with one."""
    named = (prop,) if ONE_PROPERTY[prop] else ()
    return replace(settings, properties=((prop, 1.0),), reported=named, named=named, constants=ONE_PROPERTY[prop])


def possible_answers(settings: TaskSpace, space: StimulusSpace) -> tuple[str, ...]:
    """Every answer that a task with these settings can have."""
    values = [v for prop in settings.reported for v in space.values(prop)] if "Get" in settings.roots else []
    return (*BOOLEAN, *values)


def as_published(settings: TaskSpace) -> TaskSpace:
    """The same level as the paper's generator draws it: no object is looked at twice, and an empty frame follows every second object until
    there are two."""
    constants = settings.constants * (NAMEABLE if len(settings.properties) > 1 else 1)
    chance = 0.5 if constants else None  # without constants, the number of objects is settled by that of the frames
    return replace(settings, delays=(0, 2), delay_chance=chance, sharing=0.0, constants=constants, attempts=20_000)


def level(draw: TrialDraw, name: str, settings: TaskSpace) -> Trial:
    """A trial of a level of the paper. All answers that a task of the level could have are offered, whatever is asked."""
    space, reported = draw.domain.space, settings.reported if "Get" in settings.roots else ()
    rest = 100 - 2 * total(SHARES[prop] for prop in reported) if reported else 1
    # What is answered, and what would be in the other branch: who reads both cannot tell which it is. Two properties leave too few objects.
    kinds = {(TRUTH, TRUTH): rest} | {pair: SHARES[p] for p in reported for pair in ((p, TRUTH), (TRUTH, p))}
    ((kind, other), place), block = turn([(pair, k) for pair, n in kinds.items() for k in range(n)], f"{draw.list}/kinds", draw.seed)
    visit, answers = block * kinds[kind, other] + place, BOOLEAN if kind == TRUTH else space.values(kind)
    branches = (True, False) if settings.max_switch else (None,)
    answer, branch = wanted(tuple(product(answers, branches)), f"{draw.list}/{kind}/{other}", visit)
    ends = (kind,) if branch is None else (kind, other) if branch else (other, kind)
    return _asked(draw, name, settings, answer, branch, ends, possible_answers(settings, space))


def balanced(draw: TrialDraw, name: str, settings: TaskSpace) -> Trial:
    """A trial of a level in which all answers come equally often."""
    return _with_its_turn(draw, name, settings, draw.list, draw.seed)


def composite(draw: TrialDraw, name: str, settings: TaskSpace) -> Trial:
    """A trial of a level in which everything is about categories, or everything about locations, in turn."""
    prop, visit = turn(("category", LOCATION), f"{draw.list}/property", draw.seed)
    return _with_its_turn(draw, name, restricted(settings, prop), f"{draw.list}/{prop}", visit)


def _with_its_turn(draw: TrialDraw, name: str, settings: TaskSpace, order: str, visit: int) -> Trial:
    """The answer whose turn it is, in the branch whose turn it is, of a task of its own."""
    branches = (True, False) if settings.max_switch else (None,)
    answer, branch = wanted(tuple(product(possible_answers(settings, draw.domain.space), branches)), order, visit)
    return _asked(draw, name, settings, answer, branch)


def _asked(
    draw: TrialDraw,
    name: str,
    settings: TaskSpace,
    answer: str,
    branch: bool | None,
    ends: Sequence[str] = (),
    offered: Sequence[str] = (),
) -> Trial:
    stream = draw.stream()
    question = auto_question(settings, stream, draw.domain, answer, branch, ends)
    return make_trial(draw.name, question.task, draw.domain, answer, stream, showing=draw.showing(name), branch=branch, offered=offered)


def single_frame(draw: TrialDraw, prop: str) -> Trial:
    """One frame with one object: does its property have a given value, or has it not?"""
    values = draw.domain.space.values(prop)
    cells = tuple(product((IsSame, NotSame), range(len(values)), BOOLEAN))
    (kind, value, answer), visit = turn(cells, draw.list, draw.seed)
    equal = (kind is IsSame) is (answer == "true")
    thing = fresh_thing(draw.domain, f"{draw.list}/{kind.__name__}/{value}/{answer}", visit, prop, value, equal)
    stream = draw.stream()
    sides = stream.shuffled([Get(prop, Select(0)), Const(prop, values[value])])
    return make_trial(
        draw.name, DecisionGraph(kind(*sides), 1), draw.domain, answer, stream, showing=draw.showing("single_frame"), given={0: thing}
    )


def _lists() -> dict[str, Lister]:
    found: dict[str, Lister] = {f"single_frame_{p}": functools.partial(single_frame, prop=p) for p in (LOCATION, "category")}
    for name, settings in LEVELS.items():
        each = {"": settings} | {f"_{prop}": restricted(settings, prop) for prop in ONE_PROPERTY}
        found |= {name + end: functools.partial(level, name=name, settings=as_published(one)) for end, one in each.items()}
        own = f"{name}_balanced"
        found |= {own + end: functools.partial(balanced, name=own, settings=one) for end, one in each.items()}
    for name, settings in LEVELS.items():
        found[f"cvr_{name}"] = functools.partial(composite, name=f"cvr_{name}", settings=settings)
        for prop in (LOCATION, "category"):
            found[f"cvr_{name}_{prop}"] = functools.partial(balanced, name=f"cvr_{name}", settings=restricted(settings, prop))
    return found


LISTS = _lists()
