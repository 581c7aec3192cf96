"""What is in training and in test although it should not be: episodes, shapes, textures, combinations, names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from etude.evaluation.choosing import choose
from etude.names import EpisodeName, EtudeError
from etude.suites.suite import Suite

SHOWN = 5  # examples of a leak


@dataclass(frozen=True)
class Leak:
    """What leaks, with some examples."""

    what: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class SplitContent:
    """What some episodes of a split hold: digests of scene and goal by name, and the things with a role, as (shape, texture)."""

    task: str
    split: str
    digests: Mapping[str, str]
    things: frozenset[tuple[str, str]]


def leaks(suite: Suite, contents: Sequence[SplitContent]) -> list[Leak]:
    """All that leaks, as far as these episodes show."""
    training = [c for c in contents if suite.splits[c.split] == "training"]
    others = [c for c in contents if suite.splits[c.split] != "training"]
    return [*_same_episodes(training, others), *_not_novel(suite, training, others), *_trained_on(suite)]


def _same_episodes(training: Sequence[SplitContent], others: Sequence[SplitContent]) -> list[Leak]:
    found = []
    for other in others:
        known = {digest: name for c in training if c.task == other.task for name, digest in c.digests.items()}
        twice = [f"{name} is {known[digest]}" for name, digest in other.digests.items() if digest in known]
        if twice:
            found.append(Leak(f"{other.task}: {len(twice)} episodes of {other.split} are in training", tuple(twice[:SHOWN])))
    return found


def _not_novel(suite: Suite, training: Sequence[SplitContent], others: Sequence[SplitContent]) -> list[Leak]:
    seen = frozenset().union(*(c.things for c in training)) if training else frozenset[tuple[str, str]]()
    found = []
    for split, what in suite.novel.items():
        there = frozenset().union(*(c.things for c in others if c.split == split))
        if what == "combination":
            both = sorted(f"{texture} {shape}" for shape, texture in there & seen)
        else:
            part = 0 if what == "shape" else 1
            both = sorted({thing[part] for thing in there} & {thing[part] for thing in seen})
        if both:
            found.append(Leak(f"{split} should have no {what} of training: {len(both)} of them", tuple(both[:SHOWN])))
    return found


def _trained_on(suite: Suite) -> list[Leak]:
    """Names that a dataset would hold by default, and an evaluation too."""
    try:
        recorded = choose(suite.name, purpose="training")
    except EtudeError:  # nothing of it is for training
        return []
    wrong = [name for name in recorded if suite.splits[EpisodeName.parse(name).split] != "training"]
    found = [Leak("default training data has episodes of splits that are not for training", tuple(wrong[:SHOWN]))] if wrong else []
    tests = {"an evaluation by default": choose(suite.name)}
    tests |= {f"the plan {suite.name}-{name}": plan() for name, plan in suite.plans.items()}
    for where, names in tests.items():
        if all(suite.splits[EpisodeName.parse(name).split] == "training" for name in names):  # a plan of what is trained on
            continue
        both = sorted({EpisodeName.parse(n).base for n in names} & {EpisodeName.parse(n).base for n in recorded})
        if both:
            found.append(Leak(f"{len(both)} episodes of {where} are in default training data", tuple(both[:SHOWN])))
    return found
