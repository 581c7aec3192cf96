"""Perturbations that act while an episode is played: a thing is moved, the light goes out, a camera is covered, the hand is pushed.

What happens, and when, is drawn from the episode's name and becomes a part of it; nothing is drawn while it is played.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from etude.catalog.polygon import separation
from etude.episodes import Episode
from etude.goals.goal import Goal, every
from etude.goals.monitor import Monitor
from etude.goals.watch import Watch
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import perturbation
from etude.perturb.places import APART, Crowd, free_place, taken
from etude.pose import Array, Pose, Vec2
from etude.scene.events import CameraCovered, Event, HandPushed, LightOut, ThingMoved
from etude.scene.outlines import extent
from etude.scene.scene import Area, Body, Fixture, Marker
from etude.scene.world import World
from etude.skills.carrying import pointing_down
from etude.suites.building import workspace
from etude.suites.suite import SUITES

EARLIEST, LATEST = 5, 45  # control steps of 50 ms: the shortest tasks take the oracle some 50
UNTAKEN = 20  # control steps in which no hand has come to the first thing
EACH, MORE = 30, 3  # control steps later, for each thing more that is to be moved, up to some
MOVED = 0.10  # m from where it was: nothing that is aimed at the old place gets hold of it
PLACES = 3  # for a thing, in case the first is taken when it is moved
TRIED = 200  # of which to find them
AROUND = 0.25  # m from where it was, at most: what is turned away from the arm, far from its place, it may not be able to use
BESIDE, NUDGED = 0.03, 0.06  # m, on furniture: from other things, and from where it was
SLIM = 0.01  # m about a place, before the outline of the thing is looked at: a pencil has room where a disc as long has none
DRAWN = (20, 180)  # looked at for one place, a few first
HEIGHTS = (0.01, 0.2)  # m above a thing that the tip must be able to come to: to take it, and on its way there
BEYOND = 0.08  # m behind it, seen from the arm, likewise: at the end of its reach an arm can neither push a thing nor turn it
NEAR = 0.005  # m and rad by which it may miss that
STANDS = 0.005  # m between a thing and the table it stands on
DIM, DIMMER = 1.0, 0.5  # of the light that is left when all lamps are out
PUSH = (50.0, 80.0)  # N: 2 to 13 cm, for the arms there are
PUSHED = (4, 8)  # control steps


def _happening(episode: Episode, event: Event) -> Episode:
    """The episode with one event more, in the order in which they happen."""
    events = sorted((*episode.events, event), key=lambda e: (e.step, e.json_kind))
    return replace(episode, events=tuple(events))


def _moment(episode: Episode, stream: Stream, last: int = LATEST) -> int:
    """The control step at which something happens: soon, and up to so much later for each thing more that is to be moved."""
    return stream.integer(EARLIEST, last + EACH * min(MORE, max(0, len(_meant(episode)) - 1)))


def _meant(episode: Episode) -> tuple[str, ...]:
    """What has to be manipulated, of all that could be: the goal speaks of it."""
    said = {name for part in every(episode.goal, Goal) for f in fields(part) if f.metadata.get("asked", True)  # type: ignore[arg-type]
            for name in _names(getattr(part, f.name))}  # fmt: skip
    return tuple(dict.fromkeys(thing for as_what, thing in episode.roles if as_what == "manipulated" and thing in said))


def _names(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _names(one)


@perturbation("move_object", "event", plausible=True, varies="things staying where they are")
def move_object(episode: Episode, stream: Stream) -> Episode:
    """Move a thing that has to be taken to another place, while the hand is on its way."""
    moment, loose = _moment(episode, stream, UNTAKEN), free_things(episode)
    if not loose:
        raise EtudeError(f"move_object: nothing that is to be taken stands free in {episode.name}")
    found = free_places(episode, loose, stream)
    if found is None:
        raise EtudeError(f"move_object: there is no free place for {loose[0].name!r} within reach in {episode.name}")
    return _happening(episode, ThingMoved(moment, *found))


def free_things(episode: Episode) -> list[Body]:
    """What has to be taken and stands free, so that it can be put elsewhere."""
    return [e for name in _meant(episode) for e in episode.scene.entities if e.name == name and isinstance(e, Body) and _free(episode, e)]


def free_places(episode: Episode, loose: Sequence[Body], stream: Stream) -> tuple[str, tuple[Pose, ...]] | None:
    """One of some things, and places it may be put to, the first of which should do; None where there are none."""
    world = World(episode.scene)
    for thing in stream.shuffled(loose):
        places = tuple(itertools.islice(_places(episode, world, thing, _destination(episode, thing), stream), PLACES))
        if places:
            return thing.name, places
    return None


def _free(episode: Episode, entity: Body) -> bool:
    """Does it stand on the table, or on top of furniture, on its own, with nothing on it, in it or over it?"""
    if entity.fixed or entity.name == episode.held or episode.scene.table is None:
        return False
    mine, under = extent(entity), [episode.scene.table.height]
    for other in (e for e in episode.scene.entities if e is not entity and not isinstance(e, (Area, Marker))):
        its = extent(other)
        if separation(mine.ring, its.ring) <= 0.0:
            if its.high > mine.low + STANDS or not isinstance(other, Fixture):
                return False
            under.append(its.high)
    return abs(mine.low - max(under)) < STANDS


@dataclass(frozen=True)
class _Destination:
    """Where a thing may be moved: in a box, so far from some outlines and from where it was (m)."""

    crowd: Crowd
    box: tuple[Vec2, Vec2]
    apart: float
    moved: float


def _destination(episode: Episode, thing: Body) -> _Destination:
    scene, mine = episode.scene, extent(thing)
    (x, y, _), wide = thing.pose.position, float(np.abs(mine.ring - thing.pose.position[:2]).max())
    reach = AROUND + wide  # its outline is looked for in the box, not only its middle
    low, high = (x - reach, y - reach), (x + reach, y + reach)
    if scene.table is None or abs(mine.low - scene.table.height) >= STANDS:
        beside = [extent(e).ring for e in scene.entities if not isinstance(e, (Area, Marker)) and extent(e).high > mine.low + STANDS]
        return _Destination(Crowd(beside), (low, high), BESIDE, NUDGED)
    lower, upper = workspace(SUITES[episode.parsed.suite], scene)
    box = (max(low[0], lower[0]), max(low[1], lower[1])), (min(high[0], upper[0]), min(high[1], upper[1]))
    return _Destination(Crowd(taken(episode, "move_object")), box, APART, MOVED)


def _places(episode: Episode, world: World, thing: Body, on: _Destination, stream: Stream) -> Iterator[Pose]:
    """Places for it on the same surface, turned as it is: free, within reach, and neither nearer to the goal nor out of its way."""
    (x, y, z), mine = thing.pose.position, extent(thing)
    others = [ring for ring in on.crowd.rings if not np.array_equal(ring, mine.ring)]
    given: list[Vec2] = []
    for _ in range(TRIED):
        spot = free_place(SLIM, on.crowd, on.box, DRAWN, stream)
        if spot is None:
            return
        outline = mine.ring + np.array((spot[0] - x, spot[1] - y))
        inside = (outline >= on.box[0]).all() and (outline <= on.box[1]).all()
        apart = on.moved <= math.dist(spot[:2], (x, y)) <= AROUND and all(separation(outline, other) >= on.apart for other in others)
        place = Pose((spot[0], spot[1], z), thing.pose.rotation)
        if any(math.dist(spot[:2], other) < NUDGED for other in given):  # what is in the way of one would be in that of the other
            continue
        if inside and apart and _fair(episode, world, thing, place, outline):
            given.append(spot[:2])
            yield place


def _fair(episode: Episode, world: World, thing: Body, place: Pose, outline: Array) -> bool:
    """Does it stand there as it stood, can the hand come to it, and does the goal stand as before? The world is as it was laid."""
    height = extent(thing).low + STANDS
    if any(abs(world.drop((float(x), float(y), height)) - STANDS) > STANDS / 2 for x, y in outline):
        return False
    if not _reached(Watch(world), place, extent(thing).high):
        return False
    monitor, old = Monitor(episode.goal, world), world.frame(thing.name)[0].copy()
    before = [(n.status.satisfied, n.status.violated) for n in monitor.nodes()]
    world.teleport({thing.name: place})
    monitor.displaced(thing.name, world.frame(thing.name)[0] - old)
    monitor.update()
    fair = world.fits(thing.name) and before == [(n.status.satisfied, n.status.violated) for n in monitor.nodes()]
    world.reset()
    return fair


def _reached(watch: Watch, place: Pose, top: float) -> bool:
    """Can the hand, pointing down, come over a place and a little beyond it?"""
    (x, y, _), heading = place.position, pointing_down(watch, *place.position[:2])
    _, way = watch.from_base(x, y)
    out = BEYOND * math.cos(way), BEYOND * math.sin(way)
    tips = [Pose((x + u, y + v, top + h), heading) for u, v in ((0.0, 0.0), out) for h in HEIGHTS]
    return all(watch.robot.reaches(tip, NEAR) for tip in tips)


@perturbation("light_out", "event", plausible=True, varies="good light")
def light_out(episode: Episode, stream: Stream) -> Episode:
    """Put all lamps out at some moment; only dim light from everywhere is left."""
    return _happening(episode, LightOut(_moment(episode, stream), round(stream.uniform(DIMMER, DIM), 6)))


@perturbation("cover_camera", "event", plausible=True, varies="all of its cameras")
def cover_camera(episode: Episode, stream: Stream) -> Episode:
    """Cover one of the cameras at some moment; the others still see."""
    usual = SUITES[episode.parsed.suite].cameras
    cameras = [c.name for c in episode.scene.cameras if (c.name in usual if usual else c.name != "render")]
    if len(cameras) < 2:
        raise EtudeError(f"cover_camera: {episode.name} has no second camera to see by")
    return _happening(episode, CameraCovered(_moment(episode, stream), stream.choice(cameras)))


@perturbation("push_hand", "event", plausible=True, varies="an undisturbed hand")
def push_hand(episode: Episode, stream: Stream) -> Episode:
    """Push the hand aside, or up, at some moment."""
    moment, turn, rise = _moment(episode, stream), stream.uniform(-math.pi, math.pi), stream.uniform(0.0, 0.5)
    force = stream.uniform(*PUSH)
    along = force * math.sqrt(1.0 - rise * rise)
    x, y, z = (round(v, 6) for v in (along * math.cos(turn), along * math.sin(turn), force * rise))
    return _happening(episode, HandPushed(moment, (x, y, z), stream.integer(*PUSHED)))
