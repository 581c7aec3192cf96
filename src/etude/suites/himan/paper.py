"""The tables and figures of RoboHiMan: levels of training data by sets of tasks, under planners that know and that see, factor by factor.

Which level (L1 to L4) a policy was trained on is for the user to say. A&AP and C&CP are all episodes of the frozen lists, those with all
factors at once among them: so the paper's table 6 is the mean of its tables 8 to 11, weighted by episodes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.suites.himan.recipes import EVERY, FACTORS, LEVELS, SEEN
from etude.suites.himan.tables import PLAIN, factor_of
from etude.suites.paper import Count, PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable, read_published

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


def _condition(tasks: str, mode: str) -> PaperCondition:
    return PaperCondition(f"{LISTS[tasks].removeprefix('himan-')}-{mode}", LISTS[tasks], mode=mode)


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
    conditions = {tasks: tuple(_condition(tasks, mode) for mode in modes) for tasks in SETS}
    return PaperRow(tuple(PaperCell(conditions[tasks], count, level) for level in LEVELS for tasks in SETS))


def _table_2() -> PaperTable:
    rows = (_levels("offline", count=_named), _levels("rule"), _levels("coupled"), _levels("rule", "coupled", count=_lost))
    numbers = PUBLISHED["Table 2"]
    blocks = tuple(PaperBlock(title, (line,), numbers[title]) for title, line in zip(numbers, rows, strict=True))
    note = "the planner is the same for all levels; play once for each, with another --planner and --out"
    return PaperTable("Table 2", "Offline and online", TABLE_6, blocks, digits=3, note=note)


def _table_6() -> PaperTable:
    numbers = PUBLISHED["Table 6"]
    blocks = tuple(PaperBlock(title, (_levels(mode),), numbers[title]) for title, mode in zip(numbers, ("rule", "vanilla"), strict=True))
    return PaperTable("Table 6", "Levels of training data by sets of tasks", TABLE_6, blocks, digits=3)


def _by_factor(number: str) -> PaperTable:
    """Tables 8 to 11: the same of four models."""
    rows = []
    for level in LEVELS:
        for tasks, title in SETS.items():
            one = (_condition(tasks, "rule"),)
            cells = [PaperCell(one, functools.partial(_under, factor=factor), level) for factor in FACTOR_COLUMNS.values()]
            rows.append(PaperRow(tuple(cells), f"{level} → {title}"))
    [(block, published)] = PUBLISHED[number].items()
    [who] = published
    note = "the rows L2 → A&AP and L2 → C&CP are printed the wrong way round, as table 6 shows" if who == SWAPPED[0] else ""
    return PaperTable(number, f"{who} by factor", tuple(FACTOR_COLUMNS), (PaperBlock(block, tuple(rows), published),), digits=3, note=note)


def _figure_4() -> PaperTable:
    rows = {title: PaperRow(tuple(PaperCell((_condition(t, "rule"),), _rate, level) for level in LEVELS)) for t, title in SETS.items()}
    printed = PUBLISHED["Table 6"]["Rule-based planner"]
    blocks = tuple(
        PaperBlock(title, (row,), {who: [numbers[0][k::2]] for who, numbers in printed.items()})
        for k, (title, row) in enumerate(rows.items())
    )
    return PaperTable(
        "Figure 4", "What more training data brings", LEVELS, blocks, "lines", digits=3, note="its numbers are those of table 6"
    )


def _figure_5() -> PaperTable:
    one = (_condition("C", "rule"),)
    printed = {who: lines for number in MODELS for who, lines in PUBLISHED[number]["Success by factor"].items()}
    blocks = []
    for k, level in enumerate(LEVELS):
        cells = tuple(PaperCell(one, functools.partial(_under, factor=factor), level) for factor in FACTOR_COLUMNS.values())
        rows = {who: 2 * k + (0 if (who, level) == SWAPPED else 1) for who in printed}
        blocks.append(PaperBlock(f"{level} → C&CP", (PaperRow(cells),), {who: [printed[who][row]] for who, row in rows.items()}))
    note = "drawn from tables 8 to 11, level by level (rows L2 of table 9 the right way round); how the figure averages them is not printed"
    return PaperTable("Figure 5", "Compositions under factors", tuple(FACTOR_COLUMNS), tuple(blocks), "bars", digits=3, note=note)


def _figure_6() -> PaperTable:
    cells = tuple(PaperCell((_condition("C", "rule"),), functools.partial(_composed_of, seen=seen), "L4") for seen in (False, True))
    blocks = (PaperBlock("L4", (PaperRow(cells),), PUBLISHED["Figure 6"]["L4"]),)
    return PaperTable("Figure 6", "Compositions seen in training, and not", ("Unseen C&CP", "Seen C&CP"), blocks, "bars", digits=3)


def tables() -> tuple[PaperTable, ...]:
    """All tables and figures, in the order of the paper."""
    picture, show = "an illustration", "etude show"
    real = "needs a real arm (the paper has 17.5 % and 10.0 % without a planner, 47.5 % and 27.5 % with the rule-based one)"
    return (
        PaperTable("Figure 1", "Overview", missing="an illustration; the numbers of its part (c) are those of table 6"),
        PaperTable("Table 1", "Benchmarks", missing="a comparison with the work of others, which asks nothing of a policy"),
        PaperTable("Figure 2", "Tasks and levels of training data", missing=picture, command="etude list himan"),
        PaperTable("Figure 3", "The evaluation paradigm", missing=picture),
        _figure_4(),
        _figure_5(),
        _figure_6(),
        _table_2(),
        PaperTable("Figure 7", "Real-world experiments", missing=real),
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
        PaperTable("Figure 10", "Atomic tasks in the real world", missing="photographs"),
        PaperTable("Figure 11", "Compositional tasks in the real world", missing="photographs"),
    )
