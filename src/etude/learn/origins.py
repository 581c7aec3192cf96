"""How a trained policy came about: its recipe by name, the command that trains it, what it learned from, how well it does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from etude.evaluation.record import Record
from etude.evaluation.store import read_run
from etude.evaluation.tables import Sum, by, plain, plural
from etude.learn.named_recipes import recipe_named, recipe_names
from etude.learn.recipes import Recipe
from etude.names import EtudeError

POINTS = 8  # of a curve, on a card


def family_of(recipe: Recipe) -> str:
    """The recipe's name in its suite: of those of its kind the one from which the fewest settings were changed."""
    suite, data = recipe.data.source.suite, recipe.to_data()
    usual = {name: recipe_named(f"{suite}/{name}").to_data() for name in recipe_names(suite)}
    changes = {name: len(list(_changed(found, data))) for name, found in usual.items() if found["kind"] == data["kind"]}
    return min(changes, key=lambda name: changes[name])


def trained_on(recipe: Recipe, history: Mapping[str, Any]) -> str:
    """How many episodes of what, and how often each."""
    source, episodes = recipe.data.source, int(history["episodes"])
    tasks = ", ".join(source.tasks) or f"all {len(source.chosen())} tasks"
    perturb = getattr(source, "perturb", "")
    perturbed = f" with {perturb}" if perturb else ""
    often = plural(round(history["drawn"] / episodes), "time")
    return f"{plural(episodes, 'episode')} of {source.suite}@{source.split}{perturbed} ({tasks}), each drawn {often}"


def training_command(recipe: Recipe, history: Mapping[str, Any]) -> str:
    """The command that trains a recipe: to the end of its steps, or, where it had another number of them, by the clock."""
    name = f"{recipe.data.source.suite}/{family_of(recipe)}"
    ended = history["steps"] == recipe.schedule.steps
    length = f"--steps {recipe.schedule.steps}" if ended else f"--minutes {history['seconds'] / 60:.1f}"
    changed = dict(_changed(recipe_named(name).to_data(), recipe.to_data()))
    if ended:
        changed.pop("schedule.steps", None)
    settings = [f"--set {key}={_text(value)}" for key, value in changed.items()]
    return " ".join(["etude train", name, length, *settings, "--out runs/mine"])


def policy_results(file: Path, history: Mapping[str, Any], folders: Sequence[Path], known: Sequence[str]) -> tuple[list[Sum], list[Sum]]:
    """Sums by mode, split and perturbation, and without perturbation by mode, split and task, over ``folders`` and the run's own
    validation.

    All of them must be of the policy whose weights have one of the digests ``known``.
    """
    validation = file.parent / f"validation-{history.get('steps')}"
    records: list[Record] = []
    for folder in [*([validation] if validation.is_dir() else ()), *folders]:
        run = read_run(folder)
        weights = ((run.info.get("code") or {}).get("policy") or {}).get("weights")
        if weights not in known:
            raise EtudeError(f"{folder} holds results of another policy (weights {weights!r}, expected {' or '.join(map(repr, known))})")
        records += run.records
    if not records:
        return [], []
    return by(records, "mode", "split", "perturbation"), by(plain(records), "mode", "split", "task")


def curve_points(file: Path) -> list[tuple[int, float]]:
    """A few (step, loss) of a training's curve, first and last among them."""
    if not file.exists():
        return []
    points = [(one["step"], round(one["loss"], 4)) for one in map(json.loads, file.read_text().splitlines())]
    count = min(POINTS, len(points))
    return [points[round(k * (len(points) - 1) / max(1, count - 1))] for k in range(count)]


def _changed(usual: Mapping[str, Any], data: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _changed(usual.get(key) or {}, value, f"{path}{key}.")
        elif value != usual.get(key):
            yield f"{path}{key}", value


def _text(value: Any) -> str:
    """As ``--set`` reads it."""
    if isinstance(value, list):
        return ",".join(":".join(map(str, part)) if isinstance(part, list) else str(part) for part in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
