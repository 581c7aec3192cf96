"""A checkpoint as a policy: one at a time through the policies' own protocol, or many episodes in one batch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import torch
from numpy.typing import NDArray

from etude.learn.buffer import DemonstrationBuffer
from etude.learn.checkpoint import load_model
from etude.learn.models.cogelot import Cogelot
from etude.learn.recipes import Recipe
from etude.learn.samples import NUMBERS, Demonstration, Prompt, Things, action_of, contract_for, numbers_of, things_seen, told_prompt
from etude.names import EtudeError, rng, unknown
from etude.policies.contract import Contract
from etude.policies.policy import Observation
from etude.pose import Array


@dataclass
class History:
    """An episode as a policy knows it so far."""

    prompt: Prompt
    episode: str
    seen: list[Things] = field(default_factory=list)
    done: list[NDArray[np.float32]] = field(default_factory=list)

    def so_far(self) -> Demonstration:
        """As a demonstration in which there is nothing to learn."""
        done = np.zeros((len(self.seen), NUMBERS), np.float32)
        done[: len(self.done)] = np.reshape(self.done, (-1, NUMBERS))
        return Demonstration(self.prompt, tuple(self.seen), done, np.zeros_like(done), np.zeros(len(done), np.bool_))


class LearnedPolicy:
    """Plays a trained model. ``act`` is for one episode; :meth:`act_all` decides for many histories at once."""

    def __init__(self, model: Cogelot, recipe: Recipe, contract: Contract | None = None, device: str | torch.device = "cpu") -> None:
        self.contract = contract or contract_for(recipe.model.look)
        self.recipe, self.device = recipe, torch.device(device)
        self.calls, self.decisions, self.seconds = 0, 0, 0.0  # spent on deciding, so far
        self._model = model
        self._history: History | None = None

    def begin(self, prompt: Prompt, episode: str) -> History:
        """The history of an episode in which nothing has happened yet."""
        return History(prompt, episode)

    def look(self, history: History, things: Things) -> None:
        """Note what is seen now; the order of slots is none that the environment could have given anything away by."""
        if self.recipe.data.shuffle and self.recipe.model.look == "objects":
            order = rng(history.episode, f"learned/slots/{len(history.seen)}").shuffled(range(len(things)))
            things = Things(things.crops[order], things.boxes[order], things.mask[order])
        history.seen.append(things)

    def act_all(self, histories: Sequence[History]) -> list[Array]:
        """An action (12,) for each history; it is taken for done."""
        begun = time.perf_counter()
        buffer = DemonstrationBuffer(self.device)
        buffer.add([history.so_far() for history in histories])
        batch = buffer.batch(torch.arange(len(histories)))
        with torch.no_grad(), torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            strokes = self._model.answers(batch).float().cpu().numpy()
        actions = [action_of(stroke) for stroke in strokes]
        for history, action in zip(histories, actions, strict=True):
            history.done.append(numbers_of(action))
        self.calls, self.decisions, self.seconds = (
            self.calls + 1,
            self.decisions + len(histories),
            self.seconds + time.perf_counter() - begun,
        )
        return actions

    def reset(self, instruction: str, pictures: Sequence[Any], episode: str) -> None:
        """A new episode begins; ``pictures`` are :class:`~etude.prompts.views.Views`."""
        self._history = self.begin(told_prompt(instruction, pictures, self.recipe.model.look), episode)

    def act(self, observation: Observation) -> Array:
        """The next action."""
        if self._history is None:
            raise EtudeError("a learned policy acts after reset, not before")
        self.look(self._history, things_seen(observation, self.contract))
        return self.act_all([self._history])[0]


def learned_policy(text: str) -> LearnedPolicy:
    """The policy of a checkpoint's path; on a GPU where there is one, unless ``?device=cpu`` follows."""
    path, _, query = text.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    for key in options:
        if key != "device":
            raise unknown("option of a learned policy:", key, ["device"])
    where = device_named(options.get("device") or ("cuda" if torch.cuda.is_available() else "cpu"))
    model, recipe, contract = load_model(Path(path), where)
    return LearnedPolicy(model, recipe, contract, where)


def device_named(name: str) -> torch.device:
    """The device of this name, if it is there."""
    try:
        found = torch.device(name)
    except RuntimeError:
        raise EtudeError(f"{name!r} is no device; expected cuda or cpu") from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise EtudeError("no GPU is here that torch can use; --device cpu trains and plays without")
    return found
