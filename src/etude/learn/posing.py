"""A trained keypose policy at work: it says where the tip shall go next, and is judged on demonstrations that nobody trains on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from etude.learn.keypose_buffer import KeyposeBatch, KeyposeBuffer, trimmed
from etude.learn.keyposes import ACTION, SENTENCES, KeyposeDemonstration
from etude.learn.models.clouds import matrices
from etude.learn.models.keypose_model import KeyposeAnswer, KeyposeModel
from etude.names import EpisodeName
from etude.policies.halves import Arrays
from etude.pose import Array, matrix_quat

NEAR, TURN = (0.01, 0.02, 0.05), 15.0  # how near is told: metres and degrees


class KeyposeMind:
    """Answers looks with keyposes. Each is answered alone, so that no answer depends on who else was asking; none is remembered."""

    def __init__(self, model: KeyposeModel, device: torch.device, about: Mapping[str, str]) -> None:
        self.about = about
        self._model, self._device = model, device

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session: what is to be done comes with every look."""

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """A keypose (8,) for each."""
        return [self._keypose(one) for one in seen]

    def _keypose(self, seen: Arrays) -> Array:
        arrays = seen["points"].view(np.int16), seen["colours"], seen["felt"], trimmed(seen["words"][None])[0], np.zeros(ACTION, np.float32)
        points, colours, felt, words, nothing = (torch.from_numpy(np.array(a)).to(self._device)[None] for a in arrays)
        found = answered(self._model, KeyposeBatch(points, colours, felt, words, nothing))
        rotation = matrix_quat(found.rotations[0].double().cpu().numpy())
        return np.array([*found.places[0].tolist(), *rotation, 1.0 if bool(found.closed[0]) else -1.0])


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
