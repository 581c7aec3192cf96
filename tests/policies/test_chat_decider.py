"""A language model takes decisions: what it is asked and how its answers count, against a real HTTP server."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from chat_server import Reply, Server, failed, refusal, said, serving
from every import every
from PIL import Image

from etude.decisions.compose import actions
from etude.decisions.meaning import answer
from etude.decisions.parse import parse
from etude.decisions.prompts import expected, messages
from etude.decisions.showing import pictures, space_of, told
from etude.evaluation.decide import decide
from etude.evaluation.play import Players, play
from etude.library import trial
from etude.policies.chat_decider import ChatDecider, Prompting, chat_decider, prompt, questions
from etude.policies.contract import Contract
from etude.policies.loading import load_policy
from etude.policies.policy import Policy
from etude.suites.iwisdm.benchmarks import LISTS

LOW, SEVERAL = "iwisdm/low@val#1", "iwisdm/one_back@val#1"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(monkeypatch) as found:
        yield found


def decider(server: Server, options: str = "") -> ChatDecider:
    return chat_decider(f"chat:some/model:7b@{server.base}" + (f"?{options}" if options else ""), lambda _: None)


def wrong(right: str) -> str:
    return "false" if right == "true" else "true"


# ------------------------------------------------------------------------------------------------ what is asked


def test_it_is_a_policy_that_wants_all_frames_at_once(server: Server) -> None:
    made = load_policy(f"chat:m@{server.base}")
    assert isinstance(made, Policy)
    assert made.contract == Contract(action="answer", whole=True, size=(224, 224))
    assert decider(server, "size=96").contract.size == (96, 96)


def test_the_request_is_the_prompt_of_the_trial_with_its_frames(server: Server) -> None:
    server.replies = [said("true")]
    made = trial(LOW)
    decide(decider(server, "size=64&temperature=0.5&seed=3&max_tokens=77&detail=low"), made)
    path, _, body = server.requests[0]
    assert path == "/v1/chat/completions"
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == ("some/model:7b", 0.5, 3, 77)
    assert body["messages"] == prompt(made, pictures(made, 64), Prompting(detail="low"))
    content = body["messages"][0]["content"]
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    shown = [np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2], validate=True)))) for url in urls]
    assert np.array_equal(shown, pictures(made, 64))
    assert told(made) in content[0]["text"]


@pytest.mark.parametrize("options", ["examples=true", "properties=used", "grammar=fluent"])
def test_options_change_the_prompt(server: Server, options: str) -> None:
    server.replies = [said("true")]
    for more in ("", f"&{options}"):
        decide(decider(server, f"size=32{more}"), trial(LOW))
    plain, other = (body["messages"] for _, _, body in server.requests)
    assert plain != other


def test_the_right_answer_is_not_in_the_request() -> None:
    made = trial("iwisdm/high@val#4")
    frames = pictures(made, 32)
    other = replace(made, answers=(*made.answers[:-1], "something else"))
    assert prompt(made, frames) == prompt(other, frames)


@every("name", LISTS)
def test_each_question_of_a_trial_is_a_trial_of_its_own(name: str) -> None:
    space = space_of("procedural")
    for seed in range(4):
        made = trial(f"iwisdm/{name}@val#{seed}")
        parts = questions(made)
        assert [expected(part) for part in parts] == [a for a in made.answers if a]
        for part in parts:
            assert part.frames == made.frames[: len(part.frames)] and part.answers == made.answers[: len(part.frames)]
            messages(part, ["data:,"] * len(part.frames), space)
            read = parse(told(part), space)
            meant = [answer(p.task, part.frames, space, p.start) for p in read]
            assert actions(read, meant, len(part.frames)) == part.answers


# ------------------------------------------------------------------------------------------------ how answers count


@pytest.mark.parametrize(
    ("says", "options", "success", "counters", "note"),
    [
        ("{right}", "", True, (1, 1, 0), ""),
        ("{Right}.", "strict=true", True, (1, 1, 0), ""),
        ("{wrong}", "", False, (1, 1, 0), ""),
        ("I think the answer is {right}.", "", True, (0, 1, 0), " (read leniently as {right})"),
        ("I think the answer is {right}.", "strict=true", False, (0, 1, 1), " (read leniently as {right})"),
        ("I cannot\nsee it", "", False, (0, 0, 1), " (unparsed: 'I cannot see it')"),
        ("", "", False, (0, 0, 1), " (unparsed: '')"),
    ],
)
def test_answers_are_read_and_those_that_cannot_be_are_counted(
    server: Server, says: str, options: str, success: bool, counters: tuple[int, int, int], note: str
) -> None:
    made = trial(LOW)
    right = expected(made)
    words = {"right": right, "Right": right.capitalize(), "wrong": wrong(right)}
    server.replies = [said(says.format(**words))]
    policy = decider(server, f"size=32&{options}" if options else "size=32")
    record = decide(policy, made)
    assert record.success is success
    assert (policy.strictly, policy.leniently, policy.unparsed) == counters
    assert record.subgoals[0].words.endswith(note.format(**words))
    assert ("given nothing" in record.subgoals[0].words) is bool(counters[2])
    assert (policy.asked, policy.tokens_in, policy.tokens_out) == (1, 11, 7)


def test_every_question_of_a_trial_is_asked_when_it_comes(server: Server) -> None:
    made = trial(SEVERAL)
    asked = [a for a in made.answers if a]
    server.replies = [said(a) for a in asked]
    policy = decider(server, "size=32")
    assert decide(policy, made).success
    assert [sum(p["type"] == "image_url" for p in body["messages"][0]["content"]) for _, _, body in server.requests] == [2, 3, 4, 5]
    server.requests.clear()
    server.replies = [*(said(a) for a in asked[:-1]), said(wrong(asked[-1]))]
    record = decide(policy, made)
    assert not record.success
    assert [s.satisfied for s in record.subgoals] == [True, True, True, False]


def test_a_server_that_is_busy_is_asked_again_and_the_cache_remembers(server: Server, tmp_path: Any) -> None:
    server.replies = [failed(503), said("true")]
    one = decider(server, f"size=32&cache={tmp_path}")
    decide(one, trial(LOW))
    assert (one.retried, one.from_cache, len(server.requests)) == (1, 0, 2)
    other = decider(server, f"size=32&cache={tmp_path}")
    decide(other, trial(LOW))
    assert (other.from_cache, len(server.requests)) == (1, 2)


def test_it_plays_by_name_as_any_policy(server: Server) -> None:
    server.replies = [said(expected(trial(LOW)))]
    record, _ = play(Players(f"chat:m@{server.base}?size=32"), LOW)
    assert record.success


def test_it_does_not_move_robots(server: Server) -> None:
    cast = Players(f"chat:m@{server.base}")
    assert "policy gives answers" in refusal(lambda: play(cast, "clevrskills/pick@train#0"))


def test_what_a_server_says_against_it_ends_in_one_line(server: Server) -> None:
    server.replies = [Reply(json.dumps({"error": "at most 1 image"}).encode(), 400)]
    assert "at most 1 image" in refusal(lambda: decide(decider(server), trial(LOW)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("exmaples=true", "unknown option of a chat decider: 'exmaples'; did you mean 'examples'?"),
        ("cameras=base", "unknown option of a chat decider: 'cameras'"),
        ("grammar=exakt", "unknown value of the chat decider's option 'grammar': 'exakt'; did you mean 'exact'?"),
        ("size=8", "option 'size' of a chat decider must be a whole number from 16 to 4096, got '8'"),
    ],
)
def test_a_wrong_option_is_named(server: Server, options: str, message: str) -> None:
    assert message in refusal(lambda: decider(server, options))
