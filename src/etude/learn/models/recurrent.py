"""A recurrent head: an LSTM over what was made of each look. The arm is learned by squared error, the hand by cross-entropy."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.models.controller import mean_over


class RecurrentHead(nn.Module):
    """Reads rows (B, K, width), of which the first few are there, from the beginning: it knows no more looks than it has learned with."""

    def __init__(self, width: int, hidden: int, chunk: int, numbers: int) -> None:
        super().__init__()
        self.chunk, self.numbers = chunk, numbers
        self.norm, self.lstm = nn.LayerNorm(width), nn.LSTM(width, hidden, batch_first=True)
        self.out = nn.Linear(hidden, chunk * numbers)

    def forward(self, row: Tensor) -> Tensor:
        """Chunks (B, K, H, A), of which the last number is how likely the hand closes, as a logit."""
        with torch.autocast(row.device.type, enabled=False):
            read, _ = self.lstm(self.norm(row.float()))
            return self.out(read).unflatten(2, (self.chunk, self.numbers))

    def losses(self, row: Tensor, wanted: Tensor, counts: Tensor) -> Tensor:
        """How far (N, 2) chunks are from what is ``wanted`` (B, K, H, A), for those that have anything that ``counts`` (B, K, H)."""
        some = counts.any(-1)
        found, wanted = self(row)[some], wanted[some]
        hand = functional.binary_cross_entropy_with_logits(found[..., -1], (wanted[..., -1] > 0).float(), reduction="none")
        return mean_over(torch.cat([(found[..., :-1] - wanted[..., :-1]) ** 2, hand[..., None]], -1), counts[some])

    def answers(self, row: Tensor) -> Tensor:
        """Chunks (B, K, H, A) to be carried out: the hand closes or opens."""
        found: Tensor = self(row)
        return torch.cat([found[..., :-1], torch.where(found[..., -1:] > 0, 1.0, -1.0)], -1)
