"""Trained policies as packages: found, listed, and refused in one line where something is wrong. Nothing here needs torch."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from refusing import refused, told
from zoos import install, toy_card, write_policy

from etude.learn.cards import ZooCard, results_tables, zoo_page
from etude.learn.named_recipes import recipe_named
from etude.learn.zoo import cards_in
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.policies.loading import halves_of, load_policy

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "zoo" / "src" / "etude_zoo"


@pytest.fixture
def package(tmp_path, monkeypatch, request):
    """The package of a zoo with one policy."""
    folder = tmp_path / re.sub(r"\W", "_", f"{request.node.name}_zoo")
    write_policy(folder, toy_card())
    install(folder, monkeypatch)
    return folder


def test_the_list_has_its_stable_form(package, capsys, monkeypatch):
    row = next(one for one in json.loads(told(capsys, monkeypatch, "zoo", "--json"))["policies"] if one["name"] == "toy-objects")
    assert list(row) == ["name", "suite", "family", "parameters", "bytes", "trained_on", "command"]
    assert "toy-objects" in told(capsys, monkeypatch, "zoo")


def test_a_wrong_name_gets_the_nearest(package):
    with pytest.raises(EtudeError, match="did you mean 'toy-objects'"):
        load_policy("zoo:toy-object")


def test_without_onnxruntime_the_command_that_installs_it_is_told(package, monkeypatch):
    monkeypatch.delitem(sys.modules, "etude.learn.onnx_inference", raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EtudeError, match=r"'onnxruntime', which is not installed: pip install 'etude\[zoo\]'"):
        load_policy("zoo:toy-objects")


def test_the_half_beside_a_simulation_is_made_of_the_card_alone(package):
    (package / "toy-objects.onnx").unlink()
    halves = halves_of("zoo:toy-objects")
    assert halves.encoder().contract == Contract.from_data(toy_card().contract).as_etude() and not halves.shared()


def test_a_card_of_a_policy_that_learned_decisions_is_refused(package):
    write_policy(package, replace(toy_card(), recipe=recipe_named("iwisdm/decider").to_data()))
    with pytest.raises(EtudeError, match="zoo:toy-objects has learned decisions; what is exported and played by onnxruntime is strokes"):
        halves_of("zoo:toy-objects").encoder()


@pytest.mark.parametrize(("text", "what"), [("{", "not JSON"), ("[]", "an object"), ('{"name": "toy-objects"}', "'suite' is missing")])
def test_a_damaged_card_gets_one_line(package, text, what, capsys, monkeypatch):
    (package / "toy-objects.json").write_text(text)
    assert what in refused(capsys, monkeypatch, "zoo", "--json")


def test_two_zoos_with_one_name_are_told(package, tmp_path, monkeypatch):
    other = tmp_path / "other" / "another_zoo"
    write_policy(other, toy_card())
    install(other, monkeypatch)
    with pytest.raises(EtudeError, match="two zoos have a policy 'toy-objects'"):
        load_policy("zoo:toy-objects")


def test_a_card_of_a_later_etude_can_be_read():
    assert ZooCard.from_data({**toy_card().to_data(), "mood": "good"}, "card").name == "toy-objects"


def test_the_page_tells_what_the_card_does():
    text = zoo_page([replace(toy_card(), command="etude train this")])
    assert "etude train this" in text and "| L1 | none | 4 | 75 % | 30–95 |" in text and "| L1 | rotate | 4 | 75 % | 30–95 |" in text


def test_who_was_led_by_a_planner_is_told_apart_from_who_was_not():
    row = {"split": "test", "perturbation": "", "episodes": 4, "successes": 3, "interval": [0.3, 0.95]}
    alone, led = {"mode": "vanilla", **row}, {"mode": "rule", **row, "successes": 4}
    assert "mode" not in results_tables([row], []) and results_tables([row], []) == results_tables([alone], [])
    both = results_tables([alone, led], [{**one, "task": "open_drawer"} for one in (alone, led)])
    lines = both.splitlines()
    assert "| mode | split | perturbation | episodes | success | 95 % |" in lines
    assert "| rule | test | none | 4 | 100 % | 30–95 |" in lines and "| vanilla | test | open_drawer | 4 | 75 % | 30–95 |" in lines


def test_the_page_of_the_documentation_is_that_of_the_shipped_cards():
    assert (ROOT / "docs" / "zoo.md").read_text(encoding="utf-8") == zoo_page(cards_in(SHIPPED))
