"""Frames: sprites in the cells of any grid on a canvas of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from etude.decisions.stimuli.canvas import cell_pixels, corner, frame
from etude.names import EtudeError


def patch(pixels: int, value: int = 200, alpha: int = 255) -> NDArray[np.uint8]:
    return np.full((pixels, pixels, 4), (value, value, value, alpha), np.uint8)


@settings(max_examples=60, deadline=None)
@given(st.integers(40, 300), st.integers(1, 5), st.integers(1, 5), st.data())
def test_a_sprite_stays_inside_its_cell(size: int, columns: int, rows: int, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, columns * rows - 1))
    picture = frame(size, (columns, rows), [(patch(cell_pixels(size, (columns, rows))), cell)])
    y, x = np.nonzero(picture[..., 0])
    column, row = cell % columns, cell // columns
    assert column * size / columns - 1 < x.min() and x.max() < (column + 1) * size / columns + 1
    assert row * size / rows - 1 < y.min() and y.max() < (row + 1) * size / rows + 1
    assert len(x) == cell_pixels(size, (columns, rows)) ** 2


def test_the_cells_of_the_papers_canvas_are_its_quarters() -> None:
    assert [corner(224, (2, 2), cell) for cell in range(4)] == [(0, 0), (112, 0), (0, 112), (112, 112)]


@pytest.mark.parametrize("cells", [range(4), range(9)])
def test_cells_do_not_overlap(cells: range) -> None:
    side = int(len(cells) ** 0.5)
    values = [20 * (k + 1) for k in cells]
    pixels = cell_pixels(225, (side, side))
    picture = frame(225, (side, side), [(patch(pixels, v), k) for k, v in zip(cells, values, strict=True)])
    assert [int((picture[..., 0] == v).sum()) for v in values] == [pixels**2] * len(values)


def test_alpha_blends_to_the_nearest_byte() -> None:
    rng = np.random.default_rng(0)
    sprite = rng.integers(0, 256, (60, 60, 4), np.uint8)
    under = rng.integers(0, 256, (60, 60, 3), np.uint8)
    alpha = sprite[..., 3:] / 255
    exact = sprite[..., :3] * alpha + under * (1 - alpha)
    assert np.abs(frame(60, (1, 1), [(sprite, 0)], under) - exact).max() <= 0.5 + 1e-9


def test_an_empty_frame_is_its_background() -> None:
    assert (frame(100, background=(10, 20, 30)) == (10, 20, 30)).all()
    assert not frame(224).any()


@pytest.mark.parametrize("size", [64, 97, 112, 224, 225, 448])
def test_the_cross_is_in_the_middle_and_the_same_on_all_sides(size: int) -> None:
    picture = frame(size, fixation="cross")[..., 0]
    assert (picture == picture.T).all() and (picture == picture[::-1]).all() and (picture == picture[:, ::-1]).all()
    assert set(np.unique(picture)) == {0, 255}
    across = int(picture[size // 2].astype(bool).sum())
    assert abs(across / size - 0.116) < 0.02  # 13 of 112 pixels to each side in the original
    assert picture[0].sum() == 0


def test_the_cross_is_drawn_over_sprites_and_seen_on_white() -> None:
    covered = frame(224, placed=[(patch(112, 90), k) for k in range(4)], fixation="cross")
    assert covered[112, 112, 0] == 255
    assert frame(224, background=(255, 255, 255), fixation="cross")[112, 112, 0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"placed": [(patch(100), 0)]}, r"shape \(112, 112, 4\), got \(100, 100, 4\)"),
        ({"placed": [(patch(112), 4)]}, "cells 0 to 3, got 4"),
        ({"grid": (0, 2)}, "at least one column"),
        ({"size": 3, "grid": (4, 4)}, "too small"),
        ({"background": np.zeros((10, 10, 3), np.uint8)}, "background picture"),
        ({"fixation": "dot"}, "'none' or 'cross'"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(EtudeError, match=message):
        frame(**arguments)  # type: ignore[arg-type]
