"""One command for a whole experiment, ``python -m etude.learn.experiment``: train a recipe from its stream, play its tests, write a table.

torch is loaded in here alone: processes that play demonstrations and episodes begin with this module too, and do without.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and do all of it."""
    parser = argparse.ArgumentParser(prog="python -m etude.learn.experiment", description=__doc__)
    parser.add_argument("recipe")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--split", action="append", default=[])
    parser.add_argument("--episodes", type=int, default=50, help="of each task and split that is played")
    parser.add_argument("--judged", type=int, default=600, help="held-out demonstrations on which single strokes are judged")
    parser.add_argument(
        "--at-most",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="in which episodes are begun; all that are begun are played to their end",
    )
    given = parser.parse_args(arguments)
    _experiment(given)


def _experiment(given: argparse.Namespace) -> None:
    from etude.learn.judging import judged, table
    from etude.learn.playing import play_all
    from etude.learn.policy import LearnedPolicy, device_named
    from etude.learn.recipes import recipe_named
    from etude.learn.stream import DemonstrationStream
    from etude.learn.train import Trainer, run
    from etude.library import tasks

    def say(text: str) -> None:
        print(text, flush=True)

    recipe = recipe_named(given.recipe, given.set)
    device = device_named(given.device)
    source = recipe.data.source
    trainer: Trainer = run(recipe, given.out, device, given.workers, given.minutes, say=say)
    begun = time.perf_counter()
    if given.judged:
        with DemonstrationStream(source.held_out(), given.workers) as stream:
            found = []
            for one in stream:
                found.append(one)
                if len(found) == given.judged:
                    break
        say(judged(trainer.averaged, found, device))
        say(f"judged in {time.perf_counter() - begun:.0f} s")
    policy = LearnedPolicy(trainer.averaged, recipe, device=device)
    names = [
        f"{source.suite}/{task}@{split}#{seed}"
        for seed in range(given.episodes)
        for split in given.split
        for task in source.chosen()
        if split in tasks(source.suite)[task].splits
    ]
    begun = time.perf_counter()
    ends, outcomes = [], []
    for outcome in play_all(policy, takewhile(lambda _: time.perf_counter() - begun < given.at_most, names), given.workers):
        outcomes.append(outcome)
        ends.append(time.perf_counter() - begun)
    with (given.out / "outcomes.jsonl").open("w") as file:
        file.writelines(json.dumps(outcome.__dict__) + "\n" for outcome in outcomes)
    if len(ends) > 20:
        low, high = len(ends) // 10, 9 * len(ends) // 10
        say(f"{len(ends)} episodes in {ends[-1]:.1f} s, {(high - low) / (ends[high] - ends[low]):.0f} episodes/s in the middle")
    say(f"{policy.decisions} decisions in {policy.calls} batches took {policy.seconds:.1f} s")
    say(table(outcomes, source.chosen(), given.split))


if __name__ == "__main__":
    main()
