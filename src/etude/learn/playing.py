"""Episodes in parallel for one policy: simulations on all cores, decisions in batches on the device."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterable, Iterator
from itertools import islice
from multiprocessing.connection import Connection, wait

import numpy as np

from etude.evaluation.worker import one_thread
from etude.learn.packing import unpacked
from etude.learn.policy import History, LearnedPolicy
from etude.learn.simulating import PlayedEpisode, simulate
from etude.names import EtudeError


def play_all(policy: LearnedPolicy, names: Iterable[str], workers: int, together: int = 2) -> Iterator[PlayedEpisode]:
    """Play episodes on ``workers`` cores, ``together`` of them on each so that none waits for the device; outcomes as they end."""
    queue = iter(names)
    context = multiprocessing.get_context("spawn")
    team: dict[Connection, History | None] = {}
    processes = []
    try:
        with one_thread():
            for name in islice(queue, workers * together):
                ours, theirs = context.Pipe()
                process = context.Process(target=simulate, args=(theirs, policy.recipe.model.look), daemon=True)
                process.start()
                theirs.close()
                processes.append(process)
                team[ours] = None
                ours.send_bytes(name.encode())
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
                    yield PlayedEpisode(**message)
                    following = next(queue, None)
                    if following is not None:
                        connection.send_bytes(following.encode())
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
