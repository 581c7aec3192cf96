"""HiMan-Bench: ten atomic tasks and twelve that are composed of them."""

from etude.suites.himan import cleaning, cupboards, drawers  # noqa: F401
