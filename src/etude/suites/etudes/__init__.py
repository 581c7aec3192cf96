"""Études: manipulation composed like decisions, without end."""

from etude.suites.etudes import compose  # noqa: F401
