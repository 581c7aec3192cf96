"""Fruit."""

from __future__ import annotations

import math

import numpy as np

from etude.arithmetic import circle
from etude.catalog.household.forms import HouseholdModel, household, hull_of, shaded, skin, spun
from etude.catalog.mesh import lathe, prism
from etude.catalog.polygon import Outline
from etude.catalog.shape import Piece, cylinder_piece
from etude.pose import Array


def _stem(height: float, radius: float = 0.0018) -> HouseholdModel:
    mesh = lathe([(0.0, 0.0), (radius, 0.0), (1.3 * radius, height), (0.0, height)], 6)
    return HouseholdModel(mesh, (cylinder_piece(radius, height, (0.0, 0.0, height / 2)),))


def _creased(radius: float, depth: float, rings: int = 9, segments: int = 20) -> tuple[Array, Array]:
    """A ball with the groove that stone fruit has from stem to tip: vertices (N, 3) and faces (M, 3)."""
    points = [(0.0, 0.0, -radius)]
    for level in np.linspace(-math.pi / 2, math.pi / 2, rings + 1)[1:-1]:
        for turn in np.arange(segments) * (2 * math.pi / segments):
            away = (turn + math.pi) % (2 * math.pi) - math.pi
            r = radius * math.cos(level) * (1 - depth * math.exp(-((away / 0.32) ** 2)))
            points.append((r * math.cos(turn), r * math.sin(turn), radius * math.sin(level)))
    points.append((0.0, 0.0, 0.90 * radius))
    faces = []
    for s in range(segments):
        t = (s + 1) % segments
        faces.append((0, 1 + t, 1 + s))
        for ring in range(rings - 2):
            a, b = 1 + ring * segments, 1 + (ring + 1) * segments
            faces += [(a + s, a + t, b + t), (a + s, b + t, b + s)]
        last = 1 + (rings - 2) * segments
        faces.append((last + s, last + t, len(points) - 1))
    ball = np.array(points)
    lower, upper = ball.min(0), ball.max(0)
    return (2 * ball - lower - upper) * (radius / (upper - lower)), np.array(faces)


@household("banana", (0.070, 0.190, 0.036), "#f5d536", ycb="011", mass=0.066)
def banana() -> HouseholdModel:
    # Published: 36 mm thick and 190 mm long; it lies on its side and bends along x.
    turn = np.radians(np.array([-52, -47, -40, -27, -10, 10, 27, 39, 45, 52]))
    radius = np.array([0.004, 0.008, 0.0135, 0.0175, 0.0190, 0.0190, 0.0170, 0.0110, 0.0050, 0.0042])
    bend = 0.112
    aside, up = (np.outer(radius, side) for side in circle(np.radians(np.arange(0, 360, 60))).T)
    up += math.sin(math.pi / 3) * np.maximum(radius, 0.0110)[:, None]  # flat underneath
    x, y = circle(turn).T[:, :, None] * (bend + aside)
    return skin(np.stack([-x, y, up], -1), cuts=(3, 5, 7), crease=math.radians(65))


@household("strawberry", (0.0438, 0.0438, 0.055), "#d8232f", ycb="012", mass=0.018, symmetry=6)
def strawberry() -> HouseholdModel:
    # It stands on its leaves, tip up.
    berry = spun(
        [(0.0, 0.002), (0.014, 0.002), (0.0205, 0.010), (0.0215, 0.018), (0.016, 0.035), (0.008, 0.049), (0.0, 0.055)], segments=18
    )
    angle = np.arange(12) * (math.pi / 6)
    star = circle(angle) * np.where(np.arange(12) % 2, 0.009, 0.0219)[:, None]
    leaves = prism(Outline.of(star), 0.003, 0.0015)
    return berry + HouseholdModel(leaves, (hull_of(leaves.vertices),))


@household("apple", (0.075, 0.075, 0.075), "#c32d2a", ycb="013", mass=0.068, symmetry=0)
def apple() -> HouseholdModel:
    profile = [
        (0.0, 0.006), (0.008, 0.003), (0.015, 0.0), (0.027, 0.008), (0.0355, 0.024), (0.0375, 0.042), (0.032, 0.060),
        (0.020, 0.069), (0.009, 0.067), (0.0, 0.058),
    ]  # fmt: skip
    return spun(profile, segments=20) + _stem(0.019).moved((0.0, 0.0, 0.056))


@household("lemon", (0.054, 0.068, 0.054), "#f4e04d", ycb="014", mass=0.029)
def lemon() -> HouseholdModel:
    profile = [(0.0, -0.034), (0.004, -0.0335), (0.008, -0.030), (0.019, -0.022), (0.0255, -0.010), (0.027, 0.0), (0.0255, 0.010),
               (0.019, 0.022), (0.009, 0.029), (0.005, 0.033), (0.0, 0.034)]  # fmt: skip
    lying = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)
    return HouseholdModel(lathe(profile, 20).moved(rotation=lying), (Piece("ellipsoid", (0.027, 0.034, 0.027)),))


@household("peach", (0.059, 0.059, 0.059), "#f0a35e", ycb="015", mass=0.033)
def peach() -> HouseholdModel:
    points, faces = _creased(0.0295, 0.20)
    points[:, 2] = np.maximum(points[:, 2], -0.0270)  # ripe fruit does not roll
    return HouseholdModel(shaded(points, faces), (hull_of(points),))


@household("pear", (0.0662, 0.0662, 0.100), "#b9c24a", ycb="016", mass=0.049, symmetry=0)
def pear() -> HouseholdModel:
    profile = [(0.0, 0.003), (0.015, 0.0), (0.026, 0.008), (0.0331, 0.028), (0.030, 0.046), (0.021, 0.063), (0.0165, 0.078),
               (0.012, 0.087), (0.0, 0.089)]  # fmt: skip
    return spun(profile, cuts=(5,), segments=20) + _stem(0.013).moved((0.0, 0.0, 0.087))


@household("orange", (0.073, 0.073, 0.073), "#f28c1e", ycb="017", mass=0.047, symmetry=0)
def orange() -> HouseholdModel:
    level = np.radians([-90, -68, -45, -22, 0, 22, 45, 66, 80])
    profile = [(0.0365 * math.cos(t), 0.0365 * math.sin(t)) for t in level]
    profile[0] = (0.0, -0.0365)
    mesh = lathe([*profile[:-1], (0.006, 0.0365), (0.003, 0.0345), (0.0, 0.0345)], 20)
    return HouseholdModel(mesh, (Piece("sphere", (0.0365, 0.0, 0.0)),))


@household("plum", (0.052, 0.052, 0.052), "#5a2a4f", ycb="018", mass=0.025)
def plum() -> HouseholdModel:
    points, faces = _creased(0.026, 0.14, segments=16)
    return HouseholdModel(shaded(points, faces), (Piece("sphere", (0.026, 0.0, 0.0)),))
