"""PNG files of any pictures: what is written comes back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from png_files import alone, decoded

from etude.names import EtudeError
from etude.render.png import png

WRITERS = (png, alone)  # by a compression library, and by our own code


@given(
    st.tuples(st.integers(1, 70), st.integers(1, 9)).flatmap(
        lambda shape: arrays(np.uint8, (*shape, 3), elements=st.sampled_from((0, 7, 255)), fill=st.just(0))
    ),
    st.integers(0, 40),
)
def test_any_picture_comes_back_as_it_was(picture: np.ndarray, even: int) -> None:
    picture = np.concatenate((picture, np.repeat(picture[-1:], even, axis=0), picture))
    assert all(np.array_equal(decoded(write(picture)), picture) for write in WRITERS)


def test_noise_comes_back_as_it_was() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (61, 47, 3)).astype(np.uint8)
    for write in WRITERS:
        assert np.array_equal(decoded(write(picture)), picture)
        assert np.array_equal(decoded(write(picture[::-1, ::2])), picture[::-1, ::2])


def test_what_is_no_picture_is_refused() -> None:
    for wrong in (
        np.zeros((4, 4), np.uint8),
        np.zeros((4, 4, 4), np.uint8),
        np.zeros((4, 4, 3), np.float32),
        np.zeros((0, 4, 3), np.uint8),
    ):
        with pytest.raises(EtudeError, match="a picture must be"):
            png(wrong)
