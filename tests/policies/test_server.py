"""Serving a policy: what it is given and gives, alone or in batches, and what a client sees when it fails."""

from __future__ import annotations

import asyncio
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from typing import Any
from urllib.request import urlopen

import msgpack
import numpy as np
import pytest
from openpi_server import array, observation, plain
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.policies.policy import BatchPolicy, Policy
from etude.policies.remote import PolicyError, RemotePolicy
from etude.policies.server import serving
from etude.policies.sessions import another

Array = np.ndarray[Any, Any]


class Counting:
    """Its action is how often it acted in this episode. Keeps all it was told and shown."""

    contract = Contract.etude("ee_delta", cameras=("base",), size=(8, 8), chunk=2, execute=1)

    def __init__(self) -> None:
        self.told: list[tuple[str, list[Array], str]] = []
        self.seen: list[dict[str, Any]] = []
        self.count = 0

    def reset(self, instruction: str, pictures: Sequence[Array], episode: str) -> None:
        self.told.append((instruction, list(pictures), episode))
        self.count = 0

    def act(self, observation: dict[str, Any]) -> Array:
        self.seen.append(observation)
        self.count += 1
        return np.full((2, 7), float(self.count))


class Gathering(Counting):
    """Answers with the number in the observation. Keeps the sizes of its batches, and who was told what."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[int]] = []
        self.sessions: list[tuple[int, str, str]] = []

    def reset_session(self, session: int, instruction: str, pictures: Sequence[Array], episode: str) -> None:
        self.sessions.append((session, instruction, episode))

    def act_batch(self, observations: list[dict[str, Any]], sessions: list[int]) -> list[Array]:
        self.batches.append(sessions)
        return [np.full(7, float(seen["number"])) for seen in observations]


@contextmanager
def served(make: Callable[[], Policy], **options: Any) -> Iterator[str]:
    """The server, in a thread with a loop of its own; gives its URL."""
    ready: queue.Queue[tuple[int, asyncio.AbstractEventLoop, asyncio.Task[None]]] = queue.Queue()

    async def main() -> None:
        task = asyncio.create_task(serving(make, port=0, ready=lambda port: ready.put((port, asyncio.get_running_loop(), task)), **options))
        await asyncio.wait([task])

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    port, loop, task = ready.get(timeout=60)
    try:
        yield f"ws://127.0.0.1:{port}"
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(60)
        assert not thread.is_alive()


@contextmanager
def client(url: str, episode: str = "suite/task@test#0") -> Iterator[RemotePolicy]:
    policy = RemotePolicy(url)
    try:
        policy.reset("Stack the cubes", (), episode)
        yield policy
    finally:
        policy.close()


def ask(connection: ClientConnection, message: Any) -> Any:
    connection.send(msgpack.packb(message))
    answer = connection.recv(timeout=60)
    return msgpack.unpackb(answer) if isinstance(answer, bytes) else answer


def same(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)


# ------------------------------------------------------------------------------------------------ one policy, episodes apart


def test_a_served_policy_is_told_and_shown_what_it_would_be_in_the_same_process() -> None:
    far, near, picture = Counting(), Counting(), np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    with served(lambda: far) as url, client(url) as policy:
        assert policy.contract == Counting.contract
        for played in (policy, near):
            played.reset("Put {image:0} away", [picture], "suite/task@test#7")
        assert np.array_equal(policy.act(observation()), near.act(observation()))
    assert far.told[1][0::2] == near.told[0][0::2] and same(far.told[1][1][0], near.told[0][1][0])
    assert far.seen[0].keys() == near.seen[0].keys() and all(same(far.seen[0][key], near.seen[0][key]) for key in near.seen[0])
    far.seen[0]["base"][:] = 0  # as it may with its own


class Weighty(Counting):
    """Counts by what it wrote down, in a list that is made once, and multiplies by weights that are made once."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        self.weights = np.full(7, 2.0)
        self.weights.flags.writeable = False
        self.places: list[int] = []
        self.window = np.broadcast_to(np.zeros(1), 3)  # a read-only view may show what changes

    def act(self, observation: dict[str, Any]) -> Array:
        self.seen.append(observation)
        self.places.append(self.weights.ctypes.data)
        return self.weights * len(self.seen)

    def reset(self, instruction: str, pictures: Sequence[Array], episode: str) -> None:
        self.seen.clear()


def test_connections_share_one_policy_and_keep_their_episodes_apart() -> None:
    Weighty.made = 0
    with served(Weighty) as url, client(url) as one, client(url) as other:
        assert [one.act(observation())[0] for _ in range(3)] == [2, 4, 6]
        assert other.act(observation())[0] == 2
        one.reset("Again", (), "suite/task@test#1")
        assert (one.act(observation())[0], other.act(observation())[0]) == (2, 4)
    assert Weighty.made == 1


def test_copies_of_a_policy_share_its_weights_and_nothing_else() -> None:
    policy = Weighty()
    copied = another(policy)
    assert isinstance(copied, Weighty) and copied.weights is policy.weights
    assert copied.places is not policy.places and copied.window is not policy.window


def test_copies_share_the_parameters_of_a_torch_module() -> None:
    torch = pytest.importorskip("torch")

    class Learned(Counting):
        def __init__(self) -> None:
            super().__init__()
            self.network = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))

    policy = Learned()
    copied = another(policy)
    assert isinstance(copied, Learned) and copied.network is not policy.network
    assert all(a is b for a, b in zip(copied.network.parameters(), policy.network.parameters(), strict=True))
    assert all(a is not b for a, b in zip(copied.network.buffers(), policy.network.buffers(), strict=True))


def test_a_policy_may_say_itself_what_plays_for_another_connection() -> None:
    class Splitting(Counting):
        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()
            self.sessions: list[Counting] = []

        def new_session(self) -> Counting:
            self.sessions.append(Counting())
            return self.sessions[-1]

    policy = Splitting()
    with served(lambda: policy) as url, client(url) as one, client(url) as other:
        assert [played.act(observation())[0, 0] for played in (one, one, other)] == [1, 2, 1]
    assert [len(session.seen) for session in policy.sessions] == [1] and len(policy.seen) == 2


class Locked(Counting):
    """Holds what cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


def test_a_policy_that_cannot_be_copied_serves_one_connection_at_a_time() -> None:
    with served(Locked) as url, client(url) as policy:
        with pytest.raises(PolicyError, match=r"Locked serves one connection at a time.*; give it a method new_session\(\), or act_batch$"):
            RemotePolicy(url)
        assert policy.act(observation()).shape == (2, 7)


@pytest.mark.parametrize("make", [Counting, lambda: Gathering()], ids=["apart", "in batches"])
def test_two_hundred_connections_held_at_once_are_all_answered(make: Callable[[], Policy]) -> None:
    async def held(url: str) -> list[float]:
        async with AsyncExitStack() as stack:
            opened = await asyncio.gather(*(stack.enter_async_context(connect_async(url, compression=None)) for _ in range(200)))
            for _ in range(2):
                await asyncio.gather(*(one.recv() for one in opened))
                await asyncio.gather(*(one.send(msgpack.packb({"prompt": "go", "number": k})) for k, one in enumerate(opened)))
            answers = await asyncio.gather(*(one.recv() for one in opened))
            return [float(plain(msgpack.unpackb(answer)["actions"]).flat[0]) for answer in answers]

    with served(make) as url:
        found = asyncio.run(asyncio.wait_for(held(url), 60))
    assert found == ([2.0] * 200 if make is Counting else [float(k) for k in range(200)])


def test_a_client_of_openpi_is_served_and_its_prompt_is_the_instruction() -> None:
    policy = Counting()
    with served(lambda: policy) as url, connect(url, compression=None, max_size=None) as connection:
        introduction = msgpack.unpackb(connection.recv(timeout=60))
        answers = [ask(connection, {"observation/image": array(np.zeros((2, 2, 3)), "|u1"), "prompt": "go"}) for _ in range(2)]
    assert introduction == {"etude": {"contract": Counting.contract.to_data(), "reset": True}}
    assert [plain(answer["actions"]).tolist() for answer in answers] == [[[1.0] * 7] * 2, [[2.0] * 7] * 2]
    assert answers[0]["server_timing"]["infer_ms"] >= 0
    assert policy.told == [("go", [], "")]  # it never says that an episode begins, so the first question does
    assert set(policy.seen[0]) == {"observation/image", "instruction"} and policy.seen[0]["instruction"] == "go"


def test_health_is_answered_while_the_model_works() -> None:
    entered, release = threading.Event(), threading.Event()

    class Slow(Counting):
        def act(self, observation: dict[str, Any]) -> Array:
            entered.set()
            assert release.wait(60)
            return super().act(observation)

    with served(Slow) as url, client(url) as policy, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(policy.act, observation())
        assert entered.wait(60)
        with urlopen(url.replace("ws://", "http://") + "/healthz", timeout=60) as health:
            assert (health.status, health.read()) == (200, b"OK\n") and not answer.done()
        release.set()
        assert answer.result(60).shape == (2, 7)


def test_messages_of_fifty_megabytes_are_served() -> None:
    class Large(Counting):
        def act(self, observation: dict[str, Any]) -> Array:
            return np.full(7, float(observation["large"].nbytes))

    with served(Large) as url, client(url) as policy:
        assert policy.act(observation(large=np.zeros(50_000_000, np.uint8)))[0] == 50_000_000


# ------------------------------------------------------------------------------------------------ one policy for all


def gathered(clients: int, rounds: int, **options: Any) -> Gathering:
    """Several clients ask at once, each with its own number, and each gets its own back."""
    policy, together = Gathering(), threading.Barrier(clients)

    def play(url: str, number: int) -> list[float]:
        with client(url, f"suite/task@test#{number}") as played:
            together.wait(60)  # all are connected
            found = [float(played.act(observation(number=number))[0]) for _ in range(rounds)]
            together.wait(60)  # and stay, until all have been answered
            return found

    with served(lambda: policy, **options) as url, ThreadPoolExecutor(clients) as pool:
        answers = [pool.submit(play, url, number) for number in range(clients)]
        assert [a.result(60) for a in answers] == [[float(number)] * rounds for number in range(clients)]
    return policy


def test_requests_are_gathered_into_batches() -> None:
    # Nobody waits for the clock: an hour is longer than the test, so only a full batch is answered.
    policy = gathered(clients=4, rounds=3, batch=4, wait_ms=3_600_000)
    assert policy.batches == [[0, 1, 2, 3]] * 3
    assert isinstance(policy, BatchPolicy) and policy.told == [] and policy.seen == []


def test_a_batch_is_never_larger_than_asked_for() -> None:
    policy = gathered(clients=4, rounds=1, batch=2, wait_ms=3_600_000)
    assert [len(batch) for batch in policy.batches] == [2, 2] and {n for batch in policy.batches for n in batch} == {0, 1, 2, 3}


def test_a_batch_does_not_wait_for_more_than_all_clients() -> None:
    assert gathered(clients=2, rounds=2, batch=64, wait_ms=3_600_000).batches == [[0, 1]] * 2


def test_a_batch_that_does_not_fill_up_is_answered_after_its_wait() -> None:
    policy = Gathering()
    with served(lambda: policy, batch=2, wait_ms=1.0) as url, client(url) as asking, client(url):
        assert asking.act(observation(number=5)).tolist() == [5.0] * 7
    assert policy.batches == [[0]]


def test_sessions_are_told_of_their_episodes() -> None:
    policy = Gathering()
    with served(lambda: policy) as url, client(url, "suite/task@test#1"), client(url, "suite/task@test#2") as second:
        second.reset("Again", (), "suite/task@test#3")
    told = [(0, "Stack the cubes", "suite/task@test#1"), (1, "Stack the cubes", "suite/task@test#2"), (1, "Again", "suite/task@test#3")]
    assert policy.sessions == told


def test_the_number_of_a_session_is_used_again() -> None:
    policy = Gathering()
    with served(lambda: policy) as url:
        for _ in range(1000):  # the server may learn of an end a moment after the client
            with client(url):
                pass
            if len(policy.sessions) > 1 and policy.sessions[-1][0] == 0:
                return
    pytest.fail("no number came back")


def test_a_policy_that_remembers_nothing_need_not_be_told() -> None:
    class Forgetful(Counting):
        def act_batch(self, observations: list[dict[str, Any]], sessions: list[int]) -> list[Array]:
            return [np.zeros(7) for _ in observations]

    policy = Forgetful()
    with served(lambda: policy, batch=2) as url, client(url) as played:
        assert played.act(observation()).shape == (7,)
    assert policy.told == []


def test_a_batch_with_too_few_answers_fails_for_all_in_it() -> None:
    class Lossy(Gathering):
        def act_batch(self, observations: list[dict[str, Any]], sessions: list[int]) -> list[Array]:
            return []

    with served(Lossy, batch=8) as url, client(url) as policy, pytest.raises(PolicyError, match="act_batch gave 0 answers to 1 observ"):
        policy.act(observation())


# ------------------------------------------------------------------------------------------------ faults


class Failing(Counting):
    """Fails at its first action in every episode but the last."""

    def act(self, observation: dict[str, Any]) -> Array:
        if self.told[-1][2].endswith("#0"):
            raise ZeroDivisionError("nothing to divide")
        return super().act(observation)


def test_an_exception_is_sent_as_text_and_the_connection_closed_with_1011() -> None:
    with served(Failing) as url, connect(url) as connection:
        connection.recv(timeout=60)
        assert ask(connection, {"__ctrl__": "reset", "instruction": "", "pictures": [], "episode": "#0"}) == {"ok": True}
        text = ask(connection, {"prompt": "go"})
        assert isinstance(text, str) and text.startswith("Traceback") and text.endswith("ZeroDivisionError: nothing to divide\n")
        with pytest.raises(ConnectionClosed) as caught:
            connection.recv(timeout=60)
    assert caught.value.rcvd is not None and caught.value.rcvd.code == 1011


def test_a_policy_that_fails_spoils_one_episode() -> None:
    with served(Failing) as url, client(url) as policy:
        with pytest.raises(PolicyError, match=r"failed: ZeroDivisionError: nothing to divide$"):
            policy.act(observation())
        policy.reset("Stack the cubes", (), "suite/task@test#1")
        assert policy.act(observation()).shape == (2, 7)


def test_a_policy_that_runs_out_of_recorded_actions_does_not_hang() -> None:
    class Replaying(Counting):
        def act(self, observation: dict[str, Any]) -> Array:
            return next(iter([]))

    with served(Replaying) as url, client(url) as policy, pytest.raises(PolicyError, match="ran out of items"):
        policy.act(observation())


def test_a_policy_that_leaves_does_not_take_the_server_along() -> None:
    class Leaving(Counting):
        def act(self, observation: dict[str, Any]) -> Array:
            raise SystemExit(0)

    with served(Leaving) as url, client(url) as policy:
        with pytest.raises(PolicyError, match=r"the policy wanted to leave \(SystemExit: 0\)"):
            policy.act(observation())
        policy.reset("Again", (), "suite/task@test#1")


def test_a_client_is_sent_the_frames_of_the_policy_and_not_ours() -> None:
    with served(Failing) as url, connect(url) as connection:
        connection.recv(timeout=60)
        assert ask(connection, {"__ctrl__": "reset", "instruction": "", "pictures": [], "episode": "#0"}) == {"ok": True}
        text = ask(connection, {"prompt": "go"})
    assert [line.split(", in ")[1] for line in text.splitlines() if line.startswith("  File ")] == ["act"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("left", r"what the policy gave is text \('left'\); expected actions"),
        (None, "what the policy gave is None; expected actions"),
        ({"actions": 1}, "what the policy gave is a dict; expected actions"),
        ([[1.0], [2.0, 3.0]], "what the policy gave is a list, which is no array"),
    ],
)
def test_what_is_no_action_is_told_to_the_client_in_one_line(given: Any, words: str) -> None:
    class Odd(Counting):
        def act(self, observation: dict[str, Any]) -> Any:
            return given

    with served(Odd) as url, client(url) as policy, pytest.raises(PolicyError, match=words):
        policy.act(observation())


# ------------------------------------------------------------------------------------------------ bounds


def test_a_message_beyond_the_bound_is_refused_and_others_are_still_answered() -> None:
    with served(Counting, max_frame=100_000) as url, client(url) as small, client(url) as large:
        with pytest.raises(PolicyError, match=r"closed the connection with 1009 .*; its --max-frame says how much it takes$"):
            large.act(observation(large=np.zeros(200_000, np.uint8)))
        assert small.act(observation()).shape == (2, 7)


def test_a_message_that_only_claims_to_be_large_is_refused_before_it_comes() -> None:
    # The header of a frame of 2**40 bytes, and not one of them.
    with served(Counting) as url, connect(url) as connection:
        connection.recv(timeout=60)
        connection.socket.sendall(b"\x82\xff" + (2**40).to_bytes(8, "big") + bytes(4))
        with pytest.raises(ConnectionClosed) as caught:
            connection.recv(timeout=60)
    assert caught.value.rcvd is not None and caught.value.rcvd.code == 1009


def test_no_more_connections_are_held_than_allowed_and_a_free_one_is_given_again() -> None:
    with served(Counting, connections=1) as url:
        with client(url) as policy:
            with pytest.raises(PolicyError, match=r"HTTP 503; it may be full$"):
                RemotePolicy(f"{url}?connect=0")
            assert policy.act(observation()).shape == (2, 7)
        with client(url) as policy:  # waits for the server to learn of the end
            assert policy.act(observation()).shape == (2, 7)


@pytest.mark.parametrize(("sent", "admitted"), [("open sesame", True), ("open sesam", False), ("öpen", False), ("", False)])
def test_only_those_with_the_key_come_in(sent: str, admitted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETUDE_POLICY_KEY", sent)
    with served(Counting, key="open sesame") as url:
        if admitted:
            with client(url) as policy:
                assert policy.act(observation()).shape == (2, 7)
        else:
            with pytest.raises(PolicyError, match=r"HTTP 401; set ETUDE_POLICY_KEY to the key it wants$"):
                RemotePolicy(url)
        with urlopen(url.replace("ws://", "http://") + "/healthz", timeout=60) as health:
            assert health.status == 200


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("hello", "expects a dict in a binary message, got str"),
        (b"\xc1", "not a message of a policy server"),
        (msgpack.packb([1]), "expects a dict in a binary message, got list"),
        (msgpack.packb({"__ctrl__": "rest"}), "unknown control message 'rest'; did you mean 'reset'"),
        (msgpack.packb({"__ctrl__": "reset", "instruction": 3}), "'instruction' must be text, got int"),
        (msgpack.packb({"__ctrl__": "reset", "pictures": [3]}), "'pictures' must be a list of arrays"),
    ],
)
def test_a_message_that_makes_no_sense_is_answered_with_what_was_expected(message: str | bytes, answer: str) -> None:
    with served(Counting) as url, connect(url) as connection:
        connection.recv(timeout=60)
        connection.send(message)
        assert answer in str(connection.recv(timeout=60)).splitlines()[-1]


def test_a_web_page_cannot_reach_it_through_a_browser() -> None:
    with (
        served(Counting) as url,
        pytest.raises(InvalidStatus) as caught,
        connect(url, additional_headers={"Origin": "http://evil.example"}),
    ):
        pass
    assert caught.value.response.status_code == 403


class Privileged(Counting):
    contract = Contract(privileged=True)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (Privileged, {}, "Privileged is privileged: it wants the true state"),
        (Counting, {"batch": 4}, "Counting has no method act_batch"),
        (Counting, {"batch": 0}, "a batch is at least 1"),
        (Gathering, {"wait_ms": float("nan")}, "its wait at least 0 ms"),
        (Counting, {"max_frame": 0}, "frames are at least 1 byte and connections at least 1, got 0 and 256"),
        (Counting, {"connections": 0}, "connections at least 1, got 67108864 and 0"),
        (Counting, {"key": "schlüssel"}, "a key is sent in a header of HTTP"),
        (Counting, {"key": "two\nlines"}, "a key is sent in a header of HTTP"),
        (lambda: Counting, {}, r"the class Counting was given where a policy belongs: make one, Counting\(…\)"),
        (lambda: None, {}, "NoneType is not a policy: it is None"),
        (dict, {}, "dict is not a policy: it has no 'contract'"),
        (Counting, {"port": 70000}, "a port is a number from 0 to 65535, got 70000"),
        (Counting, {"host": "203.0.113.1"}, r"cannot listen at 203\.0\.113\.1:0: "),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(make: Callable[[], Policy], options: dict[str, Any], message: str) -> None:
    with pytest.raises(EtudeError, match=message) as caught:
        asyncio.run(serving(make, **{"port": 0, **options}))
    assert "\n" not in str(caught.value)


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EtudeError, match=rf"port {port} of 127\.0\.0\.1 is in use"):
            asyncio.run(serving(Counting, port=port))


PROGRAM = """
import signal
import numpy as np
from etude.policies.contract import Contract
from etude.policies.server import serve

class Still:
    contract = Contract.etude("ee_delta")
    def reset(self, instruction, pictures, episode): pass
    def act(self, observation): return np.zeros(7)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start its background jobs without
serve(Still, port=0, ready=lambda port: print(port, flush=True))
"""


def test_a_server_in_another_process_plays_until_it_is_interrupted() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            with client(f"ws://127.0.0.1:{int(process.stdout.readline())}") as policy:
                assert policy.act(observation()).tolist() == [0.0] * 7
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=60)
                assert errors.rstrip().endswith("KeyboardInterrupt")
                with pytest.raises(PolicyError, match="closed the connection with 1001"):
                    policy.act(observation())
        finally:
            process.kill()
