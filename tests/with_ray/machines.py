"""Machines of a cluster, all of them here. Workers import this too."""

DOOMED = "ETUDE_TEST_DOOMED"  # in the environment of a machine that will be lost
SMALL = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
# A lost machine is missed soon; workers need not stand back for other programs.
WATCHFUL = {"health_check_period_ms": 300, "health_check_initial_delay_ms": 1000, "worker_niceness": 0}
