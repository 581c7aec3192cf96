"""Decisions as tasks of Inspect AI: ``inspect eval etude/iwisdm -T level=high --model …`` (extra 'inspect').

Prompts and the reading of answers are those of ``etude evaluate --policy chat:…``, so that numbers from both can be compared.
"""

from __future__ import annotations

from typing import Any, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageUser, Content, ContentImage, ContentText
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from etude.datasets.decisions import answer_type
from etude.decisions.answers import read_answer
from etude.decisions.prompts import expected
from etude.decisions.showing import PIXELS, pictures, space_of
from etude.decisions.trial import Trial
from etude.library import trial as find_trial
from etude.names import EtudeError
from etude.policies.chat_decider import Prompting, prompt, questions
from etude.suites.iwisdm.benchmarks import SUITE, VERSION

READINGS = ("lenient", "strict", "unparsed")


@task
def iwisdm(
    level: str = "high",
    split: str = "val",
    limit: int = 100,
    examples: bool = False,
    first_seed: int = 0,
    size: int = PIXELS,
    properties: Literal["all", "used"] = "all",
    grammar: str = "exact",
) -> Task:
    """The first ``limit`` trials of a list (``level``: low, medium, high, …); every question of a trial is a sample."""
    if limit < 1:
        raise EtudeError(f"limit must be at least 1 trial, got {limit}")
    how = Prompting(examples, properties, grammar)
    trials = (find_trial(f"{SUITE}/{level}@{split}#{first_seed + k}") for k in range(limit))
    made = [sample for trial in trials for sample in samples(trial, size, how)]
    return Task(
        dataset=MemoryDataset(made, name=f"{SUITE}/{level}@{split}"),
        solver=generate(),
        scorer=readings(),
        version=VERSION,
        metadata={"level": level, "split": split, "examples": examples},
    )


def samples(trial: Trial, size: int = PIXELS, how: Prompting = Prompting()) -> list[Sample]:
    """A sample for each question of a trial. Its id is the trial's, with the number of the question where there are several."""
    frames, parts = pictures(trial, size), questions(trial)
    return [
        Sample(
            id=trial.id if len(parts) == 1 else f"{trial.id}/{number}",
            input=_chat(prompt(part, frames[: len(part.frames)], how)),
            target=expected(part),
            metadata={
                "trial": trial.name,
                "level": trial.level,
                "choices": list(trial.choices),
                "chance": trial.chance,
                "answer_type": answer_type(expected(part), space_of(trial.stimuli, trial.grid)),
                "n_frames": len(part.frames),
                "n_delays": sum(not things for things in part.frames),
            },
        )
        for number, part in enumerate(parts, 1)
    ]


def _chat(messages: list[dict[str, Any]]) -> list[ChatMessage]:
    """Messages of the chat protocol, all of them the user's, in Inspect's form."""
    return [ChatMessageUser(content=[_content(part) for part in message["content"]]) for message in messages]


def _content(part: dict[str, Any]) -> Content:
    if part["type"] == "text":
        return ContentText(text=part["text"])
    return ContentImage(image=part["image_url"]["url"], detail=part["image_url"]["detail"])


@scorer(metrics={reading: [mean(), stderr(cluster="trial")] for reading in READINGS})
def readings() -> Scorer:
    """Whether an answer is right, read leniently and strictly, and whether it could not be read at all."""

    async def score(state: TaskState, target: Target) -> Score:
        said = state.output.completion
        strict, lenient = read_answer(said, state.metadata["choices"])
        values = {"lenient": lenient == target.text, "strict": strict == target.text, "unparsed": lenient is None}
        return Score(value={reading: int(values[reading]) for reading in READINGS}, answer=lenient, explanation=said)

    return score
