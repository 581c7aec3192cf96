"""The leaderboard: rows that prove what they played, reasons for those that do not, and seeds that stay private."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from etude.evaluation.plan import Plan
from etude.evaluation.play import Players
from etude.evaluation.run import Quiet, RunSettings, evaluate
from etude.evaluation.store import Run
from etude.library import episode
from etude.names import EtudeError
from etude.report.board import board, write_board
from etude.salt import make_salt, read_salt, salt_digest

NAMES = ("clevrskills/pick@test#0", "clevrskills/pick@test#1")


def played(folder: Path, policy: str, names: tuple[str, ...] = NAMES) -> Run:
    return evaluate(Plan(policy, names), folder, RunSettings(1), Quiet(), players=Players(policy))


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> tuple[Run, Run]:
    folder = tmp_path_factory.mktemp("board")
    return played(folder / "noop", "noop"), played(folder / "oracle", "oracle")


def test_the_best_stands_first_with_command_versions_and_digests(runs, tmp_path):
    found = board(runs)
    write_board(found, tmp_path / "site")
    assert [row.run.plan.policy for row in found.rows] == ["oracle", "noop"] and not found.refused
    text = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    data = json.loads((tmp_path / "site/board.json").read_text())
    for row in data["rows"]:
        assert row["plan"] in text and row["ids"] in text and row["results"] in text and "numpy" in row["versions"]
    assert data["rows"][0]["successes"] == 2 and data["rows"][0]["episodes"] == 2 and data["rows"][0]["ids"] == data["rows"][1]["ids"]
    assert [row["privileged"] for row in data["rows"]] == [True, False] and text.count("has the true state") == 1
    assert (tmp_path / "site/1-oracle.html").is_file() and (tmp_path / "site/2-noop.html").is_file()


def test_an_episode_with_another_digest_is_refused_by_name(runs):
    noop, oracle = runs
    forged = replace(oracle, records=(oracle.records[0], replace(oracle.records[1], id=f"{NAMES[1]}~000000000000")))
    found = board([noop, forged])
    ((_, reason),) = found.refused
    assert NAMES[1] in reason and "000000000000 in the run" in reason and len(found.rows) == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda run: replace(run, records=run.records[:1]), "1 of 2 episodes are not played yet"),
        (lambda run: replace(run, info={**run.info, "plan": "0" * 12}), "run.json says 000000000000"),
        (lambda run: replace(run, info={**run.info, "protocol": "other"}), "its protocol is other"),
        (lambda run: replace(run, info={**run.info, "renderer": "gl"}), "its renderer is gl"),
        (lambda run: replace(run, records=(run.records[0], replace(run.records[1], outcome="error"))), "1 episode ended in an error"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_reason(runs, change, reason):
    noop, oracle = runs
    ((_, found),) = board([noop, change(oracle)]).refused
    assert reason in found


def test_other_episodes_do_not_belong_on_the_board(runs, tmp_path):
    other = played(tmp_path / "other", "oracle", NAMES[:1])
    ((_, reason),) = board([runs[0], other]).refused
    assert "other episodes" in reason


def test_a_board_without_rows_is_not_written(runs, tmp_path):
    forged = replace(runs[0], info={**runs[0].info, "plan": "0" * 12})
    with pytest.raises(EtudeError, match="no run may stand on the board"):
        write_board(board([forged]), tmp_path / "site")
    assert not (tmp_path / "site").exists()


# ------------------------------------------------------------------------------------------------ private seeds


@pytest.fixture
def salted(tmp_path, monkeypatch) -> str:
    """The name of an episode with a salt that is at hand."""
    make_salt(tmp_path / "salt")
    monkeypatch.setenv("ETUDE_SALT", str(tmp_path / "salt"))
    return f"{NAMES[0]}?salt={salt_digest(read_salt(tmp_path / 'salt'))}"


def test_a_salt_makes_other_episodes_of_the_same_seeds(salted):
    private, public = episode(salted), episode(NAMES[0])
    assert private.scene != public.scene and private == episode(salted)


def test_without_the_salt_nobody_finds_them(salted, monkeypatch, tmp_path):
    make_salt(tmp_path / "other")
    monkeypatch.setenv("ETUDE_SALT", str(tmp_path / "other"))
    with pytest.raises(EtudeError, match="and the name says salt="):
        episode(salted)
    monkeypatch.delenv("ETUDE_SALT")
    with pytest.raises(EtudeError, match="are private: set ETUDE_SALT"):
        episode(salted)


def test_a_private_board_shows_no_episode(salted, tmp_path):
    found = board([played(tmp_path / "run", "oracle", (salted,))])
    write_board(found, tmp_path / "site")
    assert sorted(p.name for p in (tmp_path / "site").iterdir()) == ["board.json", "index.html"]
    assert "seeds are private" in (tmp_path / "site/index.html").read_text(encoding="utf-8")


def test_a_salt_is_not_made_twice_and_must_be_long(tmp_path):
    make_salt(tmp_path / "salt")
    with pytest.raises(FileExistsError):
        make_salt(tmp_path / "salt")
    (tmp_path / "short").write_text("sugar")
    with pytest.raises(EtudeError, match="could be guessed"):
        read_salt(tmp_path / "short")
