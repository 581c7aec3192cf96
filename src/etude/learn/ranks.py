"""Several processes that train one model together, each on a GPU of its own, as ``torchrun`` starts them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from types import TracebackType
from typing import Self

import torch
from torch import Tensor, distributed

from etude.names import EtudeError

PATIENCE = timedelta(hours=2)  # the first validates while the others wait


def local_count() -> int:
    """How many there are on this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


class Ranks:
    """Which of how many this process is. One that was started alone is the first of one, and has nobody to agree with."""

    def __init__(self, device: torch.device | None = None) -> None:
        self.number, self.count = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        self.device = device or torch.device("cpu")
        if self.count == 1:
            return
        if self.device.type == "cuda":
            place = int(os.environ.get("LOCAL_RANK", "0"))
            if place >= torch.cuda.device_count():
                raise EtudeError(f"process {place} of this machine has no GPU of its own: there are {torch.cuda.device_count()}")
            self.device = torch.device("cuda", place)
            torch.cuda.set_device(self.device)
        distributed.init_process_group("cpu:gloo,cuda:nccl" if self.device.type == "cuda" else "gloo", timeout=PATIENCE)

    def least(self, *values: float) -> list[float]:
        """The least that any of them has, value by value."""
        if self.count == 1:
            return list(values)
        agreed = torch.tensor(values, dtype=torch.float64)
        distributed.all_reduce(agreed, distributed.ReduceOp.MIN)
        found: list[float] = agreed.tolist()
        return found

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Put the sum over all of them in the place of each tensor."""
        if self.count == 1:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        distributed.all_reduce(flat)
        for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(part.view_as(tensor))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.count > 1:
            distributed.destroy_process_group()
