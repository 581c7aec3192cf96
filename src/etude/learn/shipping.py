"""From a run to a policy of the zoo: exported, compared with torch's, with a card."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from etude.evaluation.record import Record
from etude.evaluation.store import read_run
from etude.evaluation.tables import Sum, by, plain
from etude.learn.cards import ZooCard, zoo_page
from etude.learn.checkpoint import learned_mind, load_model
from etude.learn.header import checkpoint_bytes, checkpoint_file, digest_of, metadata_in
from etude.learn.models.cogelot import parameters_of
from etude.learn.named_recipes import CONDITIONINGS, LOOK_NAMES, recipe_named
from etude.learn.onnx_export import exported
from etude.learn.onnx_mind import OnnxStrokeMind
from etude.learn.policy import prompt_arrays, thing_arrays
from etude.learn.recipes import StrokeRecipe
from etude.learn.samples import numbers_of
from etude.learn.stream import played
from etude.learn.zoo import cards_in, weights_digest
from etude.names import EtudeError, json_text, parse_json
from etude.policies.halves import Mind

MOST = 10_000_000  # bytes of a policy
CHECKED = 5  # held-out episodes on which the export is compared with torch
APART = 1e-3  # m or rad, at most
POINTS = 8  # of a curve, on a card
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def add_to_zoo(run: Path, name: str, zoo: Path, page: Path, results: Sequence[Path] = (), licence: str = "Apache-2.0") -> ZooCard:
    """Put a run's policy into the distribution in the folder ``zoo``, and write the page about all of its policies.

    ``results`` are evaluations of this policy; the run's own validation is one of them.
    """
    if not _NAME.fullmatch(name):
        raise EtudeError(f"{name!r} is no name for a policy; expected small letters, digits and dashes, such as table-objects")
    package = _package(zoo)
    file = checkpoint_file(run)
    model, recipe, contract = load_model(file)
    if not isinstance(recipe, StrokeRecipe):
        raise EtudeError(f"{run} has learned {recipe.json_kind}; policies of the zoo are of {StrokeRecipe.json_kind} from place to place")
    data, metadata = checkpoint_bytes(file), metadata_in(checkpoint_bytes(file), file)
    history = parse_json(metadata["history"])
    validation = file.parent / f"validation-{history.get('steps')}"
    weights = exported(model)
    if len(weights) > MOST:
        raise EtudeError(f"{run} takes {len(weights):,} bytes as a policy of the zoo; at most {MOST:,} are allowed: train a smaller model")
    known = (digest_of(data), digest_of(weights))
    sums, tasks = _results([*([validation] if validation.is_dir() else ()), *results], known)
    difference = largest_difference(learned_mind(file, "cpu"), OnnxStrokeMind(weights, name), recipe)
    if not difference <= APART:
        raise EtudeError(f"strokes of the exported policy differ from torch's by {difference:.2g}; at most {APART:g} is allowed")
    card = ZooCard(
        name=name,
        suite=recipe.data.source.suite,
        family=_family(recipe),
        parameters=parameters_of(model),
        bytes=len(weights),
        trained_on=_trained_on(recipe, history),
        command=training_command(recipe, history),
        protocol=metadata["protocol"],
        recipe=recipe.to_data(),
        contract=contract.to_data(),
        curve=_curve(file.parent / "curve.jsonl"),
        results=[one.to_data() for one in sums],
        tasks=[one.to_data() for one in tasks],
        licence=licence,
        digest=weights_digest(weights),
        trained=known[0],
        difference=difference,
    )
    (package / f"{name}.onnx").write_bytes(weights)
    (package / f"{name}.json").write_text(json_text(card.to_data(), indent=1) + "\n", encoding="utf-8")
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(zoo_page(cards_in(package)), encoding="utf-8")
    return card


def _package(zoo: Path) -> Path:
    """The one package of a distribution."""
    found = sorted(path.parent for path in (zoo / "src").glob("*/__init__.py"))
    if len(found) != 1:
        raise EtudeError(
            f"{str(zoo)!r} is no distribution of trained policies: expected one package in {zoo / 'src'}; name another by --zoo"
        )
    return found[0]


def largest_difference(one: Mind, other: Mind, recipe: StrokeRecipe) -> float:
    """How far the strokes of two minds are apart at most (m or rad), over some episodes that nobody trains on."""
    worst = 0.0
    for _, _, shown in played(recipe.data.source.held_out(), CHECKED):
        for mind in (one, other):
            mind.begin(0, prompt_arrays(shown.prompt))
        for things in shown.seen:
            a, b = (numbers_of(mind.decide([0], [thing_arrays(things)])[0]) for mind in (one, other))
            apart = np.abs(a - b)
            apart[-1] = min(apart[-1], 2 * np.pi - apart[-1])
            worst = max(worst, float(apart.max()))
    return worst


def _results(folders: Sequence[Path], known: Sequence[str]) -> tuple[list[Sum], list[Sum]]:
    records: list[Record] = []
    for folder in folders:
        run = read_run(folder)
        weights = ((run.info.get("code") or {}).get("policy") or {}).get("weights")
        if weights not in known:
            raise EtudeError(f"{folder} holds results of another policy (weights {weights!r}, expected {' or '.join(map(repr, known))})")
        records += run.records
    if not records:
        return [], []
    return by(records, "split", "perturbation"), by(plain(records), "split", "task")


def _family(recipe: StrokeRecipe) -> str:
    looks, conditionings = ({value: name for name, value in table.items()} for table in (LOOK_NAMES, CONDITIONINGS))
    return f"{looks[recipe.model.look]}-{conditionings[recipe.model.conditioning]}"


def _trained_on(recipe: StrokeRecipe, history: Mapping[str, Any]) -> str:
    source, episodes = recipe.data.source, int(history["episodes"])
    tasks = ", ".join(source.tasks) or f"all {len(source.chosen())} tasks"
    perturbed = f" with {source.perturb}" if source.perturb else ""
    return (
        f"{episodes:,} episodes of {source.suite}@{source.split}{perturbed} ({tasks}), each drawn {history['drawn'] / episodes:.0f} times"
    )


def training_command(recipe: StrokeRecipe, history: Mapping[str, Any]) -> str:
    """The command that trains a recipe: to the end of its steps, or, where it had another number of them, by the clock."""
    name = f"{recipe.data.source.suite}/{_family(recipe)}"
    ended = history["steps"] == recipe.schedule.steps
    length = f"--steps {recipe.schedule.steps}" if ended else f"--minutes {history['seconds'] / 60:.1f}"
    changed = dict(_changed(recipe_named(name).to_data(), recipe.to_data()))
    if ended:
        changed.pop("schedule.steps", None)
    settings = [f"--set {key}={_text(value)}" for key, value in changed.items()]
    return " ".join(["etude train", name, length, *settings, "--out runs/mine"])


def _changed(usual: Mapping[str, Any], data: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _changed(usual[key], value, f"{path}{key}.")
        elif value != usual.get(key):
            yield f"{path}{key}", value


def _text(value: Any) -> str:
    """As ``--set`` reads it."""
    if isinstance(value, list):
        return ",".join(":".join(map(str, part)) if isinstance(part, list) else str(part) for part in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _curve(file: Path) -> list[tuple[int, float]]:
    if not file.exists():
        return []
    points = [(one["step"], round(one["loss"], 4)) for one in map(json.loads, file.read_text().splitlines())]
    count = min(POINTS, len(points))
    return [points[round(k * (len(points) - 1) / max(1, count - 1))] for k in range(count)]
