"""Streams of demonstrations: fixed by their seed, and for training alone."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import replace

import numpy as np
import pytest
from toys import SOURCE, demonstrations

from etude.learn.demonstrating import Recovery, demonstrate
from etude.learn.packing import packed, unpacked
from etude.learn.samples import BLANK, OBJECT, SCENE, WORD, action_of, numbers_of, patches, prompt
from etude.learn.stream import SampleStream, Source
from etude.library import episode
from etude.names import EpisodeName, EtudeError


def test_two_processes_deliver_what_one_plays_in_the_same_order():
    with SampleStream(SOURCE, 2) as stream:
        arrived = list(itertools.islice(stream, 5))
    for (number, name, one), (number_here, name_here, one_here) in zip(arrived, demonstrations(), strict=False):
        assert (number, name) == (number_here, name_here)
        assert packed(one) == packed(one_here)


def test_a_stream_begins_where_it_is_told_to_and_takes_every_so_manieth():
    with SampleStream(SOURCE, 1, first=3, stride=2) as stream:
        found = list(itertools.islice(stream, 2))
        assert stream.next >= 7
    assert [one[:2] for one in found] == [demonstrations()[k][:2] for k in (3, 5)]


def test_no_name_comes_twice_and_none_is_for_testing():
    names = [source.name(k) for source in (SOURCE, replace(SOURCE, seed=4)) for k in range(500)]
    assert len(set(names)) == 1000
    assert {EpisodeName.parse(name).split for name in names} == {"train"}


def test_all_training_tasks_take_part_and_weights_make_some_more_frequent():
    tasks = [EpisodeName.parse(Source("vima", weights=(("twist", 5.0),)).name(k)).task for k in range(600)]
    assert len(set(tasks)) == 13
    assert tasks.count("twist") > 3 * tasks.count("rotate")


@pytest.mark.parametrize("split", ["L1", "L4", "test"])
def test_a_split_that_is_for_testing_is_refused(split):
    with pytest.raises(EtudeError, match="for testing"):
        Source("vima", split=split)
    if split != "test":
        with pytest.raises(EtudeError, match="for testing"):
            demonstrate(f"vima/{'rotate' if split == 'L1' else 'follow_motion'}@{split}#0", "objects")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"suite": "vimma"}, "vima"),
        ({"tasks": ("rotat",)}, "rotate"),
        ({"tasks": ("follow_motion",)}, "follow_motion"),
        ({"weights": (("twits", 2.0),)}, "twist"),
        ({"weights": (("twist", 0.0),)}, "positive"),
        ({"look": "pixels"}, "patches"),
        ({"seed": -1}, "seed"),
        ({"recovery": None}, "share"),
        ({"recovery": {"ways": ("trun",)}}, "turn"),
        ({"recovery": {"ways": ()}}, "at least one way"),
    ],
)
def test_a_wrong_source_gets_one_line(wrong, said):
    with pytest.raises(EtudeError, match=said) as refusal:
        if "recovery" in wrong:
            Recovery(**(wrong["recovery"] or {"share": 1.5}))
        Source(**{"suite": "vima", **wrong})
    assert "\n" not in str(refusal.value)


def test_demonstrations_survive_packing():
    _, _, one = demonstrations()[0]
    again = unpacked(packed(one))
    assert np.array_equal(again.prompt.things.crops, one.prompt.things.crops)
    assert np.array_equal(again.labels, one.labels) and len(again.seen) == len(one.seen)


def test_the_label_of_a_rotation_is_what_the_words_say():
    _, name, one = demonstrations()[0]
    degrees = int(episode(name).instruction.text.split()[-2])
    assert np.degrees(one.labels[0, 4]) == pytest.approx(-degrees, abs=0.5)


def test_what_misses_on_purpose_is_carried_out_but_not_learned():
    name = "vima/visual_manipulation@train#5"
    calm, shaken = demonstrate(name, "objects"), demonstrate(name, "objects", Recovery(1.0, 0.1))
    assert np.array_equal(calm.labels[0], shaken.labels[0])
    assert not np.array_equal(shaken.done[0], shaken.labels[0])
    assert len(shaken.seen) > len(calm.seen)


@pytest.mark.parametrize(("way", "name"), [("turn", "vima/twist@train#0"), ("thing", "vima/rearrange@train#0")])
def test_a_first_stroke_that_turns_otherwise_or_takes_another_thing_is_mended(way, name):
    calm, wrong = demonstrate(name, "objects"), demonstrate(name, "objects", Recovery(1.0, ways=(way,)))
    assert np.array_equal(calm.labels[0], wrong.labels[0]) and len(wrong.seen) > len(calm.seen)
    differing = wrong.done[0] != wrong.labels[0]
    assert differing.tolist() == ([False] * 4 + [True] if way == "turn" else [True, True, False, False, False])
    assert np.array_equal(wrong.done[1:], wrong.labels[1:])


def test_patches_are_cells_of_views_at_half_size():
    view = np.random.default_rng(0).integers(0, 256, (128, 256, 3), np.uint8)
    found = patches([view, view[::-1]])
    assert found.crops.shape == (8, 2, 32, 32, 3) and found.mask.all()
    assert found.boxes[5, 0].tolist() == [96, 96, 63, 63]  # the second of the lower row: its middle and its sides
    assert found.crops[5, 0, 0, 1].tolist() == [(int(p.sum()) + 2) // 4 for p in view[64:66, 66:68].reshape(4, 3).astype(int).T]
    with pytest.raises(EtudeError, match="multiples of 64"):
        patches([view[:96]])


def test_pictures_of_a_prompt_stand_where_the_text_has_them():
    _, _, one = demonstrations()[0]
    told = prompt("Put {image:0} on, {image:1}", [(OBJECT, one.prompt.things), (SCENE, patches([np.zeros((128, 128, 3), np.uint8)] * 2))])
    assert told.kinds.tolist() == [WORD, OBJECT, WORD, WORD] + [SCENE] * 4
    assert told.places.tolist() == [0, 1, 2, 3, 4, 4, 4, 4]
    assert prompt("{image:0}", [(SCENE, patches([np.zeros((0, 128, 3), np.uint8)] * 2))]).kinds.tolist() == [BLANK]
    with pytest.raises(EtudeError, match="picture 2"):
        prompt("{image:2}", [])


def test_actions_come_back_from_their_numbers():
    numbers = [0.3, -0.2, 0.5, 0.4, -2.0]
    assert numbers_of(action_of(numbers)) == pytest.approx(numbers)


def test_words_of_our_own_are_those_of_the_first_checkpoints():
    told = demonstrate("vima/rearrange_then_restore@train#0", "objects").prompt
    digest = hashlib.sha256(b"".join(array.tobytes() for array in (told.kinds, told.words, told.places, told.rows))).hexdigest()[:16]
    assert digest == "a108273bf13e03b9"
