"""What the factors add to a reset of HiMan-Bench: from an episode's name to the first pictures of its five cameras."""

from __future__ import annotations

import time
from collections.abc import Sequence

from etude.bench.extent import extent, wanted
from etude.bench.result import Result
from etude.catalog.textures import NUMBERED, texture
from etude.envs.observer import Observer
from etude.envs.simulation import Simulation
from etude.library import episode
from etude.names import EtudeError
from etude.perturb.factors import factors
from etude.perturb.perturbation import perturbed
from etude.suites.himan.recipes import MISSING

WARM = (0,)
SIZE = (128, 128)
INSTRUCTIONS = ("paraphrase", "descriptors", "gobbledygook_words", "gobbledygook_tokens", "mask_language", "mask_visual")
LONGEST = ("vima/novel_adj_and_noun@L4#0", "vima/twist@L1#0", "clevrskills/neighbour@train#0", "vima/novel_noun@L1#0")


def resets() -> list[Result]:
    """CPU time of a reset without a factor, and with each of the twelve beside the same episodes without: seeds that nobody has met before,
    textures painted before."""
    for k in range(NUMBERED):
        texture(f"numbered {k}")
    seeds = range(1, 1 + extent(3, 1))
    results = [Result("reset: himan, five cameras at 128x128", round(_milliseconds("", tuple(MISSING), seeds), 2), "CPU ms")]
    for factor in filter(lambda name: wanted(f"reset: himan with {name}"), factors()):
        fitting = [task for task, missing in MISSING.items() if factor not in missing]
        _milliseconds(f"+{factor}", fitting, WARM)
        plain, changed = _milliseconds("", fitting, seeds), _milliseconds(f"+{factor}", fitting, seeds)
        results.append(Result(f"reset: himan with {factor}", round(changed, 2), "CPU ms", "without it", round(plain, 2)))
    for kind in INSTRUCTIONS:
        results.append(Result(f"instruction: {kind}, the longest there are", round(_reworded(kind), 3), "CPU ms"))
    return results


def _reworded(kind: str) -> float:
    """Milliseconds that changing the words of an instruction takes, on average; those it does not apply to are left out."""
    spent, count = 0.0, 0
    for one in map(episode, LONGEST):
        for _ in range(extent(30, 5)):
            begun = time.process_time()
            try:
                perturbed(one, [kind])
            except EtudeError:
                break
            spent, count = spent + time.process_time() - begun, count + 1
    return 1000 * spent / count


def _milliseconds(suffix: str, tasks: Sequence[str], seeds: Sequence[int]) -> float:
    """Of one reset, on average."""
    begun = time.process_time()
    for task in tasks:
        for seed in seeds:
            found = episode(f"himan/{task}@test#{seed}{suffix}")
            cameras = [c.name for c in found.scene.cameras if c.name != "render"]
            Observer(Simulation(found), cameras, SIZE, ("rgb",)).look()
    return 1000 * (time.process_time() - begun) / (len(tasks) * len(seeds))
