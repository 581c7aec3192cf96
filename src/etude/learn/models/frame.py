"""One look at a time (as RoboFlamingo has it): a few tokens hear the prompt and look at the frames of one moment, and know of no other; a
recurrent head reads what was made of each."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from etude.learn.control import ControlSource
from etude.learn.control_buffer import ControlBatch, ControlPrompts
from etude.learn.models.controller import ControlMemory
from etude.learn.models.recurrent import LATENTS, RecurrentController
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import ControllerRecipe


class FrameController(RecurrentController):
    """Latents that read the prompt and one look, the greatest of them, and an LSTM."""

    fused = True

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__(recipe, source)
        self.trunk = nn.ModuleList(TransformerBlock(self.width, recipe.heads, recipe.dropout, cross=True) for _ in range(recipe.layers))

    def _read(self, prompt: Tensor, told: Tensor, looks: Tensor) -> Tensor:
        """What is made (B, width) of looks (B, M, width), after prompts (B, L, width)."""
        x = torch.cat([prompt, self.latents.expand(len(prompt), -1, -1)], 1)
        allowed = torch.cat([told, told.new_ones(len(told), LATENTS)], 1)[:, None, None]
        for block in self.trunk:
            x = block(x, allowed, looks)
        return x[:, -LATENTS:].amax(1)

    def rows(self, batch: ControlBatch) -> tuple[Tensor, Tensor, Tensor | None]:
        prompt, told, sought = self.told(batch.prompts)
        looks, alike = self.seen(batch.frames.flatten(0, 1), batch.felt.flatten(0, 1), sought, prompt, told)
        prompt, told = (x.repeat_interleave(self.kept, 0) for x in (prompt, told))
        return self._read(prompt, told, looks).unflatten(0, batch.there.shape), looks, alike

    def begin(self, prompts: ControlPrompts, start: Tensor) -> ControlMemory:
        prompt, told, sought = self.told(prompts)
        count = torch.zeros(len(prompt), dtype=torch.long, device=prompt.device)
        row = prompt.new_zeros(len(prompt), self.kept, self.width)
        return {"prompt": prompt, "told": told, "sought": sought, "row": row, "count": count}

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        prompt, told = memory["prompt"], memory["told"]
        looks, _ = self.seen(frames, felt, memory["sought"], prompt, told)
        return self.answered(memory, self._read(prompt, told, looks), looks, felt)
