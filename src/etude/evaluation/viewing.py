"""Views of what was played: of single episodes, and of runs, which keep some and play the others again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from etude.envs.simulation import Simulation
from etude.evaluation.play import Players, Trajectory, beginning, play
from etude.evaluation.record import Record
from etude.evaluation.repeating import Noting, repeated
from etude.evaluation.store import Run, same_result
from etude.evaluation.view import PERIOD, read_view, view_file, viewed
from etude.names import EtudeError, unknown
from etude.render.gltf import glb
from etude.scene.capture import Capture


def episode_view(players: Players, name: str, mode: str = "vanilla") -> tuple[dict[str, Any], Record]:
    """An episode played by these players, to walk around in, and what became of it."""
    record, trajectory = play(players, name, mode)
    if trajectory.episode is None:
        raise _worldless(name)
    done = viewed(trajectory.episode, trajectory.actions, trajectory.words, players.address, record.outcome, beginning(mode))
    return done, record


def episode_model(players: Players, name: str, mode: str = "vanilla") -> tuple[bytes, Trajectory]:
    """An episode played by these players as a moving model (binary glTF), and what was done."""
    _, trajectory = play(players, name, mode)
    if trajectory.episode is None:
        raise _worldless(name)
    captures: list[Capture] = []

    def begin(simulation: Simulation) -> Noting:
        captures.append(Capture(simulation.world))
        captures[0].take()
        return lambda words: captures[0].take()

    repeated(trajectory.episode, trajectory.actions, trajectory.words, [begin], beginning(mode))
    return glb(captures[0], PERIOD, name), trajectory


def _worldless(name: str) -> EtudeError:
    return EtudeError(f"{name} is a decision without a world to walk around in; 'etude show' has its frames")


def run_views(run: Run, names: Sequence[str], most: int, tell: Callable[[str], None]) -> list[dict[str, Any]]:
    """Views of the episodes of a run that are named; without names of up to ``most``, those that failed first.

    What was kept is shown as it was. The rest is played again by the run's policy, and said to be where it ends otherwise than it did.
    """
    played = [record for record in run.records if record.outcome != "error"]
    for name in names:
        if name not in {record.episode for record in played}:
            raise unknown(f"episode of {run.folder}", name, (record.episode for record in played))
    kept = {record.key for record in played if view_file(run.folder, *record.key).exists()}
    wanted = [r for r in played if r.episode in names] if names else sorted(played, key=lambda r: (r.key not in kept, r.success))[:most]
    if not wanted:
        raise EtudeError(f"{str(run.folder)!r} has no episode that was played to its end")
    players: Players | None = None
    found = []
    for record in wanted:
        if record.key in kept:
            found.append(read_view(view_file(run.folder, *record.key)))
            continue
        tell(f"{record.episode} was not recorded, and is played again")
        players = players or Players(run.plan.policy, run.plan.planner or None, run.plan.renderer, run.plan.patience)
        view, again = episode_view(players, record.episode, record.mode)
        if not same_result(record, again):
            ended = f"{again.outcome} after {again.steps} steps, not {record.outcome} after {record.steps}"
            tell(f"{record.episode} ends otherwise than in the run: {ended}")
        found.append(view)
    return found
