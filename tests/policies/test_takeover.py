"""The oracle takes over from another policy."""

import numpy as np
import pytest

from etude.evaluation.play import Players, play
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.policies.loading import load_policy
from etude.policies.scripted import Takeover

NAME = "clevrskills/pick@train#0"


def test_the_first_policy_acts_until_the_oracle_does():
    cast = Players("takeover:0.1:noop")
    record, course = play(cast, NAME)
    taken = cast.policy.taken
    assert record.success and 0 < taken < len(course.actions)
    assert [words[1] for words in course.words[:taken]] == ["Do nothing"] * taken
    assert course.words[taken][0].startswith("Pick up")


def test_it_happens_at_the_same_moment_every_time():
    moments = []
    for _ in range(2):
        cast = Players("takeover:0.05:random")
        for seed in range(3):
            play(cast, f"clevrskills/pick@train#{seed}")
            moments.append(cast.policy.taken)
    assert moments[:3] == moments[3:] and len(set(moments)) > 1


def test_at_once_it_is_the_oracle_itself():
    assert play(Players("takeover:1:random"), NAME)[1].actions[5].tolist() == play(Players("oracle"), NAME)[1].actions[5].tolist()


class Chunks:
    """Keeps still, for three steps at a time, and counts how often it is asked."""

    contract = Contract.etude("ee_delta", chunk=4, execute=3)
    asked = 0

    def reset(self, instruction, pictures, episode):
        self.asked = 0

    def act(self, observation):
        self.asked += 1
        return np.zeros((4, 7))


def test_a_policy_is_asked_as_often_as_its_contract_says():
    first = Chunks()
    policy = Takeover(first, 0.03)
    record, _ = play(Players(policy), NAME)
    assert record.success and policy.taken > 3
    assert first.asked == -(-policy.taken // 3)


@pytest.mark.parametrize(
    "text", ["takeover:0:random", "takeover:1.5:random", "takeover:often:random", "takeover:0.5", "takeover:0.5:rndom"]
)
def test_what_makes_no_sense_is_refused_in_one_line(text):
    with pytest.raises(EtudeError) as refused:
        load_policy(text)
    assert "\n" not in str(refused.value)
