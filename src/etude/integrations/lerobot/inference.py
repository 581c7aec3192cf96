"""Decisions of a checkpoint of LeRobot's: its own processors before and after its own policy, in the order in which ``lerobot-eval`` has
them."""

from __future__ import annotations

import copy
import hashlib
import io
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from lerobot.configs import PreTrainedConfig
from lerobot.envs import preprocess_observation
from lerobot.policies import get_policy_class, make_pre_post_processors
from lerobot.utils.import_utils import register_third_party_plugins

from etude.integrations.lerobot.checkpoint import TRAINING, LeRobotCheckpoint
from etude.names import EtudeError
from etude.policies.halves import Arrays
from etude.policies.sessions import weights
from etude.pose import Array


@dataclass
class LeRobotSession:
    """One episode: a policy with its queues, what stands before and after it, and how often it was asked."""

    policy: Any
    before: Any
    after: Any
    seed: int = 0
    asked: int = 0


class LeRobotInference:
    """Plays a checkpoint. Each session has queues of its own, on the same weights, and is asked alone: what is decided for one does not
    depend on the others. What a policy draws, it draws from the episode's name."""

    def __init__(self, checkpoint: LeRobotCheckpoint, device: str) -> None:
        self._pictures, self._device = checkpoint.pictures, device_of(device)
        self._first = _loaded(checkpoint.folder, str(self._device))
        self._sessions: dict[int, LeRobotSession] = {}
        self.about: Mapping[str, str] = {
            "weights": _digest(checkpoint.folder),
            "backend": f"lerobot {version('lerobot')}, torch {torch.__version__}",
            "device": torch.cuda.get_device_name(self._device) if self._device.type == "cuda" else self._device.type,
        }

    def begin(self, session: int, told: Arrays) -> None:
        """A new episode begins in this session."""
        if session not in self._sessions:
            shared = {id(one): one for one in weights(self._first)}
            self._sessions[session] = copy.deepcopy(self._first, shared) if self._sessions else self._first
        found = self._sessions[session]
        found.policy.reset()
        found.seed, found.asked = int(told["seed"][0]), 0

    def decide(self, sessions: Sequence[int], seen: Sequence[Arrays]) -> list[Array]:
        """The next action (D,) of each."""
        return [self._decided(self._sessions[session], one) for session, one in zip(sessions, seen, strict=True)]

    def _decided(self, session: LeRobotSession, seen: Arrays) -> Array:
        pictures = {f"{k}": seen[f"{k}"][None] for k in range(len(self._pictures))}
        given = preprocess_observation({"pixels": pictures, **({"agent_pos": seen["state"][None]} if "state" in seen else {})})
        for k, name in enumerate(self._pictures):
            given[name] = given.pop(f"observation.images.{k}")
        given["task"] = [bytes(seen["words"]).decode()]
        cards = [self._device] if self._device.type == "cuda" else []
        mixed = torch.autocast(self._device.type) if session.policy.config.use_amp else nullcontext()
        with torch.random.fork_rng(cards), torch.inference_mode(), mixed:
            torch.manual_seed(session.seed + session.asked)
            session.asked += 1
            action = session.after(session.policy.select_action(session.before(given)))
        found: Array = action.to("cpu").double().numpy()[0]
        return found


def device_of(name: str = "") -> torch.device:
    """The device of this name, if it is there; without a name, a GPU where there is one."""
    try:
        found = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError:
        raise EtudeError(f"{name!r} is no device; expected cuda or cpu") from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise EtudeError("no GPU is here that torch can use; ?device=cpu plays without")
    return found


def _loaded(folder: Path, device: str) -> LeRobotSession:
    """The policy and its processors. Weights are read from safetensors, and all of them must be there."""
    register_third_party_plugins()
    with redirect_stdout(io.StringIO()):  # where it says that it loads
        try:
            config = PreTrainedConfig.from_pretrained(str(folder), cli_overrides=[f"--device={device}"])
            policy = get_policy_class(config.type).from_pretrained(str(folder), config=config, strict=True)
            policy.to(device).eval()
            before, after = make_pre_post_processors(config, str(folder), preprocessor_overrides={"device_processor": {"device": device}})
        except EtudeError:
            raise
        except Exception as error:
            said = " ".join(str(error).split())
            raise EtudeError(f"{folder} cannot be loaded by lerobot {version('lerobot')}: {type(error).__name__}: {said[:200]}") from error
    return LeRobotSession(policy, before, after)


def _digest(folder: Path) -> str:
    """Of all that decides: weights, configuration and processors, not of how it was trained."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix in (".json", ".safetensors") and path.name != TRAINING:
            with path.open("rb") as file:
                digest.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:16]
