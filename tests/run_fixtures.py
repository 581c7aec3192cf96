"""Runs that were never played: records written by hand, and whole runs drawn from known success rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from etude.evaluation.plan import Plan
from etude.evaluation.record import GivenSubtask, Record, Subgoal
from etude.evaluation.store import Run
from etude.names import EpisodeName, rng

MACHINE = {
    "system": "Linux x86_64", "processor": "Example 9000", "cores": 16, "memory_gib": 64.0, "python": "3.11.9", "etude": "0.1.0",
    "packages": {"numpy": "2.1.0", "mujoco": "4.0.1"},
}  # fmt: skip

PERTURBATIONS = {"dark": {"plausible": True, "summary": "Turn the light down."}, "no_words": {"plausible": False, "summary": ""}}


def record(
    episode: str, outcome: Any = "success", *, mode: str = "vanilla", level: str = "L0", digest: str = "0" * 12, **more: Any
) -> Record:
    """A record of ``episode``; ``outcome`` may be given as a bool."""
    word = {True: "success", False: "failure"}.get(outcome, outcome)
    defaults: dict[str, Any] = {"steps": 0 if word == "error" else 10, "error": "RuntimeError: broken" if word == "error" else None}
    return Record(f"{episode}~{digest}", episode, mode, level, word, **{**defaults, **more})


def run_of(records: Sequence[Record], folder: Path = Path("run"), policy: str = "policy", planner: str = "", **info: Any) -> Run:
    """A run that holds exactly these records."""
    names = tuple(dict.fromkeys(r.episode for r in records))
    modes = tuple(dict.fromkeys(r.mode for r in records))
    plan = Plan(policy, names, planner, modes)
    facts: dict[str, Any] = {
        "protocol": "etude-v2", "schema": 2, "perturbations": PERTURBATIONS, "policy": policy, "planner": planner,
        "contract": {"policy": {"action": "ee_delta", "chunk": 8}, "planner": None}, "renderer": "raster-1-4f1d22aa", "machine": MACHINE,
        "command": ["etude", "evaluate", "--suite", "clevrskills", "--policy", policy, "--out", f"runs/{policy}"],
    }  # fmt: skip
    return Run(folder, plan, {**facts, **info}, tuple(records))


LEAVES = {"L0": ("pick up",), "L1": ("hold", "bring to"), "L2": ("hold", "stack on", "let go of")}
THINGS = ("red cube", "striped bowl", "blue block", "wooden tray")


def drawn(
    tasks: Mapping[str, str], policy: str, rates: Mapping[str, float], seeds: int, perturbations: Mapping[str, float] | None = None,
    split: str = "test", mode: str = "vanilla", planner: str = "", error_rate: float = 0.0, folder: Path = Path("run"),
) -> Run:  # fmt: skip
    """A run over ``tasks`` (name and level) with the success ``rates`` of the levels; ``perturbations`` multiply them.

    An episode and its perturbed twin draw from the same stream, as they would in life.
    """
    records = []
    for task, level in tasks.items():
        ease = rng(f"made/{task}", "ease").uniform(0.45, 1.25)
        for perturbation, factor in {"": 1.0, **(perturbations or {})}.items():
            for seed in range(seeds):
                name = EpisodeName("clevrskills", task, split, seed, tuple(p for p in perturbation.split("+") if p))
                records.append(_drawn(name, level, min(0.995, rates[level] * ease) * factor, policy, mode, error_rate, planner))
    return run_of(records, folder, policy, planner)


def _drawn(name: EpisodeName, level: str, rate: float, policy: str, mode: str, error_rate: float, planner: str) -> Record:
    stream = rng(f"made/{policy}/{mode}/{name.base}", "episode")
    luck, broken, other = stream.uniform(), stream.uniform(), rng(f"made/{policy}/{name}", "other")
    if broken < error_rate:
        return record(
            str(name), "error", mode=mode, level="", error=other.choice(("ConnectionError: the policy server closed", "TimeoutError: 60 s"))
        )
    success = luck < rate
    leaves = LEAVES[level]
    stop = len(leaves) if success else other.integer(0, len(leaves) - 1)
    things = other.sample(THINGS, 2)
    subgoals = tuple(
        Subgoal(f"goal.{k}", leaf.title().replace(" ", ""), f"{leaf} the {things[k % 2]}", k < stop, 1.0 if k < stop else 0.3, False,
                20 * (k + 1) if k < stop else None)
        for k, leaf in enumerate(leaves)
    )  # fmt: skip
    stages = tuple(
        GivenSubtask(s.words, (s.words,), other.chance(0.85) or s.satisfied, s.satisfied, 20 * k, 20 * k + 20)
        for k, s in enumerate(subgoals)
    )
    fault = None if success else ("planning" if any(not s.right for s in stages) else "execution") if planner else None
    steps = other.integer(30, 90) * len(leaves) if success else 200
    return record(
        str(name), success, mode=mode, level=level, steps=steps, reward=round(0.02 * steps * (2 if success else 1), 3),
        progress=1.0 if success else round(stop / len(leaves), 3), subgoals=subgoals, first_failure=None if success else f"goal.{stop}",
        stages=stages if planner else (), fault=fault,
    )  # fmt: skip
