"""What a worker does, in whatever process: load the cast once, play what it is given, keep films and actions where asked."""

from __future__ import annotations

import errno
import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from etude.episodes import Episode
from etude.evaluation.code import code_of
from etude.evaluation.play import Players, Trajectory, Work, attempted
from etude.evaluation.record import Record
from etude.names import EtudeError, decode, unknown
from etude.policies.calling import in_a_line
from etude.policies.replay import file_stem, write_actions

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a full disk, a quota and a limit on files say

Keep = Literal["none", "failures", "all"]
KEEP: tuple[Keep, ...] = ("none", "failures", "all")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Job:
    """All a worker has to know, as plain data. ``folder`` is the run's, ``keep`` which episodes are filmed.

    ``performer`` ("module:function") takes the place of :func:`perform`, where more than playing is asked for; ``how`` is a text for it.
    """

    work: Work
    folder: str
    keep: Keep = "none"
    performer: str = ""
    how: str = ""

    def __post_init__(self) -> None:
        if self.keep not in KEEP:
            raise unknown("value of --record", self.keep, KEEP)

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Job:
        """From plain JSON data."""
        found: Job = decode(cls, dict(data), "job")
        return found


@contextmanager
def one_thread() -> Iterator[None]:
    """Processes that are started inside compute on one thread: several of them on as many cores are fastest that way."""
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


def load_cast(job: Job) -> Players:
    """The cast of a job; whatever goes wrong is one line for the user, for nothing has been played yet."""
    try:
        return Players(job.work)
    except EtudeError:
        raise
    except (Exception, SystemExit) as error:
        raise EtudeError(f"the policy {job.work.policy!r} cannot be loaded: {in_a_line(error)}") from error


def hello(cast: Players, job: Job) -> dict[str, Any]:
    """What a worker says when it has loaded its cast, as plain data. All workers of a run have to say the same."""
    return {"contracts": cast.contracts(), "code": code_of(cast, Path(job.folder))}


def answer(cast: Players, job: Job, name: str, mode: str) -> dict[str, str]:
    """What a worker says of one episode: the ``line`` of its record, or why the run cannot go on (``refused``)."""
    try:
        return {"line": perform(cast, job, name, mode).to_line()}
    except EtudeError as error:
        return {"refused": str(error)}


def perform(cast: Players, job: Job, name: str, mode: str) -> Record:
    """Play one episode, and keep what is to be kept of it."""
    if job.performer:
        module, _, function = job.performer.partition(":")
        performed: Record = getattr(importlib.import_module(module), function)(cast, job, name, mode)
        return performed
    record, course = attempted(cast, name, mode)
    if course is None or course.episode is None or job.keep == "none" or (job.keep == "failures" and record.success):
        return record
    try:
        return replace(record, film=_kept(course.episode, course, job, name, mode))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise EtudeError(f"the film of {name} cannot be kept: {error.strerror}; make room, and the same command goes on") from None
        return replace(record, outcome="error", error=f"the film could not be kept: {in_a_line(error)}")


def _kept(episode: Episode, course: Trajectory, job: Job, name: str, mode: str) -> str:
    """Write the actions, and a film of the same course; gives the film's place in the run folder."""
    from etude.evaluation.film import film_kind, filmed

    stem = file_stem(name, mode)
    folder = Path(job.folder)
    write_actions(folder / "actions" / f"{stem}.npz", course.actions, episode.control)
    film = Path("films") / f"{stem}{film_kind()}"
    filmed(episode, course.actions, course.words, job.work.policy, folder / film)
    return film.as_posix()
