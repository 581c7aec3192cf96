"""Scenes, states, frames, the oracle's actions and records are the same bytes on every machine, in every process, over releases."""

from __future__ import annotations

import json

import pytest
from kernels import OLDEST, SETTINGS, digests_under
from typer.testing import CliRunner

from etude import cli, digests
from etude.digests import cases, compute, expected, promised
from etude.index import INDEX
from etude.names import EpisodeName
from etude.scene.examples import EXAMPLES
from etude.suites.suite import SUITES

# The part that is quick, and in which all of the arithmetic takes part.
QUICK = (
    "tabletop",
    "clutter",
    "clevrskills/novel_adj_noun@test#0",
    "clevrskills/stack@test#0+mo_size",
    "vima/visual_manipulation@L1#0+all",
    "vlmbench/pick_shape@test_seen#0",
    "himan/box_in_cupboard@test#0",
    "iwisdm/low@val#0",
)


@pytest.mark.parametrize("case", cases())
def test_a_case_has_its_golden_digests(case):
    wanted = {key: text for key, text in expected().items() if key.rpartition(": ")[0] == case and promised(key)}
    found = compute([case])
    assert wanted and {key: found[key] for key in wanted} == wanted


def test_every_scene_has_digests():
    assert set(EXAMPLES) < set(cases())


def test_every_family_of_tasks_has_an_episode():
    """A family is a file of tasks; decisions are one. Suites that plug-ins have brought do not count."""
    names = [EpisodeName.parse(case) for case in cases() if case not in EXAMPLES]
    assert {SUITES[name.suite].tasks[name.task].module for name in names} == {t.module for s in INDEX for t in SUITES[s].tasks.values()}


def test_the_oldest_instructions_give_the_same_bytes():
    assert digests_under(OLDEST, QUICK) == {key: text for key, text in expected().items() if key.rpartition(": ")[0] in QUICK}


@pytest.mark.bytes
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_kernel_gives_the_same_bytes(setting):
    assert digests_under(SETTINGS[setting], cases()) == expected()


def test_doctor_compares_digests_in_the_documented_form(monkeypatch):
    tower = {key: text for key, text in expected().items() if key.startswith("tower: ")}
    report = json.loads(CliRunner().invoke(cli.app, ["doctor", "--digests", "--case", "tower", "--json"]).stdout)
    assert report["equal"] is True and report["digests"] == report["expected"] == tower
    monkeypatch.setattr(digests, "expected", lambda: {**tower, "tower: state": "0" * 16})
    done = CliRunner().invoke(cli.app, ["doctor", "--digests", "--case", "tower"])
    assert done.exit_code == 1 and "tower: state" in done.stdout and "1 of 3 digests differ" in done.stdout
