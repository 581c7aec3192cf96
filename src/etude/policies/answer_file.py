"""Answers that are in a file: of models that cannot be reached from here, asked by batch or by hand.

``answers:FILE`` is a policy for decisions, and a planner for questions about frames. A file is JSON lines, or a table (``.csv``): every row
has the question's ``id``, as exports write it (or its ``name``, or ``episode``), and the ``answer`` as it was given; where a trial or an
episode has several questions, also the ``question`` or ``frame``, or ``ID/NUMBER``. Lines of the batch interfaces of chat servers
(``custom_id`` and ``response``) are read as they are.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from etude.decisions.answers import read_answer
from etude.decisions.trial import Trial
from etude.episodes import Episode
from etude.library import find
from etude.names import EtudeError, read_text
from etude.policies.contract import ANSWER, Contract
from etude.policies.policy import Observation, Picture
from etude.pose import Array

KEYS = ("id", "custom_id", "name", "episode")
NUMBERS = ("question", "frame")
SMALL = (16, 16)  # pictures that nobody looks at
LONGEST = 80  # characters of an unreadable answer that are repeated
_NUMBERED = re.compile(r"(?P<key>.*@.*)/(?P<number>\d+)")


class AnswerFile:
    """The answers of a file, by what they answer."""

    def __init__(self, path: str, find: Callable[[str], Episode | Trial] = find) -> None:
        if not path:
            raise EtudeError("answers need a file: answers:FILE")
        self.path, self._find = path, find
        self._answers: dict[str, dict[int, str]] = {}
        for line, row in _rows(Path(path)):
            key, number, text = _read(row, f"{path}, line {line}")
            mine = self._answers.setdefault(key, {})
            if number in mine:
                raise EtudeError(f"{path}, line {line}: {key} is answered twice")
            mine[number] = text

    def to(self, name: str) -> list[str]:
        """The answers to the questions of a trial or an episode, in order. Those to what the name stood for at another time are refused."""
        found = self._find(name).id
        for key in (found, name):
            if key in self._answers:
                return [text for _, text in sorted(self._answers[key].items())]
        other = next((key for key in self._answers if key.partition("~")[0] == name), None)
        if other is not None:
            raise EtudeError(f"{self.path} answers {other}, but {name} is {found} today: export it again")
        raise EtudeError(f"{self.path} has no answer to {name}")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    text = read_text(path)
    if path.suffix == ".csv":
        yield from enumerate(csv.DictReader(text.splitlines()), 2)
        return
    for line, one in enumerate(text.splitlines(), 1):
        if one.strip():
            try:
                row = json.loads(one)
            except ValueError:
                raise EtudeError(f"{path}, line {line}: not JSON; expected an object with 'id' and 'answer'") from None
            if not isinstance(row, dict):
                raise EtudeError(f"{path}, line {line}: expected an object with 'id' and 'answer'")
            yield line, row


def _read(row: dict[str, Any], where: str) -> tuple[str, int, str]:
    """Which question, its number, and the answer."""
    key = next((row[k] for k in KEYS if isinstance(row.get(k), str)), None)
    answer = row.get("answer", _batched(row))
    if not key or not isinstance(answer, str):
        raise EtudeError(f"{where}: expected 'id' and 'answer', both as text")
    number = next((str(row[k]) for k in NUMBERS if row.get(k) not in (None, "")), "")
    if match := _NUMBERED.fullmatch(key):
        key, number = match["key"], match["number"]
    if number and not number.isdigit():
        raise EtudeError(f"{where}: the number of a question or frame is a whole number, got {number!r}")
    return key, int(number or 0), answer


def _batched(row: dict[str, Any]) -> object:
    """What a chat server answered in a batch."""
    match row:
        case {"response": {"body": {"choices": [{"message": {"content": content}}, *_]}}}:
            return content
    return None


class AnsweringDecider:
    """Answers decisions from a file; see :class:`etude.policies.policy.Policy`. What cannot be read is silence, and so wrong."""

    def __init__(self, path: str) -> None:
        self.contract = Contract(action=ANSWER, whole=True, size=SMALL)
        self.remarks: tuple[str, ...] = ()
        self._file, self._said = AnswerFile(path), list[str]()

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """Look the trial up."""
        self._said = self._file.to(episode)

    def act(self, observation: Observation) -> Array:
        """For each question the number of the choice that was named, 0 where none was."""
        asked, choices = len(observation["asked"]), tuple(observation["choices"])
        if len(self._said) != asked:
            raise EtudeError(f"{self._file.path} has {len(self._said)} answers to a trial with {asked} questions")
        read = [read_answer(text, choices)[1] for text in self._said]
        self.remarks = tuple("" if taken else f"unparsed: {text[:LONGEST]!r}" for text, taken in zip(self._said, read, strict=True))
        return np.array([0 if taken is None else 1 + choices.index(taken) for taken in read])


class AnsweringPlanner:
    """Gives the sub-tasks that stand in a file, one question after the other; see :class:`etude.policies.policy.Planner`.

    Made for questions about frames (``--mode offline``): who follows a plan is asked as things go, and a file does not know how they went.
    """

    def __init__(self, path: str) -> None:
        self.contract = Contract(size=SMALL)
        self._file, self._said = AnswerFile(path), list[str]()

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """Look the episode up."""
        self._said = self._file.to(episode)

    def next_subtask(self, observation: Observation, instruction: str, history: Sequence[str]) -> str:
        """The next answer, unread."""
        if not self._said:
            raise EtudeError(f"{self._file.path} has no further answer: it answers questions about frames (--mode offline)")
        return self._said.pop(0)
