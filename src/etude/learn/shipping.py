"""From a run to a policy of the zoo: exported, compared with torch's, with a card."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from etude.learn.cards import ZooCard, zoo_page
from etude.learn.checkpoint import learned_inference, load_model
from etude.learn.header import checkpoint_bytes, checkpoint_file, digest_of, metadata_in
from etude.learn.models.cogelot import parameters_of
from etude.learn.onnx_export import exported
from etude.learn.onnx_inference import OnnxStrokeInference
from etude.learn.origins import curve_points, family_of, policy_results, trained_on, training_command
from etude.learn.policy import prompt_arrays, thing_arrays
from etude.learn.recipes import StrokeRecipe
from etude.learn.samples import numbers_of
from etude.learn.stream import played
from etude.learn.zoo import cards_in, weights_digest
from etude.names import EtudeError, json_text, parse_json
from etude.policies.halves import Inference

MOST = 10_000_000  # bytes of a policy
CHECKED = 5  # held-out episodes on which the export is compared with torch
APART = 1e-3  # m or rad, at most
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
    weights = exported(model)
    if len(weights) > MOST:
        raise EtudeError(f"{run} takes {len(weights):,} bytes as a policy of the zoo; at most {MOST:,} are allowed: train a smaller model")
    known = (digest_of(data), digest_of(weights))
    sums, tasks = policy_results(file, history, results, known)
    difference = largest_difference(learned_inference(file, "cpu"), OnnxStrokeInference(weights, name), recipe)
    if not difference <= APART:
        raise EtudeError(f"strokes of the exported policy differ from torch's by {difference:.2g}; at most {APART:g} is allowed")
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


def largest_difference(one: Inference, other: Inference, recipe: StrokeRecipe) -> float:
    """How far the strokes of two implementations of inference are apart at most (m or rad), over some episodes that nobody trains on."""
    worst = 0.0
    for _, _, shown in played(recipe.data.source.held_out(), CHECKED):
        for inference in (one, other):
            inference.begin(0, prompt_arrays(shown.prompt))
        for things in shown.seen:
            a, b = (numbers_of(inference.decide([0], [thing_arrays(things)])[0]) for inference in (one, other))
            apart = np.abs(a - b)
            apart[-1] = min(apart[-1], 2 * np.pi - apart[-1])
            worst = max(worst, float(apart.max()))
    return worst
