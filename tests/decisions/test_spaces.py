"""Tasks of one's own by name, and one trial in several forms: with other delays, with distractors."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from refusing import refused
from typer.testing import CliRunner

from etude import cli
from etude.decisions.graph import DecisionGraph, operators
from etude.decisions.logic import Switch
from etude.decisions.looks import Get, IsSame, Select
from etude.decisions.meaning import answer
from etude.decisions.showing import space_of, told
from etude.decisions.trial import Trial
from etude.library import trial
from etude.names import EtudeError

SPACE = space_of("procedural")


def things(one: Trial) -> list[object]:
    return [thing for frame in one.frames for thing in frame if not thing.distractor]


def checked(one: Trial) -> None:
    """Every answer that is due is what evaluating its graph gives."""
    for placed in one.tasks:
        if one.answers[placed.end] and placed.after is None:
            assert answer(placed.task, one.frames, SPACE, placed.start) == one.answers[placed.end]


@pytest.mark.parametrize(
    "name", ["match_to_sample_category", "low", "high", "two_back", "samples_abbcca", "condition", "memory_category_report"]
)
def test_a_delay_is_all_that_differs_between_forms_of_a_trial(name: str) -> None:
    for seed in range(4):
        plain = trial(f"iwisdm/{name}@val#{seed}")
        for delay in (0, 1, 3, 8):
            one = trial(f"iwisdm/{name}@val#{seed}?delay={delay}")
            checked(one)
            assert sum(not frame and not said for frame, said in zip(one.frames, one.answers, strict=True)) == delay
            assert things(one) == things(plain) and one.choices == plain.choices
            assert [a for a in one.answers if a] == [a for a in plain.answers if a]
            assert one.name.endswith(f"?delay={delay}") and one.id != plain.id


def test_delays_come_between_the_sample_and_the_test() -> None:
    one = trial("iwisdm/match_to_sample_location@val#3?delay=5")
    assert [bool(frame) for frame in one.frames] == [True, *[False] * 5, True]
    assert told(one).count("delay") == told(trial("iwisdm/match_to_sample_location@val#3?delay=1")).count("delay") * 5


def test_distractors_stand_beside_objects_and_change_no_answer() -> None:
    for count in (1, 3):
        for seed in range(6):
            one, plain = trial(f"iwisdm/low_location@val#{seed}?distractors={count}"), trial(f"iwisdm/low_location@val#{seed}")
            checked(one)
            assert one.answers == plain.answers and things(one) == things(plain)
            assert {len(frame) for frame in one.frames if frame} == {count + 1}


def test_forms_combine() -> None:
    one = trial("iwisdm/match_to_sample_category@val#1?delay=2&distractors=2")
    assert [len(frame) for frame in one.frames] == [3, 0, 0, 3] and {prop for _, prop in one.named} == {"location"}


def test_a_space_of_tasks_is_spanned_by_the_options_of_a_name() -> None:
    for seed in range(12):
        one = trial(f"iwisdm/auto@val#{seed}?switch=1&depth=4&operators=IsSame,Or&joins=1&properties=category&frames=7")
        root = one.tasks[0].task.root
        counts = operators(root)
        checked(one)
        assert isinstance(root, Switch) and len(one.frames) == 7
        assert counts["Or"] == 1 and not {"And", "NotSame"} & counts.keys()
    said = [trial(f"iwisdm/auto@val#{seed}?operators=Count,Xor,IsSame").answers[-1] for seed in range(20)]
    assert {"true", "false"} < set(said)


def test_a_graph_of_ones_own_is_asked_from_a_file(tmp_path: Path) -> None:
    task = DecisionGraph(IsSame(Get("category", Select(3)), Get("category", Select(0))), 4)
    (tmp_path / "task.json").write_text(task.to_json())
    said = set()
    for seed in range(6):
        one = trial(f"iwisdm/auto@val#{seed}?graph={quote(str(tmp_path / 'task.json'), safe='')}")
        checked(one)
        said.add(one.answers[-1])
        assert one.tasks[0].task == task
    assert said == {"true", "false"}
    (tmp_path / "task.txt").write_text(told(one))
    assert trial(f"iwisdm/auto@val#2?graph={quote(str(tmp_path / 'task.txt'), safe='')}").tasks[0].task == task


def test_commands_take_a_graph_and_options(tmp_path: Path) -> None:
    (tmp_path / "task.txt").write_text("observe object 1, delay, observe object 2, category of object 1 equals category of object 2?")
    arguments = ["export", "--suite", "iwisdm", "--split", "val", "--episodes", "2", "--size", "16", "--option", "delay=3"]
    done = CliRunner().invoke(cli.app, [*arguments, "--graph", str(tmp_path / "task.txt"), "--out", str(tmp_path / "set")])
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (tmp_path / "set" / "trials.jsonl").read_text().splitlines()]
    assert [(row["task"], row["n_frames"], row["n_delays"]) for row in rows] == [("auto", 5, 3)] * 2
    assert {row["answer"] for row in rows} == {"true", "false"}
    assert all((tmp_path / "set" / path).is_file() for row in rows for path in row["frames"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("low@val#0?delay=few", "delay=few is not a whole number"),
        ("low@val#0?delay=31", "at most 30 delays"),
        ("single_frame_category@val#0?delay=1", "no room for a delay"),
        ("low@val#0?distractors=4", "room for 1 to 3 distractors, not 4 to 4"),
        ("spatial_attention@val#0?distractors=1", "has distractors of its own"),
        ("low@val#0?switch=1", "unknown option of iwisdm/low 'switch'"),
        ("auto@val#0?operators=IsSme", "did you mean 'IsSame'"),
        ("auto@val#0?switch=9", "at most 3 conditions"),
        ("auto@val#0?graph=none.json", "none.json"),
        ("auto@val#0?graph=none.json&depth=3", "leave out 'depth'"),
        ("low@val#0?stimuli=procedurel", "did you mean 'procedural'"),
        ("low@val#0?prompt=1", "'prompt' does not apply to iwisdm"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(name: str, words: str) -> None:
    with pytest.raises(EtudeError, match=words):
        trial(f"iwisdm/{name}")


def test_a_graph_is_a_task_by_itself(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said = refused(capsys, monkeypatch, "study", "--task", "low", "--person", "ada", "--graph", "task.txt")
    assert "--graph is a task by itself (auto): leave --task low out" in said
