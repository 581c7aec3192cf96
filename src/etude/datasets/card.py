"""What a dataset says about itself: ``meta/etude.json`` for programs, ``README.md`` for people and for the Hugging Face Hub.

Nothing in them depends on when, where or by how many workers it was made.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from etude.datasets.take import Take, recorded_in
from etude.evaluation.citation import LICENCE, ending
from etude.evaluation.record import Record
from etude.evaluation.tables import plural
from etude.names import PROTOCOL, EpisodeName
from etude.render import fingerprint
from etude.scene.viewpoints import camera_names

SCHEMA = 1
OWN_CAMERAS = "own_cameras"
PERSON = "person"  # the source of actions that no policy has chosen
PACKAGES = ("etude", "mujoco-core", "numpy", "numba", "av", "pyarrow", "h5py")


def brought(cameras: Sequence[str]) -> dict[str, dict[str, str]]:
    """Cameras that are one's own, by name, as they were written: without them nobody could look again."""
    own = {name: text for name, text in zip(camera_names(cameras), cameras, strict=True) if name != text}
    return {OWN_CAMERAS: own} if own else {}


class TakeCount:
    """What a dataset tells about its takes, counted while they are written."""

    def __init__(self) -> None:
        self.first: Take | None = None
        self.names: list[str] = []
        self.frames = 0
        self.recoveries = 0
        self.unsolved: list[int] = []
        self._hands: dict[str, None] = {}
        self._controls: dict[str, None] = {}

    def add(self, take: Take) -> None:
        """One more of them."""
        self.first = self.first or take
        if not take.success[-1]:
            self.unsolved.append(len(self.names))
        self.names.append(take.episode.name)
        self.frames += take.length
        self.recoveries += bool(len(take.lead))
        self._hands[take.hand], self._controls[take.episode.control] = None, None

    def facts(
        self, command: str, policy: str, plan: str, cameras: Sequence[str], failures: Sequence[Record] = (), source: str = ""
    ) -> dict[str, Any]:
        """``meta/etude.json``: ``plan`` is the digest of the plan, ``cameras`` are as they were asked for, ``source`` is who chose the
        actions where it was no policy. ``unsolved`` there has the numbers of episodes that did not end in success."""
        first = self.first
        assert first is not None and first.episode.scene.robot is not None
        return {
            "schema": SCHEMA,
            "protocol": PROTOCOL,
            "command": command,
            "policy": policy,
            **({"source": source} if source else {}),
            "plan": plan,
            "renderer": fingerprint(first.smooth),
            "versions": {name: _version(name) for name in PACKAGES},
            "robot": {"arm": first.episode.scene.robot.arm, "hands": list(self._hands)},
            "control": ", ".join(self._controls),
            "fps": first.fps,
            "cameras": list(first.cameras),
            **brought(cameras),
            "size": list(first.size),
            **({"modalities": list(recorded_in(first.modalities))} if first.modalities else {}),
            **({"recoveries": self.recoveries} if self.recoveries else {}),
            **({"unsolved": self.unsolved} if self.unsolved else {}),
            "frames": self.frames,
            "episodes": self.names,
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
    """What the Hub sorts, finds and shows datasets by."""
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


def _reading(form: str, repository: str) -> str:
    """How one begins with a set of this form."""
    if form.startswith("lerobot"):
        where = f'"{repository}"' if repository else '"OWNER/NAME", root="FOLDER"'
        version = "lerobot of before v3.0" if form == "lerobot-v2.1" else "lerobot"
        return f"""It is a LeRobotDataset, which {version} reads and trains on, from the Hub by its name and from a folder by `root`:

```
from lerobot.datasets.lerobot_dataset import LeRobotDataset

dataset = LeRobotDataset({where})
```

What LeRobot has no place for (whole episodes as JSON, exact states, camera parameters, words for every action) is in the tables of
`etude/`."""
    download = f"\n\n```\nhf download {repository} --repo-type dataset --local-dir demos\n```" if repository else ""
    if form == "robomimic":
        return f"It is an HDF5 file in robomimic's layout, `demos.hdf5`; states replay in the MJCF models beside them.{download}"
    return f"Every episode is a folder of arrays and videos, without pickles.{download}"


def card(form: str, made: Mapping[str, Any], repository: str = "") -> str:
    """``README.md``; ``repository`` is where on the Hub it is put (OWNER/NAME)."""
    names = list(map(EpisodeName.parse, made["episodes"]))
    tasks = Counter(f"{n.suite}/{n.task}" for n in names)
    lost = Counter(f"{n.suite}/{n.task}" for n in (EpisodeName.parse(f["episode"]) for f in made["failures"]))
    rows = "\n".join(f"| {name} | {count} | {lost[name]} |" for name, count in tasks.items())
    splits = ", ".join(f"{split} ({count})" for split, count in Counter(n.split for n in names).items())
    versions = ", ".join(f"{k} {v}" for k, v in made["versions"].items() if v)
    width, height = made["size"]
    beside = f", with {', '.join(made['modalities'])}" if made.get("modalities") else ""
    begin = "begins" if made.get("recoveries") == 1 else "begin"
    mended = (
        f"\n{made['recoveries']} of them {begin} where the oracle takes over from another, or from a mistake."
        if made.get("recoveries")
        else ""
    )
    title = f"Demonstrations in etude ({', '.join(dict.fromkeys(n.suite for n in names))})"
    driven = made.get("source") == PERSON
    who = f"driven by a person (`{made['policy']}`)" if driven else f"by the policy `{made['policy']}`"
    ended = _ended(len(names), len(made.get("unsolved", ())))
    same = "They were driven by hand, and replay to the same states." if driven else "The same command gives the same bytes."
    mistakes = (
        "what did not succeed is marked by `next.success` at its last frame"
        if made.get("unsolved")
        else "only successes are kept, so that\nthere is little to learn about mistakes"
    )
    people = "The actions are a person's, who is not seen or heard in it." if driven else "No person is seen, heard or named in it."
    return f"""{_front_matter(form, made, title)}
# {title}

{plural(len(names), "episode")}, {plural(made["frames"], "frame")} at {made["fps"]} per second, {who} on
{made["robot"]["arm"]} with {" and ".join(made["robot"]["hands"])}; actions in `{made["control"]}`; cameras {", ".join(made["cameras"])} at
{width}×{height}{beside}. {ended} has been carried out again from its actions before it was kept.{mended}

| task | episodes | failed, left out |
|---|---|---|
{rows}

## Reading it

{_reading(form, repository)}

## How it was made

```
{made["command"]}
```

with {versions}; protocol {made["protocol"]}, renderer {made["renderer"]}. {same}

`etude validate`, `etude replay` and `etude rerender` check it, carry it out again, and show it from other cameras. `meta/etude.json` lists
the names of all episodes, and those that failed.

## What it is for, and what not

Training and studying policies that are told in words, or in words and pictures, what to do. Splits of the benchmark that episodes
come from: {splits}; who trains on one that is for testing can be tested on it no more. Everything is simulated: nothing here says how a
policy does with real arms, cameras or people. Instructions are English sentences from templates, and {mistakes}.

{people}

Licence: {LICENCE}. Scenes, objects and textures are made by the program itself; nothing of anybody else's is in it.

{ending(title, "dataset", repository, made["versions"].get("etude") or "", made["protocol"])}"""


def _ended(episodes: int, unsolved: int) -> str:
    """How the recorded episodes ended, up to what is said of each."""
    if not unsolved:
        return "It ended in success, and" if episodes == 1 else "Every episode ended in success, and"
    if unsolved == episodes:
        return "It did not end in success, and" if episodes == 1 else "None ended in success, and each"
    return f"All but {unsolved} ended in success, and each"
