"""A handful of demonstrations, and a recipe so small that a test can train it."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from etude.learn.samples import Demonstration
from etude.learn.source import SampleSource
from etude.learn.stream import Source, played

SOURCE = Source("vima", tasks=("rotate",), seed=3)
STORED = ["vima/rearrange_then_restore@train#0", "vima/sweep_without_exceeding@train#0"]
SETTINGS = (
    "model.width=32", "model.heads=2", "model.layers=1", "model.concat_layers=1", "model.prompt_layers=1", "model.dropout=0.0",
    "model.jitter=0.0", "schedule.batch=8", "schedule.warmup=0", "schedule.rate=0.003", "schedule.steps=60", "data.start=20",
    "data.most=20", "data.source.tasks=rotate", "data.source.seed=3",
)  # fmt: skip
CONTROL = (  # of a closed-loop recipe
    "model.width=32", "model.heads=2", "model.eye_layers=1", "model.prompt_layers=1", "model.layers=2", "model.hidden=32", "model.looks=4",
    "model.chunk=4", "model.execute=3", "model.grid=2", "model.dropout=0.0", "model.jitter=0.0", "schedule.batch=8", "schedule.warmup=0",
    "schedule.rate=0.003", "schedule.ema=0.9", "schedule.steps=60", "data.start=3", "data.most=3", "data.source.seed=3",
    "data.source.tasks=touch", "data.source.size=32",
)  # fmt: skip


@functools.cache
def demonstrations() -> list[tuple[int, str, Demonstration]]:
    """Twenty of them, played once for all tests of a process."""
    return played(SOURCE, 20)


@dataclass(frozen=True)
class ThreeNumbers(SampleSource):
    """A source with an end."""

    @property
    def count(self) -> int:
        return 3

    @property
    def room(self) -> int:
        return 8

    def packed(self, number: int) -> bytes:
        return bytes([number])

    def unpacked(self, data: bytes | memoryview) -> int:
        return data[0]
