"""Decisions of a trained model for many episodes at once.

On a GPU everything has one of a few fixed shapes, recorded once and replayed: a decision then takes a few milliseconds, and it does not
depend on who else was asking, so that the same episodes give the same records. On a CPU every decision is made alone, for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.buffer import Batch
from etude.learn.histories import ROOM, History, history_arrays
from etude.learn.models.cogelot import Cogelot
from etude.names import EtudeError
from etude.policies.halves import Arrays
from etude.pose import Array

SESSIONS = 256  # at once, on a GPU
TOGETHER = 16  # histories in a recorded decision
CHUNK = 256  # things in a recorded look


class StrokeInference:
    """Plays a model that answers histories with strokes."""

    def __init__(self, model: Cogelot, device: torch.device, about: Mapping[str, str]) -> None:
        self.about = about
        self._model, self._device = model, device
        self._graphed = device.type == "cuda"
        self._sessions: dict[int, History] = {}
        self._memory: dict[int, _ThingMemory] = {}
        self._all = _ThingMemory(model, SESSIONS * ROOM, device) if self._graphed else None
        self._recorded: dict[tuple[int, int, int], _Deciding] = {}

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session."""
        if self._graphed and session >= SESSIONS:
            raise EtudeError(f"a learned policy plays at most {SESSIONS} episodes at once; use fewer --workers")
        self._sessions[session] = History(told)

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """An action (12,) for each; it is taken for done."""
        with torch.no_grad():
            if self._all is None:
                strokes = [self._alone(session, things) for session, things in zip(sessions, seen, strict=True)]
            else:
                strokes = self._at_once(self._all, sessions, seen)
        return [self._sessions[session].act(stroke) for session, stroke in zip(sessions, strokes, strict=True)]

    def _alone(self, number: int, things: Arrays) -> NDArray[np.float32]:
        memory = self._memory.setdefault(number, _ThingMemory(self._model, ROOM, self._device))
        session = self._sessions[number]
        memory.keep(session.notice(things))
        tensors = _tensors([session], session.shape(), 1, [0], self._device)
        out: NDArray[np.float32] = self._model.answers(memory.batch(tensors), memory.tokens).float().numpy()[0]
        return out

    def _at_once(self, memory: _ThingMemory, numbers: Sequence[int], seen: Sequence[Arrays]) -> list[NDArray[np.float32]]:
        groups: dict[tuple[int, int, int], list[int]] = {}
        pairs = list(zip(numbers, seen, strict=True))
        new = [(lot, number * ROOM + row) for number, things in pairs for lot, row in self._sessions[number].notice(things)]
        memory.keep(new, CHUNK)
        for k, number in enumerate(numbers):
            tokens, steps, slots = self._sessions[number].shape()
            groups.setdefault((_room_for(tokens, 32), _room_for(steps, 1), _room_for(slots, 8)), []).append(k)
        found: dict[int, NDArray[np.float32]] = {}
        for shape, members in groups.items():
            recorded = self._recorded.get(shape)
            if recorded is None:
                recorded = self._recorded[shape] = _Deciding(self._model, memory, shape, self._device)
            for start in range(0, len(members), TOGETHER):
                part = members[start : start + TOGETHER]
                chosen = [self._sessions[numbers[k]] for k in part]
                found.update(zip(part, recorded.answers(chosen, [numbers[k] * ROOM for k in part]), strict=True))
        return [found[k] for k in range(len(numbers))]


def _room_for(count: int, least: int) -> int:
    """A number as large and one of few: a power of two."""
    return max(least, 1 << (count - 1).bit_length())


def _tensors(
    histories: Sequence[History], shape: tuple[int, int, int], batch: int, first: Sequence[int], device: torch.device
) -> dict[str, Tensor]:
    arrays = history_arrays(histories, shape, batch, first)
    return {name: torch.from_numpy(array).to(device, non_blocking=True) for name, array in arrays.items()}


class _ThingMemory:
    """Tokens of all things that were seen, each made once."""

    def __init__(self, model: Cogelot, rows: int, device: torch.device) -> None:
        self._model, self._device = model, device
        self.tokens = torch.zeros((rows, model.width), device=device)
        self._boxes = torch.zeros((rows, 2, 4), dtype=torch.int16, device=device)
        self._mask = torch.zeros((rows, 2), dtype=torch.bool, device=device)
        self._look: tuple[list[Tensor], Recorded] | None = None

    def keep(self, lots: Sequence[tuple[Arrays, int]], chunk: int = 0) -> None:
        """Make tokens of lots of things, each kept from a row on; with a ``chunk``, always so many at once."""
        rows = np.concatenate([np.arange(first, first + len(lot["crops"])) for lot, first in lots])
        things = [np.concatenate([lot[name] for lot, _ in lots]) for name in ("crops", "boxes", "mask")]
        most = chunk or ROOM
        for start in range(0, len(rows), most):
            at = torch.from_numpy(rows[start : start + most]).to(self._device)
            given = [torch.from_numpy(a[start : start + most]).to(self._device) for a in things]
            tokens = self._looked(given, chunk) if chunk else self._model.things(*given)
            self.tokens[at], self._boxes[at], self._mask[at] = tokens[: len(at)], given[1], given[2]

    def _looked(self, given: Sequence[Tensor], chunk: int) -> Tensor:
        if self._look is None:
            room = [torch.zeros((chunk, *one.shape[1:]), dtype=one.dtype, device=self._device) for one in given]
            self._look = room, Recorded(lambda: self._model.things(*room), self._device)
        room, recorded = self._look
        for kept, one in zip(room, given, strict=True):
            kept[: len(one)] = one
        return recorded.replayed()

    def batch(self, tensors: Mapping[str, Tensor]) -> Batch:
        """A batch whose things are rows of this memory; there is nothing to learn from it."""
        nothing = tensors["before"]
        none = tensors["steps"]
        return Batch(crops=self.tokens, cells=none, boxes=self._boxes, mask=self._mask, labels=nothing, where=none, **tensors)


class Recorded:
    """A computation on the GPU, recorded and replayed."""

    def __init__(self, compute: Callable[[], Tensor], device: torch.device) -> None:
        def computed() -> Tensor:
            # Nothing is kept between calls: what is recorded must not refer to weights that were converted before.
            with torch.autocast(device.type, torch.bfloat16, cache_enabled=False):
                return compute().float()

        aside = torch.cuda.Stream(device)
        aside.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(aside):
            for _ in range(2):  # libraries choose their kernels, which cannot be recorded
                computed()
        torch.cuda.current_stream(device).wait_stream(aside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._result = computed()

    def replayed(self) -> Tensor:
        """The result, until it is replayed again."""
        self._graph.replay()
        return self._result


class _Deciding:
    """Decisions of one shape, recorded."""

    def __init__(self, model: Cogelot, memory: _ThingMemory, shape: tuple[int, int, int], device: torch.device) -> None:
        self._shape, self._device = shape, device
        self._given = _tensors([], shape, TOGETHER, [], device)
        batch = memory.batch(self._given)
        self._recorded = Recorded(lambda: model.answers(batch, memory.tokens), device)

    def answers(self, sessions: Sequence[History], first: Sequence[int]) -> list[NDArray[np.float32]]:
        """Strokes (5,) of at most :data:`TOGETHER` sessions."""
        for name, tensor in _tensors(sessions, self._shape, TOGETHER, first, torch.device("cpu")).items():
            self._given[name].copy_(tensor, non_blocking=True)
        return list(self._recorded.replayed().cpu().numpy()[: len(sessions)])


def device_named(name: str = "") -> torch.device:
    """The device of this name, if it is there; without a name, a GPU where there is one."""
    try:
        found = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError:
        raise EtudeError(f"{name!r} is no device; expected cuda or cpu") from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise EtudeError("no GPU is here that torch can use; --device cpu trains and plays without")
    return found
