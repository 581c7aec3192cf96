"""How many cores and how much memory there are for us: not what the machine has, but what this process may use of it."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from etude import machine
from etude.cgroups import CPU, MEMORY, limit
from etude.evaluation.local import Local
from etude.evaluation.run import RunSettings, make_executor
from etude.evaluation.worker import Job

V1 = "24 18 0:30 {top} /sys/fs/cgroup/{name} rw,relatime - cgroup cgroup rw,{name}\n"
V2 = "24 18 0:30 {top} /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
UNLIMITED = 9223372036854771712  # what version 1 says when there is no limit
CASES = {
    # name: (lines of /proc/self/cgroup, mounts, files below /sys/fs/cgroup, cores, bytes)
    "version 2, as a container sees it": (
        "0::/", V2.format(top="/"), {"cpu.max": "150000 100000", "memory.max": "1073741824"}, 1.5, 2**30,
    ),
    "version 2, no limits": ("0::/", V2.format(top="/"), {"cpu.max": "max 100000", "memory.max": "max"}, math.inf, math.inf),
    "version 2, the tighter limit is further up": (
        "0::/slurm/job_7/step_0", V2.format(top="/"),
        {"slurm/job_7/cpu.max": "400000 100000", "slurm/job_7/memory.max": "2147483648", "slurm/job_7/step_0/memory.max": "max"}, 4, 2**31,
    ),
    "version 1, the controllers mounted one by one": (
        "4:memory:/jobs/a\n2:cpu:/jobs/a\n0::/", V1.format(top="/", name="cpu") + V1.format(top="/", name="memory"),
        {"cpu/jobs/a/cpu.cfs_quota_us": "300000", "cpu/jobs/a/cpu.cfs_period_us": "100000", "memory/jobs/a/memory.limit_in_bytes": "1000"},
        3, 1000,
    ),
    "version 1, in a container that is shown its own group alone": (
        "4:memory:/docker/4f2e", V1.format(top="/docker/4f2e", name="memory"), {"memory/memory.limit_in_bytes": "2000"}, math.inf, 2000,
    ),
    "version 1, no limits": (
        "4:memory:/\n2:cpu:/", V1.format(top="/", name="cpu") + V1.format(top="/", name="memory"),
        {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000", "memory/memory.limit_in_bytes": str(UNLIMITED)},
        math.inf, UNLIMITED,
    ),
    "no control groups": ("", "", {}, math.inf, math.inf),
}  # fmt: skip


@pytest.mark.parametrize("case", list(CASES))
def test_limits_of_control_groups_are_found(case: str, tmp_path: Path) -> None:
    groups, mounts, files, cores, memory = CASES[case]
    for name, text in {"proc/self/cgroup": groups, "proc/self/mountinfo": mounts}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name, text in files.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    assert limit(CPU, tmp_path) == cores
    assert limit(MEMORY, tmp_path) == memory


def test_a_system_without_proc_has_no_limits(tmp_path: Path) -> None:
    assert limit(CPU, tmp_path) == limit(MEMORY, tmp_path) == math.inf


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity of processes")
def test_a_process_that_is_bound_to_one_core_starts_one_worker() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert machine.cores() == machine.describe()["cores"] == 1
        with make_executor(Job("noop", "unused"), RunSettings(), 100) as executor:
            assert isinstance(executor, Local) and executor.workers == 1
    finally:
        os.sched_setaffinity(0, before)


def test_workers_share_the_memory_there_is() -> None:
    whole = machine.memory()
    assert whole is not None and whole * 2**30 <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") + 2**20
    with make_executor(Job("noop", "unused"), RunSettings(workers=4), 100) as executor:
        assert isinstance(executor, Local) and executor.memory == pytest.approx(whole / 4)
