"""The video so far as one stream (as StreamRoboLM has it): after the prompt every look adds a few tokens that look at its frames and at all
that stands before them in the stream; a recurrent head reads what was made of each.

Keys and values of what was there are kept, so that a look costs the same however long the episode is. How long ago something was is told by
a bias for each head: it stays true for what is kept.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from etude.learn.control import ControlSource
from etude.learn.control_buffer import ControlBatch, ControlPrompts
from etude.learn.models.controller import ControlMemory, appended, filled
from etude.learn.models.recurrent import LATENTS, RecurrentController
from etude.learn.models.trunk import RATIO, Attention
from etude.learn.network_recipes import ControllerRecipe


class StreamBlock(nn.Module):
    """Attention over the stream, a look at the frames where there are any, and a hidden layer."""

    def __init__(self, width: int, heads: int, dropout: float, looks: int) -> None:
        super().__init__()
        self.own, self.cross = Attention(width, heads), Attention(width, heads)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.hidden = nn.Sequential(nn.Linear(width, int(RATIO * width)), nn.GELU(), nn.Linear(int(RATIO * width), width))
        self.dropout = nn.Dropout(dropout)
        self.ages = nn.Parameter(torch.zeros(heads, looks))

    def bias(self, ages: Tensor, allowed: Tensor) -> Tensor:
        """For N tokens that look at M of the looks, so many looks ago (B, N, M), where that is ``allowed``: (B, heads, N, M)."""
        # A few numbers are asked for thousands of times: their gradient is summed up by many threads here, by one with plain indexing.
        found = nn.functional.embedding(ages.clamp(0, self.ages.shape[1] - 1), self.ages.T)
        return found.permute(0, 3, 1, 2).masked_fill(~allowed[:, None], -torch.inf)

    def forward(self, x: Tensor, before: Tensor | None, bias: Tensor, looks: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Tokens (B, N, width) after what stands before them, of which keys and values are known (B, M, 2 width); and their own. Of
        ``looks`` (B K, M, width) each is looked at by its part of the tokens."""
        y = self.norms[0](x)
        own = self.own.both(y)
        x = x + self.dropout(self.own.over(y, own if before is None else torch.cat([before.to(own.dtype), own], 1), bias))
        if looks is not None:
            y = self.norms[1](x).unflatten(1, (-1, LATENTS)).flatten(0, 1)
            x = x + self.dropout(self.cross(y, looks, None)).unflatten(0, (len(x), -1)).flatten(1, 2)
        out: Tensor = x + self.dropout(self.hidden(self.norms[2](x)))
        return out, own


class StreamController(RecurrentController):
    """The stream, and an LSTM over what was made of each look."""

    fused = True

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__(recipe, source)
        self.trunk = nn.ModuleList(StreamBlock(self.width, recipe.heads, recipe.dropout, recipe.looks) for _ in range(recipe.layers))

    def _told_known(self, prompts: ControlPrompts) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Prompts (B, L, width), which of them is there (B, L), what is sought, and keys and values of prompts (B, layers, L, 2 width)."""
        prompt, told, sought = self.told(prompts)
        x = prompt
        shown = torch.zeros_like(told, dtype=torch.float32).masked_fill(~told, -torch.inf)[:, None, None]
        known = []
        for block in self.trunk:
            x, own = block(x, None, shown)
            known.append(own)
        return prompt, told, sought, torch.stack(known, 1)

    def rows(self, batch: ControlBatch) -> tuple[Tensor, Tensor, Tensor | None]:
        prompt, told, sought, known = self._told_known(batch.prompts)
        looks, alike = self.seen(batch.frames.flatten(0, 1), batch.felt.flatten(0, 1), sought, prompt, told)
        count = len(told)
        x = self.latents.repeat(self.kept, 1).expand(count, -1, -1)
        when = torch.arange(self.kept, device=x.device).repeat_interleave(LATENTS)
        ages = (when[:, None] - when)[None]  # the same for all
        wide = torch.zeros_like(told, dtype=torch.float32).masked_fill(~told, -torch.inf)[:, None, None]
        for layer, block in enumerate(self.trunk):
            bias = block.bias(ages, ages >= 0)
            bias = torch.cat([wide.expand(-1, bias.shape[1], bias.shape[2], -1), bias.expand(count, -1, -1, -1)], 3)
            x, _ = block(x, known[:, layer], bias, looks)
        return x.unflatten(1, (self.kept, LATENTS)).amax(2), looks, alike

    def begin(self, prompts: ControlPrompts, start: Tensor) -> ControlMemory:
        prompt, told, sought, heard = self._told_known(prompts)
        count = len(told)
        return {
            "prompt": prompt,
            "heard": heard,
            "told": told,
            "sought": sought,
            "known": heard.new_zeros(count, self.kept, len(self.trunk), LATENTS, 2 * self.width),
            "row": torch.zeros(count, self.kept, self.width, device=heard.device),
            "count": torch.zeros(count, dtype=torch.long, device=heard.device),
        }

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        count, told = memory["count"], memory["told"]
        looks, _ = self.seen(frames, felt, memory["sought"], memory["prompt"], told)
        x = self.latents.expand(len(told), -1, -1)
        # Of what is kept the oldest makes room for this look, which is the last place that is filled.
        room = torch.zeros_like(memory["known"][:, 0])
        known = appended(memory["known"], count, room)
        last = count.clamp(max=self.kept - 1)
        before = filled(self.kept, last).repeat_interleave(LATENTS, 1)[:, None].expand(-1, LATENTS, -1)
        ages = (last[:, None] - torch.arange(self.kept, device=x.device)).repeat_interleave(LATENTS, 1)[:, None].expand(-1, LATENTS, -1)
        wide = torch.zeros_like(told, dtype=torch.float32).masked_fill(~told, -torch.inf)[:, None, None]
        fresh = []
        for layer, block in enumerate(self.trunk):
            bias = block.bias(
                torch.cat([ages, torch.zeros_like(ages[..., :LATENTS])], 2), nn.functional.pad(before, (0, LATENTS), value=True)
            )
            bias = torch.cat([wide.expand(-1, bias.shape[1], LATENTS, -1), bias], 3)
            x, own = block(x, torch.cat([memory["heard"][:, layer], known[:, :, layer].flatten(1, 2)], 1), bias, looks)
            fresh.append(own)
        here = (torch.arange(self.kept, device=x.device) == last[:, None])[:, :, None, None, None]
        known = torch.where(here, torch.stack(fresh, 1)[:, None].to(known.dtype), known)
        return self.answered({**memory, "known": known}, x.amax(1), looks, felt)
