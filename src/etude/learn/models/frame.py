"""One look at a time (as RoboFlamingo has it): a few tokens hear the prompt and look at the frames of one moment, and know of no other; a
recurrent head reads what was made of each."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from etude.learn.control import ControlSource
from etude.learn.control_buffer import ControlBatch, ControlPrompts
from etude.learn.models.controller import Controller, ControlMemory, appended
from etude.learn.models.recurrent import RecurrentHead
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import ControllerRecipe

LATENTS = 8  # tokens that look


class FrameController(Controller):
    """Latents that read the prompt and one look, the greatest of them, and an LSTM."""

    onwards = True

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__(recipe, source)
        width = self.width
        self.latents = nn.Parameter(0.02 * torch.randn(LATENTS, width))
        self.trunk = nn.ModuleList(TransformerBlock(width, recipe.heads, recipe.dropout, cross=True) for _ in range(recipe.layers))
        self.head = RecurrentHead(width, recipe.hidden, self.chunk, self.numbers)

    def _read(self, prompt: Tensor, told: Tensor, looks: Tensor) -> Tensor:
        """What is made (B, width) of looks (B, M, width), after prompts (B, L, width)."""
        x = torch.cat([prompt, self.latents.expand(len(prompt), -1, -1)], 1)
        allowed = torch.cat([told, told.new_ones(len(told), LATENTS)], 1)[:, None, None]
        for block in self.trunk:
            x = block(x, allowed, looks)
        return x[:, -LATENTS:].amax(1)

    def _rows(self, batch: ControlBatch) -> Tensor:
        looks = self.seen(batch.frames.flatten(0, 1), batch.felt.flatten(0, 1))
        prompt, told = (x.repeat_interleave(self.kept, 0) for x in self.told(batch.prompts))
        return self._read(prompt, told, looks).unflatten(0, batch.there.shape)

    def losses(self, batch: ControlBatch) -> Tensor:
        return self.head.losses(self._rows(batch), self.scaled(batch.labels, batch.felt), batch.counts)

    def chunks(self, batch: ControlBatch) -> tuple[Tensor, Tensor, Tensor]:
        found, wanted = self.head.answers(self._rows(batch)), self.scaled(batch.labels, batch.felt)
        return found[batch.there], wanted[batch.there], batch.counts[batch.there]

    def begin(self, prompts: ControlPrompts, start: Tensor) -> ControlMemory:
        prompt, told = self.told(prompts)
        count = torch.zeros(len(prompt), dtype=torch.long, device=prompt.device)
        return {"prompt": prompt, "told": told, "row": prompt.new_zeros(len(prompt), self.kept, self.width), "count": count}

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        made = self._read(memory["prompt"], memory["told"], self.seen(frames, felt))
        row = appended(memory["row"], memory["count"], made)
        last = memory["count"].clamp(max=self.kept - 1)
        found = self.head.answers(row)[torch.arange(len(last), device=last.device), last]
        return self.actions(found, felt), {**memory, "row": row, "count": memory["count"] + 1}
