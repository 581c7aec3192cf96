"""Cards of trained policies: what a shipped one is, how it was made, and how well it does. Plain data, and a page for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from etude.evaluation.tables import percent
from etude.names import EtudeError

ALONE = "vanilla"  # the mode of a policy without a planner
LISTED = ("name", "suite", "family", "parameters", "bytes", "trained_on", "command")  # design 9: what ``etude zoo --json`` promises


@dataclass(frozen=True)
class ZooCard:
    """A trained policy. ``family`` is its recipe's name, ``command`` trains it; ``recipe`` and ``contract`` are plain data; ``curve`` is a
    few (step, loss); ``results`` are sums over episodes by mode, split and perturbation, ``tasks`` those without perturbation by mode,
    split and task; ``digest`` is the weights', ``trained`` that of the checkpoint they came from; ``difference`` the largest found from
    torch's actions."""

    name: str
    suite: str
    family: str
    parameters: int
    bytes: int
    trained_on: str
    command: str
    protocol: str
    recipe: Mapping[str, Any]
    contract: Mapping[str, Any]
    curve: Sequence[Sequence[float]]
    results: Sequence[Mapping[str, Any]]
    tasks: Sequence[Mapping[str, Any]]
    licence: str
    digest: str
    trained: str
    difference: float

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Any, where: str) -> ZooCard:
        """From plain data; fields that a later etude may have added are passed over."""
        if not isinstance(data, dict):
            raise EtudeError(f"{where} is no card of a trained policy: expected an object")
        for field in fields(cls):
            if field.name not in data:
                raise EtudeError(f"{where} is no card of a trained policy: the field {field.name!r} is missing")
        return cls(**{field.name: data[field.name] for field in fields(cls)})

    def listed(self) -> dict[str, Any]:
        """The line of a list."""
        return {name: getattr(self, name) for name in LISTED}


def zoo_page(cards: Sequence[ZooCard]) -> str:
    """The page about all policies of a zoo, in Markdown."""
    parts = [
        "# Trained policies\n\nMade by `etude zoo add`; how to play them, and to add one: [learning](learning.md#the-zoo).\n",
        _table(
            ("policy", "suite", "family", "parameters", "MB", "trained on"),
            [(f"`zoo:{c.name}`", c.suite, c.family, f"{c.parameters:,}", f"{c.bytes / 1e6:.1f}", c.trained_on) for c in cards],
        )
        if cards
        else "None comes with etude yet.\n",
        *map(_section, cards),
    ]
    return "\n".join(parts)


def _section(card: ZooCard) -> str:
    facts = f"Protocol `{card.protocol}`. Licence {card.licence}. Weights `{card.digest[:16]}`, exported from `{card.trained}`; actions"
    text = f"## {card.name}\n\n{facts} differ from torch's by at most {card.difference:.1e}.\n\n```\n{card.command}\n```\n"
    if card.curve:
        text += "\nLoss by step: " + ", ".join(f"{step:.0f}: {loss:.2f}" for step, loss in card.curve) + ".\n"
    return text + results_tables(card.results, card.tasks)


def results_tables(results: Sequence[Mapping[str, Any]], tasks: Sequence[Mapping[str, Any]]) -> str:
    """How well a policy does, in Markdown: sums by split and perturbation, and by split and task; by mode too, where it has others than
    playing alone."""
    text, told = "", any(mode_of(row) != ALONE for row in results)
    for key, rows in (("perturbation", results), ("task", tasks)):
        if rows:
            columns = (*(("mode",) if told else ()), "split", key, "episodes", "success", "95 %")
            text += "\n" + _table(columns, [(*((mode_of(row),) if told else ()), *_line(row, key)) for row in rows])
    return text


def mode_of(row: Mapping[str, Any]) -> str:
    """In which mode these episodes were played."""
    return str(row.get("mode", ALONE))


def _line(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    low, high = row["interval"]
    success = percent(row["successes"] / max(1, row["episodes"]))
    return row["split"], row[key] or "none", str(row["episodes"]), success, f"{100 * low:.0f}–{100 * high:.0f}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
