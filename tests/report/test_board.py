"""The leaderboard: rows that prove what they played, reasons for those that do not, and seeds that stay private."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from etude.evaluation.plan import Plan
from etude.evaluation.play import Players
from etude.evaluation.replaying import actions_file
from etude.evaluation.run import Quiet, RunSettings, evaluate
from etude.evaluation.store import Run
from etude.evaluation.worker import Keep
from etude.library import episode
from etude.names import EtudeError
from etude.policies.replay import read_actions, write_actions
from etude.report.board import board, write_board
from etude.salt import make_salt, read_salt, salt_digest

NAMES = ("clevrskills/pick@test#0", "clevrskills/pick@test#1")


def played(folder: Path, policy: str, names: tuple[str, ...] = NAMES, keep: Keep = "none", planner: str = "", *modes: str) -> Run:
    plan = Plan(policy, names, planner, modes or ("vanilla",))
    return evaluate(plan, folder, RunSettings(1, keep=keep), Quiet(), players=Players(policy, planner or None))


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


def test_code_is_told_in_words(runs):
    made = {"module": "pol", "source": "1f", "commit": "3a", "changes": ""}
    one = board([replace(runs[0], info={**runs[0].info, "code": {"policy": made, "planner": None}})]).rows[0]
    assert one.facts["code"] == "policy: module pol, source 1f, commit 3a, unchanged since"
    changed = replace(one, run=replace(one.run, info={"code": {"policy": {**made, "changes": "5c"}, "planner": {"weights": "9e"}}}))
    assert changed.facts["code"] == "policy: module pol, source 1f, commit 3a, changes 5c; planner: weights 9e"


# ------------------------------------------------------------------------------------------------ carried out again


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Run:
    return played(tmp_path_factory.mktemp("recorded") / "oracle", "oracle", keep="all")


def test_what_was_kept_is_carried_out_again_and_what_was_not_is_a_claim(runs, recorded, tmp_path):
    found = board([runs[0], recorded])
    assert [row.proof for row in found.rows] == ["replayed 2 of 2: same ends", "claimed"] and not found.refused
    assert [row.replayed for row in board([recorded], replayed=1).rows + board([recorded], replayed=0).rows] == [1, 0]
    write_board(found, tmp_path)
    assert [row["replayed"] for row in json.loads((tmp_path / "board.json").read_text())["rows"]] == [2, 0]
    assert "replayed 2 of 2: same ends" in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("names", "policy", "modes"),
    [
        (("vima/rotate@L1#0", "vima/sweep_without_exceeding@L1#0"), "oracle:noise=0.01", ("vanilla",)),
        (("himan/put_in_without_close@test#0",), "oracle", ("offline", "rule")),
        (("vlmbench/pick_color@train#0",), "oracle", ("grasped",)),
    ],
)
def test_primitives_of_several_kinds_and_every_mode_come_to_the_same_ends(names, policy, modes, tmp_path):
    run = played(tmp_path / "run", policy, names, "all", "oracle" if "offline" in modes else "", *modes)
    found = board([run])
    assert not found.refused and sorted(row.mode for row in found.rows) == sorted(modes)
    assert all(row.replayed == len(row.records) == len(names) for row in found.rows)


def test_a_claim_that_its_own_actions_do_not_lead_to_is_refused(recorded):
    forged = replace(recorded.records[1], steps=recorded.records[1].steps - 1)
    ((_, reason),) = board([recorded, replace(recorded, records=(recorded.records[0], forged))]).refused
    assert (
        f"{NAMES[1]} comes to success after {forged.steps + 1} steps" in reason and f"the run says success after {forged.steps} " in reason
    )


def test_a_success_by_actions_that_fail_is_refused(runs, recorded, tmp_path):
    """Success written over a failure, with the actions that failed."""
    failed = played(tmp_path / "failed", "noop", keep="all")
    solved = recorded.records[0]
    forged = replace(failed, records=tuple(replace(r, outcome="success", subgoals=solved.subgoals) for r in failed.records))
    ((_, reason),) = board([recorded, forged]).refused
    assert "comes to failure after" in reason and "the run says success" in reason


def test_actions_beyond_the_end_of_an_episode_are_too_many(recorded, tmp_path):
    longer = replace(recorded, folder=tmp_path)
    for record in recorded.records:
        actions, space = read_actions(actions_file(recorded, record))
        write_actions(actions_file(longer, record), [*actions, actions[-1]], space)
    ((_, reason),) = board([recorded, longer]).refused
    assert "is over after" in reason and "actions that were kept" in reason


# ------------------------------------------------------------------------------------------------ on the Hub


def test_a_board_for_the_hub_has_a_card_that_makes_it_a_static_page(runs, recorded, tmp_path):
    files = write_board(board([recorded, runs[0]]), tmp_path, 'Pick: "test"', "my-lab/pick-board")
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert sorted(files) == sorted(p.name for p in tmp_path.iterdir()) and card.startswith('---\ntitle: "Pick: \\"test\\""\nsdk: static\n')
    for said in (
        "| oracle | vanilla | 100 % |", "replayed 2 of 2: same ends | the true state |", "| claimed | its contract |",
        "on 2 episodes of clevrskills",
        "howpublished = {Hugging Face Hub, spaces/my-lab/pick-board}", "protocol etude-v2", "Community", "seeds are public",
    ):  # fmt: skip
        assert said in card, said


def test_pages_of_an_earlier_board_go_and_what_is_not_ours_stays(runs, recorded, tmp_path):
    write_board(board([recorded, runs[0]]), tmp_path)
    (tmp_path / "notes.html").write_text("of the owner")
    assert "1-noop.html" in write_board(board([runs[0]]), tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1-noop.html", "board.json", "index.html", "notes.html"]
    (tmp_path / "README.md").write_text("of the owner")
    with pytest.raises(EtudeError, match="is not a board's"):
        write_board(board([runs[0]]), tmp_path, repository="my-lab/board")
    assert (tmp_path / "README.md").read_text() == "of the owner"


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
