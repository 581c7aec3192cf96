"""The models of a paper, trained here: how each is trained, and what its run folder says of it. Nothing here needs torch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from etude.evaluation.result_table import ResultTable
from etude.evaluation.tables import plural
from etude.learn.header import checkpoint_bytes, checkpoint_file, digest_of, metadata_in, numbers_in
from etude.learn.named_recipes import recipe_named
from etude.learn.recipes import recipe_in
from etude.names import EtudeError, parse_json, unknown
from etude.papers.playing import PolicyLine
from etude.policies.policy import Planner
from etude.suites.paper import PaperModel
from etude.suites.suite import SUITES

CURVE = "curve.jsonl"
SHIPPING = 10_000_000  # bytes at most, of a checkpoint that ships
COLUMNS = ("model", "stands for", "digest", "numbers", "MB", "episodes", "steps", "loss", "ships")
PLAYED_ON = "played on"  # one more, of models whose results are kept
NONE = "–"


@dataclass(frozen=True)
class TrainedModel:
    """A model of a paper and the checkpoint in its run folder. ``plans``: it is a planner. ``curve``: the first and the last line of its
    curve, where it has one. ``here``: its weights are there, and not only its results."""

    model: PaperModel
    folder: Path
    plans: bool
    digest: str
    numbers: int
    size: int
    history: dict[str, Any]
    curve: tuple[dict[str, Any], ...]
    here: bool = True

    def address(self, device: str = "") -> str:
        """Who plays."""
        return f"{self.model.given}learned:{self.folder}" + (f"?device={device}" if device and not self.plans else "")


def models_of(suite: str) -> tuple[PaperModel, ...]:
    """The models that a suite's paper is about."""
    found = tuple(SUITES[suite].paper_models())
    if not found:
        having = [name for name in SUITES if SUITES[name].paper_models()]
        raise EtudeError(f"{suite} declares no models of a paper; {', '.join(having)} do")
    return found


def chosen_models(suite: str, wanted: Sequence[str] = (), settings: Sequence[str] = ()) -> tuple[PaperModel, ...]:
    """Those of them whose names are like one of these, such as "stream-*"; all when none is given. ``settings``: of all of them besides
    their own."""
    models = models_of(suite)
    for pattern in wanted:
        if not any(fnmatchcase(one.name, pattern) for one in models):
            raise unknown(f"model of {suite}", pattern, [one.name for one in models])
    chosen = [one for one in models if not wanted or any(fnmatchcase(one.name, pattern) for pattern in wanted)]
    return tuple(replace(one, settings=(*one.settings, *settings)) for one in chosen)


def trained_models(suite: str, folder: Path, models: Sequence[PaperModel] | None = None) -> list[TrainedModel]:
    """Those that are there, each in a folder of its name. One that was trained in another way than its name says is refused."""
    known = models_of(suite) if models is None else models
    return [_trained(suite, one, folder / one.folder) for one in known if checkpoint_file(folder / one.folder).exists()]


def _trained(suite: str, model: PaperModel, folder: Path) -> TrainedModel:
    file = checkpoint_file(folder)
    data = checkpoint_bytes(file)
    metadata = metadata_in(data, file)
    recipe = recipe_named(f"{suite}/{model.recipe}", model.settings)
    _refuse_other_recipe(model, recipe.to_data(), recipe_in(metadata).to_data(), folder)
    lines = (folder / CURVE).read_text(encoding="utf-8").splitlines() if (folder / CURVE).exists() else []
    ends = tuple(json.loads(line) for line in dict.fromkeys((lines[0], lines[-1]))) if lines else ()
    return TrainedModel(model, folder, recipe.plans, digest_of(data), numbers_in(data), len(data), parse_json(metadata["history"]), ends)


def _refuse_other_recipe(model: PaperModel, wanted: Any, there: Any, folder: Path) -> None:
    """What tells a paper's models apart must be as declared; how long and how fast it was trained is free."""
    own = [f"model.{key}" for key in ("look", "conditioning", "form", "sees") if key in wanted["model"]]
    keys = ["kind", *own, "data.source.suite", *(one.partition("=")[0] for one in model.settings)]
    for key in keys:
        left, right = wanted, there
        for part in key.split("."):
            left, right = (side.get(part) if isinstance(side, dict) else None for side in (left, right))
        if left != right:
            raise EtudeError(f"{folder} does not hold {model.name}: its {key} is {right!r}, expected {left!r}")


def model_lines(trained: Sequence[TrainedModel], device: str = "", planners: Mapping[str, Planner | str] | None = None) -> list[PolicyLine]:
    """A line for each of the paper's that has a model, in the paper's order, and for those that are added. Their planners are those of the
    paper, unless others are given."""
    found: dict[str, dict[str, str]] = {}
    for one in trained:
        found.setdefault(one.model.who, {})[one.model.trained] = one.address(device)
    also = {one.model.who: one.model.also for one in trained}
    added = {one.model.who for one in trained if one.model.added}
    own = model_planners(trained)
    speaking = {one.model.who for one in trained if one.plans}
    lines = []
    for who, policies in found.items():
        if who in speaking:
            lines.append(PolicyLine(who, {}, True, also[who], policies))
        else:
            lines.append(PolicyLine(who, policies, who not in added, also[who], planners or own))
    return lines


def model_planners(trained: Sequence[TrainedModel]) -> dict[str, str]:
    """The paper's planners by what they were trained on."""
    return {one.model.trained: one.address() for one in trained if one.plans}


def index(
    suite: str,
    folder: Path,
    models: Sequence[PaperModel] | None = None,
    trained: Sequence[TrainedModel] | None = None,
    backends: Mapping[str, Mapping[str, int]] | None = None,
) -> ResultTable:
    """What there is of every model: in the folder, if it is not given. The notes are commands for those that are missing. ``backends``:
    on what each has played how many episodes, by its name."""
    known = models_of(suite) if models is None else models
    there = {one.model.name: one for one in (trained_models(suite, folder, known) if trained is None else trained)}
    rows, notes = [], []
    for model in known:
        row: dict[str, Any] = {
            "model": model.name, "who": model.who, "trained": model.trained, "paper_id": model.paper_id,
            "command": model.command(suite, str(folder)), "recipe": model.recipe, "settings": list(model.settings),
        }  # fmt: skip
        if (one := there.get(model.name)) is not None:
            row |= {
                "digest": one.digest, "numbers": one.numbers, "bytes": one.size, "history": one.history,
                "curve": list(one.curve), "ships": model.ships, "fits": one.size <= SHIPPING, "here": one.here,
            }  # fmt: skip
            if backends is not None:
                row["backends"] = dict(backends.get(model.name, {}))
        else:
            notes.append(row["command"])
        rows.append(row)
    missing = dict.fromkeys(notes)
    columns = COLUMNS if backends is None else (*COLUMNS, PLAYED_ON)
    cells = tuple(tuple((*_cells(row), *[NONE] * len(columns))[: len(columns)]) for row in rows)
    return ResultTable(tuple(rows), columns, cells, ("", "not trained yet:", *missing) if missing else ())


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    names = (row["model"], row["paper_id"] or NONE)
    if "digest" not in row:
        return names
    history, losses = row["history"], [point["loss"] for point in row["curve"] if "loss" in point]
    counts = (f"{history[key]:,}" if key in history else NONE for key in ("episodes", "steps"))
    loss = f"{losses[0]:.2f} to {losses[-1]:.2f}" if losses else NONE
    return (
        *names, row["digest"], f"{row['numbers']:,}", f"{row['bytes'] / 1e6:.1f}", *counts, loss,
        "yes" if row["ships"] else "no" if row["fits"] else "too large", *_told_backends(row.get("backends", {})),
    )  # fmt: skip


def _told_backends(counts: Mapping[str, int]) -> tuple[str, ...]:
    """A cell, where something was played; of several backends each has its number of episodes."""
    told = [f"{on} ({plural(count, 'episode')})" for on, count in counts.items()] if len(counts) > 1 else [*counts]
    return (" and ".join(told),) if told else ()
