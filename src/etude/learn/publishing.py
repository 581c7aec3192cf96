"""A trained policy as a folder for others: its checkpoint, its curve, and a card that says what it is. Needs no torch."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from etude import __version__
from etude.evaluation.citation import LICENCE, ending
from etude.evaluation.tables import plural
from etude.learn.cards import ALONE, mode_of, results_tables
from etude.learn.header import NAME, checkpoint_bytes, checkpoint_file, digest_of, metadata_in, numbers_in
from etude.learn.origins import curve_points, family_of, policy_results, trained_on, training_command
from etude.learn.recipes import Recipe, recipe_in
from etude.names import json_text, parse_json

CURVES = ("curve.jsonl", "curve.html")


def write_model(run: Path, folder: Path, repository: str, results: Sequence[Path] = ()) -> None:
    """Fill an empty folder; ``results`` are evaluations of this policy, to which the run's own validation is added."""
    file = checkpoint_file(run)
    data = checkpoint_bytes(file)
    metadata = metadata_in(data, file)
    recipe, history = recipe_in(metadata), parse_json(metadata["history"])
    sums, tasks = policy_results(file, history, results, (digest_of(data),))
    about = {
        "repository": repository,
        "parameters": numbers_in(data),
        "digest": digest_of(data),
        "protocol": metadata["protocol"],
        "contract": parse_json(metadata["contract"]),
        "curve": curve_points(file.parent / CURVES[0]),
        "results": [one.to_data() for one in sums],
        "tasks": [one.to_data() for one in tasks],
    }
    (folder / NAME).write_bytes(data)
    for name in CURVES:
        if (file.parent / name).exists():
            shutil.copyfile(file.parent / name, folder / name)
    (folder / "README.md").write_text(model_card(recipe, history, about), encoding="utf-8")


def model_card(recipe: Recipe, history: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """``README.md`` of a policy, with what the Hub sorts and finds models by."""
    suite, name = recipe.data.source.suite, about["repository"].partition("/")[2]
    curve = f"\nLoss by step: {', '.join(f'{step:.0f}: {loss:.2f}' for step, loss in about['curve'])}.\n" if about["curve"] else ""
    measured = results_tables(about["results"], about["tasks"]) or "\nNot evaluated yet.\n"
    length = f"{plural(history['steps'], 'step')} and {history['seconds'] / 60:.1f} minutes"
    begun = f" It began with the weights of the checkpoint `{recipe.begun}`." if recipe.begun else ""
    pretrained = f" Its words are encoded by `{Path(recipe.language).name}`, which is not in this repository." if recipe.language else ""
    return f"""---
license: {LICENCE}
library_name: etude
pipeline_tag: robotics
language: [en]
tags: [robotics, etude, imitation-learning, simulation, {suite}]
{_index(name, suite, about["results"])}---

# {name}

A policy for the suite `{suite}` of etude, by the recipe `{suite}/{family_of(recipe)}`: {plural(about["parameters"], "parameter")}, weights
`{about["digest"]}`, protocol `{about["protocol"]}`.

## Playing it

```
pip install 'etude[learn]' huggingface_hub
hf download {about["repository"]} --local-dir models/{name}
etude evaluate --suite {suite} --policy learned:models/{name} --out runs/{name}
```

## Training

It learned from {trained_on(recipe, history)}, in {length}.{begun}{pretrained}

```
{training_command(recipe, history)}
```
{curve}
## Results
{measured}
Intervals hold the rate of success with 95 % confidence; over several tasks they are clustered by task.

## What it sees and does

Environments that differ in what can be converted are converted to this contract, others refuse it:

```json
{json_text(about["contract"], indent=1)}
```

## What it is for, and what not

Research on policies that are told what to do. It has been trained and tested in simulation alone, on the tasks of one suite and in
English from templates: nothing here says how it does with real arms, cameras or people.

Licence: {LICENCE}.

{ending(f"{name}: a policy for {suite}", "model", about["repository"], __version__, about["protocol"])}"""


def _dataset_name(suite: str, row: Mapping[str, Any]) -> str:
    perturbed = f"+{row['perturbation']}" if row["perturbation"] else ""
    mode = mode_of(row)
    return f"{suite}@{row['split']}{perturbed}" + (f" ({mode})" if mode != ALONE else "")


def _index(name: str, suite: str, results: Sequence[Mapping[str, Any]]) -> str:
    """Results as the Hub lists them."""
    rows = [
        {
            "task": {"type": "robotics", "name": "language-conditioned manipulation"},
            "dataset": {"type": suite, "name": _dataset_name(suite, row)},
            "metrics": [
                {
                    "type": "success_rate",
                    "name": f"success in {plural(row['episodes'], 'episode')}",
                    "value": row["successes"] / row["episodes"],
                }
            ],
        }
        for row in results
        if row["episodes"]
    ]
    return f"model-index: {json.dumps([{'name': name, 'results': rows}])}\n" if rows else ""
