"""A study with people: trials are shown in a browser, answers and response times are kept as a run like any policy's.

The paper's baseline is people; with this page anyone can be one, and several can at once, each at an address of their own. The run folder
is that of ``etude evaluate`` with the policy ``human:NAME``, so reports and comparisons work on it. Answers are written as they come: a
reload, or a new start, goes on where it stopped.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from etude import machine
from etude.decisions.showing import PIXELS, pictures, told
from etude.decisions.trial import SILENT, Trial
from etude.evaluation.decide import score
from etude.evaluation.plan import Plan
from etude.evaluation.record import Record
from etude.evaluation.schema import SCHEMA
from etude.evaluation.store import Store
from etude.library import trial as find_trial
from etude.names import PROTOCOL, EtudeError
from etude.prompts.pictures import data_url
from etude.web.local_page import LocalPageHandler

FOREVER = 1e9  # seconds that nobody waits


def human(person: str) -> str:
    """How a person is called where policies are named."""
    if not person or any(not (c.isalnum() or c in "-_.") for c in person):
        raise EtudeError(f"--person {person!r} must be a name of letters, digits, '-', '_' and '.'")
    return f"human:{person}"


def study_plan(person: str, names: tuple[str, ...]) -> Plan:
    """The plan of a study: the policy is a person."""
    return Plan(human(person), names)


class Study:
    """The state of one person's study: which trials, and what has been answered; use it as a context.

    ``practice`` are trials that come first, tell whether they were answered rightly, and are not kept.
    """

    def __init__(self, plan: Plan, folder: Path, practice: Sequence[str] = ()) -> None:
        # An episode with a robot is refused before a folder is made. Drawn once, so that nobody waits at the page for what is compiled.
        _shown(find_trial(plan.names[0]))
        self._store = Store(folder, plan)
        self._lock = threading.Lock()
        self._practice = [] if self._store.records else list(practice)  # who has begun knows how it goes
        self._feedback = ""
        try:
            self._introduce()
        except BaseException:
            self._store.__exit__(None, None, None)
            raise

    def _introduce(self) -> None:
        """Check that what was answered before is still what was asked, and write down who answers here, once."""
        for record in self._store.records.values():
            if find_trial(record.episode).id != record.id:
                raise EtudeError(
                    f"{record.episode} is no longer the trial that {str(self._store.folder)!r} has an answer to; choose another --out"
                )
        if not self._store.info():
            self._store.write_info({
                "schema": SCHEMA, "protocol": PROTOCOL, "plan": self._store.plan.digest, "policy": self._store.plan.policy, "planner": "",
                "contract": None, "renderer": "", "machine": machine.describe(), "command": machine.command(),
            })  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            self._store.seal()
            self._store.__exit__(kind, error, trace)

    def state(self) -> dict[str, Any]:
        """How far it is, and the next trial: its instruction, its frames, what is asked and what can be answered."""
        with self._lock:
            due = self._due()
            done, total = len(self._store.records), len(self._store.plan.episodes)
            told = {"practice": bool(self._practice), "feedback": self._feedback}
        return {"done": done, "total": total, **told, "trial": _shown(find_trial(due)) if due else None}

    def _due(self) -> str | None:
        """The trial that is shown."""
        return self._practice[0] if self._practice else self._store.missing[0][0] if self._store.missing else None

    def answer(self, name: str, answers: list[str], times: list[float]) -> None:
        """Keep the answers to the trial that is shown, and the seconds after which each was given.

        An answer to one that has been answered is ignored: a double click changes no answer.
        """
        with self._lock:
            if (name, "vanilla") in self._store.records:
                return
            if name != self._due():
                raise EtudeError(f"{name} is not the trial that is shown")
            trial = find_trial(name)
            record = scored(trial, answers, times)
            self._feedback = ""
            if self._practice:
                right = ", ".join(trial.answers[k] for k in _asked(trial))
                self._feedback = "That was right." if record.success else f"That was not right: the answer was {right}."
                del self._practice[0]
                return
            self._store.add(record)
            self._store.sync()


def _shown(trial: Trial) -> dict[str, Any]:
    return {
        "name": trial.name,
        "instruction": told(trial, "fluent"),
        "frames": [data_url(picture) for picture in pictures(trial, PIXELS)],
        "asked": _asked(trial),
        "choices": list(trial.choices),
    }


def _asked(trial: Trial) -> list[int]:
    return [k for k, right in enumerate(trial.answers) if right != SILENT]


def scored(trial: Trial, answers: list[str], times: list[float]) -> Record:
    """The record of a trial that was answered question by question, each after so many seconds."""
    asked = _asked(trial)
    if len(answers) != len(asked) or any(a not in trial.choices for a in answers):
        raise EtudeError(f"expected {len(asked)} answers, each one of {', '.join(trial.choices)}")
    if len(times) != len(asked) or times != sorted(times) or times[0] < 0:
        raise EtudeError(f"expected {len(asked)} times in seconds, none before the one before it")
    given = [SILENT] * len(trial.frames)
    for k, answer in zip(asked, answers, strict=True):
        given[k] = answer
    each = {f"task.{k}": round(seconds, 3) for k, seconds in enumerate(times)} if len(times) > 1 else {}
    return replace(score(trial, given), timings={"seconds": round(times[-1], 3), **each})


# ------------------------------------------------------------------------------------------------ the server


def _handler(studies: Mapping[str, Study], at: str) -> type[LocalPageHandler]:
    page = resources.files("etude.web").joinpath("study.html").read_bytes()

    class StudyHandler(LocalPageHandler):
        """Three addresses for each person: the page, the state, and the answers."""

        host = at

        def _asked(self) -> tuple[Study | None, str]:
            """Whose study, and what of it. Where one person takes part alone, the address need not say who."""
            person, slash, what = self.path.removeprefix("/").rpartition("/")
            if not slash and len(studies) == 1:
                person = next(iter(studies))
            return studies.get(person), what

        def get(self) -> None:
            study, what = self._asked()
            if study is None:
                self.send_error(HTTPStatus.NOT_FOUND, explain=f"the pages of this study are /{'/, /'.join(studies)}/")
            elif not what:
                self.send_whole(page, "text/html; charset=utf-8")
            elif what == "state":
                self.send_whole(json.dumps(study.state()).encode(), "application/json")
            else:
                self.send_error(HTTPStatus.NOT_FOUND)

        def post(self) -> None:
            study, what = self._asked()
            if study is None or what != "answer":
                self.send_error(HTTPStatus.NOT_FOUND)
            elif (body := self.body()) is not None:
                self._take(study, body)

        def _take(self, study: Study, body: bytes) -> None:
            try:
                study.answer(*_read(body))
            except EtudeError as error:
                self.send_error(HTTPStatus.BAD_REQUEST, explain=str(error))
                return
            self.send_whole(json.dumps(study.state()).encode(), "application/json")

    return StudyHandler


def _read(body: bytes) -> tuple[str, list[str], list[float]]:
    """An answer from JSON: the trial, what was answered, and when."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise EtudeError("an answer must be JSON") from None
    match data:
        case {"trial": str(name), "answers": list(answers), "times": list(times)}:
            if all(isinstance(a, str) for a in answers) and all(type(t) in (int, float) and abs(t) < FOREVER for t in times):
                return name, answers, [float(t) for t in times]
    raise EtudeError("an answer must have a trial, a list of answers and a list of times in seconds")


class StudyServer(ThreadingHTTPServer):
    """A thread for each request."""

    request_queue_size = 256  # a class that begins at one word: nobody's request is turned away


def serve_studies(studies: Mapping[str, Study], host: str, port: int, ready: Callable[[str, ThreadingHTTPServer], None]) -> None:
    """Serve the pages of people, by their names, until it is interrupted; ``ready`` gets the address."""
    try:
        server = StudyServer((host, port), _handler(studies, host))
    except OSError as error:
        raise EtudeError(f"no page can be served at {host}:{port}: {error.strerror}; choose another --host or --port") from None
    with server:
        ready(f"http://{host}:{server.server_address[1]}/", server)
        server.serve_forever(poll_interval=0.05)
