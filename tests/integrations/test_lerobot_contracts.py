"""What of LeRobot's ways needs no LeRobot: how our environment looks, what is read of a checkpoint. ``make test-lerobot`` has the rest."""

import json
import re

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import etude
from etude.datasets.card import OWN_CAMERAS, SCHEMA
from etude.envs.env import EpisodeEnv
from etude.integrations.lerobot.checkpoint import LeRobotEncoder, checkpoint_folder, lerobot_halves, read_checkpoint
from etude.integrations.lerobot.env import PlayedTask
from etude.names import EtudeError
from etude.policies.contract import Contract, mismatches
from etude.policies.loading import halves_of
from etude.policies.wire import pack, unpack
from etude.render import fingerprint

PICTURE, STATE = {"type": "VISUAL", "shape": [3, 48, 64]}, {"type": "STATE", "shape": [22]}
INPUTS = {
    "observation.images.base": PICTURE, "observation.images.side": PICTURE, "observation.state": STATE,
    "observation.hand": {"type": "STATE", "shape": [1]},
}  # fmt: skip
SIDE = "side=0.9:-0.6:0.7:0:0:0.1:50"
FACTS = {
    "schema": SCHEMA, "control": "ee_delta", "robot": {"arm": "xarm6", "hands": ["vacuum"]}, "fps": 20, "cameras": ["base", "side"],
    OWN_CAMERAS: {"side": SIDE}, "size": [64, 48], "renderer": fingerprint(False),
}  # fmt: skip
SAID = "action=ee_delta&frame=base&rotation=euler_xyz&scale=1&hand=0,1&rate=10&orientation=upright&cameras=base,hand_view"


def written(folder, inputs=INPUTS, width=7, renamed=None, root="", **config):
    """The files of a checkpoint, as LeRobot lays them out, without weights."""
    folder.mkdir(parents=True)
    outputs = {"action": {"type": "ACTION", "shape": [width]}}
    texts = {
        "config.json": {"type": "act", "input_features": inputs, "output_features": outputs, **config},
        "policy_preprocessor.json": {
            "steps": [{"registry_name": "rename_observations_processor", "config": {"rename_map": renamed or {}}}]
        },
        "policy_postprocessor.json": {"steps": []},
        "train_config.json": {"dataset": {"repo_id": "local/demos", "root": str(root)}},
        "model.safetensors": None,
    }
    for name, data in texts.items():
        (folder / name).write_text(json.dumps(data))
    return folder


def recorded(folder, **facts):
    (folder / "meta").mkdir(parents=True)
    (folder / "meta/etude.json").write_text(json.dumps({**FACTS, **facts}))
    return folder


def contract_of(text):
    return lerobot_halves(str(text)).encoder().contract


# ------------------------------------------------------------------------------------------------ the environment


def test_the_environment_plays_the_episodes_of_its_seeds_in_the_form_of_lerobot():
    env = PlayedTask("clevrskills", "touch", "test", "ee_delta", ("base", "hand_view"), (64, 48))()
    plain = EpisodeEnv("clevrskills", "touch", "test", "ee_delta", ("base", "hand_view"), (64, 48))
    seen, info = env.reset(seed=5, options={"lerobot_new_rollout": True})
    known, _ = plain.reset(seed=5)
    assert env.task == "clevrskills/touch" and env.task_description == known["instruction"]
    assert env.get_wrapper_attr("_max_episode_steps") == etude.episode("clevrskills/touch@test#5").horizon
    assert info["episode_name"] == "clevrskills/touch@test#5" and info["is_success"] is False
    action = np.array([-0.15, 0, 0.5, 0, 0, 0, -1], np.float32)
    over = False
    while not over:
        seen, reward, terminated, truncated, info = env.step(action)
        known, paid, *_ = plain.step(action)
        over = terminated or truncated
        assert reward == paid and [*seen["pixels"]] == ["base", "hand_view"]
        assert all(np.array_equal(seen["pixels"][name], known[name]) for name in seen["pixels"])
        assert np.array_equal(seen["agent_pos"], known["proprioception"])
    assert info["is_success"] and env.render().dtype == np.uint8


def test_gymnasium_finds_nothing_wrong_with_it():
    check_env(
        PlayedTask("clevrskills", "touch", "test", "joint", ("base",), (32, 32), options={"robot": "panda"})(), skip_render_check=True
    )


# ------------------------------------------------------------------------------------------------ checkpoints


def test_a_checkpoint_trained_on_our_data_set_says_all_of_its_contract(tmp_path):
    folder = written(tmp_path / "out/checkpoints/last/pretrained_model", root=recorded(tmp_path / "demos"))
    assert checkpoint_folder(str(tmp_path / "out")) == checkpoint_folder(str(tmp_path / "out/checkpoints/last")) == folder
    assert contract_of(tmp_path / "out") == Contract(
        "ee_delta", "tip", "axis_angle", 0.1, 1, 20.0, ("base", SIDE), (64, 48), orientation="upright", joints=6
    )


def test_the_data_set_may_have_moved(tmp_path):
    folder = written(tmp_path / "act", root="/nowhere")
    with pytest.raises(EtudeError, match=r"does not say its action, rate, closes, frame, rotation, scale, orientation.*dataset=FOLDER"):
        contract_of(folder)
    assert contract_of(f"{folder}?dataset={recorded(tmp_path / 'demos', control='joint')}").action == "joint"


def test_cameras_are_those_before_the_checkpoint_renamed_them(tmp_path):
    inputs = {"observation.images.camera1": PICTURE, "observation.images.empty_camera_0": PICTURE, "observation.state": STATE}
    renamed = {"observation.images.hand_view": "observation.images.camera1"}
    found = read_checkpoint(str(written(tmp_path / "vla", inputs, renamed=renamed, root=recorded(tmp_path / "demos"))), {})
    assert found.pictures == ("observation.images.hand_view",) and found.contract.cameras == ("hand_view",)


def test_a_checkpoint_of_others_is_played_in_the_conventions_that_its_address_states(tmp_path):
    inputs = {"observation.images.top": PICTURE, "observation.images.wrist": PICTURE}
    found = contract_of(f"{written(tmp_path / 'act', inputs)}?{SAID}")
    assert (found.cameras, found.hand, found.rate, found.joints) == (("base", "hand_view"), (0.0, 1.0), 10.0, None)


def test_pictures_in_the_order_of_the_checkpoint_and_words_reach_the_process_that_decides(tmp_path):
    encoder = LeRobotEncoder(read_checkpoint(str(written(tmp_path / "act", root=recorded(tmp_path / "demos"))), {}))
    pictures = [np.full((48, 64, 3), k, np.uint8) for k in (1, 2)]
    seen = unpack(pack(encoder.saw({"side": pictures[1], "base": pictures[0], "proprioception": np.zeros(22), "instruction": "Put 90° …"})))
    assert (seen["0"] == 1).all() and (seen["1"] == 2).all() and bytes(seen["words"]).decode() == "Put 90° …"
    seeds = [encoder.told("", (), name)["seed"][0] for name in ("a/b@c#1", "a/b@c#2", "a/b@c#1")]
    assert seeds[0] == seeds[2] != seeds[1]


BAD = {
    "a robot that feels less": (
        {"inputs": {**INPUTS, "observation.joint_torques": STATE}},
        "",
        "wants 'observation.joint_torques', which no",
    ),
    "actions of another width": ({"width": 8}, "", "gives actions of 8 numbers; those of 'ee_delta' have 7"),
    "adapters": ({"use_peft": True}, "", "holds adapters alone"),
    "no features": ({"input_features": []}, "", "input_features are not those of a policy"),
    "cameras too few": ({}, "cameras=base", "takes 2 pictures (base, side), and cameras= names 1"),
    "another space": ({}, "action=joint", "action: the address says 'joint', the dataset in"),
    "a wrong word": ({}, "actoin=joint", "did you mean 'action'"),
    "a wrong number": ({}, "scale=big", "scale=big in the LeRobot checkpoint's address: expected a number of metres"),
}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"observation.images.side": {"shape": [3, 9, 9]}}, "different sizes (9x9, 64x48)"),
        ({"observation.state": {"shape": [8]}}, "takes 8 numbers as observation.state; arms have two for each joint here, and 10 more"),
    ],
)
def test_shapes_that_no_environment_gives_are_refused_where_no_data_set_knows_better(tmp_path, changed, words):
    folder = written(tmp_path / "act", {**INPUTS, **changed})
    with pytest.raises(EtudeError, match=re.escape(words)):
        contract_of(f"{folder}?{SAID}")
    assert contract_of(f"{folder}?dataset={recorded(tmp_path / 'demos')}").joints == 6


@pytest.mark.parametrize("what", BAD)
def test_what_does_not_fit_is_refused_in_one_line(tmp_path, what):
    config, query, words = BAD[what]
    folder = written(tmp_path / "act", root=recorded(tmp_path / "demos"), **config)
    with pytest.raises(EtudeError) as refused:
        contract_of(f"{folder}?{query}")
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_a_folder_without_a_checkpoint_is_refused(tmp_path):
    with pytest.raises(EtudeError, match="hf download OWNER/NAME"):
        contract_of("my-lab/stacker")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EtudeError, match=r"no whole checkpoint of LeRobot: it has no model\.safetensors"):
        contract_of(tmp_path)


def test_arms_with_other_joints_are_refused_before_the_first_step(tmp_path):
    contract = contract_of(written(tmp_path / "act", root=recorded(tmp_path / "demos")))
    assert mismatches(contract, etude.episode("clevrskills/touch@test#0")) == []
    found = mismatches(contract, etude.episode("clevrskills/touch@test#0?robot=panda"))
    assert found == ["joints: policy is of an arm with 6, panda has 7"]


def test_the_policy_is_known_by_its_name(tmp_path):
    halves = halves_of(f"lerobot:{written(tmp_path / 'act', root=recorded(tmp_path / 'demos'))}")
    assert halves is not None and halves.encoder().contract.action == "ee_delta"
