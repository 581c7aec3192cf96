"""Settings for all tests: property tests draw the same examples every time and are not judged by the clock.

``pytest --hypothesis-profile long`` tries ten times as many of them.
"""

from hypothesis import settings

settings.register_profile("etude", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, derandomize=True, max_examples=1000)
settings.load_profile("etude")
