"""Is a folder a LeRobot dataset, v3.0 or v2.1, that its readers can rely on? Every defect is named, none is an exception.

Tables are read file by file and episode by episode, so that a dataset may be larger than memory. Datasets that ``etude demos`` made are
checked for what only they have too. The checks are in :mod:`etude.datasets.checks`; their codes in
:data:`~etude.datasets.checks.findings.CODES`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from etude.datasets.checks.findings import CODES, Defect, Findings, Report, reason
from etude.datasets.checks.info import V3, Info, check_modality, check_totals, read_info
from etude.datasets.checks.layout import DatasetLayout, read_layout
from etude.datasets.checks.ours import check_ours, is_ours
from etude.datasets.checks.stats import check_frames
from etude.datasets.checks.videos import check_videos
from etude.datasets.lerobot import arrow
from etude.names import EtudeError

__all__ = ["CODES", "Defect", "Report", "validate"]

T = TypeVar("T")


def validate(folder: Path) -> Report:
    """Check a dataset; raises only where the folder itself is not there, or pyarrow."""
    arrow()
    if not folder.is_dir():
        raise EtudeError(f"there is no folder {str(folder)!r}")
    findings = Findings(folder)
    info = _made(lambda: read_info(folder, findings), "meta/info.json", findings)
    counts = {"episodes": 0, "frames": 0, "tasks": 0, "videos": 0}
    if info is None or not info.features:
        findings.skip("everything else", "meta/info.json does not tell what there should be")
    else:
        counts |= _check(folder, info, findings)
    return Report(folder, info.version if info else "", tuple(findings.defects), tuple(findings.skipped), counts)


def _check(folder: Path, info: Info, findings: Findings) -> dict[str, int]:
    """All checks that need to know the format; gives what was counted."""
    layout = _made(lambda: read_layout(folder, info, findings), "meta", findings)
    seen, videos = None, 0
    if layout is None:
        findings.skip("frames, statistics and videos", "it cannot be told which episodes there are")
    else:
        found = layout
        _made(lambda: _check_totals(found, findings), "meta/info.json", findings)
        if info.data_path is None:
            findings.skip("frames and statistics", "meta/info.json has no data_path")
        else:
            seen = _made(lambda: check_frames(found, findings, is_ours(folder)), "data", findings)
        videos = _made(lambda: check_videos(found, findings), "videos", findings) or 0
    if info.version != V3:
        _made(lambda: check_modality(folder, info, findings), "meta/modality.json", findings)
    if is_ours(folder):
        _made(lambda: check_ours(folder, info, layout, seen, findings), "etude", findings)
    episodes = len(layout.episodes) if layout else 0
    return {"episodes": episodes, "frames": seen.rows if seen else 0, "tasks": len(layout.tasks or ()) if layout else 0, "videos": videos}


def _check_totals(layout: DatasetLayout, findings: Findings) -> None:
    info, episodes = layout.info, len(layout.episodes)
    totals = {"total_episodes": episodes, "total_frames": layout.frames, "total_tasks": None if layout.tasks is None else len(layout.tasks)}
    if info.version != V3:
        totals["total_videos"] = episodes * len(info.of("video"))
        totals["total_chunks"] = None if info.chunks is None else -(-episodes // info.chunks)
    check_totals(info, totals, findings)


def _made(check: Callable[[], T], where: str, findings: Findings) -> T | None:
    """What a check gives. Should damage that nobody thought of break it, that is a defect too, and the others go on."""
    try:
        return check()
    except Exception as error:
        findings.add("check-failed", where, f"{type(error).__name__}: {reason(error)}")
        return None


def load_with_lerobot(folder: Path) -> list[Defect]:
    """What LeRobot cannot do with a dataset. Nothing is downloaded: all of it has to be there."""
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
