"""Finding free places on a surface: analytic, seeded, and loud when there is no room."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.arithmetic import norms
from etude.catalog.polygon import circle, hull
from etude.catalog.shape import Shape
from etude.names import EtudeError, Stream
from etude.pose import IDENTITY, Array, Pose, Quat, Vec2, multiply, yaw_quat

RANDOM_TRIES = 100
GRID = 20  # when luck runs out, this many rows and columns are searched
GRID_YAWS = 6
FULL_TURN = (0.0, 2 * math.pi)


class NoRoom(EtudeError):
    """There is no free place left."""


@dataclass(frozen=True, eq=False)
class Taken:
    """A convex outline (K, 2) metres that is already occupied, with the circle around it: its middle and radius (3,) metres."""

    name: str
    outline: Array
    circle: Array

    @classmethod
    def of(cls, name: str, outline: Array) -> Taken:
        """An occupied outline."""
        from etude.catalog.apart import circle_around  # compiled: loaded where something is placed, not with this module

        return cls(name, outline, circle_around(outline))


@dataclass
class Layout:
    """A rectangle of table that fills up.

    ``lower`` and ``upper`` are its corners (x, y) in metres, ``height`` the surface, ``clearance`` the gap to keep between footprints.
    Every footprint is convex: what stands in the bay of a C or under a handle is not allowed for.
    """

    stream: Stream
    lower: Vec2
    upper: Vec2
    height: float = 0.0
    clearance: float = 0.01
    taken: list[Taken] = field(default_factory=list)

    def block(self, name: str, outline: ArrayLike) -> None:
        """Declare a convex outline (K, 2) occupied."""
        self.taken.append(Taken.of(name, hull(outline)))

    def block_disc(self, name: str, centre: Vec2, radius: float) -> None:
        """Declare a disc occupied, e.g. around the base of the robot."""
        self.block(name, circle(radius / math.cos(math.pi / 16), 16) + np.asarray(centre))

    def put(self, name: str, shape: Shape, pose: Pose, clearance: float = 0.0) -> Pose:
        """Declare the place of a shape whose pose is given; refused if it meets something, or has less than the ``clearance`` to it."""
        new = Taken.of(name, shape.outline(pose.rotation) + np.asarray(pose.position[:2]))
        hit = self._met(new, clearance)
        if hit is not None:
            raise EtudeError(f"{name!r} cannot stand at ({pose.position[0]:.3f}, {pose.position[1]:.3f}): it would meet {hit!r}")
        self.taken.append(new)
        return pose

    def place(
        self,
        name: str,
        shape: Shape,
        yaw: tuple[float, float] = FULL_TURN,
        rotation: Quat = IDENTITY,
        clearance: float | None = None,
        inside: bool = True,
    ) -> Pose:
        """Find a free place for a shape and take it.

        ``yaw`` is the range of headings (rad), ``rotation`` how it lies before it is turned (see ``Shape.rests``); with ``inside`` the
        whole footprint stays within the rectangle, otherwise only its origin does.
        """
        from etude.catalog.apart import circle_around, first_met, stood, within

        gap = self.clearance if clearance is None else clearance
        footprint, lift = shape.outline(rotation), shape.lift(rotation)
        there = _together(self.taken)
        for x, y, angle in self._candidates(footprint, yaw, inside):
            outline = stood(footprint, x, y, math.cos(angle), math.sin(angle))
            if inside and not within(outline, *self.lower, *self.upper):
                continue
            circle = circle_around(outline)
            if first_met(outline, circle, *there, gap) < 0:
                self.taken.append(Taken(name, outline, circle))
                return Pose.of((x, y, self.height + lift), multiply(yaw_quat(angle), rotation))
        width, depth = (footprint.max(0) - footprint.min(0)).tolist()
        raise NoRoom(
            f"no room for {name!r} ({width:.3f} × {depth:.3f} m) in x {self.lower[0]:g}…{self.upper[0]:g}, "
            f"y {self.lower[1]:g}…{self.upper[1]:g} m "
            f"beside {len(self.taken)} other things with {1000 * gap:.0f} mm between them; use fewer or smaller things, or a larger area"
        )

    def _candidates(self, footprint: Array, yaw: tuple[float, float], inside: bool) -> Iterator[tuple[float, float, float]]:
        """Random places first, then a shuffled grid, so that a crowded table fails only when it is really full."""
        (x0, y0), (x1, y1) = self.lower, self.upper
        margin = float(np.min(norms(footprint))) * 0.5 if inside else 0.0
        margin = max(0.0, min(margin, (x1 - x0) / 2, (y1 - y0) / 2))
        x0, y0, x1, y1 = x0 + margin, y0 + margin, x1 - margin, y1 - margin
        draw = self.stream.uniform
        for _ in range(RANDOM_TRIES):
            yield draw(x0, x1), draw(y0, y1), draw(*yaw)
        columns, rows = (np.linspace(a, b, GRID).tolist() for a, b in ((x0, x1), (y0, y1)))
        yaws = np.linspace(*yaw, GRID_YAWS, endpoint=False).tolist()
        yield from self.stream.shuffled([(x, y, angle) for x in columns for y in rows for angle in yaws])

    def _met(self, new: Taken, gap: float) -> str | None:
        from etude.catalog.apart import first_met

        number = first_met(new.outline, new.circle, *_together(self.taken), gap)
        return self.taken[number].name if number >= 0 else None


def _together(taken: Sequence[Taken]) -> tuple[Array, NDArray[np.int64], Array]:
    """Corners (N, 2) of all outlines, where each begins, and their circles (n, 3)."""
    starts = np.cumsum([0, *(len(one.outline) for one in taken)])
    return (
        np.concatenate([np.empty((0, 2)), *(one.outline for one in taken)]),
        starts,
        np.array([one.circle for one in taken]).reshape(-1, 3),
    )
