"""Zoos for tests, installed as pip would have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from etude.learn.cards import ZooCard
from etude.learn.named_recipes import recipe_named
from etude.learn.samples import contract_for
from etude.learn.zoo import weights_digest
from etude.names import json_text


def toy_card(name: str = "toy-objects", weights: bytes = b"") -> ZooCard:
    """The card of weights that nobody has trained."""
    row = {"episodes": 4, "successes": 3, "interval": [0.3, 0.95]}
    return ZooCard(
        name=name, suite="vima", family="objects-xattn", parameters=7, bytes=len(weights), trained_on="nothing", command="etude train …",
        protocol="etude-v1", recipe=recipe_named("vima/objects-xattn").to_data(), contract=contract_for("objects").to_data(),
        curve=[(50, 2.5)], results=[{"split": "L1", "perturbation": "", **row}], tasks=[{"split": "L1", "task": "rotate", **row}],
        licence="Apache-2.0", digest=weights_digest(weights), trained="0", difference=0.0,
    )  # fmt: skip


def install(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a folder found as the package of a zoo; it must not have the name of one before it."""
    (package / "__init__.py").touch()
    about = package.parent / f"{package.name}-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text(f"[etude.zoo]\nmine = {package.name}\n")
    monkeypatch.syspath_prepend(str(package.parent))


def write_policy(package: Path, card: ZooCard, weights: bytes = b"") -> None:
    """Put a policy into the package of a zoo."""
    package.mkdir(parents=True, exist_ok=True)
    (package / f"{card.name}.onnx").write_bytes(weights)
    (package / f"{card.name}.json").write_text(json_text(card.to_data()))
