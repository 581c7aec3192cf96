"""People who drive: they see where the tip is, know a way, and hold keys down."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from etude.drive.driven_set import DrivenSet, agreed_setting
from etude.drive.recorder import Recorder
from etude.drive.server import serve_driving
from etude.drive.session import DrivingSession, drivable
from etude.drive.steering import Steering
from etude.envs.simulation import Simulation
from etude.skills.aim import delta_action
from etude.skills.oracle import Oracle

PICK = "clevrskills/pick@train#0"
PATIENCE = 60  # seconds for anything: the machine may be busy
NEAR, SLOWLY = 0.006, 0.03  # m: where a point of the way counts as reached, and where one goes slowly
STILL, WAITING = 0.0005, 8  # m in a step, and steps: who comes no farther for so long goes on to the next point


@dataclass
class Driver:
    """Follows a way: points (x, y, z, is the hand closed), each until it is reached, or something is in the way for a while."""

    way: list[tuple[float, float, float, bool]]
    slowly: float = SLOWLY
    at: int = 0
    stuck: int = 0
    before: tuple[float, ...] = ()

    def held(self, tip: list[float]) -> dict[str, Any]:
        """What is held down with the tip there: keys are down or not, there is nothing in between."""
        self.stuck = self.stuck + 1 if self.before and math.dist(tip, self.before) < STILL else 0
        self.before = tuple(tip)
        while self.at < len(self.way) - 1 and (math.dist(tip, self.way[self.at][:3]) < NEAR or self.stuck > WAITING):
            self.at, self.stuck = self.at + 1, 0
        *place, closed = self.way[self.at]
        x, y, z = (there - here for there, here in zip(place, tip, strict=True))
        move = [0 if abs(v) < NEAR / 3 else math.copysign(1, v) for v in (-y, x, z)]
        return {"move": move, "turn": [0, 0, 0], "heading": 0.0, "slow": max(map(abs, (x, y, z))) < self.slowly, "closed": closed}


def driver(name: str = PICK, slowly: float = SLOWLY) -> Driver:
    """Who knows where the oracle takes hold of something: they come from above, press a little, and lift it."""
    simulation = Simulation(drivable(name))
    oracle = Oracle(simulation.episode, simulation.world, simulation.monitor)
    way = []
    while not simulation.over:
        simulation.step(delta_action(oracle.aim(), simulation.robot.tip()))
        way.append(simulation.robot.tip().position)
    assert simulation.status.satisfied
    x, y, z = min(way, key=lambda place: place[2])
    return Driver([(x, y, z + 0.1, False), (x, y, z - NEAR - 0.002, True), (x, y, z + 0.2, True)], slowly)


def drive(session: DrivingSession, person: Driver | None = None, most: int = 2000) -> None:
    """Drive to the end, in this process and as fast as it goes."""
    person = person or driver(session.names[session.number])
    for _ in range(most):
        held = person.held(list(session.simulation.robot.tip().position))
        steering = Steering(tuple(held["move"]), (0.0, 0.0, 0.0), 0.0, held["slow"], held["closed"])
        session.steer(steering)
        session.step(steering)
        if session.state in ("success", "failure"):
            return


@contextmanager
def served(folder: Path, names: tuple[str, ...] = (PICK,), failures: bool = False) -> Iterator[str]:
    """The address of a page at which these episodes are driven; at the end all that was kept has been recorded."""
    started, found = threading.Event(), []

    def ready(address: str) -> None:
        found.append(address)
        started.set()

    with DrivenSet(folder, agreed_setting(folder, names, (), (64, 64))) as driven:
        recorder = Recorder(folder)
        session = DrivingSession(names, driven.keep, "human", failures, 10.0, driven.names, "etude drive")
        thread = threading.Thread(target=serve_driving, args=(session, recorder, str(folder), 0, ready))
        thread.start()
        assert started.wait(PATIENCE)
        try:
            yield found[0]
        finally:
            with suppress(OSError, WebSocketException), page(found[0]) as socket:  # refused where the page has finished already
                tell(socket, "finish")
            thread.join(PATIENCE)
            assert not thread.is_alive()
            trouble = recorder.finish()
        assert not trouble


@contextmanager
def page(address: str) -> Iterator[ClientConnection]:
    """The socket of a page, opened as the page opens it."""
    at = address.removeprefix("http://").rstrip("/")
    with connect(f"ws://{at}/socket", origin=f"http://{at}", max_size=None) as socket:
        yield socket


def tell(socket: ClientConnection, what: str, **more: Any) -> None:
    socket.send(json.dumps({"do": what, **more}))


def hear(socket: ClientConnection, *kinds: str) -> dict[str, Any]:
    """The next message of one of these kinds."""
    while True:
        message = json.loads(socket.recv(timeout=PATIENCE))
        if message["kind"] in kinds:
            return message


def drive_over(socket: ClientConnection, person: Driver, shown: dict[str, Any]) -> dict[str, Any]:
    """Drive the episode that is shown to its end; gives the last moment."""
    while shown["state"] in ("ready", "driving"):
        tell(socket, "steer", start=shown["start"], **person.held(shown["tip"]))
        shown = hear(socket, "moment")
    return shown
