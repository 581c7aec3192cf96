"""Free places on the table of an episode: away from everything, however large factors make it, and from where anything must go."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from etude.arithmetic import norms
from etude.catalog.polygon import hull, separation
from etude.episodes import Episode
from etude.goals.adapting import Room
from etude.goals.goal import Goal, every
from etude.names import EtudeError, Stream
from etude.perturb.sizes import LARGEST
from etude.pose import Array, Vec2
from etude.scene.outlines import disc, extent, fixture_points, frame_of
from etude.scene.scene import Fixture

APART = 0.05  # m from everything else (The Colosseum)
BASE_ROOM = 0.2  # m about the robot's base that stays free


def free_place(
    radius: float, crowd: Crowd, box: tuple[Vec2, Vec2], counts: Sequence[int], stream: Stream
) -> tuple[float, float, float] | None:
    """A place (x, y, yaw) for a disc in a box, from so many that are drawn, a few first; None where there is none."""
    lower, upper = box
    yaw = stream.uniform(-math.pi, math.pi)
    if any(b - a < 2 * radius for a, b in zip(lower, upper, strict=True)):
        return None
    for count in counts:
        points = np.column_stack([stream.uniforms(a + radius, b - radius, count) for a, b in zip(lower, upper, strict=True)])
        points = crowd.kept_off(points, radius + APART)
        if len(points):
            x, y = points[0].round(6).tolist()
            return x, y, yaw
    return None


class Crowd:
    """Convex rings (K, 2) that something shall keep away from."""

    def __init__(self, rings: Sequence[Array]) -> None:
        self.rings = rings
        self._starts = np.vstack(rings)
        self._along = np.vstack([np.roll(ring, -1, axis=0) for ring in rings]) - self._starts
        self._squares = np.maximum((self._along * self._along).sum(1), 1e-18)
        self._firsts = np.cumsum([0, *(len(ring) for ring in rings[:-1])])
        # A disc inside each ring: what is too near to that need not be looked at more closely.
        self._middles = np.array([ring.mean(0) for ring in rings])
        sizes = [len(ring) for ring in rings]
        normals = np.column_stack([-self._along[:, 1], self._along[:, 0]]) / np.sqrt(self._squares)[:, None]
        depths = ((np.repeat(self._middles, sizes, axis=0) - self._starts) * normals).sum(1)
        self._inner = np.maximum(0.0, np.minimum.reduceat(depths, self._firsts) - 1e-9)

    def kept_off(self, points: Array, least: float) -> Array:
        """Those of the points (N, 2) that are at least so far from every ring, metres."""
        apart = norms(points[:, None] - self._middles)
        points = points[(apart >= self._inner + least).all(1)]
        return points[self._away(points) >= least] if len(points) else points

    def _away(self, points: Array) -> Array:
        """How far points (N, 2) are from the nearest ring, (N,) metres; 0 inside of one."""
        offset = points[:, None] - self._starts
        share = np.clip((offset * self._along).sum(2) / self._squares, 0.0, 1.0)
        nearest = norms(offset - share[:, :, None] * self._along).min(1)
        left = self._along[:, 0] * offset[:, :, 1] - self._along[:, 1] * offset[:, :, 0] >= 0
        inside = np.logical_and.reduceat(left, self._firsts, axis=1).any(1)
        return np.where(inside, 0.0, nearest)


def taken(episode: Episode, factor: str) -> list[Array]:
    """Outlines (K, 2) of everything there is, and of every place where the goal wants something. Refused where a goal does not say."""
    try:
        return [*_occupied(episode), *episode.goal.destinations(Room(episode.scene, LARGEST))]
    except EtudeError as error:
        raise type(error)(f"{factor}: {error}") from None


def _occupied(episode: Episode) -> Iterator[Array]:
    """Outlines of everything, as large as factors of size may make it, and with the drawers and doors of the goal both shut and open."""
    scene = episode.scene
    rings = {e.name: _swept(e, episode.goal) if isinstance(e, Fixture) else extent(e).ring for e in scene.entities}
    yield from rings.values()
    for name in dict.fromkeys(thing.partition("/")[0] for _, thing in episode.roles):
        middle = np.asarray(frame_of(scene, name).position[:2])
        for ring in rings.values():
            if separation(ring, rings[name]) < 0.0:  # itself, and what may rest on it or in it
                yield middle + LARGEST * (ring - middle)
    if scene.robot is not None:
        x, y, _ = scene.robot.base.position
        yield disc(x, y, BASE_ROOM)


def _swept(fixture: Fixture, goal: Goal) -> Array:
    """Where it is now, and at both ends of those joints that the goal is about."""
    wanted = {getattr(part, "joint", "") for part in every(goal, Goal)}
    moved = [p for p in fixture.jointed() if f"{fixture.name}/{p.name}" in wanted]
    now = dict(zip([p.name for p in fixture.jointed()], fixture.joints or (0.0,) * len(fixture.jointed()), strict=True))
    values = [now] + [now | {p.name: p.joint.range[k] for p in moved if p.joint is not None} for k in (0, 1) if moved]
    return hull(np.vstack([fixture_points(fixture, tuple(v.values()))[:, :2] for v in values]))
