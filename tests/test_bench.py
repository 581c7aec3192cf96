"""Speed, measured: what is chosen, what two sources of etude say together, and the yardstick of a machine."""

from __future__ import annotations

import pytest

from etude.bench import against
from etude.bench.against import checked_out, compared, find_commit
from etude.bench.extent import extent, restrict, wanted
from etude.names import EtudeError
from etude.yardstick import yardstick

CHECKOUT = pytest.mark.skipif(not (against.SOURCE.parent / ".git").exists(), reason="not a git checkout")


def said(refused=(), **values):
    """What one side tells of one round: cases by name, each a value with its unit."""
    results = [{"case": case, "value": value, "unit": unit} for case, (value, unit) in values.items()]
    return {"results": results, "refused": dict(refused)}


def test_times_and_rates_are_compared_as_speeds_and_shares_are_not():
    here = said(step=(2.0, "CPU ms"), scale=(2.0, "CPU ms/control step"), episodes=(6.0, "episodes/CPU-s"), share=(20.0, "%"))
    there = said(step=(4.0, "CPU ms"), scale=(3.0, "CPU ms/control step"), episodes=(2.0, "episodes/CPU-s"), share=(40.0, "%"))
    found = {r.case: r for r in compared("abc1234", [here], [there]).results}
    assert {case: r.ratio for case, r in found.items()} == {"step": 2.0, "scale": 1.5, "episodes": 3.0, "share": None}
    assert {r.reference for r in found.values()} == {"abc1234"} and found["share"].reference_value == 40.0


def test_the_ratio_is_the_median_of_the_rounds_and_its_spread_their_extremes():
    here = [said(step=(value, "CPU ms")) for value in (1.0, 2.0, 4.0)]
    there = [said(step=(4.0, "CPU ms"))] * 3
    found = compared("abc1234", here, there)
    assert found.results[0].ratio == 2.0 and found.spreads == {"step": (1.0, 4.0)} and not found.untold


def test_what_only_one_side_has_is_told():
    here, there = said(new=(1.0, "s"), both=(1.0, "s")), said(old=(1.0, "s"), both=(1.0, "s"))
    found = compared("abc1234", [here], [there])
    assert found.untold == {"new": "not measured at abc1234", "old": "not measured here"}
    assert [r.ratio for r in found.results] == [None, 1.0]
    refused = compared("abc1234", [said(new=(1.0, "s"))], [said({"scale": "EtudeError: unknown"})])
    assert refused.untold["benchmark scale"] == "EtudeError: unknown" and refused.results[0].reference is None


@CHECKOUT
def test_an_unknown_commit_is_answered_with_the_nearest():
    short = find_commit("HEAD")
    assert find_commit(short) == short
    with pytest.raises(EtudeError, match=rf"unknown commit '{short}x'; did you mean .*{short}"):
        find_commit(f"{short}x")


def test_outside_of_a_checkout_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(against, "SOURCE", tmp_path)
    with pytest.raises(EtudeError, match=r"--against needs a git checkout of etude, .* which is none$"):
        find_commit("HEAD")


@CHECKOUT
def test_a_commit_is_checked_out_with_the_benches_of_today_and_removed():
    with checked_out(find_commit("HEAD")) as source:
        for part in (
            "bench/side.py",
            *(str(p.relative_to(against.SOURCE / "etude")) for p in against.SOURCE.glob("etude/suites/*/bench.py")),
        ):
            assert (source / "etude" / part).read_bytes() == (against.SOURCE / "etude" / part).read_bytes()
    assert not source.exists() and str(source) not in (against._git("worktree", "list") or str(source))


@pytest.fixture
def unrestricted(monkeypatch):
    for name in ("ETUDE_BENCH_QUICK", "ETUDE_BENCH_CASES"):
        monkeypatch.setenv(name, "")


def test_cases_are_chosen_by_texts_in_their_names_and_the_short_form_is_shorter(unrestricted):
    assert wanted("render 64x64") and extent(40, 8) == 40
    restrict(True, ["rotate", "twist"])
    assert [wanted(case) for case in ("vima/rotate", "vima/twist", "vima/rearrange")] == [True, True, False]
    assert extent(40, 8) == 8


def test_the_yardstick_tells_a_compiler_from_an_interpreter():
    rates = yardstick()
    assert set(rates) == {"compiled_mops", "python_mops"} and rates["compiled_mops"] > 3 * rates["python_mops"] > 0
