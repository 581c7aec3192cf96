"""What works on this machine, how fast, and what is missing for which extra."""

from __future__ import annotations

import time

from etude import machine
from etude.yardstick import yardstick

# extra → (module it needs, what it is for)
EXTRAS = {
    "gl": ("OpenGL", "MuJoCo's own renderer instead of ours (--renderer gl)"),
    "video": ("av", "films as MP4"),
    "ray": ("ray", "evaluation on a Ray cluster"),
    "parquet": ("pyarrow", "export as parquet"),
    "graphs": ("networkx", "task graphs for networkx"),
    "meshes": ("coacd", "convex pieces of mesh files"),
    "inspect": ("inspect_ai", "language models under inspect_ai"),
}


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
    report["extras"] = {
        extra: {"installed": machine.installed(module), "for": purpose, "needs": module} for extra, (module, purpose) in EXTRAS.items()
    }
    return report
