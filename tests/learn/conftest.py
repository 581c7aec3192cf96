"""A stored dataset for all tests of learning."""

from __future__ import annotations

import pytest
from demo_fixtures import made, order
from toys import STORED

from etude.datasets.taking import RecordingSpec


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """The folder of a set with these episodes, seen as policies see them."""
    how = RecordingSpec(modalities=("objects", "prompt_views"))
    return made(order(STORED, "oracle", how), tmp_path_factory.mktemp("stored") / "set")
