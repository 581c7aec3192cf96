"""Formulas over *atoms*: "these two objects have the same category", "this object is a car", "this one lies left of that one".

Every question becomes one; whether it can be true, and how, is then a small search over values of properties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Atom:
    """A question about one object or two, by their frames. Without ``second`` the first is compared with the value ``value``.

    ``relation`` is "same", or one of the relations between places.
    """

    property: str
    first: int
    second: int | None = None
    value: int = -1
    relation: str = "same"


# A truth, the number of an atom, or a sign ("not", "and", "or", "xor", "if") with its parts.
Formula = bool | int | tuple[str, "Formula"] | tuple[str, "Formula", "Formula"] | tuple[str, "Formula", "Formula", "Formula"]


@dataclass(frozen=True)
class Outcome:
    """An answer: a formula that is true or false, a property of the object on a frame, a constant, or a number of formulas that hold."""

    formula: Formula | None = None
    property: str = ""
    frame: int = -1
    value: int = -1
    counted: tuple[Formula, ...] = ()


@dataclass(frozen=True)
class Branch:
    """One of two outcomes, by a formula."""

    condition: Formula
    then: Outcome | Branch
    otherwise: Outcome | Branch


def negated(formula: Formula) -> Formula:
    """The opposite."""
    if isinstance(formula, bool):
        return not formula
    return formula[1] if isinstance(formula, tuple) and formula[0] == "not" else ("not", formula)


def exactly(count: int, formulas: Sequence[Formula]) -> Formula:
    """Exactly ``count`` of the formulas hold."""
    if count < 0 or count > len(formulas):
        return False
    if not formulas:
        return True
    first, rest = formulas[0], formulas[1:]
    return "if", first, exactly(count - 1, rest), exactly(count, rest)


def holds(formula: Formula, truth: Mapping[int, bool] | Sequence[bool] = ()) -> bool:
    """Is the formula true, given the truth of its atoms?"""
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, int):
        return truth[formula]
    sign = formula[0]
    if sign == "not":
        return not holds(formula[1], truth)
    if sign == "and":
        return holds(formula[1], truth) and holds(formula[2], truth)  # type: ignore[misc]
    if sign == "or":
        return holds(formula[1], truth) or holds(formula[2], truth)  # type: ignore[misc]
    if sign == "xor":
        return holds(formula[1], truth) is not holds(formula[2], truth)  # type: ignore[misc]
    return holds(formula[2] if holds(formula[1], truth) else formula[3], truth)  # type: ignore[misc]
