"""Trials as questions to language models that see all frames at once.

They say what the paper's prompts say (iWISDM A.5), in our words: what a frame can show, the properties of objects (all of them or those
that the question is about), which answers there are, three worked examples if wanted, and the trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import total
from etude.decisions.graph import DecisionGraph, properties_of
from etude.decisions.looks import Get, IsSame, Select
from etude.decisions.meaning import answer
from etude.decisions.space import LOCATION, VIEW, SeenThing, StimulusSpace
from etude.decisions.text import instruction
from etude.decisions.trial import SILENT, Placed, Trial
from etude.names import EtudeError, pick

Picture = NDArray[np.uint8]
Part = dict[str, Any]
FEW = 16  # values of a property are listed up to this many


@dataclass(frozen=True)
class Example:
    """A small trial with the reason for its answer."""

    trial: Trial
    reason: str


# ------------------------------------------------------------------------------------------------ the prompt


def messages(
    trial: Trial,
    pictures: Sequence[Picture | str],
    space: StimulusSpace,
    *,
    examples: Sequence[tuple[Example, Sequence[Picture | str]]] = (),
    properties: Literal["all", "used"] = "all",
    grammar: str = "exact",
    detail: str = "auto",
) -> list[dict[str, Any]]:
    """One user message in the form chat interfaces take, which asks for the answer of a trial.

    ``pictures`` are its frames, (H, W, 3) or already data URLs. ``examples`` are those of :func:`worked` with their frames. ``properties``
    says whether all properties of objects are explained or those that the questions use.
    """
    prompt = _Prompt(detail)
    prompt.say(_introduction(trial, [example.trial for example, _ in examples], space, properties))
    prompt.say(f"\n\n{_goal(trial)}")
    for example, frames in examples:
        prompt.say("\n\nHere is an example.\n")
        prompt.show(example.trial, frames, space, grammar)
        prompt.say(f"Answer: {expected(example.trial)}. The reason: {example.reason}")
    prompt.say("\n\nNow solve this new task.\n" if examples else "\n\nSolve this task.\n")
    prompt.show(trial, pictures, space, grammar)
    prompt.say(
        f"What is the right answer? Reply with exactly one of these answers and nothing else: {', '.join(trial.choices)}. Your answer:"
    )
    return [{"role": "user", "content": prompt.parts}]


def expected(trial: Trial) -> str:
    """The answer that is asked for: the last one of the trial."""
    given = [a for a in trial.answers if a != SILENT]
    if not given:
        raise EtudeError(f"the trial {trial.name} has no answer")
    return given[-1]


class _Prompt:
    """Text and pictures in reading order; neighbouring texts are one part, because some chat templates put a line break between parts."""

    def __init__(self, detail: str) -> None:
        self.parts: list[Part] = []
        self._detail = detail

    def say(self, text: str) -> None:
        if self.parts and self.parts[-1]["type"] == "text":
            self.parts[-1]["text"] += text
        else:
            self.parts.append({"type": "text", "text": text})

    def show(self, trial: Trial, pictures: Sequence[Picture | str], space: StimulusSpace, grammar: str) -> None:
        if len(pictures) != len(trial.frames):
            raise EtudeError(f"the trial {trial.name} has {len(trial.frames)} frames, but came with {len(pictures)} pictures")
        self.say(f'Instruction: "{instruction(trial, space, grammar)}"\n')
        for number, picture in enumerate(pictures, 1):
            self.say(f"Frame {number}:")
            self.parts.append({"type": "image_url", "image_url": {"url": _url(picture), "detail": self._detail}})
            self.say("\n")


def _url(picture: Picture | str) -> str:
    from etude.prompts.pictures import data_url  # with the renderer behind it

    if isinstance(picture, str):
        return picture
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        raise EtudeError(f"a picture must be (H, W, 3) of uint8, got {picture.shape} of {picture.dtype}")
    return data_url(picture)


# ------------------------------------------------------------------------------------------------ what it says


def _introduction(trial: Trial, examples: Sequence[Trial], space: StimulusSpace, properties: str) -> str:
    several = any(len(things) > 1 for things in trial.frames)
    shown = "one or more objects" if several else "an object"
    if len(trial.frames) == 1 and not examples:
        said = [f"You are shown one picture, called a frame. It shows {shown}."]
    else:
        said = [f"You are shown pictures in a fixed order, called frames. A frame is either blank, which is a delay, or it shows {shown}."]
    if several:
        said.append("Where there are several, the instruction tells which one is meant; ignore the others.")
    asked = frozenset[str]().union(*(used(t) for t in (trial, *examples)))
    told = pick("choice of properties", properties, {"all": asked.union(space.properties), "used": asked})
    said += [_explained(prop, space) for prop in space.known if prop in told and prop != VIEW]
    if told - {LOCATION}:
        said.append("Objects are seen from random view angles, so that one object can look different in another frame.")
    if VIEW in asked:
        said.append(f"The view angle of an object is always one of {space.views}: {_listed(space.values(VIEW))}.")
    if trial.fixation != "none":
        said.append("A cross in the middle of a frame has no meaning.")
    return " ".join(said)


def _explained(prop: str, space: StimulusSpace) -> str:
    """A property in a sentence."""
    if prop == LOCATION:
        return f"An object is at one of {space.cells} locations: {_listed(space.places)}."
    words = space.values(prop)
    if len(words) <= FEW:
        return f"The {prop} of an object is always one of {len(words)}: {_listed(words)}."
    coarse = _coarser(prop, space)
    share = f", {len(words) // len(space.values(coarse))} for each {coarse}" if coarse else ""
    varies = "".join(f" The same one can have another {other}." for other in space.classes if not _follows(other, prop, space))
    return f"The {prop} says which one an object is: there are {len(words)} in all{share}.{varies}"


def _follows(prop: str, other: str, space: StimulusSpace) -> bool:
    """Does a property of items follow from another?"""
    return space.sort(other) != "item" or len(set(zip(space.numbers(other), space.numbers(prop), strict=True))) == len(space.values(other))


def _coarser(prop: str, space: StimulusSpace) -> str:
    """A property with a few values that divides the values of ``prop`` into parts of the same size; "" if there is none."""
    for other, classes in space.classes.items() if space.sort(prop) == "item" else ():
        groups: dict[int, set[int]] = {}
        for fine, coarse in zip(space.numbers(prop), classes, strict=True):
            groups.setdefault(coarse, set()).add(fine)
        sizes = [len(g) for g in groups.values()]
        if other != prop and len(groups) <= FEW and len(set(sizes)) == 1 and total(sizes) == len(space.values(prop)):
            return other
    return ""


def _goal(trial: Trial) -> str:
    several = (
        " There is more than one question in it: give the answer to the last one that is to be answered." if len(trial.tasks) > 1 else ""
    )
    return (
        "A written instruction goes with the frames. Follow it and answer the question in it."
        f"{several} The answer is ALWAYS one of these: {', '.join(trial.choices)}."
    )


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def used(trial: Trial) -> frozenset[str]:
    """The properties that the questions of a trial, or the names of its objects, are about."""
    found = {prop for _, prop in trial.named}
    for placed in trial.tasks:
        found |= properties_of(placed.task.root)
    return frozenset(found)


# ------------------------------------------------------------------------------------------------ worked examples


def worked(trial: Trial, space: StimulusSpace) -> tuple[Example, ...]:
    """Small examples for the prompt of a trial: one about location, and one about each of the first two other properties of the space.

    They ask for the value where the trial's answers hold it, otherwise whether it is the same twice; one whose answer is not among those
    of the trial is left out.
    """
    coarse, *finer = list(space.classes)[:2]
    views = sorted({thing.view for things in trial.frames for thing in things})  # which its stimulus set has of all items
    early, late = views[0], views[-1]
    one, other = _alike(space, coarse, apart=coarse, least=True)
    found = [
        _example(trial, space, LOCATION, [SeenThing(one, 0, early), SeenThing(space.items - 1, space.cells - 1, late)]),
        _example(trial, space, coarse, [SeenThing(one, 1 % space.cells, early), None, SeenThing(other, 0, late)]),
    ]
    for fine in finer:
        one, other = _alike(space, coarse, apart=fine, least=False)
        found.append(_example(trial, space, fine, [SeenThing(one, 0, early), SeenThing(other, 1 % space.cells, late)]))
    return tuple(
        Example(replace(example.trial, name=f"{trial.parsed.suite}/example-{k}@{trial.split}#0"), example.reason)
        for k, example in enumerate(filter(None, found), 1)
    )


def _alike(space: StimulusSpace, prop: str, apart: str, least: bool) -> tuple[int, int]:
    """Two items with the same value of one property, the least or the greatest, and where it can be different ones of another."""
    values, others = space.classes[prop], space.classes[apart]
    members = [k for k, value in enumerate(values) if value == (min(values) if least else max(values))]
    return members[0], next((k for k in members if others[k] != others[members[0]]), members[-1])


def _example(trial: Trial, space: StimulusSpace, prop: str, things: Sequence[SeenThing | None]) -> Example | None:
    """An example with a thing or nothing on each frame, asked about the last object, or about the first and the last."""
    frames = tuple(() if thing is None else (thing,) for thing in things)
    first, last = Get(prop, Select(len(things) - 1)), Get(prop, Select(0))
    for root in (last, IsSame(first, last)):
        task = DecisionGraph(root, len(things))
        given = answer(task, frames, space)
        if given in trial.choices:
            answers = (*[SILENT] * (len(things) - 1), given)
            small = replace(trial, tasks=(Placed(task),), frames=frames, answers=answers, level="", named=())
            return Example(small, _reason(root, frames, space))
    return None


def _reason(root: Get | IsSame, frames: Sequence[Sequence[SeenThing]], space: StimulusSpace) -> str:
    one, other = frames[0][0], frames[-1][0]
    prop = root.kind() if isinstance(root, Get) else root.left.kind()
    a, b = (space.values(prop)[space.of(prop, thing)] for thing in (one, other))
    if isinstance(root, Get):
        return f"the {prop} of object 2 is {b}."
    if len(space.values(prop)) <= FEW:  # values that the prompt has told
        return (
            f"the {prop} of object 1 is {a}, and so is that of object 2."
            if a == b
            else f"the {prop} of object 1 is {a}, that of object 2 is {b}."
        )
    coarse = next(iter(space.classes))
    shared = f", although both have the {coarse} {space.values(coarse)[space.of(coarse, one)]}"
    return f"objects 1 and 2 have the same {prop}." if a == b else f"objects 1 and 2 differ in {prop}{shared}."
