"""``meta/modality.json``, which GR00T reads: the parts of state and action by name, pictures, texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from etude.datasets.checks.findings import Findings, shown
from etude.datasets.checks.info import Info, read_json
from etude.datasets.columns import ACTION, STATE

PATH = "meta/modality.json"


def check_modality(folder: Path, info: Info, findings: Findings) -> None:
    """Check the file where there is one."""
    path = folder / PATH
    if not path.exists():
        return
    data = read_json(path, findings)
    if data is None:
        return
    for group, key in (("state", STATE), ("action", ACTION)):
        for name, part in _items(data.get(group)):
            source = part.get("original_key", key)
            feature = info.features.get(source) if isinstance(source, str) else None
            start, end = part.get("start"), part.get("end")
            if feature is None or not feature.number:
                findings.add("modality-wrong", path, f"{group}.{name} is a part of {shown(source)}, which is not a feature of numbers")
            elif type(start) is not int or type(end) is not int or not 0 <= start < end <= feature.width:
                text = f"{group}.{name} is from {shown(start)} to {shown(end)}, but {source!r} has {feature.width} numbers"
                findings.add("modality-wrong", path, text)
    for group in ("video", "annotation"):
        for name, part in _items(data.get(group)):
            source = part.get("original_key")
            if source is not None and (not isinstance(source, str) or source not in info.features):
                findings.add("modality-wrong", path, f"{group}.{name} is {shown(source)}, which is not a feature")


def _items(group: Any) -> list[tuple[str, dict[str, Any]]]:
    """The parts of a group; one that is not an object says nothing, and is wrong wherever something has to be said."""
    return [(name, part if isinstance(part, dict) else {}) for name, part in group.items()] if isinstance(group, dict) else []
