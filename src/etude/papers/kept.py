"""What the models of a paper have played, in small files that outlive their weights.

A paper's tables may take several machines and days, and weights are large: a file ``NAME.json.xz`` for each model has what the tables are
made of, and says of which weights, and on what each episode was played. What is kept is not played again, and models that are gone stand
in the tables as those that are there.
"""

from __future__ import annotations

import dataclasses
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from etude.evaluation.record import Record
from etude.learn.named_recipes import recipe_named
from etude.names import PROTOCOL, EpisodeName, EtudeError, parse_json
from etude.papers.models import TrainedModel
from etude.papers.playing import PaperPlayers
from etude.policies.contract import ANSWER
from etude.policies.loading import address_of
from etude.suites.paper import PaperModel
from etude.suites.suite import SUITES

ENDING = ".json.xz"
SCHEMA = 2
BACKEND = "backend"  # of an episode that is kept: what computed the decisions
FORGOTTEN = ("schema", "timings", "film")  # of a line of results: nothing that a table is made of
Row = dict[str, Any]


class KeptResults:
    """The files in a folder, of some models of a suite's paper; ``trained`` are those whose weights are there.

    >>> kept = KeptResults(Path("results/vima"), "vima", models_of("vima"), trained_models("vima", Path("models")), Path("models"))
    """

    def __init__(self, folder: Path, suite: str, models: Sequence[PaperModel], trained: Sequence[TrainedModel], models_in: Path) -> None:
        self._folder, self._suite = folder, suite
        self._here = {one.model.name: one for one in trained}
        read = {one.name: self._read(one.name) for one in models if self._path(one.name).exists()}
        self._digests = {name: data["model"]["digest"] for name, data in read.items()}
        for name, one in self._here.items():
            if self._digests.setdefault(name, one.digest) != one.digest:
                raise EtudeError(
                    f"{self._path(name)} has results of other weights ({self._digests[name]}) than those in {one.folder} "
                    f"({one.digest}): keep these in another folder, or remove the file"
                )
        gone = [_remembered(suite, one, models_in / one.folder, read[one.name]) for one in models if one.name in read.keys() - self._here]
        order = [one.name for one in models]
        self.models = sorted([*trained, *gone], key=lambda one: order.index(one.model.name))
        """All who stand in the tables, in the paper's order, with weights or without."""
        self._names: dict[str, str] = {}

    def stand(self, addresses: Mapping[str, str]) -> None:
        """Learn under which addresses models play, by their names."""
        self._names = {address: name for name, address in addresses.items()}

    def known(self, who: PaperPlayers) -> dict[str, Record]:
        """What they have played, by the episode."""
        owner, key = self._of(who)
        if owner is None or not self._path(owner).exists():
            return {}
        run = self._read(owner)["runs"].get(key)
        if run is None:
            return {}
        self._refuse_other_planner(who, owner, run)
        return {record.episode: record for record in unpacked(run["episodes"])}

    def absent(self, who: PaperPlayers) -> str:
        """Why they cannot play now; empty if they can."""
        names = [name for one in (who.policy, who.planner) if (name := self._names.get(address_of(one))) is not None]
        gone = [name for name in names if name not in self._here]
        return f"the weights of {' and '.join(gone)} are not there" if gone else ""

    def backends(self) -> dict[str, Counter[str]]:
        """On what each model has played how many episodes, by its name."""
        names = [one.model.name for one in self.models if self._path(one.model.name).exists()]
        return {name: Counter(on for run in self._read(name)["runs"].values() for on in column(run["episodes"], BACKEND)) for name in names}

    def keep(self, who: PaperPlayers, records: Iterable[Record], backend: str) -> None:
        """Add what they have played, and on what. A file is whole before it takes the place of the one before."""
        owner, key = self._of(who)
        if owner is None or owner not in self._here:
            return
        path = self._path(owner)
        data: Row = self._read(owner) if path.exists() else {"schema": SCHEMA, "suite": self._suite, "protocol": PROTOCOL, "runs": {}}
        data["model"] = _told(self._here[owner])
        fresh = {one.episode: dataclasses.replace(one, extra={**one.extra, BACKEND: backend}) for one in records}
        data["runs"][key] = {"planner": self._digest(who.planner), "episodes": packed({**self.known(who), **fresh}.values())}
        self._folder.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.new")
        new.write_bytes(lzma.compress(json.dumps(data, separators=(",", ":")).encode(), preset=lzma.PRESET_EXTREME))
        new.replace(path)

    def _of(self, who: PaperPlayers) -> tuple[str | None, str]:
        """Whose file has it, and under which key: where the oracle acts, it is the planner's."""
        policy, planner = (self._names.get(address_of(one)) for one in (who.policy, who.planner))
        if policy is None:
            return planner, who.mode
        return policy, f"{who.mode} with {planner or address_of(who.planner)}" if who.planner else who.mode

    def _digest(self, planner: Any) -> str:
        name = self._names.get(address_of(planner)) if planner else None
        return self._digests[name] if name is not None else ""

    def _refuse_other_planner(self, who: PaperPlayers, owner: str, run: Row) -> None:
        if run["planner"] != self._digest(who.planner):
            raise EtudeError(
                f"{self._path(owner)} has results with other weights ({run['planner']}) of the planner than those of "
                f"{address_of(who.planner)} ({self._digest(who.planner)}): keep these in another folder, or remove the file"
            )

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{ENDING}"

    def _read(self, name: str) -> Row:
        path = self._path(name)
        try:
            data = parse_json(lzma.decompress(path.read_bytes()).decode())
        except (lzma.LZMAError, UnicodeDecodeError, EtudeError):
            raise EtudeError(f"{path} holds no results that can be read: it is damaged, or something else") from None
        if not isinstance(data, dict) or not isinstance(data.get("runs"), dict) or not isinstance(data.get("model"), dict):
            raise EtudeError(f"{path} holds no results of a model")
        for what, ours in (("schema", SCHEMA), ("suite", self._suite), ("protocol", PROTOCOL)):
            if data.get(what) != ours:
                raise EtudeError(f"{path} has results of the {what} {data.get(what)!r}, expected {ours!r}")
        return data


def _told(one: TrainedModel) -> Row:
    return {"digest": one.digest, "numbers": one.numbers, "size": one.size, "history": one.history, "curve": list(one.curve)}


def _remembered(suite: str, model: PaperModel, folder: Path, data: Row) -> TrainedModel:
    """A model whose results are there and whose weights are not."""
    told = data["model"]
    plans = recipe_named(f"{suite}/{model.recipe}", model.settings).plans
    return TrainedModel(
        model, folder, plans, told["digest"], told["numbers"], told["size"], told["history"], tuple(told["curve"]), here=False
    )


def packed(records: Iterable[Record]) -> Row:
    """Results column by column, in the order of their names; what is the same in all of them stands once."""
    rows = [_short(record) for record in sorted(records, key=lambda one: one.episode)]
    columns = {key: [row.get(key) for row in rows] for key in dict.fromkeys(key for row in rows for key in row)}
    same = {key: values[0] for key, values in columns.items() if all(value == values[0] for value in values)}
    return {"count": len(rows), "same": same, "each": {key: values for key, values in columns.items() if key not in same}}


def unpacked(data: Row) -> list[Record]:
    """The same results."""
    rows = [{**data["same"], **{key: values[k] for key, values in data["each"].items()}} for k in range(data["count"])]
    return [Record.from_line(json.dumps({key: value for key, value in row.items() if value is not None})) for row in rows]


def column(data: Row, key: str) -> list[Any]:
    """What packed results have under a key, in their order."""
    found: list[Any] = data["each"].get(key) or [data["same"].get(key)] * data["count"]
    return found


def _short(record: Record) -> Row:
    plain = dataclasses.replace(record, id=record.episode)  # which bytes an episode had is checked where it is played
    if SUITES[EpisodeName.parse(record.episode).suite].control != ANSWER:  # there they say what was answered; elsewhere the goal says them
        plain = dataclasses.replace(plain, subgoals=tuple(dataclasses.replace(one, words="") for one in record.subgoals))
    return {key: value for key, value in parse_json(plain.to_line()).items() if key not in FORGOTTEN}
