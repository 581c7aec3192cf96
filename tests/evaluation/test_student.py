"""Quantiles of Student's t are those of the tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from etude.evaluation.inference import student_quantile as quantile


@pytest.mark.parametrize(
    ("freedom", "probability", "expected"),
    [(1, 0.975, 12.7062), (2, 0.975, 4.30265), (3, 0.95, 2.35336), (4, 0.995, 4.60409), (10, 0.975, 2.22814), (30, 0.9995, 3.64596)],
)
def test_quantiles_are_those_of_the_tables(freedom: int, probability: float, expected: float) -> None:
    assert quantile(probability, freedom) == pytest.approx(expected, rel=3e-6)
    assert quantile(1 - probability, freedom) == pytest.approx(-expected, rel=3e-6)


@given(st.integers(1, 300), st.floats(0.001, 0.499))
def test_so_much_of_the_distribution_lies_below_its_quantile(freedom: int, probability: float) -> None:
    assert t.cdf(quantile(probability, freedom), freedom) == pytest.approx(probability, rel=1e-9)


def test_the_middle_is_at_nought() -> None:
    assert abs(quantile(0.5, 7)) < 1e-15
