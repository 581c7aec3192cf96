"""Cars: a body on four wheels, with windows, head lights in front and tail lights behind."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from etude.catalog.mesh import Mesh, ellipsoid
from etude.decisions.stimuli.forms import Builder, Parts, across_y, arc_about, beam, bent, block, both, cushion, drum, fuselage, rod, skin
from etude.pose import Vec2


def _body(upper: Sequence[Vec2], floor: float, axles: Sequence[float], radius: float, half: float, bevel: float = 0.04) -> Mesh:
    """A body with arches over its wheels; ``upper`` is its outline (x, z) from the lower rear corner over the top to the front."""
    lower = []
    reach = radius * 1.18
    side = math.sqrt(max(reach**2 - (floor - radius) ** 2, 0.0))
    for axle in sorted(axles, reverse=True):
        start = math.degrees(math.atan2(floor - radius, side))
        lower += arc_about((axle, radius), reach, start, 180 - start, 9).tolist()
    return across_y([*upper, *lower], (-half, half), bevel)


def _wheels(axles: Sequence[float], radius: float, half: float, width: float = 0.20) -> tuple[list[Mesh], list[Mesh]]:
    """Tyres and hubs."""
    tyres = both(*(drum(radius, (x, half - width / 2 + 0.02, radius), width, "y", 18) for x in axles))
    hubs = both(*(drum(0.58 * radius, (x, half + 0.025, radius), 0.02, "y", 12) for x in axles))
    return tyres, hubs


def _cabin(lower: tuple[float, float], upper: tuple[float, float], z: Vec2, half: Vec2) -> tuple[Mesh, Mesh, list[Mesh]]:
    """Glass, roof and pillars over (rear x, front x) below and above; ``half`` widths below and above."""

    def ring(x: tuple[float, float], y: float, height: float) -> list[tuple[float, float, float]]:
        return [(x[0], -y, height), (x[1], -y, height), (x[1], y, height), (x[0], y, height)]

    glass = skin([ring(lower, half[0], z[0]), ring(upper, half[1], z[1])])
    grown = (upper[0] - 0.02, upper[1] + 0.02)
    roof = skin([ring(grown, half[1] + 0.015, z[1] - 0.02), ring((upper[0] + 0.02, upper[1] - 0.04), half[1] - 0.03, z[1] + 0.05)])
    middle = (0.5 * (lower[0] + lower[1]), 0.5 * (upper[0] + upper[1]))
    pillars = []
    for a, b in ((lower[0], upper[0]), (lower[1], upper[1]), middle):
        pillars += both(beam((a, half[0], z[0]), (b, half[1], z[1]), 0.05, 0.05))
    return glass, roof, pillars


def _lights(front: float, rear: float, z: float, y: float, size: float = 0.10) -> tuple[list[Mesh], list[Mesh]]:
    heads = both(drum(size, (front, y, z), 0.06, "x", 12))
    tails = both(block((rear - 0.03, rear + 0.03), (y - size, y + size), (z - 0.6 * size, z + 0.6 * size)))
    return heads, tails


def _car(
    upper: Sequence[Vec2], floor: float, axles: Sequence[float], radius: float, half: float, lights: Sequence[float], *,
    track: float = 0.0, bevel: float = 0.04, width: float = 0.20, **more: list[Mesh],
) -> Parts:  # fmt: skip
    """A body on wheels with its lights (:func:`_lights`); ``more`` are further meshes, by role, and ``track`` the half width at the wheels
    where it is not the body's."""
    tyres, hubs = _wheels(axles, radius, track or half, width)
    heads, tails = _lights(*lights)
    own = {"body": [_body(upper, floor, axles, radius, half, bevel)], "tyre": tyres, "metal": hubs, "glow": heads, "tail": tails}
    return {
        role: [*own.get(role, []), *more.get(role, [])] for role in ("body", "accent", "trim", "glass", "tyre", "metal", "glow", "tail")
    }


def saloon() -> Parts:
    """Three boxes: bonnet, cabin, boot."""
    outline = [(-2.1, 0.30), (-2.15, 0.62), (-2.05, 0.86), (-0.9, 0.90), (0.85, 0.88), (1.9, 0.76), (2.1, 0.60), (2.1, 0.30)]
    glass, roof, pillars = _cabin((-1.45, 1.05), (-0.90, 0.42), (0.86, 1.36), (0.76, 0.60))
    bumpers = [block((2.05, 2.17), (-0.80, 0.80), (0.30, 0.42)), block((-2.20, -2.08), (-0.80, 0.80), (0.30, 0.42))]
    lights = (2.08, -2.13, 0.62, 0.60, 0.11)
    return _car(outline, 0.30, (-1.25, 1.30), 0.34, 0.84, lights, body=[roof, *pillars], glass=[glass], metal=bumpers)


def city_car() -> Parts:
    """Short and tall, with a round back and a roof of another colour."""
    outline = [(-1.45, 0.32), (-1.52, 0.60), (-1.45, 0.98), (0.70, 0.98), (1.30, 0.86), (1.48, 0.66), (1.50, 0.32)]
    glass, roof, pillars = _cabin((-1.42, 0.86), (-1.18, 0.38), (0.95, 1.50), (0.74, 0.62))
    accent = [roof, *both(beam((0.72, 0.22, 0.985), (1.30, 0.22, 0.87), 0.16, 0.03))]
    lights = (1.46, -1.48, 0.74, 0.54, 0.16)
    return _car(outline, 0.32, (-0.95, 0.98), 0.36, 0.80, lights, bevel=0.06, body=pillars, accent=accent, glass=[glass])


def pickup() -> Parts:
    """A cabin in front of an open bed."""
    outline = [(-2.35, 0.42), (-2.35, 0.72), (0.20, 0.72), (0.20, 1.08), (1.05, 1.06), (2.15, 1.0), (2.25, 0.80), (2.25, 0.42)]
    glass, roof, pillars = _cabin((-0.02, 1.25), (0.05, 0.80), (1.06, 1.62), (0.80, 0.68))
    sides = [
        *both(block((-2.35, 0.10), (0.78, 0.88), (0.70, 1.08))),
        block((-2.35, -2.25), (-0.86, 0.86), (0.70, 1.06)),
        block((-0.02, 0.12), (-0.86, 0.86), (0.70, 1.08)),
    ]
    bed, grille = block((-2.25, 0.0), (-0.78, 0.78), (0.71, 0.75)), block((2.22, 2.30), (-0.45, 0.45), (0.62, 0.92))
    body, lights = [roof, *pillars, *sides], (2.23, -2.36, 0.80, 0.66, 0.12)
    return _car(outline, 0.42, (-1.45, 1.45), 0.44, 0.88, lights, width=0.26, body=body, trim=[bed, grille], glass=[glass])


def van() -> Parts:
    """One tall box with a slanting nose and a band of another colour."""
    outline = [(-2.05, 0.34), (-2.10, 1.0), (-2.0, 1.90), (-1.8, 1.98), (0.75, 1.98), (1.0, 1.88), (1.60, 1.10), (2.02, 0.92), (2.10, 0.34)]
    door = across_y([(0.62, 1.12), (1.42, 1.12), (0.98, 1.76), (0.62, 1.76)], (0.85, 0.875))
    panes = both(door, *(block(x, (0.85, 0.875), (1.12, 1.76)) for x in ((-0.7, 0.45), (-1.85, -0.85))))
    screen = beam((1.58, 0.0, 1.16), (1.06, 0.0, 1.84), 1.44, 0.05)
    rear = block((-2.09, -2.03), (-0.66, 0.66), (1.12, 1.72))
    band = both(block((-2.02, 1.98), (0.85, 0.88), (0.66, 0.84)))
    lights = (2.06, -2.10, 0.70, 0.62, 0.12)
    return _car(outline, 0.34, (-1.35, 1.30), 0.36, 0.86, lights, bevel=0.06, accent=band, glass=[*panes, screen, rear])


def roadster() -> Parts:
    """Open, long in front, with two seats, a wind screen and a spoiler."""
    outline = [(-1.95, 0.28), (-2.02, 0.56), (-1.85, 0.80), (-1.0, 0.84), (-0.95, 0.62), (0.25, 0.62), (0.35, 0.82), (1.3, 0.72),
               (2.05, 0.52), (2.12, 0.28)]  # fmt: skip
    doors = both(block((-1.0, 0.36), (0.72, 0.83), (0.55, 0.80)))
    seats = both(cushion((-0.95, -0.70), (0.10, 0.58), (0.60, 1.08), 0.3), cushion((-0.80, -0.20), (0.10, 0.58), (0.58, 0.72), 0.3))
    screen = beam((0.34, 0.0, 0.80), (0.06, 0.0, 1.14), 1.40, 0.04)
    spoiler = [block((-2.02, -1.72), (-0.82, 0.82), (1.02, 1.07)), *both(block((-1.92, -1.80), (0.55, 0.62), (0.78, 1.04)))]
    stripe = [beam((0.36, 0.0, 0.83), (1.30, 0.0, 0.73), 0.30, 0.03), beam((1.28, 0.0, 0.735), (2.04, 0.0, 0.53), 0.30, 0.03)]
    body, accent, lights = [*doors, *spoiler], [*seats, *stripe], (1.94, -2.0, 0.58, 0.60, 0.10)
    return _car(outline, 0.28, (-1.15, 1.25), 0.34, 0.84, lights, width=0.24, body=body, accent=accent, glass=[screen])


def jeep() -> Parts:
    """Square and high, with wings over big wheels and a spare wheel behind."""
    outline = [(-1.65, 0.55), (-1.65, 1.10), (0.55, 1.10), (1.65, 1.05), (1.65, 0.55)]
    wings = both(block((0.70, 1.72), (0.68, 0.92), (0.98, 1.05)), block((-1.60, -0.52), (0.68, 0.92), (0.98, 1.05)))
    glass, roof, pillars = _cabin((-1.60, 0.62), (-1.58, 0.48), (1.08, 1.76), (0.68, 0.66))
    spare, cap = drum(0.40, (-1.78, 0.0, 1.05), 0.20, "x", 18), drum(0.24, (-1.89, 0.0, 1.05), 0.03, "x", 12)
    slots = [block((1.64, 1.68), (y - 0.035, y + 0.035), (0.72, 0.98)) for y in (-0.24, -0.12, 0.0, 0.12, 0.24)]
    bumper = block((1.66, 1.86), (-0.80, 0.80), (0.52, 0.64))
    more = {"body": [*wings, *pillars], "accent": [roof, cap], "glass": [glass], "tyre": [spare], "trim": [*slots, bumper]}
    return _car(outline, 0.55, (-1.05, 1.15), 0.46, 0.70, (1.67, -1.66, 0.88, 0.50, 0.12), track=0.86, bevel=0.03, width=0.26, **more)


def racing_car() -> Parts:
    """Open wheels, a needle nose, a wing in front and one behind."""
    hull = fuselage(
        [
            (2.3, 0.08, 0.26, 0.36),
            (1.2, 0.22, 0.22, 0.52),
            (0.35, 0.32, 0.20, 0.62),
            (-0.4, 0.36, 0.20, 0.60),
            (-1.2, 0.30, 0.22, 0.80),
            (-1.95, 0.16, 0.26, 0.56),
        ],
        3.0,
    )
    pods = both(cushion((-1.35, 0.25), (0.28, 0.68), (0.18, 0.50), 0.25))
    scoop = fuselage([(-0.30, 0.12, 0.70, 0.98), (-0.8, 0.14, 0.60, 0.96), (-1.6, 0.05, 0.50, 0.66)], 2.5)
    driver = ellipsoid((0.16, 0.15, 0.17), 14).moved((0.05, 0.0, 0.72))
    front = [block((2.0, 2.40), (-0.85, 0.85), (0.16, 0.21)), *both(block((2.0, 2.42), (0.83, 0.87), (0.14, 0.36)))]
    rear = [
        block((-2.25, -1.85), (-0.60, 0.60), (0.98, 1.03)),
        block((-2.25, -1.95), (-0.60, 0.60), (0.80, 0.84)),
        *both(block((-2.30, -1.80), (0.58, 0.63), (0.56, 1.06))),
    ]
    tyres, hubs = _wheels((-1.55, 1.45), 0.38, 0.92, 0.40)
    arms = both(rod((1.45, 0.15, 0.40), (1.45, 0.80, 0.38), 0.035), rod((-1.55, 0.15, 0.44), (-1.55, 0.80, 0.38), 0.04))
    return {"body": [hull, *pods, scoop], "accent": [*front, *rear, driver], "tyre": tyres, "metal": [*hubs, *arms]}


def vintage_car() -> Parts:
    """An upright cabin, a narrow bonnet, sweeping wings and spoked wheels."""
    cabin = [block((-1.45, 0.15), (-0.62, 0.62), (0.62, 1.16)), block((-1.50, 0.25), (-0.66, 0.66), (1.74, 1.84))]
    glass = block((-1.42, 0.12), (-0.59, 0.59), (1.16, 1.74))
    pillars = both(*(block((x - 0.05, x + 0.05), (0.55, 0.63), (1.14, 1.76)) for x in (-1.40, -0.65, 0.10)))
    bonnet = fuselage([(0.15, 0.46, 0.60, 1.16), (1.25, 0.34, 0.60, 1.08), (1.30, 0.32, 0.62, 1.06)], 4.0)
    radiator = block((1.28, 1.36), (-0.32, 0.32), (0.60, 1.10))
    fenders = both(_fender(1.28, 0.55), _fender(-1.12, 0.55))
    boards = both(block((-0.62, 0.76), (0.62, 0.90), (0.46, 0.52)))
    tyres, hubs = _wheels((-1.12, 1.28), 0.46, 0.82, 0.16)
    heads = both(drum(0.15, (1.38, 0.46, 1.0), 0.14, "x", 14))
    bar = [bent([(1.5, -0.7, 0.5), (1.62, 0.0, 0.5), (1.5, 0.7, 0.5)], 0.035)]
    tails = both(drum(0.07, (-1.48, 0.50, 0.80), 0.06, "x", 10))
    spare = drum(0.38, (-1.58, 0.0, 0.92), 0.14, "x", 16)
    return {
        "body": [*cabin, *pillars, bonnet],
        "accent": [*fenders, *boards],
        "glass": [glass],
        "tyre": [*tyres, spare],
        "metal": [*hubs, radiator, *bar],
        "glow": heads,
        "tail": tails,
    }


def _fender(axle: float, reach: float) -> Mesh:
    outer, inner = arc_about((axle, 0.48), reach, 0, 180, 11), arc_about((axle, 0.48), reach - 0.06, 180, 0, 11)
    return across_y(np.vstack([outer, inner]), (0.60, 0.90))


BUILDERS: tuple[Builder, ...] = (
    saloon, pickup, city_car, vintage_car, racing_car, van, roadster, jeep,
)  # fmt: skip
