"""Demonstrations as questions for planners: what does the robot have to do next? With pictures, and the right answer (HiMan-Bench 3.5).

The oracle plays an episode, and frames at a fixed distance become questions: those that the mode ``offline`` asks, with the same words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from etude.datasets.decisions import new_folder
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.evaluation.guide import Position, asked_every, position
from etude.library import find
from etude.names import EtudeError
from etude.policies.scripted import OraclePolicy
from etude.policies.subtask_prompts import IMAGE, next_subtask, reasoning
from etude.render.png import png
from etude.suites.suite import SUITES

PIXELS = 256
LINES = "questions.jsonl"

Views = dict[str, bytes]  # a PNG file for each camera


@dataclass(frozen=True)
class PlannerQuestion:
    """A frame of a demonstration, its number the count of control steps before it; ``end`` is the frame at which its stage ends."""

    frame: int
    position: Position
    views: Views
    end: int
    end_views: Views


@dataclass(frozen=True)
class Exported:
    """What was written; ``unsolved`` are the episodes that the oracle did not finish, and that nothing is asked about."""

    questions: int
    files: int
    unsolved: tuple[str, ...]


def questions(episode: Episode, size: int = PIXELS) -> list[PlannerQuestion] | None:
    """The questions about an episode, in order, with square pictures of ``size`` pixels; None where the oracle does not solve it."""
    simulation = Simulation(episode.under("ee_delta"))
    cameras = SUITES[episode.parsed.suite].two_views(episode.scene)
    observer = Observer(simulation, cameras, (size, size), ("rgb",))
    every = asked_every(episode)
    found: list[PlannerQuestion] = []
    asked: list[tuple[int, Position, Views]] = []  # in the stage that is going on: where it ends is not known yet

    def close() -> None:
        views = _views(observer, cameras)
        found.extend(PlannerQuestion(*one, simulation.steps, views) for one in asked)
        asked.clear()

    for now in demonstrated_stages(simulation):
        if asked and asked[-1][1] != now:
            close()
        if simulation.steps % every == 0:
            asked.append((simulation.steps, now, _views(observer, cameras)))
    if not simulation.status.satisfied:
        return None
    close()
    return found


def demonstrated_stages(simulation: Simulation) -> Iterator[Position]:
    """Where a demonstration of the oracle stands before each of its control steps, until all stages are done."""
    oracle = OraclePolicy(action="ee_delta")
    oracle.reset(simulation.episode.instruction.text, (), simulation.episode.name)
    while not simulation.over:
        now = position(simulation.monitor)
        if now is not None:  # otherwise things have yet to come to rest
            yield now
        simulation.step(oracle.act({"simulation": simulation}))


def _views(observer: Observer, cameras: Sequence[str]) -> Views:
    seen = observer.look()
    return {camera: png(seen[camera]) for camera in cameras}


def export(names: Sequence[str], folder: Path, size: int = PIXELS) -> Exported:
    """Write the questions about the episodes of these names into a new folder.

    ``questions.jsonl`` has a line for each; pictures are PNG files in ``images/``. In the prompts ``<image>`` stands for each picture:
    those of ``views`` in order, and after them, in ``reasoning_prompt``, those of ``end_views``; ``messages`` is ``prompt`` for a chat.
    ``answers:FILE`` knows an answer by the ``id`` and the ``frame`` of its question.
    """
    if not names:
        raise EtudeError("there is nothing to export: name at least one episode")
    for name in names:
        _fitting(name)
    new_folder(folder)
    written: set[str] = set()
    unsolved: list[str] = []
    count = 0
    # The list of questions gets its name last: a folder that has it is complete.
    unfinished = folder / f"{LINES}.unfinished"
    with unfinished.open("w", encoding="utf-8") as lines:
        for name in names:
            episode = _fitting(name)
            found = questions(episode, size)
            if found is None:
                unsolved.append(name)
                continue
            place = "images/" + re.sub(r"[^\w.-]+", "-", episode.name)
            (folder / place).mkdir(parents=True, exist_ok=True)
            for one in found:
                row, files = described(episode, one, place)
                for path, data in files.items():
                    (folder / path).write_bytes(data)
                written |= files.keys()
                lines.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += len(found)
    unfinished.replace(folder / LINES)
    return Exported(count, len(written) + 1, tuple(unsolved))


def described(episode: Episode, one: PlannerQuestion, place: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A question as JSON data, and its pictures by their paths in the folder ``place``."""
    task, now, parsed, cameras = episode.instruction.text, one.position, episode.parsed, tuple(one.views)
    views, end_views = ({c: f"{place}/{frame:05d}-{c}.png" for c in cameras} for frame in (one.frame, one.end))
    row = {
        "episode": episode.name,
        "id": episode.id,
        "suite": parsed.suite,
        "task": parsed.task,
        "split": parsed.split,
        "seed": parsed.seed,
        "level": episode.level,
        "frame": one.frame,
        "views": views,
        "instruction": task,
        "prompt": next_subtask(task, cameras),
        "messages": _chat(next_subtask(task, cameras), list(views.values())),
        "sub_task": now.text,
        "stage": now.number,
        "stages": list(now.stages),
        "history": list(now.earlier),
        "prompt_with_history": next_subtask(task, cameras, now.earlier),
        "end_frame": one.end,
        "end_views": end_views,
        "reasoning_prompt": reasoning(task, cameras, now.text),
    }
    return row, {path[c]: data[c] for path, data in ((views, one.views), (end_views, one.end_views)) for c in cameras}


def _chat(prompt: str, paths: Sequence[str]) -> list[dict[str, Any]]:
    """A prompt as the chat protocol has it; pictures stand as the paths of their files."""
    first, *rest = prompt.split(IMAGE)
    parts: list[dict[str, Any]] = [{"type": "text", "text": first}]
    for path, piece in zip(paths, rest, strict=True):
        parts += [{"type": "image_url", "image_url": {"url": path}}, {"type": "text", "text": piece}]
    return [{"role": "user", "content": parts}]


def _fitting(name: str) -> Episode:
    """The episode of this name, where its suite has questions about frames."""
    found = find(name)
    if not isinstance(found, Episode) or not asked_every(found):
        *suites, last = (name for name, suite in SUITES.items() if suite.asked_every)
        raise EtudeError(f"the form 'questions' is about frames of {', '.join(suites)} and {last}; {name} has none")
    return found
