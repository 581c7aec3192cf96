"""What a report needs to know of suites and perturbations, and what playing on needs of plug-ins: written into a run, so that it can be
read where they are not installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from etude.evaluation.plan import Plan
from etude.names import EpisodeName
from etude.perturb.perturbation import known_perturbations
from etude.plugins import provenance
from etude.policies.register import PLANNERS, POLICIES
from etude.scene.robots import ARMS
from etude.suites.suite import SUITES


def described(suites: Iterable[str], perturbations: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Of those that are known here: a suite's tasks in their order, and what its splits are for; what a perturbation does and varies, and
    whether success should survive it."""
    known = known_perturbations()
    return {
        "suites": {
            suite: {"title": SUITES[suite].title, "tasks": list(SUITES[suite].tasks), "splits": dict(SUITES[suite].splits)}
            for suite in suites
            if suite in SUITES
        },
        "perturbations": {
            name: {"plausible": one.plausible, "summary": one.summary, "varies": one.varies}
            for name in perturbations
            if (one := known.get(name)) is not None
        },
    }


def facts(plan: Plan, plugins: Sequence[str]) -> dict[str, Any]:
    """Of everything in a plan, and the plug-ins that it cannot be played without: those named for it, and those it names things of."""
    names = [EpisodeName.parse(name) for name in plan.names]
    told = described(dict.fromkeys(n.suite for n in names), dict.fromkeys(p for n in names for p in n.perturbations))
    return {**told, "plugins": provenance([*plugins, *_modules(plan, names)])}


def _modules(plan: Plan, names: Iterable[EpisodeName]) -> Iterator[str]:
    """The modules that brought what a plan names."""
    for table, text in ((POLICIES, plan.policy), (PLANNERS, plan.planner)):
        if text.partition(":")[0] in table:
            yield table.module_of(text.partition(":")[0])
    for suite, task in dict.fromkeys((n.suite, n.task) for n in names):
        yield from (SUITES.module_of(suite), SUITES[suite].tasks[task].module)
    yield from (known_perturbations()[p].module for p in dict.fromkeys(p for n in names for p in n.perturbations))
    yield from (ARMS.module_of(arm) for arm in dict.fromkeys(dict(n.options).get("robot", "") for n in names) if arm in ARMS)
