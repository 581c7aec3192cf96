"""Factors around the task: things that have nothing to do with it, and cameras that stand a little elsewhere."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

from etude.catalog.colours import SEEN, colour, is_colour
from etude.catalog.household import DISTRACTORS, default_texture
from etude.catalog.registry import default_size, shape
from etude.episodes import Episode
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import perturbation
from etude.perturb.places import Crowd, free_place, taken
from etude.perturb.telling import words_of
from etude.pose import IDENTITY, Pose, euler_quat, multiply
from etude.scene.outlines import disc
from etude.scene.scene import Body, Camera
from etude.suites.building import workspace
from etude.suites.suite import SUITES

COUNT = 2  # HiMan-Bench 3.3
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


@perturbation("distractors", "scene", plausible=True, varies="the table being free of other things", rank=AROUND, factor=True)
def distractors(episode: Episode, stream: Stream) -> Episode:
    """Put two household things on the table, away from everything else and from where anything must go."""
    scene, told = episode.scene, words_of(episode.instruction.text)
    if scene.table is None:
        raise EtudeError(f"distractors: there is no table in {episode.parsed.suite}/{episode.parsed.task}")
    crowd = Crowd(taken(episode, "distractors"))
    there = {getattr(e, "shape", "") for e in scene.entities}
    pool = [n for n in stream.shuffled(DISTRACTORS) if n not in there and not _confusing(n, told)]
    lower, upper = workspace(SUITES[episode.parsed.suite], scene)
    found: list[Body] = []
    small = sorted(pool, key=_half_diagonal)[:SMALLEST]
    for name, places in (*((n, PLACES) for n in pool), *((n, MANY_PLACES) for n in small)):
        if any(name == other.shape for other in found):
            continue
        radius = _half_diagonal(name)
        spot = free_place(radius, crowd, (lower, upper), places, stream)
        if spot is None:
            continue
        x, y, yaw = spot
        pose = Pose.flat(x, y, scene.table.height + shape(name).lift(IDENTITY), yaw)
        found.append(Body(f"distractor {len(found)}", name, default_texture[name], pose, material="ball"))
        crowd = Crowd([*crowd.rings, disc(x, y, radius)])
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


# ------------------------------------------------------------------------------------------------ cameras


@perturbation("camera_pose", "scene", plausible=True, varies="where the cameras stand", rank=AROUND, factor=True)
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
