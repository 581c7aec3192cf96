"""The frames of a trial as pictures."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from etude.decisions.solver import Domain
from etude.decisions.space import SPLITS, SeenThing, StimulusSpace
from etude.decisions.stimuli.canvas import cell_pixels, frame
from etude.decisions.stimuli.folder import ImageFolder
from etude.decisions.stimuli.sets import STIMULUS_SETS, StimulusSet
from etude.decisions.text import instruction
from etude.decisions.trial import SILENT, Trial
from etude.names import EtudeError, unknown

PIXELS = 224  # the side of a frame in the paper


@functools.cache
def stimuli(name: str) -> StimulusSet:
    """A stimulus set by its name, which its trials carry: a registered one, or a folder of pictures (names have %2F for a slash)."""
    folder = Path(unquote(name))
    if name not in STIMULUS_SETS and not folder.is_dir():
        raise EtudeError(f"there is no folder {str(folder)!r}; taken as a name: {unknown('stimulus set', name, STIMULUS_SETS)}")
    found = STIMULUS_SETS[name]() if name in STIMULUS_SETS else ImageFolder(folder)
    for prop in ("category", "identity"):
        if prop not in found.properties:
            raise EtudeError(f"{type(found).__module__}: the stimulus set {name!r} does not declare the property {prop!r}")
    return found


@functools.cache
def space_of(name: str, grid: tuple[int, int] = (2, 2)) -> StimulusSpace:
    """What can be seen with a stimulus set."""
    found = stimuli(name)
    return StimulusSpace(found.classes, found.properties, 1 + max(view for split in SPLITS for view in _views(found, split)), grid)


def _views(found: StimulusSet, split: str) -> tuple[int, ...]:
    """The views of a split; none where the set has none for it, which is refused when one is to be shown."""
    try:
        return found.views(split)
    except EtudeError:
        return ()


@functools.cache
def domain_of(name: str, split: str) -> Domain:
    """What trials of a split may show of a stimulus set."""
    return Domain(space_of(name), stimuli(name).views(split))


def told(trial: Trial, grammar: str = "exact") -> str:
    """The instruction of a trial."""
    return instruction(trial, space_of(trial.stimuli, trial.grid), grammar)


def pictures(trial: Trial, size: int = PIXELS) -> list[NDArray[np.uint8]]:
    """Every frame (size, size, 3). A cross says when to keep silent, or when to speak, as the trial has it."""
    return [drawn(trial.stimuli, trial.grid, things, cross, size) for things, cross in zip(trial.frames, crosses(trial), strict=True)]


def crosses(trial: Trial) -> list[bool]:
    """Whether each frame has a cross."""
    return [trial.fixation == ("withhold" if right == SILENT else "action") for right in trial.answers]


def drawn(set_name: str, grid: tuple[int, int], things: Sequence[SeenThing], cross: bool, size: int = PIXELS) -> NDArray[np.uint8]:
    """One frame (size, size, 3)."""
    shown, pixels = stimuli(set_name), cell_pixels(size, grid)
    placed = [(shown.picture(t.item, t.view, pixels), t.location) for t in things]
    return frame(size, grid, placed, fixation="cross" if cross else "none")
