"""A window of looks (as JAT has it): the prompt and the last few looks stand in a row, a query reads all of them, and a chunk of actions
comes out, learned by squared error."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from etude.learn.control import ControlSource
from etude.learn.control_buffer import ControlBatch, ControlPrompts
from etude.learn.models.controller import Answers, Controller, ControlMemory, appended, errors_of, filled, looking_losses, mean_over
from etude.learn.models.likeness import found_shares
from etude.learn.models.pointer import Pointed
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

    def row_of(self, batch: ControlBatch) -> tuple[Tensor, Tensor, Tensor | None]:
        """The same for windows, and how like what is sought all is (B K V, SOUGHT, h, w)."""
        prompt, told, sought = self.told(batch.prompts)
        looks, alike = self.seen(batch.frames.flatten(0, 1), batch.felt.flatten(0, 1), sought)
        looks = looks.unflatten(0, batch.there.shape)
        ages = torch.arange(self.kept - 1, -1, -1, device=looks.device).expand(len(looks), -1)
        return *self.row(prompt, told, looks, batch.there, ages), alike

    def begin(self, prompts: ControlPrompts, start: Tensor) -> ControlMemory:
        prompt, told, sought = self.told(prompts)
        looks = prompt.new_zeros(len(prompt), self.kept, self.look_tokens, self.width)
        count = torch.zeros(len(prompt), dtype=torch.long, device=prompt.device)
        return {"prompt": prompt, "told": told, "sought": sought, "looks": looks, "count": count, "start": start}

    def next_row(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[tuple[Tensor, Tensor], ControlMemory]:
        """The same for one more look, which is remembered."""
        looks = appended(memory["looks"], memory["count"], self.seen(frames, felt, memory["sought"])[0])
        count = memory["count"] + 1
        there = filled(self.kept, count)
        ages = (count.clamp(max=self.kept)[:, None] - 1 - torch.arange(self.kept, device=count.device)).clamp(min=0)
        return self.row(memory["prompt"], memory["told"], looks, there, ages), {**memory, "looks": looks, "count": count}


class WindowTrunk(WindowLooks):
    """A window that is read by queries, which nobody else sees: the rest of it is the same however many there are."""

    def __init__(self, recipe: ControllerRecipe, source: ControlSource, queries: int) -> None:
        super().__init__(recipe, source)
        self.queries = nn.Parameter(0.02 * torch.randn(queries, self.width))

    def read(self, row: Tensor, shown: Tensor) -> tuple[Tensor, Tensor]:
        """What queries (B, Q, width) read from a row (B, N, width), of which so much counts (B, N); and what was made of each look in it
        (B, K, M, width)."""
        x = torch.cat([row, self.queries.expand(len(row), -1, -1)], 1)
        count = len(self.queries)
        asking = torch.eye(count, dtype=torch.bool, device=x.device).expand(len(x), -1, -1)
        known = shown[:, None].expand(-1, x.shape[1], -1)
        own = torch.cat([asking.new_zeros(len(x), x.shape[1] - count, count), asking], 1)
        allowed = torch.cat([known, own], 2)[:, None]
        for block in self.trunk:
            x = block(x, allowed)
        looks = x[:, -count - self.kept * self.look_tokens : -count].unflatten(1, (self.kept, self.look_tokens))
        return self.out(x[:, -count:]), looks

    def read_last(self, batch: ControlBatch) -> tuple[Tensor, Pointed | None, Tensor, Tensor | None]:
        """What is made (B, width) of windows, what is pointed at after the last look of each, the way there (B, hints), and how like what
        is sought all is that is seen then (B V, SOUGHT, h, w)."""
        row, shown, alike = self.row_of(batch)
        read, looks = self.read(row, shown)
        made = self.made_of(read)
        last = None if alike is None else alike.unflatten(0, (*batch.there.shape, -1))[:, -1].flatten(0, 1)
        return made, *self.pointed(made, looks[:, -1], batch.felt[:, -1]), last

    def read_next(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, Tensor, ControlMemory]:
        """What is made (B, width) after one more look, which is remembered, and the way (B, hints) to what is pointed at."""
        row, memory = self.next_row(memory, frames, felt)
        read, looks = self.read(*row)
        made, last = self.made_of(read), memory["count"].clamp(max=self.kept) - 1
        _, hints = self.pointed(made, looks[torch.arange(len(last), device=last.device), last], felt)
        return made, hints, memory

    def made_of(self, read: Tensor) -> Tensor:
        """What queries have read (B, Q, width) as one (B, width)."""
        return read[:, 0]

    def answers(self, batch: ControlBatch, found: Tensor, pointed: Pointed | None, alike: Tensor | None) -> Answers:
        """Chunks ``found`` for windows, beside those that are wanted."""
        wanted = self.scaled(batch.labels[:, -1], batch.felt[:, -1])
        off = None if pointed is None else pointed.off(batch.aims[:, -1])
        return Answers(found, wanted, batch.counts[:, -1], off, None if alike is None else found_shares(alike, batch.spots[:, -1]))


class WindowController(WindowTrunk):
    """One query, squared error."""

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__(recipe, source, 1)
        hidden = 2 * self.width
        self.head = nn.Sequential(nn.Linear(self.width + self.hints, hidden), nn.GELU(), nn.Linear(hidden, self.chunk * self.numbers))

    def _head(self, made: Tensor, hints: Tensor) -> Tensor:
        return self.head(torch.cat([made, hints.to(made.dtype)], 1)).unflatten(1, (self.chunk, self.numbers)).float()

    def losses(self, batch: ControlBatch) -> Tensor:
        wanted = self.scaled(batch.labels[:, -1], batch.felt[:, -1])
        made, pointed, hints, alike = self.read_last(batch)
        found = mean_over(errors_of(self._head(made, hints), wanted, self.recipe.error), batch.counts[:, -1])
        return torch.cat([found, looking_losses(pointed, batch.aims[:, -1], alike, batch.spots[:, -1])], 1)

    def chunks(self, batch: ControlBatch) -> Answers:
        made, pointed, hints, alike = self.read_last(batch)
        return self.answers(batch, self._head(made, hints), pointed, alike)

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        made, hints, memory = self.read_next(memory, frames, felt)
        return self.actions(self._head(made, hints), felt), memory
