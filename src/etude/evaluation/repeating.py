"""An episode played once more from its actions, for those who want to look: only what is kept costs pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.pose import Array

Noting = Callable[[tuple[str, str]], None]
"""Told after every control step what is being done: the sub-task and the step, in words."""


def repeated(
    episode: Episode,
    actions: Iterable[Array],
    words: Sequence[tuple[str, str]],
    onlookers: Sequence[Callable[[Simulation], Noting]],
    before: Callable[[Simulation], None] | None = None,
) -> None:
    """Do what came ``before`` the first action, call the onlookers, and carry out the actions. The robot is always seen."""
    simulation = Simulation(with_robot_seen(episode))
    if before is not None:
        before(simulation)
    noting = [begin(simulation) for begin in onlookers]
    said = ("", "")

    def beat() -> None:
        for note in noting:
            note(said)

    simulation.heartbeat = beat
    try:
        for action, said in zip(actions, words, strict=True):  # noqa: B007  (read by ``beat``)
            simulation.step(action)
    finally:
        simulation.heartbeat = None  # or simulation and onlookers, with all their pictures, would hold each other for a long time


def with_robot_seen(episode: Episode) -> Episode:
    """The same episode for people, who want to see the robot where cameras do not."""
    assert episode.scene.robot is not None
    return replace(episode, scene=replace(episode.scene, robot=replace(episode.scene.robot, visible=True)))


def main_camera(simulation: Simulation) -> str:
    """The camera that shows an onlooker most, of those that are not covered."""
    names = [camera.name for camera in simulation.episode.scene.cameras]
    return next(n for n in ("base", "render", *names) if n in names and n not in simulation.world.covered)
