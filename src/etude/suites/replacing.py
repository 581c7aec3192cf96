"""Frozen lists of which the oracle solves every episode: a seed that it does not solve is replaced by a later one of the same variation.

The table of replaced seeds is made by ``python -m etude.evaluation.replacing``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from etude.names import EpisodeName

NEXT = 4800  # seeds from one to its replacement: divisible by every number of variations
Replaced = Mapping[str, Sequence[int]]


def listed(name: EpisodeName, table: Replaced) -> str:
    """The name that stands in a list for this one. The table has seeds by "task@split+factor", once for each time they are replaced."""
    return str(replace(name, seed=name.seed + NEXT * table.get(replaced_key(name), ()).count(name.seed)))


def replaced_key(name: EpisodeName) -> str:
    """Where the replaced seeds of such episodes stand in a table."""
    return "+".join((f"{name.task}@{name.split}", *name.perturbations))
