"""What was recorded, carried out again: the same actions in a fresh world, compared state by state and picture by picture.

The same with other cameras or sizes makes another dataset of the same episodes; no oracle is needed for that.
"""

from __future__ import annotations

import functools
import math
import multiprocessing
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from etude.arithmetic import product
from etude.datasets.card import OWN_CAMERAS, brought, card
from etude.datasets.demos import FACTS, FORMATS, read_facts, refuse_language
from etude.datasets.extra import Extra, extras
from etude.datasets.lerobot import write_json
from etude.datasets.reader import DatasetReader
from etude.datasets.take import Take, recorded_in
from etude.datasets.taking import RecordingSpec, performed
from etude.envs.simulation import Simulation
from etude.evaluation.view import viewed
from etude.evaluation.worker import one_thread
from etude.names import EtudeError
from etude.render import fingerprint

CLOSE = 30.0  # dB of brightness: a stored frame that is farther from the picture than this shows something else
BRIGHTNESS = np.array([0.299, 0.587, 0.114])  # of red, green and blue; videos keep colours at half the size


@dataclass(frozen=True)
class ReplayResult:
    """How a recorded episode and its replay compare. ``states``: control steps at which any number of the state differs;

    ``frames``: pictures whose pixels differ from those that were recorded, and modalities that do; ``stored``: pictures that the stored
    video or image does not show (below 30 dB of brightness; stored images must be equal). ``success``: did the replay end as the recording
    did?
    """

    episode_index: int
    name: str
    steps: int
    states: int
    frames: int
    stored: int
    success: bool

    @property
    def same(self) -> bool:
        """Nothing differs."""
        return self.success and not (self.states or self.frames or self.stored)


def again(extra: Extra, how: RecordingSpec, unsolved: bool = False) -> Take:
    """Carry out a recorded episode once more, in front of these cameras."""
    return performed(extra.episode, extra.arrays["lead"], extra.arrays["actions"], extra.words, how, extra.policy, unsolved)


def solved(reader: DatasetReader, episode: int) -> bool:
    """Did the recorded episode end in success?"""
    return bool(reader.column("next.success", episode)[-1])


def dataset_views(folder: Path, episodes: Sequence[int], most: int) -> list[dict[str, Any]]:
    """Views of the recorded episodes with these numbers; without, of the first ``most``."""
    reader = DatasetReader(folder)
    wanted = sorted(reader.chosen(episodes))[: None if episodes else most]
    return [_viewed(extra, "success" if solved(reader, index) else "failure") for index in wanted for extra in extras(folder, index)]


def _viewed(extra: Extra, outcome: str) -> dict[str, Any]:
    def lead(simulation: Simulation) -> None:
        for action in extra.arrays["lead"]:
            simulation.step(action)

    return viewed(extra.episode, extra.arrays["actions"], extra.words, extra.policy, outcome, lead)


def replay(folder: Path, episodes: Sequence[int] = (), workers: int = 1) -> Iterator[ReplayResult]:
    """Carry out episodes of a dataset again, all when none are named, and compare; in order, whatever the number of workers."""
    wanted = sorted(DatasetReader(folder).chosen(episodes))
    if workers < 2 or len(wanted) < 2:
        yield from map(functools.partial(_replayed, folder), wanted)
        return
    with one_thread(), ProcessPoolExecutor(min(workers, len(wanted)), multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(functools.partial(_replayed, folder), wanted)


def _replayed(folder: Path, episode: int) -> ReplayResult:
    found = list(extras(folder, episode))
    if not found:
        raise EtudeError(f"{str(folder)!r} has no row of its own for episode {episode}; see 'etude validate {folder}'")
    return compared(found[0], _reader(folder))


@functools.lru_cache(maxsize=1)
def _reader(folder: Path) -> DatasetReader:
    return DatasetReader(folder)


def compared(extra: Extra, reader: DatasetReader) -> ReplayResult:
    """One episode against its replay."""
    own = read_facts(reader.folder).get(OWN_CAMERAS, {}) if (reader.folder / FACTS).exists() else {}
    cameras = tuple(own.get(camera, camera) for camera in extra.cameras)
    ended = solved(reader, extra.episode_index)
    try:
        modalities = recorded_in(extra.modalities)
        how = RecordingSpec(cameras, extra.size, False, keep=True, smooth=extra.smooth, modalities=modalities)
        take = again(extra, how, unsolved=not ended)
    except EtudeError:  # it does not end in success any more
        return ReplayResult(extra.episode_index, extra.episode.name, len(extra.arrays["actions"]), 0, 0, 0, False)
    kept, seen = extra.arrays["states"], take.states
    states = int((kept != seen).any(axis=1).sum()) if kept.shape == seen.shape else max(len(kept), len(seen))
    frames = int((extra.arrays["digests"] != take.digests).sum())
    frames += sum(not np.array_equal(values, take.modalities[name]) for name, values in extra.modalities.items())
    stored = 0
    for camera in extra.cameras:
        pictures = reader.frames(extra.episode_index, camera)
        exact = not reader.videos
        stored += sum(not _shows(a, b, exact) for a, b in zip(pictures, take.pixels[camera], strict=False))
    return ReplayResult(extra.episode_index, extra.episode.name, take.length, states, frames, stored, bool(take.success[-1]) == ended)


def _shows(stored: Any, pixels: Any, exact: bool) -> bool:
    if exact:
        return bool(np.array_equal(stored, pixels))
    error = float(np.mean(product(stored.astype(float) - pixels, BRIGHTNESS) ** 2))
    return error < 1e-9 or 10 * math.log10(255.0**2 / error) > CLOSE


def rerender(folder: Path, out: Path, how: RecordingSpec, form: str = "lerobot") -> int:
    """Make the same episodes with other cameras or another size; gives how many. States must come out as they were recorded."""
    if out.exists() and any(out.iterdir()):
        raise EtudeError(f"--out {str(out)!r} is not empty; choose an empty or new folder")
    chosen = FORMATS[form]
    refuse_language(how, [form])
    how = replace(how, videos=chosen.videos, images=chosen.images)
    fresh = out.with_name(out.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        count = _rewritten(folder, fresh, how, form)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    if out.exists():
        out.rmdir()
    fresh.rename(out)
    return count


def _rewritten(folder: Path, out: Path, how: RecordingSpec, form: str) -> int:
    writer, count, cameras = FORMATS[form].make(out, how), 0, how.cameras
    facts = read_facts(folder)
    how = replace(how, size=how.size or tuple(facts["size"]), modalities=how.modalities or tuple(facts.get("modalities", ())))
    reader = DatasetReader(folder)
    for extra in extras(folder):
        take = again(extra, how, unsolved=not solved(reader, extra.episode_index))
        if take.states.shape != extra.arrays["states"].shape or (take.states != extra.arrays["states"]).any():
            raise EtudeError(f"{extra.episode.name} does not come out as it was recorded on this machine; see 'etude replay {folder}'")
        writer.add(take)
        count, cameras = count + 1, take.cameras
    writer.finish()
    assert how.size is not None
    looked = how.cameras or cameras
    chosen = " ".join((*(f"--camera {c}" for c in looked), f"--size {how.size[0]}x{how.size[1]}", *["--smooth"] * how.smooth,
                       *["--language"] * how.language, *(f"--modality {m}" for m in how.modalities)))  # fmt: skip
    command = f"{facts['command']} --out DIR\netude rerender DIR {chosen} --format {form}"
    seen = {"cameras": list(cameras), **brought(how.cameras), "size": list(how.size), "renderer": fingerprint(how.smooth)}
    made = {**{key: value for key, value in facts.items() if key != OWN_CAMERAS}, "command": command, **seen}
    if how.modalities:
        made["modalities"] = list(how.modalities)
    write_json(out / FACTS, made)
    (out / "README.md").write_text(card(form, made), encoding="utf-8")
    return count
