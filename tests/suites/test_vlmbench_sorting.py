"""VLMbench's shape sorter and its wiping: what passes which hole, and what takes dirt away."""

import math

import numpy as np
import pytest
from every import every

from etude.catalog.registry import shape
from etude.catalog.sorter import BOX, HOLES, LID
from etude.envs.simulation import Simulation
from etude.goals.detecting import Wiped
from etude.goals.monitor import Monitor
from etude.library import episode
from etude.policies.scripted import OraclePolicy
from etude.pose import Pose, yaw_quat
from etude.render.studio import Studio
from etude.scene import Area, Body, Scene, Specks, Table, World
from etude.suites.vlmbench.sorting import UNSEEN_PIECES

PIECES = {kind.shape: kind.size for kind in UNSEEN_PIECES}
TOP = BOX[2] + LID[2]


def sorter_with(piece: str, place: Pose) -> World:
    things = (
        Body("box", "shape sorter box", "red", Pose((0.0, 0.0, BOX[2] / 2)), BOX, fixed=True),
        Body("lid", "shape sorter lid", "blue", Pose((0.0, 0.0, BOX[2] + LID[2] / 2)), LID, fixed=True),
        Body("piece", piece, "green", place, PIECES[piece]),
    )
    return World(Scene(things, table=Table((0.0, 0.0), (1.0, 1.0))))


def fallen(piece: str, hole, yaw: float, offset=(0.0, 0.0)) -> bool:
    """Is the piece inside after it was dropped upright from just above a hole?"""
    x, y = hole.position
    world = sorter_with(piece, Pose((x + offset[0], y + offset[1], TOP + PIECES[piece][2] / 2 + 0.001), yaw_quat(yaw)))
    world.step(16)
    return bool(world.pose("piece").position[2] < BOX[2] - 0.02)


@pytest.mark.parametrize("hole", HOLES, ids=lambda h: h.shape)
def test_a_piece_falls_through_its_own_hole(hole):
    assert fallen(hole.shape, hole, hole.yaw)


@pytest.mark.parametrize("hole", HOLES, ids=lambda h: h.shape)
@every("piece", PIECES)
def test_no_upright_piece_falls_through_a_hole_of_another_shape(hole, piece):
    if piece != hole.shape:
        assert not any(fallen(piece, hole, hole.yaw + k * math.pi / 12) for k in range(0, 24, 1 if piece == "triangular prism" else 3))


@pytest.mark.parametrize("name", ["sorter_shape@train#3", "wipe_direction@test_unseen#1"])
def test_the_oracle_solves_it(name):
    full = f"vlmbench/{name}"
    simulation, oracle = Simulation(episode(full)), OraclePolicy()
    assert not simulation.status.satisfied
    oracle.reset("", (), full)
    while not simulation.over:
        simulation.step(oracle.act({"simulation": simulation}))
    assert simulation.status.satisfied


# ------------------------------------------------------------------------------------------------ dirt

HALF = (0.021, 0.05, 0.0164)


def wiping(position=(0.0, 0.0, 0.0164)) -> tuple[World, Monitor]:
    cells = tuple((0.02 * k, 0.0, 0.001) for k in range(10))
    things = (
        Body("sponge", "sponge", "yellow", Pose(position), material="sponge"),
        Area("area", "rectangle", "white", Pose((0.1, 0.0, 0.0005)), (0.3, 0.1, 0.001)),
        Specks("dirt", (0.005, 0.005, 0.001), "black", cells),
    )
    world = World(Scene(things, table=Table((0.0, 0.0), (1.0, 1.0))))
    return world, Monitor(Wiped("sponge", "dirt", 4, HALF), world)


def there(monitor: Monitor) -> int:
    return len(monitor.root.memory["there"]["dirt"])


def test_a_sponge_takes_away_the_dirt_it_is_drawn_over():
    world, monitor = wiping()
    left = []
    for k in range(12):
        world.teleport({"sponge": Pose((0.02 * k, 0.0, 0.0163))})
        world.step()
        monitor.update()
        left.append(there(monitor))
    assert left == sorted(left, reverse=True)
    assert left[0] > 6
    assert left[-1] == 0
    assert monitor.status.satisfied


def test_a_sponge_in_the_air_wipes_nothing():
    _, monitor = wiping((0.0, 0.0, 0.08))
    monitor.update()
    assert there(monitor) == 10


def test_dirt_that_is_wiped_away_is_no_longer_seen():
    name = "vlmbench/wipe_color@train#1"
    simulation, oracle = Simulation(episode(name)), OraclePolicy()
    oracle.reset("", (), name)
    goal = next(node.goal for node in simulation.monitor.nodes() if isinstance(node.goal, Wiped))
    studio = Studio(simulation.world)

    def seen() -> int:
        return int(np.sum(studio.shoot("overhead", (256, 256)).segmentation == simulation.world.segmentation_ids()[goal.dirt]))

    before = seen()
    while not simulation.over:
        simulation.step(oracle.act({"simulation": simulation}))
    studio_after = seen()
    assert simulation.status.satisfied
    specks = simulation.world.scene.entity(goal.dirt)
    assert isinstance(specks, Specks)
    assert len(specks.positions) <= goal.left
    assert studio_after < max(1, before) / 2


def test_every_area_is_equally_dirty():
    scene = episode("vlmbench/wipe_shape@train#2").scene
    assert {len(e.positions) for e in scene.entities if isinstance(e, Specks)} == {50}
    assert sum(isinstance(e, Specks) for e in scene.entities) == sum(isinstance(e, Area) for e in scene.entities)


def test_holes_keep_off_the_walls_of_the_box():
    inside = BOX[0] / 2 - 0.012
    for hole in HOLES:
        corners = shape(hole.shape, PIECES[hole.shape]).footprint
        c, s = math.cos(hole.yaw), math.sin(hole.yaw)
        assert np.abs(corners @ np.array([[c, s], [-s, c]]) + hole.position).max() + hole.room < inside
