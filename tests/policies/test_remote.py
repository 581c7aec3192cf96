"""A policy behind a socket: servers written here by hand, as openpi's behave, and every way in which they can fail."""

from __future__ import annotations

import base64
import hashlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpi_server import Behaviour, acts, array, observation, plain, says, server
from scipy.spatial.transform import Rotation
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

import etude
from etude.names import EtudeError
from etude.policies.address import axis_angle
from etude.policies.contract import Contract
from etude.policies.remote import PolicyError, RemotePolicy

PLAIN = "frame=tip&rotation=axis_angle&scale=0.1&closes=1&rate=20&orientation=upright"
STATED = f"action=ee_delta&cameras=base,hand_view&size=8x8&chunk=10&{PLAIN}"
SPOKEN = {
    "ee_delta": f"action=ee_delta&{PLAIN}",
    "ee_pose": "action=ee_pose&frame=base&rotation=quaternion_xyzw&scale=1&hand=0,1&rate=10",
    "joint": "action=joint&scale=1&closes=1&rate=20",
}


@contextmanager
def playing(url: str) -> Iterator[RemotePolicy]:
    policy = RemotePolicy(url)
    try:
        policy.reset("Stack the cubes", (), "suite/task@test#0")
        yield policy
    finally:
        policy.close()


# ------------------------------------------------------------------------------------------------ what goes over the wire


def test_a_server_of_openpi_is_played_with_a_contract_in_the_url() -> None:
    chunk = np.linspace(-1, 1, 70).reshape(10, 7).astype(np.float32)
    with server(acts(chunk)) as url, playing(f"{url}?{STATED}&layout=libero&execute=5") as policy:
        actions = policy.act(observation())
        assert policy.contract == Contract(
            "ee_delta", "tip", "axis_angle", 0.1, 1, 20.0, ("base", "hand_view"), (8, 8), orientation="upright", chunk=10, execute=5
        )
    assert actions.dtype == np.float64 and actions.flags.writeable and np.array_equal(actions, chunk.astype(float))


def test_the_libero_layout_has_the_keys_and_the_state_of_libero() -> None:
    heard: list[dict[str, Any]] = []

    def listen(connection: ServerConnection, message: dict[str, Any]) -> None:
        heard.append(message)
        acts(np.zeros(7))(connection, message)

    with server(listen) as url, playing(f"{url}?{STATED}&layout=libero") as policy:
        policy.act(observation())
    assert list(heard[0]) == ["observation/image", "observation/wrist_image", "observation/state", "prompt"]
    assert heard[0]["prompt"] == "Stack the cubes"
    image, wrist, state = (plain(heard[0][f"observation/{k}"]) for k in ("image", "wrist_image", "state"))
    assert image.shape == wrist.shape == (8, 8, 3) and (image == 1).all() and (wrist == 2).all() and image.dtype == np.uint8
    assert state.dtype == np.float32 and np.allclose(state, [0.1, 0.2, 0.3, np.pi, 0, 0, 0.03, -0.03])


def test_one_camera_makes_no_wrist_image_and_three_are_refused() -> None:
    heard: list[str] = []

    def listen(connection: ServerConnection, message: dict[str, Any]) -> None:
        heard.extend(message)
        acts(np.zeros(7))(connection, message)

    with server(listen) as url:
        with playing(f"{url}?{SPOKEN['ee_delta']}&cameras=base&layout=libero") as policy:
            policy.act(observation())
        for bad in ("layout=libero", "layout=libero&cameras=a,b,c", "layout=libero&cameras=base&modalities=depth"):
            with pytest.raises(EtudeError, match="one or two cameras with rgb"):
                RemotePolicy(f"{url}?{SPOKEN['ee_delta']}&{bad}")
    assert heard == ["observation/image", "observation/state", "prompt"]


def test_our_own_layout_sends_the_observation_as_it_is_and_the_prompt() -> None:
    heard: list[dict[str, Any]] = []

    def listen(connection: ServerConnection, message: dict[str, Any]) -> None:
        heard.append(message)
        acts(np.zeros(7))(connection, message)

    with server(listen) as url, playing(f"{url}?{STATED}") as policy:
        policy.act(observation(base_depth=np.ones((8, 8), np.float32)))
    assert set(heard[0]) == {"base", "base_depth", "hand_view", "proprioception", "instruction", "prompt"}
    assert heard[0]["prompt"] == heard[0]["instruction"] == "Stack the cubes"
    assert np.array_equal(plain(heard[0]["proprioception"]), observation()["proprioception"])


UNIT = st.lists(st.floats(-1, 1), min_size=4, max_size=4).map(np.array).filter(lambda q: np.linalg.norm(q) > 0.1)


@given(UNIT)
def test_a_rotation_has_one_axis_and_angle_whatever_the_sign_of_its_quaternion(q: np.ndarray[Any, Any]) -> None:
    q = q / np.linalg.norm(q)
    found = axis_angle(q)
    assert np.array_equal(found, axis_angle(-q)) and np.linalg.norm(found) < np.pi + 3e-6
    assert (Rotation.from_rotvec(found).inv() * Rotation.from_quat(q, scalar_first=True)).magnitude() < 1e-7


def test_half_turns_and_no_turn_have_fixed_values() -> None:
    assert axis_angle(np.array([1.0, 0, 0, 0])).tolist() == [0, 0, 0] == axis_angle(np.array([-1.0, 0, 0, 0])).tolist()
    for sign in (1.0, -1.0):
        assert axis_angle(sign * np.array([0.0, 0, 1, 0])) == pytest.approx([0, np.pi, 0])
        assert axis_angle(sign * np.array([-0.0, 1, 0, 0])) == pytest.approx([np.pi, 0, 0])
        for rounding in (1e-9, -1e-9):
            assert axis_angle(sign * np.array([rounding, -1, rounding, 0])) == pytest.approx([np.pi, 0, 0], abs=1e-6)


def test_messages_of_fifty_megabytes_pass_both_ways() -> None:
    large = np.arange(50_000_000, dtype=np.uint8)

    def echo(connection: ServerConnection, message: dict[str, Any]) -> None:
        connection.send(msgpack.packb({"actions": array(np.ones(7)), "state": message["large"]}))

    with server(echo) as url, playing(f"{url}?{STATED}") as policy:
        assert policy.act(observation(large=large)).tolist() == [1.0] * 7


def test_the_key_of_the_environment_is_shown_to_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def guard(connection: ServerConnection, request: Request) -> Response | None:
        known = request.headers.get("Authorization") == "Api-Key open sesame"
        return None if known else connection.respond(HTTPStatus.UNAUTHORIZED, "who is there?")

    with server(acts(np.zeros(7)), process_request=guard) as url:
        monkeypatch.delenv("ETUDE_POLICY_KEY", raising=False)
        with pytest.raises(PolicyError, match="HTTP 401; set ETUDE_POLICY_KEY"):
            RemotePolicy(f"{url}?{STATED}")
        monkeypatch.setenv("ETUDE_POLICY_KEY", "open sesame")
        with playing(f"{url}?{STATED}") as policy:
            assert policy.act(observation()).shape == (7,)


# ------------------------------------------------------------------------------------------------ faults


def fails_with_a_traceback(connection: ServerConnection, message: dict[str, Any]) -> None:
    connection.send("Traceback (most recent call last):\n  File …\nKeyError: 'observation/image'\n")
    connection.close(1011, "internal error")


def dies(connection: ServerConnection, message: dict[str, Any]) -> None:
    connection.socket.shutdown(socket.SHUT_RDWR)


def keeps_silent(connection: ServerConnection, message: dict[str, Any]) -> None:
    for _ in connection:  # until the client has gone
        pass


FAULTS: dict[str, tuple[Behaviour, str]] = {
    "fails": (fails_with_a_traceback, r"failed: KeyError: 'observation/image'$"),
    "empty text": (lambda connection, message: connection.send(""), "failed: it sent an empty text"),
    "closes": (lambda connection, message: connection.close(1011, "out of\nmemory"), "closed the connection with 1011 out of memory"),
    "dies": (dies, "closed the connection without a word"),
    "slow": (keeps_silent, r"did not answer within 1\.5 s"),
    "NaN": (acts([[0, 0, 0, 0, 0, 0, np.nan]]), "not finite"),
    "infinite": (acts([0, 0, 0, 0, 0, 0, np.inf]), "not finite"),
    "too wide": (acts(np.zeros((10, 8))), r"shape \(10, 8\); 'ee_delta' is \(7,\) or \(H, 7\)"),
    "three dimensions": (acts(np.zeros((1, 10, 7))), r"shape \(1, 10, 7\)"),
    "no dimension": (acts(0.0), r"shape \(\)"),
    "no actions in the array": (acts(np.zeros((0, 7))), r"shape \(0, 7\)"),
    "booleans": (acts(np.ones(7), "|b1"), "an array of bool as actions"),
    "text in an array": (acts(["a"] * 7, "<U1"), "an array of <U1 as actions"),
    "a list": (says({"actions": [0.0] * 7}), "list as actions"),
    "complex": (acts(np.zeros(7), "<c8"), "cannot be read: complex arrays"),
    "no actions": (says({"action": array(np.zeros(7))}), "answered without 'actions'; it sent 'action'"),
    "no dict": (says([1, 2]), "list where a dict belongs"),
    "no msgpack": (lambda connection, message: connection.send(b"\xc1"), "sent what cannot be read"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_ends_one_episode_and_the_next_reset_connects_again(name: str) -> None:
    behaviour, message = FAULTS[name]
    timeout = 1.5 if name == "slow" else 60
    with server(behaviour, acts(np.full((2, 7), 0.5))) as url, playing(f"{url}?{STATED}&timeout={timeout}") as policy:
        with pytest.raises(PolicyError, match=message) as caught:
            policy.act(observation())
        assert "\n" not in str(caught.value) and url in str(caught.value)
        with pytest.raises(PolicyError, match="connects again"):
            policy.act(observation())
        policy.reset("Stack the cubes", (), "suite/task@test#1")
        assert policy.act(observation()).tolist() == [[0.5] * 7] * 2


def test_an_answer_beyond_the_bound_is_refused_before_it_is_read() -> None:
    # Only the header of a frame of 2**40 bytes is sent.
    def claims(connection: ServerConnection, message: Any) -> None:
        connection.socket.sendall(b"\x82\x7f" + (2**40).to_bytes(8, "big"))

    with (
        server(claims) as url,
        playing(f"{url}?{STATED}") as policy,
        pytest.raises(PolicyError, match=r"sent a message of more than 64 MiB$"),
    ):
        policy.act(observation())


def test_whole_numbers_are_actions_too() -> None:
    with server(acts([1, 0, 0, 0, 0, 0, -1], "|i1")) as url, playing(f"{url}?{STATED}") as policy:
        assert policy.act(observation()).tolist() == [1, 0, 0, 0, 0, 0, -1]


@pytest.mark.parametrize(("space", "width"), [("ee_pose", 8), ("joint", 8), ("ee_delta", 7)])
def test_an_action_is_as_wide_as_its_space(space: str, width: int) -> None:
    with server(acts(np.zeros(width)), acts(np.zeros(width + 1))) as url:
        with playing(f"{url}?{SPOKEN[space]}") as policy:
            assert policy.act(observation()).shape == (width,)
        with playing(f"{url}?{SPOKEN[space]}") as policy, pytest.raises(PolicyError, match=f"'{space}' is"):
            policy.act(observation())


def test_a_server_that_is_not_there_is_named_with_the_way_to_start_one() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # not listening, so a connection is refused
        url = f"ws://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(PolicyError) as caught:
            RemotePolicy(f"{url}?connect=0.3&{STATED}")
    assert str(caught.value) == f"no policy server at {url}: connection refused; start one with `etude serve-policy`"


def test_a_host_that_nobody_knows_is_not_waited_for() -> None:
    with pytest.raises(PolicyError, match="host name is not known"):
        RemotePolicy(f"ws://{'x' * 64}.example:8000?connect=600")


def test_a_server_that_is_still_starting_is_waited_for() -> None:
    turned_away = iter([503, 502])

    def gateway(connection: ServerConnection, request: Request) -> Response | None:
        status = next(turned_away, None)
        return connection.respond(status, "starting") if status else None

    with server(acts(np.zeros(7)), process_request=gateway) as url, playing(f"{url}?{STATED}&connect=30") as policy:
        assert policy.act(observation()).shape == (7,)
    assert next(turned_away, None) is None


def test_a_port_that_opens_later_is_waited_for() -> None:
    found: list[RemotePolicy] = []
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        url = f"ws://127.0.0.1:{listening.getsockname()[1]}?{STATED}&connect=30"
        waiting = threading.Thread(target=lambda: found.append(RemotePolicy(url)))
        waiting.start()
        listening.listen()
        with serve(lambda connection: connection.send(msgpack.packb({})), sock=listening) as running:
            accepting = threading.Thread(target=running.serve_forever)
            accepting.start()
            waiting.join(60)
            running.shutdown()
            accepting.join(30)
    assert len(found) == 1
    found[0].close()


def test_something_else_on_the_port_is_named() -> None:
    with (
        server(acts(np.zeros(7)), process_request=lambda connection, request: connection.respond(HTTPStatus.NOT_FOUND, "a page")) as url,
        pytest.raises(PolicyError, match=f"no policy server at {url}: it answered with HTTP 404"),
    ):
        RemotePolicy(f"{url}?{STATED}")


def test_a_server_that_stops_reading_does_not_hold_up_a_large_message() -> None:
    done = threading.Event()

    def stuck(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        request = b""
        while b"\r\n\r\n" not in request:
            request += connection.recv(4096)
        key = next(line.split(b": ")[1] for line in request.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key"))
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept
        )
        connection.sendall(b"\r\n\r\n\x82\x01\x80")  # a binary frame of one byte: an empty map
        done.wait(60)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=stuck, args=(listening,))
        thread.start()
        try:
            url = f"ws://127.0.0.1:{listening.getsockname()[1]}?{STATED}&timeout=0.5"
            with playing(url) as policy, pytest.raises(PolicyError, match=r"did not take the message within 0\.5 s"):
                policy.act(observation(large=np.zeros(50_000_000, np.uint8)))
        finally:
            done.set()
            thread.join(30)


def test_an_observation_that_cannot_be_sent_does_not_end_the_episode() -> None:
    with server(acts(np.zeros(7))) as url, playing(f"{url}?{STATED}") as policy:
        with pytest.raises(EtudeError, match="type set cannot be sent"):
            policy.act(observation(odd={1, 2}))
        assert policy.act(observation()).shape == (7,)


# ------------------------------------------------------------------------------------------------ a server that declares its contract

DECLARED = Contract.etude("ee_delta", cameras=("base",), chunk=2)
OURS = {"etude": {"contract": DECLARED.to_data(), "reset": True}}


def recorder(heard: list[dict[str, Any]], ok: bool = True) -> Behaviour:
    def listen(connection: ServerConnection, message: dict[str, Any]) -> None:
        heard.append(message)
        connection.send(msgpack.packb({"ok": ok} if "__ctrl__" in message else {"actions": array(np.zeros((2, 7)))}))

    return listen


def test_a_server_that_announces_it_is_told_of_every_episode() -> None:
    heard: list[dict[str, Any]] = []
    picture = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    with server(recorder(heard), metadata=OURS) as url, playing(url) as policy:
        policy.act(observation())
        policy.reset("Put {image:0} away", [picture], "suite/task@test#1")
        assert policy.contract == DECLARED
    assert [message.get("__ctrl__") for message in heard] == ["reset", None, "reset"]
    assert heard[0] == {"__ctrl__": "reset", "instruction": "Stack the cubes", "pictures": [], "episode": "suite/task@test#0"}
    assert heard[2]["instruction"] == "Put {image:0} away" and np.array_equal(plain(heard[2]["pictures"][0]), picture)


def test_a_server_that_does_not_announce_it_is_told_nothing() -> None:
    heard: list[dict[str, Any]] = []
    with server(recorder(heard)) as url, playing(f"{url}?{STATED}") as policy:
        policy.act(observation())
    assert ["__ctrl__" in message for message in heard] == [False]


def test_a_server_that_does_not_accept_an_episode_is_refused() -> None:
    with server(recorder([], ok=False), metadata=OURS) as url, pytest.raises(PolicyError, match="did not accept the new episode"):
        RemotePolicy(url).reset("Stack the cubes", (), "suite/task@test#0")


def test_more_actions_than_declared_are_a_mistake_and_more_than_wanted_are_left() -> None:
    many = np.linspace(0, 1, 21).reshape(3, 7)
    with (
        server(lambda c, m: says({"ok": True})(c, m) if "__ctrl__" in m else acts(many)(c, m), metadata=OURS) as url,
        playing(f"{url}?chunk=2") as policy,
        pytest.raises(PolicyError, match=r"sent 3 actions at once, its contract says chunk=2$"),
    ):
        policy.act(observation())
    with server(acts(many)) as url:
        with playing(f"{url}?{SPOKEN['ee_delta']}&chunk=2") as policy:
            assert policy.act(observation()) == pytest.approx(many[:2])
        with playing(f"{url}?{SPOKEN['ee_delta']}") as policy, pytest.raises(PolicyError, match="say chunk=3 in the URL"):
            policy.act(observation())


def test_a_server_that_went_away_between_episodes_is_connected_again() -> None:
    gone = threading.Event()

    def leaves(connection: ServerConnection, message: dict[str, Any]) -> None:
        acts(np.zeros(7))(connection, message)
        connection.close()
        gone.set()

    with server(leaves, acts(np.ones(7))) as url, playing(f"{url}?{STATED}") as policy:
        policy.act(observation())
        assert gone.wait(30)  # the closing handshake is over, so the client knows
        policy.reset("Stack the cubes", (), "suite/task@test#1")
        assert policy.act(observation()).tolist() == [1.0] * 7


def test_only_an_answer_is_waited_for_within_a_time_and_a_pause_may_last() -> None:
    """What could end a connection on which nothing is said: a timeout of the socket itself, or pings that are not answered."""
    with server(acts(np.ones(7))) as url, playing(f"{url}?{STATED}&timeout=30") as policy:
        assert policy.act(observation()).tolist() == [1.0] * 7
        connection = policy._client._connection
        assert connection is not None and connection.socket.gettimeout() is None and connection.ping_interval is None
        assert not any(connection.socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16))


def test_a_server_that_comes_back_with_another_contract_is_refused() -> None:
    other = {"etude": {"contract": replace(DECLARED, chunk=5).to_data(), "reset": True}}
    with server(dies, metadata=[OURS, other]) as url:
        policy = RemotePolicy(url)
        with pytest.raises(PolicyError, match="without a word"):
            policy.reset("Stack the cubes", (), "suite/task@test#0")
        with pytest.raises(PolicyError, match="came back with another contract"):
            policy.reset("Stack the cubes", (), "suite/task@test#1")


@pytest.mark.parametrize("said", ["frame", "rotation", "scale", "closes", "rate", "orientation", "action"])
def test_what_a_server_of_openpi_and_its_address_leave_open_is_refused(said):
    query = "&".join(part for part in STATED.split("&") if not part.startswith(f"{said}="))
    with server(acts(np.zeros(7))) as url, pytest.raises(EtudeError, match=f"does not say its {said}, and neither does the URL"):
        RemotePolicy(f"{url}?{query}")


def test_a_server_with_conventions_of_its_own_is_played_in_them():
    sent = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]  # no rotation as a quaternion xyzw, and an open hand
    spoken = "action=ee_delta&frame=world&rotation=quaternion_xyzw&scale=1&hand=0,1&rate=10"
    with server(acts(sent)) as url, playing(f"{url}?{spoken}&cameras=base&called=image&size=8x8&orientation=flipped") as policy:
        steps = iter(etude.rollout(policy, "clevrskills/touch@train#0"))
        first, second = next(steps), next(steps)
    assert first.observation["image"].shape == (8, 8, 3) and "base" not in first.observation
    assert np.allclose(first.action, [0, 0, 0, 0, 0, 0, -1]) and np.allclose(second.action, first.action)
