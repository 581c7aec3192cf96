"""Failures whose cause is known because it was built in, to count how often ``fault`` names it.

``python tests/evaluation/constructed.py --seeds 20`` plays all of them on HiMan-Bench's compositions, on all cores, and prints the count;
with ``--out FILE`` it goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from etude.evaluation.guide import position
from etude.evaluation.play import Players, play
from etude.names import rng
from etude.policies.planners import OraclePlanner
from etude.policies.scripted import OraclePolicy, idle

NEVER = 10**6
NONSENSE = "Dance!"


class FailingSkills(OraclePolicy):
    """The oracle's skills: lame from the goal's ``fails``-th stage on, and without a will for the first ``slow`` actions."""

    def __init__(self, fails: int = NEVER, slow: int = 0) -> None:
        super().__init__()
        self._fails, self._slow = fails, slow

    def _stroke(self, simulation):
        now = position(simulation.monitor)
        if simulation.steps < self._slow or (now is not None and now.number >= self._fails):
            return idle(simulation)
        return super()._stroke(simulation)


class ErringPlanner(OraclePlanner):
    """The oracle: wrong from the goal's ``errs``-th stage or its own ``forgets``-th answer on; the ``babbles``-th means nothing."""

    def __init__(self, errs: int = NEVER, forgets: int = NEVER, babbles: int = NEVER) -> None:
        super().__init__()
        self._errs, self._forgets, self._babbles = errs, forgets, babbles

    def reset(self, instruction, pictures, episode):
        super().reset(instruction, pictures, episode)
        self._others, self._answers = rng(episode, "planner/erring"), -1

    def next_subtask(self, observation, instruction, history):
        self._answers += 1
        if self._answers == self._babbles:
            return NONSENSE
        right = super().next_subtask(observation, instruction, history)
        now = position(observation["simulation"].monitor)
        if self._answers >= self._forgets or (now is not None and now.number >= self._errs):
            return self._others.choice([text for text in observation["vocabulary"] if text != right])
        return right


@dataclass(frozen=True)
class Construction:
    """Who fails from stage ``k`` on and in which mode, and so whose fault it is."""

    truth: str
    mode: str
    skills: FailingSkills
    planner: OraclePlanner


PATIENCE = 3  # keyposes: less than some sub-tasks take


def constructions(k: int) -> dict[str, Construction]:
    """Every kind of failure at stage ``k``, counted from 0."""
    coupled, told = "coupled", "coupled:privileged"
    return {
        "execution fails": Construction("execution", coupled, FailingSkills(k), ErringPlanner()),
        "execution fails, asked again": Construction("execution", told, FailingSkills(k), ErringPlanner()),
        "planning fails": Construction("planning", coupled, FailingSkills(), ErringPlanner(k)),
        "planning fails, asked again": Construction("planning", told, FailingSkills(), ErringPlanner(k)),
        "slow, then wrong": Construction("planning", told, FailingSkills(slow=PATIENCE + 1), ErringPlanner(k)),
        "wrong, made good, then execution fails": Construction("execution", told, FailingSkills(k), ErringPlanner(babbles=0)),
        "execution fails, then wrong": Construction("execution", told, FailingSkills(k), ErringPlanner(forgets=2 * k + 4)),
        "now and then wrong": Construction("planning", coupled, FailingSkills(), OraclePlanner(wrong=0.3)),
    }


def named(name: str, k: int) -> Iterator[tuple[str, str, str | None]]:
    """Kind of failure, whose fault it is and whose it is said to be; what succeeded all the same is left out."""
    for kind, built in constructions(k).items():
        record = play(Players(built.skills, built.planner, patience=PATIENCE), name, built.mode)[0]
        if not record.success:
            yield kind, built.truth, record.fault


def _job(work: tuple[str, int]) -> tuple[str, list[tuple[str, str, str | None]]]:
    return work[0], list(named(*work))


def main() -> None:
    """Count."""
    from etude.suites.himan.recipes import COMPOSITIONAL

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--out", type=Path, help="keeps what was found, a line for each episode; the same command goes on there")
    given = parser.parse_args()
    kept = given.out.read_text().splitlines() if given.out and given.out.exists() else []
    done: dict[str, list[tuple[str, str, str | None]]] = dict(json.loads(line) for line in kept)
    # Every composition has stages 0 and 1, however few it has.
    work = {f"himan/{task}@test#{seed}": seed % 2 for task in COMPOSITIONAL for seed in range(given.seeds)}
    with get_context("spawn").Pool(given.workers) as pool, (given.out or Path(os.devnull)).open("a") as file:
        for name, found in pool.imap_unordered(_job, [(name, k) for name, k in work.items() if name not in done]):
            done[name] = found
            print(json.dumps([name, found]), file=file, flush=True)
    right, all_ = Counter[str](), Counter[str]()
    for kind, truth, said in (one for name in work for one in done[name]):
        all_[kind] += 1
        right[kind] += truth == said
    share = f"`fault` is right in {100 * right.total() / all_.total():.1f} % of {all_.total()} constructed failures."
    rows = [f"| {kind} | {right[kind]} of {all_[kind]} |" for kind in all_]
    print("\n".join([share, "", "| what fails | fault is right |", "|---|---|", *rows]))


if __name__ == "__main__":
    main()
