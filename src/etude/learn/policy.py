"""A checkpoint as a policy. What stands here needs no torch, and is loaded beside every simulation; :mod:`etude.learn.inference` computes
the actions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from etude.learn.control import ControlEncoder
from etude.learn.guided_control import GuidedEncoder
from etude.learn.header import checkpoint_bytes, checkpoint_file, metadata_in
from etude.learn.keyposes import KeyposeEncoder
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
    recipe_in,
)
from etude.learn.samples import Prompt, Things, things_seen, told_prompt
from etude.learn.subtasks import HISTORY, PlannerEncoder
from etude.learn.trials import DecisionEncoder
from etude.names import EtudeError, parse_json, pick, rng, unknown
from etude.policies.contract import Contract
from etude.policies.halves import Arrays, Encoder, Halves, Inference
from etude.policies.policy import Observation


class StrokeEncoder:
    """Makes prompts and observations ready for a model of strokes. The order of slots is none that the environment could have given
    anything away by."""

    def __init__(self, recipe: StrokeRecipe, contract: Contract) -> None:
        self.recipe, self.contract = recipe, contract
        self._episode, self._looks = "", 0

    def told(self, instruction: str, pictures: Sequence[Any], episode: str) -> Arrays:
        """A new episode begins; ``pictures`` are :class:`~etude.prompts.views.Views`."""
        self._episode, self._looks = episode, 0
        return prompt_arrays(told_prompt(instruction, pictures, self.recipe.model.look, self.recipe.language))

    def saw(self, observation: Observation) -> Arrays:
        """The things that are seen."""
        things = things_seen(observation, self.contract)
        if self.recipe.data.shuffle and self.recipe.model.look == "objects":
            order = rng(self._episode, f"learned/slots/{self._looks}").shuffled(range(len(things)))
            things = Things(things.crops[order], things.boxes[order], things.mask[order])
        self._looks += 1
        return thing_arrays(things)


def thing_arrays(things: Things) -> Arrays:
    """Things as arrays with names."""
    return {"crops": things.crops, "boxes": things.boxes, "mask": things.mask}


def prompt_arrays(told: Prompt) -> Arrays:
    """A prompt as arrays with names."""
    return {"kinds": told.kinds, "words": told.words, "places": told.places, "rows": told.rows, **thing_arrays(told.things)}


ENCODERS: dict[str, Callable[[Any, Contract], Encoder]] = {
    StrokeRecipe.json_kind: StrokeEncoder,
    DecisionRecipe.json_kind: DecisionEncoder,
    KeyposeRecipe.json_kind: KeyposeEncoder,
    TopdownKeyposes.json_kind: KeyposeEncoder,
    PointFlowRecipe.json_kind: KeyposeEncoder,
    ControlRecipe.json_kind: ControlEncoder,
    GuidedRecipe.json_kind: GuidedEncoder,
    PlanningRecipe.json_kind: PlannerEncoder,
}
"""The half beside a simulation, by the kind of recipe."""


EXPORTED = tuple(one.json_kind for one in (StrokeRecipe, KeyposeRecipe, TopdownKeyposes, PointFlowRecipe, ControlRecipe, GuidedRecipe))
"""What exports are of, which onnxruntime plays."""


def refuse_unexported(recipe: Recipe, what: str) -> None:
    """Raise if there are no exports of a recipe's kind."""
    if recipe.json_kind not in EXPORTED:
        raise EtudeError(f"{what} has learned {recipe.json_kind}; what is exported and played by onnxruntime is {', '.join(EXPORTED)}")


OPTIONS = ("device", "language", "vision")
ONNX = "onnx"  # a device: the CPU, by onnxruntime


def learned_halves(text: str, plans: bool = False) -> Halves:
    """The halves of the policy of a checkpoint's path; on a GPU where there is one, unless ``?device=cpu`` or ``?device=onnx`` follows. Of
    one that ``plans``, which is asked now and then, beside every simulation: on the CPU unless ``?device=cuda`` follows.

    ``?language=t5:FOLDER``: its pretrained language lies there now; ``?vision=vit:FOLDER``: what looks at frames.
    """
    path, _, query = text.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    for key in options:
        if key not in OPTIONS:
            raise unknown("option of a learned policy:", key, OPTIONS)
    file, device, language, vision = checkpoint_file(Path(path)), *(options.get(key) or "" for key in OPTIONS)
    device = device or ("cpu" if plans else "")

    def encoder() -> Encoder:
        metadata = metadata_in(checkpoint_bytes(file), file)
        recipe = recipe_in(metadata, language, vision)
        if recipe.plans is not plans:
            way = ("plans", "--planner") if recipe.plans else ("acts", "--policy")
            raise EtudeError(f"{path} holds what {way[0]}: play it with {way[1]} learned:{path}")
        contract = Contract.from_data(parse_json(metadata["contract"]))
        return pick("kind of recipe", recipe.json_kind, ENCODERS)(recipe, contract if plans else contract.as_etude())

    def inference() -> Inference:
        found: Inference = _torch("checkpoint").learned_inference(file, device, language, vision)
        return found

    def shared() -> bool:
        return device != ONNX and bool(_torch("inference").device_named(device).type != "cpu")

    return Halves(encoder, inference, shared)


class LearnedPlanner:
    """A checkpoint that names the next sub-task, of those there are words for."""

    def __init__(self, text: str) -> None:
        halves = learned_halves(text, plans=True)
        self._encoder, self._inference = halves.encoder(), halves.inference()
        self.contract, self.about = self._encoder.contract, self._inference.about

    def reset(self, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """A new episode begins."""
        self._inference.begin(0, self._encoder.told(instruction, pictures, episode))

    def next_subtask(self, observation: Observation, instruction: str, history: Sequence[str]) -> str:
        """The likeliest of ``observation["vocabulary"]``."""
        vocabulary: Sequence[str] = observation["vocabulary"]
        seen = self._encoder.saw({**observation, "instruction": instruction, HISTORY: history})
        return vocabulary[int(self._inference.decide([0], [seen])[0][0])]


def _torch(module: str) -> Any:
    try:
        return importlib.import_module(f"etude.learn.{module}")
    except ModuleNotFoundError as error:
        raise EtudeError(f"learned policies need {error.name!r}, which is not installed: pip install 'etude[learn]'") from None
