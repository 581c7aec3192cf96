"""A trial in words: what to look at on every frame, and the questions, each on the frame on which it is to be answered.

Three grammars. ``exact`` is that of the paper with everything added that makes it unambiguous: brackets, one "delay" for every blank frame,
words for every operator. ``fluent`` says the same in whole sentences. ``original`` gives the paper's strings, where the paper had any.
:func:`etude.decisions.parse.parse` reads all of them.

Objects are numbered by the frames that show any, in the order of time; a number belongs to its frame, so it cannot go wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from etude.decisions.graph import DecisionGraph
from etude.decisions.space import LOCATION, StimulusSpace
from etude.decisions.templates import EXACT, FLUENT, ORIGINAL
from etude.decisions.trial import Placed, Trial
from etude.decisions.wording import Exact, Fluent, Original, SentenceWriter, spoken, told
from etude.names import EtudeError, pick

Names = tuple[tuple[str, str], ...]  # (property, value) that tell which of several things on a frame is meant


# ------------------------------------------------------------------------------------------------ steps


class _ExactSteps:
    """The words around the questions."""

    writer: type[SentenceWriter] = Exact
    blank_answers = True  # a blank frame on which a question is asked is a delay like others
    blank, run = "delay,", "delay for {} frames,"
    begins, labelled = "task {} begins,", "task {}: {}"
    depends = "if the answer to task {} is {}, then do task {}: {}"

    def look(self, number: int, frame: int | None, names: Names, space: StimulusSpace) -> str:
        return f"observe object {number}{_anchor(frame)}{_told(names, space) if names else ''},"

    def delays(self, count: int, runs: bool) -> list[str]:
        return [self.run.format(count)] if runs and count > 1 else [self.blank] * count

    def conditional(self, task: int, after: int, given: str, question: str) -> str:
        return self.depends.format(after, spoken(given), task, question)


class _FluentSteps(_ExactSteps):
    writer = Fluent
    blank, run = "Wait.", "Wait for {} frames."
    begins, labelled = "Task {} begins.", "Task {}: {}"
    depends = "If the answer to task {} is {}, do task {}: {}"

    def look(self, number: int, frame: int | None, names: Names, space: StimulusSpace) -> str:
        meant = f", the one{_told(names, space)}" if names else ""
        return f"Look at object {number}{_anchor(frame)}{meant}."


class _OriginalSteps(_ExactSteps):
    writer = Original
    blank_answers = False

    def look(self, number: int, frame: int | None, names: Names, space: StimulusSpace) -> str:
        given = dict(names)
        if given.keys() - {"category", LOCATION}:
            raise EtudeError(f"the original grammar cannot name a thing by its {', '.join(given)}; it names category and location")
        words = "".join(
            f" {sign}: {given[prop]}" for prop, sign in (("category", "with category"), (LOCATION, "at location")) if prop in given
        )
        return f"observe object {number}{_anchor(frame)}{words},"

    def delays(self, count: int, runs: bool) -> list[str]:
        return [self.blank] * min(count, 1)

    def conditional(self, task: int, after: int, given: str, question: str) -> str:
        raise EtudeError("the original grammar has no words for a task that depends on an answer; valid: exact, fluent")


_STEPS: dict[str, _ExactSteps] = {EXACT: _ExactSteps(), FLUENT: _FluentSteps(), ORIGINAL: _OriginalSteps()}
GRAMMARS = tuple(_STEPS)


def _anchor(frame: int | None) -> str:
    return "" if frame is None else f" in frame {frame + 1}"


def _told(names: Names, space: StimulusSpace) -> str:
    return "".join(f" {'at' if prop == LOCATION else 'with'} {told(prop, value, space)}" for prop, value in names)


# ------------------------------------------------------------------------------------------------ the whole

_MOST_KEPT = 8192
written_before: dict[Any, tuple[str, Any]] = {}


def question(task: DecisionGraph, space: StimulusSpace, grammar: str = "exact") -> str:
    """The question of a task on its own; its objects are numbered from 1."""
    numbers = {task.frames - 1 - frame: k for k, frame in enumerate(task.seen, 1)}
    return pick("grammar", grammar, _STEPS).writer(space, numbers).question(task.root)


def instruction(trial: Trial, space: StimulusSpace, grammar: str = "exact", *, runs: bool = False, anchored: bool = False) -> str:
    """The instruction of a trial.

    With ``runs`` blank frames in a row are counted ("delay for 3 frames"; ``original`` never does); ``anchored`` adds the number of the
    frame, from 1, to each object.
    """
    shown = _shown(trial, space)
    # By identity: to hash a graph takes longer than to look everything else up. What is kept alive here cannot share its id.
    key = (grammar, runs, anchored, id(space), shown, *[(id(p.task), p.start, p.after, p.given) for p in trial.tasks])
    found = written_before.get(key)
    if found is None:
        if len(written_before) >= _MOST_KEPT:
            written_before.clear()
        found = written_before[key] = _written(trial.tasks, shown, space, grammar, runs, anchored), (trial.tasks, space)
    return found[0]


def _shown(trial: Trial, space: StimulusSpace) -> tuple[Names | None, ...]:
    """For each frame what tells the thing that is meant, or None where the frame is blank."""
    if trial.grid != space.grid:
        raise EtudeError(f"the trial has a grid of {trial.grid}, but the space one of {space.grid}")
    if not trial.named and max(map(len, trial.frames), default=0) < 2:
        return tuple([() if things else None for things in trial.frames])
    found: list[Names | None] = []
    for frame, things in enumerate(trial.frames):
        meant = [t for t in things if not t.distractor] or list(things)  # where there are only distractors, one is announced like an object
        properties = [prop for where, prop in trial.named if where == frame]
        if not meant:
            found.append(None)
            continue
        if len(meant) > 1:
            raise EtudeError(f"frame {frame + 1} shows {len(meant)} objects; an instruction can speak of one, and of distractors")
        values = [space.of(prop, meant[0]) for prop in properties]
        if sum(all(space.of(p, t) == v for p, v in zip(properties, values, strict=True)) for t in things) > 1:
            raise EtudeError(f"nothing named on frame {frame + 1} tells its object from a distractor")
        found.append(tuple((prop, space.values(prop)[value]) for prop, value in zip(properties, values, strict=True)))
    return tuple(found)


def _written(tasks: Sequence[Placed], shown: Sequence[Names | None], space: StimulusSpace, grammar: str, runs: bool, anchored: bool) -> str:
    steps = pick("grammar", grammar, _STEPS)
    ends = [placed.end for placed in tasks]
    outside = [i + 1 for i, (p, end) in enumerate(zip(tasks, ends, strict=True)) if not 0 <= p.start <= end < len(shown)]
    if outside:
        raise EtudeError(f"task {outside[0]} does not lie within the {len(shown)} frames of the trial")
    numbers = {frame: k for k, frame in enumerate([f for f, names in enumerate(shown) if names is not None], 1)}
    begin = _told_beginnings(tasks) if steps.blank_answers else {}
    labelled = bool(begin) or any(p.after is not None for p in tasks)
    said: list[str] = []
    blank = 0
    for frame, names in enumerate(shown):
        begun = [steps.begins.format(i + 1) for i in begin[frame]] if frame in begin else []
        asked = [_asked(i, tasks, numbers, space, steps, labelled) for i, end in enumerate(ends) if end == frame] if frame in ends else []
        if begun or names is not None:
            said += [*steps.delays(blank, runs), *begun]
            blank = 0
        if names is not None:
            said.append(steps.look(numbers[frame], frame if anchored else None, names, space))
        elif steps.blank_answers or not asked:
            blank += 1
        if asked:
            said += [*steps.delays(blank, runs), *asked]
            blank = 0
    said += steps.delays(blank, runs)
    return " ".join(said).removesuffix(",")


def _told_beginnings(tasks: Sequence[Placed]) -> dict[int, list[int]]:
    """The tasks that begin where nobody would think so, by frame: usually one alone begins at once, and others where they first look."""
    found: dict[int, list[int]] = {}
    for i, placed in enumerate(tasks):
        if placed.start != (0 if len(tasks) == 1 else placed.start + placed.task.seen[0]):
            found.setdefault(placed.start, []).append(i)
    return found


def _asked(i: int, tasks: Sequence[Placed], numbers: Mapping[int, int], space: StimulusSpace, steps: _ExactSteps, labelled: bool) -> str:
    placed = tasks[i]
    end = placed.end
    said = steps.writer(space, {end - frame: number for frame, number in numbers.items()}).question(placed.task.root)
    if placed.after is not None:
        if placed.after == i or not 0 <= placed.after < len(tasks):
            raise EtudeError(f"task {i + 1} depends on task {placed.after + 1}, which is not another task of the trial")
        return steps.conditional(i + 1, placed.after + 1, placed.given, said)
    return steps.labelled.format(i + 1, said) if labelled else said
