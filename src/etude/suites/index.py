"""Writes ``index.json``: ``python -m etude.suites.index``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from etude.index import INDEX
from etude.suites.suite import SUITES


def index() -> dict[str, dict[str, Any]]:
    """What the index should say of the suites that are in it."""
    return {
        name: {"module": entry["module"], "tasks": {task.name: task.control for task in SUITES[name].tasks.values()}}
        for name, entry in INDEX.items()
    }


if __name__ == "__main__":
    Path(__file__).with_name("index.json").write_text(json.dumps(index(), indent=0) + "\n", encoding="utf-8")
