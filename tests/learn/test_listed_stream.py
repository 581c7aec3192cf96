"""Lists that are played once and kept: every training gets what it would have played, also where its list is shorter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusing import refused, told

from etude.learn.guided_control import plain_guided_source
from etude.learn.keyposes import plain_keypose_source
from etude.learn.listed_plan import GuidedPlan, KeyposePlan, QuestionPlan
from etude.learn.named_recipes import recipe_named
from etude.learn.saved_stream import SavedStream, plan_of, read_plan, save_stream
from etude.learn.subtasks import plain_subtask_source
from etude.names import EtudeError

ONE = {"size": 32, "tasks": ("close_drawer",)}
KEYPOSES, QUESTIONS = (replace(make("himan"), plan="L1", **ONE) for make in (plain_keypose_source, plain_subtask_source))
CONTROL = replace(plain_guided_source("himan"), plan="L1", **ONE)
COUNT = 6


class Kept:
    """A buffer that keeps what it is given."""

    def __init__(self) -> None:
        self.samples = []

    def add(self, samples) -> None:
        self.samples += samples


class _Gappy(KeyposePlan, kind="keyposes"):
    """The oracle solves none of the first file's episodes."""

    def packed(self, number):
        if number < self.shard:
            raise EtudeError(f"{self.source.name(number)}: the oracle does not solve it")
        return super().packed(number)


def read(folder, source, *part):
    stream, buffer = SavedStream(folder, source, *part), Kept()
    while not stream.ended:
        stream.fill(buffer, 10.0)
    return buffer.samples


def same(one, other):
    return all(np.array_equal(getattr(one, name), value) for name, value in vars(other).items())


@pytest.mark.parametrize(("source", "kind"), [(KEYPOSES, KeyposePlan), (QUESTIONS, QuestionPlan), (CONTROL, GuidedPlan)])
def test_it_gives_what_the_source_itself_would_in_its_order(source, kind, tmp_path):
    plan = plan_of([source], COUNT)
    assert isinstance(plan, kind) and save_stream(plan, tmp_path / "s", 1) == 0 and read_plan(tmp_path / "s") == plan
    found = read(tmp_path / "s", source)
    assert len(found) == COUNT
    for number in (0, COUNT - 1):
        assert same(found[number], source.unpacked(source.packed(number)))
    halves = [read(tmp_path / "s", source, k, 2) for k in range(2)]
    assert [len(half) for half in halves] == [3, 3] and same(halves[1][0], found[1])


def test_a_file_without_any_demonstration_is_empty_and_the_stream_goes_on(tmp_path):
    folder, told = tmp_path / "s", []
    assert save_stream(_Gappy(KEYPOSES, COUNT), folder, 1, lambda done, of: told.append((done, of))) == _Gappy.shard
    assert told == [(0, 2), (1, 2), (2, 2)]
    found = read(folder, KEYPOSES)
    assert len(found) == COUNT - _Gappy.shard and same(found[0], KEYPOSES.unpacked(KEYPOSES.packed(_Gappy.shard)))
    assert [len(read(folder, KEYPOSES, k, 2)) for k in range(2)] == [1, 1]


def test_a_stream_without_any_demonstration_is_refused_and_played_anew_when_that_is_mended(tmp_path):
    folder = tmp_path / "s"
    with pytest.raises(EtudeError, match=r"none of 4 episodes has a demonstration; the last: himan/.*: the oracle does not solve it"):
        save_stream(_Gappy(KEYPOSES, _Gappy.shard), folder, 1)
    assert not list(folder.glob("*.demos"))
    assert save_stream(KeyposePlan(KEYPOSES, _Gappy.shard), folder, 1) == 0 and len(read(folder, KEYPOSES)) == _Gappy.shard


def test_a_list_serves_those_whose_episodes_are_among_its_own(tmp_path):
    wide = replace(KEYPOSES, plan="L2")
    plan = plan_of([KEYPOSES, wide], 2000)
    assert plan.source == wide and plan.episodes == wide.count > KEYPOSES.count
    assert save_stream(plan, tmp_path / "s", 2) == 0
    found, all_there = read(tmp_path / "s", KEYPOSES), read(tmp_path / "s", wide)
    assert (len(found), len(all_there)) == (KEYPOSES.count, wide.count)
    assert all(same(found[k], KEYPOSES.unpacked(KEYPOSES.packed(k))) for k in (0, 7, KEYPOSES.count - 1))


def test_all_levels_and_policies_of_a_paper_share_what_is_played():
    for recipe, kind in (("heatmaps", KeyposePlan), ("points", KeyposePlan), ("chunks", GuidedPlan), ("planner", QuestionPlan)):
        sources = [recipe_named(f"himan/{recipe}", (f"data.source.plan={level}",)).data.source for level in ("L1", "L2", "L3", "L4")]
        plan = plan_of(sources, 2000)
        assert isinstance(plan, kind) and plan.episodes == 368 and not any(plan.difference(one) for one in sources)


def test_what_is_not_there_gets_one_line(tmp_path):
    save_stream(plan_of([KEYPOSES], 1), tmp_path / "s", 1)
    for source, said in (
        (replace(KEYPOSES, plan="L2"), "data.source.plan is 'L1', not 'L2'"),
        (replace(KEYPOSES, tasks=("open_drawer",)), "data.source.tasks"),
        (replace(KEYPOSES, size=64), "data.source.size is 32, not 64"),
        (QUESTIONS, "they are keyposes"),
    ):
        with pytest.raises(EtudeError, match="holds no demonstrations of this recipe") as refusal:
            SavedStream(tmp_path / "s", source)
        assert said in str(refusal.value)
    with pytest.raises(EtudeError, match="from 1 to 20 episodes of this source, got 21"):
        KeyposePlan(KEYPOSES, 21)


def test_the_command_saves_what_a_recipe_learns_from(tmp_path, capsys, monkeypatch):
    typed = ["stream", "himan", "--recipe", "planner", "--set", "tasks=close_drawer", "--set", "size=64", "--workers", "1"]
    text = told(capsys, monkeypatch, *typed, "--episodes", "2", "--out", str(tmp_path / "s"))
    assert "2 demonstrations in" in text and "etude train himan/planner --stream" in text
    assert read_plan(tmp_path / "s").episodes == 2
    assert "no --look" in refused(capsys, monkeypatch, *typed, "--look", "frames", "--out", str(tmp_path / "t"))
    endless = ["stream", "etudes", "--recipe", "planner", "--out", str(tmp_path / "t")]
    assert "say --episodes N" in refused(capsys, monkeypatch, *endless)
