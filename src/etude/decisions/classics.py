"""Classic tasks of psychology and neuroscience, as graphs: matching to a sample, n-back, decisions in context, attention, memory.

Times are in frames. Where several decisions are made in one trial, the tasks come back laid out in time.
"""

from __future__ import annotations

from etude.decisions.compose import interleave, laid_out
from etude.decisions.graph import DecisionGraph
from etude.decisions.logic import And, Or, Switch
from etude.decisions.looks import Get, IsSame, NotSame, Select
from etude.decisions.operator import Operator
from etude.decisions.space import LOCATION
from etude.decisions.trial import Placed
from etude.names import EtudeError, pick

CONNECTIVES: dict[str, type[And] | type[Or]] = {"and": And, "or": Or}


def same(prop: str, earlier: int, later: int = 0, different: bool = False) -> Operator:
    """Do the objects seen so many frames ago agree (or, if ``different``, differ) in a property?"""
    return (NotSame if different else IsSame)(Get(prop, Select(earlier)), Get(prop, Select(later)))


def match_to_sample(prop: str = "category", delay: int = 1) -> DecisionGraph:
    """Delayed match to sample: a sample, a delay, a test; are they the same?"""
    return DecisionGraph(same(prop, delay + 1), delay + 2)


def dual_match_to_sample(first: str = LOCATION, second: str = "category", delay: int = 1, join: str = "and") -> DecisionGraph:
    """A sample, a delay, a test; are they the same in one property and (or) in another?"""
    return DecisionGraph(pick("join", join, CONNECTIVES)(same(first, delay + 1), same(second, delay + 1)), delay + 2)


def n_back(back: int, prop: str = "category", decisions: int = 4, step: int = 1) -> tuple[Placed, ...]:
    """Objects every ``step`` frames; from the n-th on, is each the same as the one n before?"""
    if back < 1 or decisions < 1 or step < 1:
        raise EtudeError(f"an n-back needs n, decisions and step of at least 1, not {back}, {decisions}, {step}")
    task = DecisionGraph(same(prop, back * step), back * step + 1)
    return laid_out(*[task] * decisions, starts=[k * step for k in range(decisions)])


def contextual_decision(context: str = "category", then: str = LOCATION, otherwise: str = "category", delay: int = 0) -> DecisionGraph:
    """Three objects: if the first two agree in one property, do the last two agree in a second? Otherwise, do they in a third?"""
    step = delay + 1
    return DecisionGraph(Switch(same(context, 2 * step, step), same(then, step), same(otherwise, step)), 2 * step + 1)


def samples_abcabc(prop: str = "category", step: int = 2) -> tuple[Placed, ...]:
    """Three samples, then three tests in the same order."""
    task = DecisionGraph(same(prop, 3 * step), 3 * step + 1)
    return interleave(task, task, task, starts=[0, step, 2 * step])


def samples_abbcca(prop: str = "category", step: int = 2) -> tuple[Placed, ...]:
    """A sample is held while two others come with their tests; its own test is the last."""
    outer, inner = DecisionGraph(same(prop, 5 * step), 5 * step + 1), DecisionGraph(same(prop, step), step + 1)
    return interleave(outer, inner, inner, starts=[0, step, 3 * step])


# ------------------------------------------------------------------------------------------------ one ability at a time


def report(prop: str, ago: int = 0, frames: int = 0) -> DecisionGraph:
    """What was the property of the object seen ``ago`` frames before the last?"""
    return DecisionGraph(Get(prop, Select(ago)), max(frames, ago + 1))


def compare(prop: str, earlier: int, later: int = 0, frames: int = 0) -> DecisionGraph:
    """Were two objects the same?"""
    return DecisionGraph(same(prop, earlier, later), max(frames, earlier + 1))
