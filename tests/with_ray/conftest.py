"""One cluster for all tests of a real Ray. ``make test-ray`` runs them."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from machines import SMALL, WATCHFUL, patiently

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


@pytest.fixture(scope="session")
def nodes() -> Iterator[Any]:
    """A cluster of one machine, which others may join."""
    from ray import cluster_utils  # make test-ray has it; who collects all tests need not

    head = {**SMALL, "include_dashboard": False, "_system_config": WATCHFUL}
    found = patiently(cluster_utils.Cluster, initialize_head=True, head_node_args=head)
    yield found
    found.shutdown()


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)  # where workers find policies and sources of these tests
