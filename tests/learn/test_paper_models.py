"""The models that a paper's tables are about are of one size, and small enough to ship."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'learn')")

from etude.learn.models.cogelot import Cogelot, parameters_of  # noqa: E402
from etude.learn.named_recipes import recipe_named  # noqa: E402
from etude.learn.samples import SIZE  # noqa: E402
from etude.papers.models import SHIPPING, models_of  # noqa: E402


def test_all_models_of_the_paper_have_the_same_size_within_five_per_cent_and_could_ship():
    recipes = {recipe_named(f"vima/{one.recipe}", one.settings).model for one in models_of("vima")}
    with torch.device("meta"):
        sizes = [parameters_of(Cogelot(recipe, SIZE)) for recipe in recipes]
    assert len(sizes) == 5 and max(sizes) <= 1.05 * min(sizes)
    assert 2 * max(sizes) < SHIPPING - 100_000  # float16; a header comes with it
