"""A pretrained language model as the trunk (as StreamRoboLM and RoboFlamingo have it): prompt and looks stand in one row, which it reads as
it would read a text; a recurrent head reads what was made of each look.

Of a look a few tokens are made before, which look at its frames. What is remembered are these, not keys and values: places in the row stay
those that were learned with, however long the episode is.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from etude.learn.control import LONGEST, ControlSource
from etude.learn.control_buffer import ControlBatch, ControlPrompts
from etude.learn.models.controller import ControlMemory, appended, filled
from etude.learn.models.recurrent import LATENTS, RecurrentController
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import ControllerRecipe
from etude.learn.samples import WORD


class LanguageStream(RecurrentController):
    """The prompt and all looks that are known, in one row."""

    together = True

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__(recipe, source)
        self.resampler = TransformerBlock(self.width, recipe.heads, recipe.dropout, cross=True)
        assert self.pretrained is not None
        self.pretrained.refuse_longer(LONGEST + LATENTS * (recipe.looks if self.together else 1))

    def _heard(self, prompts: ControlPrompts) -> ControlMemory:
        """The beginning of the row, as it is remembered."""
        pictures, sought = self.pictures(prompts)
        shown = self.heard(pictures + self.kinds(prompts.kinds))
        return {"words": prompts.words, "said": prompts.kinds == WORD, "shown": shown, "told": prompts.kinds > 0, "sought": sought}

    def _latents(self, frames: Tensor, felt: Tensor, sought: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """The few tokens (N, LATENTS, width) of looks, all of them (N, M, width), and how like what is sought all is."""
        looks, alike = self.seen(frames, felt, sought)
        return self.resampler(self.latents.expand(len(looks), -1, -1), None, looks), looks, alike

    def _read(self, heard: ControlMemory, latents: Tensor, there: Tensor) -> Tensor:
        """What is made (B, K, width) of looks (B, K, LATENTS, width), of which some are ``there`` (B, K)."""
        assert self.pretrained is not None
        count = latents.shape[1] * LATENTS
        made: Tensor = self.pretrained(
            functional.pad(heard["words"], (0, 0, 0, count)),
            functional.pad(heard["said"], (0, count)),
            torch.cat([heard["shown"], latents.flatten(1, 2)], 1),
            torch.cat([heard["told"], there.repeat_interleave(LATENTS, 1)], 1),
        )
        return made[:, -count:].unflatten(1, (-1, LATENTS)).amax(2)

    def rows(self, batch: ControlBatch) -> tuple[Tensor, Tensor, Tensor | None]:
        heard = self._heard(batch.prompts)
        latents, looks, alike = self._latents(batch.frames.flatten(0, 1), batch.felt.flatten(0, 1), heard["sought"])
        return self._read(heard, latents.unflatten(0, batch.there.shape), batch.there), looks, alike

    def begin(self, prompts: ControlPrompts, start: Tensor) -> ControlMemory:
        heard, count = self._heard(prompts), len(prompts.kinds)
        shown = heard["shown"]
        return {
            **heard,
            "latents": shown.new_zeros(count, self.kept if self.together else 1, LATENTS, self.width),
            "row": torch.zeros(count, self.kept, self.width, device=shown.device),
            "count": torch.zeros(count, dtype=torch.long, device=shown.device),
        }

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        count, kept = memory["count"], memory["latents"].shape[1]
        fresh, looks, _ = self._latents(frames, felt, memory["sought"])
        latents = appended(memory["latents"], count, fresh)
        made = self._read(memory, latents, filled(kept, count + 1))
        last = made[torch.arange(len(made), device=made.device), count.clamp(max=kept - 1)]
        return self.answered({**memory, "latents": latents}, last, looks, felt)


class LanguageFrame(LanguageStream):
    """The prompt and one look at a time."""

    together = False

    def rows(self, batch: ControlBatch) -> tuple[Tensor, Tensor, Tensor | None]:
        heard = self._heard(batch.prompts)
        latents, looks, alike = self._latents(batch.frames.flatten(0, 1), batch.felt.flatten(0, 1), heard["sought"])
        latents = latents[:, None]
        heard = {name: value.repeat_interleave(self.kept, 0) for name, value in heard.items()}
        made = self._read(heard, latents, latents.new_ones(len(latents), 1, dtype=torch.bool))[:, 0]
        return made.unflatten(0, batch.there.shape), looks, alike
