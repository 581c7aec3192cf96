"""Do the trials that are handed out agree with the second opinion of ``brute.py``? ``python tests/decisions/agreement.py 20000``.

Goes round all lists and splits, and through random graphs of all operators in all combinations in time.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, count

from brute import World, in_colours, right_actions

from etude.decisions.autotask import auto_question
from etude.decisions.compose import condition, laid_out, make_trial, queue
from etude.decisions.connectivity import TaskSpace
from etude.decisions.distract import Distraction
from etude.decisions.showing import domain_of
from etude.decisions.space import SPLITS
from etude.decisions.trial import Placed, Trial
from etude.names import EtudeError, Stream, rng
from etude.suites.iwisdm.benchmarks import LISTS, trial

TRUTHS = ("IsSame", "NotSame", "Exist", "Relative", "Not", "And", "Or", "Xor")
OPERATORS = ("Get", "Const", "Count", *TRUTHS)
RICH = TaskSpace(
    roots=(*TRUTHS, "Get", "Count"),
    booleans=TRUTHS,
    operators=OPERATORS,
    constants=0.3,
    max_switch=2,
    switch_chance=0.4,
    joins=(0, 3),
    frames=(1, 9),
    delays=(0, 3),
    sharing=0.4,
)


def some_trials() -> Iterator[Trial]:
    """Trials without end: every list and split in turn, and as many of random graphs."""
    for seed in count():
        for task in LISTS:
            yield trial(task, SPLITS[seed % 3], seed // 3)
            yield random_trial(rng(f"agreement/{task}/{seed}", "graphs"), seed)


def random_trial(stream: Stream, seed: int) -> Trial:
    """Random graphs of all operators, combined somehow, with distractors."""
    domain = domain_of("procedural", "val")
    distraction = Distraction(stream.integer(0, 2), stream.integer(0, 2), (1, stream.integer(1, 3)))
    while True:
        tasks = [auto_question(RICH, stream, domain).task for _ in range(3)]
        try:
            placed = _somehow(tasks, stream)
            return make_trial(f"random/graphs@val#{seed}", placed, domain, [None] * len(placed), stream, distraction=distraction)
        except EtudeError:
            continue


def _somehow(tasks: list, stream: Stream) -> tuple[Placed, ...]:
    how = stream.integer(0, 3)
    if how == 0:
        return (Placed(tasks[0]),)
    if how == 1:
        return queue(*tasks, gap=stream.integer(0, 2))
    if how == 2:
        return condition(*tasks, gap=stream.integer(0, 2))
    return laid_out(*tasks, starts=[0, stream.integer(0, tasks[0].frames), stream.integer(0, tasks[0].frames + 2)])


def faults(one: Trial, world: World | None = None) -> Iterator[str]:
    """What is wrong with a trial, if anything."""
    if right_actions(one.to_json(), world) != list(one.answers):
        yield "the answers differ"
    if any(a and a not in one.choices for a in one.answers) or len(one.choices) < 2:
        yield "an answer is not among the choices"
    if not any(one.answers):
        yield "nothing is answered"
    if len(one.answers) != len(one.frames):
        yield "there is not one action for each frame"
    if any(len({t.location for t in things}) < len(things) for things in one.frames):
        yield "two objects lie in one place"
    for changed in without_distractors(one):
        if right_actions(changed.to_json(), world) != list(one.answers):
            yield "a distractor changes the answers"


def without_distractors(one: Trial) -> Iterator[Trial]:
    """The trial with every combination of its distractors taken away (up to 64 of them)."""
    there = [(f, t) for f, things in enumerate(one.frames) for t in things if t.distractor][:6]
    for size in range(1, len(there) + 1):
        for gone in combinations(there, size):
            yield replace(one, frames=tuple(tuple(t for t in things if (f, t) not in gone) for f, things in enumerate(one.frames)))


def main(number: int) -> None:
    """Go through so many trials and say what was found."""
    found: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for one, _ in zip(some_trials(), range(number), strict=False):
        for fault in faults(one, in_colours()):
            found[fault] += 1
            print(f"{one.name}: {fault}", file=sys.stderr)
        kinds[one.level or "random graphs"] += 1
        if one.level:  # random graphs are answered as it comes
            answers.update(a for a in one.answers if a)
    print(json.dumps({"trials": number, "faults": dict(found), "by level": dict(kinds), "answers": dict(answers)}, indent=1))
    sys.exit(bool(found))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
