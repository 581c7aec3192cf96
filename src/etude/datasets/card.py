"""What a data set says about itself: ``meta/etude.json`` for programs, ``README.md`` for people and for the Hugging Face Hub.

Nothing in them depends on when, where or by how many workers it was made.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from etude.datasets.take import Take, recorded_in
from etude.evaluation.record import Record
from etude.evaluation.store import Run
from etude.names import PROTOCOL, EpisodeName
from etude.render import fingerprint
from etude.scene.viewpoints import camera_names

if TYPE_CHECKING:
    from etude.datasets.demos import DemosRequest

SCHEMA = 1
OWN_CAMERAS = "own_cameras"
LICENCE = "apache-2.0"
PACKAGES = ("etude", "mujoco-core", "numpy", "numba", "av", "pyarrow", "h5py")


def brought(cameras: Sequence[str]) -> dict[str, dict[str, str]]:
    """Cameras that are one's own, by name, as they were written: without them nobody could look again."""
    own = {name: text for name, text in zip(camera_names(cameras), cameras, strict=True) if name != text}
    return {OWN_CAMERAS: own} if own else {}


def facts(
    order: DemosRequest,
    run: Run,
    kept: Sequence[Record],
    failures: Sequence[Record],
    frames: int,
    first: Take,
    hands: Sequence[str],
    controls: Sequence[str],
    recoveries: int = 0,
) -> dict[str, Any]:
    """``meta/etude.json``."""
    robot = first.episode.scene.robot
    assert robot is not None
    return {
        "schema": SCHEMA,
        "protocol": PROTOCOL,
        "command": order.command,
        "policy": order.policy,
        "plan": run.plan.digest,
        "renderer": fingerprint(first.smooth),
        "versions": {name: _version(name) for name in PACKAGES},
        "robot": {"arm": robot.arm, "hands": list(hands)},
        "control": ", ".join(controls),
        "fps": first.fps,
        "cameras": list(first.cameras),
        **brought(order.how.cameras),
        "size": list(first.size),
        **({"modalities": list(recorded_in(first.modalities))} if first.modalities else {}),
        **({"recoveries": recoveries} if recoveries else {}),
        "frames": frames,
        "episodes": [r.episode for r in kept],
        "failures": [json.loads(_bare(r)) for r in failures],
    }


def _bare(record: Record) -> str:
    """A record without its timings."""
    from dataclasses import replace

    return replace(record, timings={}, film=None).to_line()


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def card(form: str, made: Mapping[str, Any]) -> str:
    """``README.md``."""
    tasks = Counter(f"{n.suite}/{n.task}" for n in map(EpisodeName.parse, made["episodes"]))
    lost = Counter(f"{n.suite}/{n.task}" for n in (EpisodeName.parse(f["episode"]) for f in made["failures"]))
    rows = "\n".join(f"| {name} | {count} | {lost[name]} |" for name, count in tasks.items())
    versions = ", ".join(f"{k} {v}" for k, v in made["versions"].items() if v)
    width, height = made["size"]
    beside = f", with {', '.join(made['modalities'])}" if made.get("modalities") else ""
    mended = (
        f"\n{made['recoveries']} of them begin where the oracle takes over from another, or from a mistake."
        if made.get("recoveries")
        else ""
    )
    marks = ["robotics", "etude", *(["LeRobot"] if form.startswith("lerobot") else [])]
    return f"""---
license: {LICENCE}
task_categories: [robotics]
tags: [{", ".join(marks)}]
---

# Demonstrations in etude

{len(made["episodes"])} episodes, {made["frames"]} frames at {made["fps"]} per second, by the policy `{made["policy"]}` on
{made["robot"]["arm"]} with {" and ".join(made["robot"]["hands"])}; actions in `{made["control"]}`; cameras {", ".join(made["cameras"])} at
{width}×{height}{beside}. Every episode ended in success, and has been carried out again from its actions before it was kept.{mended}

| task | episodes | failed, left out |
|---|---|---|
{rows}

Made by

```
{made["command"]}
```

with {versions}; protocol {made["protocol"]}, renderer {made["renderer"]}. The same command gives the same bytes.

`etude validate`, `etude replay` and `etude rerender` check it, carry it out again, and show it from other cameras. `meta/etude.json` lists
the names of all episodes, and those that failed.

Licence: {LICENCE}. Scenes, objects and textures are made by the program itself; nothing of anybody else's is in it.
"""
