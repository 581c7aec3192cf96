"""Episodes that a person goes through: when time passes, what ends, what is kept."""

import pytest
from drivers import PICK, Driver, drive

from etude.drive.session import DrivenEpisode, DrivingSession, drivable
from etude.drive.steering import Steering
from etude.envs.simulation import Simulation
from etude.names import EtudeError

NAMES = (PICK, "clevrskills/pick@train#1")
AWAY = Steering((0, 1, 0))


@pytest.fixture
def kept() -> list[DrivenEpisode]:
    return []


def test_time_begins_with_the_first_key_and_stands_still_in_a_pause(kept):
    session = DrivingSession(NAMES, kept.append)
    session.steer(Steering())
    session.step(Steering())
    assert session.state == "ready" and session.moment()["steps"] == 0
    session.steer(AWAY)
    session.step(AWAY)
    session.pause(True)
    session.step(AWAY)
    assert session.state == "paused" and session.moment()["steps"] == 1
    session.pause(False)
    session.step(AWAY)
    assert session.moment()["steps"] == 2 and session.moment()["left"] == pytest.approx(200 * 0.05 - 0.1)


def test_a_hand_that_is_closed_begins_too(kept):
    session = DrivingSession(NAMES, kept.append)
    session.steer(Steering(closed=True))
    assert session.state == "driving"


def test_keys_alone_solve_an_episode_and_its_actions_lead_there_again(kept):
    session = DrivingSession(NAMES, kept.append, time=10.0)
    drive(session)
    assert session.state == "success" and session.moment()["flags"][0] & 1
    with pytest.raises(EtudeError, match="keep this one, or throw it away"):
        session.go(1)
    session.keep()
    (one,) = kept
    assert one.solved and one.policy == "human" and one.episode == drivable(PICK)
    simulation = Simulation(one.episode)
    for action in one.actions:
        simulation.step(action)
    assert simulation.status.satisfied
    assert session.number == 1 and session.state == "ready" and session.moment()["done"] == 1


def test_what_was_driven_survives_being_written_down(kept):
    session = DrivingSession(NAMES, kept.append, failures=True, policy="human:ann")
    for _ in range(3):
        session.steer(AWAY)
        session.step(AWAY)
    session.keep()
    again = DrivenEpisode.from_json(kept[0].to_json())
    assert (again.actions == kept[0].actions).all() and again.episode.id == kept[0].episode.id and not again.solved
    assert again.policy == "human:ann"


def test_only_successes_are_kept_unless_failures_are_asked_for(kept):
    session = DrivingSession(NAMES, kept.append)
    session.steer(AWAY)
    session.step(AWAY)
    with pytest.raises(EtudeError, match="--keep-failures"):
        session.keep()
    willing = DrivingSession(NAMES, kept.append, failures=True)
    with pytest.raises(EtudeError, match="nothing has been driven yet"):
        willing.keep()
    assert not kept and session.state == "driving"


def test_what_is_thrown_away_is_gone_and_the_episode_begins_again(kept):
    session = DrivingSession(NAMES, kept.append, failures=True)
    start, first = session.start, session.moment()["tip"]
    session.steer(AWAY)
    for _ in range(5):
        session.step(AWAY)
    session.again()
    assert session.state == "ready" and session.start == start + 1 and session.moment()["tip"] == first
    session.steer(AWAY)
    session.step(AWAY)
    session.keep()
    assert len(kept[0].actions) == 1


def test_time_runs_out_after_as_many_horizons_as_were_given(kept):
    session = DrivingSession(["clevrskills/touch@train#0"], kept.append, time=2.0)
    most = 2 * session.episode.horizon
    session.steer(Steering((0, 0, 1)))
    for _ in range(most - 1):
        session.step(Steering((0, 0, 0)))
    assert session.state == "driving"
    session.step(Steering())
    assert session.state == "failure" and session.moment()["left"] == 0


def test_it_goes_on_with_what_has_not_been_kept_and_stops_at_both_ends(kept):
    session = DrivingSession(NAMES, kept.append, done=[NAMES[0], "clevrskills/pick@train#7"])
    assert session.number == 1 and session.done == {NAMES[0]}
    session.go(1)
    assert session.number == 1
    session.go(-1)
    session.go(-1)
    assert session.number == 0 and session.moment()["kept"]


def test_something_that_starts_in_the_hand_stays_there(kept):
    name = next(n for n in (f"clevrskills/{task}@train#0" for task in ("place", "throw", "balance")) if drivable(n).held)
    session = DrivingSession([name], kept.append)
    assert session.closed
    session.steer(Steering(closed=True))
    assert session.state == "ready"  # it is closed already: nothing has been done
    session.steer(Steering((0, 0, 1), closed=True))
    session.step(Steering((0, 0, 1), closed=True))
    assert session.moment()["held"]


@pytest.mark.parametrize(
    "name",
    ["vima/visual_manipulation@train#0", "vima/sweep_without_exceeding@train#0", "himan/open_drawer@train#0", "vlmbench/door@train#1"],
)
def test_tasks_of_strokes_and_keyposes_are_driven_step_by_step(name, kept):
    session = DrivingSession([name], kept.append, failures=True)
    before = session.moment()
    for _ in range(10):
        session.steer(Steering((0, 0, -1)))
        session.step(Steering((0, 0, -1)))
    after = session.moment()
    assert after["tip"][2] < before["tip"][2] - 0.05 and after["steps"] == 10
    session.keep()
    assert kept[0].actions.shape == (10, 7)


def test_looks_that_change_are_told_when_they_do(kept):
    """Markers that light up are new things to see; what does not change is told once."""
    session = DrivingSession(["clevrskills/trace@train#0"], kept.append, time=10.0)
    view = session.scene()
    assert "surroundings" in view and "surroundings" not in session.moment()
    way, changes = Driver([(*marker.position, False) for marker in session.episode.goal.parts()]), []
    while session.state in ("ready", "driving"):
        held = way.held(list(session.simulation.robot.tip().position))
        steering = Steering(tuple(held["move"]), slow=held["slow"])
        session.steer(steering)
        session.step(steering)
        changes += [moment["surroundings"] for moment in [session.moment()] if "surroundings" in moment]
    assert session.state == "success" and len(changes) == 3  # a green one is passed, the next is green
    for change in changes:
        assert change["looks"] != view["surroundings"]["looks"]
        assert {one["mesh"] for one in change["visuals"]} <= set(change["meshes"]) and max(change["looks"]) < len(change["visuals"])


def test_a_decision_is_refused():
    with pytest.raises(EtudeError, match="is a decision, without a robot to drive"):
        drivable("iwisdm/low@val#0")
