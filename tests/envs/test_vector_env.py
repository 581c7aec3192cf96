"""The vector environment's contract: what single environments give, from any number of processes, in Gymnasium's form for batches."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from forked_process import forked
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import etude
from etude.names import EtudeError
from etude.vector.arrays import arrays_in, bytes_of
from etude.vector.stream import EnvKind, EpisodeStream
from etude.vector.subenvs import BatchPlan, Beginning, SubEnvs, fields

TOUCH = "etude/clevrskills.touch-v1"
SMALL = {"cameras": ("base",), "size": (16, 16), "modalities": ("rgb", "depth"), "reward": "gain", "labels": True}
SHORT = 4  # steps of an episode, at most
STEPS = 10
SEED = 5
OPEN = Path("/proc/self/fd")


def same(one, other):
    """Is it the same to the last bit, whatever it is?"""
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) and one.dtype != object:
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, np.ndarray | tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def of_world(batch, world):
    """What a batch of observations or infos says of one world."""
    if isinstance(batch, dict):
        return {key: of_world(value, world) for key, value in batch.items() if f"_{key}" not in batch or batch[f"_{key}"][world]}
    value = batch[world]
    return value.item() if isinstance(value, np.generic) else value


def without_masks(infos):
    return {k: without_masks(v) if isinstance(v, dict) else v for k, v in infos.items() if not (isinstance(k, str) and k.startswith("_"))}


def actions(step, worlds=3):
    return np.sin(np.arange(7 * worlds).reshape(worlds, 7) + step)


def played(envs, steps=STEPS, seed=SEED):
    trace = [envs.reset(seed=seed)]
    return [*trace, *(envs.step(actions(k, envs.num_envs)) for k in range(steps))]


@pytest.fixture(scope="module")
def teams():
    """Batches of three worlds by mode and number of processes, made once."""
    made = {}

    def team(mode, workers):
        if (mode, workers) not in made:
            made[mode, workers] = etude.make_vec(TOUCH, 3, workers=workers, autoreset_mode=mode, max_episode_steps=SHORT, **SMALL)
        return made[mode, workers]

    yield team
    for envs in made.values():
        envs.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_batch_is_so_many_single_environments_to_the_bit(teams, mode):
    """Every world plays seeds that no other gets, and what ends is followed by the next as the mode says."""
    trace = played(teams(mode, 0))
    for world in range(3):
        seeds = itertools.count(SEED + world, 3)
        env = gymnasium.make(TOUCH, max_episode_steps=SHORT, disable_env_checker=True, **SMALL)
        seen, info = env.reset(seed=next(seeds))
        over = False
        for step, found in enumerate(trace):
            reward, terminated, truncated, final = 0.0, False, False, None
            if step and over and mode == "NextStep":
                (seen, info), over = env.reset(seed=next(seeds)), False
            elif step:
                seen, reward, terminated, truncated, info = env.step(actions(step - 1)[world])
                over = terminated or truncated
                if over and mode == "SameStep":
                    final = seen, info
                    seen, info = env.reset(seed=next(seeds))
            told = without_masks(of_world(found[-1], world))
            assert same(of_world(found[0], world), seen), (world, step)
            if final is not None:
                assert same(told.pop("final_obs"), final[0]) and same(told.pop("final_info"), final[1])
            assert same(told, info), (world, step)
            if step:
                assert [part[world].item() for part in found[1:4]] == [reward, terminated, truncated]
        assert next(seeds) > SEED + world + 6


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_any_number_of_processes_gives_the_same_bytes(teams, mode):
    alone = played(teams(mode, 0))
    team = teams(mode, 2)
    played(team, steps=3, seed=90)  # whatever was played before
    assert all(same(one, other) for one, other in zip(alone, played(team), strict=True))


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("workers", [0, 2])
def test_worlds_that_come_back_as_they_are_ready_play_what_they_play_in_step(teams, mode, workers):
    """The third world lags three steps behind: each is at its own step, and sees what it sees at that step beside the others."""
    trace, envs = played(teams(mode, 0)), teams(mode, workers)
    envs.reset(seed=SEED)
    done, lagging = [0, 0, 0], True
    envs.send(actions(0)[:2], [0, 1])
    while min(done) < STEPS:
        seen, *outcome, infos, worlds = envs.recv()
        for row, world in enumerate(worlds.tolist()):
            done[world] += 1
            in_step = trace[done[world]]
            assert same({key: value[row] for key, value in seen.items()}, {key: value[world] for key, value in in_step[0].items()})
            assert [part[row] for part in outcome] == [part[world] for part in in_step[1:4]]
            assert same(infos[row], without_masks(of_world(in_step[4], world))), (world, done[world])
            if done[world] < STEPS:
                envs.send(actions(done[world])[[world]], [world])
        if lagging and max(done) >= 3:
            with pytest.raises(EtudeError, match=r"the worlds \[.*\] are under way: recv\(\) them first"):
                envs.step(actions(0))
            envs.send(actions(0)[2:], [2])
            lagging = False


def test_what_is_sent_and_received_is_checked_before_a_world_moves(teams):
    envs = teams("NextStep", 2)
    first = envs.reset(seed=SEED)
    for wrong, message in (
        ((actions(0)[:2], [0, 3]), "there are the worlds 0 to 2, got 3"),
        ((actions(0)[:2], [1, 1]), r"a world is sent once and received before it is sent again; got \[1, 1\]"),
        ((actions(0), [0, 1]), r"a batch of actions has the shape \(2, 7\)"),
    ):
        with pytest.raises(EtudeError, match=message):
            envs.send(*wrong)
    with pytest.raises(EtudeError, match="only 0 are under way: send them first"):
        envs.recv()
    envs.send(actions(0))
    with pytest.raises(EtudeError, match=r"under way are \[0, 1, 2\]"):
        envs.send(actions(0)[:1], [0])
    *_, worlds = envs.recv(3)
    assert sorted(worlds.tolist()) == [0, 1, 2] and same(envs.reset(seed=SEED), first)


def test_an_episode_that_was_prepared_in_a_pause_is_the_same_to_the_bit(teams):
    """The worlds of one process use every pause; what they write is what the batch gives without pauses."""
    trace = played(teams("SameStep", 0))
    settings = {**SMALL, "max_episode_steps": SHORT}
    plan = BatchPlan(EpisodeStream((EnvKind(TOUCH),), 3), settings, AutoresetMode.SAME_STEP)
    single = EnvKind(TOUCH).make(settings)
    layout = fields(plan, single.observation_space, single.action_space, 1)
    arrays = arrays_in(layout, bytearray(bytes_of(layout)))
    subenvs, ends = SubEnvs(plan, range(3), arrays), 0
    for step, (observation, *_) in enumerate(trace):
        told = subenvs.step() if step else subenvs.reset([Beginning(world, SEED) for world in range(3)])
        ends += len(told.get("final", ()))
        assert all(same(arrays[f"seen/{key}"], value) for key, value in observation.items() if key != "instruction"), step
        subenvs.use_pause(lambda seconds: False)  # nothing is asked until all is prepared
        arrays["action"][:] = actions(step)
    assert ends == 6


def test_spaces_hold_what_is_given_and_the_mode_is_declared(teams):
    for mode in ("NextStep", "SameStep"):
        envs = teams(mode, 0)
        assert envs.metadata["autoreset_mode"] == AutoresetMode(mode)
        for observation, *_ in played(envs):
            assert envs.observation_space.contains(observation)
        assert envs.single_observation_space.contains(of_world(observation, 2))
        assert envs.action_space.shape == (3, 7) and envs.single_action_space.shape == (7,)


def test_gymnasiums_own_vector_environments_say_the_same_in_the_same_form(teams):
    single = [lambda: gymnasium.make(TOUCH, max_episode_steps=SHORT, **SMALL)] * 3
    ours = played(teams("NextStep", 2), SHORT)
    for theirs in (SyncVectorEnv(single), AsyncVectorEnv(single, shared_memory=False)):
        trace = played(theirs, SHORT)
        assert all(same(one, other) for one, other in zip(ours, trace, strict=True))
        assert theirs.observation_space == teams("NextStep", 2).observation_space
        theirs.close()
    theirs = SyncVectorEnv(single, autoreset_mode="SameStep")
    ours, last = played(teams("SameStep", 2), SHORT)[-1], played(theirs, SHORT)[-1]
    assert ours[3].all()
    for key in ("final_obs", "_final_obs", "final_info", "_final_info"):
        assert same(ours[-1][key], last[-1][key]), key


def test_seeds_say_which_episodes_come_and_a_reset_without_one_goes_on(teams):
    envs = teams("NextStep", 0)
    name = "clevrskills/touch@train#{}".format
    assert list(envs.reset(seed=20)[1]["episode_name"]) == [name(20), name(21), name(22)]
    assert list(envs.reset()[1]["episode_name"]) == [name(23), name(24), name(25)]
    assert list(envs.reset(seed=[7, 3, 30])[1]["episode_name"]) == [name(7), name(3), name(30)]
    assert list(envs.reset()[1]["episode_name"]) == [name(31), name(32), name(33)]
    _, infos = envs.reset(options={"episode": "clevrskills/touch@test#2", "reset_mask": np.array([False, True, False])})
    assert list(infos["episode_name"]) == [None, "clevrskills/touch@test#2", None] and list(infos["_progress"]) == [False, True, False]
    assert list(envs.step(actions(0))[-1]["episode_name"]) == [name(31), "clevrskills/touch@test#2", name(33)]
    with pytest.raises(EtudeError, match="one for each of the 3 worlds, got 2"):
        envs.reset(seed=[1, 2])


def test_several_tasks_take_turns_and_names_are_shared_out():
    envs = etude.make_vec(["clevrskills/pick", "clevrskills/touch@val"], 3, workers=0, cameras=(), max_episode_steps=1)
    assert list(envs.reset(seed=4)[1]["episode_name"]) == [
        "clevrskills/pick@train#4",
        "clevrskills/touch@val#4",
        "clevrskills/pick@train#5",
    ]
    assert list(envs.reset()[1]["episode_name"]) == ["clevrskills/touch@val#5", "clevrskills/pick@train#6", "clevrskills/touch@val#6"]
    names = [f"clevrskills/touch@test#{k}" for k in range(3)]
    envs = etude.make_vec(names, 2, workers=0, cameras=())
    assert [list(envs.reset()[1]["episode_name"]) for _ in range(3)] == [[names[0], names[1]], [names[2], names[1]], [names[0], names[1]]]
    with pytest.raises(EtudeError, match="4 worlds need as many episodes, or more, and 3 were named"):
        etude.make_vec(names, 4)
    with pytest.raises(EtudeError, match="cannot be one batch: the observation space of one is"):
        etude.make_vec(["clevrskills/touch@test#0", "clevrskills/touch@test#1?robot=panda"], 2, workers=0, cameras=())


def test_every_registered_task_is_reached_through_gymnasium():
    assert all(spec.vector_entry_point for name, spec in gymnasium.registry.items() if name.startswith("etude/"))
    envs = gymnasium.make_vec(TOUCH, num_envs=2, vectorization_mode="vector_entry_point", workers=0, cameras=(), perturb=("light_color",))
    assert envs.reset(seed=1)[1]["episode_name"][1] == "clevrskills/touch@train#2+light_color"
    assert envs.spec.id == TOUCH and envs.spec.kwargs["num_envs"] == 2


def test_decisions_are_played_in_batches_too():
    envs = gymnasium.make_vec("etude/iwisdm.low-v1", num_envs=2, workers=0, size=32)
    single = SyncVectorEnv([lambda: gymnasium.make("etude/iwisdm.low-v1", size=32)] * 2)
    assert same(envs.reset(seed=3), single.reset(seed=3))
    answers = np.array([1, 0])
    assert same(envs.step(answers), single.step(answers)) and envs.observation_space.contains(envs.step(answers)[0])
    with pytest.raises(EtudeError, match="whole numbers from 0 to"):
        envs.step(np.array([0, 99]))


def test_gymnasiums_statistics_of_episodes_go_with_it(teams):
    envs = RecordEpisodeStatistics(teams("SameStep", 0))
    envs.reset(seed=0)
    for k in range(SHORT):
        *_, infos = envs.step(actions(k))
    assert list(infos["episode"]["l"]) == [SHORT] * 3


def test_without_copies_the_next_step_changes_what_was_given():
    envs = etude.make_vec(TOUCH, 1, workers=0, cameras=(), copy=False)
    first, _ = envs.reset(seed=0)
    before = first["proprioception"].copy()
    second = envs.step(np.ones((1, 7)))[0]
    assert second["proprioception"] is first["proprioception"] and not np.array_equal(before, first["proprioception"])


def test_disabled_resets_are_the_callers():
    envs = etude.make_vec(TOUCH, 2, workers=0, cameras=(), max_episode_steps=1, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=0)
    envs.step(np.zeros((2, 7)))
    with pytest.raises(EtudeError, match=r"the episodes of the worlds \[0, 1\] are over"):
        envs.step(np.zeros((2, 7)))
    envs.reset(options={"reset_mask": np.array([True, True])})
    envs.step(np.zeros((2, 7)))


def test_pictures_and_calls_come_back_from_workers():
    with contextlib.closing(etude.make_vec(TOUCH, 2, workers=1, cameras=(), render_mode="rgb_array")) as envs:
        with pytest.raises(EtudeError, match=r"call reset\(\) first"):
            envs.step(np.zeros((2, 7)))
        envs.reset(seed=0)
        pictures = envs.render()
        single = gymnasium.make(TOUCH, cameras=(), render_mode="rgb_array")
        single.reset(seed=1)
        assert len(pictures) == 2 and np.array_equal(pictures[1], single.render())
        words, images = envs.call("instruction_pictures", pixels=16)[1]
        assert words == single.unwrapped.instruction_pictures()[0] and images[0].shape == (16, 16, 3)
        with pytest.raises(EtudeError, match="what 'simulation' gives stays in its process"):
            envs.get_attr("simulation")
        assert envs.get_attr("render_mode") == ("rgb_array",) * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_envs": 0}, "num_envs must be a whole number, at least 1; got 0"),
        ({"workers": -1}, "workers must be a whole number, at least 0; got -1"),
        ({"autoreset_mode": "NextStp"}, "did you mean 'NextStep'"),
        ({"copy": 1}, "copy must be True or False"),
        ({"what": "etude/clevrskills.tuch-v1"}, "did you mean 'etude/clevrskills.touch-v1'"),
        ({"what": "clevrskills/tuch"}, "did you mean 'touch'"),
        ({"what": "clevrskills@tst"}, "did you mean 'test'"),
        ({"what": "clevrskills/touch@val", "split": "test"}, "split is not combined"),
        ({"what": ["clevrskills/touch", "clevrskills/touch@test#0"]}, "not both"),
        ({"reward": "gian"}, "did you mean 'gain'"),
        ({"what": ["clevrskills/touch", "himan/open_drawer"]}, "cannot be one batch: the action space of one is"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_started(change, message):
    with pytest.raises(EtudeError, match=message):
        etude.make_vec(**{"what": TOUCH, "num_envs": 2, "cameras": (), **change})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.zeros((2, 7)), r"has the shape \(3, 7\), one row for each world; got \(2, 7\)"),
        (np.full((3, 7), np.nan), "must be finite"),
        ("up", "text"),
    ],
)
def test_wrong_actions_are_refused_and_no_world_has_moved(teams, wrong, message):
    envs = teams("NextStep", 0)
    before = envs.reset(seed=0)[0]
    with pytest.raises(EtudeError, match=message):
        envs.step(wrong)
    assert same(envs.reset(seed=0)[0], before)


def children():
    return {child.pid for child in multiprocessing.active_children()}


def step(envs):
    envs.step(np.zeros((2, 7)))


def send_and_receive(envs):
    envs.send(np.zeros((2, 7)))
    envs.recv(2)


@pytest.mark.parametrize("move", [step, send_and_receive])
def test_a_worker_that_dies_is_told_and_takes_the_others_along(teams, move):
    teams("NextStep", 2)  # the fork server, which stays, has files open too
    before, open_files = children(), len(list(OPEN.iterdir()))
    envs = etude.make_vec(TOUCH, 2, workers=2, cameras=())
    envs.reset(seed=0)
    first, _ = sorted(children() - before)
    os.kill(first, signal.SIGKILL)
    with pytest.raises(EtudeError, match=r"the worker with world 0 ended \(signal SIGKILL\)"):
        move(envs)
    assert children() == before
    with pytest.raises(EtudeError, match="closed"):
        move(envs)
    del envs
    assert len(list(OPEN.iterdir())) == open_files


def test_an_interrupt_leaves_nothing_behind_once_it_is_closed():
    def interrupt(*_):
        raise KeyboardInterrupt

    before = children()
    envs = etude.make_vec(TOUCH, 1, workers=1, cameras=())
    envs.reset(seed=0)
    handler = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            while True:
                envs.step(np.zeros((1, 7)))
    finally:
        signal.signal(signal.SIGALRM, handler)
    envs.close()
    assert children() == before
    with pytest.raises(EtudeError, match="closed"):
        envs.reset()


BREAKING = """
from dataclasses import dataclass
from etude import Draft, Draw, instruction
from etude.goals import Goal, Status
from etude.suites.clevrskills.stage import A, ClevrSceneBuilder
from etude.suites.clevrskills.suite import clevrskills

@dataclass(frozen=True)
class Breaking(Goal):
    def judge(self, watch, node):
        return Status(False, 1 / (not watch.robot.closed), 0.0)

@clevrskills.task(level="L0", horizon=300)
def breaking(draw: Draw) -> Draft:
    return Draft(ClevrSceneBuilder(draw, *A).scene(), Breaking(), (instruction("Go on"),))
"""


def test_an_error_is_told_with_the_users_frames_and_workers_end_with_their_parent(tmp_path):
    """In a process of its own: it brings a task whose goal divides by zero when the hand closes, plays it, and is killed."""
    (tmp_path / "breaking_task.py").write_text(BREAKING)

    def program():
        etude.load("breaking_task")
        inherited = children()
        envs = etude.make_vec("clevrskills/breaking", 2, workers=1, cameras=())
        envs.reset(seed=0)
        print(*children() - inherited, flush=True)
        try:
            envs.step([[0, 0, 0, 0, 0, 0, -1], [0, 0, 0, 0, 0, 0, 1]])
        except EtudeError as error:
            print(error, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    done = forked(program, tmp_path, alone=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    pid, message = done.stdout.splitlines()
    assert message.startswith("world 1: ZeroDivisionError: ") and "breaking_task.py:11 in judge" in message
    with contextlib.suppress(ProcessLookupError):
        watched = os.pidfd_open(int(pid))
        assert multiprocessing.connection.wait([os.fdopen(watched)], 60.0), "the worker outlives its parent"
