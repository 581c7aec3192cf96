"""A language model that takes decisions: it is shown all frames of a trial at once, by a server with the OpenAI chat protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from etude.decisions.answers import read_answer
from etude.decisions.prompts import messages, worked
from etude.decisions.showing import PIXELS, pictures, space_of
from etude.decisions.text import GRAMMARS
from etude.decisions.trial import SILENT, Trial
from etude.library import trial as find_trial
from etude.names import EtudeError
from etude.policies.chat import READERS, ChatOptions, Reader, chat_address, one_of, truth
from etude.policies.chat_client import ChatClient
from etude.policies.contract import ANSWER, Contract
from etude.policies.policy import Observation, Picture
from etude.pose import Array
from etude.render.png import png_url

LONGEST = 80  # characters of an unreadable answer that are repeated


# ------------------------------------------------------------------------------------------------ what is asked


@dataclass(frozen=True)
class Prompting:
    """How trials are put to a model: with worked ``examples`` or without, which ``properties`` are explained, in which ``grammar``
    instructions are told, and the hint ``detail`` that goes with pictures."""

    examples: bool = False
    properties: Literal["all", "used"] = "all"
    grammar: str = "exact"
    detail: str = "auto"


def prompt(trial: Trial, frames: Sequence[Picture], how: Prompting = Prompting()) -> list[dict[str, Any]]:
    """The messages that ask for the last answer of a trial whose frames (H, H, 3) these are. Whoever asks a model, asks so."""
    space = space_of(trial.stimuli, trial.grid)
    shown = [
        (example, [png_url(picture) for picture in pictures(example.trial, len(frames[0]))])
        for example in (worked(trial, space) if how.examples else ())
    ]
    urls = [png_url(frame) for frame in frames]
    return messages(trial, urls, space, examples=shown, properties=how.properties, grammar=how.grammar, detail=how.detail)


def questions(trial: Trial) -> list[Trial]:
    """The trial as far as each of its answers: what is known, and asked, at that moment. A trial with one question is that one."""
    ends = [k for k, right in enumerate(trial.answers) if right != SILENT]
    return [trial if k + 1 == len(trial.frames) else _until(trial, k) for k in ends]


def _until(trial: Trial, last: int) -> Trial:
    kept = [k for k, placed in enumerate(trial.tasks) if placed.end <= last]
    tasks = [trial.tasks[k] for k in kept]
    return replace(
        trial,
        # A task ends after the one it depends on, so that one is kept as well.
        tasks=tuple(t if t.after is None else replace(t, after=kept.index(t.after)) for t in tasks),
        frames=trial.frames[: last + 1],
        answers=trial.answers[: last + 1],
        named=tuple((frame, prop) for frame, prop in trial.named if frame <= last),
    )


# ------------------------------------------------------------------------------------------------ who answers


class ChatDecider:
    """Answers by asking a model; see :class:`etude.policies.policy.Policy`. Each question of a trial is a request of its own.

    Counters since it was made: questions ``asked``, those answered ``from_cache``, tries that were ``retried``; answers that could be read
    ``strictly``, those that could be read ``leniently`` (the former among them), and those that were ``unparsed``; ``tokens_in`` and
    ``tokens_out``. An answer that cannot be read by the reading that counts is silence, and so a wrong one. ``remarks`` has a note on each
    answer of the last trial that was not in so many words one of the choices.
    """

    def __init__(
        self,
        model: str,
        base: str,
        options: ChatOptions = ChatOptions(size=PIXELS),
        prompting: Prompting = Prompting(),
        sleep: Callable[[float], None] = time.sleep,
        find: Callable[[str], Trial] = find_trial,
    ) -> None:
        self.model, self.base, self.options, self.prompting = model, base, options, prompting
        self.contract = Contract(action=ANSWER, whole=True, size=(options.size, options.size))
        self.asked = self.from_cache = self.strictly = self.leniently = self.unparsed = self.tokens_in = self.tokens_out = 0
        self.remarks: tuple[str, ...] = ()
        self._client = ChatClient(base, options.timeout, options.retries, options.cache, sleep)
        self._find = find
        self._trial: Trial | None = None

    @property
    def retried(self) -> int:
        """How many tries had to be repeated."""
        return self._client.retried

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """Find the trial by its name: the prompt explains what its questions are about. What is right in it is not looked at."""
        self._trial = self._find(episode)

    def act(self, observation: Observation) -> Array:
        """For each question the number of the choice that the model names, 0 where it names none."""
        if self._trial is None:
            raise EtudeError("call reset() first")
        frames, choices = observation["frames"], tuple(observation["choices"])
        found, remarks = [], []
        for question in questions(self._trial):
            said = self._ask(prompt(question, frames[: len(question.frames)], self.prompting))
            strict, lenient = read_answer(said, choices)
            self.strictly += strict is not None
            self.leniently += lenient is not None
            taken = strict if self.options.strict else lenient
            self.unparsed += taken is None
            found.append(0 if taken is None else 1 + choices.index(taken))
            remarks.append("" if strict is not None else _remark(said, lenient))
        self.remarks = tuple(remarks)
        return np.array(found)

    def _ask(self, asked: list[dict[str, Any]]) -> str:
        options = self.options
        answer = self._client.ask({
            "model": self.model,
            "messages": asked,
            "temperature": options.temperature,
            "seed": options.seed,
            "max_tokens": options.max_tokens,
        })  # fmt: skip
        self.asked += 1
        self.from_cache += answer.cached
        self.tokens_in += answer.tokens_in
        self.tokens_out += answer.tokens_out
        return answer.text


def _remark(said: str, lenient: str | None) -> str:
    if lenient is not None:
        return f"read leniently as {lenient}"
    line = " ".join(said.split())
    return f"unparsed: {line if len(line) <= LONGEST else line[: LONGEST - 1] + '…'!r}"


# ------------------------------------------------------------------------------------------------ by name

WHO = "chat decider"
_PROMPTING: dict[str, Reader] = {"examples": truth, "properties": one_of("all", "used"), "grammar": one_of(*GRAMMARS)}
_READERS = {name: reader for name, reader in READERS.items() if name not in ("cameras", "json", "prompt")} | _PROMPTING


def chat_decider(text: str, sleep: Callable[[float], None] = time.sleep) -> ChatDecider:
    """The policy written as ``chat:MODEL@http://host:port/v1?option=value``.

    The options are those fields of :class:`~etude.policies.chat.ChatOptions` that are not about robots, and those of :class:`Prompting`.
    """
    model, base, given = chat_address(text, WHO, _READERS)
    known = {f.name for f in fields(Prompting)}
    prompting = Prompting(**{name: value for name, value in given.items() if name in known})
    own = {name: value for name, value in given.items() if name not in _PROMPTING}
    return ChatDecider(model, base, ChatOptions(**{"size": PIXELS, **own}), prompting, sleep)
