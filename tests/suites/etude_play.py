"""The oracle at work on études: on what is asked for, or on something else."""

from __future__ import annotations

from etude_judge import Seen

from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.goals.goal import Goal
from etude.goals.monitor import Monitor
from etude.names import rng
from etude.skills.aim import delta_action
from etude.skills.oracle import Oracle
from etude.suites.etudes.meaning import goal_of
from etude.suites.etudes.suite import etudes
from etude.suites.etudes.telling import read


class Witnessed(Simulation):
    """A simulation with somebody who looks on, and can say what went wrong first."""

    def __init__(self, episode: Episode) -> None:
        super().__init__(episode)
        assert etudes.witness is not None
        self.witness = etudes.witness(self)
        self.heartbeat = self.witness.look


def played(episode: Episode, meaning: Goal | None = None, before: int = 0) -> tuple[Witnessed, Seen]:
    """The oracle at work on a goal, the episode's own if none is given, after so many steps of flailing about."""
    simulation, seen = Witnessed(episode), Seen()
    own = simulation.monitor if meaning is None else Monitor(meaning, simulation.world)
    oracle, stream = Oracle(episode, simulation.world, own), rng(episode.name, "flailing")
    seen.look(simulation)
    while not simulation.over and not own.status.satisfied:
        if simulation.steps < before:
            simulation.step([*(stream.uniform(-1, 1) for _ in range(6)), 1.0])
        else:
            simulation.step(delta_action(oracle.aim(), own.watch.tip))
        if own is not simulation.monitor:
            own.update()
        seen.look(simulation)
    return simulation, seen


def one_after_the_other(asked: Episode, *texts: str) -> Witnessed:
    """The oracle at work on one thing after the other, whatever is asked for, and then on what is."""
    simulation = Witnessed(asked)
    for goal in (*(goal_of(read(text), asked.scene) for text in texts), asked.goal):
        own = simulation.monitor if goal is asked.goal else Monitor(goal, simulation.world)
        oracle = Oracle(asked, simulation.world, own)
        while not simulation.over and not own.status.satisfied:
            simulation.step(delta_action(oracle.aim(), own.watch.tip))
            if own is not simulation.monitor:
                own.update()
    return simulation
