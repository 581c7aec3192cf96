"""The oracle's demonstration of one training episode, in the form a policy sees it."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from etude.datasets.columns import STROKES
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.learn.samples import (
    SIZE,
    Demonstration,
    Look,
    Prompt,
    Things,
    contract_for,
    kind_of,
    numbers_of,
    prompt,
    things_of_views,
    things_seen,
)
from etude.learn.source import refuse_tests
from etude.library import episode, told_in
from etude.names import EtudeError, rng
from etude.policies.contract import refuse_mismatches
from etude.prompts.instruction import InstructionPart, ObjectPicture
from etude.prompts.views import part_views
from etude.scene.scene import Scene
from etude.skills.oracle import Oracle
from etude.skills.strokes import Stroke

LATER = 3  # strokes that may follow a mistake, beyond those the episode needs
PORTRAITS = 4096  # pictures of single objects that are kept: episodes share them


@dataclass(frozen=True)
class Recovery:
    """Mistakes on purpose: in a ``share`` of the episodes the first stroke misses by ``metres`` (standard deviation, each axis).

    What is learned is the oracle's own stroke; only what is carried out differs.
    """

    share: float = 0.0
    metres: float = 0.04

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1 or not 0 <= self.metres <= 1:
            raise EtudeError(f"recovery data are a share from 0 to 1 and metres from 0 to 1, got {self.share:g} and {self.metres:g}")


def refuse_misfits(names: Iterable[str], look: Look) -> None:
    """Raise if one of these episodes cannot be seen, or not be acted in, as a policy with this look does."""
    found = [episode(name) for name in names]
    refuse_mismatches(contract_for(look), found)
    for one in found:
        if one.control not in STROKES:
            expected = " or ".join(map(repr, STROKES))
            raise EtudeError(f"{one.name} is acted in by {one.control!r}; recipes train strokes from place to place: {expected}")


def demonstrate(name: str, look: Look, recovery: Recovery = Recovery(), language: str = "") -> Demonstration:
    """Play an episode with the oracle. The last stroke is not carried out: nobody sees what follows it. ``language``: of the prompt."""
    refuse_tests(name)
    found = episode(name)
    if found.least == 0:
        raise EtudeError(f"{name}: nobody has counted how many primitives it takes; demonstrations are of episodes where that is known")
    contract = contract_for(look)
    simulation = Simulation(found)
    observer = Observer(simulation, contract.cameras, contract.size, contract.modalities)
    oracle = Oracle(found, simulation.world, simulation.monitor)
    stream = rng(found.parsed, "learn/recovery")
    shaken = stream.chance(recovery.share)
    seen: list[Things] = []
    done: list[NDArray[np.float32]] = []
    labels: list[NDArray[np.float32]] = []
    counts: list[bool] = []
    strokes = found.least + (LATER if shaken else 0)
    while not simulation.over and len(seen) < strokes:
        try:
            stroke = oracle.stroke()
        except EtudeError:
            if not shaken or not seen:
                raise
            break  # not every mistake can be mended: what fell off the table stays there
        if not isinstance(stroke, Stroke):
            raise EtudeError(
                f"{name}: its demonstration is no stroke from place to place; {found.control!r} cannot be learned in this form"
            )
        seen.append(things_seen(observer.look(), contract))
        right = stroke.to_action()
        carried = right.copy()
        if shaken and len(seen) == 1:
            for k in stroke.places:
                carried[k] += stream.normal(0.0, recovery.metres)
        labels.append(numbers_of(right))
        done.append(numbers_of(carried))
        counts.append(stroke.start != stroke.end or stroke.end_yaw != stroke.start_yaw)  # waiting is no demonstration
        if len(seen) < strokes:
            simulation.step(carried)
    return Demonstration(prompt_of(found, look, language), tuple(seen), np.stack(done), np.stack(labels), np.array(counts))


def prompt_of(found: Episode, look: Look, language: str = "") -> Prompt:
    """The prompt of an episode. Pictures of single objects are kept, for others show them too."""
    scene = told_in(found)
    bare = replace(scene, entities=(), robot=None)
    pictures = [
        _portrait(p, bare, look) if isinstance(p, ObjectPicture) else _pictured(p, scene, look) for p in found.instruction.pictures()
    ]
    return prompt(found.instruction.template(), pictures, language)


def _pictured(part: InstructionPart, scene: Scene, look: Look) -> tuple[int, Things]:
    contract = contract_for(look)
    views = part_views(part, scene, SIZE, contract.cameras)
    return kind_of(views), things_of_views(views, look)


@functools.lru_cache(maxsize=PORTRAITS)
def _portrait(part: ObjectPicture, scene: Scene, look: Look) -> tuple[int, Things]:
    return _pictured(part, scene, look)
