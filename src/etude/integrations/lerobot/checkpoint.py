"""A checkpoint of LeRobot's as a policy. What stands here reads JSON alone, and is loaded beside every simulation;
:mod:`etude.integrations.lerobot.inference`, which has torch and LeRobot, decides.

A checkpoint says which pictures and how many numbers it takes and gives, but not what they mean. The dataset that it was trained on does,
where that is one of ours (``meta/etude.json``): it is found where the training found it, or where ``?dataset=FOLDER`` says. Of other
checkpoints the address must state every convention.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from etude.datasets.card import OWN_CAMERAS
from etude.datasets.columns import ACTION, HAND, PICTURES, STATE, STROKES
from etude.datasets.demos import FACTS, read_facts
from etude.envs.simulation import SIZES
from etude.episodes import CONTROLS, PRIMITIVES
from etude.evaluation.plan import read_object
from etude.names import EtudeError, rng
from etude.policies.address import stated
from etude.policies.contract import RATE, ROTATION_NUMBERS, SPACES, Contract, undeclared
from etude.policies.halves import Arrays, Encoder, Halves, Inference
from etude.policies.policy import Observation
from etude.render import fingerprint
from etude.scene.robots import arm

CONFIG, WEIGHTS, BEFORE, AFTER = "config.json", "model.safetensors", "policy_preprocessor.json", "policy_postprocessor.json"
TRAINING = "train_config.json"
INSIDE = ("", "pretrained_model", "checkpoints/last/pretrained_model")  # of a training's output folder, or of one of its checkpoints
EMPTY = f"{PICTURES}empty_camera"  # pictures that a policy has room for and nobody takes
FELT = 10  # numbers of what a robot feels, besides values and velocities of its joints
OPTIONS = ("device", "dataset")
STATED = ("action", "frame", "rotation", "scale", "closes", "hand", "rate", "orientation", "cameras", "size", "joints")
EXAMPLE = "action=ee_delta&frame=tip&rotation=axis_angle&scale=0.1&closes=1&rate=20&orientation=upright"


@dataclass(frozen=True)
class LeRobotCheckpoint:
    """What the files of a checkpoint say. ``pictures``: the names under which its processors take the pictures of the contract's cameras,
    in their order; ``felt``: does it take what the robot feels?"""

    folder: Path
    pictures: tuple[str, ...]
    felt: bool
    contract: Contract


class LeRobotEncoder:
    """Makes observations ready for a checkpoint of LeRobot's."""

    def __init__(self, checkpoint: LeRobotCheckpoint) -> None:
        self.contract, self._felt = checkpoint.contract, checkpoint.felt

    def told(self, instruction: str, pictures: Sequence[Any], episode: str) -> Arrays:
        """A new episode begins: the seed of all that is drawn in it."""
        return {"seed": np.array([rng(episode, "lerobot").integer(0, 2**62)])}

    def saw(self, observation: Observation) -> Arrays:
        """Pictures by their number, what the robot feels, and what it is told, as bytes."""
        words = np.array([*observation["instruction"].encode()], np.uint8)
        seen = {f"{k}": observation[name] for k, name in enumerate(self.contract.picture_names)}
        return {**seen, **({"state": observation["proprioception"]} if self._felt else {}), "words": words}


def lerobot_halves(text: str) -> Halves:
    """The halves of the policy at ``PATH?option=value&…``: on a GPU where there is one, unless ``device=cpu`` is among the options."""
    path, _, query = text.partition("?")
    said, options = stated(query, "LeRobot checkpoint's address", OPTIONS, STATED)
    device = options.get("device", "")

    def encoder() -> Encoder:
        return LeRobotEncoder(read_checkpoint(path, said, options.get("dataset", "")))

    def inference() -> Inference:
        found: Inference = _inference_module().LeRobotInference(read_checkpoint(path, said, options.get("dataset", "")), device)
        return found

    def shared() -> bool:
        return bool(_inference_module().device_of(device).type != "cpu")

    return Halves(encoder, inference, shared)


def _inference_module() -> Any:
    try:
        return importlib.import_module("etude.integrations.lerobot.inference")
    except ModuleNotFoundError as error:
        raise EtudeError(
            f"checkpoints of LeRobot need {error.name!r}, which is not installed: pip install 'etude[lerobot]', with Python 3.12 or newer"
        ) from None


def read_checkpoint(path: str, said: Mapping[str, Any], dataset: str = "") -> LeRobotCheckpoint:
    """The checkpoint in a folder. ``said`` are fields of its contract, ``dataset`` is the folder of what it was trained on."""
    folder = checkpoint_folder(path)
    config = read_object(folder / CONFIG)
    if config.get("use_peft"):
        raise EtudeError(f"{folder} holds adapters alone (PEFT), without the model they belong to: merge them first")
    inputs, outputs = (_shapes(config, name, folder) for name in ("input_features", "output_features"))
    taken = {key: shape for key, shape in inputs.items() if key not in (STATE, HAND) and not key.startswith(EMPTY)}
    if strange := [key for key, shape in taken.items() if len(shape) != 3]:
        raise EtudeError(f"{folder} wants {strange[0]!r}, which no environment tells; expected pictures and {STATE}")
    if ACTION not in outputs or len(outputs[ACTION]) != 1:
        raise EtudeError(f"{folder} gives no {ACTION!r}, but {', '.join(outputs) or 'nothing'}")
    before = {new: old for old, new in _renamed(folder).items()}
    pictures = tuple(before.get(key, key) for key in taken)
    known = _known(folder, dataset, said)
    names = [name.removeprefix(PICTURES) for name in pictures]
    own = known.pop(OWN_CAMERAS, {})
    fields = {"cameras": [own.get(name, name) for name in names], **known, **said}
    if "size" not in fields:
        fields |= _size(taken, folder)
    if "joints" not in fields:
        fields |= _joints(inputs, folder)
    if len(fields["cameras"]) != len(pictures):
        raise EtudeError(f"{folder} takes {len(pictures)} pictures ({', '.join(names)}), and cameras= names {len(fields['cameras'])}")
    contract = Contract.from_data(fields)
    if missing := undeclared(contract) if contract.action or not known else []:
        raise EtudeError(
            f"{folder} does not say its {', '.join(missing)}: it was not trained on a dataset of etude that is here; name it with"
            f" ?dataset=FOLDER, or say what its actions are, like {EXAMPLE}"
        )
    _refuse_width(folder, contract, outputs[ACTION][0])
    return LeRobotCheckpoint(folder, pictures, STATE in inputs, contract)


def checkpoint_folder(path: str) -> Path:
    """Where the files of a checkpoint are: in this folder, or inside a training's."""
    for inside in INSIDE:
        folder = Path(path) / inside
        if path and (folder / CONFIG).is_file():
            for name in (WEIGHTS, BEFORE, AFTER):
                if not (folder / name).is_file():
                    raise EtudeError(f"{folder} is no whole checkpoint of LeRobot: it has no {name}")
            return folder
    hint = "; one on the Hub is downloaded first: hf download OWNER/NAME --local-dir FOLDER" if not Path(path).exists() else ""
    raise EtudeError(f"{path or 'lerobot:'} holds no checkpoint of LeRobot, expected a folder with {CONFIG} and {WEIGHTS}{hint}")


def _shapes(config: Mapping[str, Any], name: str, folder: Path) -> dict[str, list[int]]:
    try:
        return {key: [int(side) for side in one["shape"]] for key, one in config[name].items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise EtudeError(f"{folder / CONFIG}: {name} are not those of a policy of LeRobot") from None


def _renamed(folder: Path) -> dict[str, str]:
    """How its processors rename what they take."""
    for step in read_object(folder / BEFORE).get("steps", ()):
        if step.get("registry_name") == "rename_observations_processor":
            return dict(step.get("config", {}).get("rename_map", {}))
    return {}


def _size(taken: Mapping[str, Sequence[int]], folder: Path) -> dict[str, list[int]]:
    """Of the pictures that the checkpoint takes."""
    sizes = sorted({(width, height) for _, height, width in taken.values()})
    if len(sizes) > 1:
        told = ", ".join(f"{width}x{height}" for width, height in sizes)
        raise EtudeError(f"{folder} takes pictures of different sizes ({told}); environments take all in one: say size=WIDTHxHEIGHT")
    return {"size": [*sizes[0]]} if sizes else {}


def _joints(inputs: Mapping[str, Sequence[int]], folder: Path) -> dict[str, int]:
    """Of an arm that feels as many numbers as the checkpoint takes."""
    if STATE not in inputs:
        return {}
    count = math.prod(inputs[STATE])
    joints, odd = divmod(count - FELT, 2)
    if odd or joints < 1:
        raise EtudeError(f"{folder} takes {count} numbers as {STATE}; arms have two for each joint here, and {FELT} more")
    return {"joints": joints}


def _known(folder: Path, dataset: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """What the dataset that it was trained on says of the contract; empty where that is not ours, or not here."""
    where = Path(dataset or _trained_on(folder))
    if not dataset and not (where / FACTS).is_file():
        return {}
    facts = read_facts(where)
    controls = facts["control"].split(", ")
    action = None if len(controls) > 1 and {*controls} <= {*STROKES} else controls[0]
    found: dict[str, Any] = {
        "action": action, "size": facts["size"], "orientation": "upright", "joints": len(arm(facts["robot"]["arm"]).home),
        "smooth": facts["renderer"] == fingerprint(True), OWN_CAMERAS: facts.get(OWN_CAMERAS, {}),
    }  # fmt: skip
    if action is not None:
        found |= dict(zip(("frame", "rotation", "scale"), SPACES[action], strict=True))
        found |= {"closes": 1, "rate": RATE} if action in CONTROLS else {"closes": 1} if action == "keypose" else {}
    for name, value in said.items():
        if name not in ("cameras", "size") and name in found and found[name] != value:
            raise EtudeError(f"{name}: the address says {value!r}, the dataset in {where} was recorded with {found[name]!r}")
    return found


def _trained_on(folder: Path) -> str:
    if not (folder / TRAINING).is_file():
        return ""
    trained = read_object(folder / TRAINING).get("dataset")
    return str(trained.get("root") or "") if isinstance(trained, dict) else ""


def _refuse_width(folder: Path, contract: Contract, width: int) -> None:
    if contract.action is None:
        wanted: int | None = SIZES["pick_place"]
    elif contract.action == "joint":
        wanted = None if contract.joints is None else contract.joints + 1
    elif contract.action in PRIMITIVES or contract.rotation is None:
        wanted = SIZES[contract.action]
    else:
        wanted = 4 + ROTATION_NUMBERS[contract.rotation]
    if wanted is not None and width != wanted:
        raise EtudeError(f"{folder} gives actions of {width} numbers; those of {contract.action or 'pick_place'!r} have {wanted}")
