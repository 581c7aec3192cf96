"""Tasks by arms on a page: where an arm fails over its reach, and where the policy does."""

from __future__ import annotations

from collections.abc import Sequence

from etude.evaluation.arms import ArmRow, by_arm, other_arms
from etude.report.contestants import Contestant
from etude.report.markup import Cell, Column, Row, breakable, esc, section, table

LEAD = (
    "Success with each robot arm; runs of one policy are pooled. “Out of reach” are failures in which a keypose was beyond the arm’s"
    " reach; “unplayable” are requested episodes that were left out, because the arm cannot be placed over the objects."
)


def arm_rows(arms: Sequence[Contestant]) -> list[tuple[str, ArmRow]]:
    """By policy, tasks with every arm; nothing where no arm but the suites' own was played with."""
    if not any(other_arms(one.records) for one in arms):
        return []
    groups: dict[str, list[Contestant]] = {}
    for one in arms:
        with_planner = f" + {one.run.plan.planner}" if one.run.plan.planner else ""
        groups.setdefault(f"{one.run.plan.policy}{with_planner}" + (f", {one.mode}" if one.mode != "vanilla" else ""), []).append(one)
    found = []
    for label, members in groups.items():
        records = [record for one in members for record in one.records]
        left_out = dict.fromkeys(name for one in members for name in one.run.plan.out_of_reach)
        found += [(label, row) for row in by_arm(records, tuple(left_out))]
    return found


def arms_section(arms: Sequence[Contestant]) -> str:
    """A line for each policy and task, a column for each arm."""
    rows = arm_rows(arms)
    if not rows:
        return ""
    names = list(dict.fromkeys(row.arm for _, row in rows))
    cells = {(label, f"{row.suite}/{row.task}", row.arm): row for label, row in rows}
    several = len({label for label, _ in rows}) > 1
    columns = [Column("task"), *([Column("policy")] if several else []), *(Column(name, numeric=True) for name in names)]
    lines = []
    for label, task in dict.fromkeys((label, task) for label, task, _ in cells):
        found = [cells.get((label, task, name)) for name in names]
        who = [Cell(breakable(label))] if several else []
        shown = (Cell("–", -1.0) if row is None else Cell(esc(row), row.successes / row.asked) for row in found)
        lines.append(Row((Cell(breakable(task)), *who, *shown)))
    return section("arms", "Arms", LEAD, table("arms-table", "Success by task and arm", columns, lines))
