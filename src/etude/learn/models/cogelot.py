"""CoGeLoT's four architectures (Table 1): objects or patches, prompts by cross-attention or by concatenation; all else the same.

A prompt of words and things goes through an encoder, learned from scratch or a pretrained T5. What was seen at every step, what was done
before, and a query stand in a row: a step sees itself and those before it. The trunk lets them look at the prompt, and a head reads a
stroke from the query and all that is known.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.buffer import Batch
from etude.learn.models.pretrained import PretrainedLanguage
from etude.learn.models.strokes import Evidence, StrokeHead
from etude.learn.models.tokens import PLACES, ThingTokens, WordTokens, gathered
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import ModelRecipe
from etude.learn.samples import SCENE, STEPS, WORD

SLOT_COUNT = 64
EXTRAS = 2  # tokens of a step besides its things: what was done before, and the query


class Cogelot(nn.Module):
    """``losses`` of a batch to learn from, ``answers`` for the last step of every history."""

    def __init__(self, recipe: ModelRecipe, size: tuple[int, int]) -> None:
        super().__init__()
        self.width = width = recipe.width
        heads = recipe.heads
        self.concat = recipe.conditioning == "concat"
        scratch = not recipe.language
        self.things = ThingTokens(width, size, recipe.jitter)
        if scratch:
            self.words = WordTokens(width)
        self.kinds = nn.Embedding(SCENE + 2, width)
        if scratch:
            self.places = nn.Embedding(PLACES, width)
            self.encoder = nn.ModuleList(TransformerBlock(width, heads, recipe.dropout) for _ in range(recipe.prompt_layers))
        self.told = nn.LayerNorm(width)
        self.steps = nn.Embedding(STEPS, width)
        self.slots = nn.Embedding(SLOT_COUNT, width) if recipe.slot_positions else None
        self.nothing, self.query = (nn.Parameter(0.02 * torch.randn(width)) for _ in range(2))
        self.trunk = nn.ModuleList(
            TransformerBlock(width, heads, recipe.dropout, cross=not self.concat)
            for _ in range(recipe.concat_layers if self.concat else recipe.layers)
        )
        self.head = StrokeHead(width, heads, recipe.head_layers, recipe.dropout, recipe.chained, recipe.pointing)
        for embedding in (m for m in self.modules() if isinstance(m, nn.Embedding)):
            nn.init.normal_(embedding.weight, std=0.02)
        self.pretrained = (  # comes last: nothing of it is begun anew
            None if scratch else PretrainedLanguage(recipe.language, recipe.language_digest, recipe.language_layers, width, recipe.dropout)
        )

    def _prompts(self, batch: Batch, things: Tensor) -> tuple[Tensor, Tensor]:
        """Encoded prompts (B, L, width), and which of their tokens are there (B, L)."""
        there, said = batch.kinds > 0, batch.kinds == WORD
        shown = gathered(things, batch.rows)
        if self.pretrained is not None:
            return self.told(self.pretrained(batch.words, said, shown + self.kinds(batch.kinds), there)), there
        x = torch.where(said[..., None], self.words(batch.words), 0.0) + shown
        x = x + self.kinds(batch.kinds) + self.places(batch.places.clamp(max=PLACES - 1))
        for block in self.encoder:
            x = block(x, there[:, None, None])
        return self.told(x), there

    def _read(self, batch: Batch, things: Tensor | None = None) -> Evidence:
        """What there is to read strokes from, for every step. ``things`` (N, width) are the batch's where they have been made before."""
        if things is None:
            things = self.things(batch.crops, batch.boxes, batch.mask, batch.cells)
        prompts, told = self._prompts(batch, things)
        episodes, steps, slots = batch.seen.shape
        there = batch.seen >= 0
        x = gathered(things, batch.seen)
        if self.slots is not None:
            x = x + self.slots.weight[:slots]
        done = torch.where(batch.begun[..., None], self.head.before(batch.before), self.nothing)
        x = torch.cat([x, done[:, :, None], self.query.expand(episodes, steps, 1, -1)], 2)
        x = (x + self.steps.weight[:steps, None]).flatten(1, 2)
        there = torch.cat([there, there.new_ones(episodes, steps, EXTRAS)], 2).flatten(1)
        when = torch.arange(steps, device=x.device).repeat_interleave(slots + EXTRAS)
        allowed = ((when[:, None] >= when) & there[:, None])[:, None]
        if self.concat:
            count = prompts.shape[1]
            x = torch.cat([prompts, x], 1)
            wide = told[:, None, None].expand(-1, 1, x.shape[1], -1)
            blind = allowed.new_zeros(episodes, 1, count, allowed.shape[-1])  # what was told before knows nothing of what is seen later
            allowed = torch.cat([wide, torch.cat([blind, allowed], 2)], 3)
            for block in self.trunk:
                x = block(x, allowed)
            prompts, x = x[:, :count], x[:, count:]
        else:
            for block in self.trunk:
                x = block(x, allowed, prompts, told[:, None, None])
        rows = torch.cat([batch.rows, functional.pad(batch.seen, (0, EXTRAS), value=-1).flatten(1)], 1)
        known = there[:, None] & (when <= torch.arange(steps, device=x.device)[:, None])
        shown = torch.cat([told[:, None].expand(-1, steps, -1), known], 2)
        above = rows.clamp(min=0)
        return Evidence(
            torch.cat([prompts, x], 1),
            batch.boxes[above, -1, :2] / self.things.extent[:2],
            x.unflatten(1, (steps, slots + EXTRAS))[:, :, -1],
            shown,
            shown & ((rows >= 0) & batch.mask[above, -1])[:, None],
        )

    def losses(self, batch: Batch) -> Tensor:
        """How far (N, 5) the N steps that count are from their labels."""
        return self.head.losses(replace(self._read(batch), where=batch.where), batch.labels)

    def guesses(self, batch: Batch) -> Tensor:
        """Strokes (N, 5) for the N steps that count, each from what was known then."""
        evidence = self._read(batch)
        return replace(evidence, where=batch.where).taken(self.head.answers(evidence).view(*batch.labels.shape))

    def answers(self, batch: Batch, things: Tensor | None = None) -> Tensor:
        """Strokes (B, 5) for the last step that each history has."""
        return self.head.answers(self._read(batch, things).of_steps(batch.steps - 1))


def parameters_of(model: nn.Module) -> int:
    """Numbers to be learned."""
    return sum(p.numel() for p in model.parameters())
