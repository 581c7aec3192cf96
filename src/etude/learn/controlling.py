"""A trained closed-loop policy at work: chunks of actions for many episodes at once, and how near they come to the oracle's.

What an episode has seen is a row of each of a few tensors, of one size whatever its length. On a GPU all rows lie in one table, and looks
are taken by so many at a time as were recorded; on a CPU every look is taken alone. Nothing depends on who else was asking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.control import LONGEST, ControlDemonstration
from etude.learn.control_buffer import ControlBuffer, ControlPrompts
from etude.learn.inference import SESSIONS, TOGETHER, Recorded
from etude.learn.models.controller import Controller, ControlMemory
from etude.names import EpisodeName, EtudeError
from etude.policies.halves import Arrays
from etude.pose import Array

JUDGED = 64  # windows judged at once


class ControlInference:
    """Plays a closed-loop policy."""

    def __init__(self, model: Controller, device: torch.device, about: Mapping[str, str]) -> None:
        self.about = about
        self._model, self._device = model, device
        self._alone: dict[int, ControlMemory] = {}
        self._table = MemoryTable(model, device, lambda act: Recorded(act, device).replayed) if device.type == "cuda" else None

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session."""
        if self._table is not None and session >= SESSIONS:
            raise EtudeError(f"a learned policy plays at most {SESSIONS} episodes at once; use fewer --workers")
        prompts = _prompts(told, self._device, LONGEST if self._table is not None else 1)
        start = torch.from_numpy(np.array(told["start"])).to(self._device)[None]
        with torch.no_grad(), torch.autocast(self._device.type, torch.bfloat16, enabled=self._table is not None):
            memory = self._model.begin(prompts, start)
        if self._table is None:
            self._alone[session] = memory
        else:
            self._table.keep(session, memory)

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """A chunk of actions (H, A) for each."""
        for session, one in zip(sessions, seen, strict=True):
            if "kinds" in one:  # something else is told than before
                self.begin(session, one)
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
    spare = max(0, least - len(told["kinds"]))

    def padded(name: str, value: int = 0) -> Tensor:
        array = told[name].astype(np.int64)
        return torch.from_numpy(np.pad(array, ((0, spare), *[(0, 0)] * (array.ndim - 1)), constant_values=value)).to(device)[None]

    pictures = torch.from_numpy(np.array(told["pictures"])).to(device)
    return ControlPrompts(padded("kinds"), padded("words"), padded("places"), padded("rows", -1), pictures)


class MemoryTable:
    """What all sessions remember, on a device: a row for each, and one more for those that a look of fixed size has too many of.
    ``recorded`` makes of a computation one that is done again and again."""

    def __init__(self, model: Controller, device: torch.device, recorded: Callable[[Callable[[], Tensor]], Callable[[], Tensor]]) -> None:
        self._model, self._device, self._make = model, device, recorded
        self._rows: ControlMemory = {}
        source = model.source
        self._at = torch.full((TOGETHER,), SESSIONS, device=device)
        self._frames = torch.zeros((TOGETHER, len(source.cameras), source.size, source.size, 3), dtype=torch.uint8, device=device)
        self._felt = torch.zeros((TOGETHER, source.feels), device=device)
        self._recorded: Callable[[], Tensor] | None = None

    def keep(self, session: int, memory: ControlMemory) -> None:
        """Put a memory (1, …) into a row."""
        for name, value in memory.items():
            if name not in self._rows:
                self._rows[name] = value.new_zeros(SESSIONS + 1, *value.shape[1:])
            self._rows[name][session] = value[0]

    def rows(self, session: int) -> ControlMemory:
        """The memory (1, …) of a row."""
        return {name: value[session : session + 1] for name, value in self._rows.items()}

    def decided(self, looks: Sequence[tuple[int, NDArray[np.uint8], NDArray[np.float32]]]) -> list[Array]:
        """Chunks (H, A) of at most :data:`~etude.learn.inference.TOGETHER` looks."""
        if self._recorded is None:
            self._recorded = self._make(self._act)
        numbers, frames, felt = zip(*looks, strict=True)
        count = len(looks)
        self._at.fill_(SESSIONS)
        self._at[:count].copy_(torch.tensor(numbers))
        self._frames[:count].copy_(torch.from_numpy(np.stack(frames)))
        self._felt[:count].copy_(torch.from_numpy(np.stack(felt)))
        return list(np.asarray(self._recorded()[:count].cpu().numpy(), np.float64))

    def _act(self) -> Tensor:
        chunk, memory = self._model.act({name: rows[self._at] for name, rows in self._rows.items()}, self._frames, self._felt)
        for name, rows in self._rows.items():
            rows.index_copy_(0, self._at, memory[name].to(rows.dtype))
        return chunk


def judged_control(model: Controller, found: Sequence[tuple[int, str, ControlDemonstration]], device: torch.device) -> str:
    """How far chunks are from the oracle's, at every look of these demonstrations, by task, as a table.

    Errors of what moves the arm stand beside how much the oracle moves it: who keeps still has errors of the same size. Of who points, how
    far that place is from where the oracle brings the hand, and how much of what it is told of it finds.
    """
    rows: dict[str, list[tuple[float, ...]]] = {}
    for _, name, one in found:
        buffer = ControlBuffer(model.source, model.recipe, model.onwards, device)
        buffer.add([one])
        moments = _looks_of(model, len(one.labels))
        for start in range(0, len(moments), JUDGED):
            part = moments[start : start + JUDGED]
            with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                answers = model.chunks(buffer.windows([0] * len(part), part))
            there = answers.counts[:, 0]
            guess, right = answers.found[there, 0].float(), answers.wanted[there, 0]
            errors, sizes = ((x[:, :-1]).abs().mean(1).tolist() for x in (guess - right, right))
            hands = ((guess[:, -1] > 0) == (right[:, -1] > 0)).tolist()
            off, finds = ([math.nan] * len(guess) if x is None else x[there].tolist() for x in (answers.off, answers.finds))
            rows.setdefault(EpisodeName.parse(name).task, []).extend(zip(errors, sizes, hands, off, finds, strict=True))
    lines = ["| task | looks | error | oracle's size | hand right | points off by (median, cm) | finds |", "|---|---|---|---|---|---|---|"]
    for task, values in sorted(rows.items()):
        error, size, hand, off, finds = np.array(values, float).T
        told = (
            f"{error.mean():.3f}",
            f"{size.mean():.3f}",
            f"{100 * hand.mean():.0f}",
            _told(np.median, 100 * off),
            _told(np.mean, 100 * finds),
        )
        lines.append(f"| {task} | {len(values)} | {' | '.join(told)} |")
    return "\n".join(lines)


def _told(summary: Callable[[Array], np.floating[Any]], values: Array) -> str:
    """A number for those values that are numbers; "–" where there is none."""
    known = values[~np.isnan(values)]
    return f"{summary(known):.1f}" if len(known) else "–"


def _looks_of(model: Controller, steps: int) -> NDArray[np.int64]:
    """Moments whose windows show so many steps, each look once."""
    stride = model.recipe.execute
    if not model.onwards:
        return np.arange(0, steps, stride)
    reach = (model.kept - 1) * stride
    return np.arange(reach, steps + reach, reach + stride)
