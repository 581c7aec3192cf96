"""A small planner: frames, the instruction and the sub-task before look at each other, and all that could be said looks at them.

What could be said is scored by its words, each on its own, so that any vocabulary can be offered, in any order.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from etude.learn.models.tokens import PLACES, FrameTokens, WordTokens, gathered
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import PlannerRecipe
from etude.learn.subtask_buffer import SubtaskBatch
from etude.learn.subtasks import SubtaskSource

INSTRUCTION, BEFORE = range(2)  # what words are of


class PlannerModel(nn.Module):
    """``losses`` of a batch to learn from, ``scores`` of what could be said."""

    def __init__(self, recipe: PlannerRecipe, source: SubtaskSource) -> None:
        super().__init__()
        width = recipe.width
        self.sees, self.shift = recipe.sees, recipe.shift
        self.frames = FrameTokens(width, source.size, recipe.grid, recipe.jitter)
        self.cells = nn.Parameter(torch.empty(len(source.cameras), recipe.grid**2, width))
        self.words, self.places, self.kinds = WordTokens(width), nn.Embedding(PLACES, width), nn.Embedding(2, width)
        self.looked, self.heard, self.known, self.read = (nn.LayerNorm(width) for _ in range(4))
        self.mix = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.blocks = nn.ModuleList(TransformerBlock(width, recipe.heads, recipe.dropout) for _ in range(recipe.layers))
        self.readers = nn.ModuleList(
            TransformerBlock(width, recipe.heads, recipe.dropout, own=False, cross=True) for _ in range(recipe.readers)
        )
        self.score = nn.Linear(width, 1)
        nn.init.normal_(self.cells, std=0.5)  # where something is counts as much as what it is
        for table in (self.places, self.kinds):
            nn.init.normal_(table.weight, std=0.02)

    def _seen(self, frames: Tensor) -> Tensor:
        """Frames (B, V, S, S, 3) as tokens (B, V grid², width)."""
        tokens = self.looked(self.frames.tokens(self.frames.looks(frames.flatten(0, 1), self.frames.jitter)))
        return (tokens.unflatten(0, frames.shape[:2]) + self.cells).flatten(1, 2)

    def scores(self, batch: SubtaskBatch) -> Tensor:
        """Of every choice (B, C): the best one is said; −∞ where there is none."""
        said = batch.sentences[..., 0] >= 0
        places = self.places.weight[: batch.sentences.shape[1]]
        words = self.heard(self.words(batch.sentences.clamp(min=0))) + places
        parts, there = [], []
        if self.sees != "words":
            parts.append(self._seen(batch.frames))
            there.append(torch.ones(parts[-1].shape[:2], dtype=torch.bool, device=said.device))
        if self.sees != "frames":
            for kind, rows in ((INSTRUCTION, batch.instruction), (BEFORE, batch.last)):
                parts.append(words[rows.clamp(min=0)] + self.kinds.weight[kind])
                there.append(said[rows.clamp(min=0)] & (rows >= 0)[:, None])
        x, allowed = torch.cat(parts, 1), torch.cat(there, 1)[:, None, None]
        for block in self.blocks:
            x = block(x, allowed)
        known = self.known(x)
        # Which word stands where tells "the cube on the bowl" from "the bowl on the cube".
        meanings = torch.where(said[..., None], words + self.mix(words), 0.0).sum(1) / said.sum(1).clamp(min=1)[:, None]
        y = gathered(meanings, batch.choices)
        for reader in self.readers:
            y = reader(y, None, known, allowed)
        found: Tensor = self.score(self.read(y)).squeeze(-1).float()
        return found.masked_fill(batch.choices < 0, -torch.inf)

    def losses(self, batch: SubtaskBatch) -> Tensor:
        """How unlikely (B, 1) it was that something right was said."""
        if self.training and self.shift:
            batch = SubtaskBatch(shifted(batch.frames, self.shift), *list(vars(batch).values())[1:])
        scores = self.scores(batch)
        good = scores.masked_fill(~batch.right, -torch.inf)
        return (scores.logsumexp(1) - good.logsumexp(1))[:, None]


def shifted(frames: Tensor, most: int) -> Tensor:
    """Frames (B, V, S, S, 3), each moved by at most so many pixels, so that none is known again by its pixels."""
    size, device = frames.shape[2], frames.device
    flat, line = frames.flatten(0, 1), torch.arange(size, device=device)
    down, across = ((line + torch.randint(-most, most + 1, (len(flat), 1), device=device)).clamp(0, size - 1) for _ in range(2))
    number = torch.arange(len(flat), device=device)[:, None, None]
    return flat[number, down[:, :, None], across[:, None]].unflatten(0, frames.shape[:2])
