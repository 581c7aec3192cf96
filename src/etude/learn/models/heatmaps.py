"""Keyposes from heat maps (as RVT has it): the cloud is drawn anew from three orthographic views, and a transformer over their patches, the
words and what the robot feels paints where the tip shall go, in each view.

Two networks: one sees the whole cube, the other a small cube around where the first would go. A place is as likely as the three maps say
together; the rotation and the hand are read from the patches around it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.keypose_buffer import KeyposeBatch
from etude.learn.keyposes import LONGEST_SENTENCE, KeyposeSource
from etude.learn.models.clouds import CHANNELS, VIEWS, drawn, from_six_numbers, sampled, zoomed
from etude.learn.models.keypose_model import SENSES, KeyposeAnswer, KeyposeModel, Situation
from etude.learn.models.tokens import WordTokens
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import HeatmapRecipe

PARTS = 4  # of a loss: the place in the cube, in the small cube, the rotation, the hand
STEM, MIDDLE, PAINT, NEAR = 48, 96, 16, 32  # features of pixels: at half size, at a quarter, in what is painted, and beside each other
CELL, PATCH = 2, 8  # pixels along each side: of a cell of a heat map, of a patch
SOFT = 1.0  # cells: the width of a label
NEIGHBOURS = 2  # cells on each side of the best, whose mean is the answer
GUESSES, HIDDEN = 4, 176  # rotations of which the likeliest is taken, for grips come in several ways
SHARED = 0.05  # of the loss of a rotation, for guesses that are not the best: none is to be lost
TURNS = 2.0  # how much a radian counts
MISSED = 1 / 6  # of the small cube's side, along each axis: so far the first answer may be beside the right one


class Heatmaps(KeyposeModel):
    """``losses`` (N, 4) of a batch to learn from, ``answers`` to one."""

    def __init__(self, recipe: HeatmapRecipe, source: KeyposeSource) -> None:
        super().__init__(recipe, source)
        self.coarse, self.fine = HeatmapStage(recipe, recipe.layers), HeatmapStage(recipe, recipe.fine_layers)
        self.read = nn.Sequential(nn.Linear(2 * (1 + len(VIEWS)) * recipe.width, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, GUESSES * 7 + 1))
        self.share = recipe.zoom / source.side

    def losses(self, batch: KeyposeBatch) -> Tensor:
        """How far (B, 4) the answers are from the labels."""
        now, place, rotation = self._lesson(batch)
        coarse = self.coarse(now, torch.full_like(place, 0.5), 1.0)
        centre = place + (2 * torch.rand_like(place) - 1) * MISSED * self.share
        fine = self.fine(now, centre, self.share)
        inside = zoomed(place, centre, self.share)
        guesses, scores, hand = self._read(coarse, place, fine, inside)
        # The trace of one rotation's inverse times the other tells the angle between them.
        angle = (3 - (guesses * rotation[:, None]).sum((2, 3)) + 1e-4).clamp(min=1e-4).sqrt()
        nearest = angle.argmin(1)
        turns = angle.gather(1, nearest[:, None])[:, 0] + SHARED * angle.mean(1)
        parts = (
            place_losses(coarse.maps, place),
            place_losses(fine.maps, inside),
            TURNS * turns + functional.cross_entropy(scores, nearest, reduction="none"),
            functional.binary_cross_entropy_with_logits(hand, (batch.labels[:, 7] > 0).float(), reduction="none"),
        )
        return torch.stack(parts, 1)

    def answers(self, batch: KeyposeBatch) -> KeyposeAnswer:
        """The likeliest keyposes."""
        now = self._situation(batch)
        coarse = self.coarse(now, torch.full_like(now.tip, 0.5), 1.0)
        centre = best_places(coarse.maps)
        fine = self.fine(now, centre, self.share)
        inside = best_places(fine.maps)
        place = centre + (inside - 0.5) * self.share
        guesses, scores, hand = self._read(coarse, place, fine, inside)
        best = scores.argmax(1)
        rotations = guesses[torch.arange(len(best), device=best.device), best]
        return KeyposeAnswer(self.low + place * self.source.side, rotations, hand > 0)

    def _read(self, coarse: StageView, place: Tensor, fine: StageView, inside: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rotations (B, G, 3, 3) with their scores (B, G), and a positive number for a closed hand (B,)."""
        found = self.read(torch.cat([coarse.around(place), fine.around(inside)], 1)).float()
        numbers = found[:, : GUESSES * 6].unflatten(1, (GUESSES, 6))
        return from_six_numbers(numbers), found[:, GUESSES * 6 : -1], found[:, -1]


@dataclass(frozen=True, eq=False)
class StageView:
    """What a network makes of a cube: ``maps`` (B, 3, C, C), how likely each cell is in each view; ``patches`` (B, 3, width, G, G) and a
    ``query`` (B, width)."""

    maps: Tensor
    patches: Tensor
    query: Tensor

    def around(self, places: Tensor) -> Tensor:
        """What is known (B, 4 width) at places (B, 3) in the cube."""
        parts = [self.query]
        for k, (down, across, _) in enumerate(VIEWS):
            parts.append(sampled(self.patches[:, k], places[:, [down, across]]))
        return torch.cat(parts, 1)


class HeatmapStage(nn.Module):
    """Pictures, words and feelings as tokens, a trunk, and what is painted from the tokens and the pixels."""

    def __init__(self, recipe: HeatmapRecipe, layers: int) -> None:
        super().__init__()
        width, self.size = recipe.width, recipe.size
        self.stem, self.down = nn.Conv2d(CHANNELS, STEM, 4, 2, 1), nn.Conv2d(STEM, MIDDLE, 3, 2, 1)
        self.patch = nn.Conv2d(MIDDLE, width, 2, 2)
        self.grid = recipe.size // PATCH
        self.cells = nn.Parameter(0.5 * torch.randn(len(VIEWS), self.grid**2, width))  # where counts as much as what
        self.looked = nn.LayerNorm(width)
        self.words, self.order = WordTokens(width), nn.Embedding(LONGEST_SENTENCE, width)
        self.feeling = nn.Sequential(nn.Linear(SENSES, width), nn.GELU(), nn.Linear(width, width))
        self.query = nn.Parameter(0.02 * torch.randn(width))
        self.blocks = nn.ModuleList(TransformerBlock(width, recipe.heads, recipe.dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.paint = nn.Linear(width, PAINT * (PATCH // CELL) ** 2)
        self.near, self.map = nn.Conv2d(PAINT + STEM, NEAR, 3, 1, 1), nn.Conv2d(NEAR, 1, 1)

    def forward(self, now: Situation, centre: Tensor, share: float) -> StageView:
        """Look at the cube around ``centre`` (B, 3) whose side is this share of the whole one's."""
        count, views = len(centre), len(VIEWS)
        pictures = drawn(zoomed(now.places, centre, share), now.colours, now.there, self.size).flatten(0, 1)
        pixels = functional.gelu(self.stem(pictures))
        cells = self.looked(self.patch(functional.gelu(self.down(pixels))).flatten(2).transpose(1, 2)).unflatten(0, (count, views))
        told = now.words[..., 0] >= 0
        words = self.words(now.words.clamp(min=0)) + self.order.weight[: now.words.shape[1]]
        x = torch.cat([(cells + self.cells).flatten(1, 2), (self.query + self.feeling(now.felt(centre, share)))[:, None], words], 1)
        allowed = torch.cat([told.new_ones(count, x.shape[1] - told.shape[1]), told], 1)[:, None, None]
        for block in self.blocks:
            x = block(x, allowed)
        x = self.norm(x)
        seen = x[:, : views * self.grid**2].unflatten(1, (views, self.grid, self.grid))
        painted = functional.pixel_shuffle(self.paint(seen).flatten(0, 1).permute(0, 3, 1, 2), PATCH // CELL)
        maps = self.map(functional.gelu(self.near(torch.cat([painted, pixels], 1))))
        query = x[:, views * self.grid**2]
        return StageView(maps.unflatten(0, (count, views))[:, :, 0].float(), seen.permute(0, 1, 4, 2, 3), query)


def _together(maps: Tensor) -> Tensor:
    """How likely all cells (B, C, C, C) of a cube are, by the maps of its three views."""
    above, front, side = maps.unbind(1)
    return above[..., None] + front[:, None] + side[:, :, None]


def place_losses(maps: Tensor, places: Tensor) -> Tensor:
    """How much (B,) maps (B, 3, C, C) differ from those of places (B, 3): the divergence from a bell around each, 0 at best."""
    cells = maps.shape[-1]
    knots = torch.arange(cells, device=maps.device, dtype=torch.float32) + 0.5
    bell = torch.softmax(-0.5 * ((knots - cells * places[..., None]) / SOFT) ** 2, -1)  # (B, 3, C): along each axis
    hit = maps.new_zeros(len(maps))
    for k, (down, across, _) in enumerate(VIEWS):
        hit = hit + (maps[:, k] * bell[:, down, :, None] * bell[:, across, None]).sum((1, 2))
    return torch.logsumexp(_together(maps).flatten(1), 1) - hit - torch.special.entr(bell).sum((1, 2))


def best_places(maps: Tensor) -> Tensor:
    """The likeliest places (B, 3) in the cube: the mean around the best cell."""
    cells = maps.shape[-1]
    found = _together(maps)
    best = found.flatten(1).argmax(1)
    at = torch.stack([best // cells**2, best // cells % cells, best % cells], 1)
    near = (torch.arange(cells, device=maps.device) - at[..., None]).abs() <= NEIGHBOURS  # (B, 3, C)
    window = near[:, 0, :, None, None] & near[:, 1, None, :, None] & near[:, 2, None, None]
    share = torch.softmax(found.masked_fill(~window, -torch.inf).flatten(1), 1).view_as(found)
    knots = (torch.arange(cells, device=maps.device, dtype=torch.float32) + 0.5) / cells
    return torch.stack([(share.sum(other) * knots).sum(1) for other in ((2, 3), (1, 3), (1, 2))], 1)
