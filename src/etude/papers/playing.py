"""The conditions of a paper as runs: one folder for each policy and condition, which the same command goes on with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from etude import api
from etude.evaluation.choosing import Choice, choose
from etude.evaluation.plan import PLANNED
from etude.evaluation.record import Record
from etude.evaluation.run import Progress, RunSettings
from etude.names import EpisodeName, EtudeError, unknown
from etude.policies.loading import address_of, load_policy
from etude.policies.policy import Policy
from etude.suites.paper import PaperCondition, PaperTable, checked_tables
from etude.suites.suite import SUITES

ANY = ""  # stands for whatever a policy may have been trained on


@dataclass(frozen=True)
class PolicyLine:
    """Who stands in a line of a table: policies by what they were trained on, or one policy for everything (:data:`ANY`).

    >>> PolicyLine("mine", {"L1": "learned:runs/l1", "L2": "learned:runs/l2"})
    """

    name: str
    policies: Mapping[str, Policy | str]

    def policy(self, trained: str) -> Policy | str | None:
        """Who plays for a cell; None where nobody of that training was given."""
        if ANY in self.policies:
            return self.policies[ANY]
        return self.policies.get(trained) if trained else next(iter(self.policies.values()))

    def address(self, trained: str) -> str | None:
        """The same as text, under which its runs are kept."""
        found = self.policy(trained)
        return None if found is None else address_of(found)


@dataclass
class Played:
    """Records by policy and condition; ``refused`` says in words what could not be played."""

    records: dict[tuple[str, str], tuple[Record, ...]] = field(default_factory=dict)
    folders: dict[tuple[str, str], Path] = field(default_factory=dict)
    refused: dict[tuple[str, str], str] = field(default_factory=dict)


def tables_of(suite: str) -> tuple[PaperTable, ...]:
    """The tables and figures of a suite's paper."""
    found = checked_tables(SUITES[suite].paper_tables())
    if not found:
        having = [name for name in SUITES if SUITES[name].paper_tables()]
        raise EtudeError(f"{suite} declares no tables of a paper; {', '.join(having)} do")
    return found


def chosen_tables(tables: Sequence[PaperTable], wanted: Sequence[str]) -> tuple[PaperTable, ...]:
    """Those that are asked for: "Figure 2", "Table 2", which may be written "2", or several with commas between them; else all."""
    numbers = {table.number.lower(): table for table in tables}
    found: dict[str, PaperTable] = {}
    for text in (part.strip() for one in wanted for part in one.split(",")):
        one = numbers.get(text.lower()) or numbers.get(f"table {text.lower()}")
        if one is None:
            raise unknown("table or figure", text, [t.number for t in tables])
        if not one.blocks:
            raise EtudeError(f"{one.number} is not played: {(one.command and f'it is made by {one.command}') or one.missing}")
        found[one.number] = one
    return tuple(found.values()) or tuple(t for t in tables if t.blocks)


def policy_lines(policies: Sequence[str], tables: Sequence[PaperTable]) -> list[PolicyLine]:
    """The lines that are added: one for all policies that say what they were trained on (``L1=ADDRESS``), one for each of the others."""
    known = {word for table in tables for word in table.trained}
    told: dict[str, str] = {}
    plain = []
    for text in policies:
        word, sign, address = text.partition("=")
        if sign and word in known:
            if word in told:
                raise EtudeError(f"--policy {word}=… is given twice: {told[word]} and {address}")
            told[word] = address
        else:
            plain.append(text)
    found = [PolicyLine(text, {ANY: text}) for text in dict.fromkeys(plain)]
    return [*found, PolicyLine(" ".join(f"{word}={address}" for word, address in told.items()), told)] if told else found


def play(
    tables: Sequence[PaperTable],
    lines: Sequence[PolicyLine],
    out: Path,
    *,
    planner: str | None = None,
    episodes: int | None = None,
    task: Sequence[str] = (),
    settings: RunSettings | None = None,
    progress: Progress | None = None,
    told: Callable[[str], None] = lambda text: None,
) -> Played:
    """Play what these tables need, each condition once for each policy; ``told`` hears which comes next.

    ``episodes`` seeds of everything instead of as many as the paper has; ``task`` leaves all other tasks out. A condition that refuses a
    policy, or needs a planner that is not given, is noted; when all do, that is an error.
    """
    if episodes is not None and episodes < 1:
        raise EtudeError(f"--episodes must be at least 1, got {episodes}")
    found, wanted = Played(), _wanted(tables, lines)
    for number, ((address, one), policy) in enumerate(wanted.items(), 1):
        key, folder = (address, one.key), out / _slug(address) / one.key
        if one.mode in PLANNED and not planner:
            found.refused[key] = f"the mode {one.mode} needs --planner"
            continue
        told(f"{one.key} ({number} of {len(wanted)}): {address}")
        try:
            names = _names(one, episodes, task)
            if not names:
                found.refused[key] = f"it has none of the tasks {', '.join(task)}"
                continue
            speaker = planner if one.mode in PLANNED else None
            run = api.evaluate(policy, names, planner=speaker, mode=one.mode, out=folder, settings=settings, progress=progress)
        except EtudeError as error:
            if isinstance(policy, str) and all(who != address for who, _ in (*found.records, *found.refused)):
                load_policy(policy)  # one that cannot be loaded at all is refused at once
            found.refused[key] = str(error)
            continue
        found.records[key], found.folders[key] = tuple(r for r in run.records if r.outcome != "error"), folder
    if not found.records:
        raise EtudeError(next(iter(found.refused.values()), "nothing of these tables can be played"))
    return found


def _wanted(tables: Iterable[PaperTable], lines: Sequence[PolicyLine]) -> dict[tuple[str, PaperCondition], Policy | str]:
    """Who plays what, once each, in the order of the tables."""
    found: dict[tuple[str, PaperCondition], Policy | str] = {}
    for cell in (cell for table in tables for cell in table.cells):
        for line in lines:
            if (policy := line.policy(cell.trained)) is not None:
                found |= dict.fromkeys(((address_of(policy), one) for one in cell.conditions), policy)
    return found


def _names(one: PaperCondition, episodes: int | None, task: Sequence[str]) -> tuple[str, ...]:
    """The episodes of a condition, in its order."""
    count = one.episodes if episodes is None else episodes
    choice: Choice = {
        "task": one.task, "split": one.split, "level": one.level, "difficulty": one.difficulty or (),
        "perturb": one.perturb or (), "control": not one.perturb, "episodes": count,
    }  # fmt: skip
    return tuple(name for name in choose(one.what, **choice) if not task or EpisodeName.parse(name).task in task)


def _slug(address: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", address).strip("-.") or "policy"
