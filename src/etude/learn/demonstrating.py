"""The oracle's demonstration of one training episode, in the form a policy sees it."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from etude.datasets.columns import STROKES
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.learn.samples import (
    LOOKS,
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
from etude.names import SPARSE, EtudeError, Stream, rng, unknown
from etude.policies.contract import refuse_mismatches
from etude.pose import Array
from etude.prompts.instruction import InstructionPart, ObjectPicture
from etude.prompts.views import part_views
from etude.scene.scene import Scene
from etude.scene.world import World
from etude.skills.oracle import Oracle
from etude.skills.strokes import Stroke

WAYS = ("miss", "turn", "thing")
TURNED = (math.radians(30), math.radians(180))  # by which a turn goes wrong
BESIDE = 0.03  # m: what is as near as that to where a stroke begins is what it takes
LATER = 3  # strokes that may follow a mistake, beyond those the episode needs
PORTRAITS = 1024  # pictures of single objects that are kept: episodes share them

Shown = tuple[int, Things]  # the kind of token that a picture's things are, and these


@dataclass(frozen=True)
class Recovery:
    """Mistakes on purpose: in a ``share`` of the episodes the first stroke goes wrong, in one of these ``ways``. It may ``miss`` by
    ``metres`` (standard deviation, each axis), ``turn`` what it carries by another angle, or take another ``thing``; where it cannot, it
    misses.

    What is learned is the oracle's own stroke; only what is carried out differs.
    """

    share: float = 0.0
    metres: float = 0.04
    ways: tuple[str, ...] = field(default=("miss",), metadata=SPARSE)

    def __post_init__(self) -> None:
        for way in self.ways:
            if way not in WAYS:
                raise unknown("way in which a stroke goes wrong", way, WAYS)
        if not self.ways:
            raise EtudeError(f"recovery data need at least one way in which strokes go wrong: {', '.join(WAYS)}")
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
    (found,) = demonstrated([name], [look], recovery, language)
    return found


def demonstrated(names: Sequence[str], looks: Sequence[Look], recovery: Recovery = Recovery(), language: str = "") -> list[Demonstration]:
    """An episode that is played once, as it is told by each of its names and seen in each of the ways: look by look, name by name.

    Names differ in what changes the instruction alone, such as "+paraphrase".
    """
    for name in names:
        refuse_tests(name)
    found, *others = in_other_words(names)
    if found.least == 0:
        raise EtudeError(
            f"{found.name}: nobody has counted how many primitives it takes; demonstrations are of episodes where that is known"
        )
    contracts = [contract_for(look) for look in looks]
    simulation = Simulation(found)
    modalities = tuple(dict.fromkeys(modality for contract in contracts for modality in contract.modalities))
    observer = Observer(simulation, contracts[0].cameras, contracts[0].size, modalities)
    oracle = Oracle(found, simulation.world, simulation.monitor)
    stream = rng(replace(found.parsed, perturbations=()), "learn/recovery")
    shaken = stream.chance(recovery.share)
    seen: list[list[Things]] = []
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
                f"{found.name}: its demonstration is no stroke from place to place; {found.control!r} cannot be learned in this form"
            )
        observation = observer.look()
        seen.append([things_seen(observation, contract) for contract in contracts])
        right = stroke.to_action()
        carried = mistaken(stroke, simulation.world, recovery, stream) if shaken and len(seen) == 1 else right
        labels.append(numbers_of(right))
        done.append(numbers_of(carried))
        counts.append(stroke.start != stroke.end or stroke.end_yaw != stroke.start_yaw)  # waiting is no demonstration
        if len(seen) < strokes:
            simulation.step(carried)
    learned = np.stack(done), np.stack(labels), np.array(counts)
    told = _prompts((found, *others), looks, language)
    return [Demonstration(next(told), tuple(step[k] for step in seen), *learned) for k in range(len(looks)) for _ in names]


def mistaken(stroke: Stroke, world: World, recovery: Recovery, stream: Stream) -> Array:
    """The action (12,) of a stroke that goes wrong."""
    way = stream.choice(recovery.ways) if len(recovery.ways) > 1 else recovery.ways[0]
    if stroke.kind == "pick_place" and way == "turn":
        off = stream.uniform(*TURNED) * (1 if stream.chance(0.5) else -1)
        return replace(stroke, end_yaw=stroke.end_yaw + off).to_action()
    if stroke.kind == "pick_place" and way == "thing":
        places = [world.pose(name).position[:2] for name in world.loose]
        others = [(x, y) for x, y in places if math.hypot(x - stroke.start[0], y - stroke.start[1]) > BESIDE]
        if others:
            return replace(stroke, start=stream.choice(others)).to_action()
    carried = stroke.to_action()
    for k in stroke.places:
        carried[k] += stream.normal(0.0, recovery.metres)
    return carried


def in_other_words(names: Sequence[str]) -> list[Episode]:
    """The episodes of names that differ in the instruction alone."""
    first, *others = found = [episode(name) for name in names]
    for other in others:
        if replace(other, name=first.name, instruction=first.instruction) != first:
            raise EtudeError(f"{other.name} is not {first.name} in other words: they cannot be played as one")
    return found


def _prompts(found: Sequence[Episode], looks: Sequence[Look], language: str) -> Iterator[Prompt]:
    """The prompts of an episode that is told in several ways: look by look, way by way. What they show is drawn once. Pictures of single
    objects are kept, for others show them too."""
    scene = told_in(found[0])
    bare = replace(scene, entities=(), robot=None)
    drawn: dict[InstructionPart, dict[Look, Shown]] = {}
    for part in (p for one in found for p in one.instruction.pictures()):
        if part not in drawn:
            drawn[part] = _portrait(part, bare) if isinstance(part, ObjectPicture) else _pictured(part, scene)
    for look in looks:
        for one in found:
            yield prompt(one.instruction.template(), [drawn[part][look] for part in one.instruction.pictures()], language)


def _pictured(part: InstructionPart, scene: Scene) -> dict[Look, Shown]:
    views = part_views(part, scene, SIZE, contract_for(LOOKS[0]).cameras)
    return {look: (kind_of(views), things_of_views(views, look)) for look in LOOKS}


@functools.lru_cache(maxsize=PORTRAITS)
def _portrait(part: ObjectPicture, scene: Scene) -> dict[Look, Shown]:
    return _pictured(part, scene)
