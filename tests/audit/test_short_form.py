"""The short form of the audit, on tasks of every suite in which something once gave the answer away. The long one is a command."""

from __future__ import annotations

import pytest

from etude.audit.run import audit

TASKS = {
    "clevrskills": ["pick", "push", "neighbour"],
    "himan": ["open_drawer", "transfer_box"],
    "iwisdm": ["condition", "match_to_sample_identity", "perception"],
    "vima": ["visual_manipulation", "sweep_without_exceeding", "twist"],
    "vlmbench": ["pick_color", "wipe_relative"],
}


@pytest.mark.parametrize("suite", TASKS)
def test_nothing_gives_the_answer_away(suite):
    found = audit(suite, task=TASKS[suite], episodes=24, moving=0, workers=1)
    assert found.ok, [*found.degenerate, *found.leaks, *(row for row in found.rows if not row.ok)]
    assert len(found.rows) == len(TASKS[suite]) and all(row.chance < 1 for row in found.rows)
