"""How much of the time a GPU computes, as its driver counts it."""

from __future__ import annotations

import contextlib
import subprocess
import threading

import torch

EVERY = 500  # milliseconds between two looks


def card_of(device: torch.device) -> str | None:
    """How the driver calls a device."""
    return f"GPU-{torch.cuda.get_device_properties(device).uuid}" if device.type == "cuda" else None


class GpuMeter:
    """Asks ``nvidia-smi`` about a card while training goes on; says nothing where there is no card or no such program."""

    def __init__(self, card: str | None) -> None:
        self._busy: list[float] = []
        self._process: subprocess.Popen[str] | None = None
        if card is None:
            return
        ask = ["nvidia-smi", "-i", card, "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", str(EVERY)]
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(ask, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with contextlib.suppress(ValueError):  # "[N/A]" where the driver does not count
                self._busy.append(float(line) / 100)

    def idle(self) -> float | None:
        """The share of the time since the last call in which it did not compute."""
        seen = [self._busy.pop() for _ in range(len(self._busy))]
        return 1 - sum(seen) / len(seen) if seen else None

    def close(self) -> None:
        """Ask no more."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
