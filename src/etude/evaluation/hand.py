"""What a robot knows without seeing: that its hand has opened or closed, or that something came into it or left it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import NamedTuple

from etude.envs.simulation import Simulation
from etude.episodes import PRIMITIVES, ActionSpace, Episode
from etude.goals.units import Control
from etude.skills.keypose_motion import MOVING
from etude.skills.subtasks import leaves

SETTLED = 4  # control steps for which fingers rest and touch the same things before that counts: contacts come and go


def announced(episode: Episode) -> bool:
    """Does every sub-task of the goal, but for the last, end with a change of the hand? Leaves in a row with the same words are one."""
    ends = [list(alike)[-1] for _, alike in groupby(leaves(episode.goal), key=lambda leaf: leaf.words())]
    return all(isinstance(leaf, Control) or getattr(leaf, "release", False) for leaf in ends[:-1])


class FeltHand(NamedTuple):
    """What a hand knows of itself: whether it is closed, how many loose things it has hold of, and how far it is open (m)."""

    closed: bool
    holds: int
    opening: float


def simulated_hand(simulation: Simulation) -> Callable[[], FeltHand]:
    """The hand of a simulation, as it feels whenever it is asked."""

    def felt() -> FeltHand:
        robot, watch = simulation.robot, simulation.monitor.watch
        held = robot.held or (watch.between_fingers() if robot.closed else None)
        return FeltHand(robot.closed, int(held in simulation.world.loose), robot.opening())

    return felt


class HandTransitions:
    """Tells, after every action, whether the hand or what is attached to it has changed (HiMan-Bench 3.5).

    A hand that closes and what it takes thereby are one transition. Keyposes end with the hand at rest; where actions are control steps,
    the fingers are waited for. Every other primitive takes and lets go, and so is a transition itself.
    """

    def __init__(self, control: ActionSpace, felt: Callable[[], FeltHand]) -> None:
        self._control, self._felt = control, felt
        self._before = felt()
        self._known = self._before[:2]
        self._resting = 0

    @property
    def leaves_home(self) -> bool:
        """Is it open, and where an action left it? Other primitives than keyposes end where they began."""
        return not self._felt().closed and self._control not in ("pick_place", "sweep")

    def happened(self) -> bool:
        """Was the last action, or what it began, a transition? To be asked once after every action."""
        now = self._felt()
        if self._control in PRIMITIVES:
            changed = self._control != "keypose" or now[:2] != self._known
        else:
            rests = now[:2] == self._before[:2] and abs(now.opening - self._before.opening) < MOVING
            self._resting = self._resting + 1 if rests else 0
            changed = now[:2] != self._known and self._resting >= SETTLED
        self._before = now
        if changed:
            self._known = now[:2]
        return changed
