"""Long chunks of actions from an expert of their own (as π0 has it): the prompt and the looks go through a trunk once, and the actions of a
chunk, each a token, flow out of noise while they look at each other and at all that the trunk has made of what is seen."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from etude.learn.control import ControlSource
from etude.learn.control_buffer import ControlBatch
from etude.learn.models.controller import Answers, ControlMemory, looking_losses, mean_over
from etude.learn.models.flow import MOMENTS, flown, on_the_way
from etude.learn.models.tokens import hats
from etude.learn.models.trunk import TransformerBlock
from etude.learn.models.window import WindowLooks
from etude.learn.network_recipes import ControllerRecipe

EXPERT = 4  # layers of the expert
STEPS = 10  # from noise to actions
FURTHEST = 0.8  # rad or m: where an oracle's arm ends up, however long it moves


class ChunkController(WindowLooks):
    """An expert for actions beside the trunk, and a flow. Spaces that say where to be stay there after the last thing that was done."""

    spread: Tensor

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__(recipe, source)
        width, heads = self.width, recipe.heads
        self.acts, self.moment = nn.Linear(self.numbers, width), nn.Linear(MOMENTS, width)
        self.turns = nn.Parameter(0.5 * torch.randn(self.chunk, width))  # when in a chunk counts as much as what
        self.expert = nn.ModuleList(TransformerBlock(width, heads, recipe.dropout, cross=True) for _ in range(EXPERT))
        self.done, self.ends = nn.LayerNorm(width), nn.Linear(width, self.numbers)
        self.stays = source.action != "ee_delta"
        if self.stays:  # the later an action, the further it is from where the arm is now
            far = self.spread[:-1] * torch.arange(1, self.chunk + 1)[:, None]
            self.spread = torch.cat([far / (1 + far / FURTHEST), self.spread[-1:].expand(self.chunk, 1)], 1)

    def _known(self, row: Tensor, shown: Tensor) -> list[Tensor]:
        """Keys and values (B, N, 2 width) of a row, for each layer of the expert."""
        for block in self.trunk:
            row = block(row, shown[:, None, None])
        row = self.out(row)
        return [block.cross.both(row) for block in self.expert]

    def _end(self, known: list[Tensor], shown: Tensor, at: Tensor, moment: Tensor) -> Tensor:
        """Where actions (B, H, A) end that are ``at`` (B, H, A) at a moment (B,) from 0, noise, to 1."""
        x = self.acts(at) + self.turns + self.moment(hats(moment, 0.0, 1.0, MOMENTS))[:, None]
        for block, one in zip(self.expert, known, strict=True):
            x = block(x, known=one, shown=shown[:, None, None])
        found: Tensor = self.ends(self.done(x)).float()
        return found

    def _flown(self, row: Tensor, shown: Tensor, start: Tensor) -> Tensor:
        known = self._known(row, shown)
        return flown(lambda at, moment: self._end(known, shown, at, moment), start, STEPS)

    def _wanted(self, batch: ControlBatch) -> tuple[Tensor, Tensor]:
        """Chunks that are right (B, H, A), scaled, and which of their actions count (B, H)."""
        labels, counts = batch.labels[:, -1], batch.counts[:, -1]
        if self.stays:
            last = (counts.sum(1) - 1).clamp(min=0)
            labels = torch.where(counts[..., None], labels, labels[torch.arange(len(last), device=last.device), last][:, None])
            counts = counts[:, :1].expand_as(counts)
        return self.scaled(labels, batch.felt[:, -1]), counts

    def losses(self, batch: ControlBatch) -> Tensor:
        wanted, counts = self._wanted(batch)
        moment, at = on_the_way(wanted)
        row, shown, _ = self.row_of(batch)
        found = mean_over((self._end(self._known(row, shown), shown, at, moment) - wanted) ** 2, counts)
        return torch.cat([found, looking_losses(None, batch.aims[:, -1], None, batch.spots[:, -1])], 1)

    def chunks(self, batch: ControlBatch) -> Answers:
        wanted, counts = self._wanted(batch)
        noise = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(0)).to(wanted.device)
        return Answers(self._flown(*self.row_of(batch)[:2], noise), wanted, counts)

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        """All chunks of an episode flow out of the same noise: who has chosen one of several ways keeps to it."""
        row, memory = self.next_row(memory, frames, felt)
        return self.actions(self._flown(*row, memory["start"]), felt), memory
