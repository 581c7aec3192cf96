"""What happens while an episode is played: drawn from its name, part of its value, the same every time, and recovered from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from demo_fixtures import made, order

from etude.datasets.extra import extras
from etude.datasets.replaying import replay
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.evaluation.play import Players, play
from etude.evaluation.record import Record
from etude.evaluation.recovery import recoveries
from etude.library import episode, find
from etude.names import EtudeError
from etude.perturb.perturbation import known_perturbations
from etude.scene.events import CameraCovered, HandPushed, LightOut, ThingMoved

TIMED = {"move_object": ThingMoved, "light_out": LightOut, "cover_camera": CameraCovered, "push_hand": HandPushed}
PICK = "clevrskills/pick@train#0"
SCENES = (
    "clevrskills/simple_manipulation@train#1",
    "vima/visual_manipulation@L1#3",
    "vlmbench/pick_color@train#0",
    "himan/box_in_cupboard@train#0",
)
STILL = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0])


@pytest.fixture(scope="module")
def oracle():
    return Players("oracle")


def idle(simulation: Simulation, count: int) -> None:
    for _ in range(count):
        simulation.step(STILL)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("kind", TIMED)
def test_an_event_is_a_part_of_the_episode_and_nothing_else_changes(name, kind):
    plain, other = episode(name), episode(f"{name}+{kind}")
    (event,) = other.events
    assert type(event) is TIMED[kind] and known_perturbations()[kind].phase == "event"
    assert replace(other, name=plain.name, events=()) == plain
    assert Episode.from_json(other.to_json()) == other and '"events"' not in plain.to_json()


def test_together_each_is_what_it_is_alone():
    together = episode(f"{PICK}+{'+'.join(TIMED)}+light_color+paraphrase")
    alone = {event for kind in TIMED for event in episode(f"{PICK}+{kind}").events}
    assert set(together.events) == alone and [e.step for e in together.events] == sorted(e.step for e in alone)


def test_another_seed_gives_another_moment():
    moments = {episode(f"clevrskills/pick@train#{seed}+push_hand").events[0].step for seed in range(12)}
    assert len(moments) > 4 and 5 <= min(moments) < max(moments) <= 45


def test_decisions_and_things_that_do_not_stand_free_are_refused_in_one_line():
    for name, words in (
        ("iwisdm/low@test#0+push_hand", "does not apply to iwisdm"),
        ("himan/open_drawer@train#0+move_object", "nothing that is to be taken stands free"),
        ("clevrskills/place@train#0+move_object", "nothing that is to be taken stands free"),
    ):
        with pytest.raises(EtudeError, match=words) as refusal:
            find(name)
        assert "\n" not in str(refusal.value)


def test_a_thing_is_moved_to_its_place_and_nobody_is_credited_with_that():
    found = episode(f"{PICK}+move_object")
    (event,) = found.events
    simulation = Simulation(found)
    before = simulation.status
    idle(simulation, event.step)
    assert np.linalg.norm(np.subtract(simulation.world.pose(event.thing).position, found.scene.entity(event.thing).pose.position)) < 0.01
    idle(simulation, 1)
    assert np.allclose(simulation.world.pose(event.thing).position, event.places[0].position, atol=5e-3)
    assert simulation.happened == [event.step + 1] and simulation.status.satisfied == before.satisfied


def test_what_stands_on_furniture_stays_on_it_and_what_could_be_taken_but_is_not_meant_stays():
    (event,) = episode("himan/put_in_opened_drawer@train#0+move_object").events
    laid = episode("himan/put_in_opened_drawer@train#0").scene.entity(event.thing).pose
    assert all(place.position[2] == laid.position[2] and place.rotation == laid.rotation for place in event.places)
    things = {episode(f"himan/box_in_cupboard@train#{seed}+move_object").events[0].thing for seed in range(3)}
    meant = {episode(f"himan/box_in_cupboard@train#{seed}").instruction.text.split(" the ")[1].removesuffix(" in") for seed in range(3)}
    assert things == meant


def test_what_only_has_to_be_touched_may_be_moved_first(oracle):
    record, _ = play(oracle, "clevrskills/touch@train#0+move_object")
    assert record.success and record.events[0].happened is not None


def test_a_thing_in_the_hand_is_left_there():
    found = episode(f"{PICK}+move_object")
    simulation = Simulation(found)
    simulation.world.attach(found.events[0].thing)
    simulation.robot.grip(True)
    for _ in range(found.events[0].step + 2):
        simulation.step(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
    assert simulation.happened == [None]


def test_where_the_first_place_is_taken_the_next_one_is_used():
    found = episode(f"{PICK}+move_object")
    (event,) = found.events
    other = next(e for e in found.scene.entities if e.name != event.thing)
    simulation = Simulation(found)
    simulation.world.teleport({other.name: event.places[0]})
    idle(simulation, event.step + 1)
    moved = simulation.world.pose(event.thing).position[:2]
    assert [np.allclose(moved, place.position[:2], atol=5e-3) for place in event.places].index(True) > 0


def test_a_covered_camera_sees_nothing_and_the_light_goes_out():
    found = episode(f"{PICK}+cover_camera+light_out")
    camera = next(e.camera for e in found.events if isinstance(e, CameraCovered))
    simulation = Simulation(found)
    names = [c.name for c in found.scene.cameras if c.name != "render"]
    observer = Observer(simulation, names, (32, 32), ("rgb", "depth", "segmentation", "points"))
    bright = observer.look()
    idle(simulation, max(e.step for e in found.events) + 1)
    dark = observer.look()
    assert not any(dark[key].any() for key in (camera, f"{camera}_depth", f"{camera}_segmentation", f"{camera}_points"))
    other = next(name for name in names if name != camera)
    assert 0 < dark[other].mean() < 0.8 * bright[other].mean()
    simulation.reset(found)
    assert np.array_equal(observer.look()[camera], bright[camera])


def test_a_push_displaces_the_hand_and_then_is_over():
    found = episode(f"{PICK}+push_hand")
    (event,) = found.events
    simulation = Simulation(found)
    idle(simulation, event.step)
    before = np.array(simulation.robot.tip().position)
    idle(simulation, event.steps)
    pushed = np.array(simulation.robot.tip().position)
    idle(simulation, 3)
    assert 0.01 < np.linalg.norm(pushed - before) < 0.2
    assert np.linalg.norm(np.array(simulation.robot.tip().position) - pushed) < 0.01


def test_a_saved_state_brings_back_what_has_happened():
    found = episode(f"{PICK}+{'+'.join(TIMED)}")
    simulation = Simulation(found)
    idle(simulation, sorted(e.step for e in found.events)[1])
    saved = simulation.save()
    idle(simulation, 50)
    after = simulation.world.data.qpos.copy(), simulation.world.covered, simulation.world.scene.lighting, list(simulation.happened)
    simulation.restore(saved)
    assert simulation.world.scene.lighting == found.scene.lighting or simulation.happened[found.events.index(_light(found))]
    idle(simulation, 50)
    again = simulation.world.data.qpos, simulation.world.covered, simulation.world.scene.lighting, simulation.happened
    assert np.array_equal(after[0], again[0]) and after[1:] == again[1:]


def _light(found: Episode) -> LightOut:
    return next(e for e in found.events if isinstance(e, LightOut))


def test_the_oracle_recovers_and_the_record_tells_what_it_cost(oracle):
    records = [play(oracle, f"{PICK}{kind}")[0] for kind in ("", "+move_object", "+push_hand")]
    assert all(r.success for r in records)
    assert Record.from_line(records[1].to_line()) == records[1] and '"events"' not in records[0].to_line()
    found = recoveries(records)
    assert set(found) == {"move_object", "push_hand"} and found["move_object"].rate == 1.0
    assert found["move_object"].steps_lost == records[1].steps - records[0].steps > 0


def test_what_ended_before_anything_happened_does_not_count():
    from etude.evaluation.record import EventOutcome

    def made(name: str, success: bool, happened: int | None) -> Record:
        outcome = "success" if success else "failure"
        return Record(f"{name}~0", name, "vanilla", "L0", outcome, steps=20, events=(EventOutcome("HandPushed", 12, happened),))

    found = recoveries([made("s/t@x#0+push_hand", True, 13), made("s/t@x#1+push_hand", False, 13), made("s/t@x#2+push_hand", True, None)])
    assert (found["push_hand"].happened, found["push_hand"].recovered, found["push_hand"].steps_lost) == (2, 1, None)


def test_demonstrations_and_recorded_actions_meet_the_same_events_again(tmp_path):
    name = f"{PICK}+cover_camera+move_object"
    folder = made(order([name]), tmp_path / "set")
    assert all(one.same for one in replay(folder))
    (extra,) = extras(folder)
    assert extra.episode.events == episode(name).events
