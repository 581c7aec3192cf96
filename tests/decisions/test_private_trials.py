"""Private seeds of decisions: trials drawn with a salt that their owner keeps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import etude
from etude.decisions.balance import turn
from etude.evaluation.store import Run
from etude.library import trial
from etude.names import EtudeError
from etude.report.board import board, write_board
from etude.salt import make_salt, read_salt, salt_digest
from etude.suites.iwisdm.benchmarks import LISTS

NAME = "iwisdm/high@val#3"


@pytest.fixture
def salts(tmp_path, monkeypatch):
    """Two salts; the first is at hand."""
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        make_salt(path)
    monkeypatch.setenv("ETUDE_SALT", str(paths[0]))
    return paths


def salted(name: str, path: Path) -> str:
    return f"{name}{'&' if '?' in name else '?'}salt={salt_digest(read_salt(path))}"


def content(name: str):
    found = trial(name)
    return found.tasks, found.frames, found.answers


def test_a_salt_makes_other_trials_of_the_same_seeds_and_the_same_salt_the_same(salts, monkeypatch):
    one, public = trial(salted(NAME, salts[0])), trial(NAME)
    assert one == trial(salted(NAME, salts[0])) and one.id.startswith(salted(NAME, salts[0]))
    assert (one.tasks, one.frames) != (public.tasks, public.frames)
    monkeypatch.setenv("ETUDE_SALT", str(salts[1]))
    assert content(salted(NAME, salts[1])) not in (content(NAME), (one.tasks, one.frames, one.answers))
    assert trial(NAME) == public  # a salt that is at hand changes nothing that does not ask for it


@pytest.mark.parametrize("task", sorted(LISTS.keys() - {"auto"}))
def test_every_list_has_private_trials(task, salts):
    names = [f"iwisdm/{task}@val#{seed}" for seed in range(3)]
    assert [content(salted(name, salts[0])) for name in names] != [content(name) for name in names]


@pytest.mark.parametrize("options", ["delay=2", "distractors=1", "delay=1&distractors=2"])
def test_variants_of_a_private_trial_are_private_too(options, salts):
    name = f"iwisdm/match_to_sample_category@val#5?{options}"
    assert content(salted(name, salts[0])) == content(salted(name, salts[0])) != content(name)


def test_private_lists_are_balanced_over_consecutive_seeds(salts):
    answers = Counter(content(salted(f"iwisdm/match_to_sample_category@val#{seed}", salts[0]))[2][-1] for seed in range(20))
    assert answers == {"true": 10, "false": 10}


def test_nobody_finds_them_without_the_salt_and_nothing_tells_it(salts, monkeypatch):
    name, secret = salted(NAME, salts[0]), read_salt(salts[0]).hex()
    assert secret not in trial(name).to_json() and read_salt(salts[0]).decode() not in trial(name).to_json()
    with pytest.raises(EtudeError, match=r"^iwisdm/high@val: there is nothing to choose from$"):
        turn((), f"iwisdm/high@val\n{secret}/kinds", 0)
    monkeypatch.setenv("ETUDE_SALT", str(salts[1]))
    with pytest.raises(EtudeError, match="and the name says salt="):
        trial(name)
    monkeypatch.delenv("ETUDE_SALT")
    with pytest.raises(EtudeError, match="are private: set ETUDE_SALT"):
        trial(name)


def test_a_private_board_of_decisions_shows_no_trial(salts, tmp_path):
    digest = salt_digest(read_salt(salts[0]))
    run: Run = etude.evaluate("oracle", "iwisdm/low@val", episodes=4, options={"salt": digest}, out=tmp_path / "run", workers=1)
    assert [r.success for r in run.records] == [True] * 4 and all(f"salt={digest}" in r.id for r in run.records)
    found = board([run])
    assert len(found.rows) == 1 and not found.refused and found.private
    write_board(found, tmp_path / "site")
    assert sorted(p.name for p in (tmp_path / "site").iterdir()) == ["board.json", "index.html"]


def test_other_options_of_scenes_are_still_none_of_decisions():
    with pytest.raises(EtudeError, match=r"unknown option of iwisdm/high 'prompt'|does not apply to iwisdm"):
        trial(f"{NAME}?prompt=1")
