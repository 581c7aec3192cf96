"""Decisions to learn from, as plain arrays: what was told, what was shown frame by frame, what could be answered, and what was right.

Frames are cut into cells. The same object in the same place is the same cell, whatever trial it is in: each is kept once.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.decisions.graph import FIFTHS, fifth, walk
from etude.decisions.operator import operator_class
from etude.decisions.showing import pictures, told
from etude.decisions.trial import SILENT, Trial
from etude.learn.packing import arrays_in, in_a_row
from etude.learn.source import SampleSource, refuse_tests
from etude.learn.wording import WORDS, buckets
from etude.library import trial
from etude.names import EtudeError
from etude.policies.contract import ANSWER, Contract
from etude.policies.halves import Arrays
from etude.policies.policy import Observation
from etude.render.tokens import SIDE

ROOM = 2 << 20  # bytes for a trial
CHOICE_WORDS = 6  # of an answer that can be told apart: what follows is not read
NO_WORD = -1
NOTHING_THERE = -1
EMPTY = 0.02  # of a cell's pixels: a quarter of the cross is less, an object more
_ENDS = frozenset(",?;:")  # of clauses


@dataclass(frozen=True, eq=False)
class SolvedTrial:
    """``words`` int16 (L, 2): the buckets of the instruction's words; ``clauses`` int16 (L,): how many clauses were before each.

    ``cells`` uint8 (U, 32, 32, 3): all that differ, known by their ``keys`` uint64 (U,); ``seen`` int16 (T, P): those of every frame,
    −1 where a cell is empty.
    ``choices`` int16 (C, W, 2): the words of what could be answered, −1 where there are no more; ``asked`` int16 (Q,): the frames on which
    an answer is due; ``right`` int16 (Q,): which of the choices is.
    """

    words: NDArray[np.int16]
    clauses: NDArray[np.int16]
    cells: NDArray[np.uint8]
    keys: NDArray[np.uint64]
    seen: NDArray[np.int16]
    choices: NDArray[np.int16]
    asked: NDArray[np.int16]
    right: NDArray[np.int16]


def cells_of(size: int) -> int:
    """How many cells a frame of so many pixels has."""
    if size < SIDE or size % SIDE:
        raise EtudeError(f"frames of {size} pixels cannot be cut into cells of {SIDE}; expected a multiple of {SIDE}")
    return (size // SIDE) ** 2


def contract_of(size: int) -> Contract:
    """What a learned decider asks for: a trial whole. Of its frames it looks, for every answer, only at those that came before it."""
    return Contract(action=ANSWER, size=(size, size), whole=True)


def instruction_arrays(text: str) -> Arrays:
    """``words`` and ``clauses`` of an instruction."""
    found = WORDS.findall(text)
    ends = np.cumsum([word in _ENDS for word in found], dtype=np.int16)
    return {
        "words": np.array([buckets(word) for word in found], np.int16).reshape(-1, 2),
        "clauses": np.concatenate([np.zeros(1, np.int16), ends])[: len(found)],
    }


def frame_arrays(frames: NDArray[np.uint8], choices: Sequence[str], asked: Sequence[int]) -> Arrays:
    """``cells``, ``keys``, ``seen``, ``choices`` and ``asked`` of frames (T, size, size, 3)."""
    count, size = frames.shape[:2]
    across = size // SIDE
    cut = frames.reshape(count, across, SIDE, across, SIDE, 3).swapaxes(2, 3).reshape(count * cells_of(size), SIDE, SIDE, 3)
    cut = np.ascontiguousarray(cut)
    known: dict[bytes, int] = {}
    first: list[int] = []
    seen = np.full(len(cut), NOTHING_THERE, np.int16)
    filled = (cut != frames[0, 0, 0]).any(-1).sum((1, 2)) > EMPTY * SIDE * SIDE
    for k in np.flatnonzero(filled).tolist():
        key = hashlib.blake2b(cut[k], digest_size=8).digest()
        if key not in known:
            known[key] = len(known)
            first.append(k)
        seen[k] = known[key]
    words = np.full((len(choices), CHOICE_WORDS, 2), NO_WORD, np.int16)
    for k, choice in enumerate(choices):
        found = [buckets(word) for word in WORDS.findall(choice)[:CHOICE_WORDS]]
        words[k, : len(found)] = found
    return {
        "cells": cut[first],
        "keys": np.frombuffer(b"".join(known), np.uint64),
        "seen": seen.reshape(count, -1),
        "choices": words,
        "asked": np.array(asked, np.int16),
    }


def solve(found: Trial, size: int) -> SolvedTrial:
    """A trial with its right answers, with frames of so many pixels."""
    asked = [k for k, right in enumerate(found.answers) if right != SILENT]
    right = np.array([found.choices.index(found.answers[k]) for k in asked], np.int16)
    shown = frame_arrays(np.stack(pictures(found, size)), found.choices, asked)
    return SolvedTrial(right=right, **instruction_arrays(told(found)), **shown)


@dataclass(frozen=True)
class TrialSource(SampleSource):
    """Which trials, with frames of ``size`` pixels, and what is never among them.

    ``without``: operators; ``delays``: more empty frames than these (−1: any number may be); ``fifth``: the part of all forms of questions
    with this number, 1 to 5, by :func:`~etude.decisions.graph.fifth` (0: none is left out). A trial is left out if any of its questions is.
    """

    size: int = 64
    without: tuple[str, ...] = ()
    delays: int = -1
    fifth: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        cells_of(self.size)
        for name in self.without:
            operator_class(name)
        if not 0 <= self.fifth <= FIFTHS:
            raise EtudeError(f"the fifth of structures that is left out is 1 to {FIFTHS}, or 0 for none; got {self.fifth}")

    def leaves_out(self, found: Trial) -> bool:
        """Is this trial one of those that nothing is learned from?"""
        for task in (placed.task for placed in found.tasks):
            if self.fifth and fifth(task.root) == self.fifth:
                return True
            if 0 <= self.delays < task.frames - len(task.seen):
                return True
            if self.without and any(node.json_kind in self.without for node in walk(task.root)):
                return True
        return False

    def names(self, count: int) -> list[str]:
        """The names of the first so many that are not left out."""
        every = (self.name(k) for k in itertools.count())
        return list(itertools.islice((name for name in every if not self.leaves_out(trial(name))), count))

    @property
    def room(self) -> int:
        """Bytes that a trial takes at most."""
        return ROOM

    @property
    def ahead(self) -> int:
        """More than of what takes longer to play: a step takes some ten milliseconds, a trial two."""
        return 64

    def sample(self, number: int) -> SolvedTrial | None:
        """The k-th trial, or None if it is left out."""
        name = self.name(number)
        refuse_tests(name)
        found = trial(name)
        return None if self.leaves_out(found) else solve(found, self.size)

    def packed(self, number: int) -> bytes:
        """The k-th trial as bytes; none if it is left out."""
        found = self.sample(number)
        return b"" if found is None else in_a_row(vars(found).values())

    def unpacked(self, data: bytes | memoryview) -> SolvedTrial:
        """The trial of these bytes."""
        return SolvedTrial(*arrays_in(data))


class DecisionEncoder:
    """Makes trials ready for a learned decider."""

    def __init__(self, recipe: Any, contract: Contract) -> None:
        self.contract = contract

    def told(self, instruction: str, pictures: Sequence[Any], episode: str) -> Arrays:
        """A new trial begins."""
        return instruction_arrays(instruction)

    def saw(self, observation: Observation) -> Arrays:
        """All that is shown, and what is asked when."""
        return frame_arrays(observation["frames"], observation["choices"], observation["asked"])
