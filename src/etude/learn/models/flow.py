"""Flows: what is to be done comes out of noise in a few steps, along what was learned of the ways from noise to what is right.

What is learned is where a way ends, not which way it goes: who were to tell that would have to know all of the noise again.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

MOMENTS = 32  # knots on the way


def on_the_way(wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Of what is ``wanted`` (N, …): a moment (N,) from 0 to 1 for each, and where it is then on the straight way from noise."""
    noise, moment = torch.randn_like(wanted), torch.rand(len(wanted), dtype=wanted.dtype, device=wanted.device)
    return moment, torch.lerp(noise, wanted, moment.view(-1, *[1] * (wanted.ndim - 1)))


def flown(end: Callable[[Tensor, Tensor], Tensor], start: Tensor, steps: int) -> Tensor:
    """Where noise (N, …) goes to. ``end``: of the way that leads by where it is, at a moment (N,)."""
    x = start
    for k in range(steps):
        x = x + (end(x, torch.full_like(x.flatten(1)[:, 0], k / steps)) - x) / (steps - k)
    return x
