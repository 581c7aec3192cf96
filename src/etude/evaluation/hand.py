"""What a robot knows without seeing: that its hand has opened or closed, or that something came into it or left it."""

from __future__ import annotations

from itertools import groupby

from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES, Episode
from etude.goals.units import Control
from etude.skills.journeys import MOVING
from etude.skills.subtasks import leaves

SETTLED = 4  # control steps for which fingers rest and touch the same things before that counts: contacts come and go


def announced(episode: Episode) -> bool:
    """Does every sub-task of the goal, but for the last, end with a change of the hand? Leaves in a row with the same words are one."""
    ends = [list(alike)[-1] for _, alike in groupby(leaves(episode.goal), key=lambda leaf: leaf.words())]
    return all(isinstance(leaf, Control) or getattr(leaf, "release", False) for leaf in ends[:-1])


class HandTransitions:
    """Tells, after every action, whether the hand or what is attached to it has changed (HiMan-Bench 3.5).

    A hand that closes and what it takes thereby are one transition. Keyposes end with the hand at rest; where actions are control steps,
    the fingers are waited for. Every other primitive takes and lets go, and so is a transition itself.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._known = self._before = self._state()
        self._opening = simulation.robot.opening()
        self._resting = 0

    @property
    def leaves_home(self) -> bool:
        """Is it open, and where an action left it? Other primitives than keyposes end where they began."""
        return not self._simulation.robot.closed and self._simulation.episode.control not in ("pick_place", "sweep")

    def _state(self) -> tuple[bool, int]:
        """Whether it is closed, and how many loose things it has hold of."""
        robot, watch = self._simulation.robot, self._simulation.monitor.watch
        held = robot.held or (watch.between_fingers() if robot.closed else None)
        return robot.closed, int(held in self._simulation.world.loose)

    def happened(self) -> bool:
        """Was the last action, or what it began, a transition? To be asked once after every action."""
        control = self._simulation.episode.control
        state, opening = self._state(), self._simulation.robot.opening()
        if control in PRIMITIVES:
            changed = control != "keypose" or state != self._known
        else:
            rests = state == self._before and abs(opening - self._opening) < MOVING
            self._resting = self._resting + 1 if rests else 0
            changed = state != self._known and self._resting >= SETTLED
        self._before, self._opening = state, opening
        if changed:
            self._known = state
        return changed
