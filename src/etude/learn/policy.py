"""A checkpoint as a policy. What stands here needs no torch, and is loaded beside every simulation; :mod:`etude.learn.mind` decides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from etude.learn.header import checkpoint_bytes, checkpoint_file, metadata_in
from etude.learn.recipes import Recipe
from etude.learn.samples import Prompt, Things, things_seen, told_prompt
from etude.names import EtudeError, parse_json, rng, unknown
from etude.policies.contract import Contract
from etude.policies.halves import Arrays, Halves, Mind
from etude.policies.policy import Observation


class StrokeEyes:
    """Makes prompts and observations ready for a model of strokes. The order of slots is none that the environment could have given
    anything away by."""

    def __init__(self, recipe: Recipe, contract: Contract) -> None:
        self.recipe, self.contract = recipe, contract
        self._episode, self._looks = "", 0

    def told(self, instruction: str, pictures: Sequence[Any], episode: str) -> Arrays:
        """A new episode begins; ``pictures`` are :class:`~etude.prompts.views.Views`."""
        self._episode, self._looks = episode, 0
        return prompt_arrays(told_prompt(instruction, pictures, self.recipe.model.look))

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


def learned_halves(text: str) -> Halves:
    """The halves of the policy of a checkpoint's path; on a GPU where there is one, unless ``?device=cpu`` follows."""
    path, _, query = text.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    for key in options:
        if key != "device":
            raise unknown("option of a learned policy:", key, ["device"])
    file, device = checkpoint_file(Path(path)), options.get("device") or ""

    def eyes() -> StrokeEyes:
        metadata = metadata_in(checkpoint_bytes(file), file)
        return StrokeEyes(Recipe.from_data(parse_json(metadata["recipe"])), Contract.from_data(parse_json(metadata["contract"])))

    def mind() -> Mind:
        found: Mind = _torch().stroke_mind(file, device)
        return found

    def shared() -> bool:
        return bool(_torch().device_named(device).type != "cpu")

    return Halves(eyes, mind, shared)


def _torch() -> Any:
    try:
        from etude.learn import mind
    except ModuleNotFoundError as error:
        raise EtudeError(f"learned policies need {error.name!r}, which is not installed: pip install 'etude[learn]'") from None
    return mind
