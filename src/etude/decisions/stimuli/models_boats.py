"""Boats: a hull with a pointed bow along x, and sails, houses, oars or motors on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from etude.catalog.mesh import Mesh
from etude.decisions.stimuli.forms import Builder, Parts, across_y, beam, bent, block, both, cushion, drum, rod, skin
from etude.pose import Vec2, Vec3, yaw_quat

Stations = Sequence[tuple[float, float, float, float, float]]


def _hull(stations: Stations) -> Mesh:
    """A decked hull through stations (x, half beam at the deck, half beam at the bilge, keel z, deck z)."""
    rings = []
    for x, deck, bilge, keel, top in stations:
        middle = keel + 0.45 * (top - keel)
        rings.append([(x, deck, top), (x, (deck + bilge) / 2, middle), (x, bilge * 0.75, keel + 0.12 * (top - keel)), (x, 0.0, keel),
                      (x, -bilge * 0.75, keel + 0.12 * (top - keel)), (x, -(deck + bilge) / 2, middle), (x, -deck, top)])  # fmt: skip
    return skin(rings)


def _open_hull(stations: Stations, wall: float) -> Mesh:
    """A hull without a deck: the same, hollow."""
    rings = []
    for x, deck, bilge, keel, top in stations:
        low, inner = keel + 0.15 * (top - keel), max(deck - wall, 0.0)
        floor, foot = keel + 0.30 * (top - keel), max(bilge * 0.8 - wall, 0.0)
        chine = low + 0.2 * (top - low)
        rings.append([(x, deck, top), (x, bilge, chine), (x, 0.5 * bilge, keel), (x, -0.5 * bilge, keel), (x, -bilge, chine),
                      (x, -deck, top), (x, -inner, top), (x, -foot, floor), (x, foot, floor), (x, inner, top)])  # fmt: skip
    return skin(rings)


def _strake(stations: Stations, drop: float, height: float, swell: float = 0.012) -> Mesh:
    """A band around the upper edge of a hull."""
    rings = []
    for x, deck, bilge, keel, top in stations:
        upper, lower = top - drop, top - drop - height
        share = (drop + height / 2) / max(top - keel, 1e-6)
        half = deck + (bilge - deck) * share * 0.9 + swell
        rings.append([(x, half, upper), (x, half, lower), (x, -half, lower), (x, -half, upper)])
    return skin(rings)


def _sail(corners: Sequence[Vec2], at: Vec3, turn: float = 0.0, thick: float = 0.03) -> Mesh:
    """A flat sail over a drawing of (x, z), turned about the mast at ``at``."""
    return across_y(corners, (-thick / 2, thick / 2)).moved(at, yaw_quat(turn))


def sloop() -> Parts:
    """One mast with a big sail behind it and a small one in front."""
    lines = [
        (1.25, 0.02, 0.01, 0.10, 0.36),
        (0.8, 0.22, 0.14, -0.04, 0.33),
        (0.1, 0.36, 0.28, -0.10, 0.30),
        (-0.6, 0.34, 0.26, -0.06, 0.30),
        (-1.05, 0.26, 0.18, 0.04, 0.32),
    ]
    mast = rod((0.15, 0.0, 0.25), (0.15, 0.0, 2.30), 0.028)
    boom = rod((0.0, 0.0, 0.0), (-1.05, 0.0, 0.0), 0.024).moved((0.15, 0.0, 0.52), yaw_quat(0.25))
    main = _sail([(-0.03, 0.05), (-1.02, 0.05), (-0.03, 1.68)], (0.15, 0.0, 0.52), 0.25)
    jib = _sail([(0.95, 0.0), (-0.02, 0.12), (0.0, 1.50)], (0.18, 0.0, 0.42), 0.18)
    house = cushion((-0.45, 0.45), (-0.20, 0.20), (0.28, 0.46), 0.2)
    return {"main": [_hull(lines)], "accent": [main, jib, house], "trim": [mast, boom, rod((-1.0, 0.0, 0.0), (-1.08, 0.0, 0.30), 0.05)]}


def rowing_boat() -> Parts:
    """Open, with three thwarts and a pair of oars."""
    lines = [
        (1.15, 0.02, 0.01, 0.16, 0.46),
        (0.8, 0.28, 0.16, 0.04, 0.40),
        (0.2, 0.44, 0.32, 0.0, 0.36),
        (-0.5, 0.42, 0.30, 0.0, 0.36),
        (-1.0, 0.30, 0.20, 0.06, 0.40),
    ]
    transom = block((-1.03, -0.97), (-0.27, 0.27), (0.12, 0.40))
    thwarts = [block((x - 0.09, x + 0.09), (-w, w), (0.26, 0.30)) for x, w in ((0.45, 0.34), (-0.10, 0.39), (-0.65, 0.34))]
    shaft = rod((-0.05, 0.12, 0.52), (-0.30, 1.10, 0.16), 0.024)
    blade = beam((-0.27, 1.0, 0.195), (-0.36, 1.36, 0.07), 0.15, 0.03)
    pins = both(drum(0.03, (-0.14, 0.42, 0.42), 0.12, segments=8))
    return {"main": [_open_hull(lines, 0.05), transom], "accent": [*thwarts, *both(blade)], "trim": [*both(shaft), *pins]}


def speedboat() -> Parts:
    """A sharp wedge with a wind screen, two seats and an outboard motor."""
    lines = [
        (1.45, 0.02, 0.01, 0.34, 0.46),
        (1.0, 0.30, 0.10, 0.12, 0.46),
        (0.3, 0.46, 0.34, 0.0, 0.44),
        (-0.6, 0.48, 0.40, 0.0, 0.40),
        (-1.2, 0.46, 0.40, 0.02, 0.38),
    ]
    nose = cushion((0.10, 1.05), (-0.30, 0.30), (0.38, 0.54), 0.5)
    screen = [beam((0.34, 0.0, 0.46), (0.10, 0.0, 0.74), 0.72, 0.03), *both(beam((-0.02, 0.36, 0.56), (0.22, 0.36, 0.56), 0.03, 0.22))]
    well = block((-1.0, 0.10), (-0.34, 0.34), (0.36, 0.42))
    seats = both(cushion((-0.42, -0.22), (0.04, 0.32), (0.40, 0.74), 0.3), cushion((-0.34, 0.0), (0.04, 0.32), (0.40, 0.52), 0.3))
    bench = cushion((-0.98, -0.72), (-0.34, 0.34), (0.40, 0.58), 0.3)
    motor = [cushion((-1.48, -1.18), (-0.14, 0.14), (0.40, 0.78), 0.35), block((-1.38, -1.26), (-0.05, 0.05), (-0.10, 0.42))]
    return {"main": [_hull(lines), nose], "accent": [*seats, bench, _strake(lines, 0.10, 0.07)], "glass": screen, "trim": [well, *motor]}


def tug() -> Parts:
    """Short and stout, with a tall wheelhouse, a funnel, and tyres along its side."""
    lines = [
        (1.05, 0.06, 0.03, 0.14, 0.74),
        (0.75, 0.36, 0.22, 0.0, 0.62),
        (0.1, 0.50, 0.42, -0.06, 0.50),
        (-0.7, 0.50, 0.40, -0.04, 0.48),
        (-1.05, 0.36, 0.24, 0.06, 0.52),
    ]
    house = [
        block((-0.15, 0.50), (-0.28, 0.28), (0.48, 0.86)),
        block((-0.05, 0.42), (-0.24, 0.24), (1.10, 1.20)),
        block((-0.75, -0.15), (-0.24, 0.24), (0.46, 0.76)),
    ]
    pilot = block((-0.02, 0.38), (-0.21, 0.21), (0.86, 1.10))
    roof = block((-0.10, 0.48), (-0.29, 0.29), (1.18, 1.24))
    funnel = drum(0.13, (-0.42, 0.0, 1.0), 0.50, segments=16, top=0.11)
    rim = drum(0.125, (-0.42, 0.0, 1.22), 0.10, segments=16)
    mast = rod((0.15, 0.0, 1.2), (0.15, 0.0, 1.66), 0.022)
    tyres = both(*(drum(0.12, (x, 0.50, 0.36), 0.08, "y", 14) for x in (0.30, -0.10, -0.50)))
    return {"main": [_hull(lines), roof, funnel], "accent": house, "glass": [pilot], "trim": [rim, mast], "tyre": tyres}


def container_ship() -> Parts:
    """Long and low under rows of containers, the bridge near the stern."""
    lines = [
        (2.1, 0.02, 0.01, 0.06, 0.50),
        (1.75, 0.24, 0.10, -0.04, 0.42),
        (1.3, 0.36, 0.30, -0.06, 0.36),
        (-1.6, 0.36, 0.32, -0.06, 0.36),
        (-2.0, 0.30, 0.18, 0.06, 0.38),
    ]
    cargo: dict[str, list[Mesh]] = {"accent": [], "metal": [], "trim": []}
    for k, x in enumerate((1.10, 0.72, 0.34, -0.04, -0.42, -0.80)):
        for j, y in enumerate((-0.22, 0.0, 0.22)):
            for i in range(2 if k in (0, 5) else 3):
                role = ("accent", "metal", "trim")[(2 * k + j + i) % 3]
                cargo[role].append(block((x - 0.175, x + 0.175), (y - 0.10, y + 0.10), (0.36 + 0.17 * i, 0.52 + 0.17 * i)))
    bridge = [block((-1.55, -1.20), (-0.32, 0.32), (0.36, 1.06)), block((-1.48, -1.24), (-0.42, 0.42), (1.12, 1.20))]
    panes = block((-1.50, -1.18), (-0.30, 0.30), (0.92, 1.02))
    funnel = block((-1.80, -1.60), (-0.10, 0.10), (0.36, 1.0))
    return {
        "main": [_hull(lines), funnel],
        "accent": [*bridge, *cargo["accent"]],
        "glass": [panes],
        "metal": cargo["metal"],
        "trim": cargo["trim"],
    }


def catamaran() -> Parts:
    """Two slim hulls under a broad deck and one tall sail."""
    lines = [(1.35, 0.01, 0.01, 0.14, 0.30), (0.9, 0.10, 0.07, 0.0, 0.29), (0.0, 0.14, 0.11, -0.04, 0.28), (-1.0, 0.12, 0.09, 0.0, 0.28)]
    hulls = both(_hull(lines).moved((0.0, 0.62, 0.0)))
    deck = block((-0.85, 0.35), (-0.62, 0.62), (0.26, 0.34))
    house = cushion((-0.55, 0.30), (-0.45, 0.45), (0.32, 0.62), 0.35)
    panes = cushion((-0.40, 0.33), (-0.40, 0.40), (0.44, 0.54), 0.3)
    mast = rod((0.32, 0.0, 0.3), (0.32, 0.0, 2.1), 0.028)
    boom = rod((0.30, 0.0, 0.0), (-1.05, 0.0, 0.0), 0.024).moved((0.02, 0.0, 0.76), yaw_quat(0.2))
    sail = _sail([(0.26, 0.03), (-1.02, 0.03), (-0.62, 0.70), (0.0, 1.18), (0.28, 1.25)], (0.02, 0.0, 0.76), 0.2)
    nets = beam((0.95, -0.62, 0.28), (0.95, 0.62, 0.28), 0.06, 0.06)
    return {"main": [*hulls, deck, sail], "accent": [house], "glass": [panes], "trim": [mast, boom, nets]}


def viking_ship() -> Parts:
    """Both ends curl up; one square sail, round shields along its sides."""
    lines = [
        (1.35, 0.02, 0.01, 0.36, 0.62),
        (1.0, 0.20, 0.10, 0.10, 0.42),
        (0.4, 0.36, 0.26, 0.0, 0.34),
        (-0.4, 0.36, 0.26, 0.0, 0.34),
        (-1.0, 0.20, 0.10, 0.10, 0.42),
        (-1.35, 0.02, 0.01, 0.36, 0.62),
    ]
    stem = bent([(1.15, 0.0, 0.30), (1.42, 0.0, 0.60), (1.50, 0.0, 0.98), (1.36, 0.0, 1.16), (1.26, 0.0, 1.02)], 0.05)
    stern = bent([(-1.15, 0.0, 0.30), (-1.42, 0.0, 0.60), (-1.46, 0.0, 0.86)], 0.05)
    shields = both(*(drum(0.12, (x, 0.385, 0.32), 0.04, "y", 14) for x in (0.60, 0.30, 0.0, -0.30, -0.60)))
    mast = rod((0.0, 0.0, 0.1), (0.0, 0.0, 1.72), 0.032)
    yard = rod((0.05, -0.62, 1.55), (0.05, 0.62, 1.55), 0.028)
    cloth = []
    for k, y in enumerate(np.linspace(-0.45, 0.45, 4)):
        rings = [
            [(x, y - 0.15, z), (x + 0.03, y - 0.15, z), (x + 0.03, y + 0.15, z), (x, y + 0.15, z)]
            for x, z in ((0.05, 1.53), (0.20, 1.25), (0.24, 0.95), (0.12, 0.66))
        ]
        cloth.append((k, skin(rings)))
    return {
        "main": [_open_hull(lines, 0.05), stem, stern, *(m for k, m in cloth if k % 2)],
        "accent": [*shields, *(m for k, m in cloth if not k % 2)],
        "trim": [mast, yard],
    }


def liner() -> Parts:
    """A passenger ship: white decks in steps, rows of windows, two slanting funnels."""
    lines = [
        (1.95, 0.02, 0.01, 0.10, 0.58),
        (1.5, 0.26, 0.12, -0.04, 0.50),
        (0.9, 0.36, 0.30, -0.06, 0.44),
        (-1.4, 0.36, 0.30, -0.06, 0.44),
        (-1.85, 0.24, 0.14, 0.08, 0.48),
    ]
    decks = [
        block((-1.40, 1.15), (-0.32, 0.32), (0.44, 0.64)),
        block((-1.20, 0.90), (-0.28, 0.28), (0.64, 0.82)),
        block((-0.95, 0.65), (-0.24, 0.24), (0.82, 0.98)),
    ]
    panes = [
        *both(block((-1.30, 1.05), (0.315, 0.33), (0.52, 0.58)), block((-1.10, 0.80), (0.275, 0.29), (0.70, 0.76))),
        block((0.64, 0.67), (-0.20, 0.20), (0.88, 0.95)),
    ]
    funnels, caps = [], []
    for x in (0.15, -0.50):
        funnels.append(rod((x, 0.0, 0.95), (x - 0.12, 0.0, 1.40), 0.14, segments=14))
        caps.append(rod((x - 0.12, 0.0, 1.38), (x - 0.15, 0.0, 1.50), 0.145, segments=14))
    mast = rod((0.95, 0.0, 0.60), (0.90, 0.0, 1.45), 0.024)
    return {"main": [_hull(lines), *funnels], "accent": decks, "glass": panes, "trim": [*caps, mast]}


BUILDERS: tuple[Builder, ...] = (
    sloop, speedboat, tug, rowing_boat, container_ship, catamaran, liner, viking_ship,
)  # fmt: skip
