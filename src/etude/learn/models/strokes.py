"""The action head: strokes in bins, one number after the other or each on its own."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.envs.simulation import BOUNDS
from etude.learn.models.tokens import StrokeTokens
from etude.learn.models.trunk import TransformerBlock

SOFT = 0.75  # bins: the width of a label, so that a near miss counts less than a far one
NEIGHBOURS = 2  # bins on either side of the best, whose mean is the answer


@dataclass(frozen=True)
class Axis:
    """A number of a stroke in ``bins`` of the same width from ``low`` to ``high``; one that ``wraps`` has no ends."""

    low: float
    high: float
    bins: int
    wraps: bool = False


_LOW, _HIGH = BOUNDS["pick_place"]
_X, _Y = Axis(float(_LOW[0]), float(_HIGH[0]), 50), Axis(float(_LOW[1]), float(_HIGH[1]), 100)  # CoGeLoT A.2
AXES = (_X, _Y, _X, _Y, Axis(-math.pi, math.pi, 72, wraps=True))


class StrokeHead(nn.Module):
    """Reads strokes from what a trunk made of an observation: a query for each number, which knows those before it if ``chained``."""

    def __init__(self, width: int, heads: int, layers: int, dropout: float, chained: bool) -> None:
        super().__init__()
        self.chained = chained
        self.before = StrokeTokens(width, torch.tensor([a.low for a in AXES]), torch.tensor([a.high for a in AXES]))
        self.asking = nn.Parameter(0.02 * torch.randn(len(AXES), width))
        self.blocks = nn.ModuleList(TransformerBlock(width, heads, dropout, own=False, cross=True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.bins = nn.ModuleList(nn.Linear(width, axis.bins) for axis in AXES)

    def logits(self, tokens: Tensor, shown: Tensor, query: Tensor, numbers: Tensor) -> list[Tensor]:
        """Of every axis (N, bins), from tokens (N, M, width) that are ``shown`` (N, M), a query (N, width) and the numbers (N, 5) of
        which each axis may know those before it."""
        asked = query[:, None] + self.asking
        if self.chained:
            parts = self.before.parts(numbers)
            asked = asked + torch.cat([torch.zeros_like(parts[:, :1]), parts.cumsum(1)[:, :-1]], 1)
        for block in self.blocks:
            asked = block(asked, tokens=tokens, shown=shown[:, None, None])
        asked = self.norm(asked)
        return [layer(asked[:, k]) for k, layer in enumerate(self.bins)]

    def losses(self, tokens: Tensor, shown: Tensor, query: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy (N, 5) against labels (N, 5)."""
        found = self.logits(tokens, shown, query, labels)
        return torch.stack(
            [
                functional.cross_entropy(logits.float(), softened(labels[:, k], axis), reduction="none")
                for k, (logits, axis) in enumerate(zip(found, AXES, strict=True))
            ],
            1,
        )

    def answers(self, tokens: Tensor, shown: Tensor, query: Tensor) -> Tensor:
        """The best strokes (N, 5)."""
        numbers = torch.zeros(len(tokens), len(AXES), device=tokens.device)
        for k, axis in enumerate(AXES):
            if self.chained or k == 0:
                found = self.logits(tokens, shown, query, numbers)
            numbers[:, k] = best(found[k].float(), axis)
        return numbers


def centres(axis: Axis, device: torch.device) -> Tensor:
    """The middles of the bins."""
    return axis.low + (torch.arange(axis.bins, device=device) + 0.5) * ((axis.high - axis.low) / axis.bins)


def _apart(values: Tensor, axis: Axis) -> Tensor:
    """How far (…) is from every bin's middle, in bins (…, bins), with sign."""
    width = (axis.high - axis.low) / axis.bins
    off = (centres(axis, values.device) - values[..., None]) / width
    return (off + axis.bins / 2) % axis.bins - axis.bins / 2 if axis.wraps else off


def softened(values: Tensor, axis: Axis) -> Tensor:
    """Numbers (N,) as distributions over bins (N, bins)."""
    return torch.softmax(-0.5 * (_apart(values, axis) / SOFT) ** 2, -1)


def best(logits: Tensor, axis: Axis) -> Tensor:
    """The number (N,) in the midst of the best bin and its neighbours."""
    top = centres(axis, logits.device)[logits.argmax(-1)]
    off = _apart(top, axis)
    weights = torch.softmax(logits.masked_fill(off.abs() > NEIGHBOURS + 0.5, -torch.inf), -1)
    found = top + (weights * off).sum(-1) * ((axis.high - axis.low) / axis.bins)
    if axis.wraps:
        span = axis.high - axis.low
        return (found - axis.low) % span + axis.low
    return found.clamp(axis.low, axis.high)
