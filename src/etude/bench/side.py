"""One side of a comparison, in a process of its own: measures with the source it imports, and writes down what it found."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from etude.bench.core import measured
from etude.plugins import load_all


def main(out: str, benches: list[str], plugins: list[str]) -> None:
    """Write the results of these benches, and of those that cannot run here the reason, as JSON."""
    load_all(plugins)
    results: list[dict[str, Any]] = []
    refused: dict[str, str] = {}
    for name in benches:
        try:
            results += [asdict(result) for result in measured([name])]
        except Exception as error:  # whatever an older source does not know; the other side decides what that means
            refused[name] = f"{type(error).__name__}: {error}"
    Path(out).write_text(json.dumps({"results": results, "refused": refused}), encoding="utf-8")


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
