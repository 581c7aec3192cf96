"""Études: manipulation composed like decisions, without end. What one composes oneself from is here: see
:mod:`etude.suites.etudes.making`."""

from etude.suites.etudes import compose  # noqa: F401
from etude.suites.etudes.making import (
    OwnEtude,
    bring,
    close_drawer,
    each,
    either,
    exactly,
    first,
    in_any_order,
    open_drawer,
    push,
    put,
    take_out,
    take_over,
    touch,
    tower,
    turn,
    undo,
    up_to,
    when,
    with_the_first,
    without_moving,
    without_opening,
    without_touching,
    written,
)  # fmt: skip

__all__ = [
    "OwnEtude", "bring", "close_drawer", "each", "either", "exactly", "first", "in_any_order", "open_drawer", "push", "put", "take_out",
    "take_over", "touch", "tower", "turn", "undo", "up_to", "when", "with_the_first", "without_moving", "without_opening",
    "without_touching", "written",
]  # fmt: skip
