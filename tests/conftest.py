"""Settings for all tests: property tests draw the same examples every time and are not judged by the clock.

``pytest --hypothesis-profile long`` tries ten times as many of them.
"""

from collections.abc import Iterator

import pytest
from hypothesis import settings

LONG = (  # the longest first, as ``--durations=0`` tells
    "test_himan", "test_demos", "test_robots", "test_vlmbench", "test_plugins", "test_workers", "test_resuming",
    "test_clevrskills", "test_modes", "test_short_form", "test_ids", "test_study", "test_faults", "test_benchmarks", "test_shapes",
    "test_native_sets", "test_digests", "test_validate", "test_vector_env", "test_gobbledygook", "test_examples", "test_stimuli",
    "test_shortcuts", "test_cli", "test_docs", "test_text", "test_full_disk", "test_wire", "test_household", "test_polygon", "test_papers",
    "test_sittings",
)  # fmt: skip

settings.register_profile("etude", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, derandomize=True, max_examples=1000)
settings.load_profile("etude")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long begin first, so that no worker is left alone with one of them in the end.

    pytest-xdist keeps this order with ``--no-loadscope-reorder``; left to itself, it begins with files of many tests.
    """
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))


@pytest.fixture
def own_suites(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Suites that a test makes are forgotten after it, by etude and by Gymnasium."""
    import gymnasium  # neither is there where the built package is tested from outside

    from etude.suites.suite import SUITES

    len(SUITES)  # those of etude are there first
    for table in ("_values", "_modules"):
        monkeypatch.setattr(SUITES, table, dict(getattr(SUITES, table)))
    known = set(gymnasium.registry)
    yield
    for name in set(gymnasium.registry) - known:
        del gymnasium.registry[name]
