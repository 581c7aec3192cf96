"""A policy that is told everything and sees nothing."""

import numpy as np

from etude.evaluation.play import Players, play
from etude.policies.contract import Contract
from etude.policies.loading import load_policy
from etude.policies.scripted import Blindfolded

NAME = "vima/rotate@L1#0"


class Looking:
    """Notes what it is told and what it sees, and strokes nothing."""

    def __init__(self):
        self.about = {"weights": "0123"}
        self.contract = Contract.etude(
            cameras=("front", "top"), size=(64, 32), modalities=("rgb", "depth", "segmentation", "objects"), told="views"
        )

    def reset(self, instruction, pictures, episode):
        self.told, self.pictures, self.seen = instruction, pictures, []

    def act(self, observation):
        self.seen.append(observation)
        return np.array([0.25, 0.0, 0.0, 1.0, 0.0, 0.0, 0.25, 0.0, 0.0, 1.0, 0.0, 0.0])


def test_all_is_told_and_nothing_is_seen():
    open_eyed, blind = Looking(), Looking()
    play(Players(open_eyed), NAME)
    play(Players(Blindfolded(blind)), NAME)
    assert blind.told == open_eyed.told and len(blind.pictures) == len(open_eyed.pictures) > 0
    shown, dark = open_eyed.seen[0], blind.seen[0]
    assert dark.keys() == shown.keys() and dark["instruction"] == shown["instruction"]
    assert np.array_equal(dark["proprioception"], shown["proprioception"])
    pictures = [key for key in shown if key not in ("instruction", "proprioception")]
    assert {"front", "top_depth", "front_segmentation", "objects_crops", "objects_mask"} <= {*pictures}
    assert all(shown[key].any() and not dark[key].any() for key in pictures)


def test_it_keeps_the_contract_and_says_whose_weights_they_are():
    policy = Blindfolded(Looking())
    assert policy.contract == Looking().contract and policy.about == Looking().about


def test_any_policy_that_looks_can_be_named():
    assert load_policy(f"blind:{__name__}:Looking").contract == Looking().contract
