"""What went wrong in an episode of VLMbench, in the categories of its paper (VLMbench 1.11)."""

from __future__ import annotations

from etude.envs.simulation import Simulation
from etude.goals.units import Composed, Control

GRASP_POSE, GRASP_OBJECT, POSE, OBJECT = "wrong grasp pose", "wrong grasp object", "wrong destination pose", "wrong destination object"
UNREACHABLE = "unreachable"
CAUSES = (GRASP_POSE, GRASP_OBJECT, POSE, OBJECT, UNREACHABLE)


def cause(simulation: Simulation) -> str:
    """The pose or the object of the grasp, or those of the destination; or the hand was sent where it cannot come to."""
    watch, root = simulation.monitor.watch, simulation.monitor.root
    control = root.members[1]
    assert isinstance(root.goal, Composed) and isinstance(control.goal, Control)
    first = control.memory.get("first")
    if first is None:
        return UNREACHABLE if simulation.unreachable else GRASP_POSE
    if first != control.goal.thing:
        return GRASP_OBJECT
    if any(watch.touches(control.goal.thing, place) for place in root.goal.other_places):
        return OBJECT
    return POSE
