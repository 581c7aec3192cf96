"""Robots to be evaluated on that are simulations in a thread, and judges that know what those think."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager

from etude.evaluation.play import Players, play
from etude.policies.contract import Contract
from etude.policies.robot_server import serving_robot
from etude.policies.simulated_robot import SimulatedRobot


@contextmanager
def served(robot=None, port=0, **settings):
    """A robot at an address, until the block ends: then it goes away, whatever it is doing. Gives both."""
    robot = robot or SimulatedRobot("himan_real")
    loop, ready, opened = asyncio.new_event_loop(), threading.Event(), []

    def listening(at):
        opened.append(at)
        ready.set()

    task = loop.create_task(serving_robot(robot, port=port, ready=listening, **settings))

    def run():
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            pass
        finally:
            ready.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(60) and opened
    try:
        yield robot, f"ws://127.0.0.1:{opened[0]}"
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(60)
        loop.close()


class Knowing:
    """A judge who sees the state of the simulation's goal. ``asked`` are the questions so far."""

    def __init__(self, robot):
        self._robot, self.asked, self.shown = robot, [], []

    @property
    def _status(self):
        return self._robot.simulation.status

    def ready(self, episode, stop):
        self._robot.simulation = None  # that of the last episode says nothing of this one
        self.shown.append(episode)

    def heard(self):
        return "end" if self._robot.simulation is not None and self._status.satisfied else ""

    def subtask(self, text):
        self.asked.append(text)
        nodes = self._robot.simulation.monitor.nodes()
        return "done" if any(n.status.satisfied for n in nodes if n.goal.words() == text) else "not done"

    def episode(self, text):
        self.asked.append(text)
        return "done" if self._status.satisfied else "not done"


class Remembered:
    """Acts as the oracle did in simulations of these episodes, without seeing any; ``enough``: it gives up after so many actions."""

    contract = Contract.etude()

    def __init__(self, names, mode="vanilla", enough=1000):
        self.records, self._actions, self._enough = {}, {}, enough
        for name in names:
            record, trajectory = play(Players("oracle"), name, mode)
            own = [a for a, (_, step) in zip(trajectory.actions, trajectory.words, strict=True) if step != "Move home"]
            self.records[name], self._actions[name] = record, own
        self._now = ""

    def reset(self, instruction, pictures, episode):
        if episode != self._now:
            self._now, self._given = episode, 0

    def act(self, observation):
        self._given += 1
        known = self._actions[self._now]
        return known[min(self._given, self._enough, len(known)) - 1]


def verdicts(path):
    """The last word of a simulation on each of its episodes, from the file it writes."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {line["episode"]: line for line in lines}
