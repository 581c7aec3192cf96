"""A trained planner at work: it says what comes next, and is judged on demonstrations that nobody trains on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from etude.learn.models.planner import PlannerModel
from etude.learn.subtask_buffer import SubtaskBatch, SubtaskBuffer
from etude.learn.subtasks import NOTHING_SAID, AskedFrames
from etude.names import EpisodeName
from etude.policies.halves import Arrays
from etude.pose import Array

TOGETHER = 64  # questions judged at once


class PlannerInference:
    """Answers questions with the numbers of sub-tasks. Each is answered alone, so that no answer depends on who else was asking."""

    def __init__(self, model: PlannerModel, device: torch.device, about: Mapping[str, str]) -> None:
        self.about = about
        self._model, self._device = model, device

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session: everything comes with every question."""

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """For each, which (1,) of what can be said is said."""
        return [self._subtask(one) for one in seen]

    def _subtask(self, seen: Arrays) -> Array:
        buffer, count = SubtaskBuffer(0.0, 0.0, self._device), len(seen["sentences"]) - 1
        nothing = np.zeros(1, np.int16)
        buffer.add([AskedFrames(seen["frames"][None], seen["sentences"], seen["last"], nothing, np.zeros((1, count), np.bool_))])
        said = answered(self._model, buffer.batch(torch.zeros(1, dtype=torch.long)))
        return np.asarray(said.cpu().numpy(), np.float64)


def answered(model: PlannerModel, batch: SubtaskBatch) -> Tensor:
    """Which of the choices (B,) a model takes."""
    device = batch.frames.device
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        return model.scores(batch).argmax(1)


def judged_subtasks(model: PlannerModel, found: Sequence[tuple[int, str, AskedFrames]], device: torch.device) -> str:
    """The share of right answers (%), told the sub-task before and not told, beside chance, task by task, as a table."""
    rows: dict[str, list[tuple[bool, bool, float]]] = {}
    for _, name, one in found:
        buffer = SubtaskBuffer(0.0, 0.0, device)
        buffer.add([one])
        count = len(one.now)
        told, untold = (_right(model, buffer, last, one) for last in (one.last.tolist(), [NOTHING_SAID] * count))
        chance = (one.right.sum(1) / one.right.shape[1]).tolist()
        rows.setdefault(EpisodeName.parse(name).task, []).extend(zip(told, untold, chance, strict=True))
    rows = {**dict(sorted(rows.items())), "all": [answer for answers in rows.values() for answer in answers]}
    lines = ["| task | questions | right | right, not told the sub-task before | chance |", "|---|---|---|---|---|"]
    for task, answers in rows.items():
        right, alone, chance = 100 * np.mean(answers, axis=0)
        lines.append(f"| {task} | {len(answers)} | {right:.1f} | {alone:.1f} | {chance:.1f} |")
    return "\n".join(lines)


def _right(model: PlannerModel, buffer: SubtaskBuffer, last: Sequence[int], one: AskedFrames) -> list[bool]:
    """Which of the questions about the only episode of a buffer are answered rightly."""
    found: list[bool] = []
    for start in range(0, len(last), TOGETHER):
        numbers = list(range(start, min(start + TOGETHER, len(last))))
        said = answered(model, buffer.questions([0] * len(numbers), numbers, last[start : start + TOGETHER])).tolist()
        found += [bool(one.right[n, k]) for n, k in zip(numbers, said, strict=True)]
    return found
