"""From tasks to a trial: tasks laid out in time, objects for all of them at once, distractors, and the right action on every frame.

Tasks are combined by calls that say where each one begins: :func:`queue` (one after the other), :func:`overlap` (they look at common
objects), :func:`interleave` (they take turns, each with its own objects) and :func:`condition` (what comes next depends on an answer). All
wanted answers are asked for together. Where they cannot be had together, the earlier tasks keep theirs and a later one takes an answer that
is possible (iWISDM's forward modification), or the combination is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from etude.decisions.asking import asked
from etude.decisions.distract import Distraction, distracted
from etude.decisions.graph import DecisionGraph
from etude.decisions.joint import LinkedQuestions
from etude.decisions.meaning import answer
from etude.decisions.solver import Domain
from etude.decisions.space import SeenThing
from etude.decisions.trial import SILENT, Placed, Trial
from etude.names import EtudeError, Stream

# ------------------------------------------------------------------------------------------------ tasks in time


def queue(*tasks: DecisionGraph, gap: int = 0) -> tuple[Placed, ...]:
    """One task after the other, with ``gap`` empty frames between them."""
    found: list[Placed] = []
    for task in tasks:
        found.append(Placed(task, found[-1].end + 1 + gap if found else 0))
    return _checked(found)


def laid_out(*tasks: DecisionGraph, starts: Sequence[int]) -> tuple[Placed, ...]:
    """Tasks that begin on the given frames, whatever they share."""
    if len(tasks) != len(starts):
        raise EtudeError(f"{len(tasks)} tasks need {len(tasks)} frames to begin on, not {len(starts)}")
    return _checked([Placed(task, start) for task, start in zip(tasks, starts, strict=True)])


def overlap(*tasks: DecisionGraph, starts: Sequence[int]) -> tuple[Placed, ...]:
    """Tasks that begin on the given frames and share objects: every one but the first looks at an object of an earlier one."""
    found = laid_out(*tasks, starts=starts)
    for k in range(1, len(found)):
        if not any(frames_of(found[k]) & frames_of(p) for p in found[:k]):
            raise EtudeError(f"task {k + 1} shares no object with an earlier one; to overlap it must, or use interleave")
    return found


def interleave(*tasks: DecisionGraph, starts: Sequence[int]) -> tuple[Placed, ...]:
    """Tasks that begin on the given frames, each before some earlier one has ended, and share no object."""
    found = laid_out(*tasks, starts=starts)
    for k in range(1, len(found)):
        if any(frames_of(found[k]) & frames_of(p) for p in found[:k]):
            raise EtudeError(f"task {k + 1} shares an object with an earlier one; to interleave it must not, or use overlap")
        if not any(found[k].start <= p.end and p.start <= found[k].end for p in found[:k]):
            raise EtudeError(f"task {k + 1} begins after all earlier ones have ended; use queue")
    return found


def condition(first: DecisionGraph, then: DecisionGraph, otherwise: DecisionGraph, gap: int = 0) -> tuple[Placed, ...]:
    """A task, and after it one task or the other, depending on whether its answer was true.

    Both are answered on the same frame, the shorter one begins later: the moment of the second answer must not tell what the first was.
    """
    if first.root.kind() != "bool":
        raise EtudeError(f"a condition must be answered with true or false, not with a {first.root.kind()}")
    end = first.frames + gap + max(then.frames, otherwise.frames)
    return _checked([Placed(first), Placed(then, end - then.frames, 0, "true"), Placed(otherwise, end - otherwise.frames, 0, "false")])


def frames_of(placed: Placed) -> set[int]:
    """The frames a task looks at."""
    return {placed.start + frame for frame in placed.task.seen}


def _checked(tasks: Sequence[Placed]) -> tuple[Placed, ...]:
    if not tasks:
        raise EtudeError("a trial needs at least one task")
    for k, task in enumerate(tasks):
        if task.start < 0:
            raise EtudeError(f"task {k + 1} begins on frame {task.start}; frames are counted from 0")
        if task.after is not None and not 0 <= task.after < k:
            raise EtudeError(f"task {k + 1} depends on task {task.after + 1}, which does not come before it")
        if task.after is not None and tasks[task.after].end >= task.end:
            raise EtudeError(f"task {k + 1} would be answered before task {task.after + 1}, on which it depends")
        for j, other in enumerate(tasks[:k]):
            if other.end == task.end and not _exclusive(task, other):
                raise EtudeError(f"tasks {j + 1} and {k + 1} would both be answered on frame {task.end}; let one begin later")
    return tuple(tasks)


def _exclusive(one: Placed, other: Placed) -> bool:
    return one.after is not None and one.after == other.after and one.given != other.given


# ------------------------------------------------------------------------------------------------ trials


@dataclass(frozen=True)
class Showing:
    """What else a trial is: the level it belongs to, whose pictures it is shown with, and how fixation is."""

    level: str = ""
    stimuli: str = "procedural"
    split: str = "val"
    fixation: str = "withhold"


def make_trial(
    name: str,
    tasks: DecisionGraph | Sequence[Placed],
    domain: Domain,
    answers: Sequence[str | None] | str | None,
    stream: Stream,
    *,
    showing: Showing = Showing(),
    distraction: Distraction | None = None,
    branch: bool | None = None,
    given: Mapping[int, SeenThing] | None = None,
    adapt: bool = True,
    offered: Sequence[str] = (),
) -> Trial:
    """A trial in which every task is answered as wanted (None: as it comes).

    ``branch`` asks the first task to go through this branch of its first condition, where the answer allows it; ``given`` settles the
    objects of some frames. With ``adapt`` a later task takes another answer where its own is impossible; without, the trial is refused.
    ``offered`` are choices beyond those that its questions can be answered with.
    """
    placed = (Placed(tasks),) if isinstance(tasks, DecisionGraph) else _checked(tasks)
    questions = [asked(p.task, domain, p.start) for p in placed]
    each = [answers] if isinstance(answers, str) or answers is None else list(answers)
    if len(each) != len(placed):
        raise EtudeError(f"{len(placed)} tasks need {len(placed)} answers, not {len(each)}")
    wishes = [stream.choice(q.answers) if a is None else a for q, a in zip(questions, each, strict=True)]
    things: dict[int, SeenThing] = {}
    said = list(wishes)
    for group in _groups(placed):
        joint = LinkedQuestions([questions[k] for k in group], domain, stream, given)
        found, which = joint.objects([wishes[k] for k in group], branch if 0 in group else None, adapt)
        things.update(found)
        for k, answered in zip(group, which, strict=True):
            said[k] = answered
    count = max(p.end for p in placed) + 1
    frames: list[tuple[SeenThing, ...]] = [(things[f],) if f in things else () for f in range(count)]
    named: tuple[tuple[int, str], ...] = ()
    if distraction is not None:
        frames, named = distracted(frames, placed, distraction, domain, stream)
    for task, answered in zip(placed, said, strict=True):
        assert answer(task.task, frames, domain.space, task.start) == answered
    choices = {*offered, *(choice for question in questions for choice in question.answers)}
    return Trial(
        name,
        placed,
        tuple(frames),
        actions(placed, said, count),
        tuple(sorted(choices, key=domain.rank)),
        showing.level,
        showing.stimuli,
        showing.split,
        domain.space.grid,
        named,
        showing.fixation,
    )


def actions(tasks: Sequence[Placed], said: Sequence[str], count: int) -> tuple[str, ...]:
    """The right action on every frame: the answer of the task that ends there, if it is to be done at all."""
    found = [SILENT] * count
    done: list[bool] = []
    for k, task in enumerate(tasks):
        done.append(task.after is None or (done[task.after] and said[task.after] == task.given))
        if done[k]:
            found[task.end] = said[k]
    return tuple(found)


def _groups(placed: Sequence[Placed]) -> list[list[int]]:
    """The numbers of the tasks that share objects, directly or through others."""
    if len(placed) == 1:
        return [[0]]
    groups: list[tuple[list[int], set[int]]] = []
    for k, task in enumerate(placed):
        members, frames = [k], frames_of(task)
        apart = []
        for group in groups:
            if group[1] & frames:
                members, frames = group[0] + members, group[1] | frames
            else:
                apart.append(group)
        groups = [*apart, (sorted(members), frames)]
    return [members for members, _ in groups]
