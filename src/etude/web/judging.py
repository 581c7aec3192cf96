"""The page on which a person judges a robot: what to set up, a button for every word, and a red one that stops it."""

from __future__ import annotations

import json
import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from importlib import resources
from typing import Any

from etude.evaluation.judge import VERDICTS, JudgedEpisode, Verdict, Word
from etude.names import EtudeError, whole_number
from etude.web.local_page import LocalPageHandler

_log = logging.getLogger(__name__)
PORT = 8766
HOST = "127.0.0.1"  # whoever reaches the page moves the robot on
WORDS = {"next": "the sub-task is over", "end": "the episode is over"}


def page_port(text: str) -> int:
    """The port of ``page`` or ``page:PORT``; 0 is any that is free."""
    name, colon, port = text.partition(":")
    number = whole_number(port) if colon else PORT
    if name != "page" or number is None or number > 65535:
        raise EtudeError(f"--judge {text!r} is not of the form page or page:PORT, with a port up to 65535")
    return number


class PageJudge:
    """Serves a page on this machine, and asks there. ``address`` is where."""

    def __init__(self, port: int = PORT) -> None:
        self._asked: dict[str, Any] = {"question": "", "choices": [], "number": 0}
        self._episode: dict[str, Any] = {}
        self._stop: Callable[[], None] | None = None
        self._stopped = False
        self._answers: queue.Queue[str] = queue.Queue()
        self._words: queue.Queue[Word] = queue.Queue()
        self._lock = threading.Lock()
        try:
            self._server = ThreadingHTTPServer((HOST, port), _handler(self))
        except OSError as error:
            raise EtudeError(f"no page can be served at {HOST}:{port}: {error.strerror}; choose another: --judge page:PORT") from None
        self.address = f"http://{HOST}:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        _log.warning("open %s in a browser to judge", self.address)

    # ---------------------------------------------------------------------------------------- for the run

    def ready(self, episode: JudgedEpisode, stop: Callable[[], None]) -> None:
        """Show what is to be set up, and wait until it is."""
        self._episode, self._stop, self._stopped = asdict(episode), None, False
        self._ask("Does the scene stand as it should?", ["ready"])
        self._stop = stop

    def heard(self) -> Word:
        """The word that was clicked since."""
        try:
            return self._words.get_nowait()
        except queue.Empty:
            return "end" if self._stopped else ""

    def subtask(self, text: str) -> Verdict:
        """Ask about a sub-task."""
        return self._verdict(f"Was this sub-task done: “{text}”?")

    def episode(self, text: str) -> Verdict:
        """Ask about the whole."""
        found = self._verdict(f"Was all of it done: “{text}”?")
        self._stop = None
        return found

    def _verdict(self, question: str) -> Verdict:
        said = self._ask(question, list(VERDICTS))
        return next(verdict for verdict in VERDICTS if verdict == said)

    def _ask(self, question: str, choices: list[str]) -> str:
        with self._lock:
            self._asked = {"question": question, "choices": choices, "number": self._asked["number"] + 1}
            while not self._words.empty():  # what was said before is no word for what follows
                self._words.get_nowait()
        return self._answers.get()

    # ---------------------------------------------------------------------------------------- for the page

    def state(self) -> dict[str, Any]:
        """What is shown."""
        with self._lock:
            moving = self._stop is not None and not self._asked["choices"]
            return {"episode": self._episode, **self._asked, "words": WORDS if moving else {}, "stop": self._stop is not None}

    def said(self, data: object) -> None:
        """What was clicked: an ``answer`` to the question of this ``number``, a ``word``, or ``stop``."""
        match data:
            case {"stop": True}:
                stop = self._stop
                if stop is not None:
                    self._stopped = True
                    stop()
            case {"word": "next" | "end" as word}:
                self._words.put(word)
            case {"answer": str(answer), "number": int(number)}:
                with self._lock:
                    if number != self._asked["number"] or answer not in self._asked["choices"]:
                        return  # a double click, or an answer to what is no longer asked
                    self._asked = {**self._asked, "question": "", "choices": []}
                self._answers.put(answer)
            case _:
                raise EtudeError("a click says an answer with its number, a word, or stop")


def _handler(judge: PageJudge) -> type[LocalPageHandler]:
    page = resources.files("etude.web").joinpath("judging.html").read_bytes()

    class JudgeHandler(LocalPageHandler):
        """The page, what it shows, and what is clicked there."""

        def get(self) -> None:
            if self.path == "/":
                self.send_whole(page, "text/html; charset=utf-8")
            elif self.path == "/state":
                self.send_whole(json.dumps(judge.state()).encode(), "application/json")
            else:
                self.send_error(HTTPStatus.NOT_FOUND)

        def post(self) -> None:
            if self.path != "/said":
                self.send_error(HTTPStatus.NOT_FOUND)
            elif (body := self.body()) is not None:
                try:
                    judge.said(json.loads(body))
                except (ValueError, RecursionError) as error:  # an EtudeError is one
                    self.send_error(HTTPStatus.BAD_REQUEST, explain=str(error)[:200])
                    return
                self.send_whole(json.dumps(judge.state()).encode(), "application/json")

    return JudgeHandler
