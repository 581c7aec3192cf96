"""Language columns: plans, sub-tasks and motions that hold from a time on, and events that happen in a frame."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from typing import Any

from etude.datasets.checks.findings import shown

PERSISTENT, EVENTS = "language_persistent", "language_events"
ROLES = ("user", "assistant", "system", "tool")
STYLES: dict[str, tuple[str | None, ...]] = {
    PERSISTENT: ("subtask", "plan", "memory", "motion", "task_aug"),
    EVENTS: ("interjection", "vqa", "trace", None),
}
SEEN = ("vqa", "trace")  # styles that are about the picture of a camera
Fault = tuple[str, int, str]  # code, frame, text


def judged(column: Any, name: str, cameras: Collection[str], end: float) -> Iterator[Fault]:
    """What is wrong with a language column of an episode; ``end`` is when its last frame is shown, seconds."""
    rows = len(column)
    if name == PERSISTENT:
        values = column.combine_chunks()
        if rows > 1 and not values.slice(1).equals(values.slice(0, rows - 1)):
            first = values[0].as_py()
            frame = next((k for k in range(rows) if values[k].as_py() != first), 0)
            yield "language-broadcast", frame, "language_persistent is not the same as in the first frame of the episode"
        yield from (_with_frame(0, fault) for row in column[0].as_py() or () for fault in _faults(row, name, cameras, end))
        return
    for frame in range(rows):
        yield from (_with_frame(frame, fault) for row in column[frame].as_py() or () for fault in _faults(row, name, cameras, end))


def _with_frame(frame: int, fault: tuple[str, str]) -> Fault:
    return fault[0], frame, fault[1]


def _faults(row: Any, name: str, cameras: Collection[str], end: float) -> Iterator[tuple[str, str]]:
    """What is wrong with one row."""
    if row is None:
        yield "language-content", f"a row of {name} is missing"
        return
    role, style, camera, content = row["role"], row["style"], row["camera"], row["content"]
    what = shown(content)
    if role not in ROLES:
        yield "language-role", f"{what} has the role {shown(role)}, not one of {', '.join(ROLES)}"
    if name in STYLES and style not in STYLES[name]:
        known = ", ".join(s for s in STYLES[name] if s)
        yield "language-style", f"{what} has the style {shown(style)}; those of {name} are {known}"
    if style in SEEN and camera not in cameras:
        yield "language-camera", f"{what} is a {style} and has the camera {shown(camera)}, not one of the features with pictures"
    if style not in SEEN and camera is not None:
        yield "language-camera", f"{what} is a {style} and must not have a camera, but has {shown(camera)}"
    calls = row["tool_calls"] or []
    if not content and not calls:
        yield "language-content", f"a {style} has neither content nor tool calls"
    if not all(_is_json(call) for call in calls):
        yield "language-content", f"the tool calls of {what} are not JSON"
    if name == PERSISTENT:
        time = row["timestamp"]
        if time is None or not math.isfinite(time) or not -1e-4 <= time <= end + 1e-4:
            yield "language-timestamp", f"{what} begins at {shown(time)} s, outside of its episode (0 to {end:.6g} s)"


def _is_json(text: Any) -> bool:
    if not isinstance(text, str):
        return text is not None
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
