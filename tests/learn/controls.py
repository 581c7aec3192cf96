"""Tiny closed-loop recipes, and a few demonstrations that are played once for all tests of a process."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

from etude.learn.named_recipes import recipe_named

SETTINGS = (
    "model.width=32", "model.heads=2", "model.eye_layers=1", "model.prompt_layers=1", "model.layers=2", "model.hidden=32", "model.looks=4",
    "model.chunk=4", "model.execute=3", "model.grid=2", "model.dropout=0.0", "model.jitter=0.0", "schedule.batch=8", "schedule.warmup=0",
    "schedule.rate=0.003", "schedule.ema=0.9", "schedule.steps=60", "data.start=3", "data.most=3", "data.source.seed=3",
    "data.source.every=1", "data.source.tasks=touch", "data.source.size=32",
)  # fmt: skip


def recipe(form, *settings):
    """A toy of this architecture."""
    return recipe_named(f"clevrskills/{form}", [*SETTINGS, *settings])


SOURCE = recipe("stream").data.source


@functools.cache
def demonstrations(views=2):
    """Three episodes."""
    source = replace(SOURCE, cameras=SOURCE.cameras[:views])
    found = ((k, source.name(k), source.sample(k)) for k in itertools.count())
    return list(itertools.islice((one for one in found if one[2] is not None), 3))
