"""Episodes played on a Ray cluster. Each of its workers is a run of one worker, so that what goes wrong there is told as it is at home."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from etude import machine
from etude.evaluation.local import Local
from etude.evaluation.play import broken
from etude.evaluation.ray_team import Lost, RaySettings, RayTeam
from etude.evaluation.record import Record
from etude.evaluation.standards import standards
from etude.evaluation.worker import Job
from etude.names import EtudeError


class ClusterPlayer:
    """What plays on a machine of the cluster: in a process of its own, which may crash, hang or take too much memory. Without a limit
    (``memory``, GiB) it may take an even share of what its machine has."""

    def __init__(self, job: str, timeout: float, memory: float | None) -> None:
        self._job = Job.from_data(json.loads(job))
        self._local = Local(self._job, 1, timeout, memory or _even_share())

    def hello(self) -> dict[str, Any]:
        """Load the players; says what it asks for, and what has to be the same on all machines."""
        if self._job.keep != "none" and not Path(self._job.folder).is_dir():
            kept = f"--record {self._job.keep}"
            raise EtudeError(f"{kept} needs a folder that all machines of the cluster share; one has no {self._job.folder!r}")
        return {**standards(self._job.renderer), **self._local.hello()}

    def work(self, name: str, mode: str) -> str:
        """The record of one episode, as a line."""
        (record,) = self._local.play([(name, mode)])
        return record.to_line()


def _even_share() -> float | None:
    """Memory for each CPU that Ray counts on this machine, GiB."""
    ray, total = importlib.import_module("ray"), machine.memory()
    here = ray.get_runtime_context().get_node_id()
    cpus = next((node["Resources"].get("CPU", 1) for node in ray.nodes() if node["NodeID"] == here), 1)
    return total / max(1, cpus) if total else None


class Cluster:
    """Plays episodes on a Ray cluster; the policy must be installed on every machine.

    A policy that is served (``ws://…``) needs no GPU of the workers. Workers write videos and actions into the run's folder, which machines
    therefore have to share if any are kept. ``timeout``: seconds for one episode.
    """

    def __init__(self, job: Job, settings: RaySettings = RaySettings(), timeout: float = 600.0) -> None:
        made_of = (json.dumps(job.to_data()), timeout, settings.memory)
        self._team = RayTeam(ClusterPlayer, made_of, settings, f"the policy {job.policy!r}", standards(job.renderer), job.plugins)

    def hello(self) -> dict[str, Any]:
        """What the workers say of policy and planner (:meth:`Job.hello`)."""
        return self._team.hello()

    def play(self, items: Iterable[tuple[str, str]]) -> Iterator[Record]:
        """Records in the order in which the episodes end."""
        for (name, mode), answer in self._team.work_off(items):
            yield broken(name, mode, answer.reason, answer.seconds) if isinstance(answer, Lost) else Record.from_line(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._team.close()
