"""A window of looks (as JAT has it): the prompt and the last few looks stand in a row, a query reads all of them, and a chunk of actions
comes out, learned by squared error."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from etude.learn.control import ControlSource
from etude.learn.control_buffer import ControlBatch, ControlPrompts
from etude.learn.models.controller import Controller, ControlMemory, appended, filled, mean_over
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import ControllerRecipe


class WindowTrunk(Controller):
    """Prompt and looks, read by queries that nobody else sees: the rest of a window is the same however many there are."""

    def __init__(self, recipe: ControllerRecipe, source: ControlSource, queries: int) -> None:
        super().__init__(recipe, source)
        self.ages = nn.Embedding(recipe.looks, self.width)
        self.queries = nn.Parameter(0.02 * torch.randn(queries, self.width))
        self.trunk = nn.ModuleList(TransformerBlock(self.width, recipe.heads, recipe.dropout) for _ in range(recipe.layers))
        self.out = nn.LayerNorm(self.width)
        nn.init.normal_(self.ages.weight, std=0.02)

    def read(self, prompt: Tensor, told: Tensor, looks: Tensor, there: Tensor, ages: Tensor) -> Tensor:
        """What queries (B, Q, width) read from a prompt (B, L, width) and looks (B, K, M, width), of which some are ``there`` (B, K), so
        many looks ago (B, K)."""
        looks = looks + self.ages(ages)[:, :, None]
        x = torch.cat([prompt, looks.flatten(1, 2), self.queries.expand(len(prompt), -1, -1)], 1)
        shown = torch.cat([told, there.repeat_interleave(looks.shape[2], 1)], 1)
        count = len(self.queries)
        asking = torch.eye(count, dtype=torch.bool, device=x.device).expand(len(x), -1, -1)
        known = shown[:, None].expand(-1, x.shape[1], -1)
        own = torch.cat([asking.new_zeros(len(x), x.shape[1] - count, count), asking], 1)
        allowed = torch.cat([known, own], 2)[:, None]
        for block in self.trunk:
            x = block(x, allowed)
        return self.out(x[:, -count:])

    def read_batch(self, batch: ControlBatch) -> Tensor:
        """The same for the last looks of windows."""
        looks = self.seen(batch.frames.flatten(0, 1), batch.felt.flatten(0, 1)).unflatten(0, batch.there.shape)
        ages = torch.arange(self.kept - 1, -1, -1, device=looks.device).expand(len(looks), -1)
        return self.read(*self.told(batch.prompts), looks, batch.there, ages)

    def begin(self, prompts: ControlPrompts, start: Tensor) -> ControlMemory:
        prompt, told = self.told(prompts)
        looks = prompt.new_zeros(len(prompt), self.kept, self.look_tokens, self.width)
        count = torch.zeros(len(prompt), dtype=torch.long, device=prompt.device)
        return {"prompt": prompt, "told": told, "looks": looks, "count": count, "start": start}

    def read_next(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        """The same for one more look, which is remembered."""
        looks = appended(memory["looks"], memory["count"], self.seen(frames, felt))
        count = memory["count"] + 1
        there = filled(self.kept, count)
        ages = (count.clamp(max=self.kept)[:, None] - 1 - torch.arange(self.kept, device=count.device)).clamp(min=0)
        found = self.read(memory["prompt"], memory["told"], looks, there, ages)
        return found, {**memory, "looks": looks, "count": count}


class WindowController(WindowTrunk):
    """One query, squared error."""

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__(recipe, source, 1)
        hidden = 2 * self.width
        self.head = nn.Sequential(nn.Linear(self.width, hidden), nn.GELU(), nn.Linear(hidden, self.chunk * self.numbers))

    def _head(self, read: Tensor) -> Tensor:
        return self.head(read[:, 0]).unflatten(1, (self.chunk, self.numbers)).float()

    def losses(self, batch: ControlBatch) -> Tensor:
        wanted = self.scaled(batch.labels[:, -1], batch.felt[:, -1])
        return mean_over((self._head(self.read_batch(batch)) - wanted) ** 2, batch.counts[:, -1])

    def chunks(self, batch: ControlBatch) -> tuple[Tensor, Tensor, Tensor]:
        return self._head(self.read_batch(batch)), self.scaled(batch.labels[:, -1], batch.felt[:, -1]), batch.counts[:, -1]

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        read, memory = self.read_next(memory, frames, felt)
        return self.actions(self._head(read), felt), memory
