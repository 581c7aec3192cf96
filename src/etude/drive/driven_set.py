"""The folder of a dataset that people drive.

What was driven stands in ``.drive`` inside it, a small file for each episode, written the moment it is kept: from these, takes are
recorded in front of the cameras, and from the takes the dataset is written anew (:mod:`etude.drive.recorder`). So nothing that was kept
can be lost, and a set can be extended at any time. Where ``.drive`` is gone, it is made again from what the dataset itself holds.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from etude.datasets.card import OWN_CAMERAS, PERSON
from etude.datasets.columns import RecordingKind
from etude.datasets.demos import FACTS, read_facts, recording_kind
from etude.datasets.extra import extras
from etude.datasets.reader import DatasetReader
from etude.datasets.replaying import solved
from etude.datasets.taking import RecordingSpec
from etude.datasets.video import refuse_odd
from etude.drive.session import CONTROL, DrivenEpisode
from etude.evaluation.plan import read_object
from etude.evaluation.store import take_lock, write_whole
from etude.names import EtudeError, read_text, whole_number
from etude.policies.contract import RATE
from etude.scene.robots import arm
from etude.scene.viewpoints import camera_names

WORK, KEPT, TAKES, SETTING, LOCK, WRITTEN = ".drive", "kept", "takes", "setting.json", "lock", "written"
FORMAT = "lerobot"
OUTPUTS = ("README.md", "data", "etude", "meta", "videos")  # what the format is made of


@dataclass(frozen=True)
class DrivenSetting:
    """What all episodes of the set share: the arm, the cameras as they were written, and the size (width, height) of their pictures."""

    arm: str
    cameras: tuple[str, ...]
    size: tuple[int, int]

    def spec(self) -> RecordingSpec:
        """How takes are recorded."""
        return RecordingSpec(self.cameras, self.size)

    def kind(self) -> RecordingKind:
        """The kind of the dataset."""
        return RecordingKind(self.arm, CONTROL, round(RATE), len(arm(self.arm).home), camera_names(self.cameras), self.size, (), True)


def setting_of(folder: Path) -> DrivenSetting | None:
    """The setting of the set in a folder; None where none is. Refused is what holds something else."""
    if not folder.exists():
        return None
    if not folder.is_dir():
        raise EtudeError(f"--out {str(folder)!r} is a file; choose a folder")
    if (path := folder / WORK / SETTING).exists() and any((folder / WORK / KEPT).glob("*.json")):
        return _read_setting(path, read_object(path))
    if (folder / FACTS).exists():
        facts = read_facts(folder)
        if facts.get("source") != PERSON:
            made = facts.get("command", "something else")
            raise EtudeError(f"--out {str(folder)!r} holds a dataset made by {made!r}, not one that was driven; choose another folder")
        if not (folder / "data").exists() or not DatasetReader(folder).videos:
            raise EtudeError(f"--out {str(folder)!r} is in another format than '{FORMAT}', which is the one that is driven; choose another")
        own = facts.get(OWN_CAMERAS, {})
        robot = facts["robot"]
        return _read_setting(
            folder / FACTS, {"arm": robot["arm"], "cameras": [own.get(c, c) for c in facts["cameras"]], "size": facts["size"]}
        )
    if any(path.name != WORK for path in folder.iterdir()):
        raise EtudeError(f"--out {str(folder)!r} holds other files and no dataset; choose an empty or new folder")
    return None


def _read_setting(path: Path, data: dict[str, Any]) -> DrivenSetting:
    match data:
        case {"arm": str(name), "cameras": [*cameras], "size": [int(width), int(height)]}:
            return DrivenSetting(name, tuple(map(str, cameras)), (width, height))
    raise EtudeError(f"{path} does not say what was driven; bring back what was there, or choose another --out")


def agreed_setting(folder: Path, names: Sequence[str], cameras: Sequence[str], size: tuple[int, int] | None) -> DrivenSetting:
    """The setting for these episodes: that of the set in the folder, with which they and what is asked for have to agree, or a new one."""
    known = setting_of(folder)
    if known is not None:
        recorded = (("--camera", cameras, known.cameras), ("--size", size, known.size))
        for what, shown in ((what, there) for what, wanted, there in recorded if wanted and tuple(wanted) != there):
            told = ("x" if what == "--size" else " ").join(map(str, shown))
            raise EtudeError(f"{str(folder)!r} was driven with {what} {told}; leave {what} out, or choose another --out")
    spec = known.spec() if known is not None else RecordingSpec(tuple(cameras), size)
    kind = recording_kind(names, CONTROL, spec)
    if known is None:
        known = DrivenSetting(kind.arm, spec.cameras or kind.cameras, kind.size)
    refuse_odd(known.size)
    known.kind().refuse(kind, names[0])
    return known


class DrivenSet:
    """A set open for work; use it as a context. Only one process can hold it, and nothing is left of one into which nothing was kept."""

    def __init__(self, folder: Path, setting: DrivenSetting) -> None:
        self.folder, self._work = folder, folder / WORK
        self._new = not folder.exists()
        try:
            (self._work / KEPT).mkdir(parents=True, exist_ok=True)
            self._lock = locked(self._work / LOCK)
        except BlockingIOError:
            raise EtudeError(f"somebody is driving into {str(folder)!r} already; wait for them, or choose another --out") from None
        except OSError as error:
            raise EtudeError(f"--out {str(folder)!r} cannot be made: {error.strerror}; choose a folder you may write to") from None
        try:
            if (folder / FACTS).exists() and not any((self._work / KEPT).iterdir()):
                _restore(folder)
            data = {"arm": setting.arm, "cameras": list(setting.cameras), "size": list(setting.size)}
            write_whole(self._work / SETTING, json.dumps(data))
            self._names = {number: one.episode.name for number, one in kept_in(folder).items()}
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if not self._names:
            shutil.rmtree(self._work, ignore_errors=True)
            if self._new:
                self.folder.rmdir()
        self._lock.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The episodes that have been kept, in order; one may be there several times."""
        return tuple(self._names.values())

    @property
    def stale(self) -> bool:
        """Has something been kept that the dataset does not hold yet?"""
        return bool(self._names) and written(self.folder) != len(self._names)

    def keep(self, driven: DrivenEpisode) -> None:
        """Keep an episode; once this has come back, it is on the disk."""
        number = max(self._names, default=-1) + 1
        write_whole(kept_file(self.folder, number), driven.to_json())
        self._names[number] = driven.episode.name


def locked(path: Path) -> IO[bytes]:
    """A file that is open and ours alone for as long as it is; BlockingIOError where it is somebody else's."""
    handle = path.open("ab")
    try:
        take_lock(handle)
    except OSError:
        handle.close()
        raise BlockingIOError from None
    return handle


def kept_file(folder: Path, number: int) -> Path:
    """Where the episode with this number is kept."""
    return folder / WORK / KEPT / f"{number:06d}.json"


def driven_take_file(folder: Path, number: int) -> Path:
    """Where its take is."""
    return folder / WORK / TAKES / f"{number:06d}.npz"


def kept_in(folder: Path) -> dict[int, DrivenEpisode]:
    """What has been kept, by number."""
    found = {}
    for path in sorted((folder / WORK / KEPT).glob("*.json")):
        try:
            found[int(path.stem)] = DrivenEpisode.from_json(read_text(path))
        except ValueError as error:
            raise EtudeError(f"{path} cannot be read: {error}; bring back what was there, or move it away") from None
    return found


def written(folder: Path) -> int | None:
    """How many of them the dataset holds; None where it is not whole."""
    path = folder / WORK / WRITTEN
    return whole_number(read_text(path)) if path.exists() else None


def _restore(folder: Path) -> None:
    """Make the files in ``.drive`` from the dataset: all of them, or none."""
    fresh = folder / WORK / f"{KEPT}.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    reader, command = DatasetReader(folder), str(read_facts(folder)["command"])
    for extra in extras(folder):
        index = extra.episode_index
        driven = DrivenEpisode(extra.episode, np.array(extra.arrays["actions"]), extra.policy, solved(reader, index), command)
        write_whole(fresh / kept_file(folder, index).name, driven.to_json())
    write_whole(folder / WORK / WRITTEN, str(len(reader)))
    shutil.rmtree(folder / WORK / KEPT, ignore_errors=True)
    fresh.rename(folder / WORK / KEPT)
