"""Perturbations of one's own: registered from any module, known everywhere, and without a say in what other names stand for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from etude.library import episode
from etude.names import EtudeError
from etude.perturb.factors import factors, refused
from etude.perturb.perturbation import PERTURBATIONS, known_perturbations, observation_perturbation, observed, perturbation, plausible

NAME = "vlmbench/pick_relative@train#1"


@pytest.fixture
def own():
    """A thirteenth factor and a perturbation of what is seen; both are gone afterwards."""

    @perturbation("slower", "scene", plausible=True, factor=True)
    def slower(one, stream):
        """Give it more time."""
        return replace(one, horizon=one.horizon + stream.integer(1, 9))

    @observation_perturbation("dark", plausible=False, needs=("rgb",))
    def dark(observation, one, step):
        """Switch off the light."""
        return {**observation, "rgb": 0}

    yield
    for name in ("slower", "dark"):
        PERTURBATIONS.pop(name, None)


def test_it_is_named_like_any_other_and_remembers_where_it_comes_from(own):
    assert episode(f"{NAME}+slower").horizon > episode(NAME).horizon and not plausible(["slower", "dark"])
    assert observed({"rgb": 255}, episode(f"{NAME}+dark"), 0) == {"rgb": 0}
    assert {known_perturbations()[name].module for name in ("slower", "dark")} == {__name__}
    assert known_perturbations()["mo_color"].module == "etude.perturb.looks"


def test_a_thirteenth_factor_follows_the_twelve_and_all_stays_what_it_was(own):
    twelve = episode(f"{NAME}+all").id
    assert list(factors())[-1] == "slower" and len(factors()) == 13 and "slower" not in refused(episode(NAME))
    assert episode(f"{NAME}+all+slower").scene == episode(f"{NAME}+all").scene
    del PERTURBATIONS["slower"]
    assert episode(f"{NAME}+all").id == twelve


def test_a_name_is_given_once(own):
    known_perturbations()
    with pytest.raises(EtudeError, match=rf"'mo_size' of {__name__} is there already, from etude.perturb.sizes; choose another name"):
        perturbation("mo_size", "scene", plausible=True)(test_a_name_is_given_once)
    with pytest.raises(EtudeError, match=f"'slower' of {__name__} is there already, from {__name__}"):
        observation_perturbation("slower", plausible=True, needs=())(test_a_name_is_given_once)
