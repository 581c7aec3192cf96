"""Cameras on a living world: pictures by camera name, with either renderer."""

from __future__ import annotations

from typing import Protocol

from numpy.typing import ArrayLike

from etude.names import pick
from etude.pose import Pose
from etude.render.picture import Picture, dark
from etude.scene.scene import Camera
from etude.scene.world import World

RENDERERS = ("raster", "gl")


class Draws(Protocol):
    """What both renderers can do."""

    def pose(self, positions: ArrayLike, rotations: ArrayLike) -> None:
        """Bring the bodies to these frames."""

    def shoot(
        self,
        camera: Camera,
        size: tuple[int, int] | None = None,
        pose: Pose | None = None,
        supersample: bool = False,
        normals: bool = False,
        hide: frozenset[int] = frozenset(),
    ) -> Picture:
        """Take a picture."""


class Studio:
    """Takes pictures of one world as it is at the moment. Cameras of the same moment share their shadow map.

    ``renderer`` is "raster", our own, or "gl", MuJoCo's, where OpenGL works. Results of the two are never mixed.
    """

    def __init__(self, world: World, renderer: str = "raster") -> None:
        self._world = world
        self._kind = renderer
        self._make()

    def _make(self) -> None:
        # Imported here because either one loads much that the other does not need.
        def raster() -> Draws:
            from etude.render.renderer import Renderer

            return Renderer(self._visuals, self._lighting)

        def gl() -> Draws:
            from etude.render.gl import GlRenderer

            return GlRenderer(self._visuals, self._lighting)

        self._visuals, self._lighting = self._world.visuals, self._world.scene.lighting
        self._renderer = pick("renderer", self._kind, {"raster": raster, "gl": gl})()

    def shoot(self, camera: str | Camera, size: tuple[int, int] | None = None, supersample: bool = False, normals: bool = False) -> Picture:
        """What a camera of the scene (by name), or any other, sees now; ``size`` is (width, height) in pixels."""
        world = self._world
        lighting = world.scene.lighting
        if world.visuals is not self._visuals or (lighting is not self._lighting and lighting != self._lighting):
            self._make()
        eye = world.scene.camera(camera) if isinstance(camera, str) else camera
        if eye.name in world.covered:
            return dark(eye, size, normals)
        ids = world.segmentation_ids() if eye.hides else {}
        hidden = frozenset(pick("entity to hide", name, ids) for name in eye.hides)
        self._renderer.pose(*world.frames())
        return self._renderer.shoot(eye, size, world.camera_pose(eye), supersample, normals, hidden)
