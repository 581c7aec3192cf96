"""What is learned in which way: for every kind of recipe its model, its buffer, how it is judged, and the inference code that plays it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from etude.learn.buffer import DemonstrationBuffer
from etude.learn.control_buffer import ControlBuffer
from etude.learn.controlling import ControlInference, judged_control
from etude.learn.deciding import DecisionInference, judged_trials
from etude.learn.guided_buffer import GuidedBuffer
from etude.learn.inference import StrokeInference
from etude.learn.judging import judged
from etude.learn.keypose_buffer import KeyposeBuffer
from etude.learn.models.chunks import ChunkController
from etude.learn.models.cogelot import Cogelot
from etude.learn.models.controller import PARTS as CONTROL_PARTS
from etude.learn.models.controller import Controller
from etude.learn.models.decider import Decider
from etude.learn.models.frame import FrameController
from etude.learn.models.heatmaps import PARTS as KEYPOSE_PARTS
from etude.learn.models.heatmaps import Heatmaps
from etude.learn.models.language import LanguageFrame, LanguageStream
from etude.learn.models.planner import PlannerModel
from etude.learn.models.points import PARTS as POINT_PARTS
from etude.learn.models.points import PointFlow
from etude.learn.models.readout import ReadoutController
from etude.learn.models.stream import StreamController
from etude.learn.models.topdown import PARTS as TOPDOWN_PARTS
from etude.learn.models.topdown import Topdown
from etude.learn.models.window import WindowController
from etude.learn.network_recipes import Form
from etude.learn.planning import PlannerInference, judged_subtasks
from etude.learn.posing import KeyposeInference, judged_keyposes
from etude.learn.recipes import (
    ControlRecipe,
    DecisionRecipe,
    GuidedRecipe,
    KeyposeRecipe,
    PlanningRecipe,
    PointFlowRecipe,
    Recipe,
    StrokeRecipe,
    TopdownKeyposes,
)
from etude.learn.samples import NUMBERS, SIZE
from etude.learn.subtask_buffer import SubtaskBuffer
from etude.learn.trial_buffer import TrialBuffer
from etude.learn.trials import cells_of
from etude.names import pick
from etude.policies.halves import Inference


class SampleBuffer(Protocol):
    """Samples on the device, from which batches are drawn."""

    def __len__(self) -> int: ...

    def add(self, samples: Sequence[Any], /) -> None:
        """Append samples in their order."""

    def lots(self, chosen: Tensor, /) -> Sequence[Tensor]:
        """These samples divided into those whose batches are computed one after the other: their gradients are added up."""

    def batch(self, chosen: Tensor, shuffle: torch.Generator | None = None) -> Any:
        """What a model learns from: the samples with these numbers; with a generator, what has no order of its own is in a random one."""


@dataclass(frozen=True)
class LearnedKind:
    """A kind of policies. ``model``: the network of a recipe, with ``losses`` of a batch (N, ``parts``); ``buffer``: of a recipe, on a
    device; ``judged``: how good a model is on samples of which (number, name, sample) are known, as a text; ``inference``: a model that
    plays."""

    parts: int
    model: Callable[[Any], torch.nn.Module]
    buffer: Callable[[Any, torch.device], SampleBuffer]
    judged: Callable[[Any, Sequence[tuple[int, str, Any]], torch.device], str]
    inference: Callable[[Any, torch.device, Mapping[str, str]], Inference]


def _cells(recipe: DecisionRecipe) -> int:
    return cells_of(recipe.data.source.size)


CONTROLLER_MODELS: dict[Form, type[Controller]] = {
    "chunks": ChunkController,
    "stream": StreamController,
    "window": WindowController,
    "readout": ReadoutController,
    "frame": FrameController,
}

TRUNKED_MODELS: dict[Form, type[Controller]] = {"stream": LanguageStream, "frame": LanguageFrame}
"""Those whose trunk is a pretrained language model."""


def _controller(recipe: ControlRecipe) -> type[Controller]:
    return (TRUNKED_MODELS if recipe.model.trunked else CONTROLLER_MODELS)[recipe.model.form]


KINDS = {
    StrokeRecipe.json_kind: LearnedKind(
        NUMBERS,
        lambda recipe: Cogelot(recipe.model, recipe.contract.size or SIZE),
        lambda _, device: DemonstrationBuffer(device),
        judged,
        StrokeInference,
    ),
    DecisionRecipe.json_kind: LearnedKind(
        1,
        lambda recipe: Decider(recipe.model, _cells(recipe)),
        lambda recipe, device: TrialBuffer(_cells(recipe), device),
        judged_trials,
        DecisionInference,
    ),
    KeyposeRecipe.json_kind: LearnedKind(
        KEYPOSE_PARTS,
        lambda recipe: Heatmaps(recipe.model, recipe.data.source),
        lambda recipe, device: KeyposeBuffer(recipe.data.source, recipe.data.by_subtask, device),
        judged_keyposes,
        KeyposeInference,
    ),
    TopdownKeyposes.json_kind: LearnedKind(
        TOPDOWN_PARTS,
        lambda recipe: Topdown(recipe.model, recipe.data.source),
        lambda recipe, device: KeyposeBuffer(recipe.data.source, recipe.data.by_subtask, device),
        judged_keyposes,
        KeyposeInference,
    ),
    PointFlowRecipe.json_kind: LearnedKind(
        POINT_PARTS,
        lambda recipe: PointFlow(recipe.model, recipe.data.source),
        lambda recipe, device: KeyposeBuffer(recipe.data.source, recipe.data.by_subtask, device),
        judged_keyposes,
        KeyposeInference,
    ),
    ControlRecipe.json_kind: LearnedKind(
        CONTROL_PARTS,
        lambda recipe: _controller(recipe)(recipe.model, recipe.data.source),
        lambda recipe, device: ControlBuffer(recipe.data.source, recipe.model, _controller(recipe).onwards, device),
        judged_control,
        ControlInference,
    ),
    GuidedRecipe.json_kind: LearnedKind(
        CONTROL_PARTS,
        lambda recipe: CONTROLLER_MODELS[recipe.model.form](recipe.model, recipe.data.source),
        lambda recipe, device: GuidedBuffer(
            recipe.data.source, recipe.model, recipe.data.by_subtask, CONTROLLER_MODELS[recipe.model.form].onwards, device
        ),
        judged_control,
        ControlInference,
    ),
    PlanningRecipe.json_kind: LearnedKind(
        1,
        lambda recipe: PlannerModel(recipe.model, recipe.data.source),
        lambda recipe, device: SubtaskBuffer(recipe.data.forget, recipe.data.again, device),
        judged_subtasks,
        PlannerInference,
    ),
}


def kind_of(recipe: Recipe) -> LearnedKind:
    """The kind of a recipe."""
    return pick("kind of recipe", recipe.json_kind, KINDS)
