"""AutoTask: tasks drawn at random from a space of tasks that a few settings span (iWISDM A.2.1).

A graph is drawn from the root down; every operator draws itself and asks for what is below it. Numbers that are asked for (of And and Or,
of frames, of delays) are shared out before the drawing begins instead of being hoped for, and questions that make no sense are drawn
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from etude.arithmetic import total
from etude.decisions.asking import Degenerate, Question, TooLarge, asked
from etude.decisions.connectivity import GraphAttempt, Maker, TaskSpace, Unfit
from etude.decisions.graph import DecisionGraph, structure
from etude.decisions.logic import Switch
from etude.decisions.looks import MOST_COUNTED
from etude.decisions.operator import operator_class
from etude.decisions.solver import Domain
from etude.decisions.space import StimulusSpace, standard_space
from etude.names import EtudeError, Stream

KEPT = 100  # attempts with the same kinds of answers; some kinds are not possible with every setting
MOST_MISSES = 20_000  # tasks in a row that were there before: the space of tasks is used up


def auto_question(
    settings: TaskSpace,
    stream: Stream,
    domain: Domain,
    answer: str | None = None,
    branch: bool | None = None,
    given: Sequence[str] = (),
) -> Question:
    """A task drawn at random, ready to be asked. With ``answer`` it is one that can have this answer, in the branch that is asked for where
    only one of two can have it.

    What is answered at the ends of all branches is drawn first and kept, unless it is ``given`` ("bool", "number" or a property for each,
    in their order); given that, all answers of the task are equally likely, in a list whose answers are.
    """
    _check(settings, domain.space)
    ends = list(given)
    for attempt in range(settings.attempts):
        if attempt % KEPT == 0 and not given:
            switches = sum(int(stream.chance(settings.switch_chance)) for _ in range(settings.max_switch))
            ends = _ends(settings, stream, domain.space, switches + 1, answer, branch)
        try:
            question = asked(_drawn(settings, stream, domain.space, ends, branch is not None), domain, 0)
        except (Unfit, Degenerate, TooLarge):
            continue
        if answer is None or answer in question.answers:
            return question
    raise EtudeError(f"AutoTask found no task in {settings.attempts} attempts: its settings ask for what cannot be combined")


def auto_task(settings: TaskSpace, stream: Stream, space: StimulusSpace) -> DecisionGraph:
    """A task drawn at random."""
    return auto_question(settings, stream, Domain(space)).task


def distinct_tasks(settings: TaskSpace, stream: Stream, count: int, space: StimulusSpace | None = None) -> Iterator[DecisionGraph]:
    """Tasks of which no two have the same :func:`~etude.decisions.graph.structure`; the canonical form is the proof."""
    domain = Domain(space or standard_space())
    seen: set[str] = set()
    misses = 0
    while len(seen) < count:
        task = auto_question(settings, stream, domain).task
        form = structure(task)
        if form in seen:
            misses += 1
            if misses == MOST_MISSES:
                raise EtudeError(f"no new task in {misses} attempts after {len(seen)} of {count}: these settings have few more")
            continue
        misses = 0
        seen.add(form)
        yield task


def _check(settings: TaskSpace, space: StimulusSpace) -> None:
    for name in (*settings.roots, *settings.booleans, *settings.operators):
        operator_class(name)
    for prop in (*(p for p, _ in settings.properties), *settings.reported, *settings.named):
        space.values(prop)


def _ends(settings: TaskSpace, stream: Stream, space: StimulusSpace, count: int, answer: str | None, branch: bool | None) -> list[str]:
    """What is answered at the end of each branch: "bool", "number" or a property."""
    roots = [operator_class(name) for name in settings.roots]
    kinds = ["bool"] if any(root.gives == "truth" for root in roots) else []
    kinds += dict.fromkeys(kind for root in roots for kind in root.ends(settings))
    if count == 1 and settings.joins[0] > 0:
        kinds = [k for k in kinds if k == "bool"]
    fitting = [k for k in kinds if answer is None or _answers(k, answer, space)]
    if not fitting:
        raise EtudeError(f"no task with these settings can be answered with {answer!r}; they answer with {', '.join(kinds) or 'nothing'}")
    while True:
        ends = [stream.choice(kinds) for _ in range(count)]
        if any(end in fitting for end in ends):
            break
    if branch is not None and count == 2 and (ends[0] in fitting) is not (ends[1] in fitting) and (ends[0] in fitting) is not branch:
        ends.reverse()
    return ends


def _answers(kind: str, answer: str, space: StimulusSpace) -> bool:
    if kind == "bool":
        return answer in ("true", "false")
    return answer.isdigit() and int(answer) <= MOST_COUNTED if kind == "number" else answer in space.values(kind)


def _drawn(settings: TaskSpace, stream: Stream, space: StimulusSpace, ends: list[str], ordered: bool) -> DecisionGraph:
    drawing = GraphAttempt(settings, stream, space)
    conditions = len(ends) - 1
    rooms = [drawing.room(settings.roots) if end == "bool" else 0 for end in ends] + [drawing.room(settings.booleans)] * conditions
    shares = _shared_out(settings.joins, rooms, stream)
    made = [drawing.part(settings.roots, share) if end == "bool" else drawing.end(end) for end, share in zip(ends, shares, strict=False)]
    whole = made[0]
    for k in range(conditions):
        whole = _switched(drawing.part(settings.booleans, shares[len(ends) + k]), whole, made[k + 1], ordered or stream.chance(0.5))
    when, length = drawing.frames()
    return DecisionGraph(whole(when), length)


def _switched(condition: Maker, one: Maker, other: Maker, ordered: bool) -> Maker:
    then, otherwise = (one, other) if ordered else (other, one)
    return lambda when: Switch(condition(when), then(when), otherwise(when))


def _shared_out(joins: tuple[int, int], rooms: Sequence[int], stream: Stream) -> list[int]:
    """How many joins each part has."""
    if joins[0] > total(rooms):
        raise Unfit
    shares = [0] * len(rooms)
    for _ in range(stream.integer(joins[0], min(joins[1], total(rooms)))):
        shares[stream.choice([k for k, room in enumerate(rooms) if shares[k] < room])] += 1
    return shares
