"""From what is held down to where the hand goes."""

import math

import numpy as np
import pytest
from drivers import PICK, drive

from etude.drive.session import DrivingSession, drivable
from etude.drive.steering import PACE, SLOW_PACE, TURN, Leash, Steering, read_steering
from etude.envs.simulation import Simulation
from etude.names import EtudeError
from etude.pose import angle_between, rotation_vector

HELD = {"move": [0, 0, 0], "turn": [0, 0, 0], "heading": 0.0, "slow": False, "closed": False}
STEPS = 12


def held(steering: Steering, steps: int = STEPS):
    """The robot before and after so many steps: two poses of its tip."""
    simulation = Simulation(drivable(PICK))
    before = simulation.robot.tip()
    leash = Leash(before)
    for _ in range(steps):
        simulation.step(leash.action(steering, simulation.robot.tip()))
    return before, simulation.robot.tip()


@pytest.mark.parametrize(
    ("move", "heading", "way"),
    [
        ((0, 1, 0), 0.0, (1, 0, 0)),
        ((1, 0, 0), 0.0, (0, -1, 0)),
        ((0, 0, -1), 2.0, (0, 0, -1)),
        ((0, 1, 0), math.pi / 2, (0, 1, 0)),
        ((-1, 0, 0), math.pi / 2, (-1, 0, 0)),
    ],
)
def test_the_hand_goes_where_the_person_sees_it_go(move, heading, way):
    before, after = held(Steering(move, heading=heading))
    assert np.allclose(np.subtract(after.position, before.position), np.array(way) * PACE * STEPS, atol=1.2 * PACE)  # it starts from rest
    assert angle_between(before.rotation, after.rotation) < 0.01


def test_slowly_is_slower_and_diagonals_are_not_faster():
    before, after = held(Steering((0, 1, 0), slow=True))
    assert math.dist(before.position, after.position) == pytest.approx(SLOW_PACE * STEPS, abs=0.002)
    before, after = held(Steering((1, 1, 0)))
    assert math.dist(before.position, after.position) == pytest.approx(PACE * STEPS, abs=0.005)


@pytest.mark.parametrize(("turn", "axis"), [((0, 0, 1), (0, 0, 1)), ((1, 0, 0), (0, -1, 0)), ((0, 1, 0), (1, 0, 0))])
def test_the_hand_turns_about_the_axes_of_who_looks_on(turn, axis):
    before, after = held(Steering(turn=turn), 5)
    turned = rotation_vector((after * before.inverse()).rotation)
    assert np.allclose(turned, np.array(axis) * TURN * 5, atol=0.03)
    assert math.dist(before.position, after.position) < 0.004


def test_what_is_held_stays_where_it_is_when_nothing_is_pressed():
    session = DrivingSession([PICK], lambda kept: None, time=10.0)
    drive(session)
    simulation, leash = session.simulation, Leash(session.simulation.robot.tip())
    assert simulation.robot.held
    before = simulation.robot.tip()
    for _ in range(100):
        simulation.step(leash.action(Steering(closed=True), simulation.robot.tip()))
    assert simulation.robot.held and math.dist(before.position, simulation.robot.tip().position) < 0.003


def test_who_has_pressed_on_the_table_is_off_it_at_once():
    simulation = Simulation(drivable(PICK))
    leash = Leash(simulation.robot.tip())
    for _ in range(80):
        simulation.step(leash.action(Steering((0, 0, -1)), simulation.robot.tip()))
    pressed = simulation.robot.tip().position[2]
    simulation.step(leash.action(Steering((0, 0, -1)), simulation.robot.tip()))
    assert abs(simulation.robot.tip().position[2] - pressed) < 0.001  # it can go no farther
    for _ in range(5):
        simulation.step(leash.action(Steering((0, 0, 1)), simulation.robot.tip()))
    assert simulation.robot.tip().position[2] > pressed + 3 * PACE


@pytest.mark.parametrize(
    "change",
    [
        {"move": [0, 0]}, {"move": [0, 0, "1"]}, {"turn": [0, 0, math.nan]}, {"heading": math.inf}, {"heading": None}, {"slow": 1},
        {"closed": None}, {"move": [True, 0, 0]}, {"turn": 3},
    ],
)  # fmt: skip
def test_what_nobody_can_hold_down_is_refused(change):
    with pytest.raises(EtudeError, match="three numbers to move"):
        read_steering({**HELD, **change})


def test_sticks_go_no_farther_than_they_go():
    assert read_steering({**HELD, "move": [5, -9, 0.5]}).move == (1.0, -1.0, 0.5)
