"""What happens to a running world from outside: frozen values that an episode carries, so that nothing is drawn while it is played."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from etude.names import Family
from etude.pose import Pose, Vec3
from etude.scene.outlines import frame_of
from etude.scene.scene import Light, Lighting

if TYPE_CHECKING:
    from etude.scene.world import World

STAYED = 0.02  # m from where it was laid: what is farther away was moved already


class Event(Family):
    """Something that happens ``step`` control steps of 50 ms after the first observation, in whatever action space is played."""

    step: int

    def happen(self, world: World, age: int) -> bool:
        """Change the world, ``age`` control steps after it was due; at age 0 it gives whether it came about."""
        raise TypeError(f"{type(self).__name__} cannot happen")

    @property
    def lasting(self) -> int:
        """Control steps after ``step`` in which it still has something to do."""
        return 0


@dataclass(frozen=True)
class ThingMoved(Event):
    """Somebody moves a thing to the first of ``places`` (world) that is free. What has left its first place, or is touched, stays."""

    step: int
    thing: str
    places: tuple[Pose, ...]

    def happen(self, world: World, age: int) -> bool:
        before, laid = world.pose(self.thing), frame_of(world.scene, self.thing)
        touched = any(t == "robot" or t.startswith("hand") for t in world.touching(self.thing))
        if touched or math.dist(before.position, laid.position) > STAYED or (world.robot is not None and world.robot.held == self.thing):
            return False
        for place in self.places:
            world.teleport({self.thing: place})
            if world.fits(self.thing):
                return True
        world.teleport({self.thing: before})
        return False


@dataclass(frozen=True)
class LightOut(Event):
    """All lamps go out; of the light that comes from everywhere a share is left."""

    step: int
    left: float

    def happen(self, world: World, age: int) -> bool:
        world.relight(darkened(world.scene.lighting, self.left))
        return True


def darkened(lighting: Lighting, left: float) -> Lighting:
    """The lighting without its lamps, and with this share of the rest."""

    def out(light: Light) -> Light:
        return replace(light, colour=(0.0, 0.0, 0.0))

    r, g, b = (left * c for c in lighting.ambient)
    return replace(lighting, ambient=(r, g, b), key=out(lighting.key), fills=tuple(map(out, lighting.fills)))


@dataclass(frozen=True)
class CameraCovered(Event):
    """A camera is covered, and sees nothing any more."""

    step: int
    camera: str

    def happen(self, world: World, age: int) -> bool:
        world.cover(self.camera)
        return True


@dataclass(frozen=True)
class HandPushed(Event):
    """The hand is pushed with a force (N, world) for some control steps; the servos give way and take it back."""

    step: int
    force: Vec3
    steps: int

    @property
    def lasting(self) -> int:
        return self.steps

    def happen(self, world: World, age: int) -> bool:
        if world.robot is None:
            return False
        world.robot.push(self.force if age < self.steps else (0.0, 0.0, 0.0))
        return True
