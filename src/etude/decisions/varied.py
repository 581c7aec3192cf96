"""A trial varied: the same questions about the same objects, with other delays, or with distractors beside the objects.

Variants of a trial are pairs: they differ in nothing else, and have the same answers.
"""

from __future__ import annotations

from dataclasses import replace

from etude.decisions.distract import Distraction, distracted
from etude.decisions.graph import DecisionGraph, rebuilt
from etude.decisions.looks import Select
from etude.decisions.operator import Operator
from etude.decisions.solver import Domain
from etude.decisions.space import SeenThing
from etude.decisions.trial import SILENT, Placed, Trial
from etude.names import EtudeError, Stream

MOST_DELAYS = 30
EVERYWHERE = 99  # frames with distractors: all there are


def delayed(trial: Trial, count: int, stream: Stream) -> Trial:
    """The trial with this many empty frames, whatever it had: spread over the gaps between what is shown or asked, one in each before any
    has two. With more delays, those of fewer stay where they are."""
    kept = [k for k, (things, said) in enumerate(zip(trial.frames, trial.answers, strict=True)) if things or said != SILENT]
    if count > MOST_DELAYS:
        raise EtudeError(f"a trial has at most {MOST_DELAYS} delays, not {count}")
    if count and len(kept) < 2:
        raise EtudeError(f"{trial.name} has one frame, and no room for a delay")
    gaps = stream.shuffled(range(1, len(kept)))
    before = [sum(1 for n in range(count) if gaps[n % len(gaps)] <= k) for k in range(len(kept))]
    moved = {old: k + before[k] for k, old in enumerate(kept)}
    length = len(kept) + count
    frames: list[tuple[SeenThing, ...]] = [()] * length
    answers = [SILENT] * length
    for old, new in moved.items():
        frames[new], answers[new] = trial.frames[old], trial.answers[old]
    tasks = tuple(_moved(placed, moved) for placed in trial.tasks)
    named = tuple((moved[frame], prop) for frame, prop in trial.named)
    return replace(trial, tasks=tasks, frames=tuple(frames), answers=tuple(answers), named=named)


def _moved(placed: Placed, moved: dict[int, int]) -> Placed:
    """A task whose frames are elsewhere; it begins with its first object."""
    end, first = moved[placed.end], min(moved[placed.start + frame] for frame in placed.task.seen)

    def change(node: Operator) -> Operator:
        return replace(node, when=end - moved[placed.end - node.when]) if isinstance(node, Select) else node

    return replace(placed, task=DecisionGraph(rebuilt(placed.task.root, change), end - first + 1), start=first)


def crowded(trial: Trial, count: int, domain: Domain, stream: Stream) -> Trial:
    """The trial with this many distractors beside every object that can be told from them by what no question asks about it."""
    if any(len(things) > 1 for things in trial.frames):
        raise EtudeError(f"{trial.name} has distractors of its own")
    frames, named = distracted(list(trial.frames), trial.tasks, Distraction(frames=EVERYWHERE, each=(count, count)), domain, stream)
    return replace(trial, frames=tuple(frames), named=named)
