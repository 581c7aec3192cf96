"""Episodes played on a real Ray cluster, parts of which are lost on the way. Its workers import the policies from this file."""

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from machines import DOOMED, SMALL, patiently

from etude.evaluation.cluster import Cluster, ClusterPlayer
from etude.evaluation.plan import Plan
from etude.evaluation.ray_team import Item, RaySettings, RayTeam
from etude.evaluation.record import Record
from etude.evaluation.run import Quiet, RunSettings, evaluate
from etude.evaluation.store import Store
from etude.evaluation.worker import Job
from etude.names import EtudeError
from etude.policies.policy import Picture
from etude.policies.scripted import OraclePolicy

pytestmark = pytest.mark.ray
ITEMS = [(f"clevrskills/{task}@train#{seed}", "vanilla") for seed in range(2) for task in ("pick", "touch")]
MARKED = ITEMS[2][0]


class Fatal(OraclePolicy):
    """Ends its process when it is given the marked episode."""

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        if episode == MARKED:
            os._exit(3)
        super().reset(instruction, pictures, episode)


class Stuck(OraclePolicy):
    """Never begins the marked episode."""

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        if episode == MARKED:
            threading.Event().wait()
        super().reset(instruction, pictures, episode)


class Meeting(OraclePolicy):
    """Begins when somebody on a doomed machine has begun too; those on a doomed machine never end an episode."""

    def __init__(self, pipe: str) -> None:
        super().__init__()
        self._pipe = pipe

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        if DOOMED in os.environ:
            Path(self._pipe).with_name("process").write_text(str(os.getpid()))
            Path(self._pipe).write_text("here")  # waits for the reader
            threading.Event().wait()
        if Path(self._pipe).exists():
            Path(self._pipe).read_text()  # waits for the writer
            Path(self._pipe).unlink()
        super().reset(instruction, pictures, episode)


class Heavy(OraclePolicy):
    """Takes more and more memory in the marked episode."""

    def reset(self, instruction: str, pictures: Sequence[Picture], episode: str) -> None:
        self._taken: list[bytes] = []
        while episode == MARKED:
            self._taken.append(bytes(b"x" * 2**24))
            time.sleep(0.01)
        super().reset(instruction, pictures, episode)


class OnGpu(OraclePolicy):
    """Has to be given the one GPU of its machine."""

    def __init__(self) -> None:
        if os.environ.get("CUDA_VISIBLE_DEVICES") != "0":
            raise OSError("no GPU")
        super().__init__()


class Unloadable(OraclePolicy):
    def __init__(self) -> None:
        raise OSError("no weights\nhere")


class Crashing(OraclePolicy):
    def __init__(self) -> None:
        os._exit(3)


def job(policy: str) -> Job:
    return Job(policy, "unused")


def timeless(records: list[Record]) -> list[Record]:
    return sorted((replace(r, timings={}) for r in records), key=lambda r: r.key)


@pytest.fixture(scope="module")
def expected() -> list[Record]:
    players = job("oracle").players()
    return timeless([job("oracle").perform(players, *item) for item in ITEMS])


def test_a_machine_that_joins_and_is_lost_changes_no_result(nodes: Any, expected: list[Record], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Cluster(job(f"test_ray_cluster:Meeting?pipe={pipe}"), RaySettings(nodes.address)) as cluster:
        cluster.hello()  # there is a worker on the first machine
        doomed = patiently(nodes.add_node, **SMALL, env_vars={DOOMED: "1"})
        ending = cluster.play(ITEMS)
        records = [next(ending)]  # of the first machine; the other has met it, and holds an episode
        nodes.remove_node(doomed, allow_graceful=False)
        records += ending
    assert timeless(records) == expected
    assert all(r.success for r in records)
    assert _ends(int((tmp_path / "process").read_text()))  # although it hangs


def _ends(process: int) -> bool:
    for _ in range(600):
        if not Path(f"/proc/{process}").exists():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(scope="module")
def printed(nodes: Any) -> list[str]:
    """What a program prints that plays episodes, one of which ends its workers, and prints a line for each."""
    script = (
        "from etude.evaluation.cluster import Cluster\n"
        "from etude.evaluation.ray_team import RaySettings\n"
        "from etude.evaluation.worker import Job\n"
        f"with Cluster(Job('test_ray_cluster:Fatal', 'unused'), RaySettings({nodes.address!r})) as cluster:\n"
        f"    for record in cluster.play({ITEMS}): print(record.to_line())\n"
    )
    here = Path(__file__).parent
    return subprocess.run([sys.executable, "-c", script], cwd=here, capture_output=True, text=True, check=True).stdout.splitlines()


def test_an_episode_that_ends_its_workers_is_an_error_and_the_others_are_played(printed: list[str], expected: list[Record]) -> None:
    records = timeless([Record.from_line(line) for line in printed if line.startswith("{")])
    assert [r.key for r in records] == [r.key for r in expected]
    for record, other in zip(records, expected, strict=True):
        if record.episode == MARKED:
            assert (record.outcome, record.error, record.id) == ("error", "the worker ended (exit status 3)", other.id)
        else:
            assert record == other


def test_ray_prints_nothing_of_its_own(printed: list[str]) -> None:
    assert [line for line in printed if not line.startswith("{")] == []


def test_contracts_are_the_policys_and_an_episode_that_takes_too_long_is_an_error_after_which_the_next_is_played(
    nodes: Any,
) -> None:
    other = job("oracle:action=joint")
    with Cluster(job("test_ray_cluster:Stuck?action=joint"), RaySettings(nodes.address), timeout=20.0) as cluster:
        assert cluster.hello()["contracts"]["policy"]["action"] == "joint"
        assert cluster.hello()["contracts"]["planner"] is None
        stuck, fine = cluster.play([(MARKED, "vanilla"), ITEMS[1]])
    assert (stuck.episode, stuck.outcome, stuck.error) == (MARKED, "error", "no result within 20 seconds")
    assert timeless([fine]) == timeless([other.perform(other.players(), *ITEMS[1])])


def test_a_worker_that_takes_too_much_memory_is_replaced_and_told_as_at_home(nodes: Any) -> None:
    with Cluster(job("test_ray_cluster:Heavy"), RaySettings(nodes.address, memory=1.5)) as cluster:
        heavy, fine = cluster.play([(MARKED, "vanilla"), ITEMS[1]])
    assert heavy.outcome == "error" and "GiB of memory, more than the 1.5 allowed" in heavy.error
    assert fine.success


def test_a_policy_is_given_the_gpu_it_asks_for_and_waits_where_there_is_none(nodes: Any, caplog: pytest.LogCaptureFixture) -> None:
    made_of = (json.dumps(job("test_ray_cluster:OnGpu").to_data()), 60.0, None)
    queue: deque[Item] = deque(ITEMS[:1])
    with RayTeam(ClusterPlayer, made_of, RaySettings(nodes.address, workers=1, gpus=0.5), "the policy", {}) as team:
        assert team.turn(queue, 0.0) == []
        assert "no machine of the cluster has room for a worker with 1 CPU, 0.5 GPU: waiting for one" in caplog.text
        joined = patiently(nodes.add_node, **SMALL, num_gpus=1)
        while not (found := team.turn(queue)):
            pass
    nodes.remove_node(joined)
    ((item, line),) = found
    assert item == ITEMS[0] and Record.from_line(line).success


class Watching(Quiet):
    """Stops a run when so many episodes have ended."""

    def __init__(self, most: int = 99) -> None:
        self.most, self.there, self.seen = most, 0, 0

    def began(self, store: Store) -> None:
        self.there = len(store.records)

    def ended(self, record: Record) -> None:
        self.seen += 1
        if self.seen >= self.most:
            raise KeyboardInterrupt


def test_a_run_on_a_cluster_is_gone_on_with_and_leaves_the_file_that_is_made_at_home(nodes: Any, tmp_path: Path) -> None:
    plan, cluster = Plan("oracle", tuple(name for name, _ in ITEMS)), RunSettings(workers=1, executor="ray", address=nodes.address)
    first, second = Watching(2), Watching()
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan, tmp_path / "there", cluster, first)
    there = evaluate(plan, tmp_path / "there", cluster, second)
    assert (first.seen, second.there, second.seen) == (2, 2, len(ITEMS) - 2)
    here = evaluate(plan, tmp_path / "here", RunSettings(workers=1), Quiet())
    assert [replace(r, timings={}).to_line() for r in there.records] == [replace(r, timings={}).to_line() for r in here.records]


def test_a_policy_that_cannot_be_loaded_is_refused_in_one_line(nodes: Any) -> None:
    with pytest.raises(EtudeError) as refused, Cluster(job("test_ray_cluster:Unloadable"), RaySettings(nodes.address)) as cluster:
        cluster.hello()
    assert str(refused.value).startswith("the policy test_ray_cluster:Unloadable cannot be made: OSError: no weights (")
    assert "\n" not in str(refused.value)


def test_a_policy_that_ends_its_workers_while_it_is_loaded_is_refused_in_one_line(nodes: Any) -> None:
    with pytest.raises(EtudeError) as refused, Cluster(job("test_ray_cluster:Crashing"), RaySettings(nodes.address)) as cluster:
        list(cluster.play(ITEMS))
    assert str(refused.value).startswith(
        "loading the policy 'test_ray_cluster:Crashing' ended its worker, 3 times in a row (exit status 3)"
    )
    assert "\n" not in str(refused.value)


def test_films_need_a_folder_that_workers_can_see(nodes: Any) -> None:
    unseen = Job("oracle", "/there/is/none", keep="all")
    with pytest.raises(EtudeError, match="a folder that all machines"), Cluster(unseen, RaySettings(nodes.address)) as cluster:
        cluster.hello()
