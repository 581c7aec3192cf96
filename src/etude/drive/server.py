"""The page from which a person drives, and the socket through which they do: one address of this machine, one person at a time.

Time is kept here: while an episode is driven, a control step is carried out every 50 ms with whatever is held down then, and every step is
told to the page. All that touches the simulation happens in one thread, one thing after the other.
"""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from typing import Any, TypeVar

from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as listen
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from etude.drive.page import drive_page
from etude.drive.recorder import Recorder
from etude.drive.session import DrivingSession
from etude.drive.steering import Steering, read_steering
from etude.evaluation.view import PERIOD
from etude.names import EtudeError, legible, parse_json, pick
from etude.web.local_page import is_our_host

T = TypeVar("T")
HOST = "127.0.0.1"
SOCKET = "/socket"
LONGEST = 10_000  # bytes of what a page sends
ELSEWHERE = 4000  # why a connection was closed: another page drives now
LOOK = 0.5  # seconds between two looks at the recorder


class DriveServer:
    """One session and the page that shows it. ``recorder`` is told when something was kept; ``where`` names the folder, for people."""

    def __init__(self, session: DrivingSession, recorder: Recorder, where: str) -> None:
        self._session, self._recorder, self._where = session, recorder, where
        self._thread = ThreadPoolExecutor(1, "drive")
        self._page: ServerConnection | None = None
        self._steering = Steering(closed=session.closed)
        self._moving, self._over = asyncio.Event(), asyncio.Event()
        self._doing = {
            "keep": session.keep,
            "again": session.again,
            "next": lambda: session.go(1),
            "previous": lambda: session.go(-1),
            "pause": lambda: session.pause(True),
            "resume": lambda: session.pause(False),
        }

    async def run(self, port: int, ready: Callable[[str], None]) -> None:
        """Serve until the person has finished, or it is cancelled; ``ready`` gets the address."""
        try:
            server = await listen(self._converse, HOST, port, process_request=self._request, max_size=LONGEST, max_queue=64)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise EtudeError(f"port {port} of {HOST} is in use; choose another --port, or 0 for any that is free") from None
            raise EtudeError(f"cannot listen at {HOST}:{port}: {(error.strerror or str(error)).lower()}") from None
        try:
            async with server:
                ready(f"http://{HOST}:{server.sockets[0].getsockname()[1]}/")
                tasks = [asyncio.create_task(one) for one in (self._drive(), self._watch_recorder(), self._over.wait())]
                try:
                    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        task.result()  # what broke, breaks here
                finally:
                    for task in tasks:
                        task.cancel()
        finally:
            self._thread.shutdown()  # after the page's connection is closed, which pauses

    # ---------------------------------------------------------------------------------------- who comes in

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        """The page, or the socket for the page that came from here: no page of somebody else's may drive through a person's browser."""
        at = request.headers.get("Host", "")
        if not is_our_host(at, HOST):
            return connection.respond(HTTPStatus.FORBIDDEN, "open this page by the number of its machine, not by a name\n")
        if request.path == SOCKET:
            fine = request.headers.get("Origin") == f"http://{at}"
            return None if fine else connection.respond(HTTPStatus.FORBIDDEN, "only the page of this server drives\n")
        if request.path != "/":
            return connection.respond(HTTPStatus.NOT_FOUND, "there is one page here: /\n")
        body = drive_page(self._where, self._session.failures).encode()
        headers = Headers({
            "Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Connection": "close",
        })  # fmt: skip
        return Response(HTTPStatus.OK, "OK", headers, body)

    async def _converse(self, connection: ServerConnection) -> None:
        before, self._page = self._page, connection
        if before is not None:
            await before.close(ELSEWHERE, "this is driven from another window now")
        try:
            await self._show()
            async for message in connection:
                await self._hear(message)
        except ConnectionClosed:
            pass
        finally:
            if self._page is connection:
                self._page = None
                await self._do(lambda: self._session.pause(True))

    async def _hear(self, message: str | bytes) -> None:
        try:
            data = parse_json(message) if isinstance(message, str) else None
            if not isinstance(data, dict) or not isinstance(data.get("do"), str):
                raise EtudeError(f"a message is a JSON object that says what to do, got {legible(str(message)[:60])}")
            await self._obey(data["do"], data)
        except EtudeError as error:
            await self._tell({"kind": "note", "text": str(error)})

    async def _obey(self, what: str, data: dict[str, Any]) -> None:
        session = self._session
        if what == "steer":
            steering = read_steering(data)
            if data.get("start") == session.start:  # what was held down in an earlier episode does not begin this one
                self._steering = steering
                await self._do(lambda: session.steer(steering))
        elif what == "finish":
            await self._tell({"kind": "finished", "done": len(session.done)})
            self._over.set()
        else:
            deed = pick("thing to do", what, {**self._doing, "steer": None, "finish": None})
            assert deed is not None
            await self._do(deed)
            if what == "keep":
                self._recorder.want()
            if what in ("pause", "resume"):
                await self._tell({"kind": "moment", **await self._do(session.moment)})
            else:
                await self._show()
        if session.state == "driving":
            self._moving.set()

    # ---------------------------------------------------------------------------------------- what happens

    async def _drive(self) -> None:
        """Step by step, in time with the clock, for as long as something is driven."""
        clock = asyncio.get_running_loop().time
        due = clock()
        while True:
            if self._session.state != "driving":
                self._moving.clear()
                await self._moving.wait()
                due = clock()
            moment = await self._do(self._step)
            await self._tell({"kind": "moment", **moment})
            due = max(due + PERIOD, clock())  # what could not be done in time is not made up for
            await asyncio.sleep(due - clock())

    def _step(self) -> dict[str, Any]:
        self._session.step(self._steering)
        return self._session.moment()

    async def _watch_recorder(self) -> None:
        """Look after the recorder, and say what it could not do."""
        busy = None
        while True:
            text = self._recorder.look()
            if text:
                await self._tell({"kind": "note", "text": text})
            if self._recorder.busy != busy:
                busy = self._recorder.busy
                await self._tell({"kind": "recording", "busy": busy})
            await asyncio.sleep(LOOK)

    async def _show(self) -> None:
        """Show the episode from here on."""
        self._steering = Steering(closed=self._session.closed)
        await self._tell({"kind": "episode", **await self._do(self._session.scene)})

    async def _do(self, deed: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, deed)

    async def _tell(self, data: dict[str, Any]) -> None:
        """Tell the page, if there is one."""
        if self._page is not None:
            with suppress(ConnectionClosed):
                await self._page.send(json.dumps(data, allow_nan=False))


def serve_driving(session: DrivingSession, recorder: Recorder, where: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve the page until the person has finished, or the program is interrupted."""

    async def serving() -> None:
        await DriveServer(session, recorder, where).run(port, ready)

    asyncio.run(serving())
