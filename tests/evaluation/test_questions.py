"""Planners asked about frames of demonstrations: when, by what words an answer is right, and what the record and the report say."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from etude.evaluation.play import Players, play
from etude.evaluation.record import GivenSubtask, Record
from etude.names import EtudeError
from etude.policies.answers import given, plain
from etude.policies.chat import ChatOptions
from etude.suites.himan.tables import planner_rows

sys.path.insert(0, str(Path(__file__).parents[1] / "policies"))
from chat_server import Server, said, serving

NAME = "himan/open_drawer@test#0"
GRASP, PULL = "grasp the bottom drawer handle", "pull the bottom drawer open"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(monkeypatch) as found:
        yield found


def offline(planner: str, name: str = NAME) -> Record:
    return play(Players("oracle", planner), name, "offline")[0]


def test_a_right_planner_is_right_on_every_tenth_frame() -> None:
    record = offline("oracle")
    assert record.success and record.fault is None
    assert [s.begun for s in record.stages] == [10 * k for k in range(len(record.stages))]
    assert all(s.right and s.exact for s in record.stages)
    assert {s.expected for s in record.stages} == {(GRASP,), (PULL,)}


def test_a_model_is_asked_with_front_and_wrist_and_matched_twice(server: Server) -> None:
    form = "<reasoning>It is shut.</reasoning><sub_task>{}</sub_task>".format
    server.replies = [said(form(f" {GRASP.title()} ")), said(form(f"{GRASP}.")), said("I would " + GRASP), said(form("open it"))]
    record = offline(f"chat:m@{server.base}?prompt=open&size=32")
    assert [(s.exact, s.right) for s in record.stages[:4]] == [(True, True), (False, True), (False, False), (False, False)]
    assert len(server.requests) == len(record.stages)
    content = server.requests[-1][2]["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text", "image_url", "text"]
    text = "".join(part.get("text", "") for part in content)
    assert "open the bottom drawer" in text and "front" in text and "wrist" in text
    assert GRASP not in text and PULL not in text
    assert record.outcome == "failure" and record.fault == "planning"
    assert Record.from_line(record.to_line()) == record
    row, both = planner_rows({"offline": [record]})
    count = len(record.stages)
    assert (row["set"], both["set"]) == ("A", "A&AP")
    assert (row["questions"], row["exact"], row["normalised"]) == (count, 1 / count, 2 / count)


def test_nothing_is_asked_while_what_is_done_comes_to_rest() -> None:
    """In this episode the block still moves in the shut drawer at a frame that would be asked about."""
    record = offline("oracle", "himan/put_in_and_close@test#5")
    assert record.success and all(stage.expected and stage.right for stage in record.stages)
    assert [stage.begun for stage in record.stages] == [30 * k for k in range(len(record.stages))]
    assert record.steps > record.stages[-1].begun + 30


def test_earlier_stages_are_those_of_the_demonstration(server: Server) -> None:
    server.replies = [said("<sub_task>dance</sub_task>")]
    offline(f"chat:m@{server.base}?prompt=history&size=32")
    asked = ["".join(p.get("text", "") for p in body["messages"][0]["content"]) for _, _, body in server.requests]
    assert not any("dance" in text for text in asked)
    assert GRASP not in asked[0] and f"so far, oldest first: {GRASP}." in asked[-1]


def test_what_is_given_as_the_sub_task_is_read_letter_for_letter() -> None:
    assert given("<reasoning>a</reasoning>\n<sub_task> Open It </sub_task>") == " Open It "
    assert given("Sure! <sub_task>open it</sub_task>") == "open it"
    assert plain("Sure! <sub_task>Open  it.</sub_task>", ("open it",)) == "open it"
    assert plain("I would open it", ("open it",)) is None


def test_a_list_cannot_be_held_to_where_none_is_given() -> None:
    with pytest.raises(EtudeError, match="prompt=open has none"):
        ChatOptions(json=True, prompt="open")


def test_results_from_before_exact_matches_were_noted_can_be_read() -> None:
    record = Record(f"{NAME}~0", NAME, "offline", "A", "success", stages=(GivenSubtask("a", ("a",), True, True, 0, 5, True),))
    data = json.loads(record.to_line())
    del data["stages"][0]["exact"]
    assert Record.from_line(json.dumps(data)) == replace(record, stages=(replace(record.stages[0], exact=None),))
