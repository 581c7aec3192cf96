"""Episodes in parallel for one policy: simulations on all cores, decisions in batches on the device."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait

import numpy as np

from etude.evaluation.worker import one_thread
from etude.learn.packing import unpacked
from etude.learn.policy import History, LearnedPolicy
from etude.learn.simulating import Outcome, simulate
from etude.names import EtudeError


def play_all(policy: LearnedPolicy, names: Iterable[str], workers: int, together: int = 2) -> Iterator[Outcome]:
    """Play episodes on ``workers`` cores, ``together`` of them on each so that none waits for the device; outcomes as they end."""
    queue = deque(names)
    context = multiprocessing.get_context("spawn")
    team: dict[Connection, History | None] = {}
    processes = []
    try:
        with one_thread():
            for _ in range(min(len(queue), workers * together)):
                ours, theirs = context.Pipe()
                process = context.Process(target=simulate, args=(theirs, policy.recipe.model.look), daemon=True)
                process.start()
                theirs.close()
                processes.append(process)
                team[ours] = None
                ours.send_bytes(queue.popleft().encode())
        while team:
            asking: list[tuple[Connection, History]] = []
            for connection in wait(list(team)):
                assert isinstance(connection, Connection)
                try:
                    message = json.loads(connection.recv_bytes())
                    data = connection.recv_bytes() if message.get("step") is not None else b""
                except (EOFError, OSError):
                    raise EtudeError("a process that plays episodes ended before its episode did") from None
                if "error" in message:
                    raise EtudeError(message["error"])
                if not data:
                    yield Outcome(**message)
                    if queue:
                        connection.send_bytes(queue.popleft().encode())
                    else:
                        connection.close()
                        del team[connection]
                    continue
                shown = unpacked(data)
                history = team[connection] if message["step"] else policy.begin(shown.prompt, message["episode"])
                assert history is not None
                policy.look(history, shown.seen[0])
                team[connection] = history
                asking.append((connection, history))
            if asking:
                for (connection, _), action in zip(asking, policy.act_all([h for _, h in asking]), strict=True):
                    connection.send_bytes(np.asarray(action, np.float64).tobytes())
    finally:
        for process in processes:
            process.terminate()
            process.join()


@dataclass(frozen=True)
class Tally:
    """Outcomes of one task and split."""

    task: str
    split: str
    episodes: int
    successes: int
    steps: float


def tallied(outcomes: Sequence[Outcome]) -> list[Tally]:
    """Outcomes by task and split, in the order in which these first came."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        task, _, rest = outcome.episode.partition("/")[2].partition("@")
        groups.setdefault((task, rest.partition("#")[0]), []).append(outcome)
    return [
        Tally(task, split, len(found), sum(o.success for o in found), float(np.mean([o.steps for o in found])))
        for (task, split), found in groups.items()
    ]


def timed(outcomes: Iterator[Outcome]) -> tuple[list[Outcome], float]:
    """All outcomes, and the episodes played in a second."""
    begun = time.perf_counter()
    found = list(outcomes)
    return found, len(found) / (time.perf_counter() - begun)
