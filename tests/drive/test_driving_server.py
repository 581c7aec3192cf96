"""A person in front of the page, as the server hears them; and what others might send."""

import functools
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading

import pytest
from drivers import PATIENCE, PICK, drive_over, driver, hear, page, served, tell
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from etude.datasets.reader import DatasetReader
from etude.datasets.replaying import replay
from etude.datasets.validate import validate
from etude.drive.recorder import bring_up_to_date
from etude.drive.server import LONGEST

OTHER = "clevrskills/pick@train#1"
IDLE = {"move": [0, 0, 0], "turn": [0, 0, 0], "heading": 0.0, "slow": False, "closed": False}


def test_a_person_at_the_keys_makes_a_data_set(tmp_path):
    with served(tmp_path / "set", (PICK, OTHER)) as address, page(address) as socket:
        shown = hear(socket, "episode")
        assert shown["view"]["episode"] == PICK and (shown["number"], shown["of"], shown["state"]) == (0, 2, "ready")
        assert drive_over(socket, driver(), shown)["state"] == "success"
        tell(socket, "keep")
        following = hear(socket, "episode", "note")
        assert following["view"]["episode"] == OTHER and following["done"] == 1 and following["start"] > shown["start"]
    assert not validate(tmp_path / "set").defects
    (one,) = replay(tmp_path / "set")
    assert one.same and one.name == PICK and DatasetReader(tmp_path / "set").column("next.success", 0)[-1]


def test_who_finishes_at_the_page_is_told_no_trouble(tmp_path, caplog):
    with served(tmp_path / "set") as address, page(address) as socket:
        hear(socket, "episode")
        tell(socket, "finish")
        assert hear(socket, "finished")["done"] == 0
        with pytest.raises(ConnectionClosed):
            hear(socket, "nothing more")
    assert caplog.messages == []


def test_nothing_moves_before_a_key_is_pressed_or_in_a_pause(tmp_path):
    with served(tmp_path / "set") as address, page(address) as socket:
        shown = hear(socket, "episode")
        tell(socket, "steer", start=shown["start"], **IDLE)
        tell(socket, "pause")
        moment = hear(socket, "moment")
        assert (moment["state"], moment["steps"]) == ("ready", 0)
        tell(socket, "steer", start=shown["start"], **{**IDLE, "move": [0, 1, 0]})
        assert hear(socket, "moment")["steps"] > 0
        tell(socket, "pause")
        while (moment := hear(socket, "moment"))["state"] != "paused":
            pass
        tell(socket, "steer", start=shown["start"], **{**IDLE, "move": [0, 1, 0]})
        tell(socket, "pause")
        assert hear(socket, "moment")["steps"] == moment["steps"]
        tell(socket, "resume")
        while hear(socket, "moment")["steps"] < moment["steps"] + 3:
            pass


def test_what_was_held_down_in_one_episode_does_not_begin_the_next(tmp_path):
    with served(tmp_path / "set", (PICK, OTHER)) as address, page(address) as socket:
        shown = hear(socket, "episode")
        tell(socket, "next")
        tell(socket, "steer", start=shown["start"], **{**IDLE, "move": [0, 1, 0]})  # sent before the next one was seen
        following = hear(socket, "episode")
        tell(socket, "pause")
        assert following["number"] == 1 and hear(socket, "moment")["state"] == "ready"


def test_a_page_that_goes_away_pauses_and_comes_back_to_the_same_moment(tmp_path):
    with served(tmp_path / "set") as address:
        with page(address) as socket:
            shown = hear(socket, "episode")
            tell(socket, "steer", start=shown["start"], **{**IDLE, "move": [0, 1, 0]})
            while hear(socket, "moment")["steps"] < 5:
                pass
        with page(address) as socket:
            back = hear(socket, "episode")
            tell(socket, "pause")
            while (moment := hear(socket, "moment"))["state"] != "paused":
                pass
            assert back["start"] == shown["start"] and moment["steps"] >= 5


def test_the_latest_page_drives(tmp_path):
    with served(tmp_path / "set") as address, page(address) as first:
        hear(first, "episode")
        with page(address) as second:
            assert hear(second, "episode")["view"]["episode"] == PICK
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    first.recv(timeout=PATIENCE)
            assert closed.value.rcvd.code == 4000


BAD = [
    ("[]", "says what to do"),
    ("{", "not JSON"),
    ("[" * 5000, "nested too deeply"),
    ('{"do": 3}', "says what to do"),
    ('{"do": "kep"}', "unknown thing to do 'kep'; did you mean 'keep'"),
    ('{"do": "steer"}', "three numbers to move"),
    (json.dumps({"do": "steer", **IDLE, "heading": "north"}), "three numbers to move"),
    ('{"do": "steer", "move": [NaN, 0, 0], "turn": [0, 0, 0], "heading": 0, "slow": false, "closed": false}', "three numbers to move"),
    (b"\x80\x04K*.", "says what to do"),
    ('{"do": "keep"}', "only what succeeds is kept"),
]


def test_whatever_is_sent_the_session_goes_on(tmp_path):
    with served(tmp_path / "set") as address, page(address) as socket:
        hear(socket, "episode")
        for message, said in BAD:
            socket.send(message)
            note = hear(socket, "note")["text"]
            assert said in note and "\n" not in note
        tell(socket, "again")
        assert hear(socket, "episode")["state"] == "ready"
        socket.send(" " * (LONGEST + 1))  # too much: this connection ends, the server does not
        with pytest.raises(ConnectionClosed):
            while True:
                socket.recv(timeout=PATIENCE)
        with page(address) as other:
            assert hear(other, "episode")["state"] == "ready"


@pytest.mark.parametrize("origin", [None, "http://elsewhere.example", "null"])
def test_pages_of_others_cannot_drive(origin, tmp_path):
    with served(tmp_path / "set") as address:
        at = address.removeprefix("http://")
        with pytest.raises(InvalidStatus) as refused:
            connect(f"ws://{at}socket", origin=origin)
        assert refused.value.response.status_code == 403


def test_the_page_is_served_by_number_only_and_loads_nothing(tmp_path):
    with served(tmp_path / "set") as address:
        at = address.removeprefix("http://").rstrip("/")
        found = {}
        for path, host in (("/", at), ("/", "elsewhere.example"), ("/other", at)):
            connection = http.client.HTTPConnection(at, timeout=PATIENCE)
            connection.request("GET", path, headers={"Host": host})
            reply = connection.getresponse()
            found[path, host] = reply.status, reply.read().decode()
            connection.close()
    assert [status for status, _ in found.values()] == [200, 403, 404]
    text = found["/", at][1]
    assert "connect-src 'self'" in text and not re.search(r"(?:src|href)=\"(?!data:)", text.partition("<script>")[0])


def started(folder, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    """The command itself in a process of its own, and the address of its page."""
    command = [
        sys.executable,
        "-m",
        "etude",
        "drive",
        PICK,
        OTHER,
        "--out",
        str(folder),
        "--no-open",
        "--port",
        "0",
        "--size",
        "32",
        *arguments,
    ]
    heeded = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests may have been told to ignore it
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeded)
    kill = threading.Timer(5 * PATIENCE, process.kill)
    kill.daemon = True
    kill.start()
    assert process.stderr is not None
    return process, re.search(r"http://\S+", process.stderr.readline())[0]


def test_killed_in_the_middle_it_loses_at_most_what_is_being_driven(tmp_path):
    process, address = started(tmp_path / "set", "--time", "10")
    with page(address) as socket:
        drive_over(socket, driver(), hear(socket, "episode"))
        tell(socket, "keep")
        shown = hear(socket, "episode")
        tell(socket, "steer", start=shown["start"], **{**IDLE, "move": [0, 1, 0]})
        hear(socket, "moment")
        process.kill()
    process.wait()
    assert process.returncode == -signal.SIGKILL
    process, address = started(tmp_path / "set")
    with page(address) as socket:
        assert hear(socket, "episode")["number"] == 1  # the first is kept, and the second comes next
        os.kill(process.pid, signal.SIGINT)
        out, error = process.communicate(timeout=5 * PATIENCE)
    assert process.returncode == 0 and "kept 0 demonstrations; 1 demonstration in" in out, error
    assert "Traceback" not in error  # although the page was open
    bring_up_to_date(tmp_path / "set")
    assert not validate(tmp_path / "set").defects and [one.same for one in replay(tmp_path / "set")] == [True]
