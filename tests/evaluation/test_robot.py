"""A robot somewhere else, judged by a person: an ordinary run, in which nothing is known that a robot would not know."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
from simulated_robots import Knowing, Remembered, served, verdicts

import etude
from etude.evaluation.judge import JudgedEpisode, TerminalJudge
from etude.evaluation.robot_play import JudgedGuide, RobotBody, subtasks
from etude.evaluation.run import merge
from etude.evaluation.store import read_run
from etude.names import EtudeError
from etude.policies.contract import Contract
from etude.policies.robot_client import RemoteRobot, RobotError
from etude.policies.robot_wire import RobotFacts, RobotFeeling
from etude.policies.simulated_robot import SimulatedRobot
from etude.report.contestants import contestants
from etude.report.exports import collect
from etude.web.judging import PageJudge, page_port

OPEN, CLOSE = "himan_real/open_drawer@test#0", "himan_real/close_drawer@test#0"
PUT = "himan_real/table_item_in_opened_drawer@test#1"


def test_what_a_person_says_of_a_robot_is_what_the_simulation_behind_it_thinks(tmp_path):
    names = [OPEN, CLOSE, PUT]
    policy = Remembered(names)
    with served(SimulatedRobot("himan_real", tmp_path / "verdicts.jsonl")) as (robot, address):
        run = etude.evaluate(policy, names, robot=address, judge=Knowing(robot), out=tmp_path / "run")
    assert [r.episode for r in run.records] == names and all(r.judged == "person" for r in run.records)
    assert {r.episode: (r.outcome, r.steps, r.id) for r in run.records} == {
        name: (one.outcome, one.steps, one.id) for name, one in policy.records.items()
    }
    known = verdicts(tmp_path / "verdicts.jsonl")
    assert all(r.success == known[r.episode]["success"] for r in run.records)
    assert "played on the robot simulated himan_real and judged by a person" in run.judged
    assert (tmp_path / "run" / "episodes.jsonl").read_text().count('"judged":"person"') == 3


def test_what_is_not_done_is_a_failure_and_what_was_at_fault_an_error(tmp_path):
    class Doubting(Knowing):
        def episode(self, text):
            return "at fault" if "close" in text else super().episode(text)

    with served() as (robot, address):
        run = etude.evaluate(Remembered([OPEN, CLOSE], enough=1), [OPEN, CLOSE], robot=address, judge=Doubting(robot), out=tmp_path / "run")
    failed, fault = run.records
    assert failed.outcome == "failure" and failed.steps == 15 and not failed.success
    assert fault.outcome == "error" and fault.error == "judged at fault, robot or set-up: close the top drawer" and fault.judged == "person"


def test_under_the_rule_the_hand_moves_it_on_and_every_subtask_is_judged(tmp_path):
    name = "himan_real/table_item_in_opened_drawer_close@test#1"
    policy = Remembered([name], "rule")
    with served() as (robot, address):
        judge = Knowing(robot)
        run = etude.evaluate(policy, [name], robot=address, judge=judge, mode="rule", out=tmp_path / "run")
    (record,), simulated = run.records, policy.records[name]
    assert record.success == simulated.success is True
    assert [s.subtask for s in record.stages] == [s.subtask for s in simulated.stages] == list(judge.shown[0].subtasks)
    assert all(s.right and s.done for s in record.stages) and record.fault is None and record.progress == 1.0
    assert judge.asked == [*judge.shown[0].subtasks, etude.episode(name).instruction.text]


def test_a_persons_word_moves_it_on_where_the_hand_does_not(tmp_path):
    class Impatient(Knowing):
        def __init__(self, robot):
            super().__init__(robot)
            self._turns = 0

        def heard(self):
            self._turns += 1
            return "next" if self._turns % 2 == 0 else ""

        def subtask(self, text):
            return "done"

        def episode(self, text):
            return "done"

    with served() as (robot, address):
        run = etude.evaluate(
            Remembered([OPEN]), [OPEN], robot=address, judge=Impatient(robot), mode="rule", advance="person", out=tmp_path / "run"
        )
    assert [(s.subtask, s.begun, s.ended) for s in run.records[0].stages] == [
        ("grasp the top drawer handle", 0, 1), ("pull the top drawer open", 1, 3),
    ]  # fmt: skip
    assert run.plan.advance == "person"


class Speaking:
    """A planner who looks through the front camera, and says what it was made to say."""

    contract = Contract(cameras=("front",), size=(32, 32))

    def __init__(self, *texts):
        self._texts, self.seen = texts, []

    def reset(self, instruction, pictures, episode):
        pass

    def next_subtask(self, observation, instruction, history):
        self.seen.append((observation["front"].shape, instruction, history, "pull the middle drawer open" in observation["vocabulary"]))
        return self._texts[min(len(history), len(self._texts) - 1)]


def test_a_planner_is_asked_with_the_robots_pictures_and_its_mistakes_are_planning(tmp_path):
    planner = Speaking("grasp the middle drawer handle", "pull the top drawer open")
    with served() as (robot, address):
        run = etude.evaluate(
            Remembered([OPEN], enough=2), [OPEN], planner=planner, robot=address, judge=Knowing(robot), mode="coupled", out=tmp_path / "run"
        )
    (record,) = run.records
    assert planner.seen[0] == ((32, 32, 3), "open the top drawer", (), True)
    first, second = record.stages[:2]
    assert (first.expected, first.right) == (("grasp the top drawer handle",), False) and second.begun == 2
    assert record.fault == "planning" and not record.success


def test_the_policy_sees_what_its_contract_asks_for_in_its_own_conventions(tmp_path):
    class Looking(Remembered):
        contract = Contract.etude(
            cameras=("front", "wrist"), size=(24, 16), called=("outside", "inside"), orientation="rotated_180", modalities=("rgb", "depth")
        )

        def act(self, observation):
            self.seen = observation
            return super().act(observation)

    policy = Looking([OPEN])
    with served() as (robot, address):
        run = etude.evaluate(policy, [OPEN], robot=address, judge=Knowing(robot), out=tmp_path / "run")
    assert run.records[0].success and "outside" in run.info["converted"]["policy"][-1]
    assert policy.seen["outside"].shape == (16, 24, 3) and policy.seen["inside_depth"].shape == (16, 24)
    assert policy.seen["instruction"] == "open the top drawer"


def test_a_robot_that_goes_away_is_an_error_and_the_run_goes_on_when_it_is_back(tmp_path):
    names, policy = [OPEN, CLOSE], Remembered([OPEN, CLOSE])

    class Gone(SimulatedRobot):
        def act(self, action):
            if self.simulation.episode.name == CLOSE and self.broken:
                raise OSError("the cable is out")
            return super().act(action)

    robot = Gone("himan_real")
    robot.broken = True
    with served(robot) as (_, address):
        port = int(address.rpartition(":")[2])
        run = etude.evaluate(policy, names, robot=f"{address}?connect=1", judge=Knowing(robot), out=tmp_path / "run")
    assert [r.outcome for r in run.records] == ["success", "error"]
    assert "the cable is out" in run.records[1].error and "robot at" in run.records[1].error
    again = {"robot": f"{address}?connect=1", "out": tmp_path / "run", "settings": etude_settings(retry_errors=True)}
    with pytest.raises(EtudeError, match=f"no robot at {address}: connection refused; start its server"):
        etude.evaluate(policy, names, judge=Knowing(robot), **again)
    assert [r.outcome for r in read_run(tmp_path / "run").records] == ["success", "error"]
    robot.broken = False
    with served(robot, port):
        run = etude.evaluate(policy, names, judge=Knowing(robot), **again)
    assert [r.outcome for r in run.records] == ["success", "success"]


def etude_settings(**settings):
    from etude.evaluation.run import RunSettings

    return RunSettings(**settings)


JUDGE = """
import json
import os
import signal
from pathlib import Path

from etude.policies.contract import Contract

HERE = Path(__file__).parent


def last():
    lines = (HERE / "verdicts.jsonl").read_text().splitlines()
    return json.loads(lines[-1])


class Judge:
    def __init__(self, dies: int = -1):
        self._dies, self._asked = dies, 0

    def ready(self, episode, stop):
        self._begun = False

    def heard(self):
        return "end" if last()["success"] else ""

    def subtask(self, text):
        raise AssertionError("nobody gives sub-tasks here")

    def episode(self, text):
        self._asked += 1
        if self._asked == self._dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done" if last()["success"] else "not done"


class Policy:
    contract = Contract.etude()
    actions = json.loads((HERE / "actions.json").read_text())

    def reset(self, instruction, pictures, episode):
        self._left = list(self.actions[episode])

    def act(self, observation):
        return self._left.pop(0)
"""


def test_a_kill_loses_no_episode_that_was_judged(tmp_path):
    names = [OPEN, CLOSE, "himan_real/open_drawer@test#1"]
    known = Remembered(names)
    (tmp_path / "judging.py").write_text(JUDGE)
    (tmp_path / "actions.json").write_text(json.dumps({n: [a.tolist() for a in acts] for n, acts in known._actions.items()}))
    (tmp_path / "names.txt").write_text("\n".join(names))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH", ""))))}
    with served(SimulatedRobot("himan_real", tmp_path / "verdicts.jsonl")) as (_, address):

        def evaluated(judge):
            words = ["--plan", "names.txt", "--policy", "judging:Policy", "--robot", address, "--judge", judge, "--out", "run", "--json"]
            command = [sys.executable, "-m", "etude", "evaluate", *words]
            return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)

        assert evaluated("judging:Judge?dies=2").returncode == -signal.SIGKILL
        assert [r.episode for r in read_run(tmp_path / "run").records] == names[:1]
        done = evaluated("judging:Judge")
    assert done.returncode == 0, done.stderr
    assert "1 of 3 episodes are there already" in done.stderr and "judged by a person" in json.loads(done.stdout)["judged"]
    assert {r.episode: r.outcome for r in read_run(tmp_path / "run").records} == {n: known.records[n].outcome for n in names}


def test_runs_of_robots_are_reported_and_compared_with_each_other_not_with_simulations(tmp_path):
    policy = Remembered([OPEN])
    with served() as (robot, address):
        one = etude.evaluate(policy, [OPEN], robot=address, judge=Knowing(robot), out=tmp_path / "one")
        two = etude.evaluate(Remembered([OPEN], enough=1), [OPEN], robot=address, judge=Knowing(robot), out=tmp_path / "two")
    simulated = etude.evaluate("oracle", [OPEN], out=tmp_path / "simulated", workers=1)
    assert etude.compare(one, two).overall.difference.table.only_a == 1
    with pytest.raises(EtudeError, match=r"was played on a robot and judged by a person, .*simulated was simulated: .* there are no pairs"):
        etude.compare(simulated, one)
    with pytest.raises(EtudeError, match="cannot be joined"):
        merge([one.folder, simulated.folder], tmp_path / "joined")
    tables = {t.name: t for t in collect([one, two, simulated])}
    assert {row[:2] for row in tables["comparisons"].rows} == {tuple(a.label for a in contestants([one, two, simulated])[:2])}
    page = one.report(tmp_path / "page.html").read_text()
    assert "Not simulated:" in page
    with pytest.raises(EtudeError, match=r"holds a run with robot 'ws://.*', not ''"):
        etude.evaluate(policy, [OPEN], out=tmp_path / "one")


def test_what_cannot_be_played_on_a_robot_is_refused_before_it_moves(tmp_path):
    with served() as (robot, address):
        judge = Knowing(robot)

        def refused(match, policy="module", what=OPEN, **settings):
            with pytest.raises(EtudeError, match=match):
                etude.evaluate(policy, [what], robot=address, judge=judge, out=tmp_path / "run", **settings)

        policy = Remembered([OPEN])
        refused("the policy wants the true state, which no robot knows", "oracle")
        refused("the planner wants the true state, which no robot knows; --mode rule needs none", policy, planner="rule", mode="coupled")
        refused("--mode offline needs the true state", policy, mode="offline", planner="rule")
        refused("--record is for simulations", policy, settings=etude_settings(keep="all"))
        refused("unknown value of --advance 'wrist'", policy, advance="wrist")
        policy.contract = Contract.etude(cameras=("base",))
        refused("camera: policy wants 'base'", policy)
        policy.contract = Contract.etude("pick_place")
        refused("policy gives 'pick_place'", policy)
        assert robot.simulation is None and not judge.shown
        with pytest.raises(EtudeError, match="is not a judge: it needs the methods ready, heard, subtask and episode"):
            etude.evaluate(policy, [OPEN], robot=address, judge=object(), out=tmp_path / "run")
    with pytest.raises(EtudeError, match="--judge says who judges a robot"):
        etude.evaluate("noop", [OPEN], judge="terminal", out=tmp_path / "run")
    with pytest.raises(EtudeError, match="has the options timeout and connect"):
        RemoteRobot("ws://127.0.0.1:1?action=keypose")


# ------------------------------------------------------------------------------------------------ the server


def test_actions_beyond_the_limits_are_clipped_and_said_to_be():
    with served() as (robot, address):
        remote = RemoteRobot(address)
        remote.begin(OPEN, "open the top drawer", "ee_delta")
        assert not remote.act(np.zeros(7)).clipped
        wild = remote.act(np.array([9.0, 0, 0, 0, 0, 0, -1]))
        assert wild.clipped and robot.simulation.steps == 2
        with pytest.raises(RobotError, match="an action has 7 finite numbers, got"):
            remote.act(np.full(7, np.nan))
        remote.close()


def test_anybody_can_stop_a_robot_in_the_middle_and_nobody_else_can_lead_it():
    moving = threading.Event()

    class Watched(SimulatedRobot):
        def _heartbeat(self):
            moving.set()
            self.slow.wait(10)
            super()._heartbeat()

    robot = Watched("himan_real")
    robot.slow = threading.Event()
    with served(robot) as (_, address):
        leader, other = RemoteRobot(address), RemoteRobot(address)
        leader.begin(OPEN, "", "keypose")
        tip = robot.simulation.robot.tip()
        action = np.array([*np.add(tip.position, (0.0, 0.2, -0.2)), *tip.rotation, -1.0])
        found = []
        thread = threading.Thread(target=lambda: found.append(leader.act(action)))
        thread.start()
        assert moving.wait(60)
        with pytest.raises(RobotError, match="somebody else leads this robot; it can be stopped, and nothing else"):
            other.begin(OPEN, "", "keypose")
        other.stop()
        robot.slow.set()
        thread.join(60)
        assert found[0].stopped and np.linalg.norm(np.subtract(found[0].tip.position, action[:3])) > 0.1
        assert leader.act(action).stopped  # until an episode begins
        assert not leader.begin(OPEN, "", "keypose").stopped
        leader.close()


def test_a_robot_is_stopped_when_its_leader_goes_away_or_an_action_takes_too_long():
    stopped = threading.Event()

    class Slow(SimulatedRobot):
        def act(self, action):
            self.slow.wait(60)
            return super().act(action)

        def stop(self):
            super().stop()
            stopped.set()

    robot = Slow("himan_real")
    robot.slow = threading.Event()
    with served(robot, longest=0.5) as (_, address):
        first = RemoteRobot(address)
        with pytest.raises(RobotError, match=r"took more than 0\.5 s, and was stopped"):
            while True:  # a busy machine may take as long to begin
                first.begin(OPEN, "", "ee_delta")
                first.act(np.zeros(7))
        assert stopped.is_set()
        robot.slow.set()
    with served(robot) as (_, address):
        second = RemoteRobot(address)
        second.begin(OPEN, "", "ee_delta")
        stopped.clear()
        second.close()
        assert stopped.wait(60)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"name": "arm"}, "must say what it is called, and in which spaces"),
        ({"name": "arm", "actions": ["fly"]}, "robot.actions"),
        ({"name": "arm", "actions": ["joint"], "wheels": 4}, "unknown field of a robot's introduction: 'wheels'"),
        ({"name": "arm", "actions": ["joint"], "modalities": ["smell"]}, "unknown modality of a robot's cameras 'smell'"),
        ({"name": "arm", "actions": ["joint"], "base": [0.0]}, "7 numbers; got 1"),
        ("arm", "introduces itself with name, actions"),
    ],
)
def test_a_robot_that_does_not_introduce_itself_is_refused(data, match):
    with pytest.raises(EtudeError, match=match):
        RobotFacts.from_data(data)


def test_how_a_robot_feels_must_be_numbers():
    felt = RobotFeeling(np.arange(24.0), held=True)
    assert RobotFeeling.from_data(felt.to_data()).joints == 7
    for wrong in ({}, {"proprioception": np.zeros(3, np.float32)}, {"proprioception": np.full(24, np.nan)}):
        with pytest.raises(EtudeError, match="proprioception"):
            RobotFeeling.from_data(wrong)
    with pytest.raises(EtudeError, match="true or false"):
        RobotFeeling.from_data({"proprioception": np.zeros(24), "held": 1})


# ------------------------------------------------------------------------------------------------ judges

SHOWN = JudgedEpisode(1, 2, OPEN, "rule", "open the top drawer", ("grasp it", "pull it"), ("distractors: things that do not matter",))


def test_in_the_terminal_lines_are_words_and_answers():
    read, write = os.pipe()
    out, stopped = io.StringIO(), threading.Event()
    with os.fdopen(read) as lines, os.fdopen(write, "w", buffering=1) as person:
        judge = TerminalJudge(lines, out)
        person.write("\n")
        judge.ready(SHOWN, stopped.set)
        assert judge.heard() == ""
        person.write("s\n")
        assert stopped.wait(60)
        while judge.heard() != "end":  # who stops the robot ends the episode
            pass
        threading.Timer(0.1, lambda: person.write("perhaps\nn\n")).start()
        assert judge.subtask("grasp it") == "not done"
        threading.Timer(0.1, lambda: person.write("f\n")).start()
        assert judge.episode("open the top drawer") == "at fault"
    text = out.getvalue()
    assert "[1 of 2]" in text and "· pull it" in text and "set up: distractors" in text and text.count("sub-task “grasp it”") == 2


def test_a_terminal_without_anybody_ends_the_run():
    with pytest.raises(EtudeError, match="nobody answers in the terminal any more; --judge page"):
        TerminalJudge(io.StringIO(""), io.StringIO()).ready(SHOWN, lambda: None)


def sent(address, message, origin=None):
    request = urllib.request.Request(f"{address}said", json.dumps(message).encode(), {"Content-Type": "application/json"})
    request.add_header("Origin", address.rstrip("/") if origin is None else origin)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def state(address):
    with urllib.request.urlopen(f"{address}state", timeout=60) as answer:
        return json.loads(answer.read())


def test_on_the_page_questions_are_answered_once_and_the_robot_is_stopped():
    judge, found, stopped = PageJudge(0), [], threading.Event()
    with urllib.request.urlopen(judge.address, timeout=60) as page:
        assert b"Stop the robot" in page.read()

    def watched():
        judge.ready(SHOWN, stopped.set)
        found.append("ready")
        found.append(judge.subtask("grasp it"))
        found.append(judge.episode("open the top drawer"))

    thread = threading.Thread(target=watched)
    thread.start()
    for number, answer in enumerate(("ready", "done", "not done"), 1):
        while state(judge.address)["number"] < number:
            pass
        asked = state(judge.address)
        assert asked["stop"] is (number > 1)
        sent(judge.address, {"answer": "perhaps", "number": number})  # no choice: nothing happens
        sent(judge.address, {"answer": answer, "number": number})
        sent(judge.address, {"answer": answer, "number": number})  # a double click
    thread.join(60)
    assert found == ["ready", "done", "not done"] and not stopped.is_set()
    judge._stop = stopped.set
    assert state(judge.address)["words"] == {"next": "the sub-task is over", "end": "the episode is over"}
    sent(judge.address, {"word": "next"})
    assert judge.heard() == "next" and judge.heard() == ""
    sent(judge.address, {"stop": True})
    assert stopped.is_set() and judge.heard() == "end"


def test_the_page_takes_nothing_from_other_pages():
    judge = PageJudge(0)
    for message, origin, code in (({"stop": True}, "http://evil.example", 403), ({"shout": 1}, None, 400)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            sent(judge.address, message, origin)
        assert refused.value.code == code


@pytest.mark.parametrize("text", ["page:", "page:x", "page:70000", "pager"])
def test_a_page_needs_a_port(text):
    with pytest.raises(EtudeError, match="page or page:PORT"):
        page_port(text)


def test_an_arm_that_is_idle_where_it_began_has_done_its_subtask():
    from etude.evaluation.robot_play import Idleness

    def feeling(x):
        return RobotFeeling(np.array([*[0.0] * 14, x, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.08]))

    body = RobotBody(etude.episode(OPEN).under("ee_delta"), feeling(0.0))
    idle = Idleness(body)
    said = []
    for x in [0.0] * 30 + [0.1 * k for k in range(5)] + [0.4 - 0.1 * k for k in range(5)] + [0.0] * 30:
        body.feeling = feeling(x)
        said.append(idle.happened())
    assert said.index(True) > 40 and said.count(True) == 1  # not before it has been away


def test_subtasks_come_in_order_and_wrap_around():
    episode = etude.episode(OPEN)
    guide = JudgedGuide(episode, None, subtasks(episode))
    said = []
    for done in (False, True, True):
        guide.ask(None, Contract(), len(said))
        said.append(guide.text)
        guide.close(done, len(said))
    grasp, pull = subtasks(episode)
    assert said == [grasp, pull, grasp] and [s.right for s in guide.stages] == [True, False, True] and not guide.finished
