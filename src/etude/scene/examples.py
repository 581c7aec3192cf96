"""Ten scenes that show what the scene language can say: for the gallery, the benchmarks and the golden digests.

Each is a function of a seed; equal seeds give equal scenes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from etude.catalog.registry import shape
from etude.names import Stream, pick, rng
from etude.pose import Pose, Vec2, Vec3
from etude.scene.fixtures import cupboard, door, drawer_cabinet
from etude.scene.placement import Layout
from etude.scene.rooms import (
    RLBENCH_LOWER,
    RLBENCH_UPPER,
    TABLE_TOP,
    UR5_LOWER,
    UR5_UPPER,
    furnished,
    rlbench_room,
    ur5_room,
    xarm_room,
)
from etude.scene.scene import Area, Body, Entity, Marker, Particles, Scene

PATTERNS = (
    "red swirl", "green paisley", "blue and purple stripe", "yellow and green polka dot", "tiger", "wooden", "rainbow", "granite",
    "checkerboard", "brick", "magma", "tiles", "purple swirl", "red and yellow stripe", "plastic",
)  # fmt: skip


def _strewn(
    layout: Layout, stream: Stream, shapes: Sequence[str], textures: Sequence[str], size: Vec3 | None = None, fixed: Sequence[str] = ()
) -> list[Entity]:
    """One body for each shape, somewhere free, each with another texture."""
    things: list[Entity] = []
    for i, (name, texture) in enumerate(zip(shapes, stream.sample(textures, len(shapes)), strict=True)):
        label = f"{texture} {name} {i}"
        pose = layout.place(label, shape(name, size))
        things.append(Body(label, name, texture, pose, size, fixed=name in fixed))
    return things


def tabletop(seed: int = 0) -> Scene:
    """VIMA-like: flat shapes and a bowl on a dark table, a UR5 with a suction cup."""
    stream = rng(f"examples/tabletop#{seed}", "layout")
    layout = Layout(stream, UR5_LOWER, UR5_UPPER)
    shapes = ["bowl", *stream.sample(("letter A", "star", "heart", "flower", "L-shaped block", "ring", "cross", "hexagon", "letter R"), 5)]
    return furnished(ur5_room(visible=True), *_strewn(layout, stream, shapes, PATTERNS, fixed=("bowl",)))


def kitting(seed: int = 0) -> Scene:
    """ClevrSkills-like: prisms and kit shapes before an xArm6 with five suction cups, and an area to put them on."""
    stream = rng(f"examples/kitting#{seed}", "layout")
    room = xarm_room()
    layout = Layout(stream, (-0.4, -0.3), (0.05, 0.3), clearance=0.02)
    layout.block_disc("robot", (-0.562, 0.0), 0.12)
    zone = layout.place("zone", shape("rectangle", (0.16, 0.16, 0.001)))
    shapes = stream.sample(
        ("cube", "cylinder", "triangle", "hexagon", "six-pointed star", "pentagon", "diamond", "letter G", "four bubbles"), 5
    )
    things = _strewn(layout, stream, shapes, PATTERNS, (0.09, 0.09, 0.045))
    return furnished(room, Area("zone", "rectangle", "green and purple stripe", zone, (0.16, 0.16, 0.001)), *things)


def bench(seed: int = 0) -> Scene:
    """The scene of the speed tests: a Panda, a table and ten textured objects."""
    stream = rng(f"examples/bench#{seed}", "layout")
    layout = Layout(stream, RLBENCH_LOWER, RLBENCH_UPPER, TABLE_TOP)
    layout.block_disc("robot", (-0.268, -0.006), 0.15)
    shapes = ("cube", "cylinder", "star", "letter A", "heart", "mug 1", "bowl", "triangular prism", "banana", "mustard bottle")
    return furnished(rlbench_room(), *_strewn(layout, stream, shapes, PATTERNS))


def drawers(seed: int = 0) -> Scene:
    """HiMan-like: a cabinet of three drawers, one of them open, and a block on top."""
    stream = rng(f"examples/drawers#{seed}", "layout")
    yaw = stream.uniform(-math.pi / 8, math.pi / 8)
    place = Pose.flat(0.3, -0.1, TABLE_TOP, math.pi + yaw)
    cabinet = drawer_cabinet("cabinet", place, opened=stream.shuffled((0.2, 0.0, 0.0)))
    on_top = place * Pose((0.0, 0.0, 0.074 + 0.301 + 0.016))
    block = Body("block", "cube", "red", on_top, (0.032, 0.032, 0.032))
    return furnished(rlbench_room(), cabinet, block)


def groceries(seed: int = 0) -> Scene:
    """HiMan-like: a cupboard in the air, boxes on the table."""
    stream = rng(f"examples/groceries#{seed}", "layout")
    layout = Layout(stream, (-0.05, -0.4), (0.4, 0.4), TABLE_TOP, 0.03)
    shelf = cupboard("cupboard", Pose.flat(0.5565, 0.0, 1.283, -math.pi / 2))
    boxes = [("strawberry jello box", "red"), ("spam", "blue"), ("sugar", "yellow")]
    things = [Body(name, name, texture, layout.place(name, shape(name))) for name, texture in boxes]
    return furnished(rlbench_room(), shelf, *things)


def sweeping(seed: int = 0) -> Scene:
    """HiMan-like: a broom on its holder, a dustpan, and dirt to sweep."""
    stream = rng(f"examples/sweeping#{seed}", "dirt")
    dirt = tuple((0.22 + 0.03 * (i % 3) + stream.uniform(-0.005, 0.005), -0.06 + 0.03 * (i // 3), TABLE_TOP + 0.006) for i in range(5))
    pan, holder, broom = shape("dustpan"), shape("broom holder"), shape("broom")
    on_holder = Pose((0.334, 0.296, TABLE_TOP + holder.size[2] + broom.size[2] / 2))
    things: tuple[Entity, ...] = (
        Body("dustpan", "dustpan", "#c0392b", Pose.flat(0.25, -0.30, TABLE_TOP - float(pan.bounds[0][2])), fixed=True),
        Body("holder", "broom holder", "#597a8a", Pose.flat(0.40, 0.303, TABLE_TOP - float(holder.bounds[0][2]))),
        Body("broom", "broom", "#754f33", on_holder),
        Particles("dirt", "cube", 0.01, "#4b3621", dirt),
    )
    return furnished(rlbench_room(), *things)


def doorway(seed: int = 0) -> Scene:
    """VLMbench-like: a door whose handle must be turned before it opens."""
    stream = rng(f"examples/doorway#{seed}", "layout")
    place = Pose.flat(0.45 + stream.uniform(-0.03, 0.03), stream.uniform(-0.05, 0.05), TABLE_TOP, -math.pi / 2)
    return furnished(rlbench_room(), door("door", place))


def pouring(seed: int = 0) -> Scene:
    """VLMbench-like: a mug with fifty drops of water and two empty ones."""
    stream = rng(f"examples/pouring#{seed}", "layout")
    layout = Layout(stream, (0.1, -0.35), (0.45, 0.35), TABLE_TOP, 0.03)
    mugs = [
        Body(f"mug {i}", f"mug {i}", texture, layout.place(f"mug {i}", shape(f"mug {i}")))
        for i, texture in ((1, "teal"), (2, "gold"), (4, "white"))
    ]
    full = mugs[0]
    cavity = shape(full.shape).cavity
    assert cavity is not None
    drops = _grid_in(cavity[0], cavity[1], 0.012, 50)
    water = tuple((float(x), float(y), float(z)) for x, y, z in full.pose.apply(drops))
    return furnished(rlbench_room(), *mugs, Particles("water", "sphere", 0.011, "azure", water, 0.0007, "water"))


def _grid_in(lower: Vec3, upper: Vec3, pitch: float, count: int) -> list[Vec3]:
    """Points in the round middle of a cavity, from the bottom up."""
    cx, cy = (lower[0] + upper[0]) / 2, (lower[1] + upper[1]) / 2
    radius = min(upper[0] - lower[0], upper[1] - lower[1]) / 2 - pitch * 0.6
    steps = range(-20, 21)
    ring = [(cx + i * pitch, cy + j * pitch) for i in steps for j in steps if math.hypot(i * pitch, j * pitch) <= radius]
    levels = math.ceil(count / len(ring))
    points = [(x, y, lower[2] + (k + 0.6) * pitch) for k in range(levels) for x, y in ring]
    return points[:count]


def clutter(seed: int = 0) -> Scene:
    """Twenty household things on one table."""
    from etude.catalog.household import DISTRACTORS, default_texture

    stream = rng(f"examples/clutter#{seed}", "layout")
    layout = Layout(stream, RLBENCH_LOWER, RLBENCH_UPPER, TABLE_TOP, 0.005)
    layout.block_disc("robot", (-0.268, -0.006), 0.15)
    small = [name for name in DISTRACTORS if max(shape(name).size[:2]) < 0.2]
    names = stream.sample(small, 20)
    things = [Body(name, name, default_texture[name], layout.place(name, shape(name))) for name in names]
    return furnished(rlbench_room(walls="brick"), *things)


def tower(seed: int = 0) -> Scene:
    """A tower of blocks, and a translucent marker where the next one belongs."""
    stream = rng(f"examples/tower#{seed}", "layout")
    centre: Vec2 = (stream.uniform(0.15, 0.35), stream.uniform(-0.2, 0.2))
    side, things = 0.05, []
    for i, texture in enumerate(stream.sample(PATTERNS, 4)):
        z = TABLE_TOP + side * (i + 0.5)
        things.append(Body(f"block {i}", "cube", texture, Pose.flat(*centre, z, stream.uniform(0, 0.3)), (side, side, side)))
    goal = Marker("goal", "cube", "lime", Pose.flat(*centre, TABLE_TOP + side * 4.5), (side, side, side), 0.45)
    ball = Body("ball", "tennis ball", "lime", Pose.flat(centre[0], centre[1] + 0.2, TABLE_TOP + 0.034), material="ball")
    return furnished(rlbench_room("marble", "fabric"), *things, goal, ball)


EXAMPLES: dict[str, Callable[[int], Scene]] = {
    f.__name__: f for f in (tabletop, kitting, bench, drawers, groceries, sweeping, doorway, pouring, clutter, tower)
}


def example(name: str, seed: int = 0) -> Scene:
    """One of the ten scenes."""
    return pick("scene", name, EXAMPLES)(seed)
