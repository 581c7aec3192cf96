"""Pictures of an instruction are what cameras would see of the same things in a world, to the last bit, without the world."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from etude.envs.prompt_assets import prompt_assets
from etude.library import episode
from etude.names import EtudeError
from etude.pose import Pose, axis_quat
from etude.prompts.instruction import ObjectPicture, ScenePicture, TexturePicture, Words, instruction
from etude.prompts.pictures import messages, multimodal, part_picture
from etude.prompts.views import NEUTRAL, object_tokens, part_views
from etude.render.studio import Studio
from etude.scene.compile import prototype
from etude.scene.rooms import furnished, rlbench_room, ur5_room
from etude.scene.scene import Area, Body
from etude.scene.visual import FIRST_ENTITY, TABLE
from etude.scene.world import World

ROOM = ur5_room()
CROWDED = episode("vima/visual_manipulation@train#1?difficulty=distracting")
STAR = ObjectPicture("red swirl star", "star", None, "red swirl", 0.1, None, "dragged_obj", "front")


def table(*things):
    return ScenePicture("this scene", camera="front", slot="scene", things=things)


def assert_same(views, studio, size=(256, 128)):
    for camera, picture in views.items():
        taken = studio.shoot(camera, size)
        for what in ("rgb", "depth", "segmentation"):
            assert np.array_equal(getattr(picture, what), getattr(taken, what)), (camera, what)


@pytest.mark.parametrize("size", [(256, 128), (97, 51)])
@pytest.mark.parametrize(
    ("shape", "extents", "texture"),
    [("star", None, "red swirl"), ("bowl", None, "vima/blue"), ("letter R", None, ""), ("block", (0.21, 0.21, 0.21), "checkerboard")],
)
def test_an_object_is_seen_as_it_would_be_without_a_table(shape, extents, texture, size):
    body = Body("it", shape, texture or NEUTRAL, Pose.flat(0.5, 0.0, 0.0, math.pi / 2), extents, 0.1, fixed=True)
    world = World(replace(furnished(ROOM, body), table=None))
    views = part_views(ObjectPicture("it", shape, extents, texture, 0.1, camera="front"), ROOM, size)
    assert list(views) == ["front", "top"] and views["front"].rgb.shape == (size[1], size[0], 3)
    assert_same(views, Studio(world), size)
    for picture in views.values():
        seen = picture.segmentation == FIRST_ENTITY
        assert seen.any() and (picture.rgb[~seen] == 255).all() and not picture.depth[~seen].any()


@pytest.mark.parametrize("name", ["visual_manipulation@train#1", "visual_manipulation@L3#2", "rotate@L1#5"])
def test_a_scene_is_seen_as_its_world_at_the_start(name):
    found = episode(f"vima/{name}?difficulty=distracting")
    assert found.scene.robot is not None and not found.scene.robot.visible
    assert_same(part_views(table(*found.scene.entities), ROOM), Studio(World(found.scene)))


def test_things_in_any_pose_areas_and_moved_things_are_seen_as_in_a_world():
    random = np.random.default_rng(7)
    things = []
    for k, shape in enumerate(["star", "bowl", "pan", "letter A", "ring", "block", "heart", "container", "flower"]):
        pose = Pose.of((0.3 + 0.2 * (k % 3), 0.3 * (k // 3 - 1), 0.2), axis_quat(random.normal(size=3), 2.0 * k))
        things.append(Body(f"{k}", shape, "tiger", pose, (0.1, 0.12, 0.03), fixed=k % 2 == 0))
    things.append(Area("zone", "square", "vima/green", Pose.flat(0.5, 0.1)))
    elsewhere = Pose.flat(0.4, 0.15, 0.1, 1.0)
    moved = replace(table(*things), poses=(("3", elsewhere),))
    world = World(furnished(ROOM, *things))
    world.teleport({"3": elsewhere})
    assert_same(part_views(moved, ROOM), Studio(world))


def test_a_visible_robot_stays_out_of_the_picture():
    assert_same(part_views(table(*CROWDED.scene.entities), ur5_room(visible=True)), Studio(World(CROWDED.scene)))


def test_the_hand_is_in_the_picture_where_the_part_says_where():
    tip = Pose.of((0.5, 0.0, 0.2), (0.0, 1.0, 0.0, 0.0))
    with_hand = part_views(replace(table(*CROWDED.scene.entities), tip=tip), ROOM)
    without = part_views(table(*CROWDED.scene.entities), ROOM)
    assert not np.array_equal(with_hand["front"].rgb, without["front"].rgb)
    with pytest.raises(EtudeError, match="needs a robot"):
        part_views(replace(table(*CROWDED.scene.entities), tip=tip), replace(ROOM, robot=None))


def test_letters_stand_upright_for_the_reader():
    """The bar of a T is at the top, its stem in the middle."""
    views = part_views(ObjectPicture("T", "letter T", camera="front"), ROOM)
    rows, columns = np.nonzero(views["top"].segmentation)
    widths = [np.ptp(columns[rows == y]) for y in range(rows.min(), rows.max() + 1)]
    assert widths[1] > 2 * widths[-2]


def test_no_physics_is_compiled():
    before = prototype.cache_info().misses
    for k in range(5):
        part_views(table(*episode(f"vima/rotate@train#{100 + k}").scene.entities), ROOM)
        part_views(replace(STAR, texture_span=0.05 + 0.01 * k), ROOM)
    assert prototype.cache_info().misses == before


def test_equal_parts_are_rendered_once_and_nobody_can_spoil_them():
    first, again = (part_views(STAR, ROOM) for _ in range(2))
    assert first["front"] is again["front"]
    with pytest.raises(ValueError, match="read-only"):
        first["front"].rgb[:] = 0
    first.clear()
    assert list(part_views(STAR, ROOM)) == ["front", "top"]


def test_the_light_of_the_scene_falls_on_its_pictures():
    lighting = replace(ROOM.lighting, ambient=(0.1, 0.1, 0.1))
    assert not np.array_equal(part_views(STAR, ROOM)["top"].rgb, part_views(STAR, replace(ROOM, lighting=lighting))["top"].rgb)


def test_every_object_is_declared_with_an_id_even_when_hidden():
    under = Body("red coin 0", "disc", "vima/red", Pose.flat(0.5, 0.0, 0.01), (0.02, 0.02, 0.02))
    above = Body("granite block 1", "block", "granite", Pose.flat(0.5, 0.0, 0.06), (0.08, 0.08, 0.08))
    beside = Body("tiger star 2", "star", "tiger", Pose.flat(0.4, 0.3, 0.02))
    views = part_views(table(under, above, beside), ROOM)
    assert [(o.id, o.name, o.colour) for o in views.objects] == [
        (FIRST_ENTITY, "coin", "red"), (FIRST_ENTITY + 1, "block", "granite"), (FIRST_ENTITY + 2, "star", "tiger"),
    ]  # fmt: skip
    assert set(np.unique(views["top"].segmentation)) == {0, TABLE, FIRST_ENTITY + 1, FIRST_ENTITY + 2}
    found = object_tokens(views)
    assert found.mask.tolist() == [[False, True, True]] * 2
    assert not found.crops[:, 0].any() and not found.boxes[:, 0].any()
    assert object_tokens(views, slots=5).mask.shape == (2, 5)


def test_pictures_have_the_proportions_of_their_camera():
    told = instruction("Put the ", STAR, " here: ", table(*CROWDED.scene.entities), ".")
    text, pictures = multimodal(told, ROOM, 256)
    assert text == "Put the {image:0} here: {image:1}." and [p.shape for p in pictures] == [(128, 256, 3)] * 2
    assert np.array_equal(pictures[0], part_views(STAR, ROOM)["front"].rgb)
    assert [part["type"] for part in messages(told, ROOM)[0]["content"]] == ["text", "image_url"] * 2 + ["text"]
    assert part_picture(replace(STAR, camera=""), ROOM, 64).shape == (64, 64, 3)
    assert part_picture(replace(STAR, camera="top"), ROOM, 3).shape == (2, 3, 3)


def test_what_cameras_cannot_see_is_refused():
    with pytest.raises(EtudeError, match="TexturePicture is not something that cameras see"):
        part_views(TexturePicture("granite", "granite"), ROOM)
    with pytest.raises(EtudeError, match="unknown camera 'topp'; did you mean 'top'"):
        part_views(STAR, ROOM, cameras=("topp",))
    with pytest.raises(EtudeError, match="mounted on the hand"):
        part_views(STAR, rlbench_room(), cameras=("wrist",))
    with pytest.raises(EtudeError, match="unknown entity 'nobody'"):
        part_views(replace(table(), poses=(("nobody", Pose()),)), ROOM)


# ------------------------------------------------------------------------------------------------ the original's form


def test_templates_name_their_slots():
    told = instruction("Put the ", STAR, " on the ", ObjectPicture("ring", "ring"), ".")
    assert told.template(slots=True) == "Put the {dragged_obj} on the {image:1}."
    assert told.template() == "Put the {image:0} on the {image:1}."


def test_assets_have_the_form_of_the_original():
    text, assets = prompt_assets(CROWDED)
    assert text == "Put the {dragged_obj_1} into the {base_obj}." and list(assets) == ["dragged_obj_1", "base_obj"]
    for asset in assets.values():
        assert asset["placeholder_type"] == "object"
        for view in ("front", "top"):
            rgb, segm = asset["rgb"][view], asset["segm"][view]
            assert rgb.shape == (3, 128, 256) and rgb.dtype == np.uint8
            assert segm.shape == (128, 256) and segm.dtype == np.uint8 and set(np.unique(segm)) == {0, 255}
            assert (rgb[:, segm == 255] == 255).all()
    assert assets["dragged_obj_1"]["segm"]["obj_info"] == {"obj_id": 0, "obj_name": "block", "obj_color": "rainbow"}
    assert assets["base_obj"]["segm"]["obj_info"] == {"obj_id": 0, "obj_name": "container", "obj_color": "blue"}


def test_assets_of_scenes_list_their_objects():
    shown = replace(CROWDED, instruction=instruction("Rearrange to this ", table(*CROWDED.scene.entities), "."))
    text, assets = prompt_assets(shown, (128, 64))
    scene = assets["scene"]
    count = len(CROWDED.scene.entities)
    assert text == "Rearrange to this {scene}." and scene["placeholder_type"] == "scene"
    assert [o["obj_id"] for o in scene["segm"]["obj_info"]] == list(range(2, 2 + count))
    assert set(np.unique(scene["segm"]["top"])) == {1, *range(2, 2 + count), 255}
    seen = part_views(table(*CROWDED.scene.entities), CROWDED.scene, (128, 64))["top"].segmentation
    assert np.array_equal(scene["segm"]["top"] == 3, seen == FIRST_ENTITY + 1)


def test_a_picture_made_blank_keeps_its_slot_and_shows_nothing():
    text, assets = prompt_assets(episode("vima/visual_manipulation@train#1+mask_visual"))
    assert "{dragged_obj_1}" in text and list(assets) == ["dragged_obj_1", "base_obj"]
    for asset in assets.values():
        assert asset["segm"]["obj_info"] == [] and (asset["segm"]["front"] == 255).all() and np.ptp(asset["rgb"]["front"]) == 0


def test_mechanisms_are_declared_like_things():
    found = episode("clevrskills/balance@train#0")
    views = part_views(ScenePicture("this"), found.scene, (64, 64), ("base",))
    assert [o.name for o in views.objects][-1] == "scale" and object_tokens(views).mask[0, -1]


def test_a_slot_may_come_twice_but_not_for_two_things():
    twice = instruction(STAR, Words(" and "), STAR)
    assert list(prompt_assets(replace(CROWDED, instruction=twice))[1]) == ["dragged_obj"]
    with pytest.raises(EtudeError, match="'dragged_obj' of its instruction stands for two different pictures"):
        prompt_assets(replace(CROWDED, instruction=instruction(STAR, replace(STAR, shape="ring"))))
    with pytest.raises(EtudeError, match="has no slot"):
        prompt_assets(episode("clevrskills/simple_manipulation@train#0"))
