"""What goals look at: the state of a world after a control step, each fact worked out at most once."""

from __future__ import annotations

import math

from etude.arithmetic import norm
from etude.catalog.registry import shape
from etude.catalog.shape import Shape
from etude.compiled import compiled
from etude.names import EtudeError
from etude.pose import Array, Pose, Vec3
from etude.scene.contacts import FAINT
from etude.scene.manipulator import Manipulator
from etude.scene.materials import CONTROL_PERIOD
from etude.scene.scene import Body
from etude.scene.world import World

GRAVITY = 9.81
STATIC_SPEED = 1e-3  # m/s (ClevrSkills 1.1)
STATIC_SPIN = 1e-2  # rad/s


@compiled
def _apart(now: Array, before: Array, row: int) -> float:
    """The length of the difference between two rows."""
    total = 0.0
    for k in range(now.shape[1]):
        difference = now[row, k] - before[row, k]
        total += difference * difference
    return math.sqrt(total)


class Watch:
    """One look at a world. Positions in metres, world frame."""

    def __init__(self, world: World, before: Watch | None = None) -> None:
        self.world = world
        # Copies: MuJoCo's own arrays change with the next step.
        self.places: tuple[Array, Array] = (world.data.xpos.copy(), world.data.xmat.copy())
        self.earlier = before.places if before is not None else None
        self.held: str | None = world.robot.held if world.robot is not None else None
        self._tip: Pose | None = None
        self._spots: dict[str, Vec3] = {}
        self._extents: dict[str, tuple[float, float]] = {}
        self._gaps: dict[tuple[str, str], float] = {}

    @property
    def robot(self) -> Manipulator:
        """The arm with its hand; there must be one."""
        if self.world.robot is None:
            raise EtudeError("there is no robot in this scene")
        return self.world.robot

    @property
    def base(self) -> Pose:
        """Where the arm stands."""
        assert self.world.scene.robot is not None
        return self.world.scene.robot.base

    def from_base(self, x: float, y: float) -> tuple[float, float]:
        """Distance (m) and direction (rad) of a place as seen from there."""
        bx, by, _ = self.base.position
        return math.hypot(x - bx, y - by), math.atan2(y - by, x - bx)

    @property
    def tip(self) -> Pose:
        """Measured pose of the hand's tip."""
        if self._tip is None:
            self._tip = self.world.robot.tip() if self.world.robot is not None else Pose()
        return self._tip

    def position(self, name: str) -> Array:
        """Position (3,) of a body."""
        place: Array = self.places[0][self.world.body(name)]
        return place

    def spot(self, name: str) -> Vec3:
        """The same as plain numbers."""
        found = self._spots.get(name)
        if found is None:
            x, y, z = self.places[0][self.world.body(name)].tolist()
            found = self._spots[name] = (x, y, z)
        return found

    def point(self, name: str, x: float, y: float, z: float) -> Vec3:
        """Where a point of a body's frame is in the world."""
        px, py, pz = self.spot(name)
        a, b, c, d, e, f, g, h, i = self.places[1][self.world.body(name)].tolist()
        return px + (x * a + y * b + z * c), py + (x * d + y * e + z * f), pz + (x * g + y * h + z * i)

    def axes(self, name: str) -> Array:
        """Rotation matrix (3, 3) of a body."""
        axes: Array = self.places[1][self.world.body(name)].reshape(3, 3)
        return axes

    def extent(self, name: str) -> tuple[float, float]:
        """Heights of the lowest and highest point."""
        if name not in self._extents:
            self._extents[name] = self.world.vertical_extent(name)
        return self._extents[name]

    def drop(self) -> float:
        """How far it is from the tip straight down to the next surface, metres; 1 where there is none."""
        return self.world.drop(self.tip.position)

    def body(self, name: str) -> Body:
        """The rigid body of this name, as it stands in the scene's data."""
        entity = self.world.scene.entity(name)
        if not isinstance(entity, Body):
            raise EtudeError(f"{name!r} is not a rigid body")
        return entity

    def model(self, name: str) -> Shape:
        """The shape of the rigid body of this name."""
        body = self.body(name)
        return shape(body.shape, body.size)

    def radius(self, name: str) -> float:
        """How far the outline of a body reaches from its origin, seen from above when upright, metres."""
        return self.model(name).radius

    def static(self, name: str) -> bool:
        """Is it at rest? Judged by how far it moved and turned since the last look, one control step ago; at first by its velocity.

        The mean over a control step, because a thing that is well placed may tremble on its contacts without going anywhere.
        """
        if self.earlier is None:
            linear, angular = self.world.velocity(name)
            return bool(norm(linear) <= STATIC_SPEED and norm(angular) <= STATIC_SPIN)
        body = self.world.body(name)
        moved = _apart(self.places[0], self.earlier[0], body)
        # The distance between two rotation matrices is √2 times the angle, for small angles.
        turned = _apart(self.places[1], self.earlier[1], body) / math.sqrt(2.0)
        return moved <= STATIC_SPEED * CONTROL_PERIOD and turned <= STATIC_SPIN * CONTROL_PERIOD

    def grasped(self, name: str) -> bool:
        """Is it in the hand: by suction, or between both fingers?"""
        if self.held is not None:
            return self.held == name
        touched = self.touching(name)
        return "hand/left" in touched and "hand/right" in touched

    def between_fingers(self) -> str | None:
        """The loose thing, or the part of a fixture, that both fingers touch."""
        both = set(self.touching("hand/left")) & set(self.touching("hand/right"))
        return min((n for n in both if n != "table" and not n.startswith(("hand", "robot"))), default=None)

    def touching(self, name: str) -> tuple[str, ...]:
        """What it touched during the last control step."""
        return self.world.touching(name)

    def touches(self, first: str, second: str) -> bool:
        """Did these two touch? Names of wholes include their parts."""
        return self.world.touches(first, second)

    def by_robot(self, name: str) -> bool:
        """Did arm or hand touch it?"""
        return self.world.touches(name, "robot") or self.world.touches(name, "hand")

    def rests_on(self, top: str, bottom: str) -> bool:
        """Does ``bottom`` carry at least half the weight of ``top``, which does not touch the table beside it?"""
        if not self.touches(top, bottom):
            return False
        if bottom != "table" and self.touches(top, "table"):
            return False
        weight = self.world.mass(top) * GRAVITY * CONTROL_PERIOD
        return float(self.world.impulse(bottom, top)[2]) > max(FAINT, 0.5 * weight)

    def gap(self, first: str, second: str, limit: float = 0.5) -> float:
        """Distance between two surfaces, at most ``limit``."""
        key = (first, second)
        if key not in self._gaps:
            self._gaps[key] = self.world.distance(first, second, limit)
        return self._gaps[key]

    def reach(self, name: str) -> float:
        """The common shaping for bringing the tip to a thing: from 0 to 2 (ClevrSkills' REACH)."""
        p, tip = self.spot(name), self.tip.position
        across = math.hypot(tip[0] - p[0], tip[1] - p[1])
        if across >= 0.03:
            return math.exp(-(across - 0.03))
        above = tip[2] - self.extent(name)[1]
        return 2.0 if above < 0.005 else 1.0 + math.exp(-above)
