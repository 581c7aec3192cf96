"""Our episodes in the real vla-eval. ``make test-vla-eval`` runs this in an environment of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("vla_eval", reason="make test-vla-eval")

import vla_eval
import yaml
from vla_eval.cli.smoke import _make_echo_server
from vla_eval.model_servers.predict import PredictModelServer
from vla_eval.specs import check_specs

import etude
from etude.integrations.vla_eval import Benchmark
from etude.names import EtudeError

PLAIN = {"action": "ee_delta", "frame": "tip", "rotation": "axis_angle", "scale": 0.1, "closes": 1, "rate": 20.0, "orientation": "upright"}
SMALL = {**PLAIN, "cameras": ["base"], "size": [32, 32]}
PAGE = Path(__file__).parents[2] / "docs" / "vla-eval.md"


def entry(what, count=1, **params):
    return {"benchmark": "etude.integrations.vla_eval:Benchmark", "episodes_per_task": count, "params": {"what": what, **params}}


def evaluated(server, tmp_path, *entries, **overrides):
    config = {"output_dir": str(tmp_path), "benchmarks": list(entries)}
    return vla_eval.evaluate(server, config, docker=False, benchmark_overrides=overrides or None)


def episodes(result):
    return [episode for task in result["tasks"] for episode in task["episodes"]]


class Repeating(PredictModelServer):
    """Gives back actions that it was given, and keeps what it was sent."""

    def __init__(self, actions):
        super().__init__()
        self.actions, self.seen = actions, []

    def predict(self, obs, ctx):
        self.seen.append(obs)
        return {"actions": self.actions[len(self.seen) - 1]}


def test_the_server_of_zeros_plays_every_task_and_reaches_nothing(tmp_path):
    (result,) = evaluated(
        _make_echo_server(7), tmp_path, entry("clevrskills/touch@test", 2, contract=SMALL, perturb=["light_color"]), max_steps=4
    )
    (task,) = result["tasks"]
    assert task["task"] == "clevrskills/touch@test+light_color"
    assert [one["metrics"]["success"] for one in task["episodes"]] == [False, False]
    assert [one["steps"] for one in task["episodes"]] == [4, 4]
    names = [one["metrics"]["episode"].partition("~")[0] for one in task["episodes"]]
    assert names == [f"clevrskills/touch@test#{k}+light_color" for k in range(2)]


def test_the_oracles_actions_lead_to_the_same_end_as_at_home(tmp_path):
    name = "clevrskills/touch@test#3"
    home = etude.rollout("oracle", name)
    record = home.record
    server = Repeating([np.asarray(action, np.float64) for action in home.trajectory.actions])
    (result,) = evaluated(server, tmp_path, entry(name, contract={**PLAIN, "cameras": ["base", "hand_view"], "size": [32, 32]}))
    (played,) = episodes(result)
    assert record.success and played["metrics"]["success"] and played["metrics"]["progress"] == 1.0
    assert (played["steps"], played["metrics"]["episode"]) == (record.steps, record.id)
    sent = server.seen[0]
    assert {key: picture.shape for key, picture in sent["images"].items()} == {"base": (32, 32, 3), "hand_view": (32, 32, 3)}
    assert sent["state"].shape == (8,) and sent["task_description"] == etude.episode(name).instruction.text


def test_the_configuration_on_the_page_runs(tmp_path):
    config = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0])
    config["output_dir"] = str(tmp_path)
    overrides = {"max_steps": 1, "episodes_per_task": 1}
    (result,) = vla_eval.evaluate(_make_echo_server(7), config, docker=False, benchmark_overrides=overrides)
    assert {task["task"] for task in result["tasks"]} == {"clevrskills/touch@test", "clevrskills/pick@test"}
    assert not any(one.get("failure_reason") for one in episodes(result))


def test_what_a_model_does_wrong_is_an_error_of_its_episode(tmp_path):
    (result,) = evaluated(_make_echo_server(6), tmp_path, entry("clevrskills/touch@test", contract=SMALL))
    (played,) = episodes(result)
    assert played["failure_reason"] == "env_step" and "has 7 numbers" in json.dumps(played)


def test_more_episodes_than_were_prepared_are_refused(tmp_path):
    (result,) = evaluated(_make_echo_server(7), tmp_path, entry("clevrskills/touch@test", 2, contract=SMALL, episodes=1), max_steps=1)
    reasons = [one.get("failure_reason") for one in episodes(result)]
    assert reasons == [None, "env_start"]


def test_its_conventions_are_declared_in_the_words_of_the_harness():
    made = Benchmark("clevrskills/touch@test", contract=SMALL)
    formats = {part: spec.format for part, spec in made.get_action_spec().items()}
    assert formats == {"position": "delta_xyz", "rotation": "axis_angle", "gripper": "binary_close_positive"}
    assert not check_specs(made.get_action_spec(), made.get_action_spec(), made.get_observation_spec(), made.get_observation_spec())
    assert made.get_metadata()["max_steps"] == 200
    assert made.get_hold_action({"actions": np.full(7, 0.5)})["actions"].tolist() == [0, 0, 0, 0, 0, 0, 0.5]


def test_a_contract_that_does_not_fit_is_refused_before_anything_is_played():
    with pytest.raises(EtudeError, match="camera: policy wants 'wrist'"):
        Benchmark("clevrskills/touch@test", contract={**PLAIN, "cameras": ["wrist"]})


def test_what_is_not_said_of_the_model_is_refused():
    for field in PLAIN:
        said = {key: value for key, value in PLAIN.items() if key != field}
        with pytest.raises(EtudeError, match=f"params.contract must also say {field};"):
            Benchmark("clevrskills/touch@test", contract=said)


def test_a_model_with_conventions_of_its_own_is_understood(tmp_path):
    name = "clevrskills/touch@test#3"
    home = etude.rollout("oracle", name)
    record = home.record
    own = {
        "scale": 0.05,
        "closes": None,
        "hand": [1.0, 0.0],
        "orientation": "rotated_180",
        "cameras": ["base"],
        "called": ["front"],
        "size": [32, 24],
    }
    server = Repeating([np.array([*np.clip(action[:6], -1, 1) * 2, action[-1] <= 0]) for action in home.trajectory.actions])
    (result,) = evaluated(server, tmp_path, entry(name, contract={**PLAIN, **own}))
    (played,) = episodes(result)
    assert played["metrics"]["success"] and played["steps"] == record.steps
    assert list(server.seen[0]["images"]) == ["front"]
