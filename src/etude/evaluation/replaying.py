"""Episodes of a run carried out again from the actions it kept: do they end as the run says? Nobody who acts is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.evaluation.play import beginning
from etude.evaluation.record import Outcome, Record
from etude.evaluation.store import Run
from etude.library import find
from etude.names import EtudeError, digest
from etude.policies.replay import file_stem, read_actions

HOMEWARD = ("rule", "coupled")
"""Modes in which the arm moves home between sub-tasks, which takes nothing from the policy's time."""


@dataclass(frozen=True)
class EpisodeEnd:
    """How an episode ended. ``outcome`` is None where it does not follow from what was done: a planner's words were judged."""

    outcome: Outcome | None
    steps: int
    reward: float
    progress: float
    subgoals: tuple[tuple[str, bool], ...]

    def __str__(self) -> str:
        return f"{self.outcome or 'an end'} after {self.steps} steps (progress {self.progress:g}, return {self.reward:g})"


def actions_file(run: Run, record: Record) -> Path:
    """Where a run keeps the actions of an episode."""
    return run.folder / "actions" / f"{file_stem(record.episode, record.mode)}.npz"


def sample(run: Run, records: Sequence[Record], most: int) -> tuple[Record, ...]:
    """Up to ``most`` of those whose actions were kept: successes first, drawn by a digest of all results, which nobody can choose."""
    kept = [record for record in records if actions_file(run, record).exists()]
    drawn = digest(sorted((r.id, r.mode, r.outcome, r.steps) for r in records))
    return tuple(sorted(kept, key=lambda r: (not r.success, digest([drawn, r.id, r.mode])))[:most])


def refuse_other_end(run: Run, record: Record) -> None:
    """Carry out an episode again; raise where it does not end as the run says."""
    found, told = carried_out(run, record), ended(record)
    if found == told:
        return
    where = "" if (found.outcome, found.steps) != (told.outcome, told.steps) else ", at other sub-goals"
    raise EtudeError(f"{record.episode} comes to {found}{where} when its actions are carried out again; the run says {told}")


def ended(record: Record) -> EpisodeEnd:
    """How an episode ended, as the run says."""
    parts = tuple((part.path, part.satisfied) for part in record.subgoals)
    return EpisodeEnd(None if record.mode == "offline" else record.outcome, record.steps, record.reward, record.progress, parts)


def carried_out(run: Run, record: Record) -> EpisodeEnd:
    """How it ends when its actions are carried out again in a fresh world; those after its end are too many."""
    path, found = actions_file(run, record), find(record.episode)
    if not isinstance(found, Episode):
        raise EtudeError(f"{path} has actions for {record.episode}, which is a decision")
    actions, space = read_actions(path)
    simulation = Simulation(found.under(space))
    if (before := beginning(record.mode)) is not None:
        before(simulation)
    if record.mode in HOMEWARD:
        simulation.granted = len(actions)
    reward = 0.0
    for number, action in enumerate(actions):
        if simulation.over:
            raise EtudeError(f"{record.episode} is over after {number} of the {len(actions)} actions that were kept")
        reward += simulation.step(action).reward
    status = simulation.status
    outcome: Outcome = "success" if status.satisfied else "failure"
    parts = tuple((node.path, node.status.satisfied) for node in simulation.monitor.nodes())
    told = None if record.mode == "offline" else outcome
    return EpisodeEnd(told, simulation.steps, round(reward, 6), round(status.progress, 6), parts)
