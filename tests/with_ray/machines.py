"""Machines of a cluster, all of them here. Workers import this too."""

from collections.abc import Callable
from typing import Any

DOOMED = "ETUDE_TEST_DOOMED"  # in the environment of a machine that will be lost
SMALL = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
# A lost machine is missed soon; workers need not stand back for other programs.
WATCHFUL = {"health_check_period_ms": 300, "health_check_initial_delay_ms": 1000, "worker_niceness": 0}


def patiently(start: Callable[..., Any], **settings: Any) -> Any:
    """Start a machine. Ray gives itself some seconds for that, which are not enough on a busy one: then it is tried again."""
    for _ in range(5):
        try:
            return start(**settings)
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    return start(**settings)
