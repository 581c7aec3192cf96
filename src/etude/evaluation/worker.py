"""What a worker does, in whatever process: load its players once, play what it is given, keep videos and actions where asked."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from etude.episodes import Episode
from etude.evaluation.code import code_of
from etude.evaluation.plan import PATIENCE
from etude.evaluation.play import Players, Trajectory, attempted, beginning
from etude.evaluation.record import Record
from etude.foreign import in_a_line
from etude.names import EtudeError, decode, encode
from etude.plugins import load_all
from etude.policies.replay import file_stem, write_actions

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a full disk, a quota and a limit on files say

Keep = Literal["none", "failures", "all"]
KEEP: tuple[Keep, ...] = ("none", "failures", "all")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Job:
    """All that a worker is told, as plain data: a plan without its names, and what to do besides playing.

    ``folder`` is the run's, ``keep`` says of which episodes videos are kept, ``plugins`` are modules to import before anything else,
    ``inference_address`` is where the process is that decides for all workers, ``camera`` the camera of videos. Where more
    than playing is asked for, a subclass says what in :meth:`perform`.
    """

    policy: str
    folder: str
    planner: str = ""
    renderer: str = "raster"
    patience: int = PATIENCE
    keep: Keep = "none"
    plugins: tuple[str, ...] = ()
    inference_address: str = ""
    camera: str = ""

    def players(self) -> Players:
        """Those who play; whatever goes wrong is one line for the user, for nothing has been played yet."""
        load_all(self.plugins)
        try:
            return Players(self.policy, self.planner, self.renderer, self.patience, self.inference_address)
        except EtudeError:
            raise
        except (Exception, SystemExit) as error:
            raise EtudeError(f"the policy {self.policy!r} cannot be loaded: {in_a_line(error)}") from error

    def perform(self, players: Players, name: str, mode: str) -> Record:
        """Play one episode, and keep what is to be kept of it."""
        record, trajectory = attempted(players, name, mode)
        if trajectory is None or trajectory.episode is None or self.keep == "none" or (self.keep == "failures" and record.success):
            return record
        try:
            return replace(record, film=self._kept(trajectory.episode, trajectory, record))
        except Exception as error:
            if isinstance(error, OSError) and error.errno in FULL:
                raise EtudeError(f"the video of {name} cannot be saved: {error.strerror}; free space and repeat the command") from None
            return replace(record, outcome="error", error=f"the film could not be kept: {in_a_line(error)}")

    def _kept(self, episode: Episode, trajectory: Trajectory, record: Record) -> str:
        """Write the actions, and a video and a view of the same trajectory; gives the video's place in the run folder."""
        from etude.evaluation.film import Filming, camera_called, film_kind
        from etude.evaluation.repeating import repeated
        from etude.evaluation.view import Viewing, sees_robot, view_file, write_view

        stem = file_stem(record.episode, record.mode)
        folder = Path(self.folder)
        write_actions(folder / "actions" / f"{stem}.npz", trajectory.actions, episode.control)
        kind, every = film_kind()
        film = Path("films") / f"{stem}{kind}"
        filming, viewing = Filming(self.policy, every, camera_called(self.camera)), Viewing(sees_robot(episode))
        shown = episode.seen_by([self.camera])
        repeated(shown, trajectory.actions, trajectory.words, [filming.begin, viewing.begin], beginning(record.mode))
        filming.write(folder / film)
        write_view(view_file(folder, record.episode, record.mode), viewing.data(self.policy, record.outcome))
        return film.as_posix()

    def hello(self, players: Players) -> dict[str, Any]:
        """What a worker says when it has loaded its players, as plain data. All workers of a run have to say the same."""
        return {"contracts": players.contracts(), "code": code_of(players, Path(self.folder))}

    def answer(self, players: Players, name: str, mode: str) -> dict[str, str]:
        """What a worker says of one episode: the ``line`` of its record, or why the run cannot go on (``refused``)."""
        try:
            return {"line": self.perform(players, name, mode).to_line()}
        except EtudeError as error:
            return {"refused": str(error)}

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data; a worker finds the class by its module."""
        return {"module": type(self).__module__, "kind": type(self).__name__, **encode(self)}

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Job:
        """From plain JSON data."""
        given = dict(data)
        kind = getattr(importlib.import_module(given.pop("module")), given.pop("kind"))
        found: Job = decode(kind, given, "job")
        return found


def _refuse_unguarded() -> None:
    """Refuse to start processes from a script that each of them would run once more, when it imports it."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    try:
        guarded = script is None or "__main__" in Path(script).read_text(encoding="utf-8")
    except (OSError, ValueError):  # not a file of text: whatever has started this knows what it does
        return
    if not guarded:
        raise EtudeError(f'{script} starts worker processes, which import it again: put what it does under  if __name__ == "__main__":')


@contextmanager
def one_thread() -> Iterator[None]:
    """Processes that are started inside compute on one thread: several of them on as many cores are fastest that way."""
    _refuse_unguarded()
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
