"""What is counted of an episode in a description: from a suite, played by the oracle or not, and from datasets in any of our formats."""

from __future__ import annotations

import functools
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.datasets.taking import rate
from etude.decisions.graph import walk
from etude.decisions.showing import space_of, told
from etude.decisions.trial import Trial
from etude.episodes import PRIMITIVES, Episode
from etude.evaluation.play import Players, play
from etude.evaluation.worker import one_thread
from etude.library import find, read_episode
from etude.names import EtudeError
from etude.scene.scene import Body, Fixture
from etude.skills.subtasks import plain

IDLE = "Do nothing"  # as the oracle calls waiting
Words = Sequence[tuple[str, str]]  # sub-task and step of each action


@dataclass(frozen=True, eq=False)
class EpisodeFacts:
    """One episode, counted. ``actions`` (N, A) and what comes of them is None where it was not played or recorded.

    ``length`` counts actions, or frames of a decision; ``solvers`` the stretches in which one step was done, ``subtasks`` those of one
    sub-task; ``verbs`` are the first words of the instruction, of sub-tasks and of steps.
    """

    suite: str
    task: str
    level: str
    instruction: str
    shapes: tuple[str, ...]
    textures: tuple[str, ...]
    verbs: tuple[str, ...]
    control: str
    length: int | None = None
    seconds: float | None = None
    solvers: int | None = None
    subtasks: int | None = None
    actions: NDArray[Any] | None = None


def _stretches(texts: Sequence[str]) -> list[str]:
    return [text for k, text in enumerate(texts) if text not in ("", IDLE) and (k == 0 or texts[k - 1] != text)]


def facts_of(episode: Episode, actions: NDArray[Any] | None = None, words: Words = ()) -> EpisodeFacts:
    """Those of an episode, and of what was done in it."""
    bodies = [e for e in episode.scene.entities if isinstance(e, Body)]
    fixtures = [s.texture for e in episode.scene.entities if isinstance(e, Fixture) for part in e.parts for s in part.solids]
    subtasks, steps = _stretches([a for a, _ in words]), _stretches([b for _, b in words])
    spoken = [episode.instruction.text, *(plain(text, episode.scene) for text in (*subtasks, *steps))]
    seconds = None if actions is None or episode.control in PRIMITIVES else len(actions) / rate(episode)
    return EpisodeFacts(
        episode.parsed.suite,
        episode.parsed.task,
        episode.level,
        episode.instruction.text,
        tuple(e.shape for e in bodies),
        (*(e.texture for e in bodies), *dict.fromkeys(fixtures)),
        tuple(first.lower().strip(".,:\"'") for text in spoken if (first := text.partition(" ")[0])),
        episode.control,
        None if actions is None else len(actions),
        seconds,
        len(steps) if actions is not None else None,
        len(subtasks) if actions is not None else None,
        actions,
    )


def trial_facts(trial: Trial) -> EpisodeFacts:
    """Those of a decision: its shapes are what its things are by the second property of their set, which divides the first; its textures
    the further ones; its verbs the operators."""
    space, parsed = space_of(trial.stimuli, trial.grid), trial.parsed
    things, kinds = [thing for frame in trial.frames for thing in frame], list(space.classes)
    shapes, looks = (
        tuple(space.values(prop)[space.of(prop, thing)] for prop in some for thing in things) for some in (kinds[:2][-1:], kinds[2:])
    )
    operators = tuple(type(node).__name__ for placed in trial.tasks for node in walk(placed.task.root))
    level = trial.level or parsed.split
    return EpisodeFacts(parsed.suite, parsed.task, level, told(trial), shapes, looks, operators, "answer", len(trial.frames))


def named_facts(name: str, played: bool) -> EpisodeFacts | None:
    """Those of an episode by its name; None where the oracle does not solve it, for then there is nothing to count."""
    found = find(name)
    if isinstance(found, Trial):
        return trial_facts(found)
    if not played:
        return facts_of(found)
    record, done = play(Players("oracle"), name)
    return facts_of(found, np.array(done.actions), done.words) if record.success else None


def suite_facts(names: Sequence[str], played: bool, workers: int = 1) -> Iterator[EpisodeFacts | None]:
    """Those of many episodes, in order, whatever the number of workers."""
    count = functools.partial(named_facts, played=played)
    if workers < 2 or len(names) < 2:
        yield from map(count, names)
        return
    with one_thread(), ProcessPoolExecutor(min(workers, len(names)), multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(count, names)


def dataset_facts(folder: Path) -> Iterator[EpisodeFacts]:
    """Those of a dataset that ``etude demos`` made, in whichever format."""
    if (folder / "demos.hdf5").exists():
        yield from _robomimic(folder / "demos.hdf5")
    elif (folder / "meta/info.json").exists():
        from etude.datasets.extra import extras

        yield from (facts_of(one.episode, one.arrays["actions"], one.words) for one in extras(folder))
    elif any(folder.rglob("traj_*")):
        from etude.datasets.folders import find_trajectories, read_trajectory

        yield from (facts_of(t.episode, t.arrays["actions"], t.labels) for t in map(read_trajectory, find_trajectories(folder)))
    else:
        raise EtudeError(f"{str(folder)!r} is no dataset of 'etude demos': it has no meta/info.json, demos.hdf5 or traj_… folders")


def _robomimic(path: Path) -> Iterator[EpisodeFacts]:
    import json

    from etude.datasets.robomimic import hdf5

    with hdf5().File(path, "r") as file:
        for k in range(len(file["data"])):
            demo = file[f"data/demo_{k}"]
            words = [(a, b) for a, b in json.loads(demo.attrs["words"])]
            yield facts_of(read_episode(demo.attrs["episode"]), demo["actions"][()], words)
