"""Small trainings from a cluster's stream and without a cluster, and what they come to. Torch is needed here alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from numbered import Waiting
from safetensors.torch import load_file
from toys import SETTINGS, demonstrations

from etude.learn.curve import CurvePoint, read_curve
from etude.learn.header import NAME
from etude.learn.named_recipes import recipe_named
from etude.learn.recipes import Recipe
from etude.learn.stream import GivenSamples, Samples
from etude.learn.train import Trainer, train

RECIPE = "vima/objects-xattn"
SMALLER = (*SETTINGS, "data.start=4", "data.fresh=2", "data.most=12", "schedule.steps=5")
Learned = tuple[list[tuple[float, ...]], dict[str, bytes]]


class OneTraining:
    """A training that is told its samples, step by step; ``points`` is the way, :meth:`learned` what it came to."""

    def __init__(self, samples: Samples) -> None:
        self.trainer = Trainer(small_recipe())
        self._points = train(self.trainer, samples, every=[1])
        self._losses: list[tuple[float, ...]] = []

    def step(self) -> CurvePoint | None:
        """The next step; none after the last."""
        point = next(self._points, None)
        if point is not None:
            self._losses.append((point.loss, *point.axes))
        return point

    def learned(self) -> Learned:
        """To the end: the losses of every step, and all weights, to the bit."""
        while self.step():
            pass
        models = {"model": self.trainer.model, "averaged": self.trainer.averaged}
        return self._losses, {f"{which}.{name}": raw(one) for which, model in models.items() for name, one in model.state_dict().items()}


def small_recipe() -> Recipe:
    return recipe_named(RECIPE, SMALLER)


def waiting(mark: Path) -> Waiting:
    """The small recipe's demonstrations, for a cluster that will lose a machine."""
    source = small_recipe().data.source
    return Waiting(**{**vars(source), "mark": str(mark)})


def learned_at_home() -> Learned:
    """What the same demonstrations come to without a cluster."""
    return OneTraining(GivenSamples(demonstrations())).learned()


def raw(tensor: torch.Tensor) -> bytes:
    return bytes(tensor.numpy().tobytes())


def kept(run: Path) -> Learned:
    """What a run's folder holds of it: the curve without its clock, and the policy's weights."""
    points = [(point.step, point.loss, *point.axes, point.rate, point.episodes, point.seen) for point in read_curve(run)]
    return points, {name: raw(tensor) for name, tensor in load_file(run / NAME).items()}


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums are added in the same order, whatever else the machine does."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
