"""Tables in the papers' layout, the no-mistakes metric, and lists that are frozen under a name."""

from __future__ import annotations

import pytest

from etude.evaluation.matrix import CHANCE, level_conditions, matrices
from etude.evaluation.plan import make_names, read_names
from etude.evaluation.record import Record


def made(task: str, level: str, seed: int, steps: int, success: bool, least: int = 1, options: str = "") -> Record:
    name = f"vima/{task}@{level}#{seed}{options}"
    return Record(f"{name}~0", name, "vanilla", level, "success" if success else "failure", steps, least=least)


def rows(records):
    (matrix,) = matrices(records)
    return matrix.columns, {(r.condition, r.level, r.reading): r for r in matrix.rows}


def test_levels_are_rows_and_tasks_columns_in_the_order_of_the_suite():
    records = [
        made("rotate", "L1", 0, 1, True),
        made("visual_manipulation", "L2", 0, 1, False),
        made("visual_manipulation", "L1", 0, 2, True),
    ]
    columns, found = rows(records)
    assert columns == ("visual_manipulation", "rotate")
    assert found["default", "L1", "success"].cells == (100.0, 100.0)
    assert found["default", "L2", "success"].cells == (0.0, None)
    assert found["default", "L2", "success"].average == 0.0


def test_levels_cross_conditions_where_there_are_several_of_both():
    easy, hard = [made("rotate", "low", k, 1, True) for k in range(3)], [made("rotate", "high", k, 1, k == 0) for k in range(4)]
    dark = [made("rotate", "high", k, 1, False, options="+dark") for k in range(2)]
    (found,) = level_conditions([*hard, *easy, *dark])
    assert found.levels == ("low", "high")  # as one would say it
    counted = {condition: [t and (t.successes, t.episodes) for t in sums] for condition, sums in found.rows}
    assert counted == {"default": [(3, 3), (1, 4)], "dark": [None, (0, 2)]}
    assert level_conditions([*hard, *easy]) == [] == level_conditions([*hard, *dark])


def test_more_actions_than_needed_are_a_mistake():
    records = [made("rotate", "L1", k, 1 + (k == 0), True) for k in range(4)] + [made("rotate", "L2", 0, 1, True)]
    _, found = rows(records)
    assert found["default", "L1", "success"].cells == (100.0,)
    assert found["default", "L1", "no mistakes"].cells == (75.0,)


def test_chance_is_the_papers_estimate_for_as_many_actions_as_are_needed():
    _, found = rows([made("rotate", "L1", 0, 1, True, least=2), made("rotate", "L2", 0, 1, True, least=1)])
    assert found["default", "L1", "chance"].average == pytest.approx(100 * CHANCE**2)
    assert found["default", "L2", "chance"].average == pytest.approx(0.125)


def test_conditions_are_kept_apart_and_errors_left_out():
    broken = Record("x", "vima/rotate@L1#9", "vanilla", "L1", "error", error="x", least=1)
    records = [
        made("rotate", "L1", 0, 1, True),
        made("rotate", "L2", 0, 1, True),
        made("rotate", "L1", 1, 1, False, 1, "?difficulty=extreme"),
    ]
    _, found = rows([*records, broken])
    assert found["extreme", "L1", "success"].average == 0.0 and found["default", "L1", "success"].average == 100.0


def test_where_nobody_counted_actions_only_success_is_stated():
    _, found = rows([made("rotate", level, 0, 1, True, least=0) for level in ("L1", "L2")])
    assert {reading for _, _, reading in found} == {"success"}


def test_one_level_alone_needs_no_matrix():
    assert matrices([made("rotate", "L1", 0, 1, True)]) == []


def test_the_frozen_list_of_vima_has_200_seeds_of_every_task_and_level(tmp_path):
    from pathlib import Path

    names = read_names(Path("vima-200"))
    assert len(names) == len(set(names)) and len(names) % 200 == 0
    assert make_names(["vima"], ["rotate"], ["L1"], episodes=200) == tuple(n for n in names if n.startswith("vima/rotate@L1#"))
