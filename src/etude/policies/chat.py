"""A planner that asks a vision-language model on a server with the OpenAI chat protocol (vLLM, SGLang, llama.cpp, and the services)."""

from __future__ import annotations

import re
import time
import urllib.parse
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from etude.names import EtudeError, pick, unknown
from etude.policies.answers import lenient, strict
from etude.policies.chat_client import ChatClient
from etude.policies.chat_prompt import answer_schema, filled, question
from etude.policies.contract import Contract
from etude.policies.policy import Observation, Picture
from etude.policies.subtask_prompts import next_subtask
from etude.scene.viewpoints import camera_names

FORM = "chat:MODEL@http://host:port/v1?option=value"
_ADDRESS = re.compile(r"chat:(?P<model>[^\s]+?)@(?P<base>https?://[^\s?#]+)(?:\?(?P<options>.*))?", re.DOTALL)


@dataclass(frozen=True)
class ChatOptions:
    """How a model is asked. The pictures are those of ``cameras``, ``size`` pixels wide and high, sent with the hint ``detail``.

    Without ``cameras`` they are the two that the scene has, see :data:`VIEWS`. ``prompt`` is what is asked: "list" gives the sub-tasks
    to choose from and those so far; "open" gives neither (:func:`etude.policies.subtask_prompts.next_subtask`), "history" only those so
    far. ``strict`` reads answers by :func:`etude.policies.answers.strict`; ``json`` has the server hold the model to the list; ``cache``
    is a folder of answers (none: every question is asked). ``timeout`` is in seconds; ``retries`` tries follow the first.
    """

    cameras: tuple[str, ...] = ()
    size: int = 256
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 300
    timeout: float = 60.0
    retries: int = 5
    strict: bool = False
    json: bool = False
    cache: Path | None = None
    detail: str = "auto"
    prompt: str = "list"

    def __post_init__(self) -> None:
        if self.json and self.prompt != "list":
            raise EtudeError(f"option 'json' of a chat planner holds the model to the list of sub-tasks, but prompt={self.prompt} has none")


VIEWS = (("base", "hand_view"), ("front", "wrist"))
"""The cameras of the table and of the hand, by suite; the first two that a scene has are shown where none are named."""


def usual_views(offered: Collection[str]) -> tuple[str, ...]:
    """The first of :data:`VIEWS` that are all there."""
    return next((views for views in VIEWS if set(views) <= set(offered)), VIEWS[0])


class ChatPlanner:
    """Chooses the next sub-task by asking a model; see :class:`etude.policies.policy.Planner`.

    Counters since it was made: questions ``asked``, those answered ``from_cache``, tries that were ``retried``, answers that were
    ``unparsed``, ``tokens_in`` and ``tokens_out`` of all answers (of kept ones what they cost when they were given). ``last_answer`` is
    what the model said last, unread. ``sleep`` waits some seconds before another try.
    """

    def __init__(self, model: str, base: str, options: ChatOptions = ChatOptions(), sleep: Callable[[float], None] = time.sleep) -> None:
        self.model, self.base, self.options = model, base, options
        self.contract = Contract(cameras=options.cameras or VIEWS[0], size=(options.size, options.size), told="multimodal")
        self.asked = self.from_cache = self.unparsed = self.tokens_in = self.tokens_out = 0
        self.last_answer = ""
        self._task = ""
        self._pictures: tuple[Picture, ...] = ()
        self._client = ChatClient(base, options.timeout, options.retries, options.cache, sleep)

    @property
    def retried(self) -> int:
        """How many tries had to be repeated."""
        return self._client.retried

    def contract_for(self, cameras: Collection[str]) -> Contract:
        """The contract in a scene that has these cameras."""
        return self.contract if self.options.cameras else replace(self.contract, cameras=usual_views(cameras))

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        """Keep the new task with its pictures."""
        self._task, self._pictures = instruction, tuple(pictures)

    @property
    def strict(self) -> bool:
        """Are answers read strictly?"""
        return self.options.strict

    def next_subtask(self, observation: Observation, instruction: str, history: Sequence[str]) -> str:
        """The entry of ``observation["vocabulary"]`` the model names; its raw answer where it names none.

        Where ``instruction`` has only words for a task that was told with pictures at the reset, the task is told as it was then.
        """
        vocabulary = tuple(observation.get("vocabulary", ()))
        if not vocabulary:
            raise EtudeError("a chat planner chooses from a list of sub-tasks, but the observation's 'vocabulary' is missing or empty")
        answer = self._client.ask(self._request(observation, instruction, history, vocabulary))
        self.asked += 1
        self.from_cache += answer.cached
        self.tokens_in += answer.tokens_in
        self.tokens_out += answer.tokens_out
        self.last_answer = answer.text
        found = (strict if self.options.strict else lenient)(answer.text, vocabulary)
        self.unparsed += found is None
        return answer.text if found is None else found

    def _request(self, observation: Observation, instruction: str, history: Sequence[str], vocabulary: tuple[str, ...]) -> dict[str, Any]:
        options = self.options
        seen = {name: value for name, value in observation.items() if isinstance(value, np.ndarray) and value.ndim == 3}
        told = self._task if self._pictures and "{image:" not in instruction else instruction
        views = {camera: pick("camera", camera, seen) for camera in camera_names(options.cameras) or usual_views(seen)}
        if options.prompt == "list":
            messages = question(told, self._pictures, history, vocabulary, views, options.detail, options.json)
        else:
            text = next_subtask(told, tuple(views), history if options.prompt == "history" else ())
            messages = filled(text, self._pictures, views, options.detail)
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": options.temperature,
            "seed": options.seed,
            "max_tokens": options.max_tokens,
        }
        if options.json:
            body["response_format"] = answer_schema(vocabulary)
        return body


# ------------------------------------------------------------------------------------------------ planners by name


def chat_planner(text: str, sleep: Callable[[float], None] = time.sleep) -> ChatPlanner:
    """The planner written as ``chat:MODEL@http://host:port/v1?option=value``; the options are the fields of :class:`ChatOptions`."""
    model, base, given = chat_address(text, "chat planner", READERS)
    return ChatPlanner(model, base, ChatOptions(**given), sleep)


def chat_address(text: str, who: str, readers: Mapping[str, Reader]) -> tuple[str, str, dict[str, Any]]:
    """Model, address of the server, and options, each read by the reader of its name. ``who`` is what errors are about."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise EtudeError(f"{_shown(text)!r} is not a {who}; the form is {FORM}")
    base = match["base"]
    if "@" in base:
        raise EtudeError(f"the address of a {who} must not hold a user name or password; put the key in OPENAI_API_KEY")
    try:
        address = urllib.parse.urlsplit(base)
        valid = bool(address.hostname) and address.port != 0 and base.isascii() and base.isprintable()
    except ValueError:  # a port that is no number or too large, or half a bracket
        valid = False
    if not valid:
        raise EtudeError(f"{base!r} is not the address of a server; the form is {FORM}")
    return match["model"], base.rstrip("/"), _options(match["options"] or "", who, readers)


def _options(text: str, who: str, readers: Mapping[str, Reader]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for item in text.split("&") if text else ():
        name, equals, value = item.partition("=")
        if name not in readers:
            raise unknown(f"option of a {who}:", name, readers)
        if not equals or not value:
            raise EtudeError(f"option {name!r} of a {who} has no value; write {name}=…")
        if name in given:
            raise EtudeError(f"option {name!r} of a {who} is given twice")
        given[name] = readers[name](who, name, urllib.parse.unquote(value))
    return given


def _shown(text: str) -> str:
    """A wrong address without what may be a password in it."""
    return re.sub(r"//[^/@]*@", "//…@", text if len(text) <= 120 else text[:119] + "…")


Reader = Callable[[str, str, str], Any]  # of an option, from who has it, its name and its text


def _number(low: float, high: float) -> Reader:
    def read(who: str, name: str, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:  # also false for nan
            raise EtudeError(f"option {name!r} of a {who} must be a number from {low:g} to {high:g}, got {text!r}")
        return value

    return read


def _whole(low: int, high: int) -> Reader:
    def read(who: str, name: str, text: str) -> int:
        value = int(text) if re.fullmatch(r"[0-9]{1,10}", text) else low - 1
        if not low <= value <= high:
            raise EtudeError(f"option {name!r} of a {who} must be a whole number from {low} to {high}, got {text!r}")
        return value

    return read


def one_of(*words: str) -> Reader:
    """Reads one of these words."""
    return lambda who, name, text: pick(f"value of the {who}'s option {name!r}:", text, {w: w for w in words})


def truth(who: str, name: str, text: str) -> bool:
    """Reads "true" or "false"."""
    return pick(f"value of the {who}'s option {name!r}:", text, {"true": True, "false": False})


def _names(who: str, name: str, text: str) -> tuple[str, ...]:
    found = tuple(text.split(","))
    if not all(found) or len(set(found)) < len(found):
        raise EtudeError(f"option {name!r} of a {who} must be different names with commas between, got {text!r}")
    return found


READERS: dict[str, Reader] = {
    "cameras": _names,
    "size": _whole(16, 4096),
    "temperature": _number(0.0, 2.0),
    "seed": _whole(0, 2**31 - 1),
    "max_tokens": _whole(1, 1_000_000),
    "timeout": _number(0.001, 86_400.0),
    "retries": _whole(0, 100),
    "strict": truth,
    "json": truth,
    "cache": lambda _, __, text: Path(text).expanduser(),
    "detail": one_of("auto", "low", "high"),
    "prompt": one_of("list", "open", "history"),
}
