"""A person in front of the study page, in a real browser; and what others might send to it."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from browser import PATIENCE, Tab, browser, chromium

from etude.decisions.showing import told
from etude.decisions.trial import SILENT, Trial
from etude.evaluation.plan import make_names
from etude.evaluation.store import Run, read_run
from etude.library import trial as find_trial
from etude.names import EtudeError
from etude.report.evaluation import report
from etude.report.exports import collect
from etude.web.local_page import LONGEST
from etude.web.study import Study, serve_studies, study_plan

NAMES = make_names(["iwisdm"], ["single_frame_location"], ["val"], episodes=3)
MANY = make_names(["iwisdm"], ["two_back"], ["val"], episodes=2)
WORDS = make_names(["iwisdm"], ["high"], ["val"], episodes=40)

in_browser = pytest.mark.skipif(chromium() is None, reason="needs chromium, chromium-browser or google-chrome on the path")


@contextmanager
def served(
    folder: Path, names: tuple[str, ...] = NAMES, port: int = 0, people: tuple[str, ...] = ("ann",), practice: tuple[str, ...] = ()
) -> Iterator[int]:
    """A study at a port of this machine."""
    started, found = threading.Event(), []

    def ready(_: str, server: ThreadingHTTPServer) -> None:
        found.append(server)
        started.set()

    with ExitStack() as opened:
        places = {who: folder if len(people) == 1 else folder / who for who in people}
        studies = {who: opened.enter_context(Study(study_plan(who, names), place, practice)) for who, place in places.items()}
        thread = threading.Thread(target=serve_studies, args=(studies, "127.0.0.1", port, ready))
        thread.start()
        assert started.wait(PATIENCE)
        try:
            yield found[0].server_address[1]
        finally:
            found[0].shutdown()
            thread.join()


def right(trial: Trial) -> list[str]:
    return [a for a in trial.answers if a != SILENT]


def wrong(trial: Trial) -> list[str]:
    return [next(c for c in trial.choices if c != a) for a in right(trial)]


def post(port: int, body: Any, path: str = "/answer", **changed: str | None) -> tuple[int, str]:
    """Send an answer as the page does, but for the headers that are changed."""
    headers = {"Host": f"127.0.0.1:{port}", "Origin": f"http://127.0.0.1:{port}", "Content-Type": "application/json"}
    sent = {k: v for k, v in {**headers, **{k.replace("_", "-"): v for k, v in changed.items()}}.items() if v is not None}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("POST", path, body if isinstance(body, str) else json.dumps(body), sent)
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, text


def answered(name: str, answers: list[str] | None = None, seconds: float = 1.5) -> dict[str, Any]:
    given = right(find_trial(name)) if answers is None else answers
    return {"trial": name, "answers": given, "times": [seconds] * len(given)}


# ------------------------------------------------------------------------------------------------ what is sent


def test_answers_and_times_become_the_records_of_a_run(tmp_path):
    with served(tmp_path / "run") as port:
        for k, name in enumerate(NAMES):
            status, text = post(port, answered(name, wrong(find_trial(name)) if k == 1 else None, 1.5 + k))
            assert status == 200 and json.loads(text)["done"] == k + 1
    run = read_run(tmp_path / "run")
    assert run.plan.policy == "human:ann" and not run.missing
    assert [r.outcome for r in run.records] == ["success", "failure", "success"]
    assert [r.timings["seconds"] for r in run.records] == [1.5, 2.5, 3.5]
    assert [r.id for r in run.records] == [find_trial(n).id for n in NAMES]


def test_a_second_answer_to_the_same_trial_is_not_counted(tmp_path):
    with served(tmp_path / "run") as port:
        post(port, answered(NAMES[0]))
        status, text = post(port, answered(NAMES[0], wrong(find_trial(NAMES[0]))))
        assert status == 200 and json.loads(text)["trial"]["name"] == NAMES[1]
    run = read_run(tmp_path / "run")
    assert [r.outcome for r in run.records] == ["success"]
    assert len((tmp_path / "run" / "episodes.jsonl").read_text().splitlines()) == 1


BAD: list[tuple[int, Any, dict[str, str | None]]] = [
    (415, answered(NAMES[1]), {"Content_Type": "text/plain"}),
    (415, answered(NAMES[1]), {"Content_Type": None}),
    (403, answered(NAMES[1]), {"Origin": "http://elsewhere.example"}),
    (403, answered(NAMES[1]), {"Origin": "null"}),
    (403, answered(NAMES[1]), {"Origin": None}),
    (403, answered(NAMES[1]), {"Host": "elsewhere.example", "Origin": "http://elsewhere.example"}),
    (403, answered(NAMES[1]), {"Host": "[", "Origin": "http://["}),
    (404, answered(NAMES[1]), {"path": "/elsewhere"}),
    (400, "not JSON", {}),
    (400, "[" * 5000, {}),
    (400, "", {}),
    (400, " " * (LONGEST + 1), {}),
    (400, answered(NAMES[1]), {"Content_Length": "-1"}),
    (400, [1], {}),
    (400, {"trial": NAMES[1]}, {}),
    (400, answered(NAMES[1], []), {}),
    (400, answered(NAMES[1], ["perhaps"]), {}),
    (400, answered(NAMES[1], ["true", "true"]), {}),
    (400, answered(NAMES[1], seconds=float("nan")), {}),
    (400, answered(NAMES[1], seconds=-1.0), {}),
    (400, {**answered(NAMES[1]), "times": ["1"]}, {}),
    (400, {**answered(NAMES[1]), "times": [True]}, {}),
    (400, {**answered(NAMES[1]), "times": [10**400]}, {}),
    (400, answered(NAMES[2]), {}),  # its turn has not come
    (400, {**answered(NAMES[1]), "trial": "iwisdm/low@val#0"}, {}),
]


def test_what_is_not_an_answer_is_refused_and_loses_nothing(tmp_path):
    with served(tmp_path / "run") as port:
        post(port, answered(NAMES[0]))
        before = (tmp_path / "run" / "episodes.jsonl").read_bytes()
        for expected, body, changed in BAD:
            status, _ = post(port, body, **changed)  # type: ignore[arg-type]
            assert status == expected, (body, changed)
            assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == before
        assert post(port, answered(NAMES[1]))[0] == 200
    assert [r.episode for r in read_run(tmp_path / "run").records] == list(NAMES[:2])


def test_the_page_cannot_be_reached_by_a_name_that_is_not_ours(tmp_path):
    with served(tmp_path / "run") as port:
        for host, expected in (("elsewhere.example", 403), ("localhost", 200), ("127.0.0.1", 200), ("[::1]", 200)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", "/state", headers={"Host": f"{host}:{port}"})
            assert connection.getresponse().status == expected
            connection.close()


def test_a_new_start_goes_on_where_it_stopped(tmp_path):
    with served(tmp_path / "run") as port:
        post(port, answered(NAMES[0]))
    with served(tmp_path / "run") as port:
        status, text = post(port, answered(NAMES[1]))
        assert status == 200 and json.loads(text)["done"] == 2 and json.loads(text)["trial"]["name"] == NAMES[2]
    assert len(read_run(tmp_path / "run").missing) == 1


def test_another_person_or_an_open_folder_is_refused(tmp_path):
    with Study(study_plan("ann", NAMES), tmp_path / "run"), pytest.raises(EtudeError, match="another process is working"):
        Study(study_plan("ann", NAMES), tmp_path / "run")
    with served(tmp_path / "run") as port:
        post(port, answered(NAMES[0]))
    with pytest.raises(EtudeError, match="holds a run with policy 'human:ann', not 'human:bob'"):
        Study(study_plan("bob", NAMES), tmp_path / "run")


def test_changed_trials_are_not_mixed_with_old_answers(tmp_path):
    with served(tmp_path / "run") as port:
        post(port, answered(NAMES[0]))
    lines = tmp_path / "run" / "episodes.jsonl"
    lines.write_text(lines.read_text().replace(find_trial(NAMES[0]).id, f"{NAMES[0]}~000000000000"))
    with pytest.raises(EtudeError, match="is no longer the trial"):
        Study(study_plan("ann", NAMES), tmp_path / "run")


@pytest.mark.parametrize("person", ["", "a b", "../x", "a/b"])
def test_a_person_has_a_plain_name(person):
    with pytest.raises(EtudeError, match="--person"):
        study_plan(person, NAMES)


def test_a_robot_is_no_question_for_people(tmp_path):
    with pytest.raises(EtudeError, match="is not a decision"):
        Study(study_plan("ann", make_names(["clevrskills"], ["pick"], episodes=1)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


PEOPLE = tuple(f"p{k}" for k in range(50))


def test_fifty_people_answer_at_once_and_nothing_is_lost(tmp_path):
    name = NAMES[0]
    with served(tmp_path / "runs", people=PEOPLE) as port:
        find_trial(name)
        with ThreadPoolExecutor(len(PEOPLE)) as pool:
            replies = list(pool.map(lambda who: post(port, answered(name), f"/{who}/answer"), PEOPLE))
        assert [status for status, _ in replies] == [200] * len(PEOPLE)
        assert {json.loads(text)["trial"]["name"] for _, text in replies} == {NAMES[1]}
        assert post(port, answered(name))[0] == 404  # of several, the address must say who
    assert [len(read_run(tmp_path / "runs" / who).records) for who in PEOPLE] == [1] * len(PEOPLE)


def test_of_fifty_posts_of_one_person_at_once_one_counts(tmp_path):
    with served(tmp_path / "run") as port, ThreadPoolExecutor(50) as pool:
        replies = list(pool.map(lambda _: post(port, answered(NAMES[0])), range(50)))
        assert [status for status, _ in replies] == [200] * 50
    assert len(read_run(tmp_path / "run").records) == 1


def test_practice_comes_first_says_what_was_right_and_is_not_kept(tmp_path):
    practice = make_names(["iwisdm"], ["single_frame_location"], ["train"], episodes=2)
    with served(tmp_path / "run", practice=practice) as port:
        _, text = post(port, answered(practice[0], wrong(find_trial(practice[0]))))
        state = json.loads(text)
        assert state["practice"] and right(find_trial(practice[0]))[0] in state["feedback"] and state["done"] == 0
        assert post(port, answered(NAMES[0]))[0] == 400  # its turn has not come
        state = json.loads(post(port, answered(practice[1]))[1])
        assert not state["practice"] and state["feedback"] == "That was right." and state["trial"]["name"] == NAMES[0]
        assert json.loads(post(port, answered(NAMES[0]))[1])["feedback"] == ""
    with served(tmp_path / "run", practice=practice) as port:  # who has begun knows how it goes
        assert post(port, answered(NAMES[1]))[0] == 200
    assert [r.episode for r in read_run(tmp_path / "run").records] == list(NAMES[:2])


def test_people_are_reported_one_by_one_and_together(tmp_path):
    with served(tmp_path / "runs", people=("ann", "bob")) as port:
        for name in NAMES:
            post(port, answered(name), "/ann/answer")
            post(port, answered(name, wrong(find_trial(name))), "/bob/answer")
    runs = [read_run(tmp_path / "runs" / who) for who in ("ann", "bob")]
    rows = next(t for t in collect(runs) if t.name == "decisions").rows
    rates = {row[0]: row[4:6] for row in rows if row[1] == "level"}
    assert rates == {"human:ann": (3, 3), "human:bob": (3, 0), "2 people together": (6, 3)}
    assert "2 people together" in report(runs)


# ------------------------------------------------------------------------------------------------ in a browser


@pytest.fixture(scope="module")
def shared_tab() -> Iterator[Tab]:
    with browser() as tab:
        yield tab


@pytest.fixture
def tab(shared_tab) -> Tab:
    """The browser, as somebody finds it who has not been here before."""
    shared_tab.size(1100, 900)
    return shared_tab


def go(tab: Tab, port: int, begin: bool = True) -> None:
    tab.visit(f"http://127.0.0.1:{port}/")
    tab.wait("state !== null")
    if begin:
        tab.run("document.getElementById('start').click()")
        tab.wait("trial !== null")


def at(tab: Tab, done: int, total: int) -> None:
    tab.wait(f"document.getElementById('count').textContent === '{done} of {total}' && (trial !== null || {done} === {total})")


def click(tab: Tab, choice: str) -> None:
    tab.run(f"document.querySelector('[data-choice=\"{choice}\"]').click()")


def key(tab: Tab, letter: str) -> None:
    tab.ask("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
    tab.ask("Input.dispatchKeyEvent", type="keyUp", key=letter)


def outcomes(run: Run) -> list[str]:
    return [r.outcome for r in run.records]


@in_browser
def test_a_person_answers_by_click_and_by_key(tab, tmp_path):
    first, second, third = map(find_trial, NAMES)
    with served(tmp_path / "run") as port:
        go(tab, port, begin=False)
        assert tab.run("!document.getElementById('how').hidden && document.getElementById('trial').hidden")
        tab.run("document.getElementById('start').click()")
        at(tab, 0, 3)
        assert tab.run("[...document.querySelectorAll('#frames img')].every(i => i.naturalWidth === 224)")
        assert tab.run("document.querySelectorAll('#frames img').length") == len(first.frames)
        assert "location of object 1" in tab.run("document.getElementById('instruction').textContent")
        click(tab, right(first)[0])
        at(tab, 1, 3)
        key(tab, {"true": "y", "false": "n"}[wrong(second)[0]])
        at(tab, 2, 3)
        key(tab, "x")  # means nothing
        key(tab, {"true": "Y", "false": "N"}[right(third)[0]])
        at(tab, 3, 3)
        assert tab.run("!document.getElementById('over').hidden && document.getElementById('trial').hidden")
        assert tab.complaints() == []
        assert {u.split("/")[2] for u in tab.requests()} == {f"127.0.0.1:{port}"}
    run = read_run(tmp_path / "run")
    assert outcomes(run) == ["success", "failure", "success"]
    assert all(0 <= r.timings["seconds"] < PATIENCE for r in run.records)


@in_browser
def test_a_reload_keeps_the_trial_its_answers_and_its_time(tab, tmp_path):
    trial = find_trial(MANY[0])
    with served(tmp_path / "run", MANY) as port:
        go(tab, port)
        click(tab, right(trial)[0])
        early = tab.run("seconds()")
        tab.reload()
        tab.wait("trial !== null")
        assert tab.run("trial.name") == MANY[0] and tab.run("answers") == right(trial)[:1]
        assert tab.run("document.getElementById('asked').textContent").startswith("Question 2 of 4")
        assert tab.run("seconds()") > early
        for answer in right(trial)[1:]:
            click(tab, answer)
        at(tab, 1, 2)
    record = read_run(tmp_path / "run").records[0]
    assert record.success and [s.satisfied for s in record.subgoals] == [True] * 4
    times = [record.timings[f"task.{k}"] for k in range(4)]
    assert times == sorted(times) and times[-1] == record.timings["seconds"]


@in_browser
def test_a_double_click_answers_one_trial(tab, tmp_path):
    with served(tmp_path / "run") as port:
        go(tab, port)
        tab.run("{ const b = document.querySelector('#choices button'); b.click(); b.click(); }")
        at(tab, 1, 3)
    assert len(read_run(tmp_path / "run").records) == 1


@in_browser
def test_an_answer_waits_until_the_server_is_back(tab, tmp_path):
    first = find_trial(NAMES[0])
    with served(tmp_path / "run") as port:
        go(tab, port)
    click(tab, right(first)[0])
    tab.wait("!document.getElementById('lost').hidden")
    assert read_run(tmp_path / "run").records == ()
    with served(tmp_path / "run", port=port):
        tab.run("document.getElementById('again').click()")
        at(tab, 1, 3)
    assert outcomes(read_run(tmp_path / "run")) == ["success"]


@in_browser
def test_every_answer_has_a_key_of_its_own_and_a_phone_shows_all(tab, tmp_path):
    name = max(WORDS, key=lambda n: len(find_trial(n).choices))
    with served(tmp_path / "run", (name,)) as port:
        tab.size(360, 740)
        go(tab, port)
        keys = tab.run("keysOf(trial.choices)")
        assert len(set(keys)) == len(find_trial(name).choices) > 2 and all(keys)
        assert tab.run("document.documentElement.scrollWidth <= innerWidth")
        key(tab, keys[find_trial(name).choices.index(right(find_trial(name))[0])])
        at(tab, 1, 1)
    assert outcomes(read_run(tmp_path / "run")) == ["success"]


@in_browser
@pytest.mark.parametrize("names", [WORDS, MANY])
def test_all_is_seen_at_once_on_a_small_screen(tab, tmp_path, names):
    longest = max(names, key=lambda name: len(told(find_trial(name), "fluent")))
    with served(tmp_path / "run", (longest,)) as port:
        tab.size(1280, 720)
        go(tab, port)
        box = "document.getElementById('{}').getBoundingClientRect()"
        assert tab.run(f"{box.format('instruction')}.bottom") <= tab.run(f"{box.format('reply')}.top")
        assert tab.run(f"{box.format('choices')}.bottom") <= 720
        assert tab.run("document.documentElement.scrollHeight") <= 720


# ------------------------------------------------------------------------------------------------ the command


def test_the_command_says_where_the_page_is_and_ends_quietly(tmp_path):
    command = [sys.executable, "-c", "from etude.cli import main; main()", "study", "--task", "low", "--trials", "2", "--person", "7"]
    process = subprocess.Popen(
        [*command, "--port", "0", "--out", str(tmp_path / "run")],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell that runs tests in the background has it ignored
    )
    assert process.stderr is not None
    try:
        port = int(process.stderr.readline().split("127.0.0.1:")[1].split("/")[0])
        assert post(port, answered("iwisdm/low@val#0"))[0] == 200
        process.send_signal(2)
        assert "etude report" in process.stderr.read()
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
    run = read_run(tmp_path / "run")
    assert run.plan.policy == "human:7" and outcomes(run) == ["success"] and len(run.missing) == 1
