"""Settings under which libraries choose other instructions: every one must give the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

# OpenBLAS' kernels from the oldest up, and what a CPU must have to run them.
CORES = {"Prescott": "SSE3", "Nehalem": "SSE42", "Sandybridge": "AVX", "Haswell": "AVX2", "Zen": "AVX2", "SkylakeX": "AVX512_SKX"}


def _plain() -> dict[str, str]:
    """numpy without any of the instructions among which it could choose on this CPU."""
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(f for f in __cpu_dispatch__ if __cpu_features__.get(f))}


# The setting that differs most from a new CPU.
OLDEST = {"OPENBLAS_CORETYPE": "Prescott", **_plain(), "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "7"}
SETTINGS = {
    **{f"OpenBLAS for {core}": {"OPENBLAS_CORETYPE": core} for core, needs in CORES.items() if __cpu_features__.get(needs)},
    "numpy without SIMD": _plain(),
    "numba for a generic CPU": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "one thread and another hash seed": {
        "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "PYTHONHASHSEED": "1",
    },
    "eight threads and another hash seed": {"OPENBLAS_NUM_THREADS": "8", "OMP_NUM_THREADS": "8", "PYTHONHASHSEED": "2"},
    "all of the oldest": {**OLDEST, "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
}  # fmt: skip


def digests_under(setting: dict[str, str], cases: tuple[str, ...]) -> dict[str, str]:
    """What a process under these variables finds."""
    program = "import json, sys; from etude.digests import compute; print(json.dumps(compute(json.loads(sys.argv[1]))))"
    command = [sys.executable, "-c", program, json.dumps(cases)]
    done = subprocess.run(command, env={**os.environ, **setting}, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found
