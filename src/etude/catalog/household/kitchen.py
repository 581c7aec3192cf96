"""Cutlery, a spatula, a lid and sponges."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from etude.arithmetic import cos
from etude.catalog.household.forms import HouseholdModel, household, hull_of, skin
from etude.catalog.mesh import lathe, merge, prism
from etude.catalog.polygon import Outline, rectangle, rounded
from etude.catalog.shape import box_piece, cylinder_piece

# One station of a strip: y, height of its underside, half width, thickness (metres).
Station = tuple[float, float, float, float]


def strip(stations: Sequence[Station], cuts: Sequence[int] = (), x: float = 0.0) -> HouseholdModel:
    """A bent flat bar along y through stations, touched by one hull for every stretch between ``cuts`` (station numbers)."""
    rings = np.array([[(x - w, y, z), (x + w, y, z), (x + w, y, z + t), (x - w, y, z + t)] for y, z, w, t in stations])
    return skin(rings, cuts)


# A handle that touches the table at its end and rises towards the neck at y = 0.03.
_HANDLE: tuple[Station, ...] = (
    (-0.099, 0.0, 0.006, 0.002), (-0.092, 0.0, 0.0085, 0.002), (-0.060, 0.0035, 0.007, 0.0025), (-0.010, 0.0085, 0.004, 0.003),
    (0.020, 0.0090, 0.003, 0.003), (0.034, 0.0060, 0.0035, 0.0025),
)  # fmt: skip


@household("fork", (0.020, 0.198, 0.014), "silver", ycb="030", mass=0.034)
def fork() -> HouseholdModel:
    palm: tuple[Station, ...] = ((0.042, 0.0020, 0.0095, 0.002), (0.050, 0.0, 0.0100, 0.002), (0.058, 0.0, 0.0100, 0.002))
    body = strip([*_HANDLE, *palm], cuts=(1, 3, 5))
    tine: tuple[Station, ...] = ((0.058, 0.0, 0.0013, 0.002), (0.078, 0.0012, 0.0012, 0.0018), (0.099, 0.0060, 0.0006, 0.001))
    tines = merge([strip(tine, x=x).mesh for x in (-0.00855, -0.00285, 0.00285, 0.00855)])
    return body + HouseholdModel(tines, (hull_of(tines.vertices),))


@household("spoon", (0.020, 0.195, 0.014), "silver", ycb="031", mass=0.030)
def spoon() -> HouseholdModel:
    # Wide as published; the bowl is 20 × 45.
    dish = lathe([(0.0, 0.0), (0.35, 0.0), (0.8, 0.45), (1.0, 1.0), (0.92, 0.98), (0.7, 0.5), (0.0, 0.16)], 16)
    ladle = dish.scaled((0.010, 0.0225, 0.0075)).moved((0.0, 0.0735, 0.0))
    neck: Station = (0.053, 0.0045, 0.0045, 0.002)
    return strip([*_HANDLE, neck], cuts=(1, 3, 5)) + HouseholdModel(ladle, (hull_of(ladle.vertices),))


@household("knife", (0.020, 0.215, 0.014), "silver", ycb="032", mass=0.031)
def knife() -> HouseholdModel:
    handle: tuple[Station, ...] = (
        (-0.1075, 0.003, 0.005, 0.007), (-0.102, 0.0, 0.0085, 0.014), (-0.060, 0.001, 0.0075, 0.012), (-0.012, 0.003, 0.0055, 0.008),
        (-0.004, 0.0045, 0.0055, 0.004),
    )  # fmt: skip
    blade = [(-0.0055, -0.006), (0.0055, -0.006), (0.010, 0.006), (0.010, 0.085), (0.006, 0.1005), (-0.004, 0.1075), (-0.0065, 0.090)]
    flat = Outline.of(blade)
    ends = [(x, y, z) for x, y in blade for z in (0.0, 0.0022)]
    return (
        strip(handle, cuts=(3,))
        + HouseholdModel(prism(flat, 0.0022, 0.0011), (hull_of(ends),))
        + strip([(-0.012, 0.003, 0.0055, 0.008), (0.006, 0.0, 0.0055, 0.0022)])
    )


@household("spatula", (0.083, 0.350, 0.035), "#2c2c30", ycb="033", mass=0.0515)
def spatula() -> HouseholdModel:
    slots = [rectangle(0.008, 0.062) + np.array([x, 0.118]) for x in (-0.021, 0.0, 0.021)]
    blade = Outline.of(rounded([(-0.030, 0.066), (0.030, 0.066), (0.0415, 0.175), (-0.0415, 0.175)], 0.010, 2), *slots)
    turner = HouseholdModel(prism(blade, 0.003, 0.0015), (hull_of([(x, y, z) for x, y in blade.rings[0] for z in (0.0, 0.003)]),))
    neck = strip([(0.072, 0.001, 0.012, 0.003), (0.050, 0.014, 0.006, 0.004), (0.025, 0.027, 0.005, 0.005), (0.0, 0.029, 0.005, 0.006)])
    grip = strip([(0.002, 0.026, 0.007, 0.009), (-0.050, 0.020, 0.010, 0.014), (-0.130, 0.006, 0.011, 0.015), (-0.168, 0.0, 0.010, 0.013),
                  (-0.175, 0.0, 0.006, 0.010)], cuts=(2,))  # fmt: skip
    return turner + neck + grip


@household("skillet lid", (0.270, 0.270, 0.060), "#b9c4c9", ycb="028", mass=0.652, symmetry=0)
def skillet_lid() -> HouseholdModel:
    # Published: 270 across and a shell 22 high; the knob comes on top.
    shell = [(0.0, 0.017), (0.120, 0.001), (0.130, 0.0), (0.135, 0.002), (0.135, 0.006), (0.105, 0.015), (0.055, 0.021), (0.0, 0.022)]
    knob = [(0.0, 0.020), (0.012, 0.020), (0.009, 0.034), (0.020, 0.045), (0.021, 0.055), (0.014, 0.060), (0.0, 0.060)]
    angle = np.arange(16) * (math.pi / 8)
    dome = [(r * math.cos(t), r * math.sin(t), z) for r, z in ((0.130, 0.0), (0.135, 0.006), (0.105, 0.015), (0.055, 0.021)) for t in angle]
    pieces = (hull_of(dome), cylinder_piece(0.009, 0.025, (0.0, 0.0, 0.0335)), cylinder_piece(0.0205, 0.015, (0.0, 0.0, 0.0525)))
    return HouseholdModel(lathe(shell, 20), pieces) + HouseholdModel(lathe(knob, 12), ())


@household("ycb sponge", (0.072, 0.114, 0.014), "#e8cf3a", ycb="026", mass=0.0062, symmetry=2)
def flat_sponge() -> HouseholdModel:
    ring = rounded(rectangle(0.072, 0.114), 0.012, 4)
    return HouseholdModel(prism(Outline.of(ring), 0.014, bevel=0.002), (box_piece((0.072, 0.114, 0.014)),))


@household("sponge", (0.0579, 0.125, 0.0328), "#f0d030", mass=0.119, symmetry=2)
def sponge() -> HouseholdModel:
    # VLMbench's, with the waist that fingers like; it wipes with the full width of its ends.
    y = np.linspace(-0.0625, 0.0625, 9)
    x = 0.0262 - 0.0050 * cos(y / 0.0625 * math.pi * 0.9)
    side = np.column_stack([x, y])
    ring = np.vstack([side, (side * [-1.0, 1.0])[::-1]])
    body = prism(Outline.of(ring), 0.0328, bevel=0.003)
    half = [(x[4], 0.0), (x[-1], 0.050), (x[-1], 0.0625)]
    ends = [[(i * w, s * d, z) for w, d in half for i in (-1, 1) for z in (-0.0164, 0.0164)] for s in (-1, 1)]
    return HouseholdModel(body, tuple(hull_of(end) for end in ends))
