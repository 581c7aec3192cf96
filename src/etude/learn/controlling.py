"""A trained closed-loop policy at work: chunks of actions for many episodes at once, and how near they come to the oracle's.

What an episode has seen is a row of each of a few tensors, of one size whatever its length. On a GPU all rows lie in one table, and looks
are taken by so many at a time as were recorded; on a CPU every look is taken alone. Nothing depends on who else was asking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.control import LONGEST, ControlDemonstration
from etude.learn.control_buffer import ControlBuffer, ControlPrompts
from etude.learn.mind import SESSIONS, TOGETHER, Recorded
from etude.learn.models.controller import Controller, Memory
from etude.names import EpisodeName, EtudeError
from etude.policies.halves import Arrays
from etude.pose import Array

JUDGED = 64  # windows judged at once


class ControlMind:
    """Plays a closed-loop policy."""

    def __init__(self, model: Controller, device: torch.device, about: Mapping[str, str]) -> None:
        self.about = about
        self._model, self._device = model, device
        self._alone: dict[int, Memory] = {}
        self._table = _MemoryTable(model, device) if device.type == "cuda" else None

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session."""
        if self._table is not None and session >= SESSIONS:
            raise EtudeError(f"a learned policy plays at most {SESSIONS} episodes at once; use fewer --workers")
        prompts = _prompts(told, self._device, LONGEST if self._table is not None else 1)
        start = torch.from_numpy(told["start"]).to(self._device)[None]
        with torch.no_grad(), torch.autocast(self._device.type, torch.bfloat16, enabled=self._table is not None):
            memory = self._model.begin(prompts, start)
        if self._table is None:
            self._alone[session] = memory
        else:
            self._table.keep(session, memory)

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """A chunk of actions (H, A) for each."""
        looks = [(session, one["frames"], one["felt"]) for session, one in zip(sessions, seen, strict=True)]
        with torch.no_grad():
            if self._table is None:
                return [self._decided(*look) for look in looks]
            parts = [looks[start : start + TOGETHER] for start in range(0, len(looks), TOGETHER)]
            return [chunk for part in parts for chunk in self._table.decided(part)]

    def _decided(self, session: int, frames: NDArray[np.uint8], felt: NDArray[np.float32]) -> Array:
        given = (torch.from_numpy(np.array(a))[None] for a in (frames, felt))
        chunk, self._alone[session] = self._model.act(self._alone[session], *given)
        return np.asarray(chunk[0].numpy(), np.float64)

    def memory(self, session: int) -> Arrays:
        """All that is remembered of the episode in this session."""
        rows = self._alone[session] if self._table is None else self._table.rows(session)
        return {
            name: value[0].float().cpu().numpy() if value.is_floating_point() else value[0].cpu().numpy() for name, value in rows.items()
        }

    def recall(self, session: int, memory: Arrays) -> None:
        """Remember this instead."""
        rows = {name: torch.from_numpy(np.array(value)).to(self._device)[None] for name, value in memory.items()}
        if self._table is None:
            self._alone[session] = rows
        else:
            self._table.keep(session, rows)


def _prompts(told: Arrays, device: torch.device, least: int) -> ControlPrompts:
    """One prompt, with room for at least so many tokens."""
    kinds = told["kinds"].astype(np.int64)
    spare = max(0, least - len(kinds))
    words, places, rows = (told[name].astype(np.int64) for name in ("words", "places", "rows"))
    padded = (
        np.pad(kinds, (0, spare)),
        np.pad(words, ((0, spare), (0, 0))),
        np.pad(places, (0, spare)),
        np.pad(rows, (0, spare), constant_values=-1),
    )
    tensors = [torch.from_numpy(a).to(device)[None] for a in padded]
    return ControlPrompts(*tensors, torch.from_numpy(np.array(told["pictures"])).to(device))


class _MemoryTable:
    """What all sessions remember, on a GPU: a row for each, and one more for those that a recorded look has too many of."""

    def __init__(self, model: Controller, device: torch.device) -> None:
        self._model, self._device = model, device
        self._rows: Memory = {}
        self._given: tuple[Tensor, Tensor, Tensor] | None = None
        self._recorded: Recorded | None = None

    def keep(self, session: int, memory: Memory) -> None:
        """Put a memory (1, …) into a row."""
        for name, value in memory.items():
            if name not in self._rows:
                self._rows[name] = value.new_zeros(SESSIONS + 1, *value.shape[1:])
            self._rows[name][session] = value[0]

    def rows(self, session: int) -> Memory:
        """The memory (1, …) of a row."""
        return {name: value[session : session + 1] for name, value in self._rows.items()}

    def decided(self, looks: Sequence[tuple[int, NDArray[np.uint8], NDArray[np.float32]]]) -> list[Array]:
        """Chunks (H, A) of at most :data:`~etude.learn.mind.TOGETHER` looks."""
        numbers, frames, felt = zip(*looks, strict=True)
        if self._given is None or self._recorded is None:
            room = [
                torch.zeros((TOGETHER, *a.shape), dtype=torch.from_numpy(np.array(a)).dtype, device=self._device)
                for a in (frames[0], felt[0])
            ]
            self._given = torch.full((TOGETHER,), SESSIONS, device=self._device), *room
            self._recorded = Recorded(self._act, self._device)
        at = np.full(TOGETHER, SESSIONS)
        at[: len(numbers)] = numbers
        self._given[0].copy_(torch.from_numpy(at), non_blocking=True)
        for kept, new in zip(self._given[1:], (frames, felt), strict=True):
            kept[: len(new)].copy_(torch.from_numpy(np.stack(new)), non_blocking=True)
        found = self._recorded.replayed()[: len(looks)].cpu().numpy()
        return list(np.asarray(found, np.float64))

    def _act(self) -> Tensor:
        assert self._given is not None
        at, frames, felt = self._given
        chunk, memory = self._model.act({name: value[at] for name, value in self._rows.items()}, frames, felt)
        for name, value in memory.items():
            self._rows[name].index_copy_(0, at, value.to(self._rows[name].dtype))
        return chunk


def judged_control(model: Controller, found: Sequence[tuple[int, str, ControlDemonstration]], device: torch.device) -> str:
    """How far chunks are from the oracle's, at every look of these demonstrations, by task, as a table.

    Errors of what moves the arm stand beside how much the oracle moves it: who keeps still has errors of the same size.
    """
    rows: dict[str, list[tuple[float, float, bool]]] = {}
    for _, name, one in found:
        buffer = ControlBuffer(model.source, model.recipe, model.onwards, device)
        buffer.add([one])
        moments = _looks_of(model, len(one.labels))
        for start in range(0, len(moments), JUDGED):
            part = moments[start : start + JUDGED]
            with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                guess, right, counts = model.chunks(buffer.windows([0] * len(part), part))
            guess, right = guess[counts[:, 0], 0].float(), right[counts[:, 0], 0]
            errors, sizes = ((x[:, :-1]).abs().mean(1).tolist() for x in (guess - right, right))
            hands = ((guess[:, -1] > 0) == (right[:, -1] > 0)).tolist()
            rows.setdefault(EpisodeName.parse(name).task, []).extend(zip(errors, sizes, hands, strict=True))
    lines = ["| task | looks | error | oracle's size | hand right |", "|---|---|---|---|---|"]
    for task, values in sorted(rows.items()):
        error, size, hand = np.mean(np.array(values, float), axis=0)
        lines.append(f"| {task} | {len(values)} | {error:.3f} | {size:.3f} | {100 * hand:.0f} |")
    return "\n".join(lines)


def _looks_of(model: Controller, steps: int) -> NDArray[np.int64]:
    """Moments whose windows show so many steps, each look once."""
    stride = model.recipe.execute
    if not model.onwards:
        return np.arange(0, steps, stride)
    reach = (model.kept - 1) * stride
    return np.arange(reach, steps + reach, reach + stride)
