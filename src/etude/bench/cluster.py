"""How evaluation grows with the machines of a Ray cluster: one of one CPU, then two, both on this machine."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Sequence
from typing import Any

from etude.bench.core import episode_ends
from etude.bench.extent import extent
from etude.bench.result import Result
from etude.evaluation.run import RunSettings
from etude.names import EtudeError

NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


def bench_cluster(names: Sequence[str]) -> list[Result]:
    """Episodes a second of wall time on two nodes of one CPU, beside one node. It says something on a quiet machine with two cores or more;
    Ray itself and what collects the records run on the same cores."""
    one: list[float] = []
    two: list[float] = []
    for _ in range(extent(3, 1)):
        nodes = _head()
        try:
            one.append(_rate(names, nodes.address, 1))
            nodes.add_node(**NODE)
            two.append(_rate(names, nodes.address, 2))
        finally:
            nodes.shutdown()
    alone, both = round(statistics.median(one), 2), round(statistics.median(two), 2)
    return [
        Result("cluster, one node of one CPU", alone, "episodes/s"),
        Result("cluster, two nodes of one CPU", both, "episodes/s", "one node", alone, round(alone / both, 3)),
    ]


def _head() -> Any:
    try:
        cluster_utils = importlib.import_module("ray.cluster_utils")
    except ModuleNotFoundError:
        raise EtudeError("this benchmark needs the extra 'ray': pip install 'etude[ray]'") from None
    return cluster_utils.Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})


def _rate(names: Sequence[str], address: str, nodes: int) -> float:
    """Episodes a second while all nodes play: without the first third, in which the last worker may still be loading, and the last ones,
    during which some have nothing left to do."""
    ends = episode_ends(names, RunSettings(executor="ray", address=address))
    whole = ends[len(ends) // 3 : len(ends) - nodes + 1]
    return (len(whole) - 1) / (whole[-1] - whole[0])
