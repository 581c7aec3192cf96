"""The tables of VLMbench's appendix: G-G, G-M and SC for each category and each kind of variation, seen and unseen.

The paper sets four groups side by side, twice; here they stand one under the other.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from etude.evaluation.record import Record
from etude.suites.paper import PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable, read_published
from etude.suites.vlmbench.tables import unit_rows

LISTS = ("seen", "unseen")
METRICS = {"G-G": "vanilla", "G-M": "grasped", "SC": "vanilla"}  # with the mode in which each is measured
COLUMNS = tuple(f"{lists.capitalize()} {metric}" for lists in LISTS for metric in METRICS)
CATEGORIES = ("pick", "stack", "drop", "sorter", "pour", "wipe", "door", "drawer")
VARIATIONS = ("colour", "shape", "size", "relative position", "direction", "level", "amount and action", "amount and action")
CONDITIONS = {
    (lists, mode): PaperCondition(f"{lists}-{mode}", f"vlmbench-test_{lists}", mode=mode)
    for lists in LISTS
    for mode in ("vanilla", "grasped")
}
PUBLISHED = read_published(__file__)


def _share(records: Sequence[Record], by: str, group: str, lists: str, metric: str) -> float | None:
    """One of the shares that the table of the suite has, in per cent."""
    modes = {mode: [r for r in records if r.mode == mode] for mode in ("vanilla", "grasped")}
    for row in unit_rows(modes):
        if (row["by"], row["group"], row["lists"]) == (by, group, lists):
            value = row[metric]
            return 100 * value if isinstance(value, float) else None
    return None


def _table(number: str, title: str, by: str, groups: Sequence[str], note: str = "") -> PaperTable:
    blocks = []
    for group, (name, published) in zip(groups, PUBLISHED[number].items(), strict=True):
        cells = [
            PaperCell((CONDITIONS[lists, mode],), functools.partial(_share, by=by, group=group, lists=lists, metric=metric))
            for lists in LISTS for metric, mode in METRICS.items()
        ]  # fmt: skip
        blocks.append(PaperBlock(name, (PaperRow(tuple(cells)),), published))
    return PaperTable(number, title, COLUMNS, tuple(blocks), digits=2, note=note)


def tables() -> tuple[PaperTable, ...]:
    """All tables and figures of the appendix, in its order."""
    body = "the body of the paper was not at hand; what it has of success is in the columns SC of tables 8 and 9"
    return (
        PaperTable("Tables 1 to 4", "Those of the body", missing=body),
        PaperTable("Figures 1 to 4", "Those of the body", missing=body),
        PaperTable(
            "Table 5",
            "Variations",
            missing="the values themselves (colours, shapes, sizes, sides): a list of words",
            command="etude list vlmbench",
        ),
        PaperTable("Table 6", "Object models", missing="a list of words; ours are shown", command="etude show catalog --out catalog.html"),
        PaperTable(
            "Figure 5", "The environment", missing="an illustration", command="etude show vlmbench/pick_color@train#0 --out scene.html"
        ),
        PaperTable(
            "Figure 6", "All tasks", missing="pictures of all tasks at once", command="etude show vlmbench/door@train#0 --out scene.png"
        ),
        PaperTable(
            "Table 7",
            "Episodes of each task",
            missing="numbers of episodes: the frozen lists have as many, but for valid_unseen of wipe_shape",
            command="etude evaluate --plan vlmbench-test_seen --policy P --out RUN",
        ),
        _table(
            "Table 8",
            "Steps by category",
            "category",
            CATEGORIES,
            "where it says ?, the numbers of two lines lie over each other in the copy that was read",
        ),
        _table(
            "Table 9",
            "Steps by variation",
            "variation",
            VARIATIONS,
            "amount and action vary together in our tasks: both have the same numbers",
        ),
        PaperTable(
            "Figure 7",
            "Failures",
            missing="pictures of four kinds of failure; ours are counted by cause",
            command="etude report RUN --out report.html",
        ),
        PaperTable("Figure 8", "With true waypoints", missing="pictures of a model that is not here"),
    )
