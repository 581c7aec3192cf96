"""A trained decider at work: it answers trials, and is judged on those that nobody trains on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from etude.learn.models.decider import Decider
from etude.learn.trial_buffer import TrialBatch, TrialBuffer
from etude.learn.trials import SolvedTrial
from etude.names import EpisodeName
from etude.policies.halves import Arrays
from etude.pose import Array

TOGETHER = 256  # trials judged at once
ALONE = 64  # rows that a single trial takes to begin with


class DecisionInference:
    """Answers trials. Each is decided alone, so that no answer depends on who else was asking."""

    def __init__(self, model: Decider, device: torch.device, about: Mapping[str, str]) -> None:
        self.about = about
        self._model, self._device = model, device
        self._told: dict[int, Arrays] = {}

    def begin(self, session: int, told: Arrays) -> None:
        """A new trial begins in this session."""
        self._told[session] = told

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """The numbers of the answers (Q,) of each trial, from 1."""
        return [self._answers(self._told[session], shown) for session, shown in zip(sessions, seen, strict=True)]

    def _answers(self, told: Arrays, shown: Arrays) -> Array:
        buffer = TrialBuffer(self._model.cells.num_embeddings, self._device, ALONE)
        buffer.add([SolvedTrial(right=np.zeros_like(shown["asked"]), **told, **shown)])
        best = answered(self._model, buffer.batch(torch.zeros(1, dtype=torch.long)))
        return np.asarray(1 + best.cpu().numpy(), np.float64)


def answered(model: Decider, batch: TrialBatch) -> Tensor:
    """Which of the choices (R,) a model takes."""
    device = batch.cells.device
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        return model.scores(batch).argmax(1)


def judged_trials(model: Decider, found: Sequence[tuple[int, str, SolvedTrial]], device: torch.device) -> str:
    """The share of right answers (%) beside chance, list by list, as a table."""
    rows: dict[str, list[tuple[bool, float]]] = {}
    for start in range(0, len(found), TOGETHER):
        part = found[start : start + TOGETHER]
        buffer = TrialBuffer(model.cells.num_embeddings, device)
        buffer.add([one for _, _, one in part])
        batch = buffer.batch(torch.arange(len(part)))
        right = (answered(model, batch) == batch.right).tolist()
        for number, ok in zip(batch.trials.tolist(), right, strict=True):
            _, name, one = part[number]
            rows.setdefault(EpisodeName.parse(name).task, []).append((ok, 1 / len(one.choices)))
    rows = {**dict(sorted(rows.items())), "all": [answer for answers in rows.values() for answer in answers]}
    lines = ["| list | answers | right | chance |", "|---|---|---|---|"]
    for task, answers in rows.items():
        right, chance = 100 * np.mean(answers, axis=0)
        lines.append(f"| {task} | {len(answers)} | {right:.1f} | {chance:.1f} |")
    return "\n".join(lines)
