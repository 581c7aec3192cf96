"""What people get wrong in policies and planners: each mistake is told in one line, with their own frames and not ours."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from etude.cli import main
from etude.evaluation.play import Players, attempted, play
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.policies.loading import load_planner, load_policy

EPISODE = "clevrskills/touch@train#0"
DECISION = "iwisdm/low@val#0"
THIS = Path(__file__).name


def one_line(error: object) -> str:
    text = str(error)
    assert text and "\n" not in text and "Traceback" not in text
    return text


# ------------------------------------------------------------------------------------------------ contracts


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"action": "mind"}, "contract.action: expected one of 'ee_delta', 'ee_pose', 'joint'"),
        ({"frame": "moon"}, "contract.frame: expected one of 'tip', 'world'"),
        ({"rotation": 3}, "contract.rotation: expected one of 'axis_angle'"),
        ({"told": "loudly"}, "contract.told: expected one of 'text', 'multimodal'"),
        ({"chunk": "8"}, "contract.chunk: expected int"),
        ({"chunk": 0}, "a contract's chunk must be at least 1, got 0"),
        ({"chunk": 4, "execute": 5}, "execute must be from 1 to its chunk of 4"),
        ({"execute": 1.5}, "contract.execute: expected int"),
        ({"scale": "0.1"}, "contract.scale: expected float"),
        ({"rate": float("nan")}, "contract.rate: a float cannot stand there"),
        ({"closes": True}, "contract.closes: expected int"),
        ({"cameras": "base"}, "contract.cameras: expected a list of names, got 'base'; for one of them write ('base',)"),
        ({"cameras": ("base", 3)}, "contract.cameras[1]: expected str"),
        ({"cameras": {"base"}}, "contract.cameras: a set cannot stand there"),
        ({"size": "big"}, "contract.size: expected a list"),
        ({"size": 128}, "contract.size: expected a list, got 128"),
        ({"size": (128,)}, "contract.size: expected 2 values, got 1"),
        ({"size": (0, 128)}, "a contract's size is (width, height) in pixels, from 1 to 4096 each; got (0, 128)"),
        ({"size": (10**6, 10**6)}, "from 1 to 4096 each"),
        ({"modalities": ("rbg",)}, "unknown modality 'rbg'; did you mean 'rgb'"),
        ({"modalities": "rgb"}, "for one of them write ('rgb',)"),
        ({"privileged": "no"}, "contract.privileged: expected bool"),
    ],
)
def test_a_contract_of_wrong_types_is_refused_where_it_is_written(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(EtudeError) as error:
        Contract(**fields)
    assert words in one_line(error.value)


def test_lists_and_numpy_numbers_in_a_contract_mean_the_same() -> None:
    assert Contract(cameras=["base"], size=[np.int64(64), 32], scale=1) == Contract(cameras=("base",), size=(64, 32), scale=1.0)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ before it plays


class Still:
    """Does nothing, and nothing wrong."""

    contract: Any = Contract.etude("ee_delta")

    def reset(self, instruction, pictures, episode):
        pass

    def act(self, observation):
        return np.zeros(7)


class Mapped(Still):
    contract = {"action": "ee_delta"}  # noqa: RUF012


class Bare(Still):
    contract = Contract()


class Partial(Still):
    contract = Contract(action="ee_delta", cameras=("base",))


class Partly(Still):
    contract = Contract("ee_pose", "base", scale=0.5)


class Owning(Still):
    contract = Contract(own=True, cameras=("base",))


class Typed(Still):
    contract = Contract


class Guarded(Still):
    @property
    def contract(self):
        raise KeyError("contract")


class Mute:
    contract = Contract()

    def reset(self, instruction, pictures, episode):
        pass


class Short(Still):
    def reset(self, instruction):
        pass


class Greedy(Still):
    def act(self, observation, instruction):
        return np.zeros(7)


class Named(Still):
    act = "left"


class Later(Still):
    async def act(self, observation):
        return np.zeros(7)


class Wanting(Still):
    def __init__(self, checkpoint: str, temperature: float = 1.0, layers: int | None = None) -> None:
        pass


class Broken(Still):
    def __init__(self) -> None:
        raise OSError("no weights\nat all")


class Leaving(Still):
    def __init__(self) -> None:
        raise SystemExit(0)


def nothing() -> None:
    """Forgets to give the policy back."""


made = Still()


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("Mapped", "is a dict, expected a Contract of etude.policies.contract; Contract.from_data(…) makes one of a dict"),
        ("Typed", "is the class Contract, expected a Contract"),
        ("Bare", "names no action space: one of 'ee_delta', 'ee_pose', 'joint', "),
        ("Bare", 'a policy that is written for etude says Contract.etude("ee_delta", …)'),
        ("Partial", "leaves open: rate, closes, frame, rotation, scale, orientation; say them as the model has them, or, if as etude has"),
        ("Partial", "write Contract.etude(\"ee_delta\", cameras=('base',), …)"),
        ("Partly", "leaves open: rate, closes, rotation; say them"),
        ("Owning", "leaves open: orientation; say them as the model has them, or, if as etude has them (orientation=upright), write"),
        ("Guarded", "KeyError: 'contract' (in the policy: "),
        ("Mute", "is not a policy: it has no 'act'; a policy has contract, reset, act"),
        ("Short", ".reset takes (instruction), but is called with (instruction, pictures, episode)"),
        ("Greedy", ".act takes (observation, instruction), but is called with (observation)"),
        ("Named", ".act is a str, expected a method"),
        ("Later", ".act is asynchronous, expected a plain method: def act(…)"),
        ("Wanting", "needs 'checkpoint'"),
        ("Wanting?checkpoint=a&temprature=1", "did you mean 'temperature'"),
        ("Wanting?checkpoint=a&temperature=hot", "temperature='hot' is not a float"),
        ("Wanting?checkpoint=a&layers=few", "layers='few' is not a int"),
        ("Broken", "cannot be made: OSError: no weights ("),
        ("Leaving", "cannot be made: SystemExit: 0 ("),
        ("nothing", "is not a policy: it is None"),
        ("THIS", "is not a policy: it has no 'contract'"),
        ("made?speed=3", "is a policy already, so it takes no options; it was given speed"),
        ("Wanting?checkpoint=a&checkpoint=b", "option 'checkpoint' of the policy is given twice"),
        ("Stil", "did you mean 'Still'"),
        ("", "'test_bad_policies:' is not of the form module:attribute, e.g. my_policy:Policy?option=value"),
    ],
)
def test_a_policy_that_cannot_play_is_refused_when_it_is_loaded(policy: str, words: str) -> None:
    with pytest.raises(EtudeError) as error:
        load_policy(f"test_bad_policies:{policy}")
    assert words in one_line(error.value)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("", "unknown policy ''; valid: blind, chat, learned, lerobot, mishap, noop, oracle, random, …"),
        (":Still", "':Still' is not of the form module:attribute"),
        ("oracle:noise", "noise='true' is not a float"),
        ("oracle:noise=-1", "the oracle's noise must not be negative but a number of metres, got -1"),
        ("oracle:noise=nan", "got nan"),
        ("oracle:noise=0.1,noise=0.2", "option 'noise' of the policy is given twice"),
        ("random:action=mind", "contract.action: expected one of 'ee_delta'"),
        ("takeover:0.5", "is not of the form takeover:CHANCE:POLICY"),
        ("takeover:nan:noop", "the chance of a takeover must be above 0 and at most 1, got nan"),
        ("blind:", "blind needs a policy"),
        ("blind:oracle", "cannot be blindfolded; expected one that looks"),
        ("math:pi", "math:pi is not a policy: it has no 'contract'"),
        ("builtins:dict", "it does not say what its arguments are; expected a class or a function"),
        ("replay:", "replay needs a run"),
    ],
)
def test_a_text_that_stands_for_no_policy_is_refused(policy: str, words: str) -> None:
    with pytest.raises(EtudeError) as error:
        load_policy(policy)
    assert words in one_line(error.value)


MODULES = {
    "def broken(:": "SyntaxError",
    "import nothing_of_this_name": "it needs 'nothing_of_this_name', which is not installed",
    "raise SystemExit(0)": "cannot be loaded: SystemExit: 0 (faulty_module.py:1 in <module>)",
    "1 / 0": "cannot be loaded: ZeroDivisionError: division by zero (faulty_module.py:1 in <module>)",
}


@pytest.mark.parametrize("code", list(MODULES))
def test_a_module_that_cannot_be_imported_is_told_with_its_own_line(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "faulty_module.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(EtudeError) as error:
        load_policy("faulty_module:Policy")
    assert MODULES[code] in one_line(error.value)
    assert "faulty_module" not in sys.modules


def test_a_module_that_loads_its_parts_late_is_told_with_its_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late_module.py").write_text("def __getattr__(name): raise OSError('no weights')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EtudeError) as error:
        load_policy("late_module:Policy")
    monkeypatch.delitem(sys.modules, "late_module")
    assert one_line(error.value) == "OSError: no weights (in the policy: late_module.py:1 in __getattr__)"


class Silent:
    contract = Contract()

    def reset(self, instruction, pictures, episode):
        pass


class Curt(Silent):
    def next_subtask(self, observation):
        return "Pick"


@pytest.mark.parametrize(
    ("planner", "words"),
    [
        ("rul", "unknown planner 'rul'; did you mean 'rule'"),
        ("oracle:wrong=2", "the share of wrong sub-tasks must be from 0 to 1, got 2"),
        ("test_bad_policies:Silent", "is not a planner: it has no 'next_subtask'"),
        ("test_bad_policies:Curt", ".next_subtask takes (observation), but is called with (observation, instruction, history)"),
    ],
)
def test_a_planner_that_cannot_plan_is_refused_when_it_is_loaded(planner: str, words: str) -> None:
    with pytest.raises(EtudeError) as error:
        load_planner(planner)
    assert words in one_line(error.value)


# ------------------------------------------------------------------------------------------------ while it plays


class Giving(Still):
    """Gives what it was made with."""

    contract = Contract.etude()  # robots and questions alike

    def __init__(self, given: Any) -> None:
        self.given = given

    def act(self, observation):
        return self.given() if callable(self.given) else self.given


class Tensor:
    """As tensors on another device are: they refuse to become arrays."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


def recorded(cast: Players, mode: str = "vanilla") -> str:
    record, _ = attempted(cast, EPISODE, mode)
    assert record.outcome == "error" and record.error is not None
    return one_line(record.error)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("left", "what the policy gave is text ('left'); expected actions (n, 7), as numbers"),
        (["1"] * 7, "what the policy gave is a list; expected actions (n, 7)"),
        (None, "what the policy gave is None; expected actions (n, 7)"),
        ({"action": np.zeros(7)}, "what the policy gave is a dict; expected"),
        ([[0.0] * 7, [0.0]], "what the policy gave is a list, which is no array ("),
        (np.zeros(7, complex), "what the policy gave is an array of complex128; expected"),
        (np.array([None] * 7), "what the policy gave is an array of object; expected"),
        (np.zeros(7, bool), "what the policy gave is an array of bool; expected"),
        (Tensor(), "is a Tensor, which is no array (can't convert cuda:0 device type tensor to numpy)"),
        (0.5, "the policy gave actions of shape (); 'ee_delta' takes (n, 7)"),
        (np.zeros(6), "the policy gave actions of shape (6,); 'ee_delta' takes (n, 7)"),
        (np.zeros((1, 1, 7)), "the policy gave actions of shape (1, 1, 7)"),
        (np.zeros((0, 7)), "the policy gave actions of shape (0, 7)"),
        (np.zeros((2, 7)), "the policy gave 2 actions at once; its contract says at most 1"),
        (np.full(7, np.nan), "the policy gave an action that is not finite"),
        ([float("inf")] * 7, "the policy gave an action that is not finite"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_action_is_an_error_of_one_line(given: Any, words: str) -> None:
    assert words in recorded(Players(Giving(given)))


def test_a_plain_list_is_an_action() -> None:
    policy = Giving([0] * 7)
    assert attempted(Players(policy), EPISODE)[0].outcome == "failure"


class Deep(Still):
    """Fails behind functions of its own, and behind one of ours that calls it back."""

    def act(self, observation):
        return sorted([2, 1], key=self.compare)

    def compare(self, value):
        raise RuntimeError("out of luck\nand of words")


def line_of(function: Callable[..., Any], offset: int = 1) -> int:
    return function.__code__.co_firstlineno + offset


def test_a_policy_that_raises_is_told_with_its_own_frames_and_not_ours() -> None:
    frames = " → ".join(f"{THIS}:{line_of(f)} in {f.__name__}" for f in (Deep.act, Deep.compare))
    text = recorded(Players(Deep()))
    assert text.startswith("RuntimeError: out of luck (in the policy: ") and "etude/" not in text.replace(str(Path(__file__).parent), "")
    assert frames == text.removesuffix(")").partition("(in the policy: ")[2].replace(f"{relative()}{THIS}", THIS)


def relative() -> str:
    here = Path(__file__).parent
    return f"{here.relative_to(Path.cwd()) if here.is_relative_to(Path.cwd()) else here}/"


def test_the_whole_traceback_is_kept_for_those_who_play_in_their_own_process() -> None:
    with pytest.raises(EtudeError) as error:
        play(Players(Deep()), EPISODE)
    assert isinstance(error.value.__cause__, RuntimeError)


class Endless(Still):
    def act(self, observation):
        return self.act(observation)


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("not even this")


def raising(error: BaseException) -> Callable[[], Any]:
    def raised() -> Any:
        raise error

    return raised


class Forgetful(Still):
    def reset(self, instruction, pictures, episode):
        self.step = self.missing + 1

    missing: int


class Wordy(Still):
    words = ("a", "list", "of", "words")


class Exiting(Still):
    @property
    def words(self):
        sys.exit(0)


class Hollow:
    """As what refuses to become an array by ending everything."""

    def __array__(self, dtype=None, copy=None):
        sys.exit(0)


class Misusing(Still):
    """Asks etude for what there is not."""

    def act(self, observation):
        return load_policy("nobody")


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Endless(), "RecursionError: maximum recursion depth exceeded"),
        (Giving(raising(Unspeakable())), "Unspeakable (in the policy: "),
        (Giving(raising(SystemExit(0))), "SystemExit: 0 (in the policy: "),
        (Giving(raising(StopIteration())), "StopIteration (in the policy: "),
        (Giving(raising(OSError("a half \udc80"))), r"OSError: a half \udc80 (in the policy: "),
        (Giving(raising(ValueError("x" * 10_000))), f"{'x' * 250} (in the policy: {relative()}{THIS}:"),
        (Forgetful(), "AttributeError: 'Forgetful' object has no attribute 'missing' (in the policy: "),
        (Wordy(), "the policy's attribute 'words' must be two texts in a tuple, the sub-task and the step; got ('a', 'list'"),
        (Exiting(), "SystemExit: 0 (in the policy: "),
        (Giving(Hollow()), "what the policy gave is a Hollow, which is no array (0); expected"),
        (Misusing(), "unknown policy 'nobody'; did you mean 'noop'? (in the policy: "),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else type(value).__name__,
)
def test_a_policy_that_fails_is_an_error_of_one_line(policy: Any, words: str) -> None:
    text = recorded(Players(policy))
    assert words in text and len(text) <= 500


class Batching(Still):
    def act_batch(self, observations):
        return []


@pytest.mark.parametrize(
    ("policy", "planner", "words"),
    [
        (Mapped(), None, "the contract of Mapped is a dict"),
        (Short(), None, "Short.reset takes (instruction), but is called with"),
        (Short, None, "the class Short was given where a policy belongs: make one, Short(…)"),
        (None, None, "NoneType is not a policy: it is None"),
        (Batching(), None, "Batching.act_batch takes (observations), but is called with (observations, sessions)"),
        (Still(), Silent(), "Silent is not a planner: it has no 'next_subtask'"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_an_object_that_cannot_play_is_refused_when_it_is_given(policy: Any, planner: Any, words: str) -> None:
    with pytest.raises(EtudeError) as error:
        Players(policy, planner)
    assert words in one_line(error.value)


class Saying(Silent):
    def __init__(self, said: Any) -> None:
        self.said = said

    def next_subtask(self, observation, instruction, history):
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


class Remembering(Saying):
    last_answer = 42


@pytest.mark.parametrize(
    ("planner", "words"),
    [
        (Saying(42), "the planner said 42 (int); expected the next sub-task as text"),
        (Saying(None), "the planner said None (NoneType); expected the next sub-task as text"),
        (Saying(["Pick"]), "the planner said ['Pick'] (list)"),
        (Saying(ValueError("no idea")), f"ValueError: no idea (in the planner: {relative()}{THIS}:"),
        (Remembering("Pick"), "the planner said 42 (int)"),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_a_planner_that_fails_is_an_error_of_one_line(planner: Any, words: str) -> None:
    assert words in recorded(Players(Still(), planner), "planner")


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("mind", "unknown mode 'mind'"),
        ("planner", "--mode planner needs a planner; there is none"),
        ("coupled", "--mode coupled needs a planner"),
    ],
)
def test_a_mode_that_cannot_be_played_is_an_error_of_one_line(mode: str, words: str) -> None:
    assert words in recorded(Players(Still()), mode)


# ------------------------------------------------------------------------------------------------ decisions


class Remarking(Giving):
    remarks = "none"


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Giving("red"), "what the policy gave is text ('red'); expected an answer, as a number"),
        (Giving(None), "what the policy gave is None; expected an answer"),
        (Giving(float("nan")), "the policy answered nan; expected 0 for silence, or 1 to "),
        (Giving(float("inf")), "the policy answered inf; expected"),
        (Giving(-1), "the policy answered -1; expected"),
        (Giving(0.5), "the policy answered 0.5; expected"),
        (Giving([0, 0]), "the policy gave 2 numbers; an answer is one"),
        (Giving(raising(KeyError("choices"))), "KeyError: 'choices' (in the policy: "),
        (Remarking(0), "the policy's attribute 'remarks' must be a list of texts, one for each answer; got 'none'"),
    ],
)
def test_what_is_no_answer_is_an_error_of_one_line(policy: Any, words: str) -> None:
    with pytest.raises(EtudeError) as error:
        play(Players(policy), DECISION)
    assert words in one_line(error.value)


# ------------------------------------------------------------------------------------------------ at the command line


class Raising(Still):
    def act(self, observation):
        raise RuntimeError("out of luck [/in brackets] \udc80")


def test_the_summary_of_a_run_shows_what_a_policy_raised_and_where(capsys, monkeypatch, tmp_path) -> None:
    run = ["--suite", "clevrskills", "--task", "touch", "--episodes", "1", "--workers", "1", "--out", str(tmp_path / "run")]
    monkeypatch.setattr(sys, "argv", ["etude", "evaluate", *run, "--policy", "test_bad_policies:Raising"])
    with pytest.raises(SystemExit) as ended:
        main()
    out, _ = capsys.readouterr()
    where = f"{relative()}{THIS}:{line_of(Raising.act)} in act"
    assert ended.value.code == 0 and rf"RuntimeError: out of luck [/in brackets] \udc80 (in the policy: {where})" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rollout", EPISODE, "--policy", "test_bad_policies:Raising"], "error: RuntimeError: out of luck [/in brackets]"),
        (["rollout", EPISODE, "--policy", "test_bad_policies:Mapped"], "is a dict, expected a Contract"),
        (["rollout", EPISODE, "--policy", "test_bad_policies:Short"], "is called with (instruction, pictures, episode)"),
        (["rollout", EPISODE, "--policy", "takeover:often:noop"], "chance='often' is not a float"),
        (["rollout", EPISODE, "--policy", "takeover:2:noop"], "the chance of a takeover must be above 0 and at most 1, got 2"),
        (["rollout", EPISODE, "--policy", "ws://?size=big"], "is not the URL of a policy server"),
        (["rollout", EPISODE, "--policy", "ws://127.0.0.1:1?size=big"], "size=big in the policy URL: expected width and height"),
        (["serve-policy", "test_bad_policies:Still", "--max-frame", "0"], "--max-frame must be more than 0 MiB, got 0"),
        (["serve-policy", "test_bad_policies:Still", "--connections", "0"], "connections at least 1"),
        (["serve-policy", "test_bad_policies:Still", "--key", "schlüssel"], "a key is sent in a header of HTTP"),
        (["serve-policy", "test_bad_policies:Still", "--batch", "4"], "Still has no method act_batch"),
        (["serve-policy", "test_bad_policies:Mute"], "it has no 'act'"),
        (["serve-policy", "nobody"], "unknown policy 'nobody'"),
    ],
)
def test_a_command_with_a_policy_that_cannot_play_ends_in_one_line(arguments, words, capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys, "argv", ["etude", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, error = capsys.readouterr()
    assert ended.value.code == 2 and out == ""
    assert words in one_line(error.strip())


def test_the_key_of_a_server_may_stand_in_the_environment(capsys, monkeypatch) -> None:
    monkeypatch.setenv("ETUDE_POLICY_KEY", "schlüssel")
    monkeypatch.setattr(sys, "argv", ["etude", "serve-policy", "test_bad_policies:Still", "--port", "0"])
    with pytest.raises(SystemExit):
        main()
    assert "a key is sent in a header of HTTP" in one_line(capsys.readouterr().err.strip())
