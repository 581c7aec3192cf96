"""The tables of VLMbench's appendix: G-G, G-M and SC for each category and each kind of variation, seen and unseen.

The paper sets four groups side by side, twice; here they stand one under the other.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from etude.evaluation.record import Record
from etude.suites.paper import PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable, read_published
from etude.suites.vlmbench.causes import CAUSES
from etude.suites.vlmbench.tables import LISTS, METRICS, unit_scores

COLUMNS = tuple(f"{lists.capitalize()} {metric}" for lists in LISTS for metric in METRICS)
CATEGORIES = ("pick", "stack", "drop", "sorter", "pour", "wipe", "door", "drawer")
VARIATIONS = ("colour", "shape", "size", "relative position", "direction", "level", "amount and action", "amount and action")
CONDITIONS = {
    (lists, mode): PaperCondition(f"{lists}-{mode}", f"vlmbench-test_{lists}", mode=mode)
    for lists in LISTS
    for mode in ("vanilla", "grasped")
}
PUBLISHED = read_published(__file__)


def _cell(metric: str, lists: str, by: str, group: str) -> PaperCell:
    """One of the shares that the table of the suite has, in per cent."""
    read = functools.partial(unit_scores, metric=metric, lists=lists, by=by, group=group)

    def count(records: Sequence[Record]) -> float | None:
        values = read(records).values()
        return 100 * sum(values) / len(values) if values else None

    return PaperCell((CONDITIONS[lists, METRICS[metric][0]],), count, scores=read)


def _failing(lists: str, cause: str) -> PaperCell:
    return PaperCell((CONDITIONS[lists, "vanilla"],), functools.partial(_of_failures, cause=cause))


def _of_failures(records: Sequence[Record], cause: str) -> float | None:
    """How many of the episodes that failed did so for this reason, in per cent."""
    failed = [r for r in records if r.outcome != "error" and not r.success]
    return 100 * sum(r.cause == cause for r in failed) / len(failed) if failed else None


def _table(number: str, title: str, by: str, groups: Sequence[str], note: str = "") -> PaperTable:
    blocks = []
    for group, (name, published) in zip(groups, PUBLISHED[number].items(), strict=True):
        cells = [_cell(metric, lists, by, group) for lists in LISTS for metric in METRICS]
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
            missing="numbers of episodes: the frozen lists have as many, but for valid_unseen of wipe_shape; they are counted",
            command="etude list vlmbench",
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
            "Failures by cause",
            CAUSES,
            tuple(PaperBlock(lists.capitalize(), (PaperRow(tuple(_failing(lists, cause) for cause in CAUSES)),)) for lists in LISTS),
            drawn="bars",
            note="per cent of the episodes that failed; the paper shows one picture of each of four kinds, and counts none",
        ),
        PaperTable(
            "Figure 8",
            "With true waypoints",
            missing="a picture of one episode; who is given the true rotation or position has lines of its own in tables 8 and 9",
            command="etude rollout vlmbench/pour_color@test_seen#0 --policy true:rotation:learned:PATH --video film.webp",
        ),
    )
