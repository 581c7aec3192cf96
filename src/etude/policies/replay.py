"""Actions that were kept, played again. Runs keep them with ``--record``; ``replay:RUN`` is the policy that repeats them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from etude.episodes import PRIMITIVES, ActionSpace
from etude.names import EtudeError, digest, unknown
from etude.policies.contract import Contract
from etude.policies.policy import Observation, Picture
from etude.pose import Array

SPACES: tuple[ActionSpace, ...] = ("ee_delta", "ee_pose", "joint", "pick_place", "sweep", "keypose")


def file_stem(episode: str, mode: str = "vanilla") -> str:
    """A file name for what is kept of an episode: readable, and different for different episodes."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '.', episode)}.{mode.replace(':', '-')}-{digest([episode, mode], 8)}"


def write_actions(path: Path, actions: Sequence[Array], action: ActionSpace) -> None:
    """Keep the actions (T, D) of an episode, to the last bit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, actions=np.array(actions, np.float64), space=np.array(action))


def read_actions(path: Path) -> tuple[Array, ActionSpace]:
    """Actions (T, D) and the space they are in."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            actions, space = np.asarray(kept["actions"], float), str(kept["space"])
    except (OSError, ValueError, KeyError) as error:
        raise EtudeError(f"{path} does not hold the actions of an episode ({error})") from None
    for known in SPACES:
        if space == known:
            return actions, known
    raise unknown(f"action space in {path}", space, SPACES)


class ReplayPolicy:
    """Repeats the actions that a run kept. It sees nothing; the same episode and the same actions give the same end."""

    def __init__(self, run: str) -> None:
        self._folder = Path(run) / "actions"
        kept = sorted(self._folder.glob("*.npz"))
        if not kept:
            raise EtudeError(f"{run!r} has no recorded actions to replay; record them with 'etude evaluate --record all'")
        space = read_actions(kept[0])[1]  # primitives are each task's own
        self.contract = Contract.etude(None if space in PRIMITIVES else space, chunk=100_000)

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """Take out the actions of this episode."""
        path = self._folder / f"{file_stem(episode)}.npz"
        if not path.exists():
            raise EtudeError(f"no actions of {episode} were recorded in {self._folder}")
        self._actions = read_actions(path)[0]
        self._given = False

    def act(self, observation: Observation) -> Array:
        """All of them at once."""
        if self._given:
            raise EtudeError(f"the recording ends after {len(self._actions)} steps, and the episode has not")
        self._given = True
        return self._actions
