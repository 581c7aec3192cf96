"""A window of looks (as JAT has it): the prompt and the last few looks stand in a row, a query reads all of them, and a chunk of actions
comes out, learned by squared error."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from etude.learn.control import ControlSource
from etude.learn.control_buffer import ControlBatch, ControlPrompts
from etude.learn.models.controller import Controller, ControlMemory, appended, errors_of, filled, mean_over
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import ControllerRecipe


class WindowLooks(Controller):
    """Prompt and the last looks in a row, and a trunk for them."""

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__(recipe, source)
        self.ages = nn.Embedding(recipe.looks, self.width)
        self.trunk = nn.ModuleList(TransformerBlock(self.width, recipe.heads, recipe.dropout) for _ in range(recipe.layers))
        self.out = nn.LayerNorm(self.width)
        nn.init.normal_(self.ages.weight, std=0.02)

    def row(self, prompt: Tensor, told: Tensor, looks: Tensor, there: Tensor, ages: Tensor) -> tuple[Tensor, Tensor]:
        """A prompt (B, L, width) and looks (B, K, M, width), of which some are ``there`` (B, K), so many looks ago (B, K), as one row
        (B, N, width); and what of it counts (B, N)."""
        x = torch.cat([prompt, (looks + self.ages(ages)[:, :, None]).flatten(1, 2)], 1)
        return x, torch.cat([told, there.repeat_interleave(looks.shape[2], 1)], 1)

    def row_of(self, batch: ControlBatch) -> tuple[Tensor, Tensor]:
        """The same for windows."""
        looks = self.seen(batch.frames.flatten(0, 1), batch.felt.flatten(0, 1)).unflatten(0, batch.there.shape)
        ages = torch.arange(self.kept - 1, -1, -1, device=looks.device).expand(len(looks), -1)
        return self.row(*self.told(batch.prompts), looks, batch.there, ages)

    def begin(self, prompts: ControlPrompts, start: Tensor) -> ControlMemory:
        prompt, told = self.told(prompts)
        looks = prompt.new_zeros(len(prompt), self.kept, self.look_tokens, self.width)
        count = torch.zeros(len(prompt), dtype=torch.long, device=prompt.device)
        return {"prompt": prompt, "told": told, "looks": looks, "count": count, "start": start}

    def next_row(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[tuple[Tensor, Tensor], ControlMemory]:
        """The same for one more look, which is remembered."""
        looks = appended(memory["looks"], memory["count"], self.seen(frames, felt))
        count = memory["count"] + 1
        there = filled(self.kept, count)
        ages = (count.clamp(max=self.kept)[:, None] - 1 - torch.arange(self.kept, device=count.device)).clamp(min=0)
        return self.row(memory["prompt"], memory["told"], looks, there, ages), {**memory, "looks": looks, "count": count}


class WindowTrunk(WindowLooks):
    """A window that is read by queries, which nobody else sees: the rest of it is the same however many there are."""

    def __init__(self, recipe: ControllerRecipe, source: ControlSource, queries: int) -> None:
        super().__init__(recipe, source)
        self.queries = nn.Parameter(0.02 * torch.randn(queries, self.width))

    def read(self, row: Tensor, shown: Tensor) -> Tensor:
        """What queries (B, Q, width) read from a row (B, N, width), of which so much counts (B, N)."""
        x = torch.cat([row, self.queries.expand(len(row), -1, -1)], 1)
        count = len(self.queries)
        asking = torch.eye(count, dtype=torch.bool, device=x.device).expand(len(x), -1, -1)
        known = shown[:, None].expand(-1, x.shape[1], -1)
        own = torch.cat([asking.new_zeros(len(x), x.shape[1] - count, count), asking], 1)
        allowed = torch.cat([known, own], 2)[:, None]
        for block in self.trunk:
            x = block(x, allowed)
        return self.out(x[:, -count:])

    def read_next(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        """The same after one more look, which is remembered."""
        row, memory = self.next_row(memory, frames, felt)
        return self.read(*row), memory


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
        found = self._head(self.read(*self.row_of(batch)))
        return mean_over(errors_of(found, wanted, self.recipe.error), batch.counts[:, -1])

    def chunks(self, batch: ControlBatch) -> tuple[Tensor, Tensor, Tensor]:
        return self._head(self.read(*self.row_of(batch))), self.scaled(batch.labels[:, -1], batch.felt[:, -1]), batch.counts[:, -1]

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        read, memory = self.read_next(memory, frames, felt)
        return self.actions(self._head(read), felt), memory
