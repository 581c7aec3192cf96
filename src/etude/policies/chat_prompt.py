"""What a planning model is asked, as chat messages: the same question inside a simulation and in a list of questions about pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from etude.names import EtudeError
from etude.policies.policy import Picture
from etude.policies.subtask_prompts import IMAGE
from etude.prompts.pictures import data_url

ROLE = (
    "You plan for a robot arm with a gripper or a suction cup that works on a table. You get the task, the sub-tasks it was given so far, "
    "pictures of the table as it is now, and the list of sub-tasks it can do. Say which one it shall work on now: one that is needed for "
    "the task, can be done now and is not yet done. Places are written (x, y), in metres. "
)
IN_XML = (
    "Answer with exactly one sub-task of the list, word for word, in the tag <sub_task>, like this: <sub_task>…</sub_task>. "
    "Reasons may stand before it in the tag <reasoning>, in a few sentences."
)
IN_JSON = 'Answer with exactly one sub-task of the list, word for word, as JSON: {"sub_task": "…"}'

Part = dict[str, Any]
_PLACE = re.compile(r"\{image:(\d{1,6})\}")


def question(
    instruction: str,
    pictures: Sequence[Picture],
    history: Sequence[str],
    vocabulary: Sequence[str],
    views: Mapping[str, Picture],
    detail: str = "auto",
    as_json: bool = False,
) -> list[dict[str, Any]]:
    """The system's and the user's message.

    ``pictures`` (H, W, 3) stand for ``{image:k}`` in the instruction; ``history`` holds the sub-tasks so far, oldest first;
    ``views`` are the pictures of the cameras by name.
    """
    done = "".join(f"\n{i}. {subtask}" for i, subtask in enumerate(history, 1)) or " none"
    choices = "".join(f"\n- {entry}" for entry in _in_neutral_order(vocabulary))
    parts = [_text("Task: "), *_told(instruction, pictures, detail)]
    parts.append(_text(f"\nSub-tasks so far, oldest first:{done}\nSub-tasks to choose from:{choices}"))
    for name, view in views.items():
        parts += [_text(f"\nThe table now, camera {name!r}:"), _image(view, detail)]
    parts.append(_text("\nWhich sub-task is to be worked on now?"))
    return [
        {"role": "system", "content": ROLE + (IN_JSON if as_json else IN_XML)},
        {"role": "user", "content": _joined(parts)},
    ]


def filled(
    text: str, pictures: Sequence[Picture], views: Mapping[str, Picture], detail: str = "auto", mark: str = IMAGE
) -> list[dict[str, Any]]:
    """One user's message: ``text`` with a view in place of each ``mark``, in order, and ``pictures`` in place of ``{image:k}``."""
    first, *rest = text.split(mark)
    parts = _told(first, pictures, detail)
    for view, piece in zip(views.values(), rest, strict=True):
        parts += [_image(view, detail), *_told(piece, pictures, detail)]
    return [{"role": "user", "content": _joined(parts)}]


def answer_schema(vocabulary: Sequence[str]) -> dict[str, Any]:
    """The ``response_format`` that lets a server give nothing but an entry of the vocabulary."""
    schema = {
        "type": "object",
        "properties": {"sub_task": {"type": "string", "enum": _in_neutral_order(vocabulary)}},
        "required": ["sub_task"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "sub_task", "strict": True, "schema": schema}}


def _in_neutral_order(vocabulary: Sequence[str]) -> list[str]:
    """By the alphabet: whoever made the vocabulary may have put first what is right."""
    return sorted(set(vocabulary))


def _told(instruction: str, pictures: Sequence[Picture], detail: str) -> list[Part]:
    parts: list[Part] = []
    for i, piece in enumerate(_PLACE.split(instruction)):  # words and numbers of pictures by turns
        if i % 2 == 0:
            parts.append(_text(piece))
        elif int(piece) < len(pictures):
            parts.append(_image(pictures[int(piece)], detail))
        else:
            raise EtudeError(f"the instruction speaks of {{image:{piece}}}, but came with {len(pictures)} pictures")
    return parts


def _joined(parts: list[Part]) -> list[Part]:
    """Neighbouring texts as one part: some chat templates put a line break between parts."""
    found: list[Part] = []
    for part in parts:
        if part["type"] == "text" and found and found[-1]["type"] == "text":
            found[-1] = _text(found[-1]["text"] + part["text"])
        else:
            found.append(part)
    return found


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _image(picture: Picture, detail: str) -> Part:
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        raise EtudeError(f"a picture must be (H, W, 3) of uint8, got {picture.shape} of {picture.dtype}")
    return {"type": "image_url", "image_url": {"url": data_url(picture), "detail": detail}}
