"""The same pictures from MuJoCo's OpenGL renderer, for those who have a graphics card. Its pixels depend on the driver.

MuJoCo, and a GL library with it, is loaded when the first renderer is made. The variable MUJOCO_GL (egl, osmesa, glfw) chooses the way to a
context; without it the first that works is taken.
"""

from __future__ import annotations

import functools
import importlib
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.names import EtudeError
from etude.pose import Pose, matrix, matrix_quat
from etude.render.camera import focal, place_of
from etude.render.mujoco_looks import add_lights, add_visuals
from etude.render.picture import Picture, picture_size
from etude.scene.scene import Camera, Lighting
from etude.scene.visual import Visual

_BACKENDS = ("egl", "osmesa", "glfw")
_SHOWN, _MARKERS, _HIDDEN = 0, 1, 2  # geom groups
_PROBE = """
import importlib, sys, mujoco
context = importlib.import_module("mujoco." + sys.argv[1]).GLContext(16, 16)
context.make_current()
mujoco.MjrContext(mujoco.MjModel.from_xml_string("<mujoco/>"), mujoco.mjtFontScale.mjFONTSCALE_100)
print("works", flush=True)
import os; os._exit(0)
"""


def gl_available() -> tuple[bool, str]:
    """Whether :class:`GlRenderer` works here, and through which backend, or why not. Tried in another process, which a driver may crash."""
    backend, reason = _backend()
    return bool(backend), backend or reason


@functools.cache
def _backend() -> tuple[str, str]:
    asked = os.environ.get("MUJOCO_GL", "").strip().lower()
    reasons = []
    for backend in (asked,) if asked in _BACKENDS else _BACKENDS:
        environment = {k: v for k, v in os.environ.items() if k != "PYOPENGL_PLATFORM"} | {"MUJOCO_GL": backend}
        try:
            done = subprocess.run([sys.executable, "-c", _PROBE, backend], env=environment, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            reasons.append(f"{backend}: no answer within 60 s")
            continue
        if "works" in done.stdout:
            return backend, ""
        lines = done.stderr.strip().splitlines()
        reasons.append(f"{backend}: {lines[-1][:120] if lines else f'the process ended with {done.returncode}'}")
    return "", "no OpenGL context could be made (" + "; ".join(reasons) + ")"


class GlRenderer:
    """Draws a fixed set of visuals with OpenGL; the interface is that of :class:`etude.render.Renderer`.

    ``model`` and ``data`` are MuJoCo's, with nothing in them but what there is to see.
    """

    def __init__(self, visuals: Sequence[Visual], lighting: Lighting) -> None:
        backend, reason = _backend()
        if not backend:
            raise EtudeError(f"{reason}; the renderer 'raster' needs none")
        os.environ.setdefault("MUJOCO_GL", backend)  # read by MuJoCo if it is not loaded yet
        import mujoco

        self.lighting = lighting
        self._mj: Any = mujoco
        self._bodies = max((v.body for v in visuals), default=0) + 1
        self.model = _model(mujoco, visuals, lighting, self._bodies)
        self.data = mujoco.MjData(self.model)
        order = [int(self.model.geom(i).name.split()[1]) for i in range(self.model.ngeom)]  # MuJoCo sorts geoms by body
        self._entity = np.array([visuals[i].entity for i in order], np.uint16)
        self._marker = np.array([visuals[i].alpha < 1 for i in order], bool)
        self._option = mujoco.MjvOption()
        self._scene = mujoco.MjvScene(self.model, maxgeom=len(visuals) + 16)
        self._perturb = mujoco.MjvPerturb()
        self._viewer = mujoco.MjvCamera()
        self._context = importlib.import_module(f"mujoco.{backend}").GLContext(64, 64)
        self._context.make_current()
        self._target = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._target)
        self._target.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._size = (self._target.offWidth, self._target.offHeight)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)

    def close(self) -> None:
        """Free the OpenGL context; the renderer is of no use afterwards."""
        if self._context is not None:
            self._context.make_current()
            self._target.free()
            self._context.free()
            self._context = None

    def pose(self, positions: ArrayLike, rotations: ArrayLike) -> None:
        """Bring the bodies to these world frames: positions (B, 3) metres, rotations (B, 3, 3). Body 0 is the world itself."""
        p, R = np.asarray(positions, float), np.asarray(rotations, float).reshape(-1, 3, 3)
        if p.ndim != 2 or p.shape[1] != 3 or len(p) != len(R) or len(p) < self._bodies:
            raise EtudeError(f"expected frames of at least {self._bodies} bodies, (B, 3) and (B, 3, 3); got {p.shape} and {R.shape}")
        for body in range(1, self._bodies):
            self.data.mocap_pos[body - 1] = p[body]
            self.data.mocap_quat[body - 1] = matrix_quat(R[body])
        self._mj.mj_kinematics(self.model, self.data)

    def shoot(
        self,
        camera: Camera,
        size: tuple[int, int] | None = None,
        pose: Pose | None = None,
        supersample: bool = False,
        normals: bool = False,
        hide: frozenset[int] = frozenset(),
    ) -> Picture:
        """A picture of ``size`` (width, height), by default the camera's own; see :meth:`etude.render.Renderer.shoot`."""
        if normals:
            raise EtudeError("the OpenGL renderer gives no normals; the renderer 'raster' does")
        if self._context is None:
            raise EtudeError("this renderer has been closed")
        width, height = picture_size(camera, size)
        self._context.make_current()
        fine = (2 * width, 2 * height) if supersample else (width, height)
        self._fit(*fine)
        hidden = np.isin(self._entity, list(hide))
        self.model.geom_group[:] = np.where(hidden, _HIDDEN, np.where(self._marker, _MARKERS, _SHOWN))
        raw_depth, segments = np.empty((height, width), np.float32), np.empty((height, width, 3), np.uint8)
        self._draw(camera, place_of(camera, pose), width, height, segmented=True)
        self._mj.mjr_readPixels(segments, raw_depth, self._mj.MjrRect(0, 0, width, height), self._target)
        segmentation, hit = self._entities(segments[::-1])  # before the scene is filled again, with other geoms
        colours = np.empty((fine[1], fine[0], 3), np.uint8)
        self._draw(camera, place_of(camera, pose), *fine, segmented=False)
        self._mj.mjr_readPixels(colours, None, self._mj.MjrRect(0, 0, *fine), self._target)
        rgb = colours[::-1]
        if supersample:
            light = np.square(rgb.astype(np.float64)).reshape(height, 2, width, 2, 3).mean((1, 3))
            rgb = np.rint(np.sqrt(light)).astype(np.uint8)
        depth = np.where(hit, _metric(raw_depth[::-1].astype(np.float64), camera), 0).astype(np.float32)
        return Picture(np.ascontiguousarray(rgb), depth, segmentation)

    def _fit(self, width: int, height: int) -> None:
        """Let the offscreen buffer grow to hold a picture; its size is otherwise left alone."""
        grown = max(width, self._size[0]), max(height, self._size[1])
        if grown != self._size:
            self._mj.mjr_resizeOffscreen(*grown, self._target)
            self._size = grown

    def _draw(self, camera: Camera, place: Pose, width: int, height: int, segmented: bool) -> None:
        mj, scene = self._mj, self._scene
        self._option.geomgroup[:] = 0
        self._option.geomgroup[_SHOWN] = 1
        self._option.geomgroup[_MARKERS] = 0 if segmented else 1
        mj.mjv_updateScene(self.model, self.data, self._option, self._perturb, self._viewer, mj.mjtCatBit.mjCAT_ALL, scene)
        R = matrix(place.rotation)
        seen = height / 2 / focal(camera, (width, height))  # half the picture's height: in metres, or for a focal length of 1
        half = seen if camera.extent is not None else camera.near * seen
        for eye in scene.camera:
            eye.pos, eye.forward, eye.up = np.array(place.position), R[:, 2], -R[:, 1]
            eye.frustum_center, eye.frustum_width = 0.0, half * width / height
            eye.frustum_bottom, eye.frustum_top = -half, half
            eye.frustum_near, eye.frustum_far = camera.near, camera.far
            eye.orthographic = camera.extent is not None
        flags = mj.mjtRndFlag
        scene.flags[:] = 0
        scene.flags[flags.mjRND_CULL_FACE] = 1
        scene.flags[flags.mjRND_SKYBOX] = 1
        scene.flags[flags.mjRND_SHADOW] = int(self.lighting.shadows and not segmented)
        scene.flags[flags.mjRND_SEGMENT] = int(segmented)
        scene.flags[flags.mjRND_IDCOLOR] = int(segmented)
        mj.mjr_render(mj.MjrRect(0, 0, width, height), scene, self._target)

    def _entities(self, segments: NDArray[np.uint8]) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Entity ids (H, W) and what was hit at all, from colours that encode 1 + the index in the drawn scene."""
        r, g, b = np.moveaxis(segments.astype(np.int64), -1, 0)
        drawn = r + (g << 8) + (b << 16)
        table = np.zeros(self._scene.ngeom + 1, np.uint16)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.objtype == self._mj.mjtObj.mjOBJ_GEOM and geom.segid >= 0:
                table[geom.segid + 1] = self._entity[geom.objid]
        return table[drawn], drawn > 0


def _metric(reversed_depth: NDArray[np.float64], camera: Camera) -> NDArray[np.float64]:
    """Metres along the optical axis from a depth buffer that is 1 at the near plane and 0 at the far one."""
    if camera.extent is not None:
        return camera.far - reversed_depth * (camera.far - camera.near)
    return camera.near * camera.far / (camera.near + reversed_depth * (camera.far - camera.near))


def _model(mj: Any, visuals: Sequence[Visual], lighting: Lighting, bodies: int) -> Any:
    """Bodies that are put where they are told, with nothing but something to see."""
    spec = mj.MjSpec()
    spec.visual.quality.offsamples = 0
    spec.visual.quality.shadowsize = 1024
    spec.visual.headlight.ambient = lighting.ambient
    spec.visual.headlight.diffuse = spec.visual.headlight.specular = (0, 0, 0)
    spec.add_texture(name="background", type=mj.mjtTexture.mjTEXTURE_SKYBOX, builtin=mj.mjtBuiltin.mjBUILTIN_FLAT,
                     rgb1=lighting.background, rgb2=lighting.background, width=8, height=48)  # fmt: skip
    spec.stat.extent, spec.stat.center = 1.5, (0, 0, 0)
    add_lights(mj, spec, lighting)
    frames = [spec.worldbody, *(spec.worldbody.add_body(name=f"body {i}", mocap=True) for i in range(1, bodies))]
    add_visuals(mj, spec, frames, visuals)
    return spec.compile()
