"""A small decider: the words of an instruction and the cells of the frames so far look at each other, and a query reads the answer.

A clause of an instruction and a frame have numbers from one table: *observe object 2* is told third where it is seen third. What can be
answered is scored by its words, so that any answer can be offered.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.models.tokens import PLACES, CropEncoder, WordTokens, gathered
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import DeciderRecipe
from etude.learn.trial_buffer import TrialBatch

ORDER = 64  # clauses of an instruction, frames of a trial: more count as the last


class Decider(nn.Module):
    """``losses`` of a batch to learn from, ``scores`` of what could be answered. A frame has so many ``cells``."""

    def __init__(self, recipe: DeciderRecipe, cells: int) -> None:
        super().__init__()
        width = recipe.width
        self.sees, self.jitter = recipe.sees, recipe.jitter
        self.words, self.crop = WordTokens(width), CropEncoder(width)
        self.places, self.cells = nn.Embedding(PLACES, width), nn.Embedding(cells, width)
        self.order, self.ago = nn.Embedding(ORDER, width), nn.Embedding(ORDER, width)
        self.query, self.now = nn.Parameter(0.02 * torch.randn(width)), nn.Embedding(ORDER, width)
        self.kinds = nn.Embedding(2, width)  # a word, a cell
        self.blocks = nn.ModuleList(TransformerBlock(width, recipe.heads, recipe.dropout) for _ in range(recipe.layers))
        self.looked, self.read, self.offered = (nn.LayerNorm(width) for _ in range(3))
        self.answer, self.choice = nn.Linear(width, width), nn.Linear(width, width)
        for table in (self.places, self.cells, self.order, self.ago, self.kinds):
            nn.init.normal_(table.weight, std=0.5)  # where and when something is counts as much as what it is
        nn.init.normal_(self.now.weight, std=0.02)  # of the query: what it reads is to tell trials apart, not what it is

    def _told(self, batch: TrialBatch) -> Tensor:
        place = torch.arange(batch.words.shape[1], device=batch.words.device).clamp(max=PLACES - 1)
        return self.words(batch.words) + self.places(place) + self.order(batch.clauses.clamp(max=ORDER - 1)) + self.kinds.weight[0]

    def _shown(self, batch: TrialBatch) -> Tensor:
        frames = batch.seen.shape[1]
        number = torch.arange(frames, device=batch.seen.device)
        ago = (batch.now[:, None] - number).clamp(0, ORDER - 1)
        x = (self.ago(ago) + self.order(number.clamp(max=ORDER - 1)))[:, :, None] + self.cells.weight + self.kinds.weight[1]
        return x + gathered(self.looked(self.crop.looks(batch.cells, self.jitter)), batch.seen)

    def scores(self, batch: TrialBatch) -> Tensor:
        """Of every choice (R, C) in every row: the best one is the answer; −∞ where there is none."""
        rows = len(batch.seen)
        parts = [(self.query + self.now(batch.now.clamp(max=ORDER - 1)))[:, None]]
        there = [batch.told.new_ones(rows, 1)]
        if self.sees != "instruction" and len(batch.cells):
            parts.append(self._shown(batch).flatten(1, 2))
            there.append((batch.seen >= 0).flatten(1))
        if self.sees != "frames":
            parts.append(self._told(batch))
            there.append(batch.told)
        x, allowed = torch.cat(parts, 1), torch.cat(there, 1)[:, None, None]
        for block in self.blocks:
            x = block(x, allowed)
        said = batch.choices[..., :1] >= 0
        choices = self.choice(self.offered(torch.where(said, self.words(batch.choices.clamp(min=0)), 0.0).sum(2)))
        found = torch.einsum("rw,rcw->rc", self.answer(self.read(x[:, 0])), choices).float() / math.sqrt(x.shape[-1])
        return found.masked_fill(~said[:, :, 0, 0], -torch.inf)

    def losses(self, batch: TrialBatch) -> Tensor:
        """How unlikely (R, 1) the right answers were."""
        return functional.cross_entropy(self.scores(batch), batch.right, reduction="none")[:, None]
