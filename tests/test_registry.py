"""Tables that others may add to."""

from __future__ import annotations

import pytest

from etude.names import EtudeError
from etude.registry import Registry, caller


@pytest.fixture
def fruits() -> Registry[int]:
    table: Registry[int] = Registry("fruit", lambda: table.add("pear", 1, "etude.fruits"))
    return table


def test_entries_come_in_the_order_of_registration_and_know_their_module(fruits):
    assert list(fruits) == ["pear"]
    fruits.add("apple", 2, "orchard")
    assert dict(fruits) == {"pear": 1, "apple": 2} and len(fruits) == 2
    assert (fruits.module_of("pear"), fruits.module_of("apple")) == ("etude.fruits", "orchard")


def test_what_comes_with_etude_is_loaded_by_the_first_look(fruits):
    fruits.add("fig", 3, "orchard")
    assert "pear" in fruits and fruits.get("plum") is None and list(fruits) == ["fig", "pear"]


def test_a_typo_is_answered_with_the_nearest_name(fruits):
    with pytest.raises(EtudeError, match="unknown fruit 'paer'; did you mean 'pear'?"):
        fruits["paer"]
    with pytest.raises(EtudeError, match="unknown fruit"):
        fruits.module_of("paer")


def test_a_taken_name_is_refused_and_both_modules_are_named(fruits):
    assert fruits["pear"] == 1
    with pytest.raises(EtudeError, match=r"^orchard: etude\.fruits has the fruit 'pear' already; choose another name$"):
        fruits.add("pear", 2, "orchard")
    assert fruits["pear"] == 1


def test_a_registering_function_learns_who_called_it():
    def register() -> str:
        return caller()

    assert register() == __name__
