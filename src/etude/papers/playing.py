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
from etude.suites.paper import PaperCondition, PaperTable, checked_tables
from etude.suites.suite import SUITES

ANY = ""  # stands for whatever a policy may have been trained on


@dataclass(frozen=True)
class PolicyLine:
    """Who stands in a line of a table: policies by what they were trained on, or one policy for everything (:data:`ANY`)."""

    name: str
    policies: Mapping[str, str]

    def policy(self, trained: str) -> str | None:
        """Who plays for a cell; None where nobody of that training was given."""
        if ANY in self.policies:
            return self.policies[ANY]
        return self.policies.get(trained) if trained else next(iter(self.policies.values()))


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
    """Those whose number is asked for: "Table 2", "2" where no figure has that number too, or several with commas between them."""
    found: dict[str, PaperTable] = {}
    for text in (part.strip() for one in wanted for part in one.split(",")):
        fitting = [t for t in tables if text.lower() in (t.number.lower(), t.number.lower().partition(" ")[2])]
        if not fitting:
            raise unknown("table or figure", text, [t.number for t in tables])
        fitting = [t for t in fitting if t.blocks] or fitting  # of a table and an illustration with one number, the table is meant
        if len(fitting) > 1:
            raise EtudeError(f"{text!r} may be {' or '.join(t.number for t in fitting)}: write its whole name")
        if not fitting[0].blocks:
            said = fitting[0].command and f"it is made by: {fitting[0].command}"
            raise EtudeError(f"{fitting[0].number} is not played: {said or fitting[0].missing}")
        found[fitting[0].number] = fitting[0]
    return tuple(found.values()) or tuple(t for t in tables if t.blocks)


def policy_lines(policies: Sequence[str], tables: Sequence[PaperTable]) -> list[PolicyLine]:
    """The lines that are added: one for all policies that say what they were trained on (``L1=ADDRESS``), one for each of the others."""
    known = {word for table in tables for word in table.trained}
    told, plain = {}, []
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
    found, wanted = Played(), _wanted(tables, lines)
    for number, (address, one) in enumerate(wanted, 1):
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
            run = api.evaluate(address, names, planner=speaker, mode=one.mode, out=folder, settings=settings, progress=progress)
        except EtudeError as error:
            found.refused[key] = str(error)
            continue
        found.records[key], found.folders[key] = tuple(r for r in run.records if r.outcome != "error"), folder
    if not found.records:
        raise EtudeError(next(iter(found.refused.values()), "nothing of these tables can be played"))
    return found


def _wanted(tables: Iterable[PaperTable], lines: Iterable[PolicyLine]) -> list[tuple[str, PaperCondition]]:
    """Who plays what, once each, in the order of the tables."""
    found: dict[tuple[str, PaperCondition], None] = {}
    listed = list(lines)
    for table in tables:
        for cell in table.cells:
            for line in listed:
                if (address := line.policy(cell.trained)) is not None:
                    found |= dict.fromkeys((address, one) for one in cell.conditions)
    return list(found)


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
