"""VIMA's T10, T11 and T14 to T17: what is asked, what lies on the table, what is a mistake, and that the oracle makes none."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import combinations, pairwise

import pytest
from every import every
from vima_episodes import in_turn

import etude
from etude.catalog.registry import shape
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.evaluation.play import Players, play
from etude.goals.goal import Goal
from etude.goals.imitating import Followed, InTurn
from etude.goals.laying import Clear, Laid
from etude.pose import Vec2
from etude.prompts.instruction import ScenePicture, Words
from etude.prompts.pictures import multimodal
from etude.scene.scene import Body
from etude.scene.world import World
from etude.skills.laying import carried
from etude.suites.vima import things
from etude.suites.vima.things import EVERY, EVERY_BASE, TEXTURES, worn

DIFFICULTIES = ("default", "distracting", "extreme", "extremely_distracting")
TASKS = {
    **dict.fromkeys(("follow_motion", "same_texture"), ("L4",)),
    **dict.fromkeys(("follow_order", "same_shape", "manipulate_old_neighbor", "pick_in_order_then_restore"), ("train", "L1", "L2", "L3")),
}
TASKS_AND_SPLITS = [(task, split) for task, splits in TASKS.items() for split in splits]
TASKS_IN_TURN = in_turn(TASKS, DIFFICULTIES)


def episode(task: str, seed: int = 0, split: str = "", **options: str) -> Episode:
    chosen = "&".join(f"{key}={value}" for key, value in options.items())
    return etude.episode(f"vima/{task}@{split or TASKS[task][0]}#{seed}" + (f"?{chosen}" if chosen else ""))


def wording(found: Episode) -> str:
    """The prompt as the original writes it: pictures are slots in braces."""
    return "".join(p.words if isinstance(p, Words) else f"{{{p.slot}}}" for p in found.instruction.parts)


def leaves(goal: Goal, kind: type) -> list:
    return ([goal] if isinstance(goal, kind) else []) + [leaf for part in goal.parts() for leaf in leaves(part, kind)]


def bodies(found: Episode) -> dict[str, Body]:
    return {e.name: e for e in found.scene.entities if isinstance(e, Body)}


def loose(found: Episode) -> list[Body]:
    return [b for b in bodies(found).values() if not b.fixed]


def receiver(found: Episode) -> Body:
    return bodies(found)[dict(found.roles)["receiving"]]


def steps(found: Episode) -> list[Laid]:
    """What is to be laid where, in order."""
    return leaves(found.goal, Laid)


def bystanders(found: Episode) -> list[Body]:
    """What can be moved and is not asked for."""
    return [b for b in loose(found) if b.name not in {s.thing for s in steps(found)}]


def frames(found: Episode) -> list[dict[str, Body]]:
    return [{b.name: b for b in p.things} for p in found.instruction.pictures() if isinstance(p, ScenePicture)]


def across(a: Body | Vec2, b: Body | Vec2) -> float:
    (x, y), (u, v) = (t.pose.position[:2] if isinstance(t, Body) else t for t in (a, b))
    return math.hypot(x - u, y - v)


def moved(simulation: Simulation, thing: str, place: Vec2) -> None:
    """One pick and place, as any policy could do it."""
    simulation.step(carried(simulation.monitor.watch, thing, place).to_action())


def follow(simulation: Simulation, *wanted: Laid) -> None:
    for step in wanted:
        moved(simulation, step.thing, step.place)


def _onwards(found: Episode) -> bool:
    """Does the second move go where its object was not at the start?"""
    second = steps(found)[1]
    return across(second.place, bodies(found)[second.thing]) > 0.15


# ---------------------------------------------------------------------------------------- what is asked


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("follow_motion", "Follow this motion for {dragged_obj}: {frame_0} {frame_1} {frame_2}."),
        ("follow_order", "Stack objects in this order {frame_0} {frame_1} {frame_2}."),
        ("same_texture", "Put all objects with the same texture as {base_obj} into it."),
        ("same_shape", "Put all objects with the same profile as {base_obj} into it."),
        (
            "pick_in_order_then_restore",
            "Put {dragged_obj} into {base_obj_1} then {base_obj_2}. Finally restore it into its original container.",
        ),
    ],
)
def test_prompts_have_the_wording_and_the_slots_of_the_original(task, text):
    assert all(wording(episode(task, seed)) == text for seed in range(5))


def test_the_neighbour_is_the_one_in_the_direction_the_prompt_names():
    ways = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}
    told = set()
    for seed in range(40):
        found = episode("manipulate_old_neighbor", seed)
        text = wording(found)
        (way,) = [w for w in ways if f"at its {w} into" in text]
        told.add(way)
        assert text == (
            f"First put {{dragged_obj}} into {{base_obj}} then put the object that was previously at its {way} into the same {{base_obj}}."
        )
        (x, y), (u, v) = (bodies(found)[s.thing].pose.position[:2] for s in steps(found))
        assert (round((u - x) / 0.125), round((v - y) / 0.25)) == ways[way]
    assert told == set(ways)


@every("task", TASKS)
def test_episodes_round_trip_through_json_with_their_pictures(task):
    found = episode(task, 1, difficulty="extremely_distracting")
    assert Episode.from_json(found.to_json()) == found
    text, pictures = multimodal(found.instruction, found.scene, 32)
    assert len(pictures) == text.count("{image:")


def test_a_process_that_knows_no_suite_can_read_an_episode():
    found = episode("follow_motion")
    reader = "import sys; from etude.episodes import Episode; print(Episode.from_json(sys.stdin.read()).name)"
    said = subprocess.run([sys.executable, "-c", reader], input=found.to_json(), capture_output=True, text=True, check=True)
    assert said.stdout.strip() == found.name


# ---------------------------------------------------------------------------------------- frames


@pytest.mark.parametrize(("difficulty", "points"), [("default", 5), ("extreme", 10)])
def test_the_frames_of_a_motion_go_from_point_to_neighbouring_point(difficulty, points):
    stride = 2 * 0.19 * math.sin(math.pi / points)
    back_and_forth = set()
    for seed in range(12):
        found = episode("follow_motion", seed, difficulty=difficulty)
        name = dict(found.roles)["manipulated"]
        way = [frame[name] for frame in frames(found)]
        assert way[0].pose == bodies(found)[name].pose
        assert all(across(b, (0.5, 0.0)) == pytest.approx(0.19) for b in way)
        assert all(across(a, b) == pytest.approx(stride) for a, b in pairwise(way))
        assert [s.place for s in steps(found)] == [b.pose.position[:2] for b in way[1:]]
        back_and_forth.add(way[0].pose == way[2].pose)
    assert back_and_forth == {True, False}


@pytest.mark.parametrize(("difficulty", "count"), [("default", 1), ("distracting", 3)])
def test_other_distractors_stand_in_the_frames_of_a_motion_than_on_the_table_and_none_upon_another(difficulty, count):
    for seed in range(8):
        found = episode("follow_motion", seed, difficulty=difficulty)
        name = dict(found.roles)["manipulated"]
        here = bystanders(found)
        there = [b for b in frames(found)[0].values() if b.name != name]
        assert len(here) == len(there) == count
        assert not {(b.shape, b.texture) for b in here} & {(b.shape, b.texture) for b in there}
        assert min(across(b, (0.5, 0.0)) for b in there) < 1e-9
        beside = [b for b in here if abs(across(b, (0.5, 0.0)) - 0.19) < 1e-6]  # as the object itself: no place tells it
        assert len(beside) == 1 and all(across(beside[0], frame[name]) > 0.2 for frame in frames(found))
        for group in (here, there):
            assert all(across(a, b) > 0.06 for a, b in combinations(group, 2))
        assert [{k: b for k, b in frame.items() if k != name} for frame in frames(found)] == [{b.name: b for b in there}] * 3


def test_every_frame_of_an_order_stands_by_itself_and_differs_from_the_last_by_one_move():
    heights = set()
    for seed in range(20):
        found = episode("follow_order", seed)
        shown = frames(found)
        row = [b for b in loose(found) if b.name in shown[0]]
        assert {b.name: b.pose for b in row} == {b.name: b.pose for b in shown[0].values()}
        for frame in shown:
            for body in frame.values():
                tall = shape(body.shape, body.size).size[2]
                level = round(body.pose.position[2] / tall - 0.5, 6)
                heights.add(level)
                under = [b for b in frame.values() if across(b, body) < 1e-9 and b.pose.position[2] < body.pose.position[2] - 1e-9]
                assert level == len(under)
        for before, after, step in zip(shown, shown[1:], steps(found), strict=False):
            assert [n for n in before if before[n] != after[n]] == [step.thing]
            assert after[step.thing].pose.position[:2] == pytest.approx(step.place)
            x, y, z = before[step.thing].pose.position
            assert not [b for b in before.values() if across(b, (x, y)) < 1e-9 and b.pose.position[2] > z]
    assert heights >= {0, 1, 2}


def test_the_last_frame_is_what_the_oracle_leaves():
    found = episode("follow_order", 2)
    simulation = Simulation(found)
    follow(simulation, *steps(found))
    for name, body in frames(found)[-1].items():
        assert math.dist(simulation.world.pose(name).position, body.pose.position) < 0.01


# ---------------------------------------------------------------------------------------- mistakes in imitation


@pytest.mark.parametrize("task", ["follow_motion", "follow_order"])
def test_the_moves_in_their_order_succeed_and_another_order_does_not(task):
    found = next(e for e in (episode(task, seed, failure="final") for seed in range(20)) if _onwards(e))
    first, second = steps(found)
    simulation = Simulation(found)
    follow(simulation, first)
    assert not simulation.status.satisfied and not simulation.status.violated
    follow(simulation, second)
    assert simulation.status.satisfied
    simulation.reset()
    follow(simulation, second)
    assert simulation.status.violated


@pytest.mark.parametrize("task", ["follow_motion", "follow_order"])
def test_whatever_else_is_moved_is_a_mistake_that_only_the_strict_protocol_makes_final(task):
    usual, strict = (Simulation(episode(task, 4, **options)) for options in ({}, {"failure": "final"}))
    (rule,) = [n for n in usual.monitor.nodes() if isinstance(n.goal, Followed)]
    for simulation in (usual, strict):
        moved(simulation, bystanders(simulation.episode)[0].name, (0.3, -0.42))
    assert strict.status.violated and not usual.status.violated and not rule.status.satisfied
    follow(usual, *steps(usual.episode))
    follow(strict, *steps(strict.episode))
    assert usual.status.satisfied and rule.status.satisfied and strict.status.violated


def test_the_right_object_in_a_wrong_place_is_a_mistake():
    found = episode("follow_motion", 3, failure="final")
    (name,) = {s.thing for s in steps(found)}
    simulation = Simulation(found)
    moved(simulation, name, (0.35, -0.4))
    assert simulation.status.violated


def test_reaching_for_nothing_and_putting_back_are_no_moves():
    found = episode("follow_motion", 3, failure="final")
    name = steps(found)[0].thing
    simulation = Simulation(found)
    moved(simulation, name, bodies(found)[name].pose.position[:2])
    assert not simulation.status.violated
    follow(simulation, *steps(found))
    assert simulation.status.satisfied


def test_one_move_near_two_points_counts_once():
    found = next(e for e in (episode("follow_motion", seed, difficulty="extreme") for seed in range(20)) if _onwards(e))
    assert across(*(s.place for s in steps(found))) < 0.12
    first, second = steps(found)
    simulation = Simulation(found)
    between = ((first.place[0] + second.place[0]) / 2, (first.place[1] + second.place[1]) / 2)
    moved(simulation, first.thing, between)
    assert simulation.status.progress < 1 and not simulation.status.satisfied
    follow(simulation, second)
    assert simulation.status.satisfied


# ---------------------------------------------------------------------------------------- memory


def test_the_neighbour_first_is_a_mistake_and_must_come_again():
    usual, strict = (Simulation(episode("manipulate_old_neighbor", 1, **options)) for options in ({}, {"failure": "final"}))
    first, second = steps(usual.episode)
    for simulation in (usual, strict):
        follow(simulation, second)
    assert strict.status.violated
    (rule,) = [n for n in usual.monitor.nodes() if isinstance(n.goal, InTurn)]
    assert not rule.status.satisfied
    beside = (first.place[0] - 0.05, first.place[1])
    moved(usual, first.thing, beside)
    assert not usual.status.satisfied
    moved(usual, second.thing, (0.68, -0.4))
    follow(usual, second)
    assert usual.status.satisfied


def test_another_object_of_the_grid_in_the_base_is_a_mistake():
    found = episode("manipulate_old_neighbor", 1, failure="final")
    simulation = Simulation(found)
    moved(simulation, bystanders(found)[0].name, steps(found)[0].place)
    assert simulation.status.violated


def test_restoring_goes_to_the_container_where_the_object_was():
    for seed in range(8):
        found = episode("pick_in_order_then_restore", seed)
        one, two, home = steps(found)
        start = bodies(found)[home.thing]
        assert across(start, home.place) < 0.001
        inside = bodies(found)
        assert [inside[s.into].fixed for s in (one, two, home)] == [True] * 3
        assert len({one.into, two.into, home.into}) == 3
        slots = {p.slot: p for p in found.instruction.pictures()}
        assert [slots[f"base_obj_{k}"].texture for k in (1, 2)] == [inside[s.into].texture for s in (one, two)]


def test_containers_in_another_order_are_a_mistake():
    found = episode("pick_in_order_then_restore", 2, failure="final")
    one, two, home = steps(found)
    simulation = Simulation(found)
    assert not simulation.status.violated  # lying in the original container from the start is none
    follow(simulation, two)
    assert simulation.status.violated
    simulation.reset()
    follow(simulation, one, home)
    assert simulation.status.violated
    simulation.reset()
    follow(simulation, one, two)
    assert not simulation.status.violated and not simulation.status.satisfied
    follow(simulation, home)
    assert simulation.status.satisfied


# ---------------------------------------------------------------------------------------- sameness


def test_what_is_asked_for_has_the_texture_of_the_base_and_nothing_else_has():
    for seed in range(10):
        found = episode("same_texture", seed, difficulty="distracting")
        base = receiver(found)
        asked = [bodies(found)[s.thing] for s in steps(found)]
        assert len(asked) == 2 and {b.texture for b in asked} == {base.texture}
        assert base.texture not in {b.texture for b in bystanders(found)}


PROFILES = {t.shape: t.profile for t in (*EVERY, *EVERY_BASE)}


@pytest.mark.parametrize("split", ("train", "L1", "L2", "L3"))
@pytest.mark.parametrize("difficulty", ["distracting", "extremely_distracting"])
def test_what_is_asked_for_has_the_profile_of_the_base_and_nothing_else_has(split, difficulty):
    bases = set()
    for seed in range(30):
        found = episode("same_shape", seed, split, difficulty=difficulty)
        base = receiver(found)
        bases.add(base.shape)
        wanted = PROFILES[base.shape] or base.shape
        asked = {s.thing for s in steps(found)}
        assert all(((PROFILES[b.shape] or b.shape) == wanted) == (b.name in asked) for b in loose(found))
        textures = [b.texture for b in loose(found)]
        assert len(set(textures)) == len(textures)
    if difficulty == "distracting":
        assert bases == {t.shape for t in things.pools(split).bases}  # not the bowl alone
    else:
        assert not bases & {t.shape for t in EVERY_BASE}


@pytest.mark.parametrize("task", ["same_texture", "same_shape"])
def test_how_near_is_near_enough_depends_on_the_base_of_the_episode_alone(task):
    bowls = set()
    for seed in range(24):
        found = episode(task, seed)
        bowl = receiver(found).shape == "bowl"
        bowls.add(bowl)
        eps = 0.0875 if bowl else 0.125
        assert {leaf.tolerance for leaf in [*steps(found), *leaves(found.goal, Clear)]} == {eps}
        assert all(across(b, steps(found)[0].place) > eps + 0.01 for b in loose(found))
    assert bowls == {True, False}


@pytest.mark.parametrize("task", ["same_texture", "same_shape"])
def test_a_distractor_in_the_base_keeps_the_episode_open(task):
    found = next(e for e in (episode(task, seed) for seed in range(40)) if receiver(e).shape in ("frame", "square"))
    simulation = Simulation(found)
    x, y = steps(found)[0].place
    moved(simulation, bystanders(found)[0].name, (x, y + math.copysign(0.11, -y)))
    follow(simulation, *steps(found))
    assert not simulation.status.satisfied
    moved(simulation, bystanders(found)[0].name, (0.3, math.copysign(0.42, -y)))
    assert simulation.status.satisfied


# ---------------------------------------------------------------------------------------- levels and difficulty


@pytest.mark.parametrize(("task", "split"), TASKS_AND_SPLITS)
def test_each_level_keeps_to_its_shapes_and_textures(task, split):
    pool = things.pools(split)
    short = {"same_texture", "same_shape"}
    dragged = {t.shape for t in pool.dragged} | ({"block"} if task in short else set())
    paint = TEXTURES if task == "follow_motion" or (task, split) == ("follow_order", "L3") else pool.dragged_textures
    if task == "same_texture":
        paint = (*paint, *pool.base_textures)
    for seed in range(3):
        for difficulty in DIFFICULTIES:
            found = episode(task, seed, split, difficulty=difficulty)
            extreme = "extreme" in difficulty
            for body in bodies(found).values():
                if body.fixed:
                    bases = dragged if extreme and task != "pick_in_order_then_restore" else {t.shape for t in pool.bases}
                    assert body.shape in bases and body.texture in map(worn, pool.base_textures)
                else:
                    assert body.shape in dragged and body.texture in map(worn, paint)
                    assert task not in short or body.shape != "block" or body.size == things.SHORTER_BLOCK.size


@pytest.mark.parametrize(
    ("task", "difficulty", "objects", "fixed"),
    [
        ("follow_motion", "default", 2, 0), ("follow_motion", "distracting", 4, 0), ("follow_motion", "extreme", 2, 0),
        ("follow_order", "default", 4, 0), ("follow_order", "distracting", 6, 0), ("follow_order", "extreme", 6, 0),
        ("follow_order", "extremely_distracting", 8, 0),
        ("same_texture", "default", 3, 1), ("same_texture", "distracting", 7, 1), ("same_texture", "extreme", 3, 1),
        ("same_shape", "default", 3, 1), ("same_shape", "distracting", 7, 1), ("same_shape", "extreme", 3, 1),
        ("manipulate_old_neighbor", "default", 5, 1), ("manipulate_old_neighbor", "distracting", 7, 1),
        ("manipulate_old_neighbor", "extreme", 16, 1), ("manipulate_old_neighbor", "extremely_distracting", 18, 1),
        ("pick_in_order_then_restore", "default", 1, 6), ("pick_in_order_then_restore", "distracting", 5, 6),
        ("pick_in_order_then_restore", "extreme", 1, 6), ("pick_in_order_then_restore", "extremely_distracting", 5, 6),
    ],
)  # fmt: skip
def test_difficulty_adds_what_the_table_says(task, difficulty, objects, fixed):
    for seed in range(4):
        found = episode(task, seed, difficulty=difficulty)
        assert len(loose(found)) == objects and len(bodies(found)) == objects + fixed


def test_extreme_containers_differ_in_shape_and_usual_ones_only_in_texture():
    differ = 0
    for seed in range(6):
        both = (episode("pick_in_order_then_restore", seed, difficulty=d) for d in ("default", "extreme"))
        usual, extreme = ([b for b in bodies(e).values() if b.fixed] for e in both)
        assert len({b.shape for b in usual}) == 1 and len({b.texture for b in usual}) == 6
        differ += len({b.shape for b in extreme}) > 1
    assert differ == 6


@every("task", TASKS)
def test_difficulty_leaves_alone_what_it_need_not_change(task):
    """What is to be moved looks the same with and without distractors."""
    for seed in range(4):
        usual, crowded = (episode(task, seed, difficulty=d) for d in ("default", "distracting"))
        asked = [[(bodies(e)[s.thing].shape, bodies(e)[s.thing].texture) for s in steps(e)] for e in (usual, crowded)]
        assert asked[0] == asked[1]


# ---------------------------------------------------------------------------------------- the oracle


@pytest.fixture(scope="module")
def oracle() -> Players:
    return Players("oracle")


@pytest.mark.parametrize(("task", "split", "difficulty"), TASKS_IN_TURN)
def test_the_oracle_solves_every_task_with_as_few_actions_as_it_takes(oracle, task, split, difficulty):
    """Every task on each of its splits and in each difficulty, not all of their pairs; ``etude evaluate`` plays those."""
    found = episode(task, 7, split, failure="final", difficulty=difficulty)
    record, _ = play(oracle, found.name)
    assert record.outcome == "success" and record.steps == found.least == (3 if task == "pick_in_order_then_restore" else 2)


@every("task", TASKS)
def test_the_oracle_solves_the_same_tasks_with_small_movements_of_the_hand(task):
    record, _ = play(Players("oracle:action=ee_delta"), episode(task, 5, failure="final").name)
    assert record.outcome == "success"


def test_two_objects_lie_firmly_in_one_base():
    """One upon the other where there is no room beside it; a while later they are still there."""
    for task, seed in (("same_texture", 1), ("same_texture", 2), ("same_shape", 0), ("same_shape", 3)):
        found = episode(task, seed)
        simulation = Simulation(found)
        follow(simulation, *steps(found))
        world: World = simulation.world
        world.step(20)
        assert all(across(world.pose(s.thing).position[:2], s.place) < s.tolerance for s in steps(found))


def test_an_oracle_that_takes_over_mends_what_was_moved_by_mistake(oracle):
    found = episode("manipulate_old_neighbor", 1)
    simulation = Simulation(found)
    follow(simulation, steps(found)[1])
    policy = oracle.policy
    policy.reset("", (), found.name)
    while not simulation.status.satisfied and simulation.steps < 8:
        simulation.step(policy.act({"simulation": simulation}))
    assert simulation.status.satisfied
