"""What closed-loop policies share: how prompts, frames and feelings become tokens, what an action is to a network, and what it remembers.

A policy's memory is a few tensors of fixed sizes: whatever it has seen, an episode takes the same room, and can be put aside and taken up
again. It begins with the prompt (:meth:`Controller.begin`), and every look gives a chunk of actions and the next memory
(:meth:`Controller.act`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.control import PICTURE_SIDES, PICTURE_TOKENS, TIP, ControlSource
from etude.learn.control_buffer import ControlBatch, ControlPrompts
from etude.learn.models.likeness import TRAITS, Likeness, likeness_losses, sought_in
from etude.learn.models.pointer import HINTS, HandPointer, Pointed
from etude.learn.models.pretrained import PretrainedFrames, PretrainedLanguage
from etude.learn.models.tokens import PLACES, FrameTokens, WordTokens, gathered
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import ControllerRecipe
from etude.learn.samples import BLANK, WORD
from etude.learn.spots import SOUGHT

ControlMemory = dict[str, Tensor]
PARTS = 4  # of a loss: what moves the arm, the hand, what is pointed at, and what looks like what is sought
POINTED, FOUND = 0.1, 0.1  # how much the last two count
SMALLER = 4  # times: so large is a thing in a prompt's picture, beside how large a camera sees it
SPREADS = {  # of what an oracle does in one step, so that all numbers count alike: places, then turns
    "ee_delta": (0.08, 0.3),
    "ee_pose": (0.008, 0.02),  # m, and numbers of a quaternion
    "joint": (0.02, 0.02),  # rad
}


@dataclass(frozen=True, eq=False)
class Answers:
    """Chunks that a model would do, ``found`` (N, H, A), beside those that are ``wanted``, both scaled, and which actions of these count,
    ``counts`` (N, H). ``off`` (N,): how far the place that it points at is from the oracle's, in metres; ``finds`` (N,): the share of what
    it is told of, and is seen, that it finds."""

    found: Tensor
    wanted: Tensor
    counts: Tensor
    off: Tensor | None = None
    finds: Tensor | None = None


class Controller(nn.Module):
    """``losses`` (N, 4) of a batch to learn from; ``chunks``: what it would have done, beside what was right; ``begin`` and ``act``.

    ``onwards``: it learns from every look of a window, not from the last alone. ``fused``: what it sees looks at what it is told, wherever
    these two do not stand in one row.
    """

    onwards = False
    fused = False

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__()
        self.width = width = recipe.width
        self.recipe, self.source = recipe, source
        self.kept, self.chunk, self.numbers = recipe.looks, recipe.chunk, source.acts
        self.frames: FrameTokens | PretrainedFrames = (
            PretrainedFrames(
                recipe.vision, recipe.vision_digest, width, source.size, recipe.grid, recipe.jitter, recipe.dropout, recipe.adapters
            )
            if recipe.vision
            else FrameTokens(width, source.size, recipe.grid, recipe.jitter)
        )
        reads = source.told == "text"
        seeks = recipe.pointing and not recipe.vision and not (reads and recipe.trunked)  # words of a pretrained trunk are read there alone
        self.likeness = Likeness(width, source.size // (8 * recipe.grid), reads) if seeks else None
        self.cells = nn.Parameter(torch.empty(len(source.cameras), recipe.grid**2, width))
        self.looked = nn.LayerNorm(width)
        self.feeling = nn.Sequential(nn.Linear(source.feels, width), nn.GELU(), nn.Linear(width, width))
        self.eye = nn.ModuleList(TransformerBlock(width, recipe.heads, recipe.dropout, cross=self.fused) for _ in range(recipe.eye_layers))
        scratch = not recipe.language
        if scratch:
            self.words = WordTokens(width)
        self.picture_cells = nn.Parameter(torch.empty(PICTURE_TOKENS, width))
        self.kinds = nn.Embedding(BLANK + 1, width)
        if scratch:
            self.places = nn.Embedding(PLACES, width)
            self.encoder = nn.ModuleList(TransformerBlock(width, recipe.heads, recipe.dropout) for _ in range(recipe.prompt_layers))
        self.heard = nn.LayerNorm(width)
        for table in (self.kinds.weight, self.places.weight) if scratch else (self.kinds.weight,):
            nn.init.normal_(table, std=0.02)
        for table in (self.cells, self.picture_cells):
            nn.init.normal_(table, std=0.5)  # where something is counts as much as what it is
        self.pretrained = (
            None if scratch else PretrainedLanguage(recipe.language, recipe.language_digest, 0, width, recipe.dropout, recipe.adapters)
        )
        self.pointer = HandPointer(width) if recipe.pointing else None
        self.hints = HINTS if recipe.pointing else 0
        place, turn = SPREADS[source.action]
        spread = torch.tensor([place] * 3 + [turn] * (source.acts - 4) + [1.0])
        self.register_buffer("spread", spread, persistent=False)

    # -------------------------------------------------------------------------------------------- what it is told and sees

    def pictures(self, prompts: ControlPrompts) -> tuple[Tensor, Tensor]:
        """The pictures of prompts as tokens (B, L, width), 0 where there is none: as they are, and as small as a camera sees the things in
        them, so that what is alike looks alike. And what these things look like (B, SOUGHT, TRAITS)."""
        if not len(prompts.pictures):
            count = len(prompts.rows)
            zeros = self.kinds.weight.new_zeros
            return zeros(*prompts.rows.shape, self.width), zeros(count, SOUGHT, TRAITS)
        large, small = PICTURE_SIDES
        pictures, frames, traits = prompts.pictures, self.frames, None
        if isinstance(frames, FrameTokens):
            times = min(SMALLER, frames.grid)
            seen = [_cells(frames.tokens(frames.looks(pictures, frames.jitter)), frames.grid, large)]
            pictures = functional.avg_pool2d(pictures.permute(0, 3, 1, 2).float(), times).permute(0, 2, 3, 1)
            features = frames.looks(pictures, frames.jitter)
            seen.append(_cells(frames.tokens(features), frames.grid // times, small))
            traits = None if self.likeness is None or self.likeness.reads else self.likeness.traits(features)
        else:  # a pretrained one knows frames of one size, and things of many
            seen = [_cells(frames.looks(pictures, frames.jitter), frames.grid, side) for side in (large, small)]
        tokens = gathered((self.looked(torch.cat(seen, 1)) + self.picture_cells).flatten(0, 1), prompts.rows)
        return tokens, tokens.new_zeros(len(tokens), SOUGHT, TRAITS) if traits is None else sought_in(prompts.rows, traits)

    def told(self, prompts: ControlPrompts) -> tuple[Tensor, Tensor, Tensor]:
        """Encoded prompts (B, L, width), which of their tokens are there (B, L), and what the things look like that they show or name
        (B, SOUGHT, TRAITS)."""
        there, said = prompts.kinds > 0, prompts.kinds == WORD
        if self.recipe.sees == "frames":  # one token that is always the same
            first = (torch.arange(there.shape[1], device=there.device) == 0).expand(there.shape)
            nothing = self.kinds.weight.new_zeros(len(there), SOUGHT, TRAITS)
            return self.heard(self.kinds.weight[BLANK]).expand(*there.shape, self.width), first, nothing
        shown, sought = self.pictures(prompts)
        if self.pretrained is not None:
            x = self.heard(self.pretrained(prompts.words, said, shown + self.kinds(prompts.kinds), there))
            return x, there, self._named(x, there, sought)
        x = torch.where(said[..., None], self.words(prompts.words), shown)
        x = x + self.kinds(prompts.kinds) + self.places(prompts.places.clamp(max=PLACES - 1))
        for block in self.encoder:
            x = block(x, there[:, None, None])
        x = self.heard(x)
        return x, there, self._named(x, there, sought)

    def _named(self, prompt: Tensor, told: Tensor, sought: Tensor) -> Tensor:
        return self.likeness.named(prompt, told) if self.likeness is not None and self.likeness.reads else sought

    def seen(
        self, frames: Tensor, felt: Tensor, sought: Tensor, prompt: Tensor | None = None, told: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Looks of N moments, ``frames`` uint8 (N, V, S, S, 3) and ``felt`` (N, D), as tokens (N, M, width): all cells, and the feeling.
        Things that look like this are ``sought`` (B, SOUGHT, TRAITS), and, of who is ``fused``, each look at its prompt (B, L, width), of
        which so much is ``told`` (B, L): the first N / B at the first. And how like what is sought all is (N V, SOUGHT, h, w)."""
        if self.recipe.sees == "instruction":
            frames = torch.zeros_like(frames)
        found = self.frames.looks(frames.flatten(0, 1), self.frames.jitter)
        x = self.looked(self.frames.tokens(found) if isinstance(self.frames, FrameTokens) else found)
        alike = None
        if self.likeness is not None:
            added, alike = self.likeness(found, sought.repeat_interleave(len(found) // len(sought), 0))
            x = x + added
        x = x.unflatten(0, frames.shape[:2]) + self.cells
        x = torch.cat([x.flatten(1, 2), self.feeling(felt)[:, None]], 1)
        for block in self.eye:
            if prompt is None or told is None:
                x = block(x)
            else:
                count = len(x) // len(prompt)
                known, shown = (one.repeat_interleave(count, 0) for one in (block.cross.both(prompt), told[:, None, None]))
                x = block(x, known=known, shown=shown)
        return x, alike

    @property
    def look_tokens(self) -> int:
        """Tokens of a look."""
        return len(self.source.cameras) * self.recipe.grid**2 + 1

    # -------------------------------------------------------------------------------------------- actions

    def _from(self, felt: Tensor) -> Tensor:
        """Where actions (…, A) are reckoned from: where the tip or the joints are (…, D), for spaces that say where to be."""
        zero = torch.zeros_like(felt[..., :1])
        if self.source.action == "ee_pose":
            return torch.cat([felt[..., -TIP : -TIP + 7], zero], -1)
        if self.source.action == "joint":
            return torch.cat([felt[..., : self.source.joints], zero], -1)
        return zero.expand(*felt.shape[:-1], self.numbers)

    def scaled(self, labels: Tensor, felt: Tensor) -> Tensor:
        """Actions (…, H, A) as networks have them: changes from what is ``felt`` (…, D), all of about the same size."""
        return (labels - self._from(felt)[..., None, :]) / self.spread

    def actions(self, scaled: Tensor, felt: Tensor) -> Tensor:
        """Actions (…, H, A) of what a network gives."""
        return scaled.float() * self.spread + self._from(felt)[..., None, :]

    def pointed(self, made: Tensor, looks: Tensor, felt: Tensor) -> tuple[Pointed | None, Tensor]:
        """What it points at after ``looks`` (N, M, width), of which it has ``made`` this (N, width), and ``felt`` (N, D); and the way there
        (N, hints)."""
        if self.pointer is None:
            return None, felt[:, :0]
        found: Pointed = self.pointer(made, looks, felt)
        return found, found.hints()

    # -------------------------------------------------------------------------------------------- what a model brings

    def losses(self, batch: ControlBatch) -> Tensor:
        """How far (N, 4) it is from N chunks, in what moves the arm, in the hand, in what it points at, and in what it finds."""
        raise NotImplementedError

    def chunks(self, batch: ControlBatch) -> Answers:
        """What it would do."""
        raise NotImplementedError

    def begin(self, prompts: ControlPrompts, start: Tensor) -> ControlMemory:
        """The memory of B episodes that begin: each tensor (B, …). ``start`` (B, H, A) is noise, for those who sample."""
        raise NotImplementedError

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        """Chunks (B, H, A) after a look at ``frames`` (B, V, S, S, 3) and ``felt`` (B, D), and what is remembered of it."""
        raise NotImplementedError


def _cells(tokens: Tensor, grid: int, side: int) -> Tensor:
    """Pictures of ``grid`` × ``grid`` tokens (P, grid², width) as ones of ``side`` × ``side`` (P, side², width)."""
    seen = tokens.transpose(1, 2).unflatten(2, (grid, grid))
    pooled = seen.expand(-1, -1, side, side) if grid == 1 else functional.adaptive_avg_pool2d(seen, side)
    return pooled.flatten(2).transpose(1, 2)


def looking_losses(pointed: Pointed | None, aims: Tensor, alike: Tensor | None, spots: Tensor) -> Tensor:
    """How far (N, 2) what is pointed at is from the poses (N, 7) that were right, and what is found from where it is seen, ``spots``
    (N, SOUGHT, V, 2). Who does not point, or is shown nothing, makes no mistake."""
    nothing = aims.new_zeros(len(aims))
    points = nothing if pointed is None else POINTED * pointed.losses(aims)
    return torch.stack([points, nothing if alike is None else FOUND * likeness_losses(alike, spots)], 1)


def errors_of(found: Tensor, wanted: Tensor, error: Literal["squared", "absolute"]) -> Tensor:
    """How far actions are from those that are right, number by number."""
    return (found - wanted) ** 2 if error == "squared" else (found - wanted).abs()


def mean_over(errors: Tensor, counts: Tensor) -> Tensor:
    """Errors (N, H, A) as means over the actions that count (N, H): (N, 2), what moves the arm and the hand."""
    parts = torch.stack([errors[..., :-1].mean(-1), errors[..., -1]], -1).float() * counts[..., None]
    return parts.sum(1) / counts.sum(1).clamp(min=1)[:, None]


def appended(row: Tensor, count: Tensor, value: Tensor) -> Tensor:
    """Rows (B, K, …) with one more value (B, …), where ``count`` (B,) came before: at the next free place, or at the end, and the oldest
    goes."""
    kept = row.shape[1]
    full = (count >= kept).view(-1, *[1] * (row.ndim - 1))
    moved = torch.where(full, row.roll(-1, 1), row)
    here = torch.arange(kept, device=row.device) == count.clamp(max=kept - 1)[:, None]
    return torch.where(here.view(*here.shape, *[1] * (row.ndim - 2)), value[:, None].to(row.dtype), moved)


def filled(kept: int, count: Tensor) -> Tensor:
    """Which places (B, K) of such rows hold something."""
    return torch.arange(kept, device=count.device) < count[:, None]
