"""What all keypose policies share: what is known before a keypose, moved as a whole while they learn, and what they answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.keypose_buffer import KeyposeBatch
from etude.learn.keyposes import CELLS, KeyposeSource
from etude.learn.models.clouds import RigidMotion, matrices, six_numbers, zoomed
from etude.learn.network_recipes import KeyposeNetwork

SENSES = 15  # numbers that are felt: the tip in the cube, its rotation, closed, held, opening, and where the cube is
INSIDE = 0.02  # share of the cube next to its sides: a label that augmentation would bring there stays where it is


@dataclass(frozen=True, eq=False)
class Situation:
    """What is known before a keypose: ``places`` (B, P, 3) in the cube, ``colours`` (B, P, 3) from −1 to 1, which points are ``there``
    (B, P), the ``tip`` (B, 3) in the cube with its ``rotation`` (B, 3, 3), the ``hand`` (B, 3) and the ``words`` (B, L, 2)."""

    places: Tensor
    colours: Tensor
    there: Tensor
    tip: Tensor
    rotation: Tensor
    hand: Tensor
    words: Tensor

    def felt(self, centre: Tensor, share: float | Tensor) -> Tensor:
        """Numbers (B, 15) that the robot feels, when it looks at the cube around ``centre`` (B, 3) of this share of the whole one."""
        return torch.cat([zoomed(self.tip, centre, share) - 0.5, six_numbers(self.rotation), self.hand, centre - 0.5], 1)


@dataclass(frozen=True, eq=False)
class KeyposeAnswer:
    """``places`` (B, 3) in m (world), ``rotations`` (B, 3, 3), whether the hand is ``closed`` (B,)."""

    places: Tensor
    rotations: Tensor
    closed: Tensor


class KeyposeModel(nn.Module):
    """A network that learns from batches by its ``losses`` (B, N), and gives ``answers`` to them. Places are shares of the source's cube,
    whose least corner is ``low`` (m, world)."""

    low: Tensor
    lifts = True  # clouds, up and down, while it learns

    def __init__(self, recipe: KeyposeNetwork, source: KeyposeSource) -> None:
        super().__init__()
        self.recipe, self.source = recipe, source
        self.register_buffer("low", torch.tensor(source.centre) - source.side / 2, persistent=False)

    def losses(self, batch: KeyposeBatch) -> Tensor:
        """How far (B, N) the answers are from the labels, part by part."""
        raise NotImplementedError

    def answers(self, batch: KeyposeBatch) -> KeyposeAnswer:
        """The likeliest keyposes."""
        raise NotImplementedError

    def _lesson(self, batch: KeyposeBatch) -> tuple[Situation, Tensor, Tensor]:
        """What is known, and the place (B, 3) and the rotation (B, 3, 3) that are right; all of it moved while it learns."""
        now = self._situation(batch)
        place, rotation = (batch.labels[:, :3] - self.low) / self.source.side, matrices(batch.labels[:, 3:7])
        return self._augmented(now, place, rotation) if self.training else (now, place, rotation)

    def _situation(self, batch: KeyposeBatch) -> Situation:
        cells = batch.points.int() & CELLS  # as they were before they were kept with a sign
        colours = batch.colours.float() / 127.5 - 1
        words = batch.words
        if self.recipe.sees == "cloud":
            words = torch.full_like(words, -1)
        if self.training and self.recipe.jitter:
            gain = 1 + self.recipe.jitter * torch.randn(len(cells), 1, 3, device=colours.device)
            colours = (colours + 1) * gain - 1
        there = (cells > 0).any(-1)
        if self.recipe.sees == "instruction":
            there = torch.zeros_like(there)
        tip = (batch.felt[:, :3] - self.low) / self.source.side
        return Situation((cells.float() - 0.5) / CELLS, colours, there, tip, matrices(batch.felt[:, 3:7]), batch.felt[:, 7:], words)

    def _augmented(self, now: Situation, place: Tensor, rotation: Tensor) -> tuple[Situation, Tensor, Tensor]:
        """Cloud, tip and label, turned and shifted together."""
        chance = 2 * torch.rand(len(place), 4, device=place.device) - 1
        turn, shift = chance[:, 0] * math.radians(self.recipe.turn), chance[:, 1:] * self.recipe.shift / self.source.side
        if not self.lifts:
            shift = functional.pad(shift[:, :2], (0, 1))
        there = RigidMotion(turn, shift).moved(place[:, None])[:, 0]
        stays = ((there < INSIDE) | (there > 1 - INSIDE)).any(1)
        motion = RigidMotion(turn * ~stays, shift * ~stays[:, None])
        tip, place = motion.moved(torch.stack([now.tip, place], 1)).unbind(1)
        columns = motion.turned(torch.cat([now.rotation, rotation], 2).transpose(1, 2)).transpose(1, 2)
        now = replace(now, places=motion.moved(now.places), tip=tip, rotation=columns[..., :3])
        return now, place, columns[..., 3:]
