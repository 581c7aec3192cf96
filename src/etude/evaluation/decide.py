"""One decision from its name to its record: frames are shown, and the subject answers or keeps silent."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np

from etude.arithmetic import total
from etude.decisions.shortcuts import answers_due
from etude.decisions.showing import pictures, told
from etude.decisions.trial import SILENT, Trial
from etude.envs.actions import numbers
from etude.evaluation.record import PlayedStep, Record, Subgoal
from etude.foreign import called
from etude.names import EtudeError
from etude.policies.contract import ANSWER
from etude.policies.policy import Observation, Policy, RemarkingPolicy
from etude.suites.suite import SUITES

NOTHING = "nothing"  # was said


def decide(policy: Policy, trial: Trial) -> Record:
    """Have a policy take a trial. It succeeds when every question is answered rightly, and nothing is said when nothing was asked."""
    steps = deciding(policy, trial)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Record = end.value
            return found


def deciding(policy: Policy, trial: Trial) -> Generator[PlayedStep, None, Record]:
    """The same, frame by frame; a policy that wants the whole trial is asked once."""
    begun, spent = time.perf_counter(), 0.0
    contract = policy.contract
    if contract.action not in (None, ANSWER):
        raise EtudeError(f"policy and environment do not fit: action: policy gives {contract.action!r}, {trial.parsed.suite} takes answers")
    text = told(trial)
    width, _ = contract.size or SUITES[trial.parsed.suite].size
    frames = np.stack(pictures(trial, width))
    called("policy", policy.reset, text, (), trial.name)
    shown: Observation = {"instruction": text, "choices": trial.choices}
    if contract.privileged:
        shown["trial"] = trial
    asked = [k for k, right in enumerate(trial.answers) if right != SILENT]
    given = [SILENT] * len(frames)
    if contract.whole:
        looks = [(asked, {**shown, "frames": frames, "asked": tuple(asked)})]
    else:
        looks = [([k], {**shown, "frame": frame, "step": k, "cue": k in asked}) for k, frame in enumerate(frames)]
    for places, seen in looks:
        thinking = time.perf_counter()
        expected = f"{len(asked)} answers, as numbers" if contract.whole else "an answer, as a number"
        answers = np.ravel(numbers(called("policy", policy.act, seen), "what the policy gave", expected))
        spent += time.perf_counter() - thinking
        if answers.size != len(places):
            raise EtudeError(
                f"the policy gave {answers.size} answers; the trial asks {len(asked)} questions"
                if contract.whole
                else f"the policy gave {answers.size} numbers; an answer is one: 0 for silence, or the number of a choice"
            )
        for k, number in zip(places, answers.tolist(), strict=True):
            given[k] = chosen(number, trial.choices)
        right = [given[k] == trial.answers[k] for k in places if k in asked]
        yield PlayedStep(places[-1] + 1, seen, answers, float(total(right)), {"asked": len(right), "right": right.count(True)})
    remarks: object = called("policy", getattr, policy, "remarks") if called("policy", isinstance, policy, RemarkingPolicy) else ()
    if isinstance(remarks, str) or not isinstance(remarks, Sequence) or not all(isinstance(remark, str) for remark in remarks):
        raise EtudeError(f"the policy's attribute 'remarks' must be a list of texts, one for each answer; got {remarks!r:.60}")
    return replace(score(trial, given, remarks), timings={"seconds": round(time.perf_counter() - begun, 4), "policy": round(spent, 4)})


def score(trial: Trial, given: list[str], remarks: Sequence[str] = ()) -> Record:
    """What became of a trial on whose frames this was said. Every question must be answered rightly, and silence kept elsewhere.

    ``remarks`` are notes on each answer, as a policy may have them.
    """
    asked = [k for k, right in enumerate(trial.answers) if right != SILENT]
    right = [given[k] == trial.answers[k] for k in asked]
    quiet = all(given[k] == SILENT for k in range(len(given)) if k not in asked)
    return Record(
        id=trial.id,
        episode=trial.name,
        mode="vanilla",
        level=trial.level,
        outcome="success" if all(right) and quiet else "failure",
        steps=len(given),
        reward=float(total(right)),
        progress=round(total(right) / len(asked), 6),
        subgoals=_subgoals(trial, given, asked, remarks),
        first_failure=next((f"task.{k}" for k, ok in enumerate(right) if not ok), None if quiet else "silence"),
        cause=None if all(right) and quiet else _cause([given[k] for k in asked], all(right), remarks),
    )


def _cause(said: Sequence[str], right: bool, remarks: Sequence[str]) -> str:
    if any(answer == SILENT and remark for answer, remark in zip(said, remarks, strict=False)):
        return "answer that could not be read"
    if SILENT in said:
        return "no answer"
    return "answer out of turn" if right else "wrong answer"


def chosen(number: float, choices: tuple[str, ...]) -> str:
    """The answer of a number: silence, or a choice."""
    if not 0 <= number <= len(choices) or number != int(number):
        raise EtudeError(f"the policy answered {number:g}; expected 0 for silence, or 1 to {len(choices)} for a choice")
    return SILENT if number == 0 else choices[int(number) - 1]


_SAID = re.compile(r"answer (?P<right>.+?), given (?P<given>.+?)(?: \(.*\))?", re.DOTALL)


def said_and_right(record: Record) -> list[tuple[str, str]]:
    """For each answer of a record: what was said (nothing: :data:`SILENT`), and what would have been right."""
    found = (_SAID.fullmatch(goal.words) for goal in record.subgoals)
    return [(SILENT if one["given"] == NOTHING else one["given"], one["right"]) for one in found if one]


def _subgoals(trial: Trial, given: list[str], asked: list[int], remarks: Sequence[str]) -> tuple[Subgoal, ...]:
    found, tasks = [], {due.placed.end: due.placed.task for due in answers_due(trial)}
    for k, frame in enumerate(asked):
        task = tasks[frame]
        ok = given[frame] == trial.answers[frame]
        words = f"answer {trial.answers[frame]}, given {given[frame] or NOTHING}"
        if k < len(remarks) and remarks[k]:
            words += f" ({remarks[k]})"
        found.append(Subgoal(f"task.{k}", task.root.json_kind, words, ok, float(ok), False, frame if ok else None))
    return tuple(found)
