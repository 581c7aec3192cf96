"""Flows: what is to be done comes out of noise in a few steps, along what was learned of the ways from noise to what is right."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

MOMENTS = 32  # knots on the way


def on_the_way(wanted: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of what is ``wanted`` (N, …): noise, a moment (N,) from 0 to 1 for each, and where it is then on the straight way from the noise."""
    noise, moment = torch.randn_like(wanted), torch.rand(len(wanted), dtype=wanted.dtype, device=wanted.device)
    return noise, moment, torch.lerp(noise, wanted, moment.view(-1, *[1] * (wanted.ndim - 1)))


def flown(velocity: Callable[[Tensor, Tensor], Tensor], start: Tensor, steps: int) -> Tensor:
    """Where noise (N, …) goes to. ``velocity`` is of where it is, and when (N,)."""
    x = start
    for k in range(steps):
        x = x + velocity(x, torch.full_like(x.flatten(1)[:, 0], k / steps)) / steps
    return x
