"""Planning: ways around and through, the same for the same seed, free at every point, and honest about failure."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from etude.envs.simulation import Simulation
from etude.goals.markers import FUTURE, NEXT, VISITED
from etude.library import episode
from etude.names import rng
from etude.pose import Pose, angle_between, axis_quat
from etude.scene import Body, World
from etude.scene.rooms import furnished, xarm_room
from etude.skills.aim import TRAVEL, Aim, delta_action
from etude.skills.oracle import Oracle
from etude.skills.planning import MARGINS, FreeSpace, connect, plan, postures

DOWN = axis_quat((1, 0, 0), math.pi)
LEFT = Pose((-0.1, 0.25, 0.15), DOWN)
RIGHT = Pose((-0.1, -0.25, 0.15), DOWN)


def slab(name, position, size):
    return Body(name, "cube", "#808080", Pose(position), size, fixed=True)


WALL = (slab("wall", (0.0, 0.0, 0.15), (0.5, 0.03, 0.3)),)
# A wall with a window 0.3 m wide that begins 0.1 m above the table and ends out of reach.
GAP = (
    slab("sill", (0.0, 0.0, 0.05), (0.6, 0.03, 0.1)),
    slab("near post", (-0.29, 0.0, 0.45), (0.06, 0.03, 0.69)),
    slab("far post", (0.19, 0.0, 0.45), (0.22, 0.03, 0.69)),
)
CELL = (
    *(slab(f"cell {k}", (-0.1 + 0.19 * x, -0.25 + 0.19 * y, 0.2), (0.02 if x else 0.4, 0.02 if y else 0.36, 0.398))
      for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1)))),
    slab("lid", (-0.1, -0.25, 0.42), (0.42, 0.42, 0.02)),
)  # fmt: skip


def world_at(tip, things=()):
    """A world that starts with the tip there: some things would stand in the arm at its home."""
    room = xarm_room()
    bare = World(room)
    assert bare.robot.stand_at(tip)
    posture = tuple(bare.robot.joints().tolist())
    return World(furnished(replace(room, robot=replace(room.robot, joints=posture)), *things))


def assert_free(world, way, margin):
    space = FreeSpace(world, margin)
    for a, b in itertools.pairwise(way.joints):
        assert all(space.free(a + (b - a) * t) for t in np.linspace(0, 1, 9))


def follow(world, way):
    for tip in way.tips[1:]:
        world.robot.move_by(delta_action(Aim(tip, False, 2 * TRAVEL), world.robot.tip())[:6])
        world.step()
        assert not [c for c in world.contacts() if "robot" in c.first + c.second or "hand" in c.first + c.second]


def test_nothing_in_the_way_gives_a_straight_line():
    world = world_at(LEFT)
    way = plan(world, [RIGHT], rng("straight", "x"))
    assert way.straight
    tips = np.array([tip.position for tip in way.tips])
    assert np.abs(tips[:, [0, 2]] - (-0.1, 0.15)).max() < 2e-5  # where inverse kinematics put the start
    assert_free(world, way, 0.0)


@pytest.mark.parametrize("things", [WALL, GAP], ids=["around a wall", "through a gap"])
def test_finds_a_way(things):
    world = world_at(LEFT, things)
    way = plan(world, [RIGHT], rng("way", "x"))
    assert way is not None and not way.straight
    assert math.dist(way.tips[-1].position, RIGHT.position) < 1e-3
    assert angle_between(way.tips[-1].rotation, RIGHT.rotation) < 1e-2
    assert_free(world, way, 0.0)
    if things is GAP:  # the tip passes between the posts, above the sill
        x, _, z = min((tip.position for tip in way.tips), key=lambda p: abs(p[1]))
        assert -0.26 < x < 0.08 and z > 0.1
    follow(world, way)
    assert math.dist(world.robot.tip().position, RIGHT.position) < 0.01


def test_every_step_of_a_way_can_be_made_in_one_control_period():
    world = world_at(LEFT, WALL)
    way = plan(world, [RIGHT], rng("pace", "x"))
    assert (np.abs(np.diff(way.joints, axis=0)) <= world.robot.chain.speed * 0.05).all()
    assert max(math.dist(a.position, b.position) for a, b in itertools.pairwise(way.tips)) < 2 * TRAVEL


def test_the_same_seed_gives_the_same_way_and_leaves_the_world_alone():
    world = world_at(LEFT, WALL)
    before = world.data.qpos.copy(), world.data.xpos.copy(), world.model.geom_contype.copy()
    first, second, other = (plan(world, [RIGHT], rng(seed, "x")) for seed in ("same", "same", "other"))
    assert np.array_equal(first.joints, second.joints) and first.tips == second.tips
    assert first.joints.shape != other.joints.shape or not np.array_equal(first.joints, other.joints)
    for then, now in zip(before, (world.data.qpos, world.data.xpos, world.model.geom_contype), strict=True):
        assert np.array_equal(then, now)


def test_says_when_there_is_no_way():
    world = world_at(LEFT, CELL)
    assert plan(world, [RIGHT], rng("none", "x"), iterations=60) is None
    assert plan(world_at(LEFT), [Pose((0.9, 0.0, 0.2), DOWN)], rng("far", "x")) is None


def test_iterations_bound_the_search():
    world = world_at(LEFT, WALL)
    start = world.robot.joints()
    checks = []
    for iterations in (0, 20):
        space = FreeSpace(world)
        goals = postures(space, [RIGHT], start, rng("bound", "x"))
        space.checks = 0
        found = connect(space, start, goals, rng("bound", "x"), iterations)
        checks.append((found is None, space.checks))
    assert checks[0][0] and checks[0][1] < checks[1][1]
    assert plan(world, [RIGHT], rng("bound", "x"), 0, MARGINS[:1]) is None
    assert plan(world, [RIGHT], rng("bound", "x"), margins=MARGINS[:1]) is not None


def test_a_way_at_a_smaller_margin_is_free_as_well():
    world = world_at(LEFT, WALL)
    for seed in range(5):
        way = plan(world, [RIGHT], rng(f"smaller {seed}", "x"), margins=MARGINS[1:])
        assert_free(world, way, 0.0)


def test_what_is_held_must_come_through_too():
    long = Body("pole", "cube", "#c02020", Pose((-0.1, 0.25, 0.15 - 0.0017 - 0.01)), (0.02, 0.3, 0.02), mass=0.05)
    world = world_at(LEFT, (slab("post", (-0.1, 0.05, 0.15), (0.05, 0.05, 0.29)), long))
    space = FreeSpace(world, 0.0)
    near = world.robot.chain.solve(space.base.inverse() * LEFT.moved(y=-0.07), world.robot.joints()).joints
    assert space.free(near)
    world.attach("pole")
    assert not FreeSpace(world, 0.0).free(near)


@pytest.mark.parametrize("gap", [0.0014, 0.0089, 0.0139, 0.0189, 0.0289])
def test_the_margin_is_kept_exactly(gap):
    height = LEFT.position[2] - 0.0011 - gap  # the cups reach 1.1 mm beyond the tip
    world = world_at(LEFT, (slab("under", (-0.1, 0.25, height / 2), (0.1, 0.1, height)),))
    assert world.distance("hand", "under") == pytest.approx(gap, abs=1e-4)
    for margin in (*MARGINS, 0.04):
        assert FreeSpace(world, margin).free(world.robot.joints()) == (gap > margin)


def test_the_widest_margin_that_works_is_kept_all_the_way():
    world = world_at(LEFT, WALL)
    way = plan(world, [RIGHT], rng("wide", "x"))
    space = FreeSpace(world, MARGINS[0])
    assert all(space.free(joints) for joints in way.joints)


@pytest.mark.parametrize("task", ["match_pose", "move_without_hitting", "trace"])
def test_oracle_moves_the_hand(task):
    for split in ("train", "test"):
        for seed in range(4):
            simulation = Simulation(episode(f"clevrskills/{task}@{split}#{seed}"))
            oracle = Oracle(simulation.episode, simulation.world, simulation.monitor)
            for _ in range(simulation.episode.horizon):
                if simulation.status.satisfied:
                    break
                simulation.step(delta_action(oracle.aim(), simulation.monitor.watch.tip))
            assert simulation.status.satisfied, f"{task} {split} {seed}: {simulation.monitor.first_failure()}"


def test_markers_follow_the_trace():
    simulation = Simulation(episode("clevrskills/trace@train#1"))
    oracle = Oracle(simulation.episode, simulation.world, simulation.monitor)
    count = len(simulation.episode.goal.members)

    def seen():
        return [simulation.world.scene.entity(leaf.marker).texture for leaf in simulation.episode.goal.members]

    assert seen() == [NEXT[0], *[FUTURE[0]] * (count - 1)]
    start = simulation.save()
    while not simulation.monitor.root.members[0].status.satisfied:
        simulation.step(delta_action(oracle.aim(), simulation.monitor.watch.tip))
    assert seen()[:2] == [VISITED[0], NEXT[0]]
    simulation.restore(start)
    assert seen() == [NEXT[0], *[FUTURE[0]] * (count - 1)]


def test_a_hit_is_final():
    simulation = Simulation(episode("clevrskills/move_without_hitting@train#0"))
    obstacle = simulation.episode.goal.members[0].member.things[0]
    target = Pose.of(simulation.world.pose(obstacle).position, DOWN)
    for _ in range(80):
        if simulation.status.violated:
            break
        simulation.step(delta_action(Aim(target, False), simulation.monitor.watch.tip))
    assert simulation.status.violated
    oracle = Oracle(simulation.episode, simulation.world, simulation.monitor)
    assert oracle.aim().step == "Do nothing"
