"""People in the tables of a paper: the records of a study stand in them, and nobody is asked anew."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from etude.cli import app
from etude.decisions.trial import SILENT
from etude.evaluation.plan import make_names
from etude.library import trial as find_trial
from etude.names import EtudeError
from etude.papers.filling import filled, write
from etude.papers.playing import play, policy_lines, table_numbered, tables_of
from etude.web.study import Study, study_plan

NAMES = tuple(name for task in ("low", "medium") for name in make_names(["iwisdm"], [task], ["val"], episodes=4))
SECONDS = (2.0, 3.0, 4.0, 12.0)


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Two people; the first answers rightly, the second wrongly, each a little slower than before, and the second leaves a trial out."""
    out = tmp_path_factory.mktemp("people")
    for who, names, right in (("ann", NAMES, True), ("ben", NAMES[:3], False)):
        with Study(study_plan(who, NAMES), out / who) as study:
            for k, name in enumerate(names):
                trial = find_trial(name)
                wanted = [text for text in trial.answers if text != SILENT]
                given = [text if right else next(c for c in trial.choices if c != text) for text in wanted]
                seconds = SECONDS[k % len(SECONDS)] + 10 * (not right)
                study.answer(name, given, [seconds] * len(given))
    return out


def tables(*numbers):
    every = tables_of("iwisdm")
    return [table_numbered(every, number) for number in numbers]


def test_answers_of_people_stand_beside_the_papers_people(answered, tmp_path):
    (chosen,) = wanted = tables("Figure 2a")
    lines = policy_lines([f"human:{answered}"], wanted)
    played = play(wanted, lines, tmp_path / "out", episodes={"Figure 2a": 4})
    found = filled(chosen, lines, played)
    (ours,) = (line for line in found.lines if line.who == "here: Humans" and line.block == "Accuracy")
    assert ours.values == (4 / 7, 1.0, None) and not (tmp_path / "out").exists()
    assert any("4 of 4 trials were not answered" in note for note in found.notes)


def test_response_times_are_drawn_as_boxes_by_level_and_correctness(answered, tmp_path):
    (chosen,) = wanted = tables("Figure 10")
    lines = policy_lines([f"human:{answered}", "oracle"], wanted)
    played = play(wanted, lines, tmp_path / "out")
    found = filled(chosen, lines, played)
    by_block = {line.block: line for line in found.lines if line.who.startswith("here")}
    assert by_block["Answered rightly"].values == (3.5, 3.5, None) and by_block["Answered wrongly"].values == (13.0, None, None)
    assert by_block["Answered rightly"].spreads == (SECONDS, SECONDS, ()) and len(found.lines) == 4  # the oracle has no line
    drawn = {path.name: path for path in write([found], tmp_path / "tables")}["figure_10.svg"].read_text(encoding="utf-8")
    assert drawn.count("<g ") == 3 and "low, Answered wrongly: 3, median 13" in drawn and drawn.count("<circle") == 2  # 12 s is far out


def test_the_command_lays_a_study_out_and_refuses_what_is_none(answered, tmp_path):
    asked = ["paper", "iwisdm", "--tables", "Figure 10", "--out", str(tmp_path / "out"), "--policy"]
    done = CliRunner().invoke(app, [*asked, f"human:{answered / 'ann'}"])
    assert done.exit_code == 0 and "3.5" in done.stdout, done.output
    assert (tmp_path / "out/tables/figure_10.svg").exists()
    nothing = CliRunner().invoke(app, [*asked, f"human:{tmp_path}/nobody"])
    assert isinstance(nothing.exception, EtudeError) and "there is no study in" in str(nothing.exception)
