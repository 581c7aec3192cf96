"""Free places: found without overlap, or refused with a reason."""

from __future__ import annotations

import math

import numpy as np
import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from etude.catalog.polygon import separation
from etude.catalog.registry import shape, shape_names
from etude.names import EtudeError, rng
from etude.pose import Pose, matrix
from etude.scene import Body, Robot, Scene, Table, World
from etude.scene.placement import Layout

LOWER, UPPER = (0.2, -0.4), (0.7, 0.4)
SMALL = [name for name in shape_names() if max(shape(name).size[:2]) < 0.22]


def random_scene(seed: int) -> Scene:
    stream = rng(f"test/placement#{seed}", "layout")
    layout = Layout(stream, LOWER, UPPER, clearance=stream.choice((0.0, 0.005, 0.02)))
    layout.block_disc("robot", (0.0, 0.0), 0.15)
    things = []
    for i, name in enumerate(stream.sample(SMALL, stream.integer(3, 10))):
        model = shape(name)
        rest = stream.choice(model.rests).rotation if model.rests else (1.0, 0.0, 0.0, 0.0)
        try:
            pose = layout.place(f"{name} {i}", model, rotation=rest)
        except EtudeError:
            break  # the table is full
        things.append(Body(f"{name} {i}", name, "red", pose))
    return Scene(tuple(things), Robot("panda", "parallel"), Table(endless=True), None)


@given(st.integers(0, 10**6))
def test_a_hundred_random_scenes_start_without_anything_touching_anything_else(seed):
    """A thousand with ``--hypothesis-profile long``."""
    world = World(random_scene(seed))
    owners = world._proto.owners
    for (g1, g2), distance in zip(world.data.contact.geom.tolist(), world.data.contact.dist.tolist(), strict=True):
        first, second = owners[world._proto.geom_owner[g1]], owners[world._proto.geom_owner[g2]]
        assert "table" in (first, second), f"seed {seed}: {first} meets {second}"
        assert distance > -1e-4, f"seed {seed}: {first} is {-1000 * distance:.2f} mm inside {second}"


@every("seed", range(40))
def test_footprints_keep_the_clearance_and_stay_inside(seed):
    stream = rng(f"test/clearance#{seed}", "layout")
    layout = Layout(stream, LOWER, UPPER, clearance=0.015)
    for i, name in enumerate(stream.sample(SMALL, 5)):
        layout.place(f"{name} {i}", shape(name))
    for i, one in enumerate(layout.taken):
        assert np.all(one.outline >= np.array(LOWER) - 1e-6) and np.all(one.outline <= np.array(UPPER) + 1e-6)
        for other in layout.taken[:i]:
            assert separation(one.outline, other.outline) >= 0.015 - 1e-9


def test_a_thing_stands_on_the_surface_in_the_way_it_was_asked_to():
    model = shape("cracker box")
    lying = next(r for r in model.rests if abs(matrix(r.rotation)[2, 2]) < 0.1)
    pose = Layout(rng("test", "lying"), LOWER, UPPER, height=0.7).place("box", model, rotation=lying.rotation)
    turned = pose.apply(model.mesh.vertices)
    assert turned[:, 2].min() == pytest.approx(0.7, abs=1e-6)
    assert pose.position[2] == pytest.approx(0.7 + lying.height, abs=1e-6)


def test_headings_stay_in_the_given_range():
    for seed in range(30):
        pose = Layout(rng(f"test/yaw#{seed}", "layout"), LOWER, UPPER).place("l", shape("letter L"), yaw=(0.2, 0.4))
        assert 0.2 <= pose.yaw <= 0.4


def test_the_same_stream_gives_the_same_place():
    places = {Layout(rng("test/same", "layout"), LOWER, UPPER).place("a", shape("star")) for _ in range(3)}
    assert len(places) == 1


def test_no_room_is_said_loudly_with_the_reason():
    layout = Layout(rng("test", "full"), (0.0, 0.0), (0.3, 0.3), clearance=0.02)
    reason = r"no room for 'bowl \d' \(0\.2\d* × 0\.2\d* m\) in x 0…0\.3, y 0…0\.3 m beside 1 other things"
    with pytest.raises(EtudeError, match=reason) as caught:
        for i in range(10):
            layout.place(f"bowl {i}", shape("bowl"))
    assert "\n" not in str(caught.value)


def test_a_thing_larger_than_the_table_is_refused():
    with pytest.raises(EtudeError, match="no room"):
        Layout(rng("test", "large"), (0.0, 0.0), (0.1, 0.1)).place("bowl", shape("bowl"))


def test_a_crowded_table_is_filled_as_long_as_there_is_room():
    layout = Layout(rng("test", "crowd"), (0.0, 0.0), (0.4, 0.4), clearance=0.005)
    for i in range(20):  # 20 cubes of 50 mm cover less than a third of it
        layout.place(f"cube {i}", shape("cube"))


def test_a_given_place_that_is_taken_is_refused():
    layout = Layout(rng("test", "put"), LOWER, UPPER)
    layout.put("one", shape("cube"), Pose.flat(0.5, 0, 0.025))
    with pytest.raises(EtudeError, match=r"'two' cannot stand at .* it would meet 'one'"):
        layout.put("two", shape("cube"), Pose.flat(0.53, 0, 0.025, math.pi / 4))
