"""Factors of size: bodies, looks, what rests on them, and goals are scaled together, and the scene stays sound."""

from __future__ import annotations

import pytest

from etude.catalog.registry import shape
from etude.goals.detecting import Detected, JointMoved, Poured
from etude.goals.goal import every
from etude.goals.laying import Clear, Laid
from etude.goals.regions import InBox, Region
from etude.goals.units import MoveFree, MoveJoint
from etude.library import episode
from etude.names import EtudeError
from etude.perturb.sizes import resized
from etude.scene.outlines import extent, part_frames
from etude.scene.world import World


def pair(name, factor):
    """Control and perturbed episode, and the factor by which the first thing of the role was scaled."""
    control, other = episode(name), episode(f"{name}+{factor}")
    role = {"mo_size": "manipulated", "ro_size": "receiving"}[factor]
    thing = next(n for r, n in control.roles if r == role)
    a, b = control.scene.entity(thing), other.scene.entity(thing)
    times = (
        b.size[0] / shape(a.shape, a.size).size[0] if hasattr(a, "shape") else b.parts[0].solids[0].size[0] / a.parts[0].solids[0].size[0]
    )
    return control, other, thing, times


@pytest.mark.parametrize("factor", ["mo_size", "ro_size"])
@pytest.mark.parametrize("seed", range(6))
def test_things_stand_where_they_stood_with_all_extents_scaled_alike(factor, seed):
    control, other, thing, times = pair(f"vlmbench/pick_relative@train#{seed}", factor)
    a, b = control.scene.entity(thing), other.scene.entity(thing)
    assert b.size == pytest.approx([v * times for v in a.size], abs=2e-6) and b.mass == pytest.approx(a.mass * times**3, rel=1e-4)
    assert b.pose.position[:2] == a.pose.position[:2] and extent(b).low == pytest.approx(extent(a).low, abs=1e-6)
    low, high = (0.75, 1.25) if factor == "mo_size" else (0.75, 1.15)
    assert low <= round(times, 3) <= high and abs(times - 1) >= 0.009


def test_the_detector_of_a_container_is_scaled_with_it():
    control, other, thing, times = pair("vlmbench/pick_relative@train#1", "ro_size")
    a, b = (every(e.goal, Detected)[0] for e in (control, other))
    assert a.by == thing and b.lower == pytest.approx([v * times for v in a.lower], abs=1e-6)
    assert b.points == a.points


def test_what_is_put_down_comes_as_near_to_the_ground_in_any_size():
    control, other, thing, _ = pair("vlmbench/pick_relative@train#1", "mo_size")
    regions = [every(e.goal, MoveFree)[0].to for e in (control, other)]
    assert all(isinstance(r, Region) and isinstance(r.where, InBox) for r in regions)
    halves = [e.scene.entity(thing).size[2] / 2 for e in (control, other)]
    free = [r.where.lower[2] - half for r, half in zip(regions, halves, strict=True)]
    assert free[0] == pytest.approx(free[1], abs=1e-5)
    assert every(other.goal, Detected) == every(control.goal, Detected)


def test_water_stays_in_a_mug_of_another_size_and_is_counted_there():
    for seed in range(4):
        control, other, mug, _ = pair(f"vlmbench/pour_relative@train#{seed}", "mo_size")
        body, water = other.scene.entity(mug), other.scene.entity("water")
        assert len(water.positions) == len(control.scene.entity("water").positions)
        cavity = shape(body.shape, body.size).cavity
        local = body.pose.inverse().apply(water.positions)
        assert (local[:, 2] > cavity[0][2]).all() and (local[:, 2] < cavity[1][2]).all()
        world = World(other.scene)
        world.step(10)
        settled = world.pose(mug).inverse().apply(world.particles("water"))
        assert (settled[:, 2] > cavity[0][2] + water.diameter / 2 - 0.002).all()  # a drop beside the mug would lie lower
        control, other, _, times = pair(f"vlmbench/pour_relative@train#{seed}", "ro_size")
        a, b = (every(e.goal, Poured)[0] for e in (control, other))
        assert b.radius == pytest.approx(a.radius * times, rel=1e-3)


def test_drawers_travel_as_far_as_they_are_large():
    control, other, name, times = pair("vlmbench/drawer@train#3", "mo_size")
    a, b = control.scene.entity(name), other.scene.entity(name)
    assert 0.9 <= times <= 1.15 and b.pose == a.pose
    for p, q in zip(a.jointed(), b.jointed(), strict=True):
        assert q.joint.range[1] == pytest.approx(p.joint.range[1] * times, rel=1e-3)
    assert every(other.goal, JointMoved)[0].least == pytest.approx(every(control.goal, JointMoved)[0].least * times, rel=1e-3)
    assert every(other.goal, MoveJoint)[0].range[1] == pytest.approx(every(control.goal, MoveJoint)[0].range[1] * times, rel=1e-3)


def test_doors_turn_as_far_as_before():
    control, other, name, _ = pair("vlmbench/door@train#2", "mo_size")
    assert other.goal == control.goal and other.scene.entity(name).latches == control.scene.entity(name).latches


def test_the_place_in_a_pan_follows_its_hollow():
    for seed in range(60):
        control = episode(f"vima/visual_manipulation@L3#{seed}")
        base = next(n for r, n in control.roles if r == "receiving")
        if control.scene.entity(base).shape == "pan":
            break
    other = episode(f"{control.name}+ro_size")
    body = other.scene.entity(base)
    (x0, y0, _), (x1, y1, _) = shape(body.shape, body.size).cavity
    middle = body.pose.apply(((x0 + x1) / 2, (y0 + y1) / 2, 0.0))
    laid = every(other.goal, Laid)[0]
    assert laid.place == pytest.approx(middle[:2], abs=0.004) and laid.tolerance == every(control.goal, Laid)[0].tolerance
    assert all(clear.places == (laid.place,) for clear in every(other.goal, Clear))


def test_what_is_in_the_hand_hangs_from_the_same_spot():
    control, other, held, _ = pair("clevrskills/place@train#2", "mo_size")
    assert other.held == held
    assert extent(other.scene.entity(held)).high == pytest.approx(extent(control.scene.entity(held)).high, abs=1e-4)


@pytest.mark.parametrize("times", [0.9, 1.1, 1.15])
def test_what_is_in_a_drawer_or_on_a_cabinet_moves_with_it(times):
    scene = episode("himan/take_out_of_opened_drawer@train#2").scene
    cabinet, block = scene.entity("cabinet"), scene.entity("block")
    new = resized(scene, "cabinet", times)
    level = next(p.name for p, v in zip(cabinet.jointed(), cabinet.joints, strict=True) if v > 0)
    before = part_frames(cabinet, cabinet.joints)[level].inverse().apply(block.pose.position)
    after = part_frames(new.entity("cabinet"), new.entity("cabinet").joints)[level].inverse().apply(new.entity("block").pose.position)
    assert after[:2] == pytest.approx(before[:2] * times, abs=1e-4) and new.entity("block").size == block.size
    World(new)


def test_a_size_that_cannot_be_is_refused_by_one_line():
    with pytest.raises(EtudeError, match=r"mo_size: what balances would not in another size"):
        episode("clevrskills/balance@train#0+mo_size")
