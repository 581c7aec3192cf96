"""What is found in a dataset: its defects by code and place, what could not be checked because of them, and the report of it all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

CODES: dict[str, str] = {
    "meta-missing": "a file in meta/ is missing",
    "meta-unreadable": "a file in meta/ cannot be read, or holds something else",
    "version-unknown": "the version of the format is neither v3.0 nor v2.1",
    "info-missing-key": "meta/info.json lacks a key",
    "info-type": "a value in meta/info.json is of the wrong kind",
    "info-path": "a template of paths in meta/info.json cannot be filled in",
    "info-splits": "a split in meta/info.json is not a range of episodes",
    "total-wrong": "a total in meta/info.json is not what there is",
    "feature-invalid": "the description of a feature is wrong, or one that every dataset has is missing",
    "feature-names": "a feature has more or fewer names than numbers, or no proper ones",
    "video-info": "what is said about a video contradicts its feature or the frame rate",
    "modality-wrong": "meta/modality.json names what is not there",
    "tasks-order": "the rows of tasks are not 0, 1, 2, … in this order",
    "tasks-repeated": "two tasks have the same text",
    "episodes-column": "the table of episodes lacks a column",
    "episode-invalid": "the row of an episode holds a value of the wrong kind",
    "episode-order": "the rows of episodes are not 0, 1, 2, … in this order",
    "episode-place": "a row says that it is in another file than it is",
    "episode-task": "a task of an episode is not among the tasks",
    "dataset-index": "dataset_from_index and dataset_to_index do not follow from the lengths",
    "file-order": "episodes are not in the order of the files they are in",
    "data-missing": "a table of frames is missing",
    "data-orphan": "a table of frames belongs to no episode",
    "data-unreadable": "a table of frames cannot be read",
    "column-missing": "a feature has no column",
    "column-unknown": "a column has no feature (LeRobot refuses to load it)",
    "column-type": "a column is not of the type of its feature",
    "column-shape": "a column is not of the shape of its feature",
    "huggingface-schema": "a table with images lacks the schema for Hugging Face's datasets",
    "row-groups": "row groups are not episodes",
    "rows-wrong": "a table has more or fewer rows than its episodes",
    "length-wrong": "an episode has more or fewer rows than its length",
    "episode-index": "episode_index is not that of the episode",
    "frame-index": "frame_index does not count 0, 1, 2, …",
    "index-gap": "index does not count on",
    "timestamp-drift": "timestamp is not frame_index / fps",
    "task-index": "task_index is not that of a task",
    "task-mismatch": "the tasks of the frames are not those of the episode",
    "value-null": "a value is missing",
    "value-not-finite": "a number is not finite",
    "image-unreadable": "an image cannot be decoded",
    "image-size": "an image is not of the size of its feature",
    "language-role": "a language row has no proper role",
    "language-style": "a language row has a style that does not belong into its column",
    "language-camera": "a language row has a camera and must not, or the other way round",
    "language-timestamp": "a language row begins outside of its episode",
    "language-broadcast": "language_persistent differs within an episode",
    "language-content": "a language row says nothing, or its tool calls are not JSON",
    "stats-missing": "statistics are missing",
    "stats-invalid": "statistics are not numbers of the right shape",
    "stats-wrong": "statistics are not those of the data",
    "stats-picture": "statistics of pictures are impossible",
    "video-missing": "a video is missing",
    "video-orphan": "a video belongs to no episode",
    "video-unreadable": "a video cannot be read",
    "video-fps": "a video runs at another rate",
    "video-start": "from_timestamp is not where the episode before ends",
    "video-span": "to_timestamp − from_timestamp is not the length of the episode",
    "video-short": "a video has fewer frames than the episode",
    "video-long": "a video has more frames than its episodes",
    "video-timestamps": "a frame of a video is not shown when it should be",
    "video-size": "a video is not of the size of its feature",
    "video-undecodable": "a frame of a video cannot be decoded",
    "etude-missing": "there is meta/etude.json without etude/, or the other way round",
    "etude-unreadable": "a table in etude/ or one of its rows cannot be read",
    "etude-rows": "etude/ has not one row for each episode, in their order",
    "etude-episode": "the JSON of an episode is not an episode",
    "etude-id": "the name or id of a row is not that of its episode",
    "etude-length": "something in a row has not the length of the episode",
    "etude-actions": "the exact actions are not those of the frames",
    "etude-state": "the exact proprioception is not that of the frames",
    "etude-label": "a column of numbered names does not tell the hand or the primitive of the episode",
    "etude-tokens": "crops and boxes of objects are not those of the pictures",
    "etude-task": "the instruction is not the task of the episode",
    "etude-names": "meta/etude.json names other episodes",
    "etude-failures": "meta/etude.json names a kept episode among the failures",
    "etude-facts": "a row or meta/etude.json contradicts meta/info.json, or lacks a key",
    "lerobot-load": "LeRobot cannot load it",
    "check-failed": "a check broke down on what it found",
}


@dataclass(frozen=True)
class Defect:
    """One thing that is wrong: what kind it is (see :data:`CODES`), where it is, and what is the matter, in a sentence."""

    code: str
    where: str
    text: str


@dataclass(frozen=True)
class Report:
    """All that was found. ``skipped``: checks that could not be made, and why. ``counts``: episodes, frames, tasks, videos."""

    folder: Path
    version: str
    defects: tuple[Defect, ...]
    skipped: tuple[str, ...]
    counts: Mapping[str, int]

    @property
    def ok(self) -> bool:
        """Nothing is wrong with what was checked."""
        return not self.defects

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "folder": str(self.folder),
            "version": self.version,
            "ok": self.ok,
            "counts": dict(self.counts),
            "defects": [asdict(d) for d in self.defects],
            "skipped": list(self.skipped),
        }


class Findings:
    """Collects what is found in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.defects: list[Defect] = []
        self.skipped: list[str] = []

    def add(self, code: str, where: Path | str, text: str, episode: int | None = None, frame: int | None = None) -> None:
        """Note a defect in a file, of an episode and a frame where it has one."""
        if code not in CODES:
            raise KeyError(code)
        place = self.place(where)
        place += "" if episode is None else f", episode {episode}"
        place += "" if frame is None else f", frame {frame}"
        self.defects.append(Defect(code, place, text))

    def skip(self, what: str, why: str) -> None:
        """Note that something was not checked."""
        line = f"{what}: {why}"
        if line not in self.skipped:
            self.skipped.append(line)

    def place(self, where: Path | str) -> str:
        """A path as it is shown: from the dataset's folder on."""
        if isinstance(where, Path) and where.is_relative_to(self.folder):
            return where.relative_to(self.folder).as_posix()
        return str(where)


def shown(value: Any) -> str:
    """A value in a sentence, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def reason(error: BaseException) -> str:
    """Why something failed, in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:157] + "…"
