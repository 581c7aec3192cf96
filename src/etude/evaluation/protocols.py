"""Lists of episodes that are frozen under a name, so that results of different people are about the same episodes."""

from __future__ import annotations

import functools
from collections.abc import Callable

from etude.library import tasks

VIMA_SEEDS = 200  # for each task and level (CoGeLoT 4.8)


def _vima() -> tuple[str, ...]:
    table = tasks("vima").values()
    places = [(task.name, level) for level in ("L1", "L2", "L3", "L4") for task in table if level in task.splits]
    return tuple(f"vima/{task}@{level}#{seed}" for task, level in places for seed in range(VIMA_SEEDS))


def _vlmbench(split: str) -> tuple[str, ...]:
    from etude.suites.vlmbench.lists import names

    return names(split)


def _himan(what: str) -> tuple[str, ...]:
    from etude.suites.himan import recipes

    sets = {"atomic": recipes.ATOMIC, "compositional": recipes.COMPOSITIONAL}
    return recipes.evaluation(sets[what]) if what in sets else recipes.training(what)


PROTOCOLS: dict[str, Callable[[], tuple[str, ...]]] = {
    "vima-200": _vima,
    **{f"vlmbench-{s}": functools.partial(_vlmbench, s) for s in ("train", "valid_seen", "valid_unseen", "test_seen", "test_unseen")},
    **{f"himan-{what}": functools.partial(_himan, what) for what in ("atomic", "compositional", "L1", "L2", "L3", "L4")},
}
