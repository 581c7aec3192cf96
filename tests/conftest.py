"""Settings for all tests: property tests draw the same examples every time and are not judged by the clock."""

from hypothesis import settings

settings.register_profile("etude", deadline=None, derandomize=True)
settings.load_profile("etude")
