"""One command for a whole experiment: train a recipe from its stream, play its tests, and write a table. ``python -m etude.learn.experiment``."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

HELD_OUT = 1 << 20  # the seed of a stream nobody trains on: what a policy gets right there is told apart by number
SIZE = 256  # episodes judged at once


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
    parser.add_argument("--at-most", type=float, default=600.0, metavar="SECONDS", help="for playing; what has ended by then is told")
    given = parser.parse_args(arguments)
    _experiment(given)


def _experiment(given: argparse.Namespace) -> None:
    from dataclasses import replace

    import torch

    from etude.learn.playing import play_all, tallied
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
    trainer: Trainer = run(recipe, given.out, device, given.workers, given.minutes, say)
    begun = time.perf_counter()
    if given.judged:
        held_out = replace(source, seed=HELD_OUT, recovery=type(source.recovery)())
        with DemonstrationStream(held_out, given.workers) as stream:
            found = []
            for one in stream:
                found.append(one)
                if len(found) == given.judged:
                    break
        say(judged(trainer, found))
        say(f"judged in {time.perf_counter() - begun:.0f} s")
    policy = LearnedPolicy(trainer.averaged, recipe, device=device)
    names = [
        f"{source.suite}/{task}@{split}#{seed}"
        for seed in range(given.episodes)
        for split in given.split
        for task in source.chosen()
        if split in tasks(source.suite)[task].splits
    ]
    torch.cuda.empty_cache()
    begun = time.perf_counter()
    ends, outcomes = [], []
    for outcome in play_all(policy, names, given.workers):
        outcomes.append(outcome)
        ends.append(time.perf_counter() - begun)
        if ends[-1] > given.at_most:
            break
    with (given.out / "outcomes.jsonl").open("w") as file:
        file.writelines(json.dumps(outcome.__dict__) + "\n" for outcome in outcomes)
    if len(ends) > 20:
        low, high = len(ends) // 10, 9 * len(ends) // 10
        say(f"{len(ends)} episodes in {ends[-1]:.1f} s, {(high - low) / (ends[high] - ends[low]):.0f} episodes/s between a tenth and nine tenths")
    say(f"{policy.decisions} decisions in {policy.calls} batches took {policy.seconds:.1f} s")
    tallies = {(t.task, t.split): t for t in tallied(outcomes)}
    say("| task | " + " | ".join(given.split) + " | steps |")
    for task in source.chosen():
        row = [tallies.get((task, split)) for split in given.split]
        cells = ["–" if t is None else f"{100 * t.successes / t.episodes:.0f}" for t in row]
        say(f"| {task} | " + " | ".join(cells) + f" | {np.mean([t.steps for t in row if t is not None]):.1f} |")
    means = []
    for split in given.split:
        rates = [t.successes / t.episodes for t in tallies.values() if t.split == split]
        means.append(f"{100 * float(np.mean(rates)):.1f}")
    say("| mean | " + " | ".join(means) + " | |")


def judged(trainer, found) -> str:  # type: ignore[no-untyped-def]
    """How near single strokes come to the oracle's on held-out demonstrations, by task and step, as a table."""
    import torch

    from etude.learn.buffer import DemonstrationBuffer

    rows: dict[tuple[str, int], list[tuple[float, float, float]]] = {}
    losses: list[torch.Tensor] = []
    for start in range(0, len(found), SIZE):
        part = found[start : start + SIZE]
        buffer = DemonstrationBuffer(trainer.device)
        buffer.add([one for _, _, one in part])
        batch = buffer.batch(torch.arange(len(part)))
        with torch.no_grad(), torch.autocast(trainer.device.type, torch.bfloat16, enabled=trainer.device.type == "cuda"):
            guesses = trainer.averaged.guesses(batch).float()
            losses.append(trainer.averaged.losses(batch))
        right = batch.labels[batch.counts]
        off = (guesses - right).cpu().numpy()
        where = batch.counts.nonzero().cpu().numpy()
        for (episode, step), error in zip(where, off, strict=True):
            task = part[episode][1].partition("/")[2].partition("@")[0]
            turn = abs(np.degrees((error[4] + np.pi) % (2 * np.pi) - np.pi))
            rows.setdefault((task, int(step)), []).append((np.hypot(*error[:2]), np.hypot(*error[2:4]), turn))
    lines = ["task step n | start <1.5 <3 <8 cm | end <3 <8 cm | turn <15"]
    for (task, step), errors in sorted(rows.items()):
        e = np.array(errors)
        shares = [(e[:, 0] < 0.015), (e[:, 0] < 0.03), (e[:, 0] < 0.08), (e[:, 1] < 0.03), (e[:, 1] < 0.08), (e[:, 2] < 15)]
        text = [f"{100 * s.mean():.0f}" for s in shares]
        lines.append(f"{task} {step} {len(e)} | {' '.join(text[:3])} | {' '.join(text[3:5])} | {text[5]}")
    axes = torch.cat(losses).mean(0).tolist()
    return "\n".join([*lines, f"held-out loss {sum(axes):.3f} ({' '.join(f'{a:.2f}' for a in axes)})"])


if __name__ == "__main__":
    main()
