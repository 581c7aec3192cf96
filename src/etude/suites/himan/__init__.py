"""HiMan-Bench: ten atomic tasks and twelve that are composed of them."""

from etude.suites.himan import cleaning, cupboards, drawers  # noqa: F401
from etude.suites.himan.recipes import MISSING
from etude.suites.task import TASKS

TASKS["himan"] = {name: TASKS["himan"][name] for name in MISSING}  # the order of every table
