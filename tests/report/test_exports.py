"""Tables for papers and programs: small ones are compared letter by letter."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from run_fixtures import drawn, record, run_of

from etude.evaluation.record import GivenSubtask, Subgoal
from etude.names import EtudeError
from etude.report.exports import FORMS, ExportTable, collect, csv_text, export, json_text, latex_text, markdown_text

SMALL = ExportTable(
    "small", "Success & cost", ("task", "episodes", "success", "flagged"), (("pick_up", 20, 0.95, False), ("a,b|c", 3, None, True))
)
NASTY = 'a|b & c_d 100% "quoted", $5 #1 {x} ~^\\ <tag> *bold* `code` [link]\nsecond line'


def test_csv_letter_by_letter():
    assert csv_text(SMALL) == 'task,episodes,success,flagged\npick_up,20,0.95,false\n"a,b|c",3,,true\n'


def test_json_letter_by_letter():
    assert json_text(ExportTable("t", "T", ("a", "b"), ((1, None), ("é", True)))) == (
        '{\n "table": "t",\n "caption": "T",\n "rows": [\n  {\n   "a": 1,\n   "b": null\n  },\n'
        '  {\n   "a": "é",\n   "b": true\n  }\n ]\n}\n'
    )


def test_markdown_letter_by_letter():
    assert markdown_text(SMALL) == (
        "**Success & cost**\n\n"
        "| task | episodes | success | flagged |\n"
        "| --- | ---: | ---: | --- |\n"
        "| pick_up | 20 | 0.950 | no |\n"
        "| a,b\\|c | 3 |  | yes |\n"
    )


def test_latex_letter_by_letter():
    assert latex_text(SMALL) == (
        "% needs \\usepackage{booktabs}\n"
        "\\begin{table}\n"
        "\\centering\n"
        "\\caption{Success \\& cost}\n"
        "\\label{tab:small}\n"
        "\\begin{tabular}{lrrl}\n"
        "\\toprule\n"
        "task & episodes & success & flagged \\\\\n"
        "\\midrule\n"
        "pick\\_up & 20 & 0.950 & no \\\\\n"
        "a,b$|$c & 3 &  & yes \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\\end{table}\n"
    )


def test_csv_and_json_give_back_what_was_put_in():
    table = ExportTable("t", NASTY, ("words", "number"), ((NASTY, 1.5),))
    assert list(csv.reader(io.StringIO(csv_text(table)))) == [["words", "number"], [NASTY, "1.5"]]
    assert json.loads(json_text(table)) == {"table": "t", "caption": NASTY, "rows": [{"words": NASTY, "number": 1.5}]}


def test_markdown_signs_lose_their_power():
    line = markdown_text(ExportTable("t", "c", ("words", "more"), ((NASTY, "_edge_ in_side"),))).splitlines()[-1]
    assert line == (
        '| a\\|b & c_d 100% "quoted", $5 #1 {x} ~^\\\\ \\<tag> \\*bold\\* \\`code\\` \\[link\\] second line | \\_edge\\_ in_side |'
    )


def test_latex_signs_lose_their_power():
    line = latex_text(ExportTable("t", "c", ("words",), ((NASTY,), ("−3 … ×",)))).splitlines()
    assert line[9] == (
        r"a$|$b \& c\_d 100\% ''quoted'', \$5 \#1 \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{} $<$tag$>$ *bold* `code` [link]"
        r" second line \\"
    )
    assert line[10] == r"$-$3 \ldots{} $\times$ \\"


def test_tiny_numbers_are_not_rounded_to_nothing():
    assert markdown_text(ExportTable("t", "c", ("p",), ((0.0000312,), (0.0,)))).splitlines()[-2:] == ["| 3.1e-05 |", "| 0.000 |"]


def two_runs():
    tasks = {"pick": "L0", "stack": "L1"}
    rates = {"L0": 0.9, "L1": 0.5}
    one = drawn(tasks, "one", rates, 6, {"dark": 0.6, "no_words": 1.0}, folder=Path("one"))
    two = drawn(tasks, "two", rates, 6, mode="coupled", planner="oracle", error_rate=0.2, folder=Path("two"))
    return [one, two]


def test_every_table_is_written_in_every_form_and_again_the_same(tmp_path):
    names = [
        "overall",
        "by_suite",
        "by_level",
        "by_split",
        "by_difficulty",
        "groups",
        "conditions",
        "perturbations",
        "understanding",
        "subgoals",
        "faults",
        "said_instead",
        "errors",
        "comparisons",
    ]
    written = export(collect(two_runs()), tmp_path / "new" / "tables")
    assert [p.name for p in written] == [f"{name}{form}" for name in names for form in FORMS]
    again = export(collect(two_runs()), tmp_path / "again")
    assert [p.read_bytes() for p in written] == [p.read_bytes() for p in again]
    rows = list(csv.DictReader((tmp_path / "again" / "comparisons.csv").open()))
    assert (rows[0]["a"], rows[0]["b"], rows[0]["task"]) == ("one", "two + oracle", "all")
    assert {r["task"] for r in rows} == {"all", "pick", "stack"}


def test_tables_without_rows_are_left_out():
    names = {t.name for t in collect([run_of([record("clevrskills/pick@test#0")])])}
    assert names == {"overall", "by_suite", "by_level", "by_split", "by_difficulty", "groups"}


def test_counts_in_the_tables_are_those_of_the_records():
    subgoals = (Subgoal("goal", "Held", "hold", False, 0.4, False, None),)
    played = [
        record("clevrskills/pick@test#0", True),
        record(
            "clevrskills/pick@test#1",
            False,
            subgoals=subgoals,
            first_failure="goal",
            stages=(GivenSubtask("a", ("b",), False, False, 0, 1),),
            fault="planning",
        ),
    ]
    tables = {t.name: [dict(zip(t.columns, row, strict=True)) for row in t.rows] for t in collect([run_of(played)])}
    assert (tables["overall"][0]["episodes"], tables["overall"][0]["success"]) == (2, 0.5)
    assert (tables["subgoals"][0]["share"], tables["subgoals"][0]["first_failures"]) == (0.0, 1)
    assert [(r["task"], r["planning_first"], r["planner_accuracy"]) for r in tables["faults"]] == [("all", 1, 0.0), ("pick", 1, 0.0)]


def test_a_folder_that_cannot_be_written_is_refused_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EtudeError, match=r"tables cannot be written to .*file/x"):
        export([SMALL], tmp_path / "file" / "x")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_takes_the_tables(tmp_path):
    body = latex_text(ExportTable("t", NASTY, ("words",), ((NASTY,),)))
    text = f"\\documentclass{{article}}\\usepackage{{booktabs}}\\begin{{document}}\n{body}\\end{{document}}\n"
    (tmp_path / "page.tex").write_text(text, encoding="utf-8")
    subprocess.run(["pdflatex", "-halt-on-error", "page.tex"], cwd=tmp_path, check=True, capture_output=True)
