"""Claims about plane geometry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from etude.catalog.drawing import arc, bar, disc, slant, together
from etude.catalog.polygon import (
    Outline,
    area,
    circle,
    contains,
    convex_pieces,
    hull,
    rectangle,
    rim_distance,
    rounded,
    separation,
    triangulate,
    union,
)

radii = st.lists(st.floats(0.2, 1.0), min_size=3, max_size=14)
places = st.tuples(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
quick = settings(max_examples=60, deadline=None)


def star_shaped(lengths: list[float]) -> np.ndarray:
    """A polygon whose corners go once around the origin."""
    return circle(1.0, len(lengths)) * np.array(lengths)[:, None]


def outline_area(outline: Outline) -> float:
    return sum(area(r) for r in outline.rings)


def triangle_areas(outline: Outline) -> np.ndarray:
    triangles, corners = triangulate(outline)
    return np.array([area(corners[t]) for t in triangles])


@quick
@given(radii)
def test_triangles_fill_the_polygon_exactly(lengths):
    ring = star_shaped(lengths)
    areas = triangle_areas(Outline.of(ring))
    assert areas.min() > -1e-12
    assert areas.sum() == pytest.approx(area(ring), rel=1e-9)


@quick
@given(radii, st.integers(3, 9), places)
def test_triangles_leave_holes_open(lengths, corners, at):
    ring = star_shaped([1.0 + x for x in lengths])
    holes = [circle(0.12, corners) + np.array([0.2, 0.0]), circle(0.1, corners) * 0.8 - np.array([0.2, 0.05 * at[0]])]
    for hole in holes:
        assume(contains(Outline.of(ring), hole).all())
        assume(rim_distance(Outline.of(ring), hole).min() > 0.01)
    outline = Outline.of(ring, *holes)
    areas = triangle_areas(outline)
    assert areas.min() > -1e-12
    assert areas.sum() == pytest.approx(outline_area(outline), rel=1e-9)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.integers(3, 8), st.floats(0.05, 0.45), st.floats(0, 6)), min_size=9, max_size=9))
def test_a_board_full_of_holes_is_filled_between_them(holes):
    rings = [circle(r, n, turn) + np.array([k % 3, k // 3]) for k, (n, r, turn) in enumerate(holes)]
    outline = Outline.of(rectangle(4, 4) + np.array([1.0, 1.0]), *rings)
    areas = triangle_areas(outline)
    assert areas.min() > -1e-12
    assert areas.sum() == pytest.approx(outline_area(outline), rel=1e-9)
    assert sum(area(p) for p in convex_pieces(outline)) == pytest.approx(outline_area(outline), rel=1e-6)


@quick
@given(radii)
def test_convex_pieces_are_convex_and_fill_the_polygon(lengths):
    ring = star_shaped(lengths)
    pieces = convex_pieces(Outline.of(ring))
    for piece in pieces:
        a, b, c = np.roll(piece, 1, axis=0), piece, np.roll(piece, -1, axis=0)
        turns = (b[:, 0] - a[:, 0]) * (c[:, 1] - b[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - b[:, 0])
        assert turns.min() > -1e-9
    assert sum(area(p) for p in pieces) == pytest.approx(area(ring), rel=1e-6)


@quick
@given(st.lists(places, min_size=3, max_size=9), st.lists(places, min_size=3, max_size=9), places)
def test_the_sign_of_separation_says_whether_polygons_meet(first, second, shift):
    a, b = hull(first), hull(np.array(second) + shift)
    assume(len(a) > 2 and len(b) > 2 and area(a) > 0.05 and area(b) > 0.05)
    gap = separation(a, b)
    assume(abs(gap) > 0.02)
    steps = np.linspace(0, 1, 21)
    weights = np.array([(u, v) for u in steps for v in steps])

    def spread(p: np.ndarray) -> np.ndarray:
        """Points all over the polygon: on the segments between its centre and its rim."""
        t = weights[:, 1] * len(p)
        i = np.minimum(t.astype(int), len(p) - 1)
        rim = p[i] + (t - i)[:, None] * (p[(i + 1) % len(p)] - p[i])
        return p.mean(0) + weights[:, :1] * (rim - p.mean(0))

    def inside(p: np.ndarray, q: np.ndarray, slack: float) -> bool:
        edges = np.roll(p, -1, axis=0) - p
        normals = np.stack([edges[:, 1], -edges[:, 0]], 1) / np.linalg.norm(edges, axis=1, keepdims=True)
        return bool(np.any(np.all(q @ normals.T - np.einsum("ij,ij->i", p, normals) < slack, axis=1)))

    meets = inside(a, spread(b), 0.0) or inside(b, spread(a), 0.0)
    if gap > 0:
        assert not meets
    elif gap < -0.2:  # deep enough for the sampled points to find it
        assert meets


def test_separation_is_the_gap_or_the_depth():
    square = rectangle(1, 1)
    assert separation(square, square + [1.25, 0.0]) == pytest.approx(0.25)  # noqa: RUF005
    assert separation(square, square + [0.9, 0.3]) == pytest.approx(-0.1)  # noqa: RUF005


@quick
@given(st.lists(st.tuples(places, st.floats(0.2, 1.0), st.floats(0.2, 1.0)), min_size=2, max_size=5), st.floats(0, 3))
def test_a_union_covers_what_its_parts_cover(rectangles, turn):
    c, s = math.cos(turn), math.sin(turn)
    parts = [Outline.of(rectangle(3, 0.4) @ np.array([[c, s], [-s, c]]))]  # long enough to hold the others together
    parts += [Outline.of(rectangle(w, d) + np.array([0.5 * at[0] * c - 0.1 * s, 0.5 * at[0] * s + 0.1 * c])) for at, w, d in rectangles]
    whole = union(parts)
    points = np.random.default_rng(0).uniform(-2, 2, (2000, 2))
    wanted = np.any([contains(p, points) for p in parts], axis=0)
    clear = np.min([rim_distance(p, points) for p in parts], axis=0) > 1e-5
    assert np.array_equal(contains(whole, points)[clear], wanted[clear])


def test_a_union_joins_along_shared_edges_and_keeps_holes():
    ring = union(
        [Outline.of(rectangle(3, 1) + np.array(p)) for p in ((0, -1), (0, 1))]
        + [Outline.of(rectangle(1, 1) + np.array(p)) for p in ((-1, 0), (1, 0))]
    )
    assert [len(r) for r in ring.rings] == [4, 4]
    assert outline_area(ring) == pytest.approx(8)


def test_a_union_of_distant_things_is_refused():
    with pytest.raises(ValueError, match="2 separate figures"):
        union([Outline.of(rectangle(1, 1)), Outline.of(rectangle(1, 1) + np.array([3, 0]))])


def test_a_hole_outside_its_outline_is_refused():
    with pytest.raises(ValueError, match="hole"):
        triangulate(Outline.of(rectangle(1, 1), rectangle(0.2, 0.2) + np.array([2.0, 0.0])))


def test_a_rounded_ring_keeps_its_extents_and_skips_corners_that_do_not_turn():
    ring = rounded([(-1, -1), (0, -1), (1, -1), (1, 1), (-1, 1)], 0.2)
    assert np.allclose(np.ptp(ring, axis=0), 2)
    assert np.linalg.norm(np.diff(ring, axis=0), axis=1).min() > 1e-6


def test_strokes_join_to_one_drawing_with_a_hole():
    letter = together([bar(0, 0, 0.2, 1), arc((0.4, 0.7), (0.3, 0.3), (0.1, 0.1), -90, 90), bar(0.1, 0.4, 0.4, 0.6), bar(0.1, 0.8, 0.4, 1)])
    assert len(letter.outline.rings) == 2
    assert len(together([disc(0, 0, 1), slant((0, 0), (1, 2), 0.5)]).outline.rings) == 1
