"""Claims about convex hulls in space, above all of points that line up."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from etude.catalog.convex import STEPS, Hull, _above, convex_hull
from etude.catalog.shape import Piece
from etude.pose import matrix

CUBE = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
LATTICE = np.array(list(itertools.product(range(4), repeat=3)), float)
TURN = matrix(np.array([0.83, -0.21, 0.37, 0.36]) / math.sqrt(0.83**2 + 0.21**2 + 0.37**2 + 0.36**2))

lattice_points = st.lists(st.sampled_from(LATTICE.tolist()), min_size=1, max_size=40)


def volume(points: np.ndarray, hull: Hull) -> float:
    a, b, c = (points[hull.triangles[:, i]] - points.mean(0) for i in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


def is_closed_and_convex(points: np.ndarray, hull: Hull) -> bool:
    """Euler's formula holds, every edge has one face on either side, and no point is outside a face."""
    edges = [(int(f[i - 1]), int(f[i])) for f in hull.faces for i in range(len(f))]
    assert len(set(edges)) == len(edges) and set(edges) == {(b, a) for a, b in edges}
    assert len(hull.vertices) - len(edges) / 2 + len(hull.faces) == 2
    outside = max(float(((points - points[f[0]]) @ n).max()) for f, n in zip(hull.faces, hull.normals, strict=True))
    return outside < 1e-9 * float(np.ptp(points, axis=0).max())


def test_the_volume_is_that_of_the_facets_found_by_trying_every_three_points() -> None:
    points = np.random.default_rng(3).normal(size=(14, 3))
    expected, middle = 0.0, points.mean(0)
    for a, b, c in itertools.combinations(points, 3):
        normal = np.cross(b - a, c - a)
        side = (points - a) @ normal
        if (side <= 1e-12).all() or (side >= -1e-12).all():
            expected += abs(float((a - middle) @ normal)) / 6
    assert volume(points, convex_hull(points)) == pytest.approx(expected, rel=1e-12)


@given(lattice_points, st.booleans())
@settings(max_examples=150, deadline=None)
def test_points_of_a_lattice_have_the_corners_that_qhull_finds(chosen: list[list[float]], turned: bool) -> None:
    points = np.array(chosen)
    if np.linalg.matrix_rank(points - points[0]) < 3:
        with pytest.raises(ValueError, match="one plane"):
            convex_hull(points @ TURN.T * 0.03 if turned else points)
        return
    expected = ConvexHull(points)
    first = [int(np.flatnonzero((points == points[v]).all(1))[0]) for v in expected.vertices]  # of points that stand there twice
    points = points @ TURN.T * 0.03 + [0.5, -2.0, 1.0] if turned else points
    hull = convex_hull(points)
    assert hull.vertices.tolist() == sorted(first)
    assert is_closed_and_convex(points, hull)
    assert volume(points, hull) == pytest.approx(expected.volume * (0.03**3 if turned else 1.0), rel=1e-9)
    planes = {tuple(np.round(e, 6)) for e in expected.equations}
    assert len(hull.faces) == len(planes)


@pytest.mark.parametrize("turn", [np.eye(3), TURN])
def test_a_lattice_has_six_square_faces_and_no_corner_in_their_middle(turn: np.ndarray) -> None:
    hull = convex_hull(LATTICE @ turn.T)
    assert [len(f) for f in hull.faces] == [4] * 6
    assert hull.vertices.tolist() == [i for i, p in enumerate(LATTICE) if set(p) <= {0.0, 3.0}]


@pytest.mark.parametrize("turn", [np.eye(3), TURN])
def test_a_round_body_has_rings_of_flat_faces(turn: np.ndarray) -> None:
    cylinder = Piece("cylinder", (0.1, 0.2, 0.0)).support() @ turn.T
    assert sorted(len(f) for f in convex_hull(cylinder).faces) == [4] * 24 + [24, 24]
    ball = Piece("sphere", (0.1, 0.0, 0.0)).support() @ turn.T  # 24 points on each pole
    hull = convex_hull(ball)
    assert len(hull.vertices) == 11 * 24 + 2
    assert sorted(len(f) for f in hull.faces) == [3] * 48 + [4] * 240
    assert is_closed_and_convex(ball, hull)


def test_many_points_on_a_sphere_are_all_corners() -> None:
    points = np.random.default_rng(5).normal(size=(400, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    hull = convex_hull(points)
    assert len(hull.vertices) == 400 and is_closed_and_convex(points, hull)
    assert volume(points, hull) == pytest.approx(ConvexHull(points).volume, rel=1e-12)


def test_rounding_to_nanometres_leaves_a_closed_surface() -> None:
    for k in range(20):
        points = np.round(Piece("capsule", (0.02, 0.05, 0.0)).support() @ TURN.T * (1 + k / 7), 9)
        assert is_closed_and_convex(points, convex_hull(points))


@pytest.mark.parametrize(
    "points",
    [CUBE[:3], CUBE[:4], [(t, 2 * t, -t) for t in range(9)], np.ones((7, 3)), np.column_stack([LATTICE[:, :2], LATTICE[:, :2].sum(1)]) / 3],
    ids=["three points", "a square", "a line", "one point", "a slanted plane"],
)
def test_flat_points_are_refused(points: np.ndarray) -> None:
    with pytest.raises(ValueError, match="one plane"):
        convex_hull(points)


whole = st.integers(0, int(STEPS))


@given(st.lists(st.tuples(whole, whole, whole), min_size=4, max_size=4), st.integers(-1, 1))
@settings(deadline=None)
def test_the_side_of_a_plane_is_exact(points: list[tuple[int, int, int]], off: int) -> None:
    a, b, c, d = points
    if off < 1:  # nearly in the plane: a step beside the middle of a and b
        d = ((a[0] + b[0]) // 2, (a[1] + b[1]) // 2, max((a[2] + b[2]) // 2 + off, 0))
    (ux, uy, uz), (vx, vy, vz), (wx, wy, wz) = ([int(q[i]) - a[i] for i in range(3)] for q in (b, c, d))
    determinant = wx * (uy * vz - uz * vy) + wy * (uz * vx - ux * vz) + wz * (ux * vy - uy * vx)
    assert _above(np.array([a, b, c, d]), 0, 1, 2, 3) == (determinant > 0) - (determinant < 0)
