"""HiMan-Bench: ten atomic tasks and twelve that are composed of them."""

from dataclasses import replace

from etude.suites.himan import cleaning, cupboards, drawers  # noqa: F401
from etude.suites.himan.recipes import MISSING
from etude.suites.task import TASKS

TASKS["himan"] = {name: replace(TASKS["himan"][name], without=without) for name, without in MISSING.items()}  # the order of every table
