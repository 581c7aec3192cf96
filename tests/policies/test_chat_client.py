"""How the chat planner gets its answers: tries, the key and the cache, against a real HTTP server."""

from __future__ import annotations

import datetime
import email.utils
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from chat_server import MUG, STAR, Reply, Server, ask, failed, picture, refusal, said, serving

from etude.policies.chat import chat_planner

SECRET = "sk-very-secret-0123456789"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(monkeypatch) as found:
        yield found


# ------------------------------------------------------------------------------------------------ trying again


def test_retry_after_is_honoured(server: Server) -> None:
    server.replies = [failed(429, Retry_After="17"), said(STAR)]
    waits: list[float] = []
    assert ask(server.planner(sleep=waits.append)) == STAR
    assert waits == [17.0]
    assert server.requests[0][2] == server.requests[1][2]


def test_retry_after_may_be_a_date_and_is_bounded(server: Server) -> None:
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=100)
    server.replies = [failed(429, Retry_After=email.utils.format_datetime(soon, usegmt=True)), failed(503, Retry_After="99999"), said(STAR)]
    waits: list[float] = []
    ask(server.planner(sleep=waits.append))
    assert 60 < waits[0] <= 100
    assert waits[1] == 300.0


@pytest.mark.parametrize("header", ["soon", "-5", "nan", "Mon, 99 Foo 2020", "Mon, 01 Jan 2001 00:00:00 -0000"])
def test_a_retry_after_that_says_nothing_leaves_the_usual_wait(server: Server, header: str) -> None:
    server.replies = [failed(429, Retry_After=header), said(STAR)]
    waits: list[float] = []
    ask(server.planner(sleep=waits.append))
    assert 0.25 <= waits[0] <= 0.5


def test_waits_double_and_are_the_same_every_time(server: Server) -> None:
    server.replies = [failed(500)] * 5 + [said(STAR)]
    waits: list[float] = []
    planner = server.planner(sleep=waits.append)
    assert ask(planner) == STAR
    assert planner.retried == 5
    assert all(0.25 * 2**k <= wait <= 0.5 * 2**k for k, wait in enumerate(waits))
    again: list[float] = []
    server.requests.clear()
    ask(server.planner(sleep=again.append))
    assert again == waits


def test_after_the_last_try_the_servers_reason_is_told(server: Server) -> None:
    server.replies = [failed(500, "out of\nmemory")]
    line = refusal(lambda: ask(server.planner("retries=2")))
    assert line == f"no answer from {server.base}/chat/completions after 3 tries: 500 out of memory"
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refused_request_is_not_repeated(server: Server, status: int) -> None:
    server.replies = [failed(status, "at most 1 image\nmay be provided")]
    planner = server.planner()
    line = refusal(lambda: ask(planner))
    assert line == f"{server.base}/chat/completions refused the request: {status} at most 1 image may be provided"
    assert (len(server.requests), planner.retried) == (1, 0)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"error": "no such model"}', "no such model"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"object": "error", "message": "too long"}', "too long"),
        (b"plain\r\nwords", "plain words"),
        (b"", "Bad Request"),
        (b"x" * 1000, "x" * 299 + "…"),
    ],
)
def test_the_servers_reason_is_found_in_whatever_form(server: Server, body: bytes, shown: str) -> None:
    server.replies = [Reply(body, 400)]
    assert refusal(lambda: ask(server.planner())).endswith(f"refused the request: 400 {shown}")


@pytest.mark.parametrize("status", [301, 302, 303, 307])
def test_a_redirect_is_refused_because_it_would_carry_the_key_away(server: Server, status: int) -> None:
    server.replies = [failed(status, "moved", Location=f"{server.base}/elsewhere"), said(STAR)]
    assert f"refused the request: {status} moved" in refusal(lambda: ask(server.planner()))
    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_tried_again(server: Server) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        planner = chat_planner(f"chat:m@http://127.0.0.1:{taken.getsockname()[1]}/v1?retries=2", lambda _: None)
        line = refusal(lambda: ask(planner))
    assert "after 3 tries" in line
    assert "refused" in line
    assert planner.retried == 2


def test_a_server_that_is_silent_is_tried_again(server: Server) -> None:
    hold = threading.Event()
    server.replies = [Reply(b"", hold=hold), said(STAR)]
    planner = server.planner("timeout=0.3")
    try:
        assert ask(planner) == STAR
        assert planner.retried == 1
        server.requests.clear()
        line = refusal(lambda: ask(server.planner("timeout=0.3&retries=0")))
        assert line.endswith("after 1 try: nothing came within 0.3 s")
    finally:
        hold.set()


def test_a_reply_that_breaks_off_is_asked_for_again(server: Server) -> None:
    server.replies = [Reply(b'{"cho', headers=(("Content-Length", "500"),)), said(STAR)]
    planner = server.planner()
    assert ask(planner) == STAR
    assert planner.retried == 1


# ------------------------------------------------------------------------------------------------ the key


def test_the_key_is_sent_and_shows_up_nowhere_else(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET + "\n")
    server.replies = [said(f"{SECRET}, {STAR}"), failed(401, f"wrong key {SECRET}"), failed(500, SECRET), Reply(SECRET.encode())]
    planner = server.planner(f"cache={tmp_path}&retries=0")
    assert ask(planner) == STAR
    assert server.requests[0][1]["Authorization"] == f"Bearer {SECRET}"
    lines = [refusal(lambda k=k: ask(planner, history=(str(k),))) for k in range(3)]  # type: ignore[misc]
    assert all("[key]" in line for line in lines)
    kept = [path.name + path.read_text() for path in tmp_path.iterdir()]
    assert len(kept) == 1
    assert SECRET not in "".join([*lines, *kept, planner.last_answer, repr(vars(planner)), repr(vars(planner._client))])


def test_the_same_question_with_another_key_is_the_same_question(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("one", "two"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        ask(server.planner(f"cache={tmp_path}"))
    assert len(server.requests) == 1


def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "geheim\nß")
    line = refusal(lambda: ask(server.planner()))
    assert line == "OPENAI_API_KEY holds a character that cannot be sent in a header; expected printable ASCII"


# ------------------------------------------------------------------------------------------------ the cache


def test_a_kept_answer_is_given_again_without_asking(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "answers"
    server.replies = [said("the green star: pick up green star 0"), said(MUG)]
    first, second = server.planner(f"cache={folder}"), server.planner(f"cache={folder}")
    assert ask(first) == ask(second) == STAR
    assert len(server.requests) == 1
    assert (first.from_cache, second.from_cache, second.asked) == (0, 1, 1)
    for name in ("last_answer", "tokens_in", "tokens_out", "unparsed"):
        assert getattr(first, name) == getattr(second, name)
    assert [path.suffix for path in folder.iterdir()] == [".json"]


def test_another_question_is_another_answer(server: Server, tmp_path: Path) -> None:
    for options, more in (
        ("", {}),
        ("seed=1", {}),
        ("temperature=1", {}),
        ("json=true", {}),
        ("", {"base": picture(3)}),
        ("", {"vocabulary": (STAR,)}),
        ("", {"history": (STAR,)}),
    ):
        ask(server.planner(f"cache={tmp_path}&{options}".rstrip("&")), **more)  # type: ignore[arg-type]
    assert len(server.requests) == 7
    assert len(list(tmp_path.iterdir())) == 7


def test_kept_answers_serve_a_server_that_moved(server: Server, tmp_path: Path) -> None:
    ask(server.planner(f"cache={tmp_path}"))
    moved = chat_planner(f"chat:some/model:7b@http://127.0.0.1:1/v1?cache={tmp_path}", lambda _: None)
    assert ask(moved) == STAR
    assert moved.from_cache == 1


@pytest.mark.parametrize("content", ["", "{", "[]", '{"answer": 3, "tokens_in": 1, "tokens_out": 1}', '{"answer": "x"}', "[" * 100_000])
def test_a_broken_file_of_the_cache_is_named_and_not_used(server: Server, tmp_path: Path, content: str) -> None:
    ask(server.planner(f"cache={tmp_path}"))
    (kept,) = tmp_path.iterdir()
    kept.write_text(content)
    line = refusal(lambda: ask(server.planner(f"cache={tmp_path}")))
    assert line == f"{kept} is not an answer as the cache keeps it; delete it to ask again"
    assert len(server.requests) == 1


def test_failures_are_not_kept(server: Server, tmp_path: Path) -> None:
    server.replies = [failed(400), Reply(b"{}"), said(STAR)]
    for _ in range(2):
        refusal(lambda: ask(server.planner(f"cache={tmp_path}")))
    assert list(tmp_path.iterdir()) == []
    assert ask(server.planner(f"cache={tmp_path}")) == STAR


def test_a_cache_that_is_no_folder_is_refused_before_anything_is_asked(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert f"the cache {tmp_path / 'file'} cannot be made" in refusal(lambda: server.planner(f"cache={tmp_path / 'file'}"))
