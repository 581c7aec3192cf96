"""Settings for all tests: property tests draw the same examples every time and are not judged by the clock.

``pytest --hypothesis-profile long`` tries ten times as many of them.
"""

import pytest
from hypothesis import settings

LONG = (
    "test_cluster", "test_demos", "test_plugins", "test_workers", "test_resuming", "test_full_disk", "test_stimuli", "test_ids",
    "test_digests", "test_clevrskills", "test_vlmbench", "test_himan", "test_examples", "test_docs", "test_cli", "test_faults",
    "test_household", "test_study", "test_vector_env",
)  # fmt: skip

settings.register_profile("etude", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, derandomize=True, max_examples=1000)
settings.load_profile("etude")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long begin first, so that no worker is left alone with one of them in the end."""
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))
