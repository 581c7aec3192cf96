"""Demonstrations of a stored dataset in the form that streams have: what is learned from may lie on a disk as well."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from etude.datasets.columns import STROKES
from etude.datasets.extra import Extra, extras
from etude.datasets.take import recorded_in
from etude.envs.prompt_assets import pictured
from etude.learn.samples import SIZE, Demonstration, Prompt, contract_for, numbers_of, things_seen, told_prompt
from etude.learn.source import refuse_tests
from etude.names import EtudeError
from etude.prompts.views import ShownObject, Views
from etude.render.picture import Picture

NEEDED = ("objects", "prompt_views")
CONTRACT = contract_for("objects")


def stored(folder: Path, language: str = "") -> Iterator[tuple[int, str, Demonstration]]:
    """(number, name, demonstration) of every episode of a set, as :func:`~etude.learn.stream.played` gives them: objects, not patches.

    ``language``: whose words prompts have.
    """
    for extra in extras(folder):
        refuse_tests(extra.episode.name)
        yield extra.episode_index, extra.episode.name, _demonstration(extra, language)


def _demonstration(extra: Extra, language: str) -> Demonstration:
    lacking = [modality for modality in NEEDED if modality not in recorded_in(extra.modalities)]
    if lacking or extra.episode.control not in STROKES:
        needed = " ".join(f"--modality {modality}" for modality in NEEDED)
        raise EtudeError(f"{extra.episode.name} cannot be learned from as it is stored; record it with 'etude demos --action own {needed}'")
    if extra.size != SIZE or not set(CONTRACT.cameras) <= set(extra.cameras):
        seen = f"{', '.join(extra.cameras)} at {extra.size[0]}×{extra.size[1]}"
        raise EtudeError(f"{extra.episode.name} is seen by {seen}; expected {' and '.join(CONTRACT.cameras)} at {SIZE[0]}×{SIZE[1]}")
    views = [extra.cameras.index(camera) for camera in CONTRACT.cameras]
    actions = extra.arrays["actions"].astype(float)
    cut = {f"objects_{part}": extra.modalities[f"objects_{part}"][views] for part in ("crops", "boxes", "mask")}
    looks = tuple(things_seen({name: values[:, k] for name, values in cut.items()}, CONTRACT) for k in range(len(actions)))
    done = np.stack([numbers_of(action) for action in actions])
    moves = (done[:, :2] != done[:, 2:4]).any(1) | (done[:, 4] != 0)  # waiting is no demonstration
    return Demonstration(_prompt(extra, views, language), looks, done, done, moves)


def _prompt(extra: Extra, views: list[int], language: str) -> Prompt:
    rgb, segmentation = extra.modalities["prompt_rgb"], extra.modalities["prompt_segmentation"]
    depth = np.zeros(segmentation.shape[2:], np.float32)
    told = []
    for k, shown in enumerate(pictured(extra.episode)):
        pictures = {camera: Picture(rgb[c, k], depth, segmentation[c, k]) for camera, c in zip(CONTRACT.cameras, views, strict=True)}
        told.append(Views(pictures, tuple(ShownObject(**thing) for thing in shown["objects"])))
    return told_prompt(extra.template, told, "objects", language)
