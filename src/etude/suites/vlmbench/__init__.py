"""VLMbench: eight categories of unit tasks with constraints, 24 tasks, 234 variations."""

from etude.suites.vlmbench import dropping, opening, picking, pouring, sorting, stacking, wiping  # noqa: F401
