"""What the chat planner asks and how it takes the answer, against a real HTTP server."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chat_server import MUG, STAR, VOCABULARY, Reply, Server, ask, failed, observation, picture, refusal, said, serving
from PIL import Image

from etude.policies.chat import ChatOptions, chat_planner
from etude.policies.contract import Contract
from etude.policies.policy import Planner


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(monkeypatch) as found:
        yield found


def images(body: dict[str, Any]) -> list[Any]:
    urls = [part["image_url"]["url"] for part in body["messages"][1]["content"] if part["type"] == "image_url"]
    assert all(url.startswith("data:image/png;base64,") for url in urls)
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2], validate=True)))) for url in urls]


# ------------------------------------------------------------------------------------------------ what is asked


def test_it_is_a_planner_that_wants_two_cameras_and_the_instructions_pictures(server: Server) -> None:
    planner = server.planner("cameras=base,wrist&size=224")
    assert isinstance(planner, Planner)
    assert planner.contract == Contract(cameras=("base", "wrist"), size=(224, 224), told="multimodal")
    assert server.planner().contract == Contract(cameras=("base", "hand_view"), size=(256, 256), told="multimodal")


def test_the_request_says_what_the_protocol_asks_for(server: Server) -> None:
    assert ask(server.planner("temperature=0.5&seed=3&max_tokens=77&detail=low")) == STAR
    path, headers, body = server.requests[0]
    assert path == "/v1/chat/completions"
    assert headers["Content-Type"] == "application/json"
    assert "Authorization" not in headers
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == ("some/model:7b", 0.5, 3, 77)
    assert "response_format" not in body
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "<sub_task>" in body["messages"][0]["content"]
    details = {part["image_url"]["detail"] for part in body["messages"][1]["content"] if part["type"] == "image_url"}
    assert details == {"low"}


def test_pictures_arrive_with_the_very_pixels_in_the_order_of_the_cameras(server: Server) -> None:
    ask(server.planner("cameras=hand_view,base"))
    assert [image.tolist() for image in images(server.last_body())] == [picture(2).tolist(), picture(1).tolist()]


def test_views_that_are_not_contiguous_arrive_right_too(server: Server) -> None:
    ask(server.planner("cameras=base"), base=picture(5)[::-1, ::2])
    assert images(server.last_body())[0].tolist() == picture(5)[::-1, ::2].tolist()


def test_pictures_of_the_task_stand_where_its_text_has_them(server: Server) -> None:
    planner = server.planner("cameras=base")
    planner.reset("unused", [picture(8), picture(9)], "suite/task@train#0")
    planner.next_subtask(observation(), "Put {image:1} on {image:0} now", [])
    content = server.last_body()["messages"][1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text", "image_url", "text", "image_url", "text"]
    assert content[0]["text"].endswith("Put ")
    assert content[2]["text"] == " on "
    assert content[4]["text"].startswith(" now\n")
    assert [image.tolist() for image in images(server.last_body())] == [picture(k).tolist() for k in (9, 8, 1)]


def test_a_task_told_with_pictures_keeps_them_when_it_is_repeated_in_words(server: Server) -> None:
    planner = server.planner("cameras=base")
    planner.reset("Put {image:0} away", [picture(8)], "suite/task@train#0")
    planner.next_subtask(observation(), "Put the star away", [])
    assert [image.tolist() for image in images(server.last_body())] == [picture(8).tolist(), picture(1).tolist()]
    planner.reset("Tidy up", [], "suite/task@train#1")
    planner.next_subtask(observation(), "Put the star away", [])
    assert server.last_body()["messages"][1]["content"][0]["text"].startswith("Task: Put the star away\n")
    assert len(images(server.last_body())) == 1


def test_a_new_episode_forgets_the_pictures_of_the_last(server: Server) -> None:
    planner = server.planner()
    planner.reset("Put {image:0} away", [picture(8)], "suite/task@train#0")
    planner.reset("Tidy up", [], "suite/task@train#1")
    line = refusal(lambda: planner.next_subtask(observation(), "Put {image:0} away", []))
    assert line == "the instruction speaks of {image:0}, but came with 0 pictures"


def test_history_is_told_in_order_and_the_vocabulary_in_one_that_gives_nothing_away(server: Server) -> None:
    ask(server.planner(), history=(STAR, MUG))
    text = "".join(part.get("text", "") for part in server.last_body()["messages"][1]["content"])
    assert f"Task: Tidy up\nSub-tasks so far, oldest first:\n1. {STAR}\n2. {MUG}\n" in text
    assert f"Sub-tasks to choose from:\n- {STAR}\n- {MUG}\n" in text
    ask(server.planner())
    assert "oldest first: none\n" in server.last_body()["messages"][1]["content"][0]["text"]
    asked = server.last_body()
    ask(server.planner(), vocabulary=(STAR, MUG, STAR))
    assert server.last_body() == asked


def test_json_sends_a_schema_that_allows_the_vocabulary_alone(server: Server) -> None:
    server.replies = [said(json.dumps({"sub_task": MUG}))]
    assert ask(server.planner("json=true&strict=true"), vocabulary=(MUG, STAR, MUG)) == MUG
    asked = server.last_body()["response_format"]
    assert asked["type"] == "json_schema"
    assert asked["json_schema"]["strict"] is True
    assert asked["json_schema"]["schema"] == {
        "type": "object",
        "properties": {"sub_task": {"type": "string", "enum": [STAR, MUG]}},
        "required": ["sub_task"],
        "additionalProperties": False,
    }
    assert "JSON" in server.last_body()["messages"][0]["content"]


def test_a_missing_camera_gets_the_nearest_name(server: Server) -> None:
    line = refusal(lambda: ask(server.planner("cameras=hand_veiw")))
    assert line == "unknown camera 'hand_veiw'; did you mean 'hand_view'?"
    assert not server.requests


def test_no_vocabulary_and_no_picture_are_refused_before_asking(server: Server) -> None:
    assert "'vocabulary' is missing or empty" in refusal(lambda: ask(server.planner(), vocabulary=()))
    line = refusal(lambda: ask(server.planner("cameras=base"), base=np.zeros((4, 4, 3), np.float32)))
    assert line == "a picture must be (H, W, 3) of uint8, got (4, 4, 3) of float32"
    assert not server.requests


# ------------------------------------------------------------------------------------------------ what is answered


@pytest.mark.parametrize(
    ("content", "lenient", "strict"),
    [
        (f"<reasoning>It is free.</reasoning><sub_task>{STAR}</sub_task>", STAR, STAR),
        ("I would pick up the green star.", STAR, "I would pick up the green star."),
        ("Fly away", "Fly away", "Fly away"),
        ([{"type": "text", "text": "<sub_task>Pick up "}, {"type": "text", "text": "green star 0</sub_task>"}], STAR, STAR),
        ([{"type": "reasoning"}, STAR, None], STAR, STAR),
        (None, "", ""),
        ("half a pair \ud800", "half a pair ?", "half a pair ?"),
    ],
)
def test_answers_are_read_or_handed_on_as_they_are(server: Server, content: Any, lenient: str, strict: str) -> None:
    server.replies = [said(content)]
    for options, wanted in (("", lenient), ("strict=true", strict)):
        planner = server.planner(options)
        assert ask(planner) == wanted
        assert planner.unparsed == (wanted not in VOCABULARY)


def test_a_refusing_model_is_an_unread_answer(server: Server) -> None:
    server.replies = [said(None, refusal="I cannot help")]
    planner = server.planner()
    assert ask(planner) == planner.last_answer == "I cannot help"
    assert planner.unparsed == 1


def test_counters_add_up(server: Server) -> None:
    server.replies = [said(STAR), failed(503), said("Sing"), Reply(b'{"choices": [{"message": {"content": "Dance"}}]}')]
    planner = server.planner()
    assert [ask(planner) for _ in range(3)] == [STAR, "Sing", "Dance"]
    assert (planner.asked, planner.from_cache, planner.retried, planner.unparsed) == (3, 0, 1, 2)
    assert (planner.tokens_in, planner.tokens_out, planner.last_answer) == (22, 14, "Dance")


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        (Reply(b"<html>\nhello"), "did not answer in JSON but: <html> hello"),
        (Reply(b""), "did not answer in JSON but: nothing"),
        (Reply(b'{"choices": []}'), 'has no choices[0].message: {"choices": []}'),
        (Reply(b"[1]"), "has no choices[0].message: [1]"),
        (Reply(b'{"error": {"message": "model is\\nloading"}}'), "has no choices[0].message: model is loading"),
    ],
)
def test_replies_that_break_the_protocol_are_refused_in_one_line(server: Server, reply: Reply, line: str) -> None:
    server.replies = [reply]
    assert refusal(lambda: ask(server.planner())).endswith(line)
    assert len(server.requests) == 1


# ------------------------------------------------------------------------------------------------ planners by name


def test_every_option_can_be_written(tmp_path: Path) -> None:
    text = (
        "cameras=top&size=64&temperature=0.7&seed=9&max_tokens=5&timeout=2.5&retries=1&"
        f"strict=true&json=true&detail=high&prompt=list&cache={tmp_path}/a%26b"
    )
    assert len(text.split("&")) == len(fields(ChatOptions))
    planner = chat_planner(f"chat:org/name@v2@https://example.com/api/v1/?{text}")
    assert (planner.model, planner.base) == ("org/name@v2", "https://example.com/api/v1")
    assert planner.options == ChatOptions(("top",), 64, 0.7, 9, 5, 2.5, 1, True, True, tmp_path / "a&b", "high")
    assert chat_planner("chat:m@http://h/v1").options == ChatOptions()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("temprature=0", "unknown option of a chat planner: 'temprature'; did you mean 'temperature'?"),
        ("strict=ture", "unknown value of the chat planner's option 'strict': 'ture'; did you mean 'true'?"),
        ("detail=hihg", "unknown value of the chat planner's option 'detail': 'hihg'; did you mean 'high'?"),
        ("size=1e3", "option 'size' of a chat planner must be a whole number from 16 to 4096, got '1e3'"),
        ("seed=-1", "option 'seed' of a chat planner must be a whole number from 0 to 2147483647, got '-1'"),
        ("temperature=nan", "option 'temperature' of a chat planner must be a number from 0 to 2, got 'nan'"),
        ("timeout=long", "option 'timeout' of a chat planner must be a number from 0.001 to 86400, got 'long'"),
        ("cameras=base,,top", "option 'cameras' of a chat planner must be different names with commas between, got 'base,,top'"),
        ("seed", "option 'seed' of a chat planner has no value; write seed=…"),
        ("seed=1&seed=2", "option 'seed' of a chat planner is given twice"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(options: str, line: str) -> None:
    assert refusal(lambda: chat_planner(f"chat:m@http://127.0.0.1:8000/v1?{options}")) == line


@pytest.mark.parametrize(
    "text",
    ["chat:", "chat:model", "chat:@http://h/v1", "chat:m@ftp://h/v1", "chat:m@http://h:x/v1", "chat:m@http:///v1", "chat:m@http://h/ü"],
)
def test_a_wrong_address_is_told_the_form(text: str) -> None:
    assert refusal(lambda: chat_planner(text)).endswith("the form is chat:MODEL@http://host:port/v1?option=value")


@pytest.mark.parametrize("text", ["chat:m@http://me:hunter2@h/v1", "chat:@http://me:hunter2@h/v1"])
def test_a_password_in_the_address_is_refused_and_not_repeated(text: str) -> None:
    assert "hunter2" not in refusal(lambda: chat_planner(text))
