"""Shuffled object slots: one order for all views, anew at every step, and nothing else of the episode touched."""

from __future__ import annotations

from dataclasses import replace

import gymnasium
import numpy as np
import pytest

import etude  # noqa: F401  (registers the environments)
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.library import episode
from etude.names import EtudeError
from etude.perturb.objects import permute_objects
from etude.perturb.perturbation import PHASES, known_perturbations, observed, plausible
from etude.policies.contract import Contract, refuse_mismatches

PLAIN = "vima/visual_manipulation@train#1?difficulty=distracting"
SHUFFLED = "vima/visual_manipulation@train#1+permute_objects?difficulty=distracting"
KEYS = ("objects_crops", "objects_boxes", "objects_mask")


def observers(*names):
    return [Observer(Simulation(episode(name)), ("front", "top"), (256, 128), ("rgb", "objects")) for name in names]


def made(mask, count=6):
    """An observation in which the contents of slot k say k."""
    label = np.broadcast_to(np.arange(count)[None, :, None], (len(mask), count, 4))
    crops = np.broadcast_to(np.arange(count, dtype=np.uint8)[None, :, None, None, None], (len(mask), count, 32, 32, 3))
    return {"objects_crops": crops, "objects_boxes": label, "objects_mask": np.array(mask, bool), "objects_names": tuple("abcdef"[:count])}


def test_the_episode_is_the_control_episode_but_for_its_name():
    plain, shuffled = episode(PLAIN), episode(SHUFFLED)
    assert replace(shuffled, name=plain.name) == plain
    assert shuffled.scene == plain.scene and shuffled.goal == plain.goal and shuffled.instruction == plain.instruction


def test_it_is_a_plausible_perturbation_of_the_last_stage():
    one = known_perturbations()["permute_objects"]
    assert one.phase == PHASES[-1] == "observation" and plausible(["permute_objects"])
    assert one.summary == "Shuffle the slots of the objects anew at every step."


def test_all_views_and_all_of_a_slot_move_by_the_same_order():
    control, changed = observers(PLAIN, SHUFFLED)
    before, after = control.look(), changed.look()
    assert before.keys() == after.keys() and "objects_names" not in after
    names = control.objects
    assert sorted(changed.objects) == sorted(names) and changed.objects != names
    order = [names.index(name) for name in changed.objects] + list(range(len(names), before["objects_mask"].shape[1]))
    for key in KEYS:
        assert np.array_equal(after[key], before[key][:, order])
    for key in before.keys() - set(KEYS):
        assert np.array_equal(before[key], after[key])


def test_the_order_changes_from_step_to_step_and_not_between_looks():
    (changed,) = observers(SHUFFLED)
    first = changed.look()
    assert all(np.array_equal(first[key], again) for key, again in changed.look().items())
    found = episode(SHUFFLED)
    orders = {permute_objects(made([[True] * 6] * 2), found, step)["objects_names"] for step in range(40)}
    assert len(orders) > 30


def test_every_order_comes_about_equally_often():
    counts, found, plain = np.zeros((3, 3), int), episode(SHUFFLED), made([[True] * 3], 3)
    for step in range(600):
        boxes = permute_objects(plain, found, step)["objects_boxes"][0, :, 0]
        counts[np.arange(3), boxes] += 1
    assert counts.min() > 150 and counts.max() < 250  # 200 expected


def test_only_slots_that_some_view_sees_are_moved():
    mask = [[True, False, False, True, True, False], [False, False, True, True, True, False]]
    found = episode(SHUFFLED)
    for step in range(20):
        after = permute_objects(made(mask), found, step)
        order = after["objects_boxes"][0, :, 0].tolist()
        assert order[1] == 1 and order[5] == 5 and sorted(order) == list(range(6))
        assert after["objects_mask"].tolist() == [[row[k] for k in order] for row in mask]
        assert after["objects_crops"][1, :, 0, 0, 0].tolist() == order and after["objects_names"] == tuple("abcdef"[k] for k in order)


def test_the_order_depends_on_base_name_and_step_only():
    plain = made([[True] * 6] * 2)
    found = episode(SHUFFLED)
    more = episode("vima/visual_manipulation@train#1+light_color+permute_objects")
    other = replace(found, name=found.name.replace("#1", "#2"))
    assert observed(plain, found, 3)["objects_names"] == observed(plain, more, 3)["objects_names"]
    assert observed(plain, found, 3)["objects_names"] != observed(plain, other, 3)["objects_names"]
    assert observed(plain, episode(PLAIN), 3) is plain


def test_an_observation_without_objects_is_left_alone():
    plain = {"front": np.zeros((4, 4, 3), np.uint8)}
    assert observed(plain, episode(SHUFFLED), 0) is plain


def test_environments_shuffle_and_say_whose_slots_they_are():
    env = gymnasium.make("etude/vima.visual_manipulation-v1", size=(256, 128), modalities=("objects", "segmentation"))
    seen, info = env.reset(options={"episode": SHUFFLED})
    ids = env.unwrapped.simulation.world.segmentation_ids()
    for k, name in enumerate(info["objects"]):
        rows, columns = np.nonzero(seen["top_segmentation"] == ids[name])
        assert seen["objects_boxes"][0, k].tolist()[2:] == [np.ptp(rows), np.ptp(columns)]
    _, control = env.reset(options={"episode": PLAIN})
    assert control["objects"] != info["objects"]


def test_who_sees_no_objects_is_refused_in_one_line():
    env = gymnasium.make("etude/vima.visual_manipulation-v1", size=(64, 32))
    with pytest.raises(EtudeError, match="permute_objects shows in the modality 'objects', the modalities are 'rgb'") as error:
        env.reset(options={"episode": SHUFFLED})
    assert "\n" not in str(error.value)
    with pytest.raises(EtudeError, match="do not fit: perturbation: permute_objects shows in the modality 'objects'"):
        refuse_mismatches(Contract(modalities=("rgb", "depth")), [episode(PLAIN), episode(SHUFFLED)])
    refuse_mismatches(Contract(modalities=("objects",), cameras=("front", "top")), [episode(PLAIN), episode(SHUFFLED)])
