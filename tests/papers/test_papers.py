"""Papers: every table and figure is there or has a reason, published numbers are the printed ones, what is played stands beside them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from refusing import refused, told
from run_fixtures import record

from etude.evaluation.choosing import choose
from etude.evaluation.record import Subgoal
from etude.evaluation.store import read_run
from etude.library import find
from etude.names import EpisodeName, EtudeError
from etude.papers.filling import filled, write
from etude.papers.listing import markdown
from etude.papers.playing import ANY, Played, PolicyLine, chosen_tables, episode_counts, play, policy_lines, tables_of
from etude.policies.deciding import GuessingPolicy, KnowingPolicy
from etude.suites.himan.recipes import ATOMIC, EVERY, FACTORS, PERTURBED, PLAIN, factors
from etude.suites.paper import NOT_PRINTED, PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable, checked_tables
from etude.suites.suite import SUITES

PAGES = Path(__file__).parents[2] / "docs" / "papers"
# What the papers have, counted by hand.
NUMBERS = {
    "vima": [
        *(f"Table {k}" for k in (*range(1, 9), "A.1", "B.1", "C.2", "D.1", "E.1", "E.2", *(f"F.{k}" for k in range(1, 15)))),
        *(f"Figure {k}" for k in (1, 2, 3, 4, "D.1", "D.2", "E.1")),
    ],
    "clevrskills": [*(f"Table {k}" for k in range(1, 6)), *(f"Figure {k}" for k in (1, 2, 3, 4, 5, "6 left", "6 right", 7, 8))],
    "vlmbench": [*(f"Table {k}" for k in range(5, 10)), *(f"Figure {k}" for k in range(5, 9))],
    "himan": [*(f"Table {k}" for k in range(1, 12)), *(f"Figure {k}" for k in range(1, 12))],
    "iwisdm": ["Table 1", *(f"Figure {k}" for k in (1, "2a", "2b-e", *range(3, 15)))],
}  # fmt: skip


def table(suite: str, number: str) -> PaperTable:
    return next(one for one in tables_of(suite) if one.number == number)


def published(suite: str, number: str, block: str, who: str) -> list[list[float | str | None]]:
    found = next(one for one in table(suite, number).blocks if one.title == block)
    return [list(line) for line in found.published[who]]


@pytest.mark.parametrize("suite", NUMBERS)
def test_every_table_and_figure_of_a_paper_is_listed_and_made_or_has_a_reason(suite):
    tables = {one.number: one for one in tables_of(suite)}
    assert set(NUMBERS[suite]) <= set(tables)
    assert all(one.blocks or one.command or one.missing for one in tables.values())


@pytest.mark.parametrize("suite", NUMBERS)
def test_the_page_of_a_paper_lists_what_the_suite_declares(suite):
    assert markdown(suite) in (PAGES / f"{suite}.md").read_text(encoding="utf-8")


def test_published_numbers_are_the_printed_ones():
    assert published("vima", "Table 1", "(c) Trained on paraphrases; evaluated on original", "Cross-Attn + Obj-Centric") == [
        [82.7, 81.8, 77.4, 48.0]
    ]
    per_task = published("vima", "Table F.9", "Extreme", "Concatenate + Obj-Centric")
    assert per_task[2][:4] == [30.5, 4.0, 77.0, 100.0] and per_task[3][7] == 0.5 and per_task[3][0] is None
    assert published("vima", "Table C.2", "Reported by Jiang et al. (2023)", "VIMA")[0][4] == 56.5
    assert published("clevrskills", "Table 2", "L0 tasks", "StreamRoboLM (Llama3)") == [[62.5, 198.94, 2.65, 55.41, 215.52, 2.65]]
    assert published("clevrskills", "Table 3", "L1 and L2 tasks", "Octo")[0][-3:] == [5.83, 2106.0, 3.53]
    assert published("vlmbench", "Table 8", "Wipe", "Vision-Only") == [[99.2, 19.4, 19.8, 96.0, 21.2, 20.8]]
    assert published("himan", "Table 6", "Rule-based planner", "3D-Diffuser-Actor-RP")[0][6:] == [0.898, 0.335]
    assert published("himan", "Table 11", "Success by factor", "π0.5-RP")[7][-1] == 0.069
    assert published("himan", "Figure 6", "L4", "RVT2-RP") == [[0.43, 0.32]]  # unseen, seen
    assert published("himan", "Figure 6", "L4", "π0.5-RP") == [[0.07, 0.18]]
    assert published("clevrskills", "Figure 3", "Mean number of solvers", "Oracle, about") == [[NOT_PRINTED, 9, 11]]
    assert {NOT_PRINTED} == set(published("iwisdm", "Figure 2a", "Accuracy", "GPT-4V")[0])


def test_averages_of_the_appendix_are_those_of_their_rows_and_of_the_body():
    for number in (f"Table F.{k}" for k in range(2, 15)):
        for block in table("vima", number).blocks:
            for line in (line for lines in block.published.values() for line in lines):
                values = [v for v in line[:-1] if v is not None]
                if "?" not in values:
                    assert sum(values) / len(values) == pytest.approx(line[-1], abs=0.0501), (number, block.title, line)
    hard = {block.title: block.published for block in table("vima", "Table 7").blocks}
    for block in table("vima", "Table F.10").blocks:
        (body,) = (lines for title, lines in hard.items() if title.endswith(block.title))
        assert {who: [line[-1] for line in lines] for who, lines in block.published.items()} == {
            who: lines[0] for who, lines in body.items()
        }


def test_the_sets_of_table_6_count_the_episodes_with_all_factors():
    """Otherwise the mean over table 8 is 0.63, and table 6 has 0.59."""
    weights = {"none": PLAIN * len(ATOMIC), EVERY: PERTURBED * len(ATOMIC)}
    weights |= {name: PERTURBED * sum(name in factors(task) for task in ATOMIC) for name in FACTORS}
    row = published("himan", "Table 8", "Success by factor", "RVT2-RP")[0]
    mean = sum(w * v for w, v in zip(weights.values(), row, strict=True)) / sum(weights.values())
    assert mean == pytest.approx(published("himan", "Table 6", "Rule-based planner", "RVT2-RP")[0][0], abs=0.005)


@pytest.mark.parametrize("suite", NUMBERS)
def test_every_condition_has_episodes(suite):
    for one in dict.fromkeys(c for t in tables_of(suite) for c in t.conditions):
        names = choose(one.what, task=one.task, split=one.split, level=one.level, difficulty=one.difficulty or (),
                       perturb=one.perturb or (), options=dict(one.options), control=not one.perturb, episodes=1)  # fmt: skip
        assert names and all(EpisodeName.parse(name).suite.startswith(suite) for name in names)  # the real robot has one beside it
        if one.perturb == "descriptors":  # which not every task takes
            assert all(find(name).instruction.pictures() == () for name in names)


def test_success_and_success_without_mistakes_are_read_from_the_same_episodes():
    made = [
        record("vima/rotate@L1#0", True, level="", steps=1, least=1),
        record("vima/rotate@L1#1", True, level="", steps=4, least=1),
        record("vima/rearrange@L1#0", False, level="", steps=10, least=2),
    ]
    found = filled(table("vima", "Table 5"), [PolicyLine("mine", {ANY: "mine"})], Played({("mine", "original"): tuple(made)}))
    allowed, strict = (line.values for line in found.lines if line.who == "here: mine")
    assert allowed == (50.0, None, None, None) and strict == (25.0, None, None, None)
    assert "here: mine" in str(found) and "82.7" in str(found)


def test_steps_and_causes_are_counted_by_group_and_list():
    control = Subgoal("1", "Control", "hold it", True, 1.0, False, 1)
    made = (
        record("vlmbench/pick_color@test_seen#0", False, level="", cause="wrong grasp pose"),
        record("vlmbench/pick_color@test_seen#1", False, level="", cause="wrong destination object", subgoals=(control,)),
        record("vlmbench/stack_size@test_seen#0", True, level="", subgoals=(control,)),
    )
    found, mine = Played({("mine", "seen-vanilla"): made}), [PolicyLine("mine", {ANY: "mine"})]
    causes = {line.block: line.values for line in filled(table("vlmbench", "Figure 7"), mine, found).lines}
    assert causes == {"Seen": (50.0, 0.0, 0.0, 50.0, 0.0), "Unseen": (None,) * 5}
    steps = {line.block: line for line in filled(table("vlmbench", "Table 8"), mine, found).lines if line.who == "here: mine"}
    assert steps["Pick&Place"].values == (50.0, None, 0.0, None, None, None) and steps["Pick&Place"].intervals[2] is not None
    assert steps["Stack"].values[:3] == (100.0, None, 100.0)


def test_garbled_words_keep_the_number_of_words_and_garbled_tokens_that_of_tokens():
    names = {"original": "", "gobbledygook-tokens": "+gobbledygook_tokens", "gobbledygook-words": "+gobbledygook_words"}
    tasks = ("visual_manipulation@L1#0", "same_shape@L1#0")
    made = {("mine", key): tuple(record(f"vima/{task}{p}", True, level="") for task in tasks) for key, p in names.items()}
    lines = filled(table("vima", "Table D.1"), [PolicyLine("mine", {ANY: "mine"})], Played(made)).lines
    plain, tokens, words = (line.values for line in lines if line.who == "here: mine")
    assert plain[0] == words[0] and plain[2] == tokens[2] and words[2] > plain[2]


def test_policies_that_say_what_they_were_trained_on_stand_where_the_paper_has_them():
    six = table("himan", "Table 6")
    (line,) = policy_lines(["L1=one", "L4=two"], [six])
    records = {
        ("one", "atomic-rule"): (record("himan/open_drawer@test#0", True, mode="rule", level="A"),),
        ("two", "atomic-rule"): (
            record("himan/open_drawer@test#0", True, mode="rule", level="A"),
            record("himan/open_drawer@test#0+all", False, mode="rule", level="A"),
        ),
    }
    found = filled(six, [line], Played(records))
    (ours,) = (one for one in found.lines if one.who.startswith("here") and one.block == "Rule-based planner")
    assert ours.values == (1.0, None, None, None, None, None, 0.5, None) and ours.episodes == 3
    assert any("no policy was given for L2, L3" in note for note in found.notes)
    assert [one.name for one in policy_lines(["oracle:noise=0.02", "oracle"], [six])] == ["oracle:noise=0.02", "oracle"]
    with pytest.raises(EtudeError, match=r"--policy L1=… is given twice"):
        policy_lines(["L1=one", "L1=two"], [six])
    with pytest.raises(EtudeError, match=r"unknown training of --policy 'L9'; did you mean 'L4'"):
        policy_lines(["L9=oracle"], [six])
    with pytest.raises(EtudeError, match=r"these tables do not tell by what somebody was trained on; leave L1= out"):
        policy_lines(["L1=oracle"], [table("iwisdm", "Figure 2a")])


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("papers")


def test_a_paper_is_played_written_and_gone_on_with(out):
    tables = chosen_tables(tables_of("iwisdm"), ["Figure 2a", "Figure 14"])
    lines = [PolicyLine("knows", {ANY: KnowingPolicy()}), PolicyLine("guesses", {ANY: GuessingPolicy()})]
    played = play(tables, lines, out, episodes=episode_counts(["2"], tables))
    found = [filled(one, lines, played) for one in tables]
    (accuracy,) = (line for line in found[0].lines if line.who == "here: knows" and line.block == "Accuracy")
    assert accuracy.values == (1.0, 1.0, 1.0) and accuracy.episodes == 6
    assert "in a plot only, not printed: GPT-4V" in str(found[0])
    write(found, out / "tables")
    drawn = (out / "tables" / "figure_2a.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg") and "here: knows" in drawn and "not printed in the paper: GPT-4V" in drawn
    rows = list(csv.DictReader((out / "tables" / "figure_2a.csv").open(encoding="utf-8")))
    assert {row["low"] for row in rows if row["who"] == "Humans"} == {NOT_PRINTED}
    assert json.loads((out / "tables" / "figure_14.json").read_text(encoding="utf-8"))["rows"][0]["block"] == "High complexity"
    (folder,) = (path for (who, _), path in played.folders.items() if "Knowing" in who)
    before = (folder / "episodes.jsonl").read_bytes()
    assert play(tables, lines[:1], out, episodes=episode_counts(["2"], tables)).records.keys() < played.records.keys()
    assert (folder / "episodes.jsonl").read_bytes() == before


def test_a_policy_plays_all_its_conditions_in_one_run_which_grows(out):
    tables = chosen_tables(tables_of("iwisdm"), ["Figure 2a", "Figure 14"])
    lines = [PolicyLine("knows", {ANY: KnowingPolicy()})]
    few = play(tables[:1], lines, out / "grown", episodes={"Figure 2a": 1})
    more = play(tables, lines, out / "grown", episodes={"Figure 2a": 1, "Figure 14": 2})
    assert few.folders == more.folders and len(more.folders) == 1
    ((address, _), folder) = next(iter(more.folders.items()))
    run = read_run(folder)
    assert not run.missing and [r.episode for r in run.records][: sum(map(len, few.records.values()))] == [
        r.episode for found in few.records.values() for r in found
    ]
    counts = {key: len(more.records[address, key]) for _, key in more.records}
    assert counts == {"low": 1, "medium": 1, "high": 2} and len(run.records) == 4
    fewer = play(tables[:1], lines, out / "grown", episodes={"Figure 2a": 1})
    assert fewer.records == few.records  # what was played for other tables is not counted


def test_shards_are_joined_before_tables_are_laid_out(out):
    tables = chosen_tables(tables_of("iwisdm"), ["Figure 2a"])
    lines, counts = [PolicyLine("knows", {ANY: KnowingPolicy()})], {"Figure 2a": 2}
    parts = [play(tables, lines, out / "shards", episodes=counts, shard=f"{k}/2") for k in range(2)]
    whole = play(tables, lines, out / "shards", episodes=counts)
    assert [sum(map(len, one.records.values())) for one in (*parts, whole)] == [3, 3, 6]
    (folder,) = whole.folders.values()
    assert {path.name for path in folder.glob("shard-*")} == {"shard-0-of-2", "shard-1-of-2"} and len(read_run(folder).records) == 6


def test_a_condition_is_played_as_often_as_the_most_demanding_of_its_tables_asks():
    tables = tables_of("vima")
    counts = episode_counts(["50", "1=100"], tables)
    assert counts["Table 1"] == 100 and counts["Table 3"] == 50 and episode_counts(["Table 1=100", "50"], tables) == counts
    with pytest.raises(EtudeError, match="is neither a number nor of the form"):
        episode_counts(["Table 1=many"], tables)


def test_what_a_policy_cannot_play_is_said_and_the_rest_is_played(out):
    hidden = PaperCondition("hidden", "iwisdm", 1, task=("low",), split=("val",), mode="offline")
    plain = PaperCondition("plain", "iwisdm", 1, task=("low",), split=("val",))
    row = PaperRow(tuple(PaperCell((one,), lambda records: float(len(records)) or None) for one in (plain, hidden)))
    made = PaperTable("Table 1", "Two ways", ("plain", "hidden"), (PaperBlock("Both", (row,)),))
    lines = [PolicyLine("knows", {ANY: KnowingPolicy()})]
    found = filled(made, lines, play([made], lines, out / "two"))
    assert found.lines[0].values == (1.0, None)
    assert any("hidden was not played" in note and "needs --planner" in note for note in found.notes)
    alone = PaperTable("Table 2", "One way", ("hidden",), (PaperBlock("One", (PaperRow((row.cells[1],)),)),))
    with pytest.raises(EtudeError, match="the mode offline needs --planner"):
        play([alone], lines, out / "one")


def test_a_policy_that_cannot_be_loaded_is_refused_before_everything_is_tried(out):
    said: list[str] = []
    with pytest.raises(EtudeError, match="unknown policy 'oracl'; did you mean 'oracle'"):
        play(
            tables_of("iwisdm"),
            [PolicyLine("oracl", {ANY: "oracl"})],
            out / "bad",
            episodes=episode_counts(["1"], tables_of("iwisdm")),
            told=said.append,
        )
    assert len(said) == 1 and said[0].startswith("oracl (1 of 1): ") and said[0].endswith(" of 30 conditions")


def test_a_suite_of_ones_own_declares_its_paper_in_the_same_way(monkeypatch):
    mine = PaperTable("Table 1", "Mine", missing="it is not written yet")
    monkeypatch.setattr(SUITES["clevrskills"], "paper_tables", lambda: [mine])
    assert markdown("clevrskills").endswith("| Table 1 | Mine |  | it is not written yet |\n")
    monkeypatch.setattr(SUITES["clevrskills"], "paper_tables", tuple)
    with pytest.raises(EtudeError, match="clevrskills declares no tables of a paper"):
        tables_of("clevrskills")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PaperTable("Table 1", "Empty"), "Table 1 has neither blocks nor a command"),
        (lambda: PaperTable("Table 1", "Short", ("a", "b"), (PaperBlock("One", (PaperRow((None,)),)),)), "a row of 1 cells for 2 columns"),
        (
            lambda: PaperTable("Table 1", "Wide", ("a",), (PaperBlock("One", (PaperRow((None,)),), {"them": [[1.0, 2.0]]}),)),
            "the numbers of them are not 1 × 1",
        ),
        (lambda: checked_tables([PaperTable("Table 1", "x", missing="y")] * 2), "the paper has Table 1 twice"),
    ],
)
def test_tables_that_do_not_fit_together_are_refused(make, message):
    with pytest.raises(EtudeError, match=message):
        make()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vimma", "--list"], "unknown suite 'vimma'; did you mean 'vima'"),
        (["vima"], "say who plays and where results go: --policy POLICY --out FOLDER"),
        (["vima", "--policy", "oracle", "--out", "x", "--tables", "Table 99"], "unknown table or figure 'Table 99'"),
        (["vima", "--policy", "oracle", "--out", "x", "--episodes", "0"], "--episodes must be at least 1, got 0"),
        (["vima", "--policy", "oracle", "--out", "x", "--tables", "A.1"], "Table A.1 is not played"),
        (["himan", "--policy", "oracle", "--out", "x", "--tables", "Figure 8"], "Figure 8 is not played: it is made by etude show"),
        (["vima", "--policy", "oracle", "--out", "x", "--task", "rotat"], "unknown task of vima 'rotat'; did you mean 'rotate'"),
    ],
)
def test_mistakes_are_refused_in_one_line(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, monkeypatch, "paper", *arguments)


def test_the_command_lists_tables_and_what_makes_them(capsys, monkeypatch):
    text = told(capsys, monkeypatch, "paper", "himan", "--list")
    assert 'etude paper himan --policy P --out DIR --tables "Table 2" --planner Q' in text and "needs a real arm" in text
    listed = json.loads(told(capsys, monkeypatch, "paper", "vlmbench", "--list", "--json"))
    assert {row["number"] for row in listed["tables"]} >= {"Table 8", "Table 9"}
