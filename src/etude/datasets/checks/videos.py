"""Videos: are all frames of every episode there, shown when they should be, of the right size, and can they be decoded?"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from etude.datasets.checks.findings import Findings, reason
from etude.datasets.checks.frames import CLOSE
from etude.datasets.checks.info import Feature
from etude.datasets.checks.layout import Clip, DatasetLayout, EpisodeRow
from etude.datasets.video import frames_of, timestamps

Times = NDArray[np.float64]


def check_videos(layout: DatasetLayout, findings: Findings) -> int:
    """Check all videos; gives how many there are."""
    info, count = layout.info, 0
    features = info.of("video")
    if not features:
        return 0
    if info.fps is None or info.video_path is None:
        findings.skip("videos", "meta/info.json does not tell their rate or where they are")
        return 0
    if importlib.util.find_spec("av") is None:
        findings.skip("videos", "they need PyAV: pip install 'etude[datasets]'")
        return 0
    for feature in features:
        for path, entries in layout.videos(feature.name).items():
            if not path.is_file():
                findings.add("video-missing", path, f"there is no such file, but episode {entries[0].index} is in it")
                continue
            count += 1
            try:
                times = np.array([float(t) for t in timestamps(path)])
            except Exception as error:  # whatever a damaged file makes of the reader
                findings.add("video-unreadable", path, f"it cannot be read: {reason(error)}")
                continue
            Video(path, feature, info.fps, times, findings).check(entries)
    return count


class Video:
    """One video, whose frames are shown at ``times``."""

    def __init__(self, path: Path, feature: Feature, fps: int, times: Times, findings: Findings) -> None:
        self.path, self.feature, self.fps, self.times, self.findings = path, feature, fps, times, findings
        self.sized = False

    def check(self, entries: Sequence[EpisodeRow]) -> None:
        """Check the clips of its episodes, which follow each other without gaps."""
        if not self.times.size:
            self.findings.add("video-unreadable", self.path, "there is no frame in it")
            return
        step = float(np.median(np.diff(self.times))) if self.times.size > 1 else 1 / self.fps
        if abs(step - 1 / self.fps) > CLOSE:
            self.findings.add("video-fps", self.path, f"a frame is shown for {step:.6g} s, not for 1/{self.fps} s")
            return
        reached, half = 0.0, 0.5 / self.fps
        for entry in entries:
            clip = entry.clips[self.feature.name]
            if abs(clip.start - reached) > half:
                text = f"from_timestamp is {clip.start:.6g}, but the episode before ends at {reached:.6g}"
                self.findings.add("video-start", self.path, text, entry.index)
            elif abs(clip.stop - clip.start - entry.length / self.fps) > half:
                text = f"it is from {clip.start:.6g} to {clip.stop:.6g} s, but {entry.length} frames take {entry.length / self.fps:.6g} s"
                self.findings.add("video-span", self.path, text, entry.index)
            elif self._shown(clip, entry):
                self._decoded(clip, entry)
            reached = clip.stop
        beyond = int((self.times > reached - half).sum())
        if beyond:
            self.findings.add("video-long", self.path, f"{beyond} frames come after the last episode")

    def _shown(self, clip: Clip, entry: EpisodeRow) -> bool:
        """Is every frame of an episode there, at its time?"""
        half = 0.5 / self.fps
        times = self.times[(self.times > clip.start - half) & (self.times < clip.stop - half)]
        if len(times) != entry.length:
            code = "video-short" if len(times) < entry.length else "video-long"
            text = f"it has {len(times)} frames from {clip.start:.6g} to {clip.stop:.6g} s, but the episode {entry.length}"
            self.findings.add(code, self.path, text, entry.index)
            return False
        wanted = clip.start + np.arange(entry.length) / self.fps
        late = np.flatnonzero(np.abs(times - wanted) > CLOSE)
        if late.size:
            k = int(late[0])
            text = f"it is shown at {times[k]:.6f} s, not at {wanted[k]:.6f} s ({late.size} frames are off)"
            self.findings.add("video-timestamps", self.path, text, entry.index, k)
        return not late.size

    def _decoded(self, clip: Clip, entry: EpisodeRow) -> None:
        """Decode the first and the last frame of an episode."""
        begin = round(clip.start * self.fps)
        for frame in sorted({0, entry.length - 1}):
            try:
                pixels = next(frames_of(self.path, begin + frame, 1, self.fps), None)
            except Exception as error:  # whatever a damaged file makes of the reader
                self.findings.add("video-undecodable", self.path, reason(error), entry.index, frame)
                continue
            if pixels is None:
                self.findings.add("video-undecodable", self.path, "the decoder gives nothing", entry.index, frame)
            elif pixels.shape[:2] != self.feature.size and not self.sized:
                self.sized = True
                (height, width), (tall, wide) = pixels.shape[:2], self.feature.size
                self.findings.add("video-size", self.path, f"it is {width}×{height}, its feature {wide}×{tall}", entry.index, frame)
