"""Settings for all tests: property tests draw the same examples every time and are not judged by the clock.

``pytest --hypothesis-profile long`` tries ten times as many of them.
"""

import pytest
from hypothesis import settings

settings.register_profile("etude", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, derandomize=True, max_examples=1000)
settings.load_profile("etude")

TOGETHER = ("datasets", "evaluate", "report", "web")  # whose files make runs, data sets or clusters that all of their tests look at


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share something expensive are played by one worker (``--dist loadgroup``)."""
    for item in items:
        if item.path.parent.name in TOGETHER:
            item.add_marker(pytest.mark.xdist_group(item.path.name))
