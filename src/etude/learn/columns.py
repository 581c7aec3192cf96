"""Many demonstrations as a few arrays, in the form in which they lie on a device and on a disk. A crop that occurs again is kept once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from etude.learn.samples import NUMBERS, Demonstration, Things
from etude.render.tokens import SIDE

NONE = -1  # where there is no crop, and no thing


@dataclass(frozen=True, eq=False)
class Columns:
    """E episodes. ``crops`` uint8 (C, 32, 32, 3), known by their ``keys`` uint64 (C,). Of N things: ``cells`` int32 (N, V), which crop each
    view has, −1 where it sees nothing, and ``boxes`` int16 (N, V, 4). ``tokens`` int16 (L, 5) of prompts: kind, two buckets, place, and
    which of the episode's things it is, −1 for none. Of S steps: ``spans`` int16 (S, 2), the first of the episode's things that are seen
    and how many, ``strokes`` float32 (S, 2, 5), what was done and what would have been right, and ``counts`` bool (S,). ``episodes`` int32
    (E, 6): first token and how many, first step and how many, first thing and how many.
    """

    crops: NDArray[np.uint8]
    keys: NDArray[np.uint64]
    cells: NDArray[np.int32]
    boxes: NDArray[np.int16]
    tokens: NDArray[np.int16]
    spans: NDArray[np.int16]
    strokes: NDArray[np.float32]
    counts: NDArray[np.bool_]
    episodes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.episodes)


def columns_of(demonstrations: Sequence[Demonstration], views: int = 2) -> Columns:
    """Demonstrations in their order."""
    lots: list[Things] = []
    tokens, spans, episodes = [], [], []
    token = step = thing = 0
    for one in demonstrations:
        told = one.prompt
        tokens.append(np.column_stack([told.kinds, told.words, told.places, told.rows]).astype(np.int16))
        at = len(told.things)
        for seen in one.seen:
            spans.append((at, len(seen)))
            at += len(seen)
        lots += [told.things, *one.seen]
        episodes.append((token, len(told.kinds), step, len(one.seen), thing, at))
        token, step, thing = token + len(told.kinds), step + len(one.seen), thing + at
    crops, keys, cells = _distinct(lots, views)
    return Columns(
        crops,
        keys,
        cells,
        np.concatenate([np.zeros((0, views, 4), np.int16), *(lot.boxes for lot in lots)]),
        np.concatenate([np.zeros((0, 5), np.int16), *tokens]),
        np.array(spans, np.int16).reshape(-1, 2),
        np.concatenate([np.zeros((0, 2, NUMBERS), np.float32), *(np.stack([d.done, d.labels], 1) for d in demonstrations)]),
        np.concatenate([np.zeros(0, np.bool_), *(d.counts for d in demonstrations)]),
        np.array(episodes, np.int32).reshape(-1, 6),
    )


def _distinct(lots: Sequence[Things], views: int) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.int32]]:
    """Crops that differ, their keys, and which of them every thing has in every view."""
    known: dict[bytes, int] = {}
    fresh: list[NDArray[np.uint8]] = []
    cells = np.full((sum(map(len, lots)), views), NONE, np.int32)
    at = 0
    for lot in lots:
        for k, v in np.argwhere(lot.mask).tolist():
            crop = lot.crops[k, v]
            key = hashlib.blake2b(crop, digest_size=8).digest()
            number = known.setdefault(key, len(known))
            if number == len(fresh):
                fresh.append(crop)
            cells[at + k, v] = number
        at += len(lot)
    crops = np.stack(fresh) if fresh else np.zeros((0, SIDE, SIDE, 3), np.uint8)
    return crops, np.frombuffer(b"".join(known), np.uint64), cells
