"""A world over time: what there is to see, once, and where it is at every moment. Views and exports are made of this."""

from __future__ import annotations

import numpy as np

from etude.pose import Array, Pose
from etude.scene.contacts import Contact
from etude.scene.scene import Camera, Lighting
from etude.scene.visual import Visual
from etude.scene.world import World


class Capture:
    """Moments of one world, in the order in which they are taken.

    ``visuals`` are all that were seen at some moment, each once. ``looks`` says from which moment on which of them are seen, ``lights``
    under which light, ``covered`` which cameras are covered. A *track* is a frame that moves: ``bodies`` have one each, and after them
    the cameras that ride on the hand.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.visuals: list[Visual] = []
        self.looks: list[tuple[int, tuple[int, ...]]] = []
        self.lights: list[tuple[int, Lighting]] = []
        self.covered: list[tuple[int, frozenset[str]]] = []
        self.contacts: list[tuple[Contact, ...]] = []
        self._seen: tuple[Visual, ...] = ()
        self._poses: list[Array] = []
        self._mounted = [camera for camera in world.scene.cameras if camera.mount == "hand"]

    def __len__(self) -> int:
        """Moments so far."""
        return len(self._poses)

    def take(self) -> None:
        """Add the present moment."""
        world, now = self.world, len(self)
        if world.visuals is not self._seen:
            self._seen = world.visuals
            self.looks.append((now, tuple(map(self._number, world.visuals))))
        if not self.lights or self.lights[-1][1] != world.scene.lighting:
            self.lights.append((now, world.scene.lighting))
        if (self.covered[-1][1] if self.covered else frozenset()) != world.covered:
            self.covered.append((now, world.covered))
        self.contacts.append(world.contacts())
        cameras = [(*pose.position, *pose.rotation) for pose in map(world.camera_pose, self._mounted)]
        frames = np.concatenate([world.data.xpos, world.data.xquat], 1)
        self._poses.append(np.concatenate([frames, np.array(cameras).reshape(-1, 7)]))

    def _number(self, visual: Visual) -> int:
        for number, known in enumerate(self.visuals):
            if known is visual or known.looks_like(visual):
                return number
        self.visuals.append(visual)
        return len(self.visuals) - 1

    @property
    def bodies(self) -> list[int]:
        """The bodies on which something rides that is seen, in the order of their tracks."""
        return sorted({visual.body for visual in self.visuals if visual.body})

    def tracks(self) -> Array:
        """Where the tracks are, (moments, tracks, 7): position (m, world) and rotation (wxyz), whose sign does not jump."""
        count = self.world.model.nbody
        poses = np.array(self._poses)[:, [*self.bodies, *range(count, count + len(self._mounted))]]
        turned = poses[..., 3:]
        signs = np.where((turned[1:] * turned[:-1]).sum(-1) < 0, -1.0, 1.0)
        turned[1:] *= np.cumprod(signs, 0)[..., None]
        return np.asarray(poses)

    def latest(self) -> Array:
        """Where the tracks are at the latest moment, (tracks, 7); the sign of rotations may jump."""
        count = self.world.model.nbody
        return np.asarray(self._poses[-1][[*self.bodies, *range(count, count + len(self._mounted))]])

    def track_of(self, rides: Visual | Camera) -> int | None:
        """The number of the track on which a visual or a camera rides; None: it stands in the world."""
        if isinstance(rides, Visual):
            return self.bodies.index(rides.body) if rides.body else None
        return len(self.bodies) + self._mounted.index(rides) if rides.mount == "hand" else None

    def place_of(self, rides: Visual | Camera) -> Pose:
        """Where a visual or a camera is on its track, or in the world."""
        return Pose() if isinstance(rides, Camera) and rides.mount == "hand" else rides.pose
