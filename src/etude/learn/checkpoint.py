"""Checkpoints: weights as safetensors, with the recipe and the contract inside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as read_tensors
from safetensors.torch import save as written
from torch import Tensor

from etude.evaluation.store import write_whole
from etude.learn.header import FORMAT, checkpoint_bytes, checkpoint_file, digest_of, metadata_in
from etude.learn.inference import device_named
from etude.learn.kinds import kind_of
from etude.learn.policy import ONNX, refuse_unexported
from etude.learn.recipes import Recipe, recipe_in
from etude.names import PROTOCOL, EtudeError, parse_json
from etude.policies.contract import Contract
from etude.policies.halves import Inference


def as_bytes(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> bytes:
    """Tensors as a safetensors file."""
    found: bytes = written({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, dict(metadata))
    return found


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a file whole or not at all: where the disk is full, the last good one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, as_bytes(tensors, metadata))


def read_file(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a file of ours."""
    return from_bytes(checkpoint_bytes(path), path)


def from_bytes(data: bytes, path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of what ``path`` holds."""
    try:
        tensors: dict[str, Tensor] = read_tensors(data)
    except SafetensorError as error:
        raise EtudeError(f"{path} is no checkpoint or a damaged one: {str(error)[:120]}") from None
    return tensors, metadata_in(data, path)


def metadata_of(recipe: Recipe, **more: Any) -> dict[str, str]:
    """What is kept inside a checkpoint beside its weights."""
    return {
        "format": FORMAT,
        "protocol": PROTOCOL,
        "recipe": json.dumps(recipe.to_data()),
        "contract": json.dumps(recipe.contract.to_data()),
        "history": json.dumps(more),
    }


def save_model(path: Path, model: torch.nn.Module, recipe: Recipe, **history: Any) -> None:
    """Write the weights in half precision; ``history`` says how they came about (steps, episodes, seconds)."""
    write_tensors(path, {k: v.half() for k, v in model.state_dict().items()}, metadata_of(recipe, **history))


def load_model(path: Path, device: str | torch.device = "cpu", language: str = "", vision: str = "") -> tuple[Any, Recipe, Contract]:
    """The model of a checkpoint file or of a run's folder. ``language`` and ``vision``: its pretrained parts, where they lie
    elsewhere now."""
    file = checkpoint_file(path)
    tensors, metadata = read_file(file)
    recipe = recipe_in(metadata, language, vision)
    contract = Contract.from_data(parse_json(metadata["contract"]))
    model = kind_of(recipe).model(recipe)
    try:
        model.load_state_dict({k: v.float() for k, v in tensors.items()})
    except RuntimeError as error:
        raise EtudeError(f"{file} does not hold the weights of its own recipe: {' '.join(str(error).split())[:160]}") from None
    return model.to(device).eval(), recipe, contract


def learned_inference(file: Path, device: str, language: str = "", vision: str = "") -> Inference:
    """The inference half of a checkpoint's policy, on the device of this name or on the best there is; :data:`ONNX`: on the CPU, computed
    by onnxruntime."""
    weights = digest_of(checkpoint_bytes(file))
    if device == ONNX:
        model, recipe, _ = load_model(file, "cpu", language, vision)
        return _onnx_inference(model, recipe, file, weights)
    where = device_named(device)
    model, recipe, _ = load_model(file, where, language, vision)
    name = torch.cuda.get_device_name(where) if where.type == "cuda" else "cpu"
    about = {"weights": weights, "backend": f"torch {torch.__version__}", "device": name}
    return kind_of(recipe).inference(model, where, about)


def _onnx_inference(model: Any, recipe: Recipe, file: Path, weights: str) -> Inference:
    """The same policy as a graph, as one that ships is played."""
    try:
        from etude.learn.onnx_export import exported
        from etude.learn.onnx_inference import onnx_inference
    except ModuleNotFoundError as error:
        raise EtudeError(f"device={ONNX} needs {error.name!r}, which is not installed: pip install 'etude[learn,zoo]' onnx") from None
    refuse_unexported(recipe, str(file))
    found = onnx_inference(recipe, exported(model), str(file))
    found.about = {**found.about, "weights": weights}
    return found
