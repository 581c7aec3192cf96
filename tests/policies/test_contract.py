"""Conventions are compared before the first step, and every difference is named."""

from __future__ import annotations

import numpy as np
import pytest

import etude
from etude.library import episode
from etude.names import EtudeError
from etude.policies.contract import Contract, mismatches, refuse_mismatches
from etude.render import fingerprint

EPISODE = episode("clevrskills/pick@train#0")


@pytest.mark.parametrize(
    ("contract", "words"),
    [
        (Contract(closes=-2), "gripper sign: policy closes at −2, environment closes at +1"),
        (Contract(frame="joints"), "frame: policy has joints, environment has tip for 'ee_delta'"),
        (Contract(action="joint", rotation="quaternion_xyzw"), "rotation: policy has quaternion_xyzw, environment has joint_angles"),
        (Contract(rate=30.0), "rate: policy has 30 Hz, environment has 20 Hz"),
        (
            Contract(orientation="rotated_180", modalities=("objects",)),
            "image orientation: policy has rotated_180, environment has upright",
        ),
        (Contract(cameras=("wrist",)), "camera: policy wants 'wrist', clevrskills has 'base', 'hand_view', 'render'"),
    ],
)
def test_each_mismatch_is_refused_by_name(contract, words):
    (found,) = mismatches(contract, EPISODE)
    assert words in found
    with pytest.raises(EtudeError, match="policy and environment do not fit"):
        refuse_mismatches(contract, [EPISODE])


def test_all_mismatches_are_named_at_once():
    contract = Contract(closes=0, rate=30.0, frame="joints")
    with pytest.raises(EtudeError) as error:
        refuse_mismatches(contract, [EPISODE, EPISODE])
    assert str(error.value).count(";") == 2


@pytest.mark.parametrize(
    "contract",
    [
        Contract(),
        Contract.etude(),
        Contract(frame="tip", rotation="axis_angle", scale=0.1, closes=1, rate=20.0, orientation="upright", cameras=("base", "hand_view")),
        Contract(action="ee_pose", frame="world", rotation="quaternion_wxyz", scale=1.0),
        Contract(action="joint", frame="joints", rotation="joint_angles"),
    ],
)
def test_what_fits_is_let_through_and_survives_json(contract):
    assert mismatches(contract, EPISODE) == []
    assert Contract.from_data(contract.to_data()) == contract


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"gripper": 1}, "unknown field of a contract: 'gripper'"),
        ({"closes": "+1"}, "contract.closes: expected int"),
        ({"rotation": "euler"}, "contract.rotation: expected one of"),
        ({"chunk": 0}, "chunk must be at least 1"),
        ({"chunk": 4, "execute": 5}, "execute must be from 1 to its chunk of 4"),
        ({"modalities": ["rbg"]}, "unknown modality 'rbg'; did you mean 'rgb'"),
        (["ee_delta"], "a contract is an object"),
    ],
)
def test_a_contract_that_is_none_is_refused(data, words):
    with pytest.raises(EtudeError, match=words.replace("+", r"\+")):
        Contract.from_data(data)


class Listening:
    """Does nothing, and keeps what it was told and shown."""

    def __init__(self, **wanted):
        self.contract, self.heard, self.pictures = Contract.etude(**wanted), [], ()

    def reset(self, instruction, pictures, episode):
        self.heard.append(instruction)
        self.pictures = pictures

    def act(self, observation):
        self.heard.append(observation["instruction"])
        self.seen = observation
        return np.array([0.5, 0.0, 1.0, 0.0, 0.0, 0.0] * 2)


def first_step(policy, name):
    next(iter(etude.rollout(policy, name)))
    return policy


def test_who_is_told_in_pictures_does_not_get_the_words_that_stand_for_them():
    name = "vima/novel_adj@L1#0"
    reading, looking = (first_step(Listening(told=told), name) for told in ("text", "multimodal"))
    plain = episode(name).instruction
    assert reading.heard == [plain.text] * 2 and not reading.pictures
    assert looking.heard == [plain.template()] * 2 and len(looking.pictures) == 8
    assert "{image:0} is " in looking.heard[0]
    assert not any(part.words in heard for part in plain.pictures() for heard in looking.heard)


def test_pictures_have_the_proportions_of_the_suites_cameras_unless_a_size_is_asked_for():
    assert first_step(Listening(cameras=("top",)), "vima/rotate@L1#0").seen["top"].shape == (128, 256, 3)
    assert first_step(Listening(cameras=("top",), size=(64, 64)), "vima/rotate@L1#0").seen["top"].shape == (64, 64, 3)


def test_smooth_edges_are_asked_for_and_have_a_fingerprint_of_their_own(tmp_path):
    hard, smooth = (first_step(Listening(cameras=("top",), smooth=smooth), "vima/rotate@L1#0").seen["top"] for smooth in (False, True))
    assert hard.shape == smooth.shape and (hard != smooth).any(-1).mean() < 0.3
    assert len(np.unique(smooth.reshape(-1, 3), axis=0)) > 1.2 * len(np.unique(hard.reshape(-1, 3), axis=0))
    assert fingerprint(True) != fingerprint()
    runs = [etude.evaluate(Listening(smooth=s), "vima/rotate@L1", episodes=1, out=tmp_path / str(s)) for s in (False, True)]
    assert [run.info["renderer"] for run in runs] == [fingerprint(), fingerprint(True)]
