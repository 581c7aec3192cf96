"""How good a policy is stroke by stroke: against the oracle's, on held-out demonstrations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from etude.learn.buffer import DemonstrationBuffer
from etude.learn.models.cogelot import Cogelot
from etude.learn.samples import Demonstration
from etude.names import EpisodeName

TOGETHER = 256  # episodes judged at once
STARTS, ENDS, TURN = (0.015, 0.03, 0.08), (0.03, 0.08), 15.0  # how near is told: metres and degrees


def judged(model: Cogelot, found: Sequence[tuple[int, str, Demonstration]], device: torch.device) -> str:
    """Shares of strokes (%) that come so near to the oracle's, by task and step, as a table; and the mean loss.

    Where several things may come first, the oracle's choice is one of them: what differs need not be wrong.
    """
    rows: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    losses = []
    for start in range(0, len(found), TOGETHER):
        part = found[start : start + TOGETHER]
        buffer = DemonstrationBuffer(device)
        buffer.add([one for _, _, one in part])
        batch = buffer.batch(torch.arange(len(part)))
        with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            off = (model.guesses(batch) - batch.labels[batch.where[:, 0], batch.where[:, 1]]).float().cpu().numpy()
            losses.append(model.losses(batch))
        for (number, step), error in zip(batch.where.tolist(), off, strict=True):
            turn = abs(float(np.degrees((error[4] + np.pi) % (2 * np.pi) - np.pi)))
            task = EpisodeName.parse(part[number][1]).task
            rows.setdefault((task, step), []).append((float(np.hypot(*error[:2])), float(np.hypot(*error[2:4])), turn))
    lines = ["| task | step | strokes | start < 1.5, 3, 8 cm | end < 3, 8 cm | turn < 15° |", "|---|---|---|---|---|---|"]
    for (task, step), errors in sorted(rows.items()):
        starts, ends, turns = np.array(errors).T
        cells = [
            " ".join(f"{100 * np.mean(e < limit):.0f}" for limit in limits)
            for e, limits in ((starts, STARTS), (ends, ENDS), (turns, (TURN,)))
        ]
        lines.append(f"| {task} | {step} | {len(errors)} | {' | '.join(cells)} |")
    axes = torch.cat(losses).mean(0).tolist()
    return "\n".join([*lines, f"held-out loss {sum(axes):.3f} ({' '.join(f'{a:.2f}' for a in axes)})"])
