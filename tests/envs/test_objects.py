"""Object-centric observations: the cut, its exact resizing, and slots that stay with their objects."""

from __future__ import annotations

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import etude  # noqa: F401  (registers the environments)
from etude.envs.observer import SLOTS, Observer
from etude.envs.simulation import Simulation
from etude.library import episode
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.pose import Pose
from etude.render.picture import Picture
from etude.render.tokens import tokens
from etude.scene.scene import Body

CROWDED = "vima/visual_manipulation@train#1?difficulty=distracting"
VIMA = "etude/vima.visual_manipulation-v1"
SETTINGS = {"cameras": ("front", "top"), "size": (256, 128), "modalities": ("rgb", "segmentation", "objects")}


def reference(rgb, segmentation, number):
    """The cut in plain words: every pixel of the padded square is repeated 32 times each way, and blocks are averaged."""
    rows, columns = np.nonzero(segmentation == number)
    if len(rows) < 2:
        return np.zeros((32, 32, 3), np.uint8), [0, 0, 0, 0], False
    top, bottom, left, right = rows.min(), rows.max(), columns.min(), columns.max()
    crop = rgb[top : bottom + 1, left : right + 1]
    side = max(crop.shape[:2])
    above, before = (side - crop.shape[0]) // 2, (side - crop.shape[1]) // 2
    square = np.zeros((side, side, 3), np.int64)
    square[above : above + crop.shape[0], before : before + crop.shape[1]] = crop
    sums = square.repeat(32, 0).repeat(32, 1).reshape(32, side, 32, side, 3).sum((1, 3))
    mean = np.floor(sums / side**2 + 0.5).astype(np.uint8)
    return mean, [int((left + right) / 2), int((top + bottom) / 2), bottom - top, right - left], True


def assert_as_reference(found, v, k, rgb, segmentation, number):
    crop, box, seen = reference(rgb, segmentation, number)
    assert found.mask[v, k] == seen and found.boxes[v, k].tolist() == box
    assert np.array_equal(found.crops[v, k], crop)


def noise(height, width, seed):
    random = np.random.default_rng(seed)
    rgb = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Picture(rgb, np.zeros((height, width), np.float32), np.zeros((height, width), np.uint16))


@pytest.mark.parametrize(
    ("top", "left", "height", "width"),
    [
        (0, 0, 32, 32), (3, 5, 20, 7), (2, 1, 7, 20), (10, 10, 1, 2), (0, 0, 1, 63), (4, 0, 44, 33), (0, 0, 64, 96), (5, 3, 31, 33),
        (1, 1, 45, 64),
    ],
)  # fmt: skip
def test_boxes_are_cut_padded_and_resized_as_the_reference_does(top, left, height, width):
    picture = noise(64, 96, height)
    picture.segmentation[top : top + height, left : left + width] = 9
    found = tokens([picture], [9])
    assert_as_reference(found, 0, 0, picture.rgb, picture.segmentation, 9)


def test_what_is_32_pixels_square_stays_as_it_is():
    picture = noise(40, 40, 0)
    picture.segmentation[4:36, 8:40] = 8
    found = tokens([picture], [8])
    assert np.array_equal(found.crops[0, 0], picture.rgb[4:36, 8:40]) and found.boxes[0, 0].tolist() == [23, 19, 31, 31]


def test_one_pixel_is_not_enough_and_two_are():
    picture = noise(16, 16, 1)
    picture.segmentation[3, 4] = 8
    picture.segmentation[9, 9] = picture.segmentation[12, 7] = 9
    found = tokens([picture], [8, 9, 400])
    assert found.mask.tolist() == [[False, True, False]] and not found.crops[0, [0, 2]].any() and not found.boxes[0, [0, 2]].any()
    assert found.boxes[0, 1].tolist() == [8, 10, 3, 2]
    assert_as_reference(found, 0, 1, picture.rgb, picture.segmentation, 9)


def test_more_objects_than_slots_are_refused():
    assert tokens([], [], 3).mask.shape == (0, 3)
    with pytest.raises(EtudeError, match="2 objects do not fit into 1 slots"):
        tokens([noise(8, 8, 0)], [8, 9], 1)


def test_the_environment_gives_what_the_reference_cuts_out_of_its_pictures():
    env = gymnasium.make(VIMA, **SETTINGS)
    seen, info = env.reset(options={"episode": CROWDED})
    ids = env.unwrapped.simulation.world.segmentation_ids()
    assert seen["objects_crops"].shape == (2, SLOTS, 32, 32, 3) and seen["objects_mask"].dtype == np.bool_
    assert info["objects"] == tuple(e.name for e in episode(CROWDED).scene.entities)
    for v, camera in enumerate(SETTINGS["cameras"]):
        for k, name in enumerate(info["objects"]):
            crop, box, visible = reference(seen[camera], seen[f"{camera}_segmentation"], ids[name])
            assert visible and seen["objects_mask"][v, k]
            assert np.array_equal(seen["objects_crops"][v, k], crop) and seen["objects_boxes"][v, k].tolist() == box
    rest = np.s_[:, len(info["objects"]) :]
    assert not any(seen[f"objects_{what}"][rest].any() for what in ("crops", "boxes", "mask"))


def test_the_environment_passes_gymnasiums_own_check():
    env = gymnasium.make(VIMA, size=(64, 32), modalities=("rgb", "objects"), disable_env_checker=True)
    check_env(env.unwrapped, skip_render_check=True)
    assert env.observation_space.contains(env.unwrapped.reset(seed=3)[0])
    assert set(env.observation_space) == {
        "top", "front", "objects_crops", "objects_boxes", "objects_mask", "proprioception", "instruction",
    }  # fmt: skip


def test_objects_alone_come_without_pictures():
    env = gymnasium.make(VIMA, cameras=("front",), modalities=("objects",))
    seen, _ = env.reset(seed=0)
    assert "front" not in seen and seen["objects_mask"].shape == (1, SLOTS) and seen["objects_mask"].any()


def test_the_same_seed_gives_the_same_objects():
    one, other = (gymnasium.make(VIMA, **SETTINGS) for _ in range(2))
    other.reset(seed=4)
    first, second = one.reset(seed=5)[0], other.reset(seed=5)[0]
    assert all(np.array_equal(first[key], second[key]) for key in first)


def covered(*, hidden):
    """An episode with a coin on the table, and a lid that floats above it or beside it; the things of the task stand in a row behind."""
    base = episode("vima/visual_manipulation@train#1")
    small = Body("coin", "disc", "vima/red", Pose.flat(0.6, 0.0, 0.0051), (0.03, 0.03, 0.01), fixed=True)
    high = Body("lid", "block", "granite", Pose.flat(0.6, 0.0 if hidden else 0.3, 0.08), (0.09, 0.09, 0.02), fixed=True)
    row = [replace(e, pose=Pose.flat(0.33, 0.35 * (k - 1), e.pose.position[2])) for k, e in enumerate(base.scene.entities)]
    return replace(base, scene=replace(base.scene, entities=(small, row[0], high, *row[1:])))


def test_a_slot_is_one_object_whatever_hides_it():
    looks = []
    for hidden in (False, True):
        observer = Observer(Simulation(covered(hidden=hidden)), ("front", "top"), (256, 128), ("objects",))
        looks.append(observer.look())
        assert observer.objects[0] == "coin" and observer.objects[2] == "lid"
    clear, hiding = (look["objects_mask"] for look in looks)
    count = len(observer.objects)
    assert clear[:, :count].all()
    assert hiding[:, 0].tolist() == [True, False]  # the top view lost it, the front view looks under the lid
    assert hiding[:, 1:count].all()
    still = [k for k in range(count) if k not in (0, 2)]
    assert np.array_equal(*(look["objects_boxes"][:, still] for look in looks))


def test_a_slot_is_one_object_from_step_to_step():
    env = gymnasium.make(VIMA, **SETTINGS)
    _, before = env.reset(options={"episode": CROWDED})
    ids = env.unwrapped.simulation.world.segmentation_ids()
    pick, place = (episode(CROWDED).scene.entities[k].pose.position[:2] for k in (1, 0))
    seen, *_, after = env.step(np.array([*pick, 1, 0, 0, 0, *place, 1, 0, 0, 0], np.float32))
    assert before["objects"] == after["objects"]
    for k, name in enumerate(after["objects"]):
        box = reference(seen["top"], seen["top_segmentation"], ids[name])[1]
        assert seen["objects_boxes"][1, k].tolist() == box


def test_markers_have_no_slot_and_mechanisms_have_one():
    trace = Observer(Simulation(episode("clevrskills/trace@train#0")), ("base",), (64, 64), ("objects",))
    trace.look()
    assert len(trace.objects) == 1
    seesaw = Observer(Simulation(episode("clevrskills/balance@train#0")), ("base",), (64, 64), ("objects",))
    assert seesaw.look()["objects_mask"][0, seesaw.objects.index("scale")]


def test_a_table_too_full_is_refused():
    base = episode("vima/visual_manipulation@train#1")
    places = [Pose.flat(0.3 + 0.05 * (k % 5), 0.6 + 0.05 * (k // 5), 0.3) for k in range(25)]
    beads = [Body(f"bead {k}", "block", "granite", place, (0.02, 0.02, 0.02), fixed=True) for k, place in enumerate(places)]
    full = replace(base, scene=replace(base.scene, entities=(*base.scene.entities, *beads)))
    with pytest.raises(EtudeError, match=f"has 28 objects; the modality 'objects' has room for {SLOTS}"):
        Observer(Simulation(full), ("front",), (64, 32), ("objects",)).look()


def test_contracts_may_ask_for_objects():
    assert Contract(modalities=("rgb", "objects")).modalities == ("rgb", "objects")
    with pytest.raises(EtudeError, match="unknown modality 'object'; did you mean 'objects'"):
        Contract(modalities=("object",))
