"""Policies and planners under names of their own: in this process, and in workers that are told which modules bring them."""

from __future__ import annotations

import pytest

from etude import api
from etude.evaluation.run import RunSettings
from etude.names import EtudeError
from etude.policies.loading import load_decider, load_planner, load_policy
from etude.policies.planners import RulePlanner
from etude.policies.register import DECIDERS, PLANNERS, POLICIES, register_decider, register_planner, register_policy
from etude.policies.scripted import NoopPolicy

PLUGIN = """
from etude.policies.register import register_policy
from etude.policies.scripted import OraclePolicy

@register_policy("trembling")
class Trembling(OraclePolicy):
    def __init__(self, much: float = 0.0) -> None:
        super().__init__(noise=much)
"""


class Slow(NoopPolicy):
    def __init__(self, speed: float = 1.0) -> None:
        super().__init__()
        self.speed = speed


@pytest.fixture
def tables(monkeypatch):
    """What is registered in a test is forgotten after it."""
    for table in (POLICIES, PLANNERS, DECIDERS):
        len(table)  # those of etude are there first
        for part in ("_values", "_modules"):
            monkeypatch.setattr(table, part, dict(getattr(table, part)))


def test_a_registered_policy_is_made_from_its_name_and_options(tables):
    register_policy("slow")(Slow)
    found = load_policy("slow:speed=0.5")
    assert isinstance(found, Slow) and found.speed == 0.5 and POLICIES.module_of("slow") == __name__
    with pytest.raises(EtudeError, match="unknown policy 'slwo'; did you mean 'slow'"):
        load_policy("slwo")
    with pytest.raises(EtudeError, match="did you mean 'speed'"):
        load_policy("slow:sped=1")


def test_a_registered_address_is_given_the_whole_text(tables):
    @register_policy("menagerie", address=True)
    def from_zoo(text: str):
        return Slow(float(text.removeprefix("menagerie:")))

    assert load_policy("menagerie:0.25").speed == 0.25


def test_planners_and_deciders_are_registered_the_same_way(tables):
    register_planner("mine")(RulePlanner)
    register_decider("mine")(NoopPolicy)
    assert isinstance(load_planner("mine"), RulePlanner) and isinstance(load_decider("mine"), NoopPolicy)
    assert isinstance(load_policy("mine"), NoopPolicy)  # there is no other of this name


def test_a_name_that_is_taken_is_refused(tables):
    with pytest.raises(EtudeError, match=r"etude\.policies\.scripted has the policy 'oracle' already"):
        register_policy("oracle")(Slow)


def test_workers_import_the_plug_ins_of_a_run_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "brings_trembling.py").write_text(PLUGIN)
    run = api.evaluate(
        "trembling:much=0.001", "clevrskills/touch@train#0", out="run", settings=RunSettings(1, plugins=("brings_trembling",))
    )
    assert [r.outcome for r in run.records] == ["success"]
    assert [p["module"] for p in run.info["plugins"]] == ["brings_trembling"] and run.info["code"]["policy"]["module"] == "brings_trembling"
    with pytest.raises(EtudeError, match="there is no module 'brings_nothing' here"):
        api.evaluate("trembling", "clevrskills/touch@train#0", out="other", settings=RunSettings(1, plugins=("brings_nothing",)))
