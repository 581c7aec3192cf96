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


def _front_matter(form: str, made: Mapping[str, Any], title: str) -> str:
    """What the Hub sorts, finds and shows data sets by."""
    bounds = ("1K", "10K", "100K", "1M", "10M", "100M")
    steps = sum(made["frames"] >= 1000 * 10**k for k in range(len(bounds) - 1))
    size = "n<1K" if steps == 0 else f"{bounds[steps - 1]}<n<{bounds[steps]}"
    marks = ["robotics", "etude", "simulation", "imitation-learning", *(["LeRobot"] if form.startswith("lerobot") else [])]
    tables = "configs:\n- config_name: default\n  data_files: data/*/*.parquet\n" if form.startswith("lerobot") else ""
    return f"""---
license: {LICENCE}
pretty_name: {title}
task_categories: [robotics]
language: [en]
annotations_creators: [machine-generated]
language_creators: [machine-generated]
size_categories: ["{size}"]
tags: [{", ".join(marks)}]
{tables}---
"""


def _reading(form: str) -> str:
    """How one begins with a set of this form."""
    if form.startswith("lerobot"):
        version = "lerobot of before v3.0" if form == "lerobot-v2.1" else "lerobot"
        return f"""It is a LeRobotDataset, which {version} reads and trains on, from the Hub by its name and from a folder by `root`:

```
from lerobot.datasets.lerobot_dataset import LeRobotDataset

dataset = LeRobotDataset("OWNER/NAME")
```

What LeRobot has no place for (whole episodes as JSON, exact states, camera parameters, words for every action) is in the tables of
`etude/`."""
    if form == "robomimic":
        return "It is an HDF5 file in robomimic's layout, `demos.hdf5`; states replay in the MJCF models beside them."
    return "Every episode is a folder of arrays and videos, without pickles."


def card(form: str, made: Mapping[str, Any]) -> str:
    """``README.md``."""
    names = list(map(EpisodeName.parse, made["episodes"]))
    tasks = Counter(f"{n.suite}/{n.task}" for n in names)
    lost = Counter(f"{n.suite}/{n.task}" for n in (EpisodeName.parse(f["episode"]) for f in made["failures"]))
    rows = "\n".join(f"| {name} | {count} | {lost[name]} |" for name, count in tasks.items())
    splits = ", ".join(f"{split} ({count})" for split, count in Counter(n.split for n in names).items())
    versions = ", ".join(f"{k} {v}" for k, v in made["versions"].items() if v)
    width, height = made["size"]
    beside = f", with {', '.join(made['modalities'])}" if made.get("modalities") else ""
    mended = (
        f"\n{made['recoveries']} of them begin where the oracle takes over from another, or from a mistake."
        if made.get("recoveries")
        else ""
    )
    title = f"Demonstrations in etude ({', '.join(dict.fromkeys(n.suite for n in names))})"
    return f"""{_front_matter(form, made, title)}
# {title}

{len(made["episodes"])} episodes, {made["frames"]} frames at {made["fps"]} per second, by the policy `{made["policy"]}` on
{made["robot"]["arm"]} with {" and ".join(made["robot"]["hands"])}; actions in `{made["control"]}`; cameras {", ".join(made["cameras"])} at
{width}×{height}{beside}. Every episode ended in success, and has been carried out again from its actions before it was kept.{mended}

| task | episodes | failed, left out |
|---|---|---|
{rows}

## Reading it

{_reading(form)}

## How it was made

```
{made["command"]}
```

with {versions}; protocol {made["protocol"]}, renderer {made["renderer"]}. The same command gives the same bytes.

`etude validate`, `etude replay` and `etude rerender` check it, carry it out again, and show it from other cameras. `meta/etude.json` lists
the names of all episodes, and those that failed.

## What it is for, and what not

Training and studying policies that are told in words, or in words and pictures, what to do. Splits of the benchmark that episodes
come from: {splits}; who trains on one that is for testing can be tested on it no more. Everything is simulated: nothing here says how a
policy does with real arms, cameras or people. Instructions are English sentences from templates, and only successes are kept, so that
there is little to learn about mistakes.

No person is seen, heard or named in it.

Licence: {LICENCE}. Scenes, objects and textures are made by the program itself; nothing of anybody else's is in it.
"""
