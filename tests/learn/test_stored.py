"""A stored dataset teaches what a stream teaches."""

from __future__ import annotations

import numpy as np
import pytest
from demo_fixtures import made, order
from toys import STORED

from etude.datasets.taking import RecordingSpec
from etude.learn.demonstrating import demonstrate
from etude.learn.stored import stored
from etude.names import EtudeError


def arrays(things):
    return (things.crops, things.boxes, things.mask)


def test_what_is_stored_is_what_the_stream_gives(kept):
    found = list(stored(kept))
    assert [(number, name) for number, name, _ in found] == list(enumerate(STORED))
    for _, name, mine in found:
        theirs = demonstrate(name, "objects")
        for field in ("kinds", "words", "places", "rows"):
            assert np.array_equal(getattr(mine.prompt, field), getattr(theirs.prompt, field)), field
        assert all(map(np.array_equal, arrays(mine.prompt.things), arrays(theirs.prompt.things)))
        assert all(map(np.array_equal, arrays(mine.seen[0]), arrays(theirs.seen[0])))
        assert len(mine.seen) == len(theirs.seen) and mine.counts.tolist() == theirs.counts.tolist()
        assert np.allclose(mine.labels, theirs.labels, atol=1e-5)  # actions are stored in 32 bits, and carried out so


def test_a_set_without_objects_says_how_to_record_them(tmp_path):
    plain = made(order([STORED[1]], "oracle", RecordingSpec(size=(64, 32))), tmp_path / "plain")
    with pytest.raises(EtudeError, match="etude demos --action own --modality objects --modality prompt_views"):
        list(stored(plain))


def test_objects_at_another_size_are_refused(tmp_path):
    how = RecordingSpec(size=(64, 32), modalities=("objects", "prompt_views"))
    small = made(order([STORED[1]], "oracle", how), tmp_path / "small")
    with pytest.raises(EtudeError, match="at 64×32; expected front and top at 256×128"):
        list(stored(small))


def test_what_is_for_testing_is_refused(tmp_path):
    how = RecordingSpec(modalities=("objects", "prompt_views"))
    tests = made(order(["vima/rotate@L1#0"], "oracle", how), tmp_path / "tests")
    with pytest.raises(EtudeError, match="is for testing"):
        list(stored(tests))
