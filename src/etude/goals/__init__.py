"""Goals as data, and the monitor that judges them. The data come without MuJoCo; ``Monitor`` loads it when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from etude.goals.goal import All, Always, Either, Goal, Not, Once, Order, Sequence, Status, Swap
from etude.goals.leaves import *  # noqa: F403
from etude.goals.leaves import __all__ as _leaves

if TYPE_CHECKING:
    from etude.goals.monitor import Monitor

__all__ = ["All", "Always", "Either", "Goal", "Monitor", "Not", "Once", "Order", "Sequence", "Status", "Swap", *_leaves]


def __getattr__(name: str) -> Any:
    if name == "Monitor":
        from etude.goals.monitor import Monitor

        return Monitor
    raise AttributeError(f"module 'etude.goals' has no attribute {name!r}")
