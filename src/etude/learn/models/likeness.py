"""How like the things that a prompt shows or names every part of a frame looks: what is asked for is found by its looks, wherever it lies.

A transformer can learn this from its tokens too, but what it learns first is which thing was asked for in which room it has been in.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.control import PICTURE_TOKENS
from etude.learn.models.tokens import FEATURES, gathered
from etude.learn.spots import SOUGHT, UNSEEN

CELL = 8  # pixels along each side of what one feature is of
TRAITS = 64  # numbers that tell what something looks like
SHARP = 5.0  # how much likeness counts, to begin with


class Likeness(nn.Module):
    """For features of frames with ``fine`` × ``fine`` of them in a token. What things look like that are sought is seen in pictures, or
    else it ``reads`` that in words."""

    def __init__(self, width: int, fine: int, reads: bool) -> None:
        super().__init__()
        self.fine, self.reads = fine, reads
        self.into = nn.Conv2d(FEATURES, TRAITS, 3, padding=1)
        if reads:
            self.asking, self.read = nn.Parameter(torch.randn(SOUGHT, width)), nn.Linear(width, TRAITS)
        else:
            self.weight = nn.Conv2d(FEATURES, 1, 1)
        self.sharp = nn.Parameter(torch.tensor(SHARP))
        self.out = nn.Linear(SOUGHT * fine**2, width)

    def traits(self, maps: Tensor) -> Tensor:
        """What the things look like (P, :data:`TRAITS`) that stand alone in pictures with these features (P, 96, h, w)."""
        shares = self.weight(maps).flatten(2).softmax(2)
        return functional.normalize((self.into(maps).flatten(2) * shares).sum(2), dim=1)

    def named(self, prompt: Tensor, told: Tensor) -> Tensor:
        """What the things look like (B, :data:`SOUGHT`, :data:`TRAITS`) that prompts (B, L, width) name, the first, the second, …; so much
        is ``told`` (B, L)."""
        shares = (self.asking @ prompt.transpose(1, 2) / math.sqrt(prompt.shape[2])).masked_fill(~told[:, None], -torch.inf).softmax(2)
        return functional.normalize(self.read(shares @ prompt), dim=2)

    def forward(self, maps: Tensor, sought: Tensor) -> tuple[Tensor, Tensor]:
        """What it adds to the tokens (N, grid², width) of frames with these features (N, 96, h, w), where things with traits
        (N, :data:`SOUGHT`, :data:`TRAITS`) are sought; those that are 0 are like nothing. And how alike all is (N, SOUGHT, h, w)."""
        seen = functional.normalize(self.into(maps), dim=1)
        alike = self.sharp * (sought @ seen.flatten(2)).unflatten(2, seen.shape[2:])
        return self.out(functional.pixel_unshuffle(alike, self.fine).flatten(2).transpose(1, 2)), alike


def sought_in(rows: Tensor, traits: Tensor) -> Tensor:
    """The traits (B, :data:`SOUGHT`, :data:`TRAITS`) of the first pictures that prompts show, 0 where there are no more. ``rows``
    (B, L): which cells of pictures stand in a prompt, −1 for words; ``traits`` (P, :data:`TRAITS`) are of all pictures."""
    begins = (rows >= 0) & (rows % PICTURE_TOKENS == 0)
    place = torch.where(begins, (begins.long().cumsum(1) - 1).clamp(max=SOUGHT), SOUGHT)
    which = torch.full((len(rows), SOUGHT + 1), -1, dtype=rows.dtype, device=rows.device).scatter(1, place, rows // PICTURE_TOKENS)
    return gathered(traits, which[:, :SOUGHT])


def likeness_losses(alike: Tensor, spots: Tensor) -> Tensor:
    """How unlikely (N,) the places are where things are seen: ``spots`` (N, SOUGHT, V, 2), where parts of V views are ``alike``
    (N V, SOUGHT, h, w); the mean over things and views."""
    there, columns, rows = _seen(alike, spots)
    likely = alike.float().flatten(2).log_softmax(2).gather(2, (rows * alike.shape[3] + columns)[..., None])[..., 0]
    unlikely, seen = _summed(-likely * there, len(spots)), _summed(there, len(spots))
    return unlikely / seen.clamp(min=1)


def found_shares(alike: Tensor, spots: Tensor) -> Tensor:
    """How many (N,) of the things that are seen are found: that part is most alike, or one beside it. No number where nothing is seen."""
    there, columns, rows = _seen(alike, spots)
    best = alike.flatten(2).argmax(2)
    off = torch.stack([best % alike.shape[3] - columns, best // alike.shape[3] - rows]).abs().amax(0)
    return _summed((off <= 1) & there, len(spots)) / _summed(there, len(spots))


def _seen(alike: Tensor, spots: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which things are seen (N V, SOUGHT), and in which columns and rows of parts."""
    places = spots.transpose(1, 2).flatten(0, 1).long()
    columns, rows = ((places[..., axis] // CELL).clamp(0, alike.shape[3 - axis] - 1) for axis in range(2))
    return places[..., 0] != UNSEEN, columns, rows


def _summed(values: Tensor, count: int) -> Tensor:
    """Sums (N,) over things and views of values (N V, SOUGHT)."""
    return values.unflatten(0, (count, -1)).sum((1, 2))
