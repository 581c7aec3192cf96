"""Policies that come with etude: what each can do, and fails at in known ways."""

from __future__ import annotations

import pytest

from etude.evaluation.play import Players, play
from etude.library import episode
from etude.names import EtudeError
from etude.policies.loading import load_planner, load_policy
from etude.policies.replay import ReplayPolicy, file_stem, write_actions
from etude.policies.scripted import confused
from etude.scene.scene import Body

PICK = "clevrskills/pick@train#0"


def outcome(policy, name=PICK):
    return play(Players(policy), name)[0]


@pytest.mark.parametrize("action", ["ee_delta", "ee_pose", "joint"])
def test_the_oracle_picks_in_every_action_space(action):
    assert outcome(f"oracle:action={action}").success


def test_noise_turns_success_into_failure_by_degrees():
    steady, shaky = outcome("oracle:noise=0.001"), outcome("oracle:noise=0.05")
    assert steady.success and not shaky.success


def test_doing_nothing_and_chance_do_not_pick():
    assert not outcome("noop").success and not outcome("random").success


def test_the_colour_blind_oracle_takes_the_wrong_one_of_two_that_look_alike_but_for_colour():
    """In a scene with twins it can only guess; where every shape is there once it succeeds as the oracle does."""
    guesses, sure = [], []
    for seed in range(150):
        found = episode(f"clevrskills/pick@train#{seed}")
        bodies = [e for e in found.scene.entities if isinstance(e, Body)]
        target = next(b for b in bodies if b.name == found.goal.thing)
        twins = [b for b in bodies if (b.shape, b.size) == (target.shape, target.size)]
        (guesses if len(twins) > 1 else sure).append(found)
    assert guesses and sure
    mistaken = [f for f in guesses if confused(f.goal, f.scene, 1) != f.goal or confused(f.goal, f.scene, 0) != f.goal]
    assert len(mistaken) == len(guesses)  # one of two draws takes the other twin
    assert all(confused(f.goal, f.scene, draw) == f.goal for f in sure for draw in range(3))
    results = [outcome("oracle:colour_blind", f.name).success for f in guesses[:6]]
    assert not all(results) and all(outcome("oracle", f.name).success for f in guesses[:6])
    assert outcome("oracle:colour_blind", sure[0].name).success


def test_replayed_actions_lead_to_the_same_end(tmp_path):
    record, course = play(Players("oracle:noise=0.004"), PICK)
    write_actions(tmp_path / "actions" / f"{file_stem(PICK)}.npz", course.actions, "ee_delta")
    again = outcome(f"replay:{tmp_path}")
    assert (again.steps, again.reward, again.outcome) == (record.steps, record.reward, record.outcome)


def test_primitives_are_replayed_each_in_the_space_of_its_task(tmp_path):
    names = ("vima/rotate@L1#0", "vima/sweep_without_exceeding@L1#0")
    ended = {}
    for name in names:
        ended[name], course = play(Players("oracle"), name)
        write_actions(tmp_path / "actions" / f"{file_stem(name)}.npz", course.actions, course.episode.control)
    for name in names:
        again = outcome(f"replay:{tmp_path}", name)
        assert (again.steps, again.reward, again.outcome) == (ended[name].steps, ended[name].reward, "success")


def test_a_replay_says_what_it_misses(tmp_path):
    with pytest.raises(EtudeError, match="has no recorded actions to replay"):
        ReplayPolicy(str(tmp_path))
    write_actions(tmp_path / "actions" / "other.npz", [[0.0] * 7], "ee_delta")
    with pytest.raises(EtudeError, match="no actions of clevrskills/pick"):
        ReplayPolicy(str(tmp_path)).reset("", (), PICK)
    (tmp_path / "actions" / "other.npz").write_bytes(b"PK not really")
    with pytest.raises(EtudeError, match="does not hold the actions of an episode"):
        ReplayPolicy(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("oracl", "unknown policy 'oracl'; did you mean 'oracle'"),
        ("oracle:nois=1", "unknown option of policy 'oracle': 'nois'; did you mean 'noise'"),
        ("oracle:noise=much", "noise='much' is not a float"),
        ("oracle:noise=-1", "must not be negative"),
        ("oracle:colour_blind=perhaps", "is not a bool"),
        ("replay", "replay needs a run"),
        ("no_such_module:Policy", "there is no module 'no_such_module' here"),
        ("etude.policies.scripted:OracelPolicy", "did you mean 'OraclePolicy'"),
        ("etude.policies.scripted:OraclePolicy?nose=1", "did you mean 'noise'"),
        ("math:pi", "is not a policy: it has no 'contract'"),
        ("etude.policies.planners:OraclePlanner", "is not a policy: it has no 'act'"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_line(text, words):
    with pytest.raises(EtudeError) as error:
        load_policy(text)
    assert words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rul", "unknown planner 'rul'; did you mean 'rule'"),
        ("oracle:wrong=2", "must be from 0 to 1"),
        ("etude.policies.scripted:OraclePolicy", "it has no 'next_subtask'"),
    ],
)
def test_planners_that_cannot_be_loaded_are_refused_in_one_line(text, words):
    with pytest.raises(EtudeError, match=words):
        load_planner(text)


def test_a_class_of_the_users_own_is_loaded_with_its_arguments():
    found = load_policy("etude.policies.scripted:OraclePolicy?noise=0.25&action=joint")
    assert found.contract.action == "joint"
