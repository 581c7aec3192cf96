"""What audits say about tasks, for those who report scores: the best cheat of each. Read as data; nothing is audited here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from etude.evaluation.plan import read_object
from etude.names import EtudeError

NAME = "audit.json"


@dataclass(frozen=True)
class BestCheat:
    """The best cheat of a task, how often it succeeds, and chance."""

    name: str
    rate: float
    chance: float


def best_cheats(folders: Sequence[Path]) -> dict[tuple[str, str, str], BestCheat]:
    """(suite, task, split) → the best cheat, from every audit in these folders and below."""
    found = {}
    for folder in folders:
        files = sorted(folder.rglob(NAME))
        if not files:
            raise EtudeError(f"there is no {NAME} in {str(folder)!r}; 'etude audit SUITE --out FOLDER' makes one")
        for path in files:
            data = read_object(path)
            try:
                for row in data["rows"]:
                    key = str(data["suite"]), str(row["task"]), str(row["split"])
                    found[key] = BestCheat(str(row["cheat"]), float(row["cheat_rate"]), float(row["chance"]))
            except (KeyError, TypeError, ValueError):
                raise EtudeError(f"{path} is not an audit; expected what 'etude audit --json' writes") from None
    return found


def committed() -> tuple[Path, ...]:
    """The audits that lie with the documentation, where etude is used from its repository."""
    folder = Path(__file__).parents[3] / "docs" / "results" / "audits"
    return (folder,) if any(folder.rglob(NAME)) else ()
