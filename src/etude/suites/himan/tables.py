"""HiMan-Bench's metrics: atomic and compositional tasks, plain and perturbed, factor by factor, compositions seen in training and not.

Laid out so that they can be put beside the paper's tables 2, 6 and 8 to 11. All numbers come from the same records as everything else.
As in the paper, A&AP and C&CP are all episodes of a list, those with all factors at once among them: only so do its tables agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from etude.evaluation.inference import wilson
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.perturb.perturbation import known_perturbations
from etude.suites.himan.recipes import COMPOSITIONAL, EVERY, FACTORS, SEEN
from etude.suites.suite import Rows, RunsTable, SuiteTable

PLAIN = "none"
LEVELS = ("A", "C")  # atomic and compositional
Modes = Mapping[str, Sequence[Record]]


def composed_rows(modes: Modes) -> Rows:
    """By set, A to C&CP; compositions seen in training and not; and factor by factor."""
    return [{"mode": mode, **row} for mode, records in modes.items() if mode != "offline" for row in _composed(_played(records))]


def _composed(played: Sequence[Record]) -> Rows:
    found: Rows = []
    factors = dict.fromkeys((*FACTORS, *(f for r in played if (f := factor_of(r)) in _factors())))

    def add(table: str, group: str, chosen: Callable[[Record], bool]) -> None:
        here = [r for r in played if chosen(r)]
        if here:
            successes = sum(r.success for r in here)
            low, high = wilson(successes, len(here))
            interval = f"{100 * low:.0f}–{100 * high:.0f}"
            found.append({"table": table, "group": group, "success": successes / len(here), "95 %": interval, "episodes": len(here)})

    for level in LEVELS:
        for group, chosen in _sets(level).items():
            add("sets", group, lambda r, c=chosen: c(r))  # type: ignore[misc]
    for group in ("seen", "unseen", "others"):
        add("compositions", group, lambda r, g=group: r.level == "C" and _known(r) == g)  # type: ignore[misc]
    for level in LEVELS:
        for factor in (PLAIN, EVERY, *factors):
            add(f"factors: {level}&{level}P", factor, lambda r, a=level, f=factor: r.level == a and factor_of(r) == f)  # type: ignore[misc]
    return found


def _sets(level: str) -> dict[str, Callable[[Record], bool]]:
    """The paper's sets of a level: without factors, with one, and all episodes."""
    return {
        level: lambda r: r.level == level and factor_of(r) == PLAIN,
        f"{level}P": lambda r: r.level == level and factor_of(r) in _factors(),
        f"{level}&{level}P": lambda r: r.level == level,
    }


def planner_rows(modes: Modes) -> Rows:
    """How often a planner named the stage of a frame: exactly, or once case, spaces and punctuation are set aside."""
    asked, found = _played(modes.get("offline", ())), Rows()
    for level in LEVELS:
        for group, chosen in _sets(level).items():
            stages = [stage for r in asked if chosen(r) for stage in r.stages]
            if stages:
                right, exact = sum(s.right for s in stages), sum(bool(s.exact) for s in stages)
                found.append({"set": group, "exact": exact / len(stages), "normalised": right / len(stages), "questions": len(stages)})
    return found


def cost_rows(modes: Modes) -> Rows:
    """How much lower success is with a planner that must see for itself than with the rule-based one, by set."""
    rates = [{r["group"]: r for r in _composed(_played(modes.get(mode, ()))) if r["table"] == "sets"} for mode in ("rule", "coupled")]
    found = Rows()
    for group in rates[0]:
        if group in rates[1]:
            rule, coupled = (table[group]["success"] for table in rates)
            assert isinstance(rule, float) and isinstance(coupled, float)
            found.append({"set": group, "rule": rule, "coupled": coupled, "lost": rule - coupled})
    return found


def set_rows(runs: Mapping[str, Modes]) -> Rows:
    """A row for each run and mode, a column for each set: the paper's tables 2 and 6, and its figures 4 and 6, run by run.

    Success; of a planner that is asked offline, how often it named the stage of a frame rightly.
    """
    sets = {**_sets("A"), **_sets("C")}
    sets |= {f"{known} C&CP": lambda r, k=known: r.level == "C" and _known(r) == k for known in ("seen", "unseen")}  # type: ignore[misc]
    return [
        {"run": title, "mode": mode, **{group: _share(mode, filter(chosen, _played(records))) for group, chosen in sets.items()}}
        for title, modes in runs.items()
        for mode, records in modes.items()
        if records
    ]


def factor_rows(runs: Mapping[str, Modes]) -> Rows:
    """A row for each run, mode and set, a column for each factor: the paper's tables 8 to 11 and its figure 5, run by run."""
    found = Rows()
    for title, modes in runs.items():
        for mode, records in modes.items():
            for level in LEVELS:
                here = [r for r in _played(records) if r.level == level]
                if here:
                    shares = {f: _share(mode, (r for r in here if factor_of(r) == f)) for f in (PLAIN, EVERY, *FACTORS)}
                    found.append({"run": title, "mode": mode, "set": f"{level}&{level}P", **shares})
    return found


def _share(mode: str, records: Iterable[Record]) -> float | None:
    listed = [right for r in records for right in ([s.right for s in r.stages] if mode == "offline" else [r.success])]
    return sum(listed) / len(listed) if listed else None


def factor_of(record: Record) -> str:
    """The one factor an episode was perturbed by; "none" without, and anything else as it is written."""
    return "+".join(name_of(record).perturbations) or PLAIN


def _factors() -> set[str]:
    return {name for name, one in known_perturbations().items() if one.factor}


def _known(record: Record) -> str:
    """Is a composition in the paper's training data, in its list alone, or somebody else's?"""
    task = name_of(record).task
    return "seen" if task in SEEN else "unseen" if task in COMPOSITIONAL else "others"


def _played(records: Sequence[Record]) -> list[Record]:
    return [r for r in records if r.outcome != "error"]


TABLES = (
    SuiteTable(
        "composed",
        "Compositions and factors",
        "Success in per cent on atomic (A) and compositional tasks (C), plain and under one factor at a time (AP, CP); compositions that "
        "are in the training data and those that are not; and factor by factor. A&AP and C&CP are all episodes, also those with all "
        "factors at once.",
        composed_rows,
    ),
    SuiteTable(
        "answers", "Sub-tasks named for frames", "Of demonstrations, per cent right: letter for letter, and in sense.", planner_rows
    ),
    RunsTable(
        "sets",
        "Runs by set",
        "Success in per cent, run by run: such as one method trained on more and more data (L1 to L4). In the mode offline, how often the "
        "planner named the stage of a frame rightly.",
        set_rows,
    ),
    RunsTable("factors", "Runs by factor", "The same, factor by factor.", factor_rows),
    SuiteTable("cost", "What seeing costs", "Success with the rule-based planner and with one that must see for itself.", cost_rows),
)
