"""Frames: sprites laid into the cells of a grid, over a background, with a fixation cross or without (iWISDM A.3)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from etude.compiled import compiled
from etude.decisions.stimuli.album import Rgba
from etude.names import EtudeError

Rgb = tuple[int, int, int]
Frame = NDArray[np.uint8]
Fixation = Literal["none", "cross"]

BLACK: Rgb = (0, 0, 0)
ARM, STROKE = 0.058, 0.018  # of the cross, from its centre to its end and across, as shares of the canvas


def cell_pixels(size: int, grid: tuple[int, int] = (2, 2)) -> int:
    """How wide the square sprites of a canvas are, in pixels: the largest that fit into a cell of the grid (columns, rows)."""
    columns, rows = grid
    if columns < 1 or rows < 1:
        raise EtudeError(f"a grid has at least one column and one row, got {columns}×{rows}")
    pixels = min(size // columns, size // rows)
    if pixels < 1:
        raise EtudeError(f"a canvas of {size} pixels is too small for a grid of {columns}×{rows} cells")
    return pixels


def corner(size: int, grid: tuple[int, int], cell: int) -> tuple[int, int]:
    """The left and upper pixel of the sprite in a cell; cells are numbered row by row from the top left."""
    pixels = cell_pixels(size, grid)
    columns, rows = grid
    if not 0 <= cell < columns * rows:
        raise EtudeError(f"a grid of {columns}×{rows} has the cells 0 to {columns * rows - 1}, got {cell}")
    column, row = cell % columns, cell // columns
    # The middle of the cell, in half pixels, so that sprites of odd width are not moved twice.
    x = (size * (2 * column + 1) // columns - pixels) // 2
    y = (size * (2 * row + 1) // rows - pixels) // 2
    return x, y


def frame(
    size: int = 224,
    grid: tuple[int, int] = (2, 2),
    placed: Sequence[tuple[Rgba, int]] = (),
    background: Rgb | Frame = BLACK,
    fixation: Fixation = "none",
) -> Frame:
    """A frame (size, size, 3): every sprite of ``placed`` in its cell, over a colour or a picture of that shape, the cross on top."""
    pixels = cell_pixels(size, grid)
    if not isinstance(background, np.ndarray):
        canvas = _plain(size, background).copy()
    elif background.shape == (size, size, 3) and background.dtype == np.uint8:
        canvas = background.copy()
    else:
        raise EtudeError(f"a background picture is of bytes ({size}, {size}, 3), got {background.dtype} {background.shape}")
    for sprite, cell in placed:
        if sprite.shape != (pixels, pixels, 4):
            raise EtudeError(f"a sprite on this canvas has the shape ({pixels}, {pixels}, 4), got {sprite.shape}")
        x, y = corner(size, grid, cell)
        _lay(sprite, canvas, x, y)
    if fixation == "cross":
        _cross(canvas, background)
    elif fixation != "none":
        raise EtudeError(f"fixation is 'none' or 'cross', got {fixation!r}")
    return canvas


@functools.lru_cache(maxsize=8)
def _plain(size: int, colour: Rgb) -> Frame:
    """An empty canvas; copying it is faster than filling one with three bytes in turn."""
    return np.full((size, size, 3), colour, np.uint8)


@compiled(error_model="numpy")
def _lay(sprite: Rgba, canvas: Frame, x: int, y: int) -> None:
    """Blend a sprite (P, P, 4) over the canvas from pixel (x, y) on, to the nearest byte."""
    for j in range(sprite.shape[0]):
        for i in range(sprite.shape[1]):
            alpha = np.uint32(sprite[j, i, 3])
            if alpha:
                for k in range(3):
                    under = np.uint32(canvas[y + j, x + i, k])
                    canvas[y + j, x + i, k] = np.uint8((sprite[j, i, k] * alpha + under * (255 - alpha) + 127) // 255)


def _cross(canvas: Frame, background: Rgb | Frame) -> None:
    """A white cross in the middle; a black one where the background is bright."""
    size = len(canvas)
    ink = 0 if float(np.mean(background)) > 160 else 255
    # Both parities of the canvas get a cross that is the same on all sides.
    stroke = max(round(STROKE * size / 2), 1) * 2 - size % 2
    reach = max(round(ARM * size), stroke)
    low, high = (size - stroke) // 2, (size + stroke) // 2
    first, last = size // 2 - reach, size - (size // 2 - reach)
    canvas[low:high, first:last] = ink
    canvas[first:last, low:high] = ink
