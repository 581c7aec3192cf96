"""Planning or execution: which of the two a failure is due to."""

from __future__ import annotations

from collections.abc import Sequence

from etude.evaluation.record import Fault, GivenSubtask


def fault_of(stages: Sequence[GivenSubtask], success: bool, enough: int) -> Fault | None:
    """What went wrong first: the first stage whose right sub-task was never done, neither then nor later, decides.

    It is execution's fault where the right thing was said there and had ``enough`` steps, whatever else was said, and planning's where
    something else was said first. So a sub-task that took longer than the planner would wait, and a wrong one that was made good again, are
    nobody's fault. Where the end of the episode cut a right sub-task short, the fault is planning's if wrong ones had taken time before.
    """
    if success:
        return None
    asked = [stage for stage in stages if stage.expected]
    wrong_before = False
    for k, stage in enumerate(asked):
        there = [one for one in asked[k:] if set(one.expected) & set(stage.expected)]
        if not any(one.achieved for one in there):
            if any(one.right and one.ended - one.begun >= enough for one in there):
                return "execution"
            cut_short = k == len(asked) - 1
            return "planning" if not stage.right or (cut_short and wrong_before) else "execution"
        wrong_before = wrong_before or not stage.right
    return "planning" if wrong_before else "execution"


def misled_at(stages: Sequence[GivenSubtask], fault: Fault | None) -> int | None:
    """Where planning is at fault, the control step at which the wrong thing was said that was never made good, or the first that was."""
    if fault != "planning":
        return None
    asked = [stage for stage in stages if stage.expected]
    wrong = [(k, stage) for k, stage in enumerate(asked) if not stage.right]
    lasting = [stage for k, stage in wrong if not any(one.achieved for one in asked[k:] if set(one.expected) <= set(stage.expected))]
    return next((stage.begun for stage in (*lasting, *(stage for _, stage in wrong))), None)
