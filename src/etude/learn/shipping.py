"""From a run to a policy of the zoo: exported, compared with torch's, with a card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from etude.learn.cards import ZooCard, zoo_page
from etude.learn.checkpoint import learned_inference, load_model
from etude.learn.control import ControlDemonstration
from etude.learn.header import checkpoint_bytes, checkpoint_file, digest_of, metadata_in
from etude.learn.keyposes import BY_TASK, POSE_NUMBERS, KeyposeDemonstration
from etude.learn.models.cogelot import parameters_of
from etude.learn.onnx_export import exported
from etude.learn.onnx_inference import onnx_inference
from etude.learn.origins import curve_points, family_of, policy_results, trained_on, training_command
from etude.learn.policy import prompt_arrays, refuse_unexported, thing_arrays
from etude.learn.recipes import ControlRecipe, KeyposeRecipe, PointFlowRecipe, Recipe, StrokeRecipe
from etude.learn.samples import Demonstration, numbers_of
from etude.learn.source import start_noise
from etude.learn.zoo import cards_in, weights_digest
from etude.names import EtudeError, json_text, parse_json
from etude.policies.halves import Arrays, Inference
from etude.pose import Array

MOST = 10_000_000  # bytes of a policy
CHECKED = 5  # held-out episodes on which the export is compared with torch
APART = 1e-3  # m, rad, or numbers of an action, at most
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
    refuse_unexported(recipe, str(run))
    data, metadata = checkpoint_bytes(file), metadata_in(checkpoint_bytes(file), file)
    history = parse_json(metadata["history"])
    weights = exported(model)
    if len(weights) > MOST:
        raise EtudeError(f"{run} takes {len(weights):,} bytes as a policy of the zoo; at most {MOST:,} are allowed: train a smaller model")
    known = (digest_of(data), digest_of(weights))
    sums, tasks = policy_results(file, history, results, known)
    difference = largest_difference(learned_inference(file, "cpu"), onnx_inference(recipe, weights, name), recipe)
    if not difference <= APART:
        raise EtudeError(f"actions of the exported policy differ from torch's by {difference:.2g}; at most {APART:g} is allowed")
    card = ZooCard(
        name=name,
        suite=recipe.data.source.suite,
        family=family_of(recipe),
        parameters=parameters_of(model),
        bytes=len(weights),
        trained_on=trained_on(recipe, history),
        command=training_command(recipe, history),
        protocol=metadata["protocol"],
        recipe=recipe.to_data(),
        contract=contract.to_data(),
        curve=curve_points(file.parent / "curve.jsonl"),
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


def largest_difference(one: Inference, other: Inference, recipe: Recipe) -> float:
    """How far the actions of two implementations of inference are apart at most (m, rad, or numbers of an action), over some episodes that
    nobody trains on."""
    found = []
    for told, looks in _shown(recipe):
        for inference in (one, other):
            inference.begin(0, told)
        for look in looks:
            a, b = (inference.decide([0], [look])[0] for inference in (one, other))
            found.append(_apart(a, b, recipe))
    if not found:
        raise EtudeError(f"none of {CHECKED} held-out episodes has a demonstration to compare the exported policy on")
    return max(found)


def _apart(a: Array, b: Array, recipe: Recipe) -> float:
    if isinstance(recipe, StrokeRecipe):
        apart = np.abs(numbers_of(a) - numbers_of(b))
        apart[-1] = min(apart[-1], 2 * np.pi - apart[-1])
        return float(apart.max())
    if isinstance(recipe, (KeyposeRecipe, PointFlowRecipe)) and a[3:7] @ b[3:7] < 0:
        b = np.concatenate([b[:3], -b[3:7], b[7:]])  # the same rotation
    return float(np.abs(a - b).max())


def _shown(recipe: Recipe) -> Iterator[tuple[Arrays, list[Arrays]]]:
    """What inference is told and shown in episodes that nobody trains on."""
    source = recipe.data.source.held_out()
    for number in range(CHECKED):
        name, data = source.name(number), source.packed(number)
        found = source.unpacked(data) if data else None
        if isinstance(found, Demonstration):
            yield prompt_arrays(found.prompt), [thing_arrays(things) for things in found.seen]
        elif isinstance(found, KeyposeDemonstration):
            looks = zip(found.points, found.colours, found.felt, found.words[:, BY_TASK], strict=True)
            seen = [dict(zip(("points", "colours", "felt", "words"), look, strict=True)) for look in looks]
            yield {"start": start_noise(name, POSE_NUMBERS)}, seen
        elif isinstance(found, ControlDemonstration):
            assert isinstance(recipe, ControlRecipe)
            told = {key: getattr(found, key) for key in ("kinds", "words", "places", "rows", "pictures")}
            steps = range(0, len(found.felt), recipe.model.execute // recipe.data.source.every)
            looks_there = [{"frames": found.frames[k], "felt": found.felt[k]} for k in steps]
            yield {**told, "start": start_noise(name, recipe.model.chunk, recipe.data.source.acts)}, looks_there
