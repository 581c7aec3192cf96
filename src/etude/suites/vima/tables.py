"""CoGeLoT's tables of lengths: how many actions solve a task (its table B.1), and how long instructions are (its table D.1)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from etude.arithmetic import total
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.library import episode
from etude.names import EtudeError
from etude.perturb.tokenizer import given_tokenizer
from etude.prompts.instruction import Words
from etude.suites.suite import Cell, Rows, SuiteTable
from etude.suites.vima.suite import ORDER

COLUMNS = {task: f"T{k}" for k, task in enumerate(ORDER, 1)}
PUBLISHED_ACTIONS: dict[str, dict[str, Cell]] = {  # of VIMA's training data, which has no T8, T10, T13, T14
    "minimum": {
        "T1": 1, "T2": 1, "T3": 1, "T4": 1, "T5": 1, "T6": 1, "T7": 1, "T9": 1, "T11": 2, "T12": 1, "T15": 2, "T16": 2, "T17": 3,
    },
    "maximum": {
        "T1": 2, "T2": 3, "T3": 2, "T4": 4, "T5": 7, "T6": 2, "T7": 3, "T9": 3, "T11": 2, "T12": 8, "T15": 4, "T16": 4, "T17": 4,
    },
}  # fmt: skip
PUBLISHED_LENGTHS = {  # words, and tokens of T5
    "": ("12.9 ± 7.6", "20.2 ± 13.6"),
    "gobbledygook_tokens": ("15.2 ± 9.3", "20.2 ± 13.6"),
    "gobbledygook_words": ("12.9 ± 7.6", "49.7 ± 27.8"),
}


def action_rows(modes: Mapping[str, Sequence[Record]]) -> Rows:
    """Fewest and most actions of the episodes that succeeded unperturbed, a column for each task, above the published ones."""
    taken: dict[str, list[int]] = {}
    for record in modes.get("vanilla", ()):
        name = name_of(record)
        if record.success and not name.perturbations and name.task in COLUMNS:
            taken.setdefault(COLUMNS[name.task], []).append(record.steps)
    if not taken:
        return []
    found: Rows = []
    for row, extreme in (("minimum", min), ("maximum", max)):
        found.append({"actions": row, **{column: extreme(taken[column]) if column in taken else None for column in COLUMNS.values()}})
        found.append({"actions": f"{row}, published", **{column: PUBLISHED_ACTIONS[row].get(column) for column in COLUMNS.values()}})
    return found


def length_rows(modes: Mapping[str, Sequence[Record]]) -> Rows:
    """Words and tokens of instructions, mean ± standard deviation, for each perturbation; one episode of each task and level counts."""
    chosen: dict[str, dict[tuple[str, str], str]] = {}
    for record in modes.get("vanilla", ()):
        name = name_of(record)
        chosen.setdefault("+".join(name.perturbations), {}).setdefault((name.task, name.split), record.episode)
    found: Rows = []
    for perturbation, names in sorted(chosen.items()):
        counts = [pair for name in names.values() if (pair := lengths(name)) is not None]
        if not counts:
            continue
        published = PUBLISHED_LENGTHS.get(re.sub(r":[^+]*", "", perturbation), (None, None))  # whatever the pieces are
        found.append(
            {
                "instructions": perturbation or "original",
                "words": spread([words for words, _ in counts]),
                "tokens": spread([tokens for _, tokens in counts]),
                "words, published": published[0],
                "tokens, published": published[1],
                "episodes": len(counts),
            }
        )
    return found


def lengths(name: str) -> tuple[int, int] | None:
    """How many words and tokens an instruction has; a picture is one of either. None where an old run has what is not there any more."""
    try:
        told = episode(name).instruction
    except EtudeError:
        return None
    words, tokenizer = told.template(slots=True).split(), given_tokenizer()
    pictures = sum(not isinstance(part, Words) for part in told.parts)
    text = " ".join(part.words for part in told.parts if isinstance(part, Words))
    return len(words), pictures + len(tokenizer.encode(text))


def spread(values: Sequence[int]) -> str:
    """Mean ± standard deviation."""
    mean = total(values) / len(values)
    return f"{mean:.1f} ± {math.sqrt(total((v - mean) ** 2 for v in values) / len(values)):.1f}"


TABLES = (
    SuiteTable(
        "actions",
        "Actions to solve each task",
        "Fewest and most actions in episodes that succeeded; CoGeLoT's table B.1 has those of VIMA's training data.",
        action_rows,
    ),
    SuiteTable(
        "lengths",
        "Lengths of instructions",
        "Mean ± standard deviation over one episode of each task and level, as CoGeLoT's table D.1. Tokens are those of etude's own "
        "tokenizer, or of the one given by --pieces; the published ones are T5's.",
        length_rows,
    ),
)
