"""A plan worked off into a folder: started, resumed, extended. Results depend on names alone: not on workers, order or machine."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from etude import machine
from etude.decisions.trial import Trial
from etude.episodes import Episode
from etude.evaluation.plan import Plan, refuse_foreign_modes
from etude.evaluation.play import Players
from etude.evaluation.record import Record
from etude.evaluation.sitting import introduce, joined, refuse_other_standards
from etude.evaluation.store import KEPT, Run, Store, merged, read_run
from etude.evaluation.worker import KEEP, Job, Keep
from etude.foreign import UnmadeEpisode
from etude.library import find
from etude.names import EpisodeName, EtudeError, unknown
from etude.plugins import named
from etude.policies.contract import Contract, converted, refuse_mismatches
from etude.policies.loading import halves_of
from etude.scene.viewpoints import own_camera

if TYPE_CHECKING:
    from etude.evaluation.robot_play import RobotExecutor

_log = logging.getLogger(__name__)
EXECUTORS = ("local", "ray")
SYNC = 1.0  # seconds between writes to the disk itself; a crash of the machine loses no more than that


class Executor(Protocol):
    """Something that plays episodes: on this machine, or on a cluster."""

    def hello(self) -> dict[str, Any]:
        """What policy and planner ask for (``contracts``), and what they are made of (``code``)."""

    def play(self, items: Iterable[tuple[str, str]]) -> Iterator[Record]:
        """Records in whatever order the episodes end."""


@dataclass(frozen=True)
class RunSettings:
    """How a plan is worked off; none of it can change a result.

    ``allow_mixed``: go on although the policy's code has changed, and mark the run. ``gpus``: for each worker of a cluster, also a part of
    one. ``plugins``: modules that workers import first. ``camera``: the one that videos are recorded with, by name or one's own.
    """

    workers: int = 0
    timeout: float = 600.0
    memory: float | None = None
    keep: Keep = "none"
    executor: str = "local"
    address: str = ""
    retry_errors: bool = False
    allow_mixed: bool = False
    gpus: float = 0.0
    plugins: tuple[str, ...] = field(default_factory=named)
    camera: str = ""

    def __post_init__(self) -> None:
        for what, value, valid in (("executor", self.executor, EXECUTORS), ("value of --record", self.keep, KEEP)):
            if value not in valid:
                raise unknown(what, value, valid)
        for option, idle in (("--ray-address", self.address), ("--gpus", self.gpus)):
            if idle and self.executor != "ray":
                raise EtudeError(f"{option} is used by --executor ray, which was not asked for")
        if self.camera and self.keep == "none":
            raise EtudeError(
                "--camera chooses the camera of videos: add --record failures, or all; what a policy sees stands in its contract"
            )
        own_camera(self.camera)
        if self.workers < 0:
            raise EtudeError(f"--workers must not be negative, got {self.workers}")
        if not self.timeout > 0:
            raise EtudeError(f"--timeout must be more than 0 seconds, got {self.timeout:g}")
        if self.memory is not None and not self.memory > 0:
            raise EtudeError(f"--memory must be more than 0 GiB, got {self.memory:g}")


class Progress(Protocol):
    """Is told how a run goes."""

    def began(self, store: Store) -> None:
        """The run is open; ``store`` says what is done and what is missing."""

    def ended(self, record: Record) -> None:
        """One more episode is over."""


class Quiet:
    """Progress that nobody looks at."""

    def began(self, store: Store) -> None:
        """Nothing is said."""

    def ended(self, record: Record) -> None:
        """Nothing is said."""


def evaluate(
    plan: Plan,
    folder: Path,
    settings: RunSettings,
    progress: Progress,
    more: int = 0,
    make_job: Callable[..., Job] = Job,
    players: Players | None = None,
    on: RobotExecutor | None = None,
) -> Run:
    """Play what the plan holds and the folder does not; gives the whole run. An interrupt loses nothing that was finished.

    ``make_job`` gives the job of a worker where more than playing is asked for. Live ``players`` play here, in this process.
    ``on`` plays them on a robot.
    """
    refuse_foreign_modes(plan)
    with Store(folder, plan) as store:
        if more and not store.missing:  # an extension that was interrupted is finished first
            store.extend(store.plan.extended(more))
        _refuse_changed(store)
        if settings.retry_errors:
            store.forget_errors()
        progress.began(store)
        if store.missing:
            refuse_other_standards(store)
            own = (plan.policy, str(folder.resolve()), plan.planner, plan.renderer, plan.patience)
            job = make_job(*own, keep=settings.keep, plugins=settings.plugins, camera=settings.camera)
            here = nullcontext(Here(job, players)) if players is not None else None
            with on or here or make_executor(job, settings, len(store.missing)) as executor:
                said = executor.hello()
                names = store.plan.names
                adapted = _told(on.adapted(names)) if on is not None else refuse_misfits(names, said["contracts"])
                if settings.camera:
                    from etude.evaluation.film import refuse_camera

                    refuse_camera(settings.camera, [s for s in _samples(names) if isinstance(s, Episode)])
                introduce(store, said["contracts"], said["code"], settings.allow_mixed, settings.plugins, adapted, said.get("robot"))
                _work_off(store, executor, progress.ended)
        store.seal()
    return read_run(folder)


class Here:
    """Plays in this process, with players that may be any live objects. What hangs or crashes here takes the run along."""

    def __init__(self, job: Job, players: Players) -> None:
        self._job, self._players = job, players

    def hello(self) -> dict[str, Any]:
        """What policy and planner ask for, and what they are made of."""
        return self._job.hello(self._players)

    def play(self, items: Iterable[tuple[str, str]]) -> Iterator[Record]:
        """Records in the order of the plan."""
        return (self._job.perform(self._players, name, mode) for name, mode in items)


def make_executor(job: Job, settings: RunSettings, episodes: int) -> AbstractContextManager[Executor]:
    """The executor of these settings, for so many episodes."""
    if settings.executor == "ray":
        from etude.evaluation.cluster import Cluster
        from etude.evaluation.ray_team import RaySettings

        return Cluster(job, RaySettings(settings.address, settings.workers, settings.gpus, settings.memory), settings.timeout)
    from etude.evaluation.local import Local

    halves = halves_of(job.policy) if settings.workers != 1 and episodes > 1 else None
    shared = halves is not None and halves.shared()
    together = 2 if shared else 1  # on each core, so that it has something to do while the other simulation waits for a decision
    workers = min(settings.workers or together * machine.cores(), episodes)
    total = machine.memory()
    memory = settings.memory or (total / workers if total else None)
    return Local(job, workers, settings.timeout, memory, shared)


def _work_off(store: Store, executor: Executor, seen: Callable[[Record], None]) -> None:
    synced = time.monotonic()
    for record in executor.play(store.missing):
        store.add(record)
        seen(record)
        if time.monotonic() - synced > SYNC:
            store.sync()
            synced = time.monotonic()


def refuse_misfits(names: Sequence[str], contracts: dict[str, Any]) -> dict[str, list[str]]:
    """Check the contracts against every task before the first step; gives what will be converted, by role, and says so."""
    samples = _samples(names)
    adapted: dict[str, list[str]] = {}
    for role, data in contracts.items():
        if data is not None:
            contract, played = Contract.from_data(data), [s for s in samples if isinstance(s, Episode)]
            refuse_mismatches(contract, played)
            if words := list(dict.fromkeys(one for episode in played for one in converted(contract, episode))):
                adapted[role] = words
    return _told(adapted)


def _samples(names: Sequence[str]) -> list[Episode | Trial]:
    """An episode of every task under every perturbation."""
    parsed = [EpisodeName.parse(name) for name in names]
    firsts = {(p.suite, p.task, p.perturbations): p for p in reversed(parsed)}
    samples: list[Episode | Trial] = []
    for name in firsts.values():  # a perturbation that does not apply is refused here
        with suppress(UnmadeEpisode):  # to be recorded as an error when its turn comes: other seeds may be whole
            samples.append(find(name))
    return samples


def _told(adapted: dict[str, list[str]]) -> dict[str, list[str]]:
    """What is converted, by role: it is said, too."""
    for role, words in adapted.items():
        _log.warning("conventions of the %s are converted: %s", role, "; ".join(words))
    return adapted


def _refuse_changed(store: Store) -> None:
    """Results are kept only for episodes that are still what they were: one of each task is looked at again."""
    firsts: dict[tuple[str, str, str], Record] = {}
    for record in store.records.values():
        parsed = record.name
        if record.outcome != "error":
            firsts.setdefault((parsed.suite, parsed.task, parsed.split), record)
    for record in firsts.values():
        if find(record.episode).id != record.id:
            raise EtudeError(f"{record.episode} is no longer the episode that {str(store.folder)!r} has results for; choose another --out")


def merge(folders: Sequence[Path], out: Path, allow_mixed: bool = False) -> Run:
    """Join shards or runs of the same policy into a new folder, with what they kept of their episodes.

    ``allow_mixed``: join them although different code of the policy has played them, and mark the run.
    """
    runs = [read_run(folder) for folder in folders]
    plan, records = merged(runs)
    info = joined(runs, plan.digest, allow_mixed)
    if (out / "plan.json").exists() and out.resolve() not in [f.resolve() for f in folders]:
        raise EtudeError(f"--out {str(out)!r} already holds a run; choose a new folder")
    with Store(out, plan) as store:
        store.write_info(info)
        for record in records:
            if record.key not in store.records:
                store.add(record)
        for folder in folders:
            for kind in KEPT:
                for path in sorted((folder / kind).glob("*")):
                    (out / kind).mkdir(exist_ok=True)
                    if not (out / kind / path.name).exists():
                        shutil.copy2(path, out / kind / path.name)
        store.seal()
    return read_run(out)
