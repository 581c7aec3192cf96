"""The oracle takes over from another policy."""

import pytest

from etude.evaluation.play import Players, play
from etude.names import EtudeError
from etude.policies.loading import load_policy

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


@pytest.mark.parametrize(
    "text", ["takeover:0:random", "takeover:1.5:random", "takeover:often:random", "takeover:0.5", "takeover:0.5:rndom"]
)
def test_what_makes_no_sense_is_refused_in_one_line(text):
    with pytest.raises(EtudeError) as refused:
        load_policy(text)
    assert "\n" not in str(refused.value)
