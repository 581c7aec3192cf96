"""Balls and marbles: they collide as spheres and roll."""

from __future__ import annotations

import math

import numpy as np

from etude.arithmetic import arctan2, circle, cross, dots, norms, unit
from etude.catalog.household.forms import HouseholdModel, household, icosphere, shaded
from etude.catalog.mesh import Mesh, ellipsoid, merge, tube
from etude.catalog.shape import Piece


def _ball(mesh: Mesh) -> HouseholdModel:
    return HouseholdModel(mesh, (Piece("sphere", (float(mesh.bounds[1].min()), 0.0, 0.0)),))


def _seam(radius: float, thickness: float) -> Mesh:
    """The one closed line that parts the two hides of a baseball; it keeps clear of the axes, where it would thicken the bounding box."""
    t = np.arange(28) * (2 * math.pi / 28)
    a, b = 0.75, 0.25
    (c, s), (c3, s3), (_, s2) = (circle(n * t).T for n in (1, 3, 2))
    x, y, z = a * c + b * c3, a * s - b * s3, 2 * math.sqrt(a * b) * s2
    d = math.sqrt(0.5)
    line = np.column_stack([d * (x - y), d * (x + y), z])
    return tube(radius * line / norms(line)[:, None], thickness, 3, closed=True)


def _plain(radius: float, segments: int) -> HouseholdModel:
    return _ball(ellipsoid((radius, radius, radius), segments))


def _seamed(radius: float, thickness: float) -> HouseholdModel:
    return _ball(merge([ellipsoid((radius, radius, radius), 16), _seam(radius, thickness)]))


@household("mini soccer ball", (0.140, 0.140, 0.140), "#e6e6e6", ycb="053", mass=0.123)
def mini_soccer_ball() -> HouseholdModel:
    """A truncated icosahedron: every pentagon and hexagon is a slightly domed panel of its own."""
    corners, faces = icosphere(0)
    edge = {}
    for face in faces.tolist():
        for i in range(3):
            for p, q in ((face[i], face[i - 1]), (face[i - 1], face[i])):
                edge[p, q] = (2 * corners[p] + corners[q]) / 3
    panels = [np.array([edge[p] for p in ((a, b), (b, a), (b, c), (c, b), (c, a), (a, c))]) for a, b, c in faces.tolist()]
    for i, centre in enumerate(corners):
        ring = np.array([point for (p, _), point in edge.items() if p == i])
        side = cross(centre, (0.31, 0.52, 0.79))
        up = cross(centre, side)
        panels.append(ring[np.argsort(arctan2(dots(ring, up), dots(ring, side)), kind="stable")])
    parts = []
    for panel in panels:
        middle = panel.mean(0)
        fan = np.vstack([panel / norms(panel)[:, None], unit(middle)])
        n = len(panel)
        triangles = [(i, (i + 1) % n, n) for i in range(n)]
        parts.append(shaded(0.07 * fan, triangles, math.pi))
    return _ball(merge(parts))


household("softball", (0.096, 0.096, 0.096), "#e3e34a", ycb="054", mass=0.191)(lambda: _seamed(0.048, 0.0012))
household("baseball", (0.075, 0.075, 0.075), "#f1ede2", ycb="055", mass=0.148)(lambda: _seamed(0.0375, 0.0010))
household("tennis ball", (0.0647, 0.0647, 0.0647), "#cfe03a", ycb="056", mass=0.058)(lambda: _seamed(0.03235, 0.0007))
household("racquetball", (0.0553, 0.0553, 0.0553), "#2f5fc0", ycb="057", mass=0.041, symmetry=0)(lambda: _plain(0.02765, 20))
household("marbles a", (0.025, 0.025, 0.025), "blue swirl", ycb="063-a", mass=0.020, symmetry=0)(lambda: _plain(0.0125, 16))
household("marbles b", (0.016, 0.016, 0.016), "green swirl", ycb="063-b", mass=0.0053, symmetry=0)(lambda: _plain(0.008, 12))


@household("golf ball", (0.0427, 0.0427, 0.0427), "#f4f4f2", ycb="058", mass=0.046)
def golf_ball() -> HouseholdModel:
    points, faces = icosphere(2)
    return _ball(shaded(0.02135 * points, faces, crease=0.0))  # facets for dimples
