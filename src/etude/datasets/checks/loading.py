"""The last check: LeRobot itself loads the data set, and gives the first and the last frame of every episode."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from etude.datasets.checks.findings import Defect, reason
from etude.names import EtudeError


def load_with_lerobot(folder: Path) -> list[Defect]:
    """What LeRobot cannot do with a data set. Nothing is downloaded: all of it has to be there."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # what is missing shall not be looked for elsewhere
    try:
        reader = importlib.import_module("lerobot.datasets.lerobot_dataset").LeRobotDataset
    except ImportError as error:
        raise EtudeError(f"--lerobot needs LeRobot ({reason(error)}): pip install lerobot; the rest is checked without it") from None
    try:
        loaded = reader(repo_id=f"local/{folder.resolve().name}", root=folder.resolve())
        spans = [(e["dataset_from_index"], e["dataset_to_index"]) for e in loaded.meta.episodes]
    except Exception as error:  # whatever LeRobot does not like
        return [Defect("lerobot-load", ".", f"LeRobot cannot load it: {type(error).__name__}: {reason(error)}")]
    found = []
    for episode, (first, end) in enumerate(spans):
        for frame in sorted({0, end - first - 1}):
            try:
                loaded[first + frame]
            except Exception as error:
                text = f"LeRobot cannot read it: {type(error).__name__}: {reason(error)}"
                found.append(Defect("lerobot-load", f"episode {episode}, frame {frame}", text))
    return found
