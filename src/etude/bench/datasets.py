"""Speed of demonstrations: recorded, written and read, for each second of processor time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from etude.bench.extent import extent
from etude.bench.result import Result
from etude.datasets.lerobot import LeRobotV3
from etude.datasets.take import Take
from etude.datasets.taking import RecordingSpec, Rounded, recorded
from etude.datasets.windows import Windows, WindowShape
from etude.evaluation.play import Players, play
from etude.names import rng

UNIT = "per CPU second"


def bench_datasets(names: Sequence[str], seeds: int) -> list[Result]:
    """Two cameras at 128×128: demonstrations from their names, ``seeds`` of each task, to takes, and into a LeRobot dataset; then windows
    of two frames at random, from videos and from stored images."""
    cast = Players("oracle")
    cast.policy = Rounded(cast.policy)
    recorded(play(cast, names[0])[1], RecordingSpec(), "oracle")  # once, so that everything is compiled
    begun = time.process_time()
    takes = [recorded(course, RecordingSpec(), "oracle") for record, course in (play(cast, name) for name in names) if record.success]
    taken = time.process_time() - begun
    results = [Result("datasets: demonstrations recorded, two cameras at 128x128", round(len(takes) / taken, 2), UNIT)]
    with tempfile.TemporaryDirectory() as place:
        begun = time.process_time()
        folder = _written(Path(place) / "videos", takes, True)
        spent = time.process_time() - begun
        results.append(Result("datasets: demonstrations written as LeRobot v3.0", round(len(takes) / spent, 1), UNIT))
        results.append(Result("datasets: frames read from videos, windows of two", _read(folder), UNIT))
        still = [recorded(play(cast, name)[1], RecordingSpec(videos=False, images=True), "oracle") for name in names[::seeds]]
        folder = _written(Path(place) / "images", still, False)
        results.append(Result("datasets: frames read from images, windows of two", _read(folder), UNIT))
    return results


def _written(folder: Path, takes: list[Take], videos: bool) -> Path:
    folder.mkdir()
    writer = LeRobotV3(folder, videos)
    for take in takes:
        writer.add(take)
    writer.finish()
    return folder


def _read(folder: Path) -> float:
    """Frames for each second, in windows at random."""
    windows, stream, frames = Windows(folder, WindowShape(seen=2)), rng("bench/datasets", "windows"), 0
    begun = time.process_time()
    for _ in range(extent(400, 50)):
        images = windows[stream.integer(0, len(windows) - 1)]["images"]
        frames += images.shape[0] * images.shape[1]
    return round(frames / (time.process_time() - begun))
