"""What a policy learns from and acts on, as plain arrays: a told prompt, what was seen step by step, and what was done.

Pictures are *things* in two forms that everything after them shares. As objects: every object of a view is a crop and a box. As patches:
every view is halved and cut into a grid (4 × 2 for views of 256×128), and each cell is a crop and a box. Views of the same object, or of
the same cell, belong together.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from etude.learn.wording import wording_of
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.prompts.views import Views, object_tokens
from etude.render.tokens import SIDE
from etude.scene.visual import TABLE
from etude.skills.strokes import Stroke

Look = Literal["objects", "patches"]
LOOKS: tuple[Look, ...] = ("objects", "patches")
SIZE = (256, 128)  # of the pictures: width and height
CELL = 2 * SIDE  # pixels of a view that are a patch
PAD, WORD, OBJECT, SCENE, BLANK = range(5)  # kinds of prompt tokens
STEPS = 32  # of a history: more than any horizon that is played
NUMBERS = 5  # of a stroke: x and y of its start, x and y of its end (m), and the turn between them (rad)
_PICTURE = re.compile(r"\{image:(\d+)\}")


@dataclass(frozen=True, eq=False)
class Things:
    """N things in V views: ``crops`` uint8 (N, V, 32, 32, 3), ``boxes`` int16 (N, V, 4) as of object tokens, ``mask`` bool (N, V)."""

    crops: NDArray[np.uint8]
    boxes: NDArray[np.int16]
    mask: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.crops)


@dataclass(frozen=True, eq=False)
class Prompt:
    """L tokens. ``kinds`` uint8 (L,); ``words`` int16 (L, 2): a word's two numbers; ``places`` int16 (L,): where in the sentence it stands,
    the same for all things of a picture; ``rows`` int16 (L,): which of ``things`` it is, −1 for words and blanks."""

    kinds: NDArray[np.uint8]
    words: NDArray[np.int16]
    places: NDArray[np.int16]
    rows: NDArray[np.int16]
    things: Things


@dataclass(frozen=True, eq=False)
class Demonstration:
    """A prompt, what was seen at each of T steps, what was carried out then (T, 5) and what would have been right (T, 5).

    Both are strokes as :data:`NUMBERS`. ``counts`` bool (T,): is this a step to learn from? A policy's own past has none.
    """

    prompt: Prompt
    seen: tuple[Things, ...]
    done: NDArray[np.float32]
    labels: NDArray[np.float32]
    counts: NDArray[np.bool_]


@functools.cache
def contract_for(look: Look) -> Contract:
    """What a policy with this look asks of an environment: both views of the table, and prompts in the same views."""
    modality = "objects" if look == "objects" else "rgb"
    return Contract(cameras=("front", "top"), size=SIZE, modalities=(modality,), told="views")


# ------------------------------------------------------------------------------------------------ pictures


def things_of_views(views: Views, look: Look) -> Things:
    """The things of a picture in a prompt."""
    if look == "objects":
        found = object_tokens(views)
        return _things(found.crops, found.boxes, found.mask)
    return patches([picture.rgb for picture in views.values()])


def things_seen(observation: Mapping[str, Any], contract: Contract) -> Things:
    """The things of an observation, in the order of their slots; what no view sees is left out."""
    if "objects" in contract.modalities:
        mask = observation["objects_mask"]
        slots = np.flatnonzero(mask.any(0))
        return _things(observation["objects_crops"][:, slots], observation["objects_boxes"][:, slots], mask[:, slots])
    return patches([observation[camera] for camera in contract.cameras])


def _things(crops: NDArray[np.uint8], boxes: NDArray[np.int32], mask: NDArray[np.bool_]) -> Things:
    return Things(
        np.ascontiguousarray(crops.swapaxes(0, 1)), np.ascontiguousarray(boxes.swapaxes(0, 1), np.int16), mask.swapaxes(0, 1).copy()
    )


def patches(pictures: Sequence[NDArray[np.uint8]]) -> Things:
    """Views (H, W, 3) at half their size, cut into a grid of squares, row by row. A cell has no meaning of its own: its box is where it
    is, in pixels of the whole view."""
    height, width, _ = pictures[0].shape
    if height % CELL or width % CELL:
        raise EtudeError(f"pictures of {width}×{height} cannot be cut into patches of {CELL}×{CELL}; expected multiples of {CELL}")
    rows, columns = height // CELL, width // CELL
    cells = [_halved(p).reshape(rows, SIDE, columns, SIDE, 3).transpose(0, 2, 1, 3, 4).reshape(-1, SIDE, SIDE, 3) for p in pictures]
    boxes = _cells(rows, columns)
    return Things(np.stack(cells, 1), np.repeat(boxes[:, None], len(pictures), 1), np.ones((len(boxes), len(pictures)), np.bool_))


def _halved(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Half as wide and as high: of every four pixels the mean."""
    wide = picture.astype(np.uint16)
    found: NDArray[np.uint8] = ((wide[::2, ::2] + wide[1::2, ::2] + wide[::2, 1::2] + wide[1::2, 1::2] + 2) >> 2).astype(np.uint8)
    return found


@functools.cache
def _cells(rows: int, columns: int) -> NDArray[np.int16]:
    y, x = np.divmod(np.arange(rows * columns), columns)
    centre = [x * CELL + CELL // 2, y * CELL + CELL // 2, np.full_like(x, CELL - 1), np.full_like(x, CELL - 1)]
    return np.stack(centre, 1).astype(np.int16)


# ------------------------------------------------------------------------------------------------ prompts


@dataclass(frozen=True, eq=False)
class PromptTokens:
    """``kinds``, ``words``, ``places`` and ``rows`` as in a :class:`Prompt`, and the numbers of the pictures in the order they stand."""

    kinds: NDArray[np.uint8]
    words: NDArray[np.int16]
    places: NDArray[np.int16]
    rows: NDArray[np.int16]
    shown: tuple[int, ...]


def prompt_tokens(text: str, pictures: Sequence[tuple[int, int]], language: str = "") -> PromptTokens:
    """A text with ``{image:k}`` and, for each k, of which kind its tokens are and how many; a picture with none is a blank.

    ``language``: whose words (:mod:`etude.learn.wording`).
    """
    kinds: list[int] = []
    words: list[tuple[int, int]] = []
    places: list[int] = []
    rows: list[int] = []
    shown: list[int] = []
    first = 0
    wording = wording_of(language)
    place = 0

    def say(tokens: Sequence[tuple[int, int]]) -> None:
        nonlocal place
        kinds.extend([WORD] * len(tokens))
        words.extend(tokens)
        places.extend(range(place, place + len(tokens)))
        rows.extend([-1] * len(tokens))
        place += len(tokens)

    said, *rest = _PICTURE.split(text)
    say(wording.beginning)
    say(wording.tokens(said))
    for number, said in zip(rest[::2], rest[1::2], strict=True):
        if int(number) >= len(pictures):
            raise EtudeError(f"the prompt {text!r:.80} speaks of picture {number}, but has {len(pictures)}")
        kind, count = pictures[int(number)]
        shown.append(int(number))
        kinds += [kind] * count if count else [BLANK]
        words += [(0, 0)] * max(1, count)
        places += [place] * max(1, count)
        rows += list(range(first, first + count)) if count else [-1]
        first += count
        place += 1
        say(wording.tokens(said))
    say(wording.ending)
    return PromptTokens(
        np.array(kinds, np.uint8),
        np.array(words, np.int16).reshape(-1, 2),
        np.array(places, np.int16),
        np.array(rows, np.int16),
        tuple(shown),
    )


def prompt(text: str, pictures: Sequence[tuple[int, Things]], language: str = "") -> Prompt:
    """A text with ``{image:k}`` and, for each k, the kind of token its things are, and these; none of a picture is a blank."""
    found = prompt_tokens(text, [(kind, len(things)) for kind, things in pictures], language)
    return Prompt(found.kinds, found.words, found.places, found.rows, joined([pictures[k][1] for k in found.shown]))


def told_prompt(text: str, pictures: Sequence[Views], look: Look, language: str = "") -> Prompt:
    """The prompt as a policy is told it."""
    return prompt(text, [(kind_of(views), things_of_views(views, look)) for views in pictures], language)


def kind_of(views: Views) -> int:
    """A scene has a table; an object stands before nothing."""
    return SCENE if any((picture.segmentation == TABLE).any() for picture in views.values()) else OBJECT


def joined(parts: Sequence[Things], views: int = 2) -> Things:
    """All things in a row."""
    if not parts:
        return Things(np.zeros((0, views, SIDE, SIDE, 3), np.uint8), np.zeros((0, views, 4), np.int16), np.zeros((0, views), np.bool_))
    return Things(*(np.concatenate([getattr(p, field) for p in parts]) for field in ("crops", "boxes", "mask")))


# ------------------------------------------------------------------------------------------------ actions


def numbers_of(action: NDArray[np.float64]) -> NDArray[np.float32]:
    """A primitive's action (12,) as (5,): places, and the turn in (−π, π]."""
    stroke = Stroke.from_action("pick_place", action)
    turn = stroke.end_yaw - stroke.start_yaw
    return np.array([*stroke.start, *stroke.end, np.arctan2(np.sin(turn), np.cos(turn))], np.float32)


def action_of(numbers: Sequence[float]) -> NDArray[np.float64]:
    """The action (12,) of numbers (5,)."""
    x0, y0, x1, y1, turn = (float(n) for n in numbers)
    return Stroke("pick_place", (x0, y0), (x1, y1), 0.0, turn).to_action()
