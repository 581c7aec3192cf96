"""Decisions of an exported model, without torch: onnxruntime computes them, one after the other, on one thread of the CPU.

A decision is one graph (:mod:`etude.learn.onnx_export`). Of strokes it makes tokens of the things that are new, and reads a stroke from
these and from those that were made before, which are kept here. Of closed-loop control what an episode has seen is kept here, as the graph
gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from etude.learn.header import digest_of
from etude.learn.histories import History, history_arrays
from etude.learn.keyposes import keypose_of, look_arrays, trimmed
from etude.learn.policy import refuse_unexported
from etude.learn.recipes import ControlRecipe, GuidedRecipe, KeyposeRecipe, PointFlowRecipe, Recipe, StrokeRecipe, TopdownKeyposes
from etude.names import EtudeError
from etude.policies.halves import Arrays, Inference
from etude.pose import Array

QUIET = 3  # errors alone are told
TOLD = ("kinds", "words", "places", "rows", "seen", "before", "begun")  # of a history, as the graph's inputs
NEW = ("crops", "boxes", "mask")
KEPT = ("tokens", "boxes", "mask")  # of things that were seen before, as the graph's inputs "kept_…"
KEYPOSE_INPUTS = ("points", "colours", "felt", "words", "start")
PROMPT, LOOK = ("kinds", "words", "places", "rows", "pictures", "start"), ("frames", "felt")
FRESH, BEGUN, KEPT_MEMORY, NEXT = "fresh", "begun.", "kept.", "next."  # of a memory: does it begin? what it was, and will be
NUMPY = {"float": np.float32, "int64": np.int64, "bool": np.bool_, "uint8": np.uint8, "int16": np.int16}


class OnnxModel:
    """An exported model. ``about``: what computes it."""

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
        self.asked = {one.name: one for one in self._session.get_inputs()}
        self.given = [one.name for one in self._session.get_outputs()]

    def computed(self, given: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """All outputs; inputs that the graph has no use for are left out."""
        found = self._session.run(self.given, {name: array for name, array in given.items() if name in self.asked})
        return dict(zip(self.given, found, strict=True))

    def nothing(self, name: str) -> NDArray[Any]:
        """Zeros for an input that does not matter now, or that the graph has no use for; one where a count is free."""
        one = self.asked.get(name)
        if one is None:
            return np.zeros(1)
        shape = [n if isinstance(n, int) else 1 for n in one.shape]
        return np.zeros(shape, NUMPY[one.type.removeprefix("tensor(").removesuffix(")")])


class OnnxStrokeInference:
    """Plays an exported model of strokes."""

    def __init__(self, weights: bytes, what: str, threads: int = 1) -> None:
        self._model = OnnxModel(weights, what, threads)
        self.about = self._model.about
        self._histories: dict[int, History] = {}
        self._kept: dict[int, Arrays] = {}

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session."""
        self._histories[session] = History(told)
        width = self._model.asked["kept_tokens"].shape[1]
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
        answer = self._model.computed(given)
        made = {**new, "tokens": answer["tokens"][:count]}
        self._kept[number] = {name: np.concatenate([kept[name], made[name]]) for name in KEPT}
        found: NDArray[np.float32] = answer["stroke"][0]
        return found


class OnnxKeyposeInference:
    """Plays an exported model of keyposes. Of an episode only the noise is remembered that its answers may flow out of."""

    def __init__(self, weights: bytes, what: str, threads: int = 1) -> None:
        self._model = OnnxModel(weights, what, threads)
        self.about = self._model.about
        self._starts: dict[int, Arrays] = {}

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session: what is to be done comes with every look."""
        self._starts[session] = told

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """A keypose (8,) for each."""
        return [self._keypose({**one, **self._starts[session]}) for session, one in zip(sessions, seen, strict=True)]

    def _keypose(self, look: Arrays) -> Array:
        given = {name: array[None] for name, array in look_arrays(look).items()}
        return keypose_of(self._model.computed({**given, "words": trimmed(given["words"])})["keypose"][0])


class OnnxControlInference:
    """Plays an exported closed-loop model. An episode that nothing was seen of yet remembers what it was told."""

    def __init__(self, weights: bytes, what: str, threads: int = 1) -> None:
        self._model = OnnxModel(weights, what, threads)
        self.about = self._model.about
        asked = self._model.asked
        self._nothing_told = {name: self._model.nothing(name) for name in PROMPT}
        self._nothing_kept = {name: self._model.nothing(name) for name in asked if name.startswith(KEPT_MEMORY)}
        self._memory: dict[int, Arrays] = {}

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session."""
        self._memory[session] = {name: told[name] for name in PROMPT}

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """A chunk of actions (H, A) for each."""
        for session, one in zip(sessions, seen, strict=True):
            if "kinds" in one:  # something else is told than before
                self.begin(session, one)
        return [self._chunk(session, one) for session, one in zip(sessions, seen, strict=True)]

    def memory(self, session: int) -> Arrays:
        """All that is remembered of the episode in this session."""
        return dict(self._memory[session])

    def recall(self, session: int, memory: Arrays) -> None:
        """Remember this instead."""
        self._memory[session] = dict(memory)

    def _chunk(self, session: int, seen: Arrays) -> Array:
        known = self._memory[session]
        fresh = "kinds" in known
        given = {**self._nothing_told, **self._nothing_kept, FRESH: np.array(fresh), **{name: seen[name][None] for name in LOOK}}
        given |= self._told(known) if fresh else {f"{KEPT_MEMORY}{name}": array for name, array in known.items()}
        answer = self._model.computed(given)
        self._memory[session] = {name.removeprefix(NEXT): array for name, array in answer.items() if name.startswith(NEXT)}
        return np.asarray(answer["chunk"][0], np.float64)

    def _told(self, told: Arrays) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {name: told[name].astype(np.int64)[None] for name in ("kinds", "words", "places", "rows")}
        pictures = told["pictures"] if len(told["pictures"]) else self._nothing_told["pictures"]  # none are too few
        return {**found, "pictures": pictures, "start": told["start"][None]}


PLAYERS: dict[str, Callable[[bytes, str], Inference]] = {
    StrokeRecipe.json_kind: OnnxStrokeInference,
    KeyposeRecipe.json_kind: OnnxKeyposeInference,
    TopdownKeyposes.json_kind: OnnxKeyposeInference,
    PointFlowRecipe.json_kind: OnnxKeyposeInference,
    ControlRecipe.json_kind: OnnxControlInference,
    GuidedRecipe.json_kind: OnnxControlInference,
}
"""What plays an export, by the kind of recipe."""


def onnx_inference(recipe: Recipe, weights: bytes, what: str) -> Inference:
    """The inference half of an exported policy."""
    refuse_unexported(recipe, what)
    return PLAYERS[recipe.json_kind](weights, what)
