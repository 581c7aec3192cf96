"""The same window read by readout tokens (as Octo has it), and a head that samples: a chunk of actions flows out of noise, along what was
learned of the way from any noise to what the oracle does."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from etude.learn.control import ControlSource
from etude.learn.control_buffer import ControlBatch
from etude.learn.models.controller import Answers, ControlMemory, looking_losses, mean_over
from etude.learn.models.flow import MOMENTS, flown, on_the_way
from etude.learn.models.tokens import hats
from etude.learn.models.window import WindowTrunk
from etude.learn.network_recipes import ControllerRecipe

READOUTS = 4
STEPS = 10  # from noise to an action


class ReadoutController(WindowTrunk):
    """Readout tokens over the window, and a flow."""

    def __init__(self, recipe: ControllerRecipe, source: ControlSource) -> None:
        super().__init__(recipe, source, READOUTS)
        size, hidden, width = self.chunk * self.numbers, 2 * self.width, self.width + self.hints
        self.gathered = nn.Linear(READOUTS * self.width, self.width)
        self.flow = nn.Sequential(
            nn.Linear(size + MOMENTS + width, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, size)
        )

    def made_of(self, read: Tensor) -> Tensor:
        made: Tensor = self.gathered(read.flatten(1))
        return made

    def _end(self, read: Tensor, at: Tensor, moment: Tensor) -> Tensor:
        """Where actions (N, H, A) end that are ``at`` (N, H, A) at a moment (N,) from 0, noise, to 1."""
        given = torch.cat([at.flatten(1), hats(moment, 0.0, 1.0, MOMENTS), read.float()], 1)
        return self.flow(given).unflatten(1, (self.chunk, self.numbers)).float()

    def _flown(self, read: Tensor, start: Tensor) -> Tensor:
        return flown(lambda x, moment: self._end(read, x, moment), start, STEPS)

    def losses(self, batch: ControlBatch) -> Tensor:
        wanted = self.scaled(batch.labels[:, -1], batch.felt[:, -1])
        moment, at = on_the_way(wanted)
        made, pointed, hints, alike = self.read_last(batch)
        found = mean_over((self._end(torch.cat([made, hints], 1), at, moment) - wanted) ** 2, batch.counts[:, -1])
        return torch.cat([found, looking_losses(pointed, batch.aims[:, -1], alike, batch.spots[:, -1])], 1)

    def chunks(self, batch: ControlBatch) -> Answers:
        made, pointed, hints, alike = self.read_last(batch)
        shape = len(made), self.chunk, self.numbers
        noise = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(made.device)
        return self.answers(batch, self._flown(torch.cat([made, hints], 1), noise), pointed, alike)

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        """All chunks of an episode flow out of the same noise: who has chosen one of several ways keeps to it."""
        made, hints, memory = self.read_next(memory, frames, felt)
        return self.actions(self._flown(torch.cat([made, hints], 1), memory["start"]), felt), memory
