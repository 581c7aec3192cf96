"""The tables and figures of RoboHiMan: levels of training data by sets of tasks, under planners that know and that see, factor by factor.

Which level (L1 to L4) a policy was trained on is for the user to say. A&AP and C&CP are all episodes of the frozen lists, those with all
factors at once among them: so the paper's table 6 is the mean of its tables 8 to 11, weighted by episodes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.suites.himan.recipes import EVERY, FACTORS, LEVELS, REAL, SEEN
from etude.suites.himan.tables import PLAIN, factor_of
from etude.suites.paper import Count, PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable, Scores, read_published

REAL_LIST = "himan-real"
LISTS = {"A": "himan-atomic", "C": "himan-compositional"}
SETS = {"A": "A&AP", "C": "C&CP"}
# By the numbers of the paper's table 7.
FACTOR_COLUMNS = {
    "0 none": PLAIN, "1 all": EVERY, **{f"{k} {name}": name for k, name in zip((*range(2, 13), 14), FACTORS, strict=True)},
}  # fmt: skip
TABLE_6 = tuple(f"{level} → {SETS[tasks]}" for level in LEVELS for tasks in SETS)
MODELS = ("Table 8", "Table 9", "Table 10", "Table 11")  # one for each
SWAPPED = ("3D-Diffuser-Actor-RP", "L2")  # its rows A&AP and C&CP are printed the wrong way round: with them table 6 cannot be made
PUBLISHED = read_published(__file__)
FEWER = {str(count): f"{count} demonstrations" for count in (50, 100, 200)}  # by column, what models are trained on
SEEDED = {f"{level}, seed {seed}": f"{level} seed {seed}" if seed else level for level in ("L2", "L4") for seed in range(3)}


def condition(tasks: str, mode: str) -> PaperCondition:
    """A list played in a mode: all of it, or a fifth."""
    return PaperCondition(f"{LISTS[tasks].removeprefix('himan-')}-{mode}", LISTS[tasks], mode=mode, part=f"{LISTS[tasks]}-fifth")


def scores(
    records: Sequence[Record], factors: Sequence[str] = (), seen: bool | None = None, across: bool = False, nothing: bool = False
) -> Scores:
    """Success by task, factor and seed; of questions to a planner, the share of right answers.

    ``factors``: under these alone; ``seen``: of compositions that are in the training data, or are not; ``across``: as means over factors;
    ``nothing``: of somebody who never succeeds.
    """
    found: dict[tuple[str, str, int], list[float]] = {}
    for record in records:
        name, factor = name_of(record), factor_of(record)
        if (not factors or factor in factors) and (seen is None or (name.task in SEEN) is seen):
            value = _named([record]) if record.mode == "offline" else float(record.success)
            if value is not None:
                found.setdefault((name.task, "" if across else factor, name.seed), []).append(0.0 if nothing else value)
    return {key: sum(values) / len(values) for key, values in found.items()}


def _rate(records: Sequence[Record]) -> float | None:
    return sum(r.success for r in records) / len(records) if records else None


def _named(records: Sequence[Record]) -> float | None:
    """How often a planner named the stage of a frame rightly."""
    stages = [stage for r in records for stage in r.stages]
    return sum(stage.right for stage in stages) / len(stages) if stages else None


def _lost(records: Sequence[Record]) -> float | None:
    """How much lower success is with a planner that sees than with the rule-based one."""
    known, seen = (_rate([r for r in records if r.mode == mode]) for mode in ("rule", "coupled"))
    return None if known is None or seen is None else known - seen


def _under(records: Sequence[Record], factor: str) -> float | None:
    return _rate([r for r in records if factor_of(r) == factor])


def _composed_of(records: Sequence[Record], seen: bool) -> float | None:
    return _rate([r for r in records if (name_of(r).task in SEEN) is seen])


def _levels(*modes: str, count: Count = _rate) -> PaperRow:
    """A number for each level of training data and set of tasks."""
    conditions = {tasks: tuple(condition(tasks, mode) for mode in modes) for tasks in SETS}
    read = scores if len(modes) == 1 else None
    return PaperRow(tuple(PaperCell(conditions[tasks], count, level, read) for level in LEVELS for tasks in SETS))


def _table_2() -> PaperTable:
    rows = (_levels("offline", count=_named), _levels("rule"), _levels("coupled"), _levels("rule", "coupled", count=_lost))
    numbers = PUBLISHED["Table 2"]
    blocks = tuple(PaperBlock(title, (line,), numbers[title]) for title, line in zip(numbers, rows, strict=True))
    return PaperTable("Table 2", "Offline and online", TABLE_6, blocks, digits=3, shares=True)


def _table_6() -> PaperTable:
    numbers = PUBLISHED["Table 6"]
    blocks = tuple(PaperBlock(title, (_levels(mode),), numbers[title]) for title, mode in zip(numbers, ("rule", "vanilla"), strict=True))
    return PaperTable("Table 6", "Levels of training data by sets of tasks", TABLE_6, blocks, digits=3, shares=True)


def _under_factors(tasks: str, level: str) -> tuple[PaperCell, ...]:
    """A number for each factor."""
    one, every = (condition(tasks, "rule"),), FACTOR_COLUMNS.values()
    reads = [(functools.partial(_under, factor=factor), functools.partial(scores, factors=(factor,))) for factor in every]
    return tuple(PaperCell(one, count, level, read) for count, read in reads)


def _by_factor(number: str) -> PaperTable:
    """Tables 8 to 11: the same of four models."""
    rows = [PaperRow(_under_factors(tasks, level), f"{level} → {title}") for level in LEVELS for tasks, title in SETS.items()]
    [(block, published)] = PUBLISHED[number].items()
    [who] = published
    note = "the rows L2 → A&AP and L2 → C&CP are printed the wrong way round, as table 6 shows" if who == SWAPPED[0] else ""
    blocks = (PaperBlock(block, tuple(rows), published),)
    return PaperTable(number, f"{who} by factor", tuple(FACTOR_COLUMNS), blocks, digits=3, shares=True, note=note)


def _figure_4() -> PaperTable:
    cells = {title: tuple(PaperCell((condition(t, "rule"),), _rate, level, scores) for level in LEVELS) for t, title in SETS.items()}
    printed = PUBLISHED["Table 6"]["Rule-based planner"]
    blocks = tuple(
        PaperBlock(title, (PaperRow(row),), {who: [numbers[0][k::2]] for who, numbers in printed.items()})
        for k, (title, row) in enumerate(cells.items())
    )
    note = "its numbers are those of table 6"
    return PaperTable("Figure 4", "What more training data brings", LEVELS, blocks, "lines", digits=3, shares=True, note=note)


def _figure_5() -> PaperTable:
    printed = {who: lines for number in MODELS for who, lines in PUBLISHED[number]["Success by factor"].items()}
    blocks = []
    for k, level in enumerate(LEVELS):
        rows = {who: 2 * k + (0 if (who, level) == SWAPPED else 1) for who in printed}
        numbers = {who: [printed[who][row]] for who, row in rows.items()}
        blocks.append(PaperBlock(f"{level} → C&CP", (PaperRow(_under_factors("C", level)),), numbers))
    note = "drawn from tables 8 to 11, level by level (rows L2 of table 9 the right way round); how the figure averages them is not printed"
    columns = tuple(FACTOR_COLUMNS)
    return PaperTable("Figure 5", "Compositions under factors", columns, tuple(blocks), "bars", digits=3, shares=True, note=note)


def _figure_6() -> PaperTable:
    one = (condition("C", "rule"),)
    reads = [(functools.partial(_composed_of, seen=seen), functools.partial(scores, seen=seen)) for seen in (False, True)]
    cells = tuple(PaperCell(one, count, "L4", read) for count, read in reads)
    blocks = (PaperBlock("L4", (PaperRow(cells),), PUBLISHED["Figure 6"]["L4"]),)
    columns = ("Unseen C&CP", "Seen C&CP")
    return PaperTable("Figure 6", "Compositions seen in training, and not", columns, blocks, "bars", digits=3, shares=True)


def _real(records: Sequence[Record], perturbed: bool) -> list[Record]:
    return [r for r in records if bool(name_of(r).perturbations) is perturbed]


def _real_rate(records: Sequence[Record], perturbed: bool) -> float | None:
    return _rate(_real(records, perturbed))


def _real_scores(records: Sequence[Record], perturbed: bool) -> Scores:
    return {(name_of(r).task, r.level, name_of(r).seed): float(r.success) for r in _real(records, perturbed)}


def _figure_7() -> PaperTable:
    """The real robot's tasks, in simulation."""
    blocks = []
    for title, mode in (("Vanilla", "vanilla"), ("Rule-based planner", "rule")):
        one = (PaperCondition(f"real-{mode}", REAL_LIST, mode=mode),)
        sides = [(functools.partial(_real_rate, perturbed=p), functools.partial(_real_scores, perturbed=p)) for p in (False, True)]
        cells = tuple(PaperCell(one, count, "", read) for count, read in sides)
        blocks.append(PaperBlock(title, (PaperRow(cells),), PUBLISHED["Figure 7"][title], "" if mode == "vanilla" else "Vanilla"))
    missing = (
        "its robot, which needs a real arm: these are its tasks in simulation;"
        f" etude evaluate --robot ws://host:port --plan {REAL_LIST} plays them on one"
    )
    columns = ("C", "CP")
    return PaperTable("Figure 7", "Real-world experiments", columns, tuple(blocks), "bars", digits=3, shares=True, missing=missing)


def _coupled() -> PaperTable:
    """Every policy in every mode, not the one of table 2 alone."""
    ways = {"Rule-based planner": "rule", "Vanilla": "vanilla", "Planner that sees": "coupled"}
    first = next(iter(ways))
    blocks = [PaperBlock(title, (_levels(mode),), against="" if title == first else first) for title, mode in ways.items()]
    return PaperTable("Study 1", "Every policy in every mode", TABLE_6, tuple(blocks), digits=3, shares=True)


def _trained_as(number: str, title: str, words: Mapping[str, str], note: str) -> PaperTable:
    """What else a policy may have been trained on; ``words`` by column."""
    blocks = tuple(
        PaperBlock(name, (PaperRow(tuple(PaperCell((condition(t, "rule"),), _rate, w, scores) for w in words.values())),), models_only=True)
        for t, name in SETS.items()
    )
    return PaperTable(number, title, tuple(words), blocks, digits=3, shares=True, note=note)


def tables() -> tuple[PaperTable, ...]:
    """All tables and figures, in the order of the paper."""
    picture, show = "an illustration", "etude show"
    return (
        PaperTable("Figure 1", "Overview", missing="an illustration; the numbers of its part (c) are those of table 6"),
        PaperTable("Table 1", "Benchmarks", missing="a comparison with the work of others, which asks nothing of a policy"),
        PaperTable(
            "Figure 2",
            "Tasks and levels of training data",
            missing="the drawing: tasks by factor and demonstrations by level are counted from the lists",
            command="etude list himan",
        ),
        PaperTable("Figure 3", "The evaluation paradigm", missing=picture),
        _figure_4(),
        _figure_5(),
        _figure_6(),
        _table_2(),
        _figure_7(),
        PaperTable(
            "Figure 8", "Atomic tasks under factors", missing=picture, command=f"{show} himan/open_drawer@test#0+mo_color --out scene.png"
        ),
        PaperTable(
            "Figure 9",
            "Compositional tasks under factors",
            missing=picture,
            command=f"{show} himan/put_in_and_close@test#0+all --out scene.png",
        ),
        PaperTable("Table 3", "Inputs and outputs of policies", missing="settings of models that are not here"),
        PaperTable(
            "Table 4",
            "Prompt for the next sub-task",
            missing="a text of the paper; ours is in the questions",
            command="etude export --suite himan --task open_drawer --episodes 5 --form questions --out DATA",
        ),
        PaperTable("Table 5", "Prompt for reasoning", missing="a text for making training data of a model that is not here"),
        _table_6(),
        PaperTable("Table 7", "Numbers of factors", missing="names only; they head the columns of tables 8 to 11"),
        *map(_by_factor, MODELS),
        PaperTable(
            "Figure 10",
            "Atomic tasks in the real world",
            missing="photographs",
            command=f"{show} {REAL}/open_drawer@test#0 --out scene.png",
        ),
        PaperTable(
            "Figure 11",
            "Compositional tasks in the real world",
            missing="photographs",
            command=f"{show} {REAL}/box_item_in_drawer@test#0 --out scene.png",
        ),
        _coupled(),
        _trained_as("Study 2", "Numbers of demonstrations", {**FEWER, "368": "L4"}, "the first of L4, all tasks alike"),
        _trained_as("Study 3", "Training seeds", SEEDED, "the same demonstrations, other weights to begin with"),
    )
