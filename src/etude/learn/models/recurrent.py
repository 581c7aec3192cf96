"""Controllers with a recurrent head: an LSTM over what was made of each look. The arm is learned by squared error, the hand by
cross-entropy."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.control import ControlSource
from etude.learn.control_buffer import ControlBatch
from etude.learn.models.controller import Answers, Controller, ControlMemory, appended, errors_of, looking_losses, mean_over
from etude.learn.models.likeness import found_shares
from etude.learn.network_recipes import ControllerRecipe

LATENTS = 8  # tokens that look


class RecurrentHead(nn.Module):
    """Reads rows (B, K, width), of which the first few are there, from the beginning: it knows no more looks than it has learned with."""

    full_precision = True

    def __init__(self, width: int, hints: int, hidden: int, chunk: int, numbers: int, error: Literal["squared", "absolute"]) -> None:
        super().__init__()
        self.chunk, self.numbers, self.error = chunk, numbers, error
        self.norm, self.lstm = nn.LayerNorm(width), nn.LSTM(width, hidden, batch_first=True)
        self.out = nn.Sequential(nn.Linear(hidden + hints, hidden), nn.GELU(), nn.Linear(hidden, chunk * numbers))

    def forward(self, row: Tensor, hints: Tensor) -> Tensor:
        """Chunks (B, K, H, A), of which the last number is how likely the hand closes, as a logit; by the way (B, K, hints) to what is
        pointed at."""
        with torch.autocast(row.device.type, enabled=False):
            read, _ = self.lstm(self.norm(row.float()))
            return self.out(torch.cat([read, hints], 2)).unflatten(2, (self.chunk, self.numbers))

    def losses(self, row: Tensor, hints: Tensor, wanted: Tensor, counts: Tensor, where: Tensor) -> Tensor:
        """How far (N, 2) chunks are from what is ``wanted`` (B, K, H, A) and ``counts`` (B, K, H), for those that are there (N,)."""
        found, wanted, counts = (x.flatten(0, 1)[where] for x in (self(row, hints), wanted, counts))
        hand = functional.binary_cross_entropy_with_logits(found[..., -1], (wanted[..., -1] > 0).float(), reduction="none")
        return mean_over(torch.cat([errors_of(found[..., :-1], wanted[..., :-1], self.error), hand[..., None]], -1), counts)

    def answers(self, row: Tensor, hints: Tensor) -> Tensor:
        """Chunks (B, K, H, A) to be carried out: the hand closes or opens."""
        found: Tensor = self(row, hints)
        return torch.cat([found[..., :-1], torch.where(found[..., -1:] > 0, 1.0, -1.0)], -1)


class RecurrentController(Controller):
    """A few ``latents`` look at the frames of a moment; the greatest of what they make of a look is a row, and an LSTM reads the rows."""

    onwards = True

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__(recipe, source)
        self.latents = nn.Parameter(0.02 * torch.randn(LATENTS, self.width))
        self.head = RecurrentHead(self.width, self.hints, recipe.hidden, self.chunk, self.numbers, recipe.error)

    def rows(self, batch: ControlBatch) -> tuple[Tensor, Tensor, Tensor | None]:
        """What is made (B, K, width) of every look of a batch, their tokens (B K, M, width), and how like what is sought all is
        (B K V, SOUGHT, h, w)."""
        raise NotImplementedError

    def losses(self, batch: ControlBatch) -> Tensor:
        row, looks, alike = self.rows(batch)
        pointed, hints = self.pointed(row.flatten(0, 1), looks, batch.felt.flatten(0, 1))
        found = self.head.losses(row, hints.unflatten(0, row.shape[:2]), self.scaled(batch.labels, batch.felt), batch.counts, batch.where)
        seen = looking_losses(pointed, batch.aims.flatten(0, 1), alike, batch.spots.flatten(0, 1))
        return torch.cat([found, seen[batch.where]], 1)

    def chunks(self, batch: ControlBatch) -> Answers:
        row, looks, alike = self.rows(batch)
        pointed, hints = self.pointed(row.flatten(0, 1), looks, batch.felt.flatten(0, 1))
        found, wanted = self.head.answers(row, hints.unflatten(0, row.shape[:2])), self.scaled(batch.labels, batch.felt)
        off = None if pointed is None else pointed.off(batch.aims.flatten(0, 1))[batch.there.flatten()]
        finds = None if alike is None else found_shares(alike, batch.spots.flatten(0, 1))[batch.there.flatten()]
        return Answers(found[batch.there], wanted[batch.there], batch.counts[batch.there], off, finds)

    def answered(self, memory: ControlMemory, made: Tensor, looks: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        """The actions after looks (B, M, width) of which this (B, width) was made, and what is remembered then."""
        count = memory["count"]
        row, last = appended(memory["row"], count, made), count.clamp(max=self.kept - 1)
        _, hints = self.pointed(made, looks, felt)
        found = self.head.answers(row, hints[:, None].expand(-1, self.kept, -1))[torch.arange(len(last), device=last.device), last]
        return self.actions(found, felt), {**memory, "row": row, "count": count + 1}
