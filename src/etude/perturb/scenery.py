"""Factors around the task: things that have nothing to do with it, and cameras that stand a little elsewhere."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from etude.arithmetic import norms
from etude.catalog.colours import SEEN, colour, is_colour
from etude.catalog.household import DISTRACTORS, default_texture
from etude.catalog.polygon import hull, separation
from etude.catalog.registry import default_size, shape
from etude.episodes import Episode
from etude.goals.adapting import Room
from etude.goals.goal import Goal, every
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import perturbation
from etude.perturb.sizes import LARGEST
from etude.perturb.telling import words_of
from etude.pose import IDENTITY, Array, Pose, Vec2, euler_quat, multiply
from etude.scene.outlines import disc, extent, fixture_points, frame_of
from etude.scene.scene import Body, Camera, Fixture
from etude.suites.building import workspace
from etude.suites.suite import SUITES

COUNT = 2  # HiMan-Bench 3.3
APART = 0.05  # m from everything else (The Colosseum)
BASE_ROOM = 0.2  # m about the robot's base that stays free
PLACES, MANY_PLACES = (20, 180), (2000,)  # looked at for one thing, a few first; and in the end, for the smallest
SMALLEST = 10
# Words of instructions, and words in the names of household things that could be taken for what they mean.
LOOK_ALIKE: dict[str, tuple[str, ...]] = {
    "block": ("brick", "dice", "duplo", "cube"),
    "box": ("box", "brick"),
    "container": ("bowl", "cup", "box"),
    "cube": ("block", "dice", "brick"),
    "cylinder": ("can", "cup", "block", "marker"),
    "jello": ("gelatin", "pudding"),
    "mug": ("cup", "pitcher"),
    "pencil": ("marker", "screwdriver"),
    "spam": ("meat",),
}
TURN, SHIFT = 0.05, 0.1  # rad and m: The Colosseum's ranges
SEEN_HEIGHT = 1.16  # m of the table that RLBench's cameras see; one without perspective that sees less of it moves by as much less
AROUND = -2  # rank: before sizes, every one of which distractors keep off


# ------------------------------------------------------------------------------------------------ distractors


@perturbation("distractors", "scene", plausible=True, rank=AROUND, factor=True)
def distractors(episode: Episode, stream: Stream) -> Episode:
    """Put two household things on the table, away from everything else and from where anything must go."""
    scene, told = episode.scene, words_of(episode.instruction.text)
    if scene.table is None:
        raise EtudeError(f"distractors: there is no table in {episode.parsed.suite}/{episode.parsed.task}")
    try:
        wanted = list(episode.goal.destinations(Room(scene, LARGEST)))
    except EtudeError as error:
        raise type(error)(f"distractors: {error}") from None
    crowd = _Crowd([*_occupied(episode), *wanted])
    there = {getattr(e, "shape", "") for e in scene.entities}
    pool = [n for n in stream.shuffled(DISTRACTORS) if n not in there and not _confusing(n, told)]
    lower, upper = _workspace(episode)
    found: list[Body] = []
    small = sorted(pool, key=_half_diagonal)[:SMALLEST]
    for name, places in (*((n, PLACES) for n in pool), *((n, MANY_PLACES) for n in small)):
        if any(name == other.shape for other in found):
            continue
        radius = _half_diagonal(name)
        spot = _free(radius, crowd, lower, upper, places, stream)
        if spot is None:
            continue
        x, y, yaw = spot
        pose = Pose.flat(x, y, scene.table.height + shape(name).lift(IDENTITY), yaw)
        found.append(Body(f"distractor {len(found)}", name, default_texture[name], pose, material="ball"))
        crowd = _Crowd([*crowd.rings, disc(x, y, radius)])
        if len(found) == COUNT:
            return replace(episode, scene=replace(scene, entities=scene.entities + tuple(found)))
    raise EtudeError(f"distractors: there is no room for {COUNT} more things on the table of {episode.name}")


def _half_diagonal(name: str) -> float:
    width, depth, _ = default_size(name)
    return math.hypot(width, depth) / 2


def _confusing(name: str, told: frozenset[str]) -> bool:
    """Could the instruction mean it: by a word of its name, or by its colour?"""
    alike = {word for said in told & LOOK_ALIKE.keys() for word in LOOK_ALIKE[said]}
    return bool(words_of(name) & (told | alike) or _colours(default_texture[name]) & told)


@functools.cache
def _colours(worn: str) -> frozenset[str]:
    """What the colour of a texture may be called: the seen colour that is nearest, or the words of a pattern."""
    if not is_colour(worn):
        return words_of(worn)
    return frozenset((min(SEEN, key=lambda name: math.dist(colour(name), colour(worn))),))


def _workspace(episode: Episode) -> tuple[Vec2, Vec2]:
    """Where things may stand: the workspace of the suite, or the table up to a hand from its edge."""
    return workspace(SUITES[episode.parsed.suite], episode.scene)


def _free(
    radius: float, crowd: _Crowd, lower: Vec2, upper: Vec2, places: Sequence[int], stream: Stream
) -> tuple[float, float, float] | None:
    """A place (x, y, yaw) for a disc; None where there is none."""
    yaw = stream.uniform(-math.pi, math.pi)
    if any(b - a < 2 * radius for a, b in zip(lower, upper, strict=True)):
        return None
    for count in places:
        points = np.column_stack([stream.uniforms(a + radius, b - radius, count) for a, b in zip(lower, upper, strict=True)])
        points = crowd.kept_off(points, radius + APART)
        if len(points):
            x, y = points[0].round(6).tolist()
            return x, y, yaw
    return None


class _Crowd:
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


# ------------------------------------------------------------------------------------------------ cameras


@perturbation("camera_pose", "scene", plausible=True, rank=AROUND, factor=True)
def camera_pose(episode: Episode, stream: Stream) -> Episode:
    """Move and turn every camera of the room a little; those on the hand, and the one that only looks on, stay."""
    scene = episode.scene
    if all(map(_stays, scene.cameras)):
        raise EtudeError(f"camera_pose: no camera of {episode.parsed.suite}/{episode.parsed.task} stands in the room")
    return replace(episode, scene=replace(scene, cameras=tuple(c if _stays(c) else _nudged(c, stream) for c in scene.cameras)))


def _stays(camera: Camera) -> bool:
    return camera.mount == "hand" or camera.name == "render"


def _nudged(camera: Camera, stream: Stream) -> Camera:
    """Turned about its own axes, and shifted along those of the room."""
    share = 1.0 if camera.extent is None else min(1.0, camera.extent / SEEN_HEIGHT)
    roll, pitch, yaw = (share * stream.uniform(-TURN, TURN) for _ in range(3))
    dx, dy, dz = (share * stream.uniform(-SHIFT, SHIFT) for _ in range(3))
    turned = multiply(camera.pose.rotation, euler_quat(roll, pitch, yaw))
    return replace(camera, pose=Pose.of(camera.pose.moved(dx, dy, dz).position, turned))
