"""Lists of episodes that are frozen under a name, so that results of different people are about the same episodes."""

from __future__ import annotations

from etude.library import tasks

VIMA_SEEDS = 200  # for each task and level (CoGeLoT 4.8)


def _vima() -> tuple[str, ...]:
    table = tasks("vima").values()
    places = [(task.name, level) for level in ("L1", "L2", "L3", "L4") for task in table if level in task.splits]
    return tuple(f"vima/{task}@{level}#{seed}" for task, level in places for seed in range(VIMA_SEEDS))


PROTOCOLS = {"vima-200": _vima}
