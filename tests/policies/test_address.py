"""What the URL of a policy server says, and what is agreed with the server found there."""

from typing import Any

import numpy as np
import pytest

from etude.names import EtudeError
from etude.policies.address import Address, Agreement
from etude.policies.contract import Contract

FULL = Contract(
    action="ee_pose",
    frame="world",
    rotation="quaternion_wxyz",
    scale=1.0,
    closes=-1,
    rate=20.0,
    cameras=("base", "hand_view"),
    size=(224, 160),
    modalities=("rgb", "depth"),
    orientation="upright",
    told="multimodal",
    chunk=10,
    execute=5,
)
QUERY = (
    "action=ee_pose&frame=world&rotation=quaternion_wxyz&scale=1&closes=-1&rate=20&cameras=base,hand_view&size=224x160"
    "&modalities=rgb,depth&orientation=upright&told=multimodal&chunk=10&execute=5"
)


def introduced(contract: Any, reset: Any = True) -> dict[str, Any]:
    return {"etude": {"contract": contract, "reset": reset}}


def test_every_field_of_a_contract_can_be_stated_in_the_url() -> None:
    assert Address.parse(f"ws://host:8000?{QUERY}").agreed({}) == Agreement(FULL, declared=False, resets=False)


def test_an_address_keeps_the_path_and_drops_the_options() -> None:
    found = Address.parse("wss://user:secret@host:8000/models/a?timeout=5&connect=0.5&layout=libero&cameras=base")
    assert (found.uri, found.shown) == ("wss://user:secret@host:8000/models/a", "wss://host:8000/models/a")
    assert (found.timeout, found.connect, found.layout, found.stated) == (5.0, 0.5, "libero", {"cameras": ["base"]})


def test_a_number_of_ip_keeps_its_brackets() -> None:
    assert Address.parse("ws://[::1]:8000").shown == "ws://[::1]:8000"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://host:8000", "the form is ws://host:port"),
        ("ws://", "the form is ws://host:port"),
        ("ws://host:port", "the form is ws://host:port"),
        ("ws://host:8000#part", "the form is ws://host:port"),
        ("ws://host?camera=base", "unknown option of a policy URL: 'camera'; did you mean 'cameras'"),
        ("ws://host?privileged=true", "unknown option of a policy URL: 'privileged'"),
        ("ws://host?chunk=1&chunk=2", "option 'chunk' is given twice"),
        ("ws://host?layout=libro", "unknown layout 'libro'; did you mean 'libero'"),
        ("ws://host?size=224", "size=224 in the policy URL: expected width and height, like 224x224"),
        ("ws://host?size=0x4", "expected width and height"),
        ("ws://host?chunk=many", "chunk=many in the policy URL: expected a whole number"),
        ("ws://host?timeout=0", "expected a number of seconds above 0"),
        ("ws://host?timeout=nan", "expected a number of seconds above 0"),
        ("ws://host?connect=-1", "expected a number of seconds"),
        ("ws://host?connect=inf", "expected a number of seconds"),
    ],
)
def test_a_url_that_is_wrong_is_refused_with_its_part(url: str, message: str) -> None:
    with pytest.raises(EtudeError, match=message):
        Address.parse(url)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("action=ee_dleta", "contract.action: expected one of 'ee_delta'"),
        ("execute=5", "execute must be from 1 to its chunk of 1, got 5"),
        ("chunk=0", "chunk must be at least 1"),
        ("modalities=rbg", "unknown modality 'rbg'; did you mean 'rgb'"),
        ("rate=nan", "contract.rate: expected a finite number"),
    ],
)
def test_a_contract_that_is_wrong_is_refused_by_name(query: str, message: str) -> None:
    with pytest.raises(EtudeError, match=message):
        Address.parse(f"ws://host?{query}").agreed({})


@pytest.mark.parametrize("query", ["", "?timeout=5&connect=1"])
def test_a_contract_that_nobody_stated_is_asked_for_with_an_example(query: str) -> None:
    with pytest.raises(EtudeError) as caught:
        Address.parse(f"ws://host:8000{query}").agreed({"reset_pose": [0.0]})
    line = str(caught.value)
    assert "does not say what it expects" in line and "\n" not in line
    example = line.rsplit("say it: ", 1)[1]
    assert Address.parse(example).agreed({}).contract.cameras == ("base", "hand_view")  # the example works as it stands


def test_the_contract_a_server_declares_is_used() -> None:
    assert Address.parse("ws://host").agreed(introduced(FULL.to_data())) == Agreement(FULL, declared=True, resets=True)
    own = Contract.etude("joint")
    assert Address.parse("ws://host").agreed(introduced(own.to_data(), reset=False)) == Agreement(own, declared=True, resets=False)


def test_a_url_may_repeat_what_the_server_declares() -> None:
    assert Address.parse(f"ws://host?{QUERY}").agreed(introduced(FULL.to_data())).contract == FULL


def test_a_url_may_state_what_the_server_leaves_open() -> None:
    found = (
        Address.parse("ws://host?execute=3&rate=10&closes=-1").agreed(introduced({"action": "joint", "scale": 0.5, "chunk": 4})).contract
    )
    assert found == Contract("joint", scale=0.5, rate=10.0, closes=-1, chunk=4, execute=3)


def test_a_server_that_leaves_conventions_open_is_refused_with_what_to_write() -> None:
    partial = {"action": "ee_delta", "cameras": ["base"], "rotation": "axis_angle"}
    with pytest.raises(EtudeError, match="declares a contract without rate, closes, frame, scale, orientation: say them there") as caught:
        Address.parse("ws://host:1").agreed(introduced(partial))
    line = str(caught.value)
    assert "\n" not in line
    found = Address.parse(line.rsplit("as etude has them: ", 1)[1]).agreed(introduced(partial)).contract  # what it says works as it stands
    assert found == Contract.etude("ee_delta", cameras=("base",))
    for nothing in ({}, {"cameras": ["base"]}):
        with pytest.raises(EtudeError, match="declares a contract without action, rate"):
            Address.parse("ws://host:1").agreed(introduced(nothing))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("action=joint", "action: the URL says 'joint', the policy server at ws://host declares 'ee_pose'"),
        ("size=128x128", r"size: the URL says \[128, 128\], the policy server at ws://host declares \[224, 160\]"),
        ("closes=1", "closes: the URL says 1, the policy server at ws://host declares -1"),
        ("cameras=base", "cameras: the URL says"),
        ("chunk=1", "chunk: the URL says 1, the policy server at ws://host declares 10"),
    ],
)
def test_a_url_that_contradicts_the_server_is_refused_by_name(option: str, message: str) -> None:
    with pytest.raises(EtudeError, match=message):
        Address.parse(f"ws://host?{option}").agreed(introduced(FULL.to_data()))


def test_a_privileged_policy_cannot_be_far_away() -> None:
    with pytest.raises(EtudeError, match="true state"):
        Address.parse("ws://host").agreed(introduced({"privileged": True}))


DEEP: list[Any] = []
for _ in range(2000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "introduction",
    [1, "contract", [], {}, np.zeros(3), {"contract": None}, {"contract": [1]}, {"contract": {"chunk": "many"}}, {"contract": {"chnk": 1}},
     {"contract": {"action": np.zeros(3)}}, {"contract": {"rate": float("nan")}}, {"contract": {"told": b"text"}}, {"contract": {b"x": 1}},
     {"contract": {"cameras": DEEP}}, {"contract": {"chunk": 0}}],
)  # fmt: skip
def test_an_introduction_that_is_none_is_refused_in_one_line(introduction: Any) -> None:
    with pytest.raises(EtudeError) as caught:
        Address.parse("ws://host").agreed({"etude": introduction})
    assert "ws://host" in str(caught.value) and "\n" not in str(caught.value)
