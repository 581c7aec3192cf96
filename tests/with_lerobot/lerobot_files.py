"""Checkpoints that LeRobot's own script trains for a few steps, and one that it writes untrained."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

ACT = {
    "type": "act", "device": "cpu", "push_to_hub": "false", "pretrained_backbone_weights": "null", "dim_model": 32, "n_heads": 2,
    "dim_feedforward": 64, "n_encoder_layers": 1, "n_vae_encoder_layers": 1, "latent_dim": 4, "chunk_size": 8, "n_action_steps": 8,
}  # fmt: skip


def ran(program, *arguments, folder):
    """What a command wrote, of one of the programs beside this Python; nothing is looked for on the Hub."""
    own = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hub"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [Path(sys.executable).parent / program, *map(str, arguments)], cwd=folder, env={**os.environ, **own}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{program} {arguments}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def trained(folder, data, out, steps=2):
    """The output folder of lerobot-train."""
    policy = [f"--policy.{name}={value}" for name, value in ACT.items()]
    ran(
        "lerobot-train", "--dataset.repo_id=local/demos", f"--dataset.root={data}", *policy, f"--steps={steps}", f"--save_freq={steps}",
        "--batch_size=4", "--num_workers=0", "--wandb.enable=false", f"--output_dir={out}", folder=folder,
    )  # fmt: skip
    return folder / out


def headed(checkpoint, out, action):
    """A copy of a checkpoint whose every action is this one: its last layer says nothing else."""
    import torch
    from safetensors.torch import load_file, save_file

    shutil.copytree(checkpoint, out)
    tensors = load_file(out / "model.safetensors")
    (file,) = out.glob("policy_postprocessor_step_*.safetensors")
    stats = load_file(file)
    mean, deviation = stats["action.mean"].double().numpy(), stats["action.std"].double().numpy()
    wanted = np.where(deviation > 1e-6, (np.array(action) - mean) / (deviation + 1e-8), 0.0)
    tensors["model.action_head.weight"].zero_()
    tensors["model.action_head.bias"] = torch.from_numpy(wanted).float()
    save_file(tensors, out / "model.safetensors")
    return out


def diffusing(data, out):
    """An untrained diffusion policy for a data set, as LeRobot saves it."""
    from lerobot.datasets.lerobot_dataset import LeRobotDatasetMetadata
    from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
    from lerobot.policies.factory import make_policy, make_pre_post_processors

    meta = LeRobotDatasetMetadata("local/demos", root=data)
    config = DiffusionConfig(
        device="cpu", push_to_hub=False, pretrained_backbone_weights=None, use_group_norm=True, down_dims=(16, 32), n_groups=4,
        diffusion_step_embed_dim=8, spatial_softmax_num_keypoints=4, num_train_timesteps=4, horizon=8, n_action_steps=3, n_obs_steps=2,
    )  # fmt: skip
    policy = make_policy(config, ds_meta=meta)
    policy.save_pretrained(out)
    for processor in make_pre_post_processors(config, dataset_stats=meta.stats):
        processor.save_pretrained(out)
    (out / "train_config.json").write_text(json.dumps({"dataset": {"repo_id": "local/demos", "root": str(data)}}))
    return out
