"""Frozen lists: which seeds are replaced, and what has to be played before that is known."""

from __future__ import annotations

from dataclasses import replace

import etude
from etude.evaluation.replacing import main, replacements
from etude.library import named_plan
from etude.names import EpisodeName
from etude.suites.replacing import NEXT, listed

NAME = EpisodeName.parse("kitchen/cup_on_plate@test#3+mo_color")


def test_an_unsolved_seed_is_replaced_by_one_of_its_variation_until_one_is_solved() -> None:
    later = [replace(NAME, seed=3 + k * NEXT) for k in range(3)]
    assert replacements([(NAME, False)]) == ({"cup_on_plate@test+mo_color": (3,)}, [str(later[1])])
    table, missing = replacements([(NAME, False), (later[1], False), (later[2], True)])
    assert table == {"cup_on_plate@test+mo_color": (3, 3)} and not missing
    assert listed(NAME, table) == str(later[2])
    assert listed(replace(NAME, perturbations=()), table) == "kitchen/cup_on_plate@test#3"


def test_a_replacement_alone_does_not_tell_whether_the_first_would_be_solved_now() -> None:
    assert replacements([(replace(NAME, seed=3 + NEXT), True)]) == ({}, [str(NAME)])


def test_the_table_is_printed_from_runs(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    plan = tmp_path / "names"
    plan.write_text("vima/rotate@L1#0\nvima/rotate@L1#1\n", encoding="utf-8")
    etude.evaluate("random", plan, out=tmp_path / "run", workers=1)
    missing = tmp_path / "missing"
    assert main([str(tmp_path / "run"), "--missing", str(missing)]) == 1
    assert capsys.readouterr().out == '    "rotate@L1": (0, 1),\n'
    assert missing.read_text(encoding="utf-8").split() == [f"vima/rotate@L1#{NEXT}", f"vima/rotate@L1#{NEXT + 1}"]


def test_lists_are_of_the_same_variations_as_their_first_seeds() -> None:
    for suite in ("vlmbench", "himan"):
        for split in etude.suites()[suite].plans:
            plan = named_plan(f"{suite}-{split}")
            assert plan is not None and all(EpisodeName.parse(name).seed % NEXT < 600 for name in plan())
