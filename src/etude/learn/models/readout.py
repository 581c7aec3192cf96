"""The same window read by readout tokens (as Octo has it), and a head that samples: a chunk of actions flows out of noise, along what was
learned of the way from any noise to what the oracle does."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from etude.learn.control import ControlSource
from etude.learn.control_buffer import ControlBatch
from etude.learn.models.controller import ControlMemory, mean_over
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
        size, hidden = self.chunk * self.numbers, 2 * self.width
        self.gathered = nn.Linear(READOUTS * self.width, self.width)
        self.flow = nn.Sequential(
            nn.Linear(size + MOMENTS + self.width, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, size)
        )

    def _end(self, read: Tensor, at: Tensor, moment: Tensor) -> Tensor:
        """Where actions (N, H, A) end that are ``at`` (N, H, A) at a moment (N,) from 0, noise, to 1."""
        given = torch.cat([at.flatten(1), hats(moment, 0.0, 1.0, MOMENTS), read.float()], 1)
        return self.flow(given).unflatten(1, (self.chunk, self.numbers)).float()

    def _flown(self, read: Tensor, start: Tensor) -> Tensor:
        return flown(lambda x, moment: self._end(read, x, moment), start, STEPS)

    def _read(self, batch: ControlBatch) -> Tensor:
        return self.gathered(self.read(*self.row_of(batch)).flatten(1))

    def losses(self, batch: ControlBatch) -> Tensor:
        wanted = self.scaled(batch.labels[:, -1], batch.felt[:, -1])
        moment, at = on_the_way(wanted)
        return mean_over((self._end(self._read(batch), at, moment) - wanted) ** 2, batch.counts[:, -1])

    def chunks(self, batch: ControlBatch) -> tuple[Tensor, Tensor, Tensor]:
        wanted = self.scaled(batch.labels[:, -1], batch.felt[:, -1])
        noise = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(0)).to(wanted.device)
        return self._flown(self._read(batch), noise), wanted, batch.counts[:, -1]

    def act(self, memory: ControlMemory, frames: Tensor, felt: Tensor) -> tuple[Tensor, ControlMemory]:
        """All chunks of an episode flow out of the same noise: who has chosen one of several ways keeps to it."""
        read, memory = self.read_next(memory, frames, felt)
        return self.actions(self._flown(self.gathered(read.flatten(1)), memory["start"]), felt), memory
