"""A real HTTP server on this machine that speaks the chat protocol, and what tests ask through it."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from etude.names import EtudeError
from etude.policies.chat import ChatPlanner, chat_planner
from etude.policies.policy import Observation

MUG = "Place light blue mug 3 on red plate 1 without hitting anything else"
STAR = "Pick up green star 0"
VOCABULARY = (MUG, STAR)


@dataclass
class Reply:
    """One answer of the server; ``hold`` is waited for before it is sent."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    hold: threading.Event | None = None


def said(content: Any, **message: Any) -> Reply:
    """A good reply in which the model says ``content``."""
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    data = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content, **message}}], "usage": usage}
    return Reply(json.dumps(data).encode())


def failed(status: int, message: str = "try later", **headers: str) -> Reply:
    """A bad reply with the server's reason."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Reply(json.dumps({"error": {"message": message, "code": status}}).encode(), status, named)


class Server:
    """Gives its ``replies`` in order, the last one for ever; keeps what it was sent."""

    def __init__(self) -> None:
        self.replies: list[Reply] = [said(STAR)]
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                reply = server.replies[min(len(server.requests), len(server.replies) - 1)]
                server.requests.append((self.path, dict(self.headers), body))
                if reply.hold is not None:
                    reply.hold.wait(30)
                self.send_response(reply.status)
                for name, value in (*reply.headers, ("Content-Length", str(len(reply.body)))):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that gave up is no error of the test
        self.base = f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def planner(self, options: str = "", sleep: Callable[[float], None] = lambda _: None) -> ChatPlanner:
        return chat_planner(f"chat:some/model:7b@{self.base}" + (f"?{options}" if options else ""), sleep)

    def last_body(self) -> dict[str, Any]:
        return self.requests[-1][2]


@contextlib.contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server in a thread of its own; no key and no proxy from outside."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    found = Server()
    thread = threading.Thread(target=found.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        found.http.shutdown()
        thread.join()
        found.http.server_close()


def picture(number: int, height: int = 12, width: int = 10) -> np.ndarray[Any, np.dtype[np.uint8]]:
    grid = np.arange(height * width * 3, dtype=np.int64).reshape(height, width, 3)
    return ((grid * 7 + number * 31) % 256).astype(np.uint8)


def observation(**more: Any) -> Observation:
    seen = {"base": picture(1), "hand_view": picture(2), "base_depth": np.zeros((12, 10), np.float32)}
    return {**seen, "proprioception": np.zeros(4, np.float32), "instruction": "Tidy up", "vocabulary": VOCABULARY, **more}


def ask(planner: ChatPlanner, history: tuple[str, ...] = (), **more: Any) -> str:
    return planner.next_subtask(observation(**more), "Tidy up", history)


def refusal(call: Callable[[], object]) -> str:
    """The one line of the error."""
    with pytest.raises(EtudeError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)
