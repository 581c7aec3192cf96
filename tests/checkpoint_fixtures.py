"""Checkpoints for tests that need no weights worth the name, written without torch."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from etude.learn.header import FORMAT, NAME
from etude.learn.named_recipes import recipe_named
from etude.names import PROTOCOL

HISTORY = {"steps": 60, "drawn": 480, "episodes": 20, "seconds": 90.0}


def written_checkpoint(folder: Path, recipe: str, *settings: str) -> Path:
    """The folder of a run that has learned six numbers."""
    found = recipe_named(recipe, settings)
    texts = {"recipe": found.to_data(), "contract": found.contract.to_data(), "history": HISTORY}
    metadata = {"format": FORMAT, "protocol": PROTOCOL, **{key: json.dumps(value) for key, value in texts.items()}}
    header = json.dumps({"__metadata__": metadata, "w": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]}}).encode()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_bytes(struct.pack("<Q", len(header)) + header + bytes(12))
    (folder / "curve.jsonl").write_text("".join(json.dumps({"step": k, "loss": 4.0 - k}) + "\n" for k in range(3)))
    return folder
