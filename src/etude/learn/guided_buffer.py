"""Closed-loop control on the device, told by its task or by the sub-task that is worked on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from etude.learn.control_buffer import ControlBatch, ControlBuffer, ControlPrompts
from etude.learn.guided_control import GuidedDemonstration, GuidedSource
from etude.learn.keyposes import trimmed
from etude.learn.network_recipes import ControllerRecipe
from etude.learn.samples import WORD


class GuidedBuffer(ControlBuffer):
    """Grows by :meth:`add`, is drawn from by :meth:`batch`. ``by_subtask``: the share of what is drawn that is told by its sub-task."""

    def __init__(
        self, source: GuidedSource, recipe: ControllerRecipe, by_subtask: float, onwards: bool, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(source, recipe, onwards, device)
        self._by_subtask = by_subtask
        self._sentences: list[NDArray[np.int16]] = []
        self._subtasks: list[NDArray[np.int16]] = []

    def add(self, demonstrations: Sequence[GuidedDemonstration]) -> None:  # type: ignore[override]
        """Append episodes in their order."""
        super().add(demonstrations)
        self._sentences += [one.sentences for one in demonstrations]
        self._subtasks += [one.subtasks for one in demonstrations]

    def batch(self, chosen: Tensor, shuffle: torch.Generator | None = None) -> ControlBatch:
        """A window of each of these episodes: around a moment that is drawn, with words that are drawn, or around its middle, told by its
        task."""
        episodes = chosen.tolist()
        lengths = np.array([len(self._subtasks[k]) for k in episodes])
        share = np.repeat([[0.5], [1.0]], len(lengths), 1)
        if shuffle is not None:  # drawn here by the same seed, for a device would have to be waited for
            share = torch.rand(2, len(lengths), generator=torch.Generator().manual_seed(shuffle.initial_seed())).numpy()
        moments = np.minimum((share[0] * lengths).astype(np.int64), lengths - 1) // self._every * self._every
        told = [
            self._subtasks[k][moment] if one < self._by_subtask else 0 for k, moment, one in zip(episodes, moments, share[1], strict=True)
        ]
        found = self.windows(episodes, moments)
        return replace(
            found, prompts=self._told([self._sentences[k][n] for k, n in zip(episodes, told, strict=True)], found.prompts.pictures)
        )

    def _told(self, sentences: Sequence[NDArray[np.int16]], pictures: Tensor) -> ControlPrompts:
        rows = np.full((len(sentences), max(len(one) for one in sentences), 2), -1, np.int16)
        for row, one in zip(rows, sentences, strict=True):
            row[: len(one)] = one
        words = self._sent(trimmed(rows))
        heard = words[..., 0] >= 0
        places = torch.arange(words.shape[1], device=self.device).expand_as(heard)
        return ControlPrompts(heard * WORD, words.clamp(min=0), places, torch.full_like(places, -1), pictures)
