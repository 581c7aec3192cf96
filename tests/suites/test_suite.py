"""A suite is one value: what its splits are for decides what is trained on and what is tested; a name is taken once."""

from __future__ import annotations

import pytest

import etude
from etude.evaluation.choosing import choose
from etude.index import INDEX
from etude.names import EpisodeName, EtudeError
from etude.suites.clevrskills.things import textures
from etude.suites.suite import PURPOSES, SUITES, Suite


def splits_of(names):
    return {(name.suite, name.split) for name in map(EpisodeName.parse, names)}


@pytest.mark.parametrize("name", list(INDEX))
def test_every_split_has_a_purpose_and_every_task_can_be_tested(name):
    suite = SUITES[name]
    assert set(suite.splits.values()) <= set(PURPOSES)
    assert suite.title and suite.tasks
    assert suite.paper or name == "etudes"  # etude's own has none
    for task in suite.tasks.values():
        assert set(task.splits) <= set(suite.splits)
        assert suite.split_of(task, "test") is not None


def test_what_is_evaluated_and_what_is_recorded_share_no_episode_unless_asked():
    suites = list(SUITES)
    tested, trained = choose(suites, episodes=2), choose(suites, episodes=2, purpose="training")
    assert not set(tested) & set(trained)
    purpose = {(s, split): SUITES[s].splits[split] for s in suites for split in SUITES[s].splits}
    assert {purpose[place] for place in splits_of(tested)} == {"test"}
    assert {purpose[place] for place in splits_of(trained)} == {"training"}


def test_tasks_that_are_not_trained_on_are_left_out_of_training_data_and_refused_when_named():
    trained = {EpisodeName.parse(name).task for name in choose("vima", episodes=1, purpose="training")}
    assert len(trained) == 13 and "follow_motion" not in trained
    with pytest.raises(EtudeError, match="vima/follow_motion has no split for training; its splits are L4"):
        choose("vima/follow_motion", episodes=1, purpose="training")


def test_demonstrations_of_what_is_for_testing_are_refused(tmp_path):
    with pytest.raises(EtudeError, match=r"clevrskills/pick@test#0 is for testing.*--allow-test"):
        etude.demos("clevrskills/pick@test", episodes=1, out=tmp_path / "data")


@pytest.mark.parametrize("split", ["val", "test_seen"])
def test_splits_of_the_same_things_draw_other_episodes(split):
    seen = set(textures("train", 1)) | set(textures("train", 2))
    for seed in range(5):
        drawn, trained = (etude.episode(f"clevrskills/sort@{s}#{seed}") for s in (split, "train"))
        assert drawn.scene != trained.scene
        assert {e.texture for e in drawn.scene.entities if hasattr(e, "texture")} <= seen
    assert etude.episode("vima/rearrange@val#0").scene != etude.episode("vima/rearrange@train#0").scene


def test_a_suite_that_cannot_be_is_refused_in_one_line():
    with pytest.raises(EtudeError, match="split 'train' is for 'learning'; expected one of training, validation, test"):
        Suite("mine", "Mine", splits={"train": "learning"})
    with pytest.raises(EtudeError, match="'val' cannot be like 'train'"):
        Suite("mine", "Mine", splits={"val": "validation"}, alike={"val": "train"})
    with pytest.raises(EtudeError, match="is not an episode name"):
        Suite("my suite", "Mine", splits={"test": "test"})
    with pytest.raises(EtudeError, match="has the suite 'vima' already"):
        Suite("vima", "Mine", splits={"test": "test"})
    with pytest.raises(EtudeError, match=r"etude\.suites\.clevrskills\.placing has the task clevrskills/pick already"):
        SUITES["clevrskills"].task("pick")(lambda draw: None)
    with pytest.raises(EtudeError, match="unknown split of clevrskills 'tset'"):
        SUITES["clevrskills"].task("mine", splits=("tset",))(lambda draw: None)
    assert "mine" not in SUITES and "mine" not in SUITES["clevrskills"].tasks
