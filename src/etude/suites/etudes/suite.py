"""Études as a suite."""

from __future__ import annotations

from etude.envs.simulation import Simulation
from etude.scene.rooms import xarm_room
from etude.suites.suite import Suite


def _cause(simulation: Simulation) -> str:
    from etude.suites.etudes.causes import cause

    return cause(simulation)


etudes = Suite(
    "etudes",
    "Études",
    splits={"train": "training", "val": "validation", "test": "test"},
    alike={"val": "train"},
    room=xarm_room,
    workspace=((-0.4, -0.3), (0.05, 0.3)),
    cause=_cause,
)
