"""The conditions of a paper as runs: one folder for each policy and mode, which the same command goes on with.

All conditions that a policy plays in one mode are one plan: it is loaded once for all of them, and everybody plays the same episodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from etude import api
from etude.evaluation.choosing import Choice, choose
from etude.evaluation.plan import PLANNED, read_plan
from etude.evaluation.record import Record
from etude.evaluation.run import Progress, RunSettings, merge, refuse_misfits
from etude.evaluation.store import PLAN, Store
from etude.evaluation.tables import plural
from etude.names import EpisodeName, EtudeError, unknown
from etude.policies.loading import address_of, halves_of, load_policy
from etude.policies.policy import Policy
from etude.suites.paper import PaperBlock, PaperCondition, PaperTable, checked_tables
from etude.suites.suite import SUITES

ANY = ""  # stands for whatever a policy may have been trained on
Names = dict[PaperCondition, tuple[str, ...]]
Reasons = dict[PaperCondition, str]


@dataclass(frozen=True)
class PolicyLine:
    """Who stands in a line of a table: policies by what they were trained on, or one policy for everything (:data:`ANY`).

    ``declared``: a line of the paper, trained here; it stands only where the paper has it.

    >>> PolicyLine("mine", {"L1": "learned:runs/l1", "L2": "learned:runs/l2"})
    """

    name: str
    policies: Mapping[str, Policy | str]
    declared: bool = False

    def policy(self, trained: str) -> Policy | str | None:
        """Who plays for a cell; None where nobody of that training was given."""
        if ANY in self.policies:
            return self.policies[ANY]
        return self.policies.get(trained) if trained else next(iter(self.policies.values()))

    def address(self, trained: str) -> str | None:
        """The same as text, under which its runs are kept."""
        found = self.policy(trained)
        return None if found is None else address_of(found)

    def plays(self, block: PaperBlock) -> bool:
        """Does it have a place in a block?"""
        if self.declared and block.published and self.name not in block.published:
            return False
        if block.models_only and ANY in self.policies:
            return False
        return not (self.declared or block.models_only) or any(self.policy(cell.trained) is not None for cell in block.cells)


@dataclass
class Played:
    """Records by policy and condition, run folders by policy and mode; ``refused`` says in words what could not be played."""

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


def table_numbered(tables: Sequence[PaperTable], text: str) -> PaperTable:
    """One of them: "Figure 2", "Table 2", which may be written "2"."""
    numbers = {table.number.lower(): table for table in tables}
    one = numbers.get(text.lower()) or numbers.get(f"table {text.lower()}")
    if one is None:
        raise unknown("table or figure", text, [t.number for t in tables])
    return one


def chosen_tables(tables: Sequence[PaperTable], wanted: Sequence[str]) -> tuple[PaperTable, ...]:
    """Those that are asked for, one by one or several with commas between them; else all that are played."""
    found: dict[str, PaperTable] = {}
    for text in (part.strip() for one in wanted for part in one.split(",")):
        one = table_numbered(tables, text)
        if not one.blocks:
            raise EtudeError(f"{one.number} is not played: {(one.command and f'it is made by {one.command}') or one.missing}")
        found[one.number] = one
    return tuple(found.values()) or tuple(t for t in tables if t.blocks)


def episode_counts(wanted: Sequence[str], tables: Sequence[PaperTable]) -> dict[str, int]:
    """How many seeds of everything, by the number of a table: "50" for all of them, "Table 1=100" for one."""
    found: dict[str, int] = {}
    for text in wanted:
        name, sign, count = text.rpartition("=")
        if not count.strip().isdecimal():
            raise EtudeError(f"--episodes {text!r} is neither a number nor of the form 'Table 1=100'")
        if int(count) < 1:
            raise EtudeError(f"--episodes must be at least 1, got {count}")
        numbers = [table_numbered(tables, name.strip()).number] if sign else [table.number for table in tables]
        found |= {number: int(count) for number in numbers if sign or number not in found}
    return found


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
    episodes: Mapping[str, int] | None = None,
    task: Sequence[str] = (),
    shard: str | None = None,
    settings: RunSettings | None = None,
    progress: Progress | None = None,
    told: Callable[[str], None] = lambda text: None,
) -> Played:
    """Play what these tables need, each condition once for each policy; ``told`` hears who comes next.

    ``episodes``: seeds of everything by table, instead of as many as the paper has; a condition of several tables is played as often as
    the most demanding asks. ``task`` leaves all other tasks out. With a ``shard``, only every n-th episode; without, shards that are
    there are joined first. A condition that refuses a policy, or needs a planner that is not given, is noted; when all do, that is an
    error.
    """
    found, wanted, counts = Played(), _wanted(tables, lines), _counts(tables, episodes or {})

    def evaluated(policy: Policy | str, mode: str, names: Iterable[str], folder: Path) -> dict[str, Record]:
        whole = tuple(dict.fromkeys(names)) if shard is not None else _grown(tuple(dict.fromkeys(names)), folder)
        speaker = planner if mode in PLANNED else None
        run = api.evaluate(policy, whole, planner=speaker, mode=mode, out=folder, shard=shard, settings=settings, progress=progress)
        return {record.episode: record for record in run.records if record.outcome != "error"}

    for number, ((address, mode), (policy, conditions)) in enumerate(wanted.items(), 1):
        names, refused = _named(conditions, counts, task)
        if mode in PLANNED and not planner:
            names, refused = {}, dict.fromkeys(conditions, f"the mode {mode} needs --planner")
        folder, records = out / _slug(address) / mode.replace(":", "-"), dict[str, Record]()
        while names:
            count = len({name for some in names.values() for name in some})
            told(f"{address} ({number} of {len(wanted)}): {plural(count, 'episode')} of {plural(len(names), 'condition')}")
            try:
                records = evaluated(policy, mode, (name for some in names.values() for name in some), folder)
            except EtudeError as error:
                misfits = _misfits(policy, names) or dict.fromkeys(names, str(error))
                refused |= misfits
                names = {one: some for one, some in names.items() if one not in misfits}
            else:
                found.folders[address, mode] = folder
                break
        found.refused |= {(address, one.key): why for one, why in refused.items()}
        for one, some in names.items():
            found.records[address, one.key] = tuple(records[name] for name in some if name in records)
    if not found.records:
        raise EtudeError(next(iter(found.refused.values()), "nothing of these tables can be played"))
    return found


Wanted = dict[tuple[str, str], tuple[Policy | str, tuple[PaperCondition, ...]]]


def _wanted(tables: Iterable[PaperTable], lines: Sequence[PolicyLine]) -> Wanted:
    """Who plays what, by policy and mode, in the order of the tables."""
    found: dict[tuple[str, str], tuple[Policy | str, dict[PaperCondition, None]]] = {}
    for block, line in ((block, line) for table in tables for block in table.blocks for line in lines if line.plays(block)):
        for cell in block.cells:
            if (policy := line.policy(cell.trained)) is not None:
                for one in cell.conditions:
                    found.setdefault((address_of(policy), one.mode), (policy, {}))[1][one] = None
    return {key: (policy, tuple(conditions)) for key, (policy, conditions) in found.items()}


def _counts(tables: Sequence[PaperTable], episodes: Mapping[str, int]) -> dict[PaperCondition, int | None]:
    """Seeds of each condition: as many as the most demanding of its tables asks for."""
    found: dict[PaperCondition, int | None] = {}
    for table in tables:
        for one in table.conditions:
            count = episodes.get(table.number, one.episodes)
            before = found.get(one)
            found[one] = count if before is None or count is None else max(before, count)
    return found


def _named(conditions: Sequence[PaperCondition], counts: Mapping[PaperCondition, int | None], task: Sequence[str]) -> tuple[Names, Reasons]:
    """The episodes of conditions, and why some have none."""
    names: Names = {}
    refused: Reasons = {}
    for one in conditions:
        choice: Choice = {
            "task": one.task, "split": one.split, "level": one.level, "difficulty": one.difficulty or (), "options": dict(one.options),
            "perturb": one.perturb or (), "control": not one.perturb, "episodes": counts[one],
        }  # fmt: skip
        try:
            some = tuple(name for name in choose(one.what, **choice) if not task or EpisodeName.parse(name).task in task)
        except EtudeError as error:
            refused[one] = str(error)
            continue
        if some:
            names[one] = some
        else:
            refused[one] = f"it has none of the tasks {', '.join(task)}"
    return names, refused


def _misfits(policy: Policy | str, names: Names) -> Reasons:
    """The conditions that a policy's contract does not fit; a policy that cannot be loaded at all is refused at once."""
    halves = halves_of(policy) if isinstance(policy, str) else None
    contract = (halves.eyes() if halves is not None else load_policy(policy) if isinstance(policy, str) else policy).contract
    found: Reasons = {}
    for one, some in names.items():
        try:
            refuse_misfits(some, {"policy": contract.to_data()})
        except EtudeError as error:
            found[one] = str(error)
    return found


def _grown(names: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """These episodes, with those that the folder has results for; shards that are there are joined first."""
    shards = sorted(folder.glob("shard-*"))
    if shards and not (folder / PLAN).exists():
        merge(shards, folder)
    if not (folder / PLAN).exists():
        return names
    there = read_plan(folder / PLAN)
    with Store(folder, there) as store:
        if not store.records:
            return names
        whole = tuple(dict.fromkeys((*there.names, *names)))
        if len(whole) > len(there.names):
            store.extend(replace(there, names=whole))
    return whole


def _slug(address: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", address).strip("-.") or "policy"
