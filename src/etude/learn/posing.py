"""A trained keypose policy at work: it says where the tip shall go next, and is judged on demonstrations that nobody trains on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from etude.learn.inference import SESSIONS, TOGETHER, Recorded
from etude.learn.keypose_buffer import KeyposeBatch, KeyposeBuffer
from etude.learn.keyposes import (
    ACTION,
    LONGEST_SENTENCE,
    NO_WORD,
    POSE_NUMBERS,
    SENTENCES,
    KeyposeDemonstration,
    keypose_of,
    look_arrays,
    trimmed,
)
from etude.learn.models.clouds import matrices
from etude.learn.models.keypose_model import KeyposeAnswer, KeyposeModel
from etude.names import EpisodeName, EtudeError
from etude.policies.halves import Arrays
from etude.pose import Array

NEAR, TURN = (0.01, 0.02, 0.05), 15.0  # how near is told: metres and degrees


class KeyposeInference:
    """Answers looks with keyposes. On a GPU so many are answered at once as were recorded, on a CPU each alone: no answer depends on who
    else was asking. Of an episode only the noise is remembered that its answers may flow out of."""

    def __init__(self, model: KeyposeModel, device: torch.device, about: Mapping[str, str]) -> None:
        self.about = about
        self._model, self._device = model, device
        self._starts: dict[int, Arrays] = {}
        self._table = LookTable(model, device, lambda answer: Recorded(answer, device).replayed) if device.type == "cuda" else None

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session: what is to be done comes with every look."""
        if self._table is not None and session >= SESSIONS:
            raise EtudeError(f"a learned policy plays at most {SESSIONS} episodes at once; use fewer --workers")
        self._starts[session] = told

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """A keypose (8,) for each."""
        looks = [{**one, **self._starts[session]} for session, one in zip(sessions, seen, strict=True)]
        with torch.no_grad():
            if self._table is None:
                return [self._alone(look) for look in looks]
            parts = [looks[start : start + TOGETHER] for start in range(0, len(looks), TOGETHER)]
            return [keypose for part in parts for keypose in self._table.decided(part)]

    def _alone(self, look: Arrays) -> Array:
        given = {name: torch.from_numpy(np.array(array))[None] for name, array in look_arrays(look).items()}
        given["words"] = torch.from_numpy(trimmed(look["words"][None]))
        return keypose_of(in_a_row(self._model.answers(KeyposeBatch(**given, labels=torch.zeros(1, ACTION))))[0].numpy())


class LookTable:
    """Room for looks on a device, always as many: those that are not asked for hold what was there before, and nobody reads their answers.
    ``recorded`` makes of a computation one that is done again and again."""

    def __init__(self, model: KeyposeModel, device: torch.device, recorded: Callable[[Callable[[], Tensor]], Callable[[], Tensor]]) -> None:
        points = model.source.points
        kinds = {"points": torch.int16, "colours": torch.uint8, "felt": torch.float32, "words": torch.int64, "start": torch.float32}
        shapes = {"points": (points, 3), "colours": (points, 3), "felt": (10,), "words": (LONGEST_SENTENCE, 2), "start": (POSE_NUMBERS,)}
        self._given = {name: torch.zeros((TOGETHER, *shapes[name]), dtype=kind, device=device) for name, kind in kinds.items()}
        self._given["words"].fill_(NO_WORD)
        batch = KeyposeBatch(**self._given, labels=torch.zeros(TOGETHER, ACTION, device=device))
        self._make, self._answer = recorded, lambda: in_a_row(model.answers(batch))
        self._recorded: Callable[[], Tensor] | None = None

    def decided(self, looks: Sequence[Arrays]) -> list[Array]:
        """Keyposes (8,) of at most :data:`~etude.learn.inference.TOGETHER` looks."""
        arrays = [look_arrays(look) for look in looks]
        for name, room in self._given.items():
            room[: len(looks)].copy_(torch.from_numpy(np.stack([one[name] for one in arrays])))
        if self._recorded is None:
            self._recorded = self._make(self._answer)
        return [keypose_of(row) for row in self._recorded()[: len(looks)].cpu().numpy()]


def in_a_row(found: KeyposeAnswer) -> Tensor:
    """Answers as (B, 13): place, rotation, whether the hand is closed."""
    return torch.cat([found.places, found.rotations.flatten(1), found.closed[:, None]], 1)


def answered(model: KeyposeModel, batch: KeyposeBatch) -> KeyposeAnswer:
    """What a model would do."""
    device = batch.felt.device
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        return model.answers(batch)


def judged_keyposes(model: KeyposeModel, found: Sequence[tuple[int, str, KeyposeDemonstration]], device: torch.device) -> str:
    """Shares of keyposes (%) that come so near to the oracle's, told by the task and by the sub-task, as a table."""
    rows: dict[tuple[str, str], list[tuple[float, float, bool]]] = {}
    for _, name, one in found:
        buffer = KeyposeBuffer(model.source, 0.0, device)
        buffer.add([one])
        for sentence, told in SENTENCES.items():
            count = len(one.labels)
            batch = buffer.keyposes(np.zeros(count, int), np.arange(count), np.full(count, sentence))
            guess = answered(model, batch)
            off = (guess.places - batch.labels[:, :3]).norm(dim=1).tolist()
            trace = (guess.rotations * matrices(batch.labels[:, 3:7])).sum((1, 2))
            turns = torch.rad2deg(((trace - 1) / 2).clamp(-1, 1).acos()).tolist()
            hands = (guess.closed == (batch.labels[:, 7] > 0)).tolist()
            rows.setdefault((EpisodeName.parse(name).task, told), []).extend(zip(off, turns, hands, strict=True))
    lines = ["| task | told | keyposes | place < 1, 2, 5 cm | turn < 15° | hand |", "|---|---|---|---|---|---|"]
    for (task, told), values in sorted(rows.items()):
        off, turns, hands = np.array(values, float).T
        near = " ".join(f"{100 * np.mean(off < limit):.0f}" for limit in NEAR)
        lines.append(f"| {task} | {told} | {len(values)} | {near} | {100 * np.mean(turns < TURN):.0f} | {100 * np.mean(hands):.0f} |")
    return "\n".join(lines)
