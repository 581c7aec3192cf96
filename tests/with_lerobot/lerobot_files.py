"""Checkpoints that LeRobot's own script trains for a few steps, and some that it writes untrained."""

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
    """An untrained diffusion policy for a dataset."""
    from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig

    config = DiffusionConfig(
        device="cpu", push_to_hub=False, pretrained_backbone_weights=None, use_group_norm=True, down_dims=(16, 32), n_groups=4,
        diffusion_step_embed_dim=8, spatial_softmax_num_keypoints=4, num_train_timesteps=4, horizon=8, n_action_steps=3, n_obs_steps=2,
    )  # fmt: skip
    return untrained(config, data, out)


def reading(data, out):
    """An untrained SmolVLA for a dataset: small, with a tokenizer of a few words, beside the checkpoint."""
    from lerobot.policies.smolvla.configuration_smolvla import SmolVLAConfig
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, SmolVLMConfig, SmolVLMImageProcessor, SmolVLMProcessor, SmolVLMVideoProcessor

    special = {
        "fake_image_token": "<fake_token_around_image>", "image_token": "<image>", "global_image_token": "<global-img>",
        "end_of_utterance_token": "<end_of_utterance>",
    }  # fmt: skip
    known = ("<pad>", "<unk>", "<s>", "</s>", *special.values(), "Touch", "the", "yellow", "red", "diamond", "heart")
    numbers = {word: k for k, word in enumerate(known)}
    words = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    plain = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, extra_special_tokens=special, **plain)
    base = out.with_name("base")
    SmolVLMProcessor(SmolVLMImageProcessor(), tokenizer, SmolVLMVideoProcessor(), chat_template="{{ messages }}").save_pretrained(base)
    seeing = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 64}
    speaking = {
        "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 16, "vocab_size": len(numbers), "pad_token_id": 0,
    }  # fmt: skip
    ends = {"image_token_id": numbers["<image>"], "pad_token_id": 0, "scale_factor": 2}
    SmolVLMConfig(vision_config={**seeing, "patch_size": 16}, text_config=speaking, **ends).save_pretrained(base)
    config = SmolVLAConfig(
        device="cpu", push_to_hub=False, vlm_model_name=str(base), num_vlm_layers=2, resize_imgs_with_padding=(64, 64), chunk_size=8,
        n_action_steps=4, num_steps=2, empty_cameras=1,
    )  # fmt: skip
    return untrained(config, data, out)


def untrained(config, data, out):
    """A new policy for a dataset, as LeRobot saves it."""
    from lerobot.datasets.lerobot_dataset import LeRobotDatasetMetadata
    from lerobot.policies.factory import make_policy, make_pre_post_processors

    meta = LeRobotDatasetMetadata("local/demos", root=data)
    policy = make_policy(config, ds_meta=meta)
    policy.save_pretrained(out)
    for processor in make_pre_post_processors(config, dataset_stats=meta.stats):
        processor.save_pretrained(out)
    (out / "train_config.json").write_text(json.dumps({"dataset": {"repo_id": "local/demos", "root": str(data)}}))
    return out
