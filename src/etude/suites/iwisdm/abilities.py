"""One ability at a time: perception, attention in space, to a feature and in time, and memory; reported, or compared.

The forms follow the suites that the group of iWISDM built on it later (PAM of "Caption This, Reason That"): a property is named or two
objects are compared; distractors stand beside the object, or before and after it; memory is a delay before the answer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from etude.decisions.balance import turn
from etude.decisions.classics import compare, report
from etude.decisions.compose import make_trial
from etude.decisions.distract import Distraction
from etude.decisions.graph import DecisionGraph
from etude.decisions.listing import BOOLEAN, Lister, TrialDraw, fresh_thing
from etude.decisions.space import LOCATION
from etude.decisions.trial import Trial
from etude.names import Stream

FORMS = ("report", "compare")
LONGEST_DELAY = 5
FRAMES = (3, 6)  # of a trial in which only some matter
EVERYWHERE = 99  # frames with distractors: all there are


@dataclass(frozen=True)
class Ability:
    """What may be asked about, what distracts, and how a task of a form is made."""

    properties: tuple[str, ...]
    distraction: Distraction | None
    tasks: Callable[[str, str, Stream], DecisionGraph]


def _at_once(prop: str, form: str, stream: Stream) -> DecisionGraph:
    return report(prop) if form == "report" else compare(prop, 1)


def _among_others(prop: str, form: str, stream: Stream) -> DecisionGraph:
    length = stream.integer(*FRAMES)
    earlier, later = sorted(stream.sample(range(length), 2), reverse=True)
    return report(prop, earlier, length) if form == "report" else compare(prop, earlier, later, length)


def _after_a_delay(prop: str, form: str, stream: Stream) -> DecisionGraph:
    delay = stream.integer(1, LONGEST_DELAY)
    return report(prop, delay) if form == "report" else compare(prop, delay + 1, delay)


WHAT_AND_WHERE = ("category", LOCATION)
ABILITIES = {
    "perception": Ability(WHAT_AND_WHERE, None, _at_once),
    "spatial_attention": Ability(("category",), Distraction(frames=EVERYWHERE, each=(1, 3), by=(LOCATION,)), _at_once),
    "feature_attention": Ability((LOCATION,), Distraction(frames=EVERYWHERE, each=(1, 3), by=("category",)), _at_once),
    "temporal_attention": Ability(WHAT_AND_WHERE, Distraction(time=EVERYWHERE), _among_others),
    "memory": Ability(WHAT_AND_WHERE, None, _after_a_delay),
}


def ability(draw: TrialDraw, name: str, kinds: tuple[tuple[str, str], ...]) -> Trial:
    """A trial for one ability. ``kinds`` are (property, form), which take turns, as the answers of each do."""
    (prop, form), visit = turn(kinds, draw.list, draw.seed)
    values = draw.domain.space.values(prop)
    answer, visit = turn(values if form == "report" else BOOLEAN, f"{draw.list}/{prop}/{form}", visit)
    about = (prop, values.index(answer)) if form == "report" else ()
    thing = fresh_thing(draw.domain, f"{draw.list}/{prop}/{form}/{answer}", visit, *about)
    stream, how = draw.stream(), ABILITIES[name]
    task = how.tasks(prop, form, stream)
    return make_trial(
        draw.name,
        task,
        draw.domain,
        answer,
        stream,
        showing=draw.showing(name),
        distraction=how.distraction,
        given={task.seen[0]: thing},
    )


def _lists() -> dict[str, Lister]:
    found: dict[str, Lister] = {}
    for name, how in ABILITIES.items():
        kinds = tuple(product(how.properties, FORMS))
        found[name] = functools.partial(ability, name=name, kinds=kinds)
        for prop, form in kinds:
            found[f"{name}_{prop}_{form}"] = functools.partial(ability, name=name, kinds=((prop, form),))
    return found


LISTS = _lists()
