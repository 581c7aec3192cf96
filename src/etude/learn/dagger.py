"""DAgger: episodes that a policy plays itself while it learns, of which is learned how the oracle would go on from wherever it came to.

They come in rounds. A round is a folder of the training run: the weights that play, the run of its episodes, and what is learned of each,
so that training which goes on finds what it had. Which episodes a round has, and when the policy acts in each, depends on the seed alone.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from etude.envs.simulation import Simulation
from etude.evaluation.plan import Plan
from etude.evaluation.play import Players
from etude.evaluation.record import Record
from etude.evaluation.run import Quiet, RunSettings, evaluate
from etude.evaluation.store import write_whole
from etude.evaluation.worker import Job
from etude.learn.control import ControlDemonstration, ControlSource, DaggerRecipe, demonstrated
from etude.learn.control_plan import squeezed, unsqueezed
from etude.learn.packing import arrays_in, in_a_row
from etude.library import episode
from etude.machine import cores
from etude.names import EpisodeName, EtudeError, parse_json, rng
from etude.policies.policy import Observation, Policy
from etude.policies.replay import file_stem
from etude.policies.scripted import converted
from etude.pose import Array

FOLDER, RUN, KEPT, DEMOS = "dagger", "run", "kept.json", "demos"
FIRST = 1 << 30  # the number of a source's episode that the first round begins with; streams have the numbers below
ACTS, LEADS = (8, 40), (8, 16)  # control steps for which the policy acts, and then the oracle, in turn


class LearnerHand:
    """A policy's hand, which the oracle takes for a while now and then, and for good at a moment that is drawn: after it has taken over,
    what it wants next is also what happens next, and whole chunks are learned from states that the policy has come to."""

    def __init__(self, policy: Policy, reach: float) -> None:
        self._policy, self._reach = policy, reach
        self._queue: list[Array] = []

    def reset(self, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """A new episode begins."""
        self._policy.reset(instruction, pictures, episode)
        self._queue.clear()
        self._stream = rng(EpisodeName.parse(episode), "learn/dagger")
        self._until = self._stream.uniform(0.0, self._reach)  # of the horizon
        self._acts, self._left = True, self._stream.integer(*ACTS)

    def moved(self, wanted: Array, seen: Observation, simulation: Simulation) -> Array:
        """What the policy does, or what the oracle wants. The policy goes on looking while it is led, and so remembers all of it."""
        if simulation.steps >= self._until * simulation.episode.horizon:
            return converted(wanted, simulation)
        if not self._queue:
            self._queue = list(self._policy.act(seen)[: self._policy.contract.execute])
        if self._left == 0:
            self._acts = not self._acts
            self._left = self._stream.integer(*(ACTS if self._acts else LEADS))
        self._left -= 1
        own = self._queue.pop(0)
        if not self._acts:
            return converted(wanted, simulation)
        simulation.granted += 1  # the oracle has as much time as if it had begun here
        return own


@dataclass(frozen=True)
class RelabellingJob(Job):
    """Let a policy play episodes of a source, and keep what is learned of each."""

    source: ControlSource = field(kw_only=True)
    reach: float = field(kw_only=True)

    def perform(self, players: Players, name: str, mode: str) -> Record:
        """Play one episode. It counts as a success if the oracle could bring it to a good end from where the policy came to."""
        found = episode(name)
        known = (found.id, found.name, mode, found.level)
        try:
            one = demonstrated(name, self.source, LearnerHand(players.policy, self.reach))
        except EtudeError as error:
            return Record(*known, "error", error=str(error))
        if one is None:
            return Record(*known, "failure")
        path = demo_file(Path(self.folder), name)
        path.parent.mkdir(exist_ok=True)
        write_whole(path, in_a_row(squeezed(one)))
        return Record(*known, "success", len(one.labels))


def demo_file(folder: Path, name: str) -> Path:
    """What is learned of an episode of a round, in the folder of its run."""
    return folder / DEMOS / f"{file_stem(name)}.demo"


def round_folder(run: Path, number: int) -> Path:
    """Of a training run's first, second, … round."""
    return run / FOLDER / f"round-{number:03d}"


def round_names(source: ControlSource, how: DaggerRecipe, number: int) -> list[str]:
    """The episodes of a round."""
    begin = FIRST + (number - 1) * how.episodes
    return [source.name(k) for k in range(begin, begin + how.episodes)]


def played_round(
    run: Path, number: int, source: ControlSource, how: DaggerRecipe, device: str, save: Callable[[Path], None]
) -> list[ControlDemonstration]:
    """What is learned of a round: of the one that is there already, or of one that is played now by the weights that ``save`` writes."""
    folder = round_folder(run, number)
    if not (folder / KEPT).exists():
        weights = folder / "policy.safetensors"
        if not weights.exists():
            save(weights)
        plan = Plan(f"learned:{weights}?device={device}", tuple(round_names(source, how, number)))
        job = functools.partial(RelabellingJob, source=source, reach=how.reach)
        records = {one.episode: one for one in evaluate(plan, folder / RUN, RunSettings(), Quiet(), make_job=job).records}
        kept = [name for name in plan.names if records[name].success]
        if not kept:
            why = next((one.error for one in records.values() if one.error), "the oracle cannot go on from where the policy came to")
            raise EtudeError(f"nothing can be learned from {len(records)} episodes that the policy played itself: {why}")
        write_whole(folder / KEPT, json.dumps(kept, indent=1) + "\n")
    names: list[str] = parse_json((folder / KEPT).read_text(encoding="utf-8"))
    with ThreadPoolExecutor(cores()) as team:  # what is inflated needs no interpreter
        return list(team.map(lambda name: unsqueezed(arrays_in(demo_file(folder / RUN, name).read_bytes())), names))
