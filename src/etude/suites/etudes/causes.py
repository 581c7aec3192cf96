"""What went wrong in an étude: the first thing that did, as far as the goal can tell."""

from __future__ import annotations

from etude.envs.simulation import Simulation
from etude.goals.branching import Conditional, Succession


def cause(simulation: Simulation) -> str:
    """The wrong branch was taken, something was done before its turn, something was done in a way that cannot be mended, or not done."""
    for node in simulation.monitor.nodes():
        if isinstance(node.goal, Conditional) and node.memory.get("wrong"):
            return "wrong branch"
        if isinstance(node.goal, Succession) and node.memory.get("early"):
            return "out of order"
    if simulation.monitor.status.violated:
        return "spoilt"
    return "came undone" if all(leaf.reached for leaf in simulation.monitor.choices()) else "not done"
