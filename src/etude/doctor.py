"""What works on this machine, how fast, and what is missing for which extra."""

from __future__ import annotations

import importlib.metadata
import re
import time
from collections.abc import Iterator

from etude import machine
from etude.yardstick import yardstick

PURPOSES = {
    "datasets": "recording demonstrations as datasets, with videos",
    "docs": "building the documentation site from docs/",
    "gl": "MuJoCo's own OpenGL renderer (--renderer gl)",
    "graphs": "task graphs as networkx graphs",
    "hub": "datasets and policies on the Hugging Face Hub (--push)",
    "inspect": "language models with inspect_ai",
    "learn": "training and trained policies (learned:RUN)",
    "lerobot": "LeRobot checkpoints as policies, etude's tasks in LeRobot; Python 3.12",
    "meshes": "convex decomposition of mesh files",
    "parquet": "export as Parquet",
    "ray": "evaluation on a Ray cluster",
    "test": "etude's own tests",
    "video": "videos as MP4",
    "vla-eval": "etude's episodes in vla-eval",
    "zoo": "trained policies without torch (zoo:NAME)",
}
_REQUIRED = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[^]]*)\])?[^;]*(?:;(?P<marker>.*))?")
_EXTRA = re.compile(r"""\s*extra\s*==\s*["'](?P<extra>[^"']+)["']\s*""")


def extras() -> dict[str, dict[str, object]]:
    """Every extra of the installed package: the packages it needs, which of them are missing, and what it is for."""
    names = importlib.metadata.metadata("etude").get_all("Provides-Extra") or []
    found: dict[str, dict[str, object]] = {}
    for extra in sorted(names):
        needed = list(dict.fromkeys(_needed("etude", extra)))
        missing = [name for name in needed if not machine.versions((name,))]
        found[extra] = {"installed": not missing, "for": PURPOSES.get(extra, ""), "needs": needed, "missing": missing}
    return found


def _needed(package: str, extra: str) -> Iterator[str]:
    """The packages that an extra of an installed package asks for everywhere; what only some machines need is left out."""
    for line in importlib.metadata.requires(package) or []:
        required = _REQUIRED.fullmatch(line)
        marker = _EXTRA.fullmatch(required["marker"] or "") if required else None
        if required and marker and marker["extra"] == extra:
            yield required["name"]
            for more in filter(None, map(str.strip, (required["extras"] or "").split(","))):
                if machine.versions((required["name"],)):
                    yield from _needed(required["name"], more)


def examine() -> dict[str, object]:
    """A JSON-able account of the machine: versions, renderer start and speed, the speed of a core, OpenGL, extras."""
    report = machine.describe()
    begun = time.perf_counter()
    from etude.render import fingerprint, gl_available
    from etude.render.studio import Studio
    from etude.scene.examples import example
    from etude.scene.world import World

    world = World(example("bench"))
    studio = Studio(world)
    studio.shoot("front", (256, 256))
    report["renderer"] = fingerprint()
    report["seconds_to_first_frame"] = round(time.perf_counter() - begun, 2)
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        studio.shoot("front", (256, 256))
        times.append(time.perf_counter() - begun)
    report["frame_256_ms"] = round(1000 * sorted(times)[10], 2)
    report["yardstick"] = yardstick()
    usable, reason = gl_available()
    report["opengl"] = {"usable": usable, "reason": reason}
    report["extras"] = extras()
    return report
