"""What a report needs to know of suites and perturbations, written into a run so that it can be read where they are not installed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from etude.perturb.perturbation import known_perturbations
from etude.suites.suite import SUITES


def described(suites: Iterable[str], perturbations: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Of those that are known here: a suite's tasks in their order; whether success should survive a perturbation, and what it does."""
    known = known_perturbations()
    return {
        "suites": {suite: {"title": SUITES[suite].title, "tasks": list(SUITES[suite].tasks)} for suite in suites if suite in SUITES},
        "perturbations": {
            name: {"plausible": known[name].plausible, "summary": known[name].summary} for name in perturbations if name in known
        },
    }
