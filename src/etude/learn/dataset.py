"""Windows of demonstrations as a torch dataset."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from etude.datasets.windows import Windows


class WindowDataset(Dataset[dict[str, Any]]):
    """The windows of :class:`~etude.datasets.windows.Windows` as tensors; pictures are (…, 3, H, W) uint8, texts stay texts.

    Made for a ``DataLoader`` with workers: files are opened in the process that reads them.
    """

    def __init__(self, windows: Windows) -> None:
        self._windows = windows

    def __len__(self) -> int:
        """Number of frames."""
        return len(self._windows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """The window around a frame."""
        return {name: _tensor(name, value) for name, value in self._windows[index].items()}


def _tensor(name: str, value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if name.endswith("images"):
        value = np.ascontiguousarray(np.moveaxis(value, -1, -3))
    return torch.from_numpy(np.ascontiguousarray(value))
