"""What went wrong in an episode of HiMan-Bench: which half of an atomic stage was not done, and how."""

from __future__ import annotations

from etude.envs.simulation import Simulation
from etude.goals.detecting import Contained
from etude.goals.units import Composed, Control, MoveJoint


def cause(simulation: Simulation) -> str:
    """Of the first half stage that is open: nothing or something else was grasped, a drawer was not moved far enough, what was taken is
    still in the hand or somewhere else, dirt was left; or all halves were done, and one came undone."""
    stage, watch = simulation.monitor.root, simulation.monitor.watch
    while isinstance(stage.goal, Composed) and stage.goal.staged:
        stage = stage.goal.current(stage)
    assert isinstance(stage.goal, Composed)
    half = stage.goal.current(stage)
    if isinstance(half.goal, Control) and not half.status.satisfied:
        if "first" in half.memory:
            return "wrong thing grasped"
        return "out of reach" if simulation.unreachable else "nothing grasped"
    if isinstance(stage.goal.result, Contained):
        return "dirt left"
    if half.status.satisfied:
        return "came undone"
    if isinstance(half.goal, MoveJoint):
        return "drawer not opened" if half.goal.range[0] > 0 else "drawer not closed"
    return "still in the hand" if watch.grasped(getattr(half.goal, "thing", "")) else "put elsewhere"
