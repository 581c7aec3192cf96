"""From demonstrations to a policy that LeRobot trains, and from there back: played by ``lerobot-eval`` and by ``etude evaluate``."""

import json
import os
import re

import numpy as np
import pytest

pytest.importorskip("lerobot", reason="make test-lerobot")
os.environ["HF_HUB_OFFLINE"] = "1"

from lerobot_files import diffusing, headed, ran, reading, trained

import etude
from etude.envs.simulation import Simulation
from etude.evaluation.store import read_run
from etude.integrations.lerobot.config import EtudeEnvConfig
from etude.names import EtudeError
from etude.policies.conventions import ContractObserver
from etude.policies.loading import load_policy

TASK = "clevrskills/touch@test"
FIRST, COUNT = 4, 2
DOWN = (-0.15, 0.0, 0.5, 0.0, 0.0, 0.0, -1.0)  # straight to the thing that episode 5 is about, and past that of 4


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("both")
    ran("etude", "demos", "--suite", "clevrskills", "--task", "touch", "--episodes", 2, "--size", 64, "--out", "demos", folder=folder)
    return folder


@pytest.fixture(scope="module")
def checkpoint(place):
    return trained(place, "demos", "trained") / "checkpoints/last/pretrained_model"


@pytest.fixture(scope="module")
def aimed(place, checkpoint):
    return headed(checkpoint, place / "aimed", DOWN)


def theirs(place, checkpoint, out, *more):
    """(success, return) of every episode, as lerobot-eval has it."""
    ran(
        "lerobot-eval", "--env.discover_packages_path=etude.integrations.lerobot", "--env.type=etude", f"--env.task={TASK}",
        "--env.size=64",
        f"--policy.path={checkpoint}", "--policy.device=cpu", f"--seed={FIRST}", f"--eval.n_episodes={COUNT}", f"--output_dir={out}", *more,
        folder=place,
    )  # fmt: skip
    (task,) = json.loads((place / out / "eval_info.json").read_text())["per_task"]
    return [*zip(task["metrics"]["successes"], task["metrics"]["sum_rewards"], strict=True)]


def ours(place, checkpoint, out):
    ran(
        "etude", "evaluate", "--suite", TASK, "--first-seed", FIRST, "--episodes", COUNT, "--policy",
        f"lerobot:{checkpoint}?device=cpu", "--workers", 1, "--out", out, folder=place,
    )  # fmt: skip
    records = {r.name.seed: r for r in read_run(place / out).records}
    assert not any(r.error for r in records.values())
    return [(records[seed].success, records[seed].reward) for seed in range(FIRST, FIRST + COUNT)]


def same(found, expected):
    return [s for s, _ in found] == [s for s, _ in expected] and np.allclose([r for _, r in found], [r for _, r in expected], 0, 1e-6)


def test_a_trained_checkpoint_gets_the_same_results_both_ways(place, checkpoint):
    assert same(theirs(place, checkpoint, "theirs", "--eval.batch_size=1"), ours(place, checkpoint, "ours"))


def test_successes_are_the_same_and_so_are_batches_in_processes(place, aimed):
    found = theirs(place, aimed, "aimed-theirs", "--eval.batch_size=1")
    assert [success for success, _ in found] == [False, True]
    assert same(found, ours(place, aimed, "aimed-ours"))
    assert same(found, theirs(place, aimed, "aimed-together", "--eval.batch_size=2"))
    assert [*(place / "aimed-theirs/videos").rglob("*.mp4")]


@pytest.fixture(scope="module", params=[diffusing, reading], ids=["diffusion", "smolvla"])
def drawing(request, place, tmp_path_factory):
    """A policy whose actions are drawn."""
    folder = request.param(place / "demos", tmp_path_factory.mktemp("drawing") / "checkpoint")
    return load_policy(f"lerobot:{folder}?device=cpu")


def looked(name, contract):
    return ContractObserver(Simulation(etude.episode(name).under("ee_delta")), contract).look()


def test_what_a_policy_draws_it_draws_from_the_name_of_the_episode(drawing):
    assert drawing.contract.cameras == ("base", "hand_view") and drawing.contract.size == (64, 64) and drawing.contract.joints == 6
    names = [f"{TASK}#{seed}" for seed in (0, 1)]

    def actions(name):
        return np.array([step.action for _, step in zip(range(5), etude.rollout(drawing, name), strict=False)])

    first, second = actions(names[0]), actions(names[1])
    assert np.array_equal(actions(names[1]), second) and np.array_equal(actions(names[0]), first)
    assert not np.array_equal(first, second)


def test_episodes_at_the_same_time_do_not_know_of_each_other(drawing):
    names = [f"{TASK}#{seed}" for seed in (0, 1)]
    seen = [looked(name, drawing.contract) for name in names]

    def played(*sessions):
        for k in sessions:
            drawing.reset_session(k, seen[k]["instruction"], (), names[k])
        return [drawing.act_batch([seen[k] for k in sessions], list(sessions)) for _ in range(4)]

    alone = [[step[0] for step in played(k)] for k in (0, 1)]
    together = played(0, 1)
    for k in (0, 1):
        assert np.array_equal(alone[k], [step[k] for step in together])


def test_a_policy_that_reads_is_told_the_instruction(place, tmp_path):
    policy = load_policy(f"lerobot:{reading(place / 'demos', tmp_path / 'vla')}?device=cpu")
    seen = looked(f"{TASK}#1", policy.contract)

    def told(words):
        policy.reset(words, (), f"{TASK}#1")
        return policy.act({**seen, "instruction": words})

    assert np.array_equal(told("Touch the yellow diamond"), told("Touch the yellow diamond"))
    assert not np.array_equal(told("Touch the yellow diamond"), told("Touch the red heart"))


def test_a_checkpoint_with_a_layer_missing_is_refused(place, checkpoint, tmp_path):
    import shutil

    from safetensors.torch import load_file, save_file

    shutil.copytree(checkpoint, tmp_path / "less")
    tensors = load_file(tmp_path / "less/model.safetensors")
    del tensors["model.action_head.bias"]
    save_file(tensors, tmp_path / "less/model.safetensors")
    with pytest.raises(EtudeError, match=re.escape("less cannot be loaded by lerobot")):
        load_policy(f"lerobot:{tmp_path / 'less'}?device=cpu&dataset={place / 'demos'}")


def test_the_environment_says_what_lerobot_asks_for():
    from lerobot.envs import make_env
    from lerobot.envs.factory import make_env_config

    config = make_env_config("etude", task="clevrskills/touch@test,clevrskills/pick@test", size="64")
    assert config.features_map == {
        "pixels/base": "observation.images.base", "pixels/hand_view": "observation.images.hand_view", "agent_pos": "observation.state",
        "action": "action",
    }  # fmt: skip
    ((suite, tasks),) = make_env(config, n_envs=2).items()
    assert suite == "clevrskills" and [*tasks] == [0, 1]
    worlds = tasks[1]
    worlds.reset(seed=[7, 8])
    assert worlds.call("task") == ("clevrskills/pick",) * 2
    assert worlds.call("task_description") == tuple(etude.episode(f"clevrskills/pick@test#{seed}").instruction.text for seed in (7, 8))
    for wrong, words in {
        "clevrskills/touch@test#3": "expected suite/task@split",
        "clevrskills/tuch": "did you mean 'touch'",
        "iwisdm": "is a decision",
        "": "--env.task says what is played",
    }.items():
        with pytest.raises(EtudeError, match=words):
            EtudeEnvConfig(task=wrong)


def test_a_batch_is_given_the_longest_of_its_horizons():
    config = EtudeEnvConfig(task="etudes/low@test", size="64")
    (worlds,) = config.create_envs(3)["etudes"].values()
    worlds.reset(seed=[0, 1, 2])
    horizons = {etude.episode(f"etudes/low@test#{seed}").under("ee_delta").horizon for seed in (0, 1, 2)}
    assert len(horizons) > 1 and {*worlds.call("_max_episode_steps")} == {max(horizons)}
