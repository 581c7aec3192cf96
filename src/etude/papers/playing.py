"""The conditions of a paper as runs: one folder for each policy and mode, which the same command goes on with.

All conditions that a policy plays in one mode are one plan: it is loaded once for all of them, and everybody plays the same episodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from etude import api
from etude.evaluation.choosing import Choice, choose
from etude.evaluation.plan import PLANNED, read_plan
from etude.evaluation.record import MODES, Record
from etude.evaluation.run import Progress, RunSettings, merge, refuse_misfits
from etude.evaluation.store import PLAN, Run, Store, read_run
from etude.evaluation.tables import plural
from etude.names import EpisodeName, EtudeError, pick, unknown
from etude.papers.people import AnsweredStudy, is_people, people
from etude.policies.loading import address_of, halves_of, load_policy
from etude.policies.policy import Planner, Policy
from etude.suites.paper import PaperBlock, PaperCondition, PaperTable, checked_tables
from etude.suites.suite import SUITES

ANY = ""  # stands for whatever a policy may have been trained on
ORACLE = "oracle"
PEOPLE = ("Humans", "People")  # as papers call them
ACTED = ("offline", "planner")  # modes in which the oracle acts
PART = "shard-part"  # a folder of shards of a part: those of the whole lie beside it
T = TypeVar("T")
Names = dict[PaperCondition, tuple[str, ...]]
Reasons = dict[PaperCondition, str]


@dataclass(frozen=True)
class PolicyLine:
    """Who stands in a line of a table: policies by what they were trained on, or one policy for everything (:data:`ANY`).

    ``declared``: a line of the paper, trained here; it stands only where the paper has it, under one of its names (``also``).
    ``planners``: who plans for them, by the same words; a line of planners has no policies. ``whole``: the modes in which it plays frozen
    lists whole, and not the part of them that a condition has; None: all.

    >>> PolicyLine("mine", {"L1": "learned:runs/l1", "L2": "learned:runs/l2"})
    """

    name: str
    policies: Mapping[str, Policy | str]
    declared: bool = False
    also: tuple[str, ...] = ()
    planners: Mapping[str, Planner | str] = field(default_factory=dict)
    whole: tuple[str, ...] | None = None

    def policy(self, trained: str) -> Policy | str | None:
        """Who acts for a cell; None where nobody of that training was given."""
        return _given(self.policies, trained)

    def has(self, trained: str) -> bool:
        """Was somebody of that training given?"""
        return _given(self.policies or self.planners, trained) is not None

    def players(self, trained: str, mode: str) -> PaperPlayers | None:
        """Who acts and who plans for a cell in a mode; None where nobody does."""
        policy = ORACLE if mode in ACTED and self.has(trained) else self.policy(trained)
        return None if policy is None else PaperPlayers(policy, _given(self.planners, trained) if mode in PLANNED else None, mode)

    def address(self, trained: str, mode: str) -> str | None:
        """The same as text."""
        found = self.players(trained, mode)
        return None if found is None else found.address

    def name_in(self, block: PaperBlock) -> str:
        """What the paper calls the line there."""
        return next((name for name in (self.name, *self.also) if name in block.published), self.name)

    def plays(self, block: PaperBlock) -> bool:
        """Does it have a place in a block?"""
        if self.declared and block.published and self.name_in(block) not in block.published:
            return False
        if block.models_only and ANY in self.policies:
            return False
        if block.people_only:
            return is_people(self.policies.get(ANY))
        asked = ((cell.trained, one.mode) for cell in block.cells for one in cell.conditions)
        return not (self.declared or block.models_only) or any(self.players(*one) is not None for one in asked)


def _given(by_word: Mapping[str, T], trained: str) -> T | None:
    if ANY in by_word:
        return by_word[ANY]
    return by_word.get(trained) if trained else next(iter(by_word.values()), None)


@dataclass(frozen=True)
class PaperPlayers:
    """Who acts in a mode, and who plans where the mode has a planner."""

    policy: Policy | str
    planner: Planner | str | None
    mode: str

    @property
    def address(self) -> str:
        """As text, under which records are known. Where the oracle acts, it is the planner's."""
        policy, planner = address_of(self.policy), address_of(self.planner)
        return f"{policy} with {planner}" if planner and self.mode not in ACTED else planner or policy

    @property
    def folder(self) -> Path:
        """Where the run lies in that of a paper."""
        found = Path(_slug(address_of(self.policy))) / self.mode.replace(":", "-")
        return found / _slug(address_of(self.planner)) if self.planner else found


class ResultShelf(Protocol):
    """Where results are that need not be played again (:mod:`etude.papers.kept`)."""

    def known(self, who: PaperPlayers) -> Mapping[str, Record]:
        """What they have played, by the episode."""

    def absent(self, who: PaperPlayers) -> str:
        """Why they cannot play now; empty if they can."""

    def keep(self, who: PaperPlayers, records: Iterable[Record], backend: str) -> None:
        """Add what they have played, and on what (:attr:`etude.evaluation.store.Run.backend`)."""


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


def policy_lines(
    policies: Sequence[str], tables: Sequence[PaperTable], planners: Mapping[str, Planner | str] | None = None
) -> list[PolicyLine]:
    """The lines that are added: one for all policies that say what they were trained on (``L1=ADDRESS``), one for each of the others."""
    told, plain = _by_word("policy", policies, tables)
    studies = [text for text in plain if is_people(text)]
    also = {text: PEOPLE for text in studies if len(studies) == 1}  # several would stand in one line of the paper
    found = [PolicyLine(text, {ANY: text}, also=also.get(text, ()), planners=planners or {}) for text in plain]
    names = " ".join(f"{word}={address}" for word, address in told.items())
    return [*found, PolicyLine(names, told, planners=planners or {})] if told else found


def planners_given(texts: Sequence[str], tables: Sequence[PaperTable]) -> dict[str, str]:
    """Planners by what they were trained on (``L1=ADDRESS``), or one for everything."""
    told, plain = _by_word("planner", texts, tables)
    if len(plain) > 1 or (plain and told):
        raise EtudeError(f"--planner is given more than once, {', '.join(texts)}; expected one for all, or TRAINED=PLANNER for each")
    return told or ({ANY: plain[0]} if plain else {})


def _by_word(option: str, texts: Sequence[str], tables: Sequence[PaperTable]) -> tuple[dict[str, str], list[str]]:
    """Who says what he was trained on, and who does not."""
    known = {word for table in tables for word in table.trained}
    told: dict[str, str] = {}
    plain: dict[str, None] = {}
    for text in texts:
        word, sign, address = text.partition("=")
        if sign and word not in known and ":" not in word:  # no address either: those have a colon before their settings
            if not known:
                raise EtudeError(f"--{option} {text}: these tables do not tell by what somebody was trained on; leave {word}= out")
            raise unknown(f"training of --{option}", word, known)
        if not sign or word not in known:
            plain[text] = None
        elif word in told:
            raise EtudeError(f"--{option} {word}=… is given twice: {told[word]} and {address}")
        else:
            told[word] = address
    return told, list(plain)


def in_part(lines: Sequence[PolicyLine], tables: Sequence[PaperTable], whole: Sequence[str]) -> list[PolicyLine]:
    """The same lines, playing only parts of frozen lists, but for those that play them ``whole``: "LINE", or "LINE:MODE"."""
    if not any(one.part for table in tables for one in table.conditions):
        raise EtudeError("--part: these tables have no fixed part of their episodes; --episodes N plays fewer seeds of everything")
    modes: dict[str, tuple[str, ...] | None] = {line.name: () for line in lines}
    for text in whole:
        name, _, mode = (text, "", "") if text in modes else text.rpartition(":")
        if name not in modes:
            raise unknown("line of --whole", text, modes)
        before = modes[name]
        modes[name] = None if not mode or before is None else (*before, pick("mode", mode, {one: one for one in MODES}))
    return [replace(line, whole=modes[line.name]) for line in lines]


def play(
    tables: Sequence[PaperTable],
    lines: Sequence[PolicyLine],
    out: Path,
    *,
    episodes: Mapping[str, int] | None = None,
    task: Sequence[str] = (),
    shard: str | None = None,
    settings: RunSettings | None = None,
    progress: Progress | None = None,
    told: Callable[[str], None] = lambda text: None,
    shelf: ResultShelf | None = None,
) -> Played:
    """Play what these tables need, each condition once for each policy; ``told`` hears who comes next.

    ``episodes``: seeds of everything by table, instead of as many as the paper has; a condition of several tables is played as often as
    the most demanding asks. ``task`` leaves all other tasks out. With a ``shard``, only every n-th episode; without, shards that are
    there are joined first. What is on the ``shelf`` is not played again, and what is played is put there. A condition that refuses a
    policy, or needs a planner that is not given, is noted; when all do, that is an error. Of people (``human:FOLDER``) the answers of a
    study are read.
    """
    found, wanted, counts = Played(), _wanted(tables, lines), _counts(tables, episodes or {})

    def evaluated(who: PaperPlayers, names: Iterable[str], folder: Path) -> Run:
        whole = tuple(dict.fromkeys(names)) if shard is not None else _grown(tuple(dict.fromkeys(names)), folder)
        return api.evaluate(
            who.policy, whole, planner=who.planner, mode=who.mode, out=folder, shard=shard, settings=settings, progress=progress
        )

    for number, ((address, mode), (who, conditions, part)) in enumerate(wanted.items(), 1):
        names, refused = _named(conditions, counts, task, part)
        if mode in PLANNED and not who.planner:
            names, refused = {}, dict.fromkeys(conditions, f"the mode {mode} needs --planner")
        if (study := people(who.policy)) is not None:
            told(f"{address} ({number} of {len(wanted)}): {plural(len(names), 'condition')}, from what was answered")
            found.folders[address, mode] = study.folder
            _read(found, address, study, names, refused)
            continue
        folder, records = out / who.folder, dict(shelf.known(who)) if shelf is not None else dict[str, Record]()
        while missing := dict.fromkeys(name for some in names.values() for name in some if name not in records):
            if shelf is not None and (why := shelf.absent(who)):
                lacking = {one: sum(name in missing for name in some) for one, some in names.items()}
                refused |= {one: f"{count} of {len(names[one])} episodes are missing: {why}" for one, count in lacking.items() if count}
                break
            told(f"{address} ({number} of {len(wanted)}): {plural(len(missing), 'episode')} of {plural(len(names), 'condition')}")
            place = folder / PART if part and shard else folder
            try:
                run = evaluated(who, missing, place)
            except KeyboardInterrupt:
                if shelf is not None:
                    _keep_finished(shelf, who, place, missing)
                raise
            except EtudeError as error:
                misfits = _misfits(who.policy, names) or dict.fromkeys(names, str(error))
                refused |= misfits
                names = {one: some for one, some in names.items() if one not in misfits}
            else:
                found.folders[address, mode] = folder
                played = _finished(run)
                if shelf is not None:
                    shelf.keep(who, played.values(), run.backend)
                records |= played
                break
        found.refused |= {(address, one.key): why for one, why in refused.items()}
        for one, some in names.items():
            found.records[address, one.key] = tuple(records[name] for name in some if name in records)
    if not found.records:
        raise EtudeError(next(iter(found.refused.values()), "nothing of these tables can be played"))
    return found


def _finished(run: Run) -> dict[str, Record]:
    """What was played without an error, by the episode."""
    return {record.episode: record for record in run.records if record.outcome != "error"}


def _keep_finished(shelf: ResultShelf, who: PaperPlayers, folder: Path, asked: Iterable[str]) -> None:
    """Put on the shelf what was played of these episodes before an interrupt."""
    with suppress(EtudeError):  # nothing was played yet
        run = read_run(folder)
        found = _finished(run)
        if played := [found[name] for name in asked if name in found]:
            shelf.keep(who, played, run.backend)


def _read(found: Played, address: str, study: AnsweredStudy, names: Names, refused: Reasons) -> None:
    """What people have answered of these conditions; nobody is asked anew."""
    for one, some in names.items():
        answered = [name for name in some if name in study.records]
        if len(answered) < len(some):
            refused[one] = f"{len(some) - len(answered)} of {plural(len(some), 'trial')} were not answered"
        if answered:
            found.records[address, one.key] = tuple(record for name in answered for record in study.records[name])
    found.refused |= {(address, one.key): why for one, why in refused.items()}


Wanted = dict[tuple[str, str], tuple[PaperPlayers, tuple[PaperCondition, ...], bool]]


def _wanted(tables: Iterable[PaperTable], lines: Sequence[PolicyLine]) -> Wanted:
    """Who plays what, by address and mode, in the order of the tables; and whether only in part."""
    found: dict[tuple[str, str], tuple[PaperPlayers, dict[PaperCondition, None]]] = {}
    whole: set[tuple[str, str]] = set()
    for block, line in ((block, line) for table in tables for block in table.blocks for line in lines if line.plays(block)):
        for trained, one in ((cell.trained, one) for cell in block.cells for one in cell.conditions):
            if (who := line.players(trained, one.mode)) is not None:
                key = who.address, one.mode
                found.setdefault(key, (who, {}))[1][one] = None
                if line.whole is None or one.mode in line.whole:
                    whole.add(key)
    return {key: (who, tuple(conditions), key not in whole) for key, (who, conditions) in found.items()}


def _counts(tables: Sequence[PaperTable], episodes: Mapping[str, int]) -> dict[PaperCondition, int | None]:
    """Seeds of each condition: as many as the most demanding of its tables asks for."""
    found: dict[PaperCondition, int | None] = {}
    for table in tables:
        for one in table.conditions:
            count = episodes.get(table.number, one.episodes)
            before = found.get(one)
            found[one] = count if before is None or count is None else max(before, count)
    return found


def _named(
    conditions: Sequence[PaperCondition], counts: Mapping[PaperCondition, int | None], task: Sequence[str], part: bool
) -> tuple[Names, Reasons]:
    """The episodes of conditions, all or a part of them, and why some have none."""
    names: Names = {}
    refused: Reasons = {}
    for one in conditions:
        choice: Choice = {
            "task": one.task, "split": one.split, "level": one.level, "difficulty": one.difficulty or (), "options": dict(one.options),
            "perturb": one.perturb or (), "control": not one.perturb, "episodes": counts[one],
        }  # fmt: skip
        try:
            every = choose((part and one.part) or one.what, **choice)
            some = tuple(name for name in every if not task or EpisodeName.parse(name).task in task)
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
    contract = (halves.encoder() if halves is not None else load_policy(policy) if isinstance(policy, str) else policy).contract
    found: Reasons = {}
    for one, some in names.items():
        try:
            refuse_misfits(some, {"policy": contract.to_data()})
        except EtudeError as error:
            found[one] = str(error)
    return found


def _grown(names: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """These episodes, with those that the folder has results for; shards that are there are joined first."""
    _join([path.parent for path in sorted(folder.glob(f"**/shard-*/{PLAN}"))], folder)
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


def _join(shards: Sequence[Path], folder: Path) -> None:
    """Take results of shards over into a folder: of all if it has none, else of those with something new."""
    if not (folder / PLAN).exists():
        if shards:
            merge(shards, folder)
        return
    known = {record.key for record in read_run(folder).records}
    runs = [run for run in map(read_run, shards) if not {record.key for record in run.records} <= known]
    if runs:
        there = read_plan(folder / PLAN)
        names = tuple(dict.fromkeys(name for plan in (there, *(run.plan for run in runs)) for name in plan.names))
        with Store(folder, there) as store:
            store.extend(replace(there, names=names))
        merge([folder, *(run.folder for run in runs)], folder)


def _slug(address: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", address).strip("-.") or "policy"
