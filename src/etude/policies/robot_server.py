"""Serve a robot over a WebSocket, for evaluations that etude leads (:mod:`etude.policies.robot_wire`).

Write a class with the methods of :class:`ServedRobot`; ``examples/robot_server.py`` is one. What keeps people and things safe stands here:
actions are clipped to the robot's limits, one connection leads at a time, whoever reaches the server can stop the robot, and it is stopped
when the one that leads goes away or an action takes too long.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from etude.envs.actions import numbers
from etude.episodes import ActionSpace, picture_size
from etude.foreign import called, in_a_line
from etude.names import EtudeError, unknown
from etude.policies.policy import Observation
from etude.policies.robot_wire import INTRODUCTION, WORDS, RobotFacts, RobotFeeling
from etude.policies.server import Admission, last_words, listening
from etude.policies.sessions import Worker
from etude.policies.wire import LARGEST_FRAME, pack, unpack
from etude.pose import Array

_log = logging.getLogger(__name__)
LONGEST = 60.0  # seconds for what a robot is told, before it is stopped
VISITORS = 4  # connections at once: one leads, the others may stop the robot


class ServedRobot(Protocol):
    """A robot as its server needs it. All but ``stop`` are called one after the other, in one thread."""

    facts: RobotFacts

    def begin(self, episode: str, instruction: str, action: ActionSpace) -> RobotFeeling:
        """Go where episodes begin, ready for actions of this space; the scene stands. A robot that was stopped may move again."""

    def limits(self) -> tuple[Array, Array]:
        """The least and the greatest numbers (D,) of an action."""

    def look(self, cameras: Sequence[str], size: tuple[int, int] | None, modalities: Sequence[str]) -> Observation:
        """Pictures by camera and modality under the keys of observations, (width, height) in size, and ``proprioception``."""

    def act(self, action: Array) -> RobotFeeling:
        """Carry out an action, and hold still; give up at once when it is stopped, and say so."""

    def home(self) -> RobotFeeling:
        """Open the hand, and go back to where the episode began."""

    def stop(self) -> None:
        """Stop moving, now. Called from another thread, also in the middle of :meth:`act`."""


def serve_robot(
    robot: ServedRobot,
    host: str = "127.0.0.1",
    port: int = 8100,
    longest: float = LONGEST,
    key: str = "",
    ready: Callable[[int], None] | None = None,
) -> None:
    """Serve until interrupted. ``longest``: seconds for what the robot is told; ``key``: clients have to send it; ``ready`` is called with
    the port as soon as clients can connect, port 0 takes a free one."""
    asyncio.run(serving_robot(robot, host, port, longest, key, ready))


async def serving_robot(
    robot: ServedRobot,
    host: str = "127.0.0.1",
    port: int = 8100,
    longest: float = LONGEST,
    key: str = "",
    ready: Callable[[int], None] | None = None,
) -> None:
    """:func:`serve_robot` for those who have an event loop; cancel it to stop, the robot too."""
    if not longest > 0:
        raise EtudeError(f"a robot needs more than 0 s for what it is told, got {longest:g}")
    lead = _Lead(robot, longest)
    try:
        await listening(lead.converse, Admission(host, port, LARGEST_FRAME, VISITORS, key), "robot", ready)
    finally:
        lead.close()


class _Lead:
    """Who leads the robot, and what it was told last."""

    def __init__(self, robot: ServedRobot, longest: float) -> None:
        self._robot, self._longest = robot, longest
        self._worker = Worker()
        self._leader: ServerConnection | None = None
        self._begun = False
        self._introduction = pack({INTRODUCTION: robot.facts.to_data()})

    def close(self) -> None:
        """Stop the robot, and let go of it."""
        self._robot.stop()
        self._worker.close()

    async def converse(self, connection: ServerConnection) -> None:
        """Answer one connection until it ends; the robot does not outlive its leader."""
        try:
            await connection.send(self._introduction)
            async for message in connection:
                await connection.send(pack(await self._answer(connection, message)))
        except ConnectionClosed:
            pass
        except EtudeError as error:
            _log.warning("a connection was ended: %s", error)
            self._leave(connection)
            await last_words(connection, str(error), "the reason was sent before")
        finally:
            self._leave(connection)

    def _leave(self, connection: ServerConnection) -> None:
        if self._leader is connection:
            self._leader, self._begun = None, False
            self._robot.stop()

    async def _answer(self, connection: ServerConnection, message: str | bytes) -> dict[str, Any]:
        data = unpack(message) if isinstance(message, bytes) else None
        word = data.get("__ctrl__") if isinstance(data, dict) else None
        if word not in WORDS:
            raise unknown("word to a robot", str(word), WORDS)
        if word == "stop":
            self._robot.stop()
            return {"stopped": True}
        if self._leader not in (None, connection):
            raise EtudeError("somebody else leads this robot; it can be stopped, and nothing else")
        self._leader = connection
        assert isinstance(data, dict)
        return await self._told(word, data)

    async def _told(self, word: str, data: dict[str, Any]) -> dict[str, Any]:
        robot = self._robot
        if word == "begin":
            told = (_text(data, "episode"), _text(data, "instruction"), self._space(data))
            felt: RobotFeeling = await self._done(robot.begin, *told)
            self._begun = True
            return felt.to_data()
        if not self._begun:
            raise EtudeError(f"{word!r} before 'begin': no episode was begun here")
        if word == "look":
            seen: Observation = await self._done(robot.look, *self._wanted(data))
            return {"observation": seen}
        if word == "home":
            felt = await self._done(robot.home)
            return felt.to_data()
        low, high = robot.limits()
        action = numbers(data.get("action"), "the action", f"{len(low)} numbers")
        if action.shape != low.shape or not np.isfinite(action).all():
            raise EtudeError(f"an action has {len(low)} finite numbers, got {action.tolist()!r:.80}")
        allowed = np.clip(action, low, high)
        felt = await self._done(robot.act, allowed)
        return {**felt.to_data(), "clipped": bool((allowed != action).any())}

    async def _done(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the robot's own code makes of it, in its own thread; what takes too long, or breaks, stops the robot."""
        try:
            return await asyncio.wait_for(self._worker.run(called, "robot", function, *arguments), self._longest)
        except TimeoutError:
            self._robot.stop()
            raise EtudeError(f"the robot took more than {self._longest:g} s, and was stopped") from None
        except EtudeError:
            self._robot.stop()
            raise
        except Exception as error:
            self._robot.stop()
            raise EtudeError(f"the robot failed: {in_a_line(error)}") from error

    def _space(self, data: dict[str, Any]) -> ActionSpace:
        wanted = _text(data, "action")
        for action in self._robot.facts.actions:
            if action == wanted:
                return action
        raise unknown("action space of this robot", wanted, self._robot.facts.actions)

    def _wanted(self, data: dict[str, Any]) -> tuple[list[str], tuple[int, int] | None, list[str]]:
        facts, size = self._robot.facts, data.get("size")
        lists = []
        for what, known in (("cameras", facts.cameras), ("modalities", facts.modalities)):
            names = data.get(what)
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise EtudeError(f"{what!r} must be a list of names")
            lists.append(names)
            for name in names:
                if name not in known:
                    raise unknown(f"{what} of this robot:", name, known)
        return lists[0], None if size is None else picture_size(size), lists[1]


def _text(data: dict[str, Any], key: str) -> str:
    if not isinstance(data.get(key), str):
        raise EtudeError(f"{key!r} must be text, got {type(data.get(key)).__name__}")
    return str(data[key])
