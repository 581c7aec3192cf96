"""Decisions of an exported model, without torch: onnxruntime computes them, one after the other, on one thread of the CPU.

A decision is one graph (:mod:`etude.learn.onnx_export`): it makes tokens of the things that are new, and reads a stroke from these and from
those that were made before, which are kept here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from etude.learn.header import digest_of
from etude.learn.histories import History, history_arrays
from etude.names import EtudeError
from etude.policies.halves import Arrays
from etude.pose import Array

QUIET = 3  # errors alone are told
TOLD = ("kinds", "words", "places", "rows", "seen", "before", "begun")  # of a history, as the graph's inputs
NEW = ("crops", "boxes", "mask")
KEPT = ("tokens", "boxes", "mask")  # of things that were seen before, as the graph's inputs "kept_…"


class OnnxStrokeInference:
    """Plays an exported model of strokes."""

    def __init__(self, weights: bytes, what: str, threads: int = 1) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = QUIET
        try:
            self._session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has a class of its own for every kind of damage
            raise EtudeError(f"onnxruntime cannot read {what}: {str(error)[:160]}") from None
        backend = f"onnxruntime {onnxruntime.__version__}"
        self.about: Mapping[str, str] = {"weights": digest_of(weights), "backend": backend, "device": "cpu"}
        self._asked = {one.name: one for one in self._session.get_inputs()}
        self._histories: dict[int, History] = {}
        self._kept: dict[int, Arrays] = {}

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session."""
        self._histories[session] = History(told)
        width = self._asked["kept_tokens"].shape[1]
        views = told["mask"].shape[1]
        self._kept[session] = {
            "tokens": np.zeros((0, width), np.float32),
            "boxes": np.zeros((0, views, 4), np.int16),
            "mask": np.zeros((0, views), np.bool_),
        }

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """An action (12,) for each; it is taken for done."""
        return [self._histories[number].act(self._stroke(number, things)) for number, things in zip(sessions, seen, strict=True)]

    def _stroke(self, number: int, things: Arrays) -> NDArray[np.float32]:
        history, kept = self._histories[number], self._kept[number]
        lots = [lot for lot, _ in history.notice(things)]
        new = {name: np.concatenate([lot[name] for lot in lots]) for name in NEW}
        count = len(new["mask"])
        shown = new if count else {name: np.zeros((1, *array.shape[1:]), array.dtype) for name, array in new.items()}  # none is too few
        told = history_arrays([history], history.shape(), 1, [0])
        given: dict[str, Any] = {**shown, **{name: told[name] for name in TOLD}, **{f"kept_{name}": kept[name] for name in KEPT}}
        stroke, tokens = self._session.run(["stroke", "tokens"], {name: array for name, array in given.items() if name in self._asked})
        made = {**new, "tokens": tokens[:count]}
        self._kept[number] = {name: np.concatenate([kept[name], made[name]]) for name in KEPT}
        found: NDArray[np.float32] = stroke[0]
        return found
