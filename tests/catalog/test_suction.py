"""Claims about where a suction cup finds room."""

from __future__ import annotations

import numpy as np
import pytest

from etude.catalog.suction import depth


@pytest.mark.parametrize("spacing", [(1.0, 1.0), (0.0021, 0.0007), (1.0, 40.0)])
def test_room_is_the_distance_to_the_nearest_cell_that_is_not_free(spacing: tuple[float, float]) -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        free = random.random((random.integers(1, 14), random.integers(1, 14))) < 0.85
        free.flat[random.integers(free.size)] = False
        cells = np.argwhere(np.ones_like(free))
        apart = (cells[:, None] - cells[~free.ravel()][None]) * spacing
        expected = np.sqrt((apart * apart).sum(2)).min(1).reshape(free.shape)
        np.testing.assert_array_equal(depth(free, spacing), expected)
