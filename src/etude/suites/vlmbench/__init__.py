"""VLMbench: eight categories of unit tasks with constraints, 24 tasks, 234 variations."""

from etude.suites.task import TASKS
from etude.suites.vlmbench import dropping, opening, picking, pouring, sorting, stacking, wiping  # noqa: F401
from etude.suites.vlmbench.lists import SIZES

TASKS["vlmbench"] = {name: TASKS["vlmbench"][name] for name in SIZES}  # the order of every table
