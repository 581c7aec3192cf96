"""Decisions in Inspect AI: the same prompts and the same reading of answers as everywhere else."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import Server, said, serving

from etude.evaluation.decide import decide
from etude.library import trial
from etude.names import EtudeError
from etude.policies.chat_decider import chat_decider

if importlib.util.find_spec("inspect_ai") is None:
    pytest.skip("inspect_ai (extra 'inspect') is not installed", allow_module_level=True)


def iwisdm(*arguments: Any, **named: Any) -> Any:
    """The task for Inspect, which takes seconds to be imported: that is for those who play it, not for all who collect tests."""
    from etude.suites.iwisdm import inspect_tasks

    return inspect_tasks.iwisdm(*arguments, **named)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(monkeypatch) as found:
        yield found


def as_sent(content: Any) -> list[dict[str, Any]]:
    """Inspect's content in the form of the chat protocol."""
    return [
        {"type": "text", "text": part.text}
        if part.type == "text"
        else {"type": "image_url", "image_url": {"url": part.image, "detail": part.detail}}
        for part in content
    ]


def evaluated(task: Any, answers: list[str], folder: Path) -> Any:
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    outputs = [ModelOutput.from_content("mockllm/model", text) for text in answers]
    for output in outputs:
        output.usage = ModelUsage()  # otherwise tokens are counted, with a tokenizer from the network
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = inspect_ai.eval(task, model=model, display="none", log_dir=str(folder), max_connections=1, max_samples=1)
    assert log.status == "success", log.error
    return log


def figures(log: Any) -> dict[str, float]:
    return {score.name: score.metrics["mean"].value for score in log.results.scores}


@pytest.mark.parametrize("name", ["iwisdm/high@val#2", "iwisdm/one_back@val#1"])
@pytest.mark.parametrize("examples", [False, True])
def test_a_model_is_asked_the_same_by_inspect_and_by_evaluate(server: Server, name: str, examples: bool) -> None:
    made = trial(name)
    server.replies = [said("true")]
    decide(chat_decider(f"chat:m@{server.base}?examples={str(examples).lower()}"), made)
    parsed = made.parsed
    asked = iwisdm(parsed.task, parsed.split, limit=1, first_seed=parsed.seed, examples=examples).dataset
    ours = [body["messages"] for _, _, body in server.requests]
    assert len(asked) == len(ours) == sum(a != "" for a in made.answers)
    for sample, messages in zip(asked, ours, strict=True):
        assert [{"role": m.role, "content": as_sent(m.content)} for m in sample.input] == messages


def test_targets_are_the_right_answers_and_ids_differ() -> None:
    from etude.suites.iwisdm.inspect_tasks import samples

    found = list(iwisdm("one_back", limit=3, size=32).dataset)
    right = [a for seed in range(3) for a in trial(f"iwisdm/one_back@val#{seed}").answers if a]
    assert [sample.target for sample in found] == right
    assert len({sample.id for sample in found}) == len(found) == 12
    (single,) = samples(trial("iwisdm/low@val#0"), 32)
    assert single.id == trial("iwisdm/low@val#0").id
    assert single.metadata["chance"] == 0.5


def test_both_readings_and_what_cannot_be_read_are_reported(tmp_path: Path) -> None:
    right = [trial(f"iwisdm/low@val#{seed}").answers[-1] for seed in range(4)]
    wrong = {"true": "false", "false": "true"}
    answers = [right[0], f"I believe the answer is {right[1]}.", wrong[right[2]], "I cannot tell"]
    log = evaluated(iwisdm("low", limit=4, size=32), answers, tmp_path)
    assert figures(log) == {"lenient": 0.5, "strict": 0.25, "unparsed": 0.25}


def test_right_answers_score_one_and_the_log_says_what_was_played(tmp_path: Path) -> None:
    right = [a for seed in range(2) for a in trial(f"iwisdm/one_back@val#{seed}").answers if a]
    log = evaluated(iwisdm("one_back", limit=2, size=32), right, tmp_path)
    assert figures(log) == {"lenient": 1.0, "strict": 1.0, "unparsed": 0.0}
    assert log.eval.task_args["level"] == "one_back"
    assert {s.metadata["trial"] for s in log.samples} == {"iwisdm/one_back@val#0", "iwisdm/one_back@val#1"}


def test_a_wrong_level_is_named() -> None:
    with pytest.raises(EtudeError, match="unknown task of iwisdm 'hihg'; did you mean 'high'"):
        iwisdm("hihg")
