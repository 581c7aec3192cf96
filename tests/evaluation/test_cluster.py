"""What is said where there is no Ray cluster to play on; ``tests/with_ray`` plays on one."""

import socket
import sys

import pytest

from etude.evaluation.cluster import Cluster
from etude.evaluation.ray_team import RaySettings
from etude.evaluation.worker import Job
from etude.names import EtudeError

JOB = Job("oracle", "unused")


def test_no_cluster_is_one_line_that_says_how_to_start_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(EtudeError) as refused, Cluster(JOB, RaySettings(address)):
            pass
    assert str(refused.value).startswith(f"there is no Ray cluster at '{address}': start one with 'ray start --head'")
    assert "\n" not in str(refused.value)


def test_an_address_that_is_none_is_refused_in_one_line() -> None:
    with pytest.raises(EtudeError) as refused, Cluster(JOB, RaySettings("nonsense")):
        pass
    assert str(refused.value) == "the Ray cluster 'nonsense' cannot be used: Invalid address format: nonsense"


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EtudeError, match=r"needs the extra 'ray': pip install 'etude\[ray\]'"), Cluster(JOB):
        pass


@pytest.mark.parametrize("gpus", [-1.0, 1.5])
def test_gpus_are_a_part_of_one_or_whole_ones(gpus: float) -> None:
    with pytest.raises(EtudeError, match=f"--gpus is a part of one, or a whole number of them, got {gpus:g}"):
        RaySettings(gpus=gpus)
