"""A simulation as a process of its own: it is told names and actions, and tells what is seen and how episodes end. Without torch."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np

from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.learn.demonstrating import prompt_of
from etude.learn.packing import packed
from etude.learn.samples import NUMBERS, Demonstration, Look, contract_for, things_seen
from etude.library import episode
from etude.names import EtudeError
from etude.policies.contract import refuse_mismatches


@dataclass(frozen=True)
class PlayedEpisode:
    """How an episode ended. ``least`` is the smallest number of strokes it could have taken, ``failed`` what was wrong first."""

    episode: str
    success: bool
    steps: int
    least: int
    progress: float
    failed: str = ""


def simulate(connection: Connection, look: Look) -> None:
    """A simulation's life: a name comes, observations go and actions come, and then an outcome goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(10)  # who decides for all of them comes first
    contract = contract_for(look)
    try:
        while True:
            name = connection.recv_bytes().decode()
            try:
                found = episode(name)
                refuse_mismatches(contract, [found])
                simulation = Simulation(found)
                observer = Observer(simulation, contract.cameras, contract.size, contract.modalities)
                told = prompt_of(found, look)
                while not simulation.over:
                    things = things_seen(observer.look(), contract)
                    none = np.zeros((1, NUMBERS), np.float32)
                    connection.send_bytes(json.dumps({"step": simulation.steps, "episode": name}).encode())
                    connection.send_bytes(packed(Demonstration(told, (things,), none, none, np.zeros(1, np.bool_))))
                    simulation.step(np.frombuffer(connection.recv_bytes()))
            except EtudeError as error:
                connection.send_bytes(json.dumps({"error": f"{name}: {error}"}).encode())
                return
            status = simulation.status
            outcome = PlayedEpisode(
                name, status.satisfied, simulation.steps, found.least, round(status.progress, 4), simulation.monitor.first_failure() or ""
            )
            connection.send_bytes(json.dumps(outcome.__dict__).encode())
    except (EOFError, OSError):
        return
