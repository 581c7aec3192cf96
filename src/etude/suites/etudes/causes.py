"""What went wrong in an étude: the first thing that did, as far as the goal can tell."""

from __future__ import annotations

from etude.envs.simulation import Simulation
from etude.goals.branching import Conditional, Succession
from etude.goals.goal import Always


def cause(simulation: Simulation) -> str:
    """The wrong branch was taken, something was done before its turn, a thing was touched that was to be left alone, something was done in
    a way that cannot be mended, or not done, or undone again."""
    for node in simulation.monitor.nodes():
        if isinstance(node.goal, Conditional) and node.memory.get("wrong"):
            return "wrong branch"
        if isinstance(node.goal, Succession) and node.memory.get("early"):
            return "out of order"
        if isinstance(node.goal, Always) and node.status.violated:
            return "touched what was to be left alone"
    if simulation.monitor.status.violated:
        return "spoilt"
    return "came undone" if all(leaf.reached for leaf in simulation.monitor.choices()) else "not done"
