"""The renderer: visuals in, pictures out, on one CPU core, the same bytes every time."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.catalog.mesh import box, ellipsoid
from etude.names import EtudeError
from etude.pose import Array, Pose, matrix
from etude.render.antialias import choose, resolve
from etude.render.camera import focal, place_of
from etude.render.geometry import carry, follow, pack, surfaces, triangles
from etude.render.kept import REST, Kept, Memory, take_notes
from etude.render.lighting import Lights, ShadowMap, casts, light_axes, unit
from etude.render.measure import measure, normals_of
from etude.render.picture import Picture, picture_size
from etude.render.raster import Projection, clear, draw, scratch
from etude.render.setup import outdated, set_up
from etude.render.shade import shade
from etude.render.shadow import Shadows, no_shadows
from etude.scene.scene import Camera, Light, Lighting, look_at
from etude.scene.visual import Visual

# Counts up whenever any pixel of any picture may change.
VERSION = "etude-raster-1"

_EVERYTHING, _NO_NOTES = np.zeros((0, 0), np.uint8), take_notes((0, 0))


class Renderer:
    """Draws a fixed set of visuals under a fixed lighting, in whatever pose their bodies are.

    Until the first :meth:`pose`, every body stands in the world's own frame. A picture depends on visuals, lighting, pose and camera only,
    never on what was drawn before: what is kept of a view for its next picture saves time and changes nothing. One renderer serves one
    thread at a time.
    """

    def __init__(self, visuals: Sequence[Visual], lighting: Lighting) -> None:
        self.lighting = lighting
        self._geometry = g = pack(visuals)
        self._triangles, self._surfaces = triangles(g), surfaces(g)
        self._bodies = int(g.body.max()) + 1 if len(visuals) else 1
        self._scratch = scratch(len(g.points))
        self._alpha = np.array([v.alpha for v in visuals], np.float64)
        self._translucent = [i for i, v in enumerate(visuals) if 0 < v.alpha < 1]
        self._solid = (self._alpha >= 1).astype(np.uint8)
        self._without: dict[frozenset[int], NDArray[np.uint8]] = {frozenset(): self._solid}  # entities
        self._lights = _lights(lighting)
        self._axes = light_axes(lighting.key.direction)
        self._taken: ShadowMap | None = None
        self._buffers: dict[tuple[int, int], tuple[NDArray[np.float32], NDArray[np.int32]]] = {}
        self._memory = Memory()
        self._looks: dict[tuple[str, int, int, bool], tuple[Camera, Pose, Projection, bytes]] = {}
        self._moves, self._moved = 0, np.full(self._bodies, -REST, np.int64)  # so many, and at which of them each body moved last
        self._there = b""  # the latest frames as they were told
        self._frames = np.zeros((self._bodies, 3)), np.tile(np.eye(3), (self._bodies, 1, 1))
        carry(g, np.ones(self._bodies, np.bool_), *self._frames)
        self._shadows = Shadows(self._axes, g, self._scratch, np.array([casts(v) for v in visuals], np.uint8))

    def pose(self, positions: ArrayLike, rotations: ArrayLike) -> None:
        """Bring the bodies to these world frames: positions (B, 3) metres, rotations (B, 3, 3). Body 0 is the world itself."""
        p, R = np.array(positions, np.float64), np.array(rotations, np.float64).reshape(-1, 3, 3)
        if p.ndim != 2 or p.shape[1] != 3 or len(p) != len(R) or len(p) < self._bodies:
            raise EtudeError(f"expected frames of at least {self._bodies} bodies, (B, 3) and (B, 3, 3); got {p.shape} and {R.shape}")
        there = p.tobytes() + R.tobytes()
        if there == self._there:  # a further camera of the same step
            return
        count = follow(self._geometry, (p, R), self._frames, self._moves + 1, self._moved)
        if count < 0:
            raise EtudeError("body 0 is the world: its frame must stay the identity")
        self._there = there
        if count:
            self._moves += 1
            self._taken = None

    def shoot(
        self,
        camera: Camera,
        size: tuple[int, int] | None = None,
        pose: Pose | None = None,
        supersample: bool = False,
        normals: bool = False,
        hide: frozenset[int] = frozenset(),
    ) -> Picture:
        """A picture of ``size`` (width, height), by default the camera's own.

        ``pose`` is the world pose of the optical frame and necessary for cameras mounted on the hand. Entities in ``hide``
        (segmentation ids) are left out, but still cast their shadows: all cameras of a step share one shadow map. With ``supersample``
        the edges in ``rgb`` are smooth; depth and segmentation stay the same.
        """
        width, height = picture_size(camera, size)
        view, key = self._look(camera, width, height, place_of(camera, pose), supersample)
        g = self._geometry
        shown = self._shown(hide)
        kept = self._memory.find((key, hide), view, shown)
        nearness, owner = self._buffer(view.width, view.height)
        if kept is None:
            clear(view, nearness, owner)
        else:
            kept.layer(view, self._triangles, g.body, shown, self._moves, self._moved, self._scratch)
            np.copyto(nearness, kept.nearness)
            np.copyto(owner, kept.owner)
        draw(view, self._triangles, shown if kept is None else kept.over, self._scratch, nearness, owner)
        shadow = self._shadow()
        rgb = np.empty((height, width, 3), np.uint8)
        markers = self._markers(view, hide)
        if supersample:
            samples = np.zeros((view.height, view.width, 3), np.uint8)
            wanted = _EVERYTHING
            if not markers:
                wanted = np.empty((view.height, view.width), np.uint8)
                choose(owner, wanted)
            self._colour(view, shadow, nearness, owner, wanted, 1.0, samples)
            self._annotate(view, markers, shadow, nearness, samples)
            resolve(owner, samples, bool(markers), rgb)
        else:
            if kept is None:
                self._colour(view, shadow, nearness, owner, _EVERYTHING, 1.0, rgb)
            else:
                self._refresh(view, shadow, nearness, owner, kept)
                np.copyto(rgb, kept.rgb)
            self._annotate(view, markers, shadow, nearness, rgb)
        depth, segmentation = np.empty((height, width), np.float32), np.empty((height, width), np.uint16)
        seen = np.s_[1::2, 1::2] if supersample else np.s_[:, :]
        near, who = np.ascontiguousarray(nearness[seen]), np.ascontiguousarray(owner[seen])
        measure(view.perspective, g.entity, g.visual, near, who, depth, segmentation)
        directions = None
        if normals:
            first, stride = (1, 2) if supersample else (0, 1)
            directions = np.empty((height, width, 3), np.float32)
            normals_of(view, g, nearness, owner, first, stride, directions)
        return Picture(rgb, depth, segmentation, directions)

    def _colour(
        self, view: Projection, shadow: ShadowMap, nearness: NDArray[np.float32], owner: NDArray[np.int32], wanted: NDArray[np.uint8],
        alpha: float, rgb: NDArray[np.uint8],
    ) -> None:  # fmt: skip
        set_up(self._geometry, shadow, owner)
        shade(view, self._surfaces, self._lights, shadow, nearness, owner, wanted, _NO_NOTES, alpha, rgb)

    def _refresh(self, view: Projection, shadow: ShadowMap, nearness: NDArray[np.float32], owner: NDArray[np.int32], kept: Kept) -> None:
        """Shade what may have changed since the picture that is kept."""
        g, shadows = self._geometry, self._shadows
        if kept.fit != shadows.fit:
            kept.before[:], kept.fit = -2, shadows.fit
        outdated(g, shadow, shadows.stamps, owner, kept.before, kept.versions, kept.tick, kept.notes, kept.wanted)
        shade(view, self._surfaces, self._lights, shadow, nearness, owner, kept.wanted, kept.notes, 1.0, kept.rgb)
        kept.versions, kept.tick = g.version.copy(), shadows.tick

    def _look(self, camera: Camera, width: int, height: int, place: Pose, supersample: bool) -> tuple[Projection, bytes]:
        """How the camera looks from there, with its exact bits; kept for cameras that stay."""
        name = camera.name, width, height, supersample
        known = self._looks.get(name)
        if known is not None and known[0] is camera and known[1] is place:
            return known[2:]
        if len(self._looks) >= 16:
            self._looks.clear()
        view = _view(camera, width, height, place, supersample)
        key = view.eye.tobytes() + view.axes.tobytes() + repr(view[2:]).encode()
        self._looks[name] = camera, place, view, key
        return view, key

    def _shown(self, hide: frozenset[int]) -> NDArray[np.uint8]:
        """Which visuals are solid and not of these entities."""
        if hide not in self._without:
            if len(self._without) >= 16:
                self._without.clear()
            self._without[hide] = self._solid & ~np.isin(self._geometry.entity, list(hide))
        return self._without[hide]

    def _buffer(self, width: int, height: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        if (width, height) not in self._buffers:
            if len(self._buffers) >= 8:
                self._buffers.clear()
            self._buffers[width, height] = np.empty((height, width), np.float32), np.empty((height, width), np.int32)
        return self._buffers[width, height]

    def _shadow(self) -> ShadowMap:
        if not self.lighting.shadows:
            return no_shadows(self._axes)
        if self._taken is None:
            self._taken = self._shadows.take(self._moves, self._moved)
        return self._taken

    def _markers(self, view: Projection, hide: frozenset[int]) -> list[int]:
        """Translucent visuals from far to near."""
        g = self._geometry
        found = [v for v in self._translucent if int(g.entity[v]) not in hide]
        return sorted(found, key=lambda v: (-float(((g.centres[v] - view.eye) * view.axes[2]).sum()), v))

    def _annotate(
        self, view: Projection, markers: list[int], shadow: ShadowMap, nearness: NDArray[np.float32], rgb: NDArray[np.uint8]
    ) -> None:
        """Lay markers over the picture. Each is first drawn for itself, so that it covers a sample once however it is folded."""
        for v in markers:
            only = np.zeros(len(self._alpha), np.uint8)
            only[v] = 1
            front, owner = nearness.copy(), np.full(nearness.shape, -1, np.int32)
            draw(view, self._triangles, only, self._scratch, front, owner)
            self._colour(view, shadow, front, owner, _EVERYTHING, float(self._alpha[v]), rgb)


def _view(camera: Camera, width: int, height: int, place: Pose, supersample: bool) -> Projection:
    axes: Array = np.ascontiguousarray(matrix(place.rotation).T)
    fine = 2 * width + 1, 2 * height + 1
    return Projection(
        eye=np.array(place.position),
        axes=axes,
        perspective=camera.fov is not None,
        focal=focal(camera, (width, height)),
        cx=width / 2,
        cy=height / 2,
        near=float(camera.near),
        far=float(camera.far),
        width=fine[0] if supersample else width,
        height=fine[1] if supersample else height,
        shift=7 if supersample else 8,
        origin=0 if supersample else 128,
    )


def _lights(lighting: Lighting) -> Lights:
    def pair(light: Light) -> Array:
        return np.stack([-unit(light.direction), np.array(light.colour, np.float64)])

    return Lights(
        ambient=np.array(lighting.ambient, np.float32),
        key=pair(lighting.key).astype(np.float32),
        fills=np.array([pair(f) for f in lighting.fills], np.float32).reshape(-1, 2, 3),
        background=np.rint(np.clip(lighting.background, 0, 1) * np.float64(255)).astype(np.uint8),
    )


@functools.cache
def fingerprint(smooth: bool = False) -> str:
    """What results carry to say who made their pixels: the version, and a digest of a small picture as this machine renders it.

    Pictures with smooth edges are others, and have another one.
    """
    visuals = [
        Visual(0, box((1.0, 1.0, 0.1), (0.0, 0.0, -0.05)), "checkerboard", entity=8),
        Visual(0, ellipsoid((0.2, 0.15, 0.1)), "red", Pose((0.1, 0.0, 0.1)), entity=9),
    ]
    camera = Camera("witness", look_at((0.8, -0.5, 0.7), (0.0, 0.0, 0.0)), size=(48, 48))
    shot = Renderer(visuals, Lighting()).shoot(camera, supersample=smooth)
    data = shot.rgb.tobytes() + shot.depth.tobytes() + shot.segmentation.tobytes()
    return f"{VERSION}{'-smooth' * smooth}-{hashlib.sha256(data).hexdigest()[:8]}"
