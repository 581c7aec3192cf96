"""How RoboHiMan answers its questions Q1 to Q5 (sections 4.2 to 4.6), each answer as two sides that are compared."""

from __future__ import annotations

import functools
from typing import Literal

from etude.suites.himan.models import PLANNER, line
from etude.suites.himan.paper import condition, scores
from etude.suites.himan.recipes import EVERY, FACTORS
from etude.suites.himan.tables import PLAIN
from etude.suites.paper import ClaimSide, PaperClaim

CLOUDS = (line("RVT2"), line("3D-Diffuser-Actor"))  # who sees in three dimensions, and acts by keyposes
PICTURES = (line("π0"), line("π0.5"))
ALL = (*CLOUDS, *PICTURES)
LOOKS = ("mo_color", "ro_color", "mo_texture", "ro_texture")  # of objects


def _side(
    who: tuple[str, ...],
    trained: str,
    tasks: str = "C",
    mode: str = "rule",
    factors: tuple[str, ...] = (),
    seen: bool | None = None,
    across: bool = False,
    nothing: bool = False,
    less: ClaimSide | None = None,
) -> ClaimSide:
    read = functools.partial(scores, factors=factors, seen=seen, across=across, nothing=nothing)
    return ClaimSide(who, trained, condition(tasks, mode), read, less)


def _cost(who: tuple[str, ...], trained: str, factors: tuple[str, ...]) -> ClaimSide:
    """How much factors cost compositions: those without, less those with them, on the same seeds."""
    return _side(who, trained, factors=(PLAIN,), across=True, less=_side(who, trained, factors=factors, across=True))


def _claim(
    name: str, section: str, says: str, first: ClaimSide, second: ClaimSide, direction: Literal["above", "alike"] = "above"
) -> PaperClaim:
    return PaperClaim(name, section, says, first, second, direction)


SPEAKER = (PLANNER,)
BEST = CLOUDS[:1]

CLAIMS = (
    # Q1: can models without a planner combine skills?
    _claim("never composed alone", "Q1, 4.2", "Without a planner, no composition is done",
           _side(ALL, "L4", mode="vanilla"), _side(ALL, "L4", mode="vanilla", nothing=True), "alike"),
    _claim("planning composes", "Q1, 4.2", "With a rule-based planner, more compositions are done than without", _side(ALL, "L4"),
           _side(ALL, "L4", mode="vanilla")),
    _claim("planning on atomic tasks", "Q1, 4.2", "With a rule-based planner, more atomic tasks are done than without",
           _side(ALL, "L4", "A"), _side(ALL, "L4", "A", "vanilla")),
    _claim("data alone does not compose", "Q1, 4.2", "More data brings nothing to compositions without a planner",
           _side(ALL, "L4", mode="vanilla"), _side(ALL, "L1", mode="vanilla"), "alike"),
    # Q2: what does more training data bring?
    _claim("perturbed skills help skills", "Q2, 4.3", "Demonstrations of skills under factors (L2) help atomic tasks",
           _side(ALL, "L2", "A"), _side(ALL, "L1", "A")),
    _claim("compositions do not help skills", "Q2, 4.3", "Compositions in the training data (L4) change little in atomic tasks",
           _side(ALL, "L4", "A"), _side(ALL, "L2", "A"), "alike"),
    _claim("perturbed skills help compositions", "Q2, 4.3", "Demonstrations of skills under factors (L2) help compositions",
           _side(ALL, "L2"), _side(ALL, "L1")),
    _claim("compositions help compositions", "Q2, 4.3", "Compositions under factors in the training data (L4) help compositions",
           _side(ALL, "L4"), _side(ALL, "L2")),
    # Q3: which factors hinder composition?
    _claim("looks of objects cost", "Q3, 4.4", "Other colours and textures of objects cost compositions",
           _side(ALL, "L1", factors=(PLAIN,), across=True), _side(ALL, "L1", factors=LOOKS, across=True)),
    _claim("all factors cost", "Q3, 4.4", "All factors together cost compositions", _side(ALL, "L1", factors=(PLAIN,), across=True),
           _side(ALL, "L1", factors=(EVERY,), across=True)),
    _claim("perturbed compositions make robust", "Q3, 4.4", "With compositions under factors in the training data (L4), factors cost less",
           _cost(ALL, "L3", FACTORS), _cost(ALL, "L4", FACTORS)),
    _claim("perturbed skills hardly make robust", "Q3, 4.4", "With skills under factors alone (L2), factors cost compositions as much",
           _cost(ALL, "L1", FACTORS), _cost(ALL, "L2", FACTORS), "alike"),
    _claim("clouds over pictures", "Q3, 4.4", "Who sees in three dimensions and acts by keyposes does better", _side(CLOUDS, "L4"),
           _side(PICTURES, "L4")),
    # Q4: what of compositions that were never seen?
    _claim("unseen as seen", "Q4, 4.5", "Who acts by keyposes does unseen compositions as well as seen ones",
           _side(CLOUDS, "L4", seen=True), _side(CLOUDS, "L4", seen=False), "alike"),
    _claim("unseen below seen", "Q4, 4.5", "Who acts by pictures does seen compositions better than unseen ones",
           _side(PICTURES, "L4", seen=True), _side(PICTURES, "L4", seen=False)),
    # Q5: is it the planner or the policy?
    _claim("planner errs on compositions", "Q5, 4.6", "A planner that sees is right more often in atomic tasks than in compositions",
           _side(SPEAKER, "L4", "A", "offline"), _side(SPEAKER, "L4", "C", "offline")),
    _claim("compositions help the planner", "Q5, 4.6", "Compositions in the training data (L4) help it there",
           _side(SPEAKER, "L4", "C", "offline"), _side(SPEAKER, "L2", "C", "offline")),
    _claim("seeing costs atomic tasks", "Q5, 4.6", "With a planner that sees, fewer atomic tasks are done than with the rule-based one",
           _side(BEST, "L4", "A"), _side(BEST, "L4", "A", "coupled")),
    _claim("seeing costs compositions", "Q5, 4.6", "With a planner that sees, fewer compositions are done than with the rule-based one",
           _side(BEST, "L4"), _side(BEST, "L4", mode="coupled")),
    _claim("hardly coupled", "Q5, 4.6", "With a planner that sees, no composition is done", _side(BEST, "L4", mode="coupled"),
           _side(BEST, "L4", mode="coupled", nothing=True), "alike"),
)  # fmt: skip
