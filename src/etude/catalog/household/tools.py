"""Tools from the box; they lie flat, long axis along y."""

from __future__ import annotations

import numpy as np

from etude import arithmetic
from etude.catalog.household.forms import (
    LYING,
    SIDEWAYS,
    HouseholdModel,
    Section,
    arc,
    bar,
    block,
    convex,
    drum,
    ghost,
    household,
    hull_of,
    loft,
    plate,
)
from etude.catalog.mesh import Mesh, lathe, merge, prism, tube
from etude.catalog.polygon import Outline, circle
from etude.catalog.shape import box_piece, cylinder_piece, hull_piece
from etude.pose import Array, yaw_quat


def _ring(width: float, depth: float, wall: float, corners: int = 12) -> Outline:
    """An oval with an oval hole."""
    unit = circle(1.0, corners)
    return Outline.of(unit * [width / 2, depth / 2], unit * [width / 2 - wall, depth / 2 - wall])


@household("power drill", (0.184, 0.187, 0.057), "#e8742c", ycb="035", mass=0.895)
def power_drill() -> HouseholdModel:
    # Published: 35 × 46 × 184, which is the motor's; lies on its side with motor and chuck along x, the grip along y.
    motor = [Section(-0.092, 0.022, 0.022), Section(-0.084, 0.0285, 0.0285), Section(0.010, 0.0285, 0.0285), Section(0.032, 0.022, 0.022),
             Section(0.036, 0.017, 0.017)]  # fmt: skip
    chuck = [Section(0.036, 0.019, 0.019), Section(0.060, 0.019, 0.019), Section(0.076, 0.009, 0.009), Section(0.077, 0.004, 0.004),
             Section(0.092, 0.003, 0.003)]  # fmt: skip
    grip = [(-0.060, -0.020), (-0.016, -0.020), (-0.026, -0.120), (-0.064, -0.120)]
    trigger = [(-0.018, -0.028), (-0.006, -0.030), (-0.010, -0.056), (-0.022, -0.058)]
    battery = [(-0.078, -0.1585), (0.004, -0.1585), (0.008, -0.124), (-0.020, -0.114), (-0.070, -0.114)]
    return (
        loft(motor, corners=12, flats=True).moved(rotation=SIDEWAYS)
        + loft(chuck, corners=8).moved(rotation=SIDEWAYS)
        + bar(grip, 0.038, bevel=0.004)
        + bar(trigger, 0.014)
        + bar(battery, 0.057, bevel=0.004)
    )


household("wood block", (0.085, 0.085, 0.200), "wooden", ycb="036", mass=0.729, symmetry=4)(lambda: block((0.085, 0.085, 0.200)))


@household("scissors", (0.087, 0.200, 0.014), "#e07b2a", ycb="037", mass=0.082)
def scissors() -> HouseholdModel:
    left, right = plate(_ring(0.044, 0.062, 0.008), 0.014), plate(_ring(0.036, 0.050, 0.007), 0.014)
    blade = [(0.016, -0.052), (0.028, -0.050), (0.009, 0.030), (-0.006, 0.118), (-0.008, 0.118), (-0.009, 0.025)]
    first = bar(blade, 0.004, -0.001)
    second = bar([(-x, y) for x, y in blade], 0.004, -0.005)
    pivot = ghost(drum(0.005, 0.009, -0.007, segments=8).moved((0.0, 0.018, 0.0)))
    return first + second + pivot + left.moved((-0.0235, -0.0515, 0.0)) + right.moved((0.0235, -0.0475, 0.0))


@household("padlock", (0.047, 0.065, 0.024), "#c9a53a", ycb="038", mass=0.304)
def padlock() -> HouseholdModel:
    body = [(-0.0235, 0.0), (0.0235, 0.0), (0.0235, 0.036), (0.018, 0.041), (-0.018, 0.041), (-0.0235, 0.036)]
    bow = arc(0.0145, 0, 180, 7) + np.array([0.0, 0.046])
    path = np.vstack([[(0.0145, 0.036)], bow, [(-0.0145, 0.036)]])
    shackle = tube(np.column_stack([path, np.zeros(len(path))]), 0.0045, 8)
    arms = [box_piece((0.009, 0.020, 0.009), (x, 0.046, 0.0)) for x in (-0.0145, 0.0145)]
    return bar(body, 0.024, bevel=0.002) + HouseholdModel(shackle, (*arms, box_piece((0.026, 0.009, 0.009), (0.0, 0.0605, 0.0))))


@household("large marker", (0.018, 0.121, 0.018), "#26262a", ycb="040", mass=0.0158)
def large_marker() -> HouseholdModel:
    profile = [
        (0.0, -0.0605), (0.007, -0.0605), (0.0085, -0.058), (0.0085, 0.018), (0.009, 0.019), (0.009, 0.052), (0.006, 0.0595),
        (0.0, 0.0605),
    ]  # fmt: skip
    body = cylinder_piece(0.009, 0.119)
    return HouseholdModel(lathe(profile, 16), (body,)).moved(rotation=LYING)


@household("adjustable wrench", (0.055, 0.205, 0.005), "#a8adb3", ycb="042", mass=0.252)
def adjustable_wrench() -> HouseholdModel:
    shaft = bar([(-0.008, -0.088), (0.008, -0.088), (0.010, 0.062), (-0.010, 0.062)], 0.005)
    ring = Outline.of(circle(0.0125, 12), circle(0.006, 8))
    eye = plate(ring, 0.005).moved((0.0, -0.0905, 0.0))
    fixed = bar([(-0.010, 0.050), (0.012, 0.050), (0.0275, 0.066), (0.022, 0.078), (0.004, 0.076), (0.002, 0.102), (-0.012, 0.090)], 0.005)
    jaw = bar([(0.020, 0.076), (0.0285, 0.072), (0.028, 0.094), (0.021, 0.100)], 0.005)
    return (shaft + eye + fixed + jaw).moved(rotation=yaw_quat(0.12))


def _screwdriver(tip: HouseholdModel) -> HouseholdModel:
    """A fluted grip, a shaft and a tip that begins at z = 0.205; all along z, then laid down."""
    grip = [Section(0.0, 0.009, 0.009), Section(0.004, 0.013, 0.013), Section(0.018, 0.0155, 0.0155), Section(0.070, 0.0155, 0.0155),
            Section(0.088, 0.010, 0.010), Section(0.098, 0.012, 0.012), Section(0.104, 0.008, 0.008)]  # fmt: skip
    shaft = drum(0.0032, 0.103, 0.102, segments=8)
    return (loft(grip, cuts=(4,), corners=12, crease=0.3, flats=True) + shaft + tip).moved(rotation=LYING)


@household("phillips screwdriver", (0.031, 0.215, 0.031), "#d8422e", ycb="043", mass=0.097)
def phillips_screwdriver() -> HouseholdModel:
    tip = lathe([(0.0, 0.200), (0.0040, 0.200), (0.0040, 0.207), (0.0012, 0.215), (0.0, 0.215)], 8)
    return _screwdriver(HouseholdModel(tip, (cylinder_piece(0.003, 0.012, (0.0, 0.0, 0.208)),)))


@household("flat screwdriver", (0.031, 0.215, 0.031), "#e0b12c", ycb="044", mass=0.0984)
def flat_screwdriver() -> HouseholdModel:
    spade = [(0.003, 0.003, 0.200), (0.006, 0.0008, 0.208), (0.005, 0.0005, 0.215)]  # a quarter of it
    return _screwdriver(convex([(i * x, j * y, z) for x, y, z in spade for i in (-1, 1) for j in (-1, 1)]))


@household("hammer", (0.135, 0.330, 0.032), "#c8502c", ycb="048", mass=0.665)
def hammer() -> HouseholdModel:
    # Published: a head 24 × 32 × 135; the handle is as long as such hammers have it.
    face = drum(0.016, 0.020, segments=16, bevel=0.002).moved((0.048, 0.0, 0.0), SIDEWAYS)
    neck = drum(0.010, 0.022, segments=12).moved((0.027, 0.0, 0.0), SIDEWAYS)
    cheek = block((0.040, 0.026, 0.026), (0.010, 0.0, 0.0))
    claws = [convex([(-0.010, y, z) for y in (-0.012, 0.012) for z in (s * 0.001, s * 0.012)]
                    + [(-0.040, y, s * z) for y in (-0.010, 0.004) for z in (0.004, 0.015)]
                    + [(-0.067, y, s * z) for y in (-0.020, -0.016) for z in (0.008, 0.016)]) for s in (-1, 1)]  # fmt: skip
    handle = [Section(0.0, 0.015, 0.014), Section(0.010, 0.017, 0.016), Section(0.100, 0.0165, 0.016), Section(0.125, 0.010, 0.010),
              Section(0.317, 0.010, 0.009)]  # fmt: skip
    grip = loft(handle, cuts=(3,), corners=8, squareness=2.6, flats=True).moved((0.010, -0.307, 0.0), LYING)
    return face + neck + cheek + claws[0] + claws[1] + grip


def _clamp() -> HouseholdModel:
    """A spring clamp: two levers crossed at a pivot, jaws at +y, grips at −y. 125 × 165 × 32 mm."""
    lever = [(0.010, -0.012), (0.030, -0.040), (0.046, -0.085), (0.0625, -0.083), (0.052, -0.038), (0.032, 0.004), (0.030, 0.030),
             (0.008, 0.072), (0.000, 0.066), (0.014, 0.026), (0.010, 0.006)]  # fmt: skip
    right = [[(0.018, -0.005), (0.030, -0.040), (0.046, -0.085), (0.0625, -0.083), (0.052, -0.038), (0.032, 0.004)],
             [(0.012, -0.004), (0.034, -0.004), (0.030, 0.030), (0.008, 0.072), (0.000, 0.066), (0.014, 0.026)]]  # fmt: skip
    jaw = [(0.001, 0.058), (0.016, 0.060), (0.012, 0.078), (0.001, 0.080)]
    outline = np.array(lever)
    pieces = [hull_piece([(s * x, y, z) for x, y in part for z in (-0.011, 0.011)]) for s in (-1, 1) for part in right]
    meshes = [HouseholdModel(prism(Outline.of(outline * [s, 1.0]), 0.022, bevel=0.002), ()) for s in (-1.0, 1.0)]
    pads = [bar(np.array(jaw) * [s, 1.0], 0.028) for s in (-1.0, 1.0)]
    pivot = drum(0.016, 0.032, -0.016, segments=14, bevel=0.002).moved((0.0, -0.004, 0.0))
    return meshes[0] + meshes[1] + HouseholdModel(pivot.mesh, (*pivot.pieces, *pieces)) + pads[0] + pads[1]


for _ycb, _name, _size, _mass, _colour in (
    ("050", "medium clamp", (0.090, 0.115, 0.027), 0.059, "#d8742a"),
    ("051", "large clamp", (0.125, 0.165, 0.032), 0.125, "#3a3a40"),
    ("052", "extra large clamp", (0.165, 0.213, 0.037), 0.202, "#26262a"),
):
    household(_name, _size, _colour, ycb=_ycb, mass=_mass)(_clamp)


@household("chain", (0.110, 0.120, 0.018), "#b0b4b8", ycb="059", mass=0.098)
def chain() -> HouseholdModel:
    # The first links of 1149 mm, in a spiral walked in steps of one link, every other on edge.
    turn = [0.0]
    while len(turn) < 11:
        turn.append(turn[-1] + 0.0245 / (0.022 + 0.0065 * turn[-1]))
    radius = 0.022 + 0.0065 * np.array(turn)
    centres = radius[:, None] * arithmetic.circle(turn)
    headings = arithmetic.arctan2(*np.gradient(centres, axis=0).T[::-1])
    links = [_link(centre, float(yaw), flat=i % 2 == 0) for i, (centre, yaw) in enumerate(zip(centres, headings, strict=True))]
    pairs = [hull_of(np.vstack([link.vertices for link in links[i : i + (3 if i == 8 else 2)]])) for i in range(0, 10, 2)]
    return HouseholdModel(merge(links), tuple(pairs))


def _link(centre: Array, yaw: float, flat: bool) -> Mesh:
    oval = np.array([(0.0155, 0.0), (0.009, 0.0065), (-0.009, 0.0065), (-0.0155, 0.0), (-0.009, -0.0065), (0.009, -0.0065)])
    across = np.zeros(6)
    points = np.column_stack([oval, across]) if flat else np.column_stack([oval[:, 0], across, oval[:, 1]])
    return tube(points, 0.0025, 3, closed=True).moved((*centre.tolist(), 0.0), yaw_quat(yaw))
