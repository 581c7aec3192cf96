"""PNG files of packed pictures: what is written comes back, everywhere the same, and is not large."""

from __future__ import annotations

import hashlib
import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from png_files import alone, decoded

from etude.decisions.showing import drawn
from etude.decisions.space import SeenThing
from etude.render.packed import laid, packed


def test_runs_of_every_length_come_back() -> None:
    for dark in range(90):
        picture = np.full((2, 2 + 4 * dark, 3), 9, np.uint8)
        picture[:, 1 : 1 + dark] = 0
        picture[:, -1:, 1] = 200
        assert np.array_equal(decoded(alone(picture)), picture)


def test_every_difference_comes_back() -> None:
    picture = np.zeros((256, 3, 3), np.uint8)
    picture[:, 1] = np.arange(256, dtype=np.uint8)[:, None]
    assert np.array_equal(decoded(alone(picture)), picture)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20), st.integers(0, 2**32)), max_size=5))
def test_pictures_that_are_laid_are_those_that_are_drawn(places: list[tuple[int, int, int]]) -> None:
    canvas, covered, pieces = np.zeros((31, 40, 3), np.uint8), np.zeros((31, 41), int), []
    for x, y, seed in places:
        picture = np.random.default_rng(seed).integers(0, 256, (11, 10, 3)).astype(np.uint8)
        picture[:, -1:] = 0
        canvas[y : y + 11, x : x + 10] |= picture
        covered[y : y + 11, x : x + 10] += 1
        pieces.append((packed(picture), x, y))
    file = laid(31, 40, pieces)
    if covered.max() > 1:
        assert file is None
    else:
        assert file is not None and np.array_equal(decoded(file), canvas)


def test_a_picture_that_is_not_black_at_its_right_end_is_laid_only_at_that_of_the_file() -> None:
    picture = packed(np.full((4, 4, 3), 50, np.uint8))
    assert laid(4, 9, [(picture, 3, 0)]) is None
    file = laid(4, 9, [(picture, 5, 0)])
    assert file is not None and decoded(file)[0, :, 0].tolist() == [0, 0, 0, 0, 0, 50, 50, 50, 50]


def test_files_of_frames_are_not_much_larger_than_common_ones() -> None:
    common, ours = io.BytesIO(), 0
    for k in range(12):
        picture = drawn("procedural", (2, 2), [SeenThing(item=21 * k, location=k % 4, view=4)], True)
        Image.fromarray(picture).save(common, "PNG", compress_level=6)
        ours += len(alone(picture))
    assert ours < 1.5 * common.tell()


def test_a_picture_has_the_same_bytes_on_every_machine() -> None:
    ramp = np.arange(40 * 60 * 3, dtype=np.int64).reshape(40, 60, 3)
    picture = (ramp * ramp // 977 % 256 * (ramp[:, :, :1] % 7 > 2)).astype(np.uint8)
    assert hashlib.sha256(alone(picture)).hexdigest()[:16] == "c4245df1b41865d4"
