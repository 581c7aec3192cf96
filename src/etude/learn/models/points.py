"""Keyposes that flow out of noise among point tokens (as 3D Diffuser Actor has it).

Every 8×8 pixels of a camera are a token at their mean place. Tokens, words and what the robot feels look at each other once; a pose on its
way from noise then looks at them from where it is, and tells where the way ends: each token has a guess of its own, so many metres beside
it, and the place is the mean of all guesses, weighted by how likely they are from here.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.keypose_buffer import KeyposeBatch
from etude.learn.keyposes import LONGEST_SENTENCE, POSE_NUMBERS, KeyposeSource
from etude.learn.models.clouds import CHANNELS, from_six_numbers, six_numbers
from etude.learn.models.flow import MOMENTS, flown, on_the_way
from etude.learn.models.keypose_model import KeyposeAnswer, KeyposeModel, Situation
from etude.learn.models.tokens import HATS, WordTokens, hats
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import PointRecipe

PARTS = 4  # of a loss: the guesses, the place, the rotation, the hand
STEM, MIDDLE = 48, 96  # features of pixels: at half size, at a quarter
PATCH = 8  # pixels along each side of a token
SENSES = 9  # numbers that are felt besides where the tip is: its rotation, closed, held, opening
SPREAD = 4.0  # of the cube's side in units of the noise
FINE = 0.05  # m: a step within a token counts as much as a colour
WIDEST = 3.0  # such steps: at edges a token has points far behind each other
NEAR = 0.01  # m: a guess that is so far from the label is half as good as one that is there
FAR = 0.1  # m beside the label that count as much as one of the other numbers


@dataclass(frozen=True, eq=False)
class SeenPoints:
    """What is known before a pose begins to flow, of N tokens, the first M of which have a place: which are ``there`` (B, N), their
    ``guesses`` (B, M, 3) in the cube, ``keys`` (B, M, width) by which these are chosen, keys and values (B, N, 2 width) that are ``known``
    to each layer of the head; and the ``feeling`` (B, width)."""

    there: Tensor
    guesses: Tensor
    keys: Tensor
    known: list[Tensor]
    feeling: Tensor


class PointFlow(KeyposeModel):
    """``losses`` (B, 4) of a batch to learn from, ``answers`` to one."""

    def __init__(self, recipe: PointRecipe, source: KeyposeSource) -> None:
        super().__init__(recipe, source)
        width, self.steps = recipe.width, recipe.steps
        self.stem, self.down = nn.Conv2d(CHANNELS, STEM, 4, 2, 1), nn.Conv2d(STEM, MIDDLE, 3, 2, 1)
        self.patch, self.looked = nn.Conv2d(MIDDLE, width, 2, 2), nn.LayerNorm(width)
        self.where = nn.Linear(3 * HATS, width)
        self.words, self.order = WordTokens(width), nn.Embedding(LONGEST_SENTENCE, width)
        self.feels = nn.Sequential(nn.Linear(SENSES, width), nn.GELU(), nn.Linear(width, width))
        self.blocks = nn.ModuleList(TransformerBlock(width, recipe.heads, recipe.dropout) for _ in range(recipe.layers))
        self.norm = nn.LayerNorm(width)
        self.guess, self.key = nn.Linear(width, 3), nn.Linear(width, width)
        self.begins = nn.Sequential(nn.Linear(POSE_NUMBERS - 3 + MOMENTS, width), nn.GELU(), nn.Linear(width, width))
        self.head = nn.ModuleList(
            TransformerBlock(width, recipe.heads, recipe.dropout, own=False, cross=True) for _ in range(recipe.head_layers)
        )
        self.ends, self.asks = nn.LayerNorm(width), nn.Linear(width, width)
        self.turns = nn.Sequential(nn.Linear(2 * width, 2 * width), nn.GELU(), nn.Linear(2 * width, POSE_NUMBERS - 3))
        nn.init.zeros_(self.guess.weight)  # to begin with, every token guesses itself
        nn.init.zeros_(self.guess.bias)

    def losses(self, batch: KeyposeBatch) -> Tensor:
        """How far (B, 4) the ends of ways are from the labels, seen from somewhere on each."""
        now, place, rotation = self._lesson(batch)
        wanted = torch.cat([(place - 0.5) * SPREAD, six_numbers(rotation), batch.labels[:, 7:]], 1)
        moment, at = on_the_way(wanted)
        seen = self._seen(now)
        end, likely = self._end(seen, at, moment)
        missed = (seen.guesses - place[:, None]).norm(dim=-1) * self.source.side / NEAR
        beside = (end[:, :3] - wanted[:, :3]).norm(dim=1) * self.source.side / SPREAD
        parts = (
            -torch.logsumexp(likely - torch.log1p(missed**2), 1),
            beside / FAR,
            (end[:, 3:9] - wanted[:, 3:9]).norm(dim=1),
            (end[:, 9] - wanted[:, 9]) ** 2,
        )
        return torch.stack(parts, 1)

    def answers(self, batch: KeyposeBatch) -> KeyposeAnswer:
        """The keyposes that flow out of the noise of a batch."""
        start = batch.start
        if start is None:
            start = torch.randn(len(batch.felt), POSE_NUMBERS, generator=torch.Generator().manual_seed(0)).to(batch.felt.device)
        seen = self._seen(self._situation(batch))

        end = flown(lambda at, moment: self._end(seen, at, moment)[0], start, self.steps)
        places = self.low + (end[:, :3] / SPREAD + 0.5) * self.source.side
        return KeyposeAnswer(places, from_six_numbers(end[:, 3:9]), end[:, 9] > 0)

    def _seen(self, now: Situation) -> SeenPoints:
        places, there, features = self._tokens(now)
        feeling = self.feels(torch.cat([six_numbers(now.rotation), now.hand], 1)) + self._at(now.tip)
        told = now.words[..., 0] >= 0
        words = self.words(now.words.clamp(min=0)) + self.order.weight[: now.words.shape[1]]
        x = torch.cat([features + self._at(places), feeling[:, None], words], 1)
        places = torch.cat([places, now.tip[:, None]], 1)  # the tip guesses too: who pulls goes so far from where it is
        count = places.shape[1]
        there = torch.cat([there, told.new_ones(len(told), 1), told], 1)
        for block in self.blocks:
            x = block(x, there[:, None, None])
        x = self.norm(x)
        guesses = places + self.guess(x[:, :count]).float()
        # Where a token is counts anew for who looks at it from somewhere.
        x = torch.cat([x[:, :count] + self._at(places), x[:, count:]], 1)
        known = [block.cross.both(x) for block in self.head]
        return SeenPoints(there, guesses, self.key(x[:, :count]), known, x[:, count - 1])

    def _tokens(self, now: Situation) -> tuple[Tensor, Tensor, Tensor]:
        """Tokens of all cameras: their places (B, N, 3), which show anything (B, N), what they show (B, N, width)."""
        side = self.source.size
        grid = (len(self.source.cameras), side // PATCH, PATCH, side // PATCH, PATCH)
        there = now.there.unflatten(1, grid)[..., None]
        points = now.places.unflatten(1, grid)
        shown = there.sum((3, 5), keepdim=True)
        mean = (points * there).sum((3, 5), keepdim=True) / shown.clamp(min=1)
        fine = ((points - mean) * (self.source.side / FINE)).clamp(-WIDEST, WIDEST)
        pixels = torch.cat([now.colours.unflatten(1, grid), fine, torch.ones_like(fine[..., :1])], -1) * there
        pictures = pixels.flatten(4, 5).flatten(2, 3).flatten(0, 1).permute(0, 3, 1, 2)
        found = self.patch(functional.gelu(self.down(functional.gelu(self.stem(pictures)))))
        features = self.looked(found.flatten(2).transpose(1, 2)).unflatten(0, (len(there), -1)).flatten(1, 2)
        return mean.flatten(1, 5), (shown > 0).flatten(1), features

    def _at(self, places: Tensor) -> Tensor:
        """Places (…, 3) in the cube as vectors (…, width)."""
        found: Tensor = self.where(hats(places, 0.0, 1.0).flatten(-2))
        return found

    def _end(self, seen: SeenPoints, at: Tensor, moment: Tensor) -> tuple[Tensor, Tensor]:
        """Where ways end (B, 10) that are ``at`` (B, 10) at a moment (B,), and how likely each guess is (B, M), as logarithms."""
        begins = self.begins(torch.cat([at[:, 3:], hats(moment, 0.0, 1.0, MOMENTS)], 1))
        x = (seen.feeling + begins + self._at(at[:, :3] / SPREAD + 0.5))[:, None]
        for block, known in zip(self.head, seen.known, strict=True):
            x = block(x, known=known, shown=seen.there[:, None, None])
        x = self.ends(x[:, 0])
        scores = (seen.keys * self.asks(x)[:, None]).sum(-1).float() / seen.keys.shape[-1] ** 0.5
        likely = scores.masked_fill(~seen.there[:, : scores.shape[1]], -torch.inf).log_softmax(1)
        share = likely.exp()[..., None]
        place = ((share * seen.guesses).sum(1) - 0.5) * SPREAD
        turned = self.turns(torch.cat([x, (share * seen.keys).sum(1)], 1)).float()
        return torch.cat([place, turned], 1), likely
