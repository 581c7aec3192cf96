"""Tables that others may add to."""

from __future__ import annotations

import sys

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
    assert "pear" in fruits and fruits.get("plum") is None and list(fruits) == ["pear"]


def test_a_name_of_etude_is_refused_even_before_anybody_looked(fruits):
    with pytest.raises(EtudeError, match=r"^orchard: etude\.fruits has"):
        fruits.add("pear", 2, "orchard")


def test_a_typo_is_answered_with_the_nearest_name(fruits):
    with pytest.raises(EtudeError, match=r"unknown fruit 'paer'; did you mean 'pear'\?"):
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


def test_what_is_registered_for_later_is_listed_at_once_and_imported_when_asked_for(tmp_path, monkeypatch):
    (tmp_path / "late_orchard.py").write_text("PLUM = 3")
    monkeypatch.syspath_prepend(tmp_path)
    table: Registry[int] = Registry("fruit")
    table.add_later("plum", "late_orchard", "PLUM")
    assert list(table) == ["plum"] and "plum" in table and "late_orchard" not in sys.modules
    with pytest.raises(EtudeError, match="late_orchard has the fruit 'plum' already"):
        table.add("plum", 2, "orchard")
    assert table["plum"] == 3 and table.module_of("plum") == "late_orchard"
