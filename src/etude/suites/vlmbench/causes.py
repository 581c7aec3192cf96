"""What went wrong in an episode of VLMbench, in the categories of its paper (VLMbench 1.11)."""

from __future__ import annotations

from etude.envs.simulation import Simulation
from etude.goals.units import Composed, Control


def cause(simulation: Simulation) -> str:
    """The pose or the object of the grasp, or those of the destination; or the hand was sent where it cannot come to."""
    watch, root = simulation.monitor.watch, simulation.monitor.root
    control = root.members[1]
    assert isinstance(root.goal, Composed) and isinstance(control.goal, Control)
    first = control.memory.get("first")
    if first is None:
        return "unreachable" if simulation.unreachable else "wrong grasp pose"
    if first != control.goal.thing:
        return "wrong grasp object"
    if any(watch.touches(control.goal.thing, place) for place in root.goal.other_places):
        return "wrong destination object"
    return "wrong destination pose"
