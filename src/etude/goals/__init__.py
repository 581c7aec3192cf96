"""Goals as data, and the monitor that judges them. The data come without MuJoCo; ``Monitor`` loads it when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from etude.goals.goal import All, Always, Either, Goal, Not, Once, Order, Sequence, Status, Swap
from etude.goals.leaves import (
    Anew,
    AtPose,
    AtPosition,
    Away,
    Balanced,
    Clear,
    Followed,
    Gathered,
    Hit,
    Inside,
    InTurn,
    KeptOff,
    Laid,
    NoMore,
    OnBoard,
    OnTop,
    Picked,
    PushedTo,
    PushedTowards,
    Stacked,
    StructureToppled,
    TipAtPose,
    TipAtPosition,
    Touched,
    Traced,
    Untouched,
)

if TYPE_CHECKING:
    from etude.goals.monitor import Monitor

__all__ = [
    "All", "Always", "Anew", "AtPose", "AtPosition", "Away", "Balanced", "Clear", "Either", "Followed", "Gathered", "Goal", "Hit",
    "InTurn", "Inside", "KeptOff", "Laid", "Monitor", "NoMore", "Not", "OnBoard", "OnTop", "Once", "Order", "Picked", "PushedTo",
    "PushedTowards", "Sequence", "Stacked", "Status", "StructureToppled", "Swap", "TipAtPose", "TipAtPosition", "Touched", "Traced",
    "Untouched",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "Monitor":
        from etude.goals.monitor import Monitor

        return Monitor
    raise AttributeError(f"module 'etude.goals' has no attribute {name!r}")
