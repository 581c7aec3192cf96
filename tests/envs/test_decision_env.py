"""Decisions as an environment: one frame a step, an answer or silence."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import etude  # noqa: F401  (registers the environments)
from etude.decisions.showing import pictures, told
from etude.envs.decision_env import ANSWERS, DecisionEnv, whole_trial
from etude.index import INDEX, env_id
from etude.library import tasks, trial
from etude.names import EtudeError
from etude.suites.index import index
from etude.suites.iwisdm.benchmarks import LISTS

SEVERAL = "one_back"  # four questions in every trial


def played(env, seed, choose):
    """What is seen and got when ``choose(info)`` says what to do."""
    observation, info = env.reset(seed=seed)
    trace, total, over = [observation["frame"].tobytes(), info["episode_name"]], 0.0, False
    while not over:
        observation, reward, over, truncated, info = env.step(choose(info))
        assert not truncated
        trace += [observation["frame"].tobytes(), int(observation["cue"]), reward]
        total += reward
    return trace, total, info


def test_names_for_registration_are_those_of_the_lists():
    assert tuple(LISTS) == tuple(tasks("iwisdm"))
    assert index() == INDEX


@pytest.mark.parametrize("task", ["high", SEVERAL, "condition"])
def test_it_keeps_the_contract_of_gymnasium(task):
    check_env(gymnasium.make(env_id("iwisdm", task), size=64).unwrapped, skip_render_check=True)


def test_every_answer_of_every_list_is_an_action():
    assert ANSWERS[0] == "" and len(set(ANSWERS)) == len(ANSWERS)
    for name in LISTS:
        for seed in range(6):
            assert set(trial(f"iwisdm/{name}@val#{seed}").choices) <= set(ANSWERS[1:])


def test_the_same_seed_gives_the_same_trial_whatever_was_shown_before():
    one, other = (gymnasium.make(env_id("iwisdm", "high"), size=32) for _ in range(2))
    played(other, 8, lambda info: 0)
    assert played(one, 3, lambda info: info["answer"]) == played(other, 3, lambda info: info["answer"])


def test_right_answers_and_silence_otherwise_succeed():
    for task, questions in (("high", 1), (SEVERAL, 4)):
        _, total, info = played(gymnasium.make(env_id("iwisdm", task), size=32), 5, lambda info: info["answer"])
        assert (total, info["progress"], info["success"], info["is_success"]) == (questions, 1.0, True, True)


def test_silence_answers_nothing():
    _, total, info = played(gymnasium.make(env_id("iwisdm", "high"), size=32), 5, lambda info: 0)
    assert (total, info["progress"], info["success"]) == (0.0, 0.0, False)


def test_who_speaks_when_nothing_is_asked_gets_the_reward_but_no_success():
    _, total, info = played(gymnasium.make(env_id("iwisdm", "high"), size=32), 5, lambda info: info["answer"] or ANSWERS.index("true"))
    assert (total, info["progress"], info["success"]) == (1.0, 1.0, False)


def test_frames_are_those_of_the_trial_and_the_cue_is_on_those_that_ask():
    env = DecisionEnv("iwisdm", SEVERAL, size=48)
    made = trial(f"iwisdm/{SEVERAL}@val#2")
    seen, _ = env.reset(seed=2)
    for k, (picture, right) in enumerate(zip(pictures(made, 48), made.answers, strict=True)):
        assert np.array_equal(seen["frame"], picture)
        assert seen["instruction"] == told(made)
        assert bool(seen["cue"]) is (right != "")
        seen, *_, over, _, _ = env.step(0)
        assert over is (k + 1 == len(made.frames))
    with pytest.raises(EtudeError, match="the trial is over"):
        env.step(0)


def test_a_trial_can_be_asked_for_by_name_and_by_split():
    env = DecisionEnv("iwisdm", "high", split="test", size=32)
    assert env.reset(seed=4)[1]["episode_name"] == "iwisdm/high@test#4"
    assert env.reset(options={"episode": "iwisdm/high@train#9"})[1]["episode_name"] == "iwisdm/high@train#9"
    with pytest.raises(EtudeError, match="is not a trial of iwisdm/high"):
        env.reset(options={"episode": "iwisdm/low@val#0"})
    with pytest.raises(EtudeError, match="unknown task of iwisdm 'hihg'; did you mean 'high'"):
        DecisionEnv("iwisdm", "hihg")
    with pytest.raises(EtudeError, match="unknown split"):
        DecisionEnv("iwisdm", "high", split="vall")


def test_a_trial_can_be_had_whole():
    name = "iwisdm/high@val#3"
    found, made = whole_trial(name, 40), trial(name)
    assert found["frames"].shape == (len(made.frames), 40, 40, 3)
    assert np.array_equal(found["frames"], np.stack(pictures(made, 40)))
    assert (found["instruction"], found["choices"], found["answer"]) == (told(made), made.choices, made.answers[-1])
