"""Sparing a policy the grasp: the oracle takes hold of the right thing, and the policy goes on from there (VLMbench's G-M)."""

from __future__ import annotations

import numpy as np

from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES
from etude.goals.units import Control
from etude.names import EtudeError
from etude.policies.scripted import converted
from etude.skills.aim import delta_action
from etude.skills.oracle import Oracle

LONGEST = 8  # keyposes for a grasp
STEPS = 400  # control steps for one
LIFTED = 0.04  # m by which the thing is raised


def take_hold(simulation: Simulation, oracle: Oracle) -> None:
    """Have the oracle carry out the first unit of the episode's goal, lifting included. What it takes counts as steps."""
    node = next((n for n in simulation.monitor.nodes() if isinstance(n.goal, Control)), None)
    if node is None:
        raise EtudeError(f"{simulation.episode.name} does not begin with a grasp")
    assert isinstance(node.goal, Control)
    if simulation.episode.control in PRIMITIVES:
        left = LONGEST
        while left and not simulation.over:
            held = node.status.satisfied
            if held and not node.goal.lift:
                break
            stroke = oracle.stroke(node)
            if stroke is None:
                break
            simulation.step(stroke.to_action())
            left = 0 if held else left - 1
        return
    raised = 0.0
    for _ in range(STEPS):
        if simulation.over:
            return
        if node.status.satisfied:
            raised = raised or simulation.robot.tip().position[2]
            if not node.goal.lift or simulation.robot.tip().position[2] > raised + LIFTED:
                return
        aim = oracle.aim(node)
        simulation.step(np.asarray(converted(delta_action(aim, simulation.monitor.watch.tip), simulation)))
