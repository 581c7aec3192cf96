"""Perturbations that act while an episode is played: a thing is moved, the light goes out, a camera is covered, the hand is pushed.

What happens, and when, is drawn from the episode's name and becomes a part of it; nothing is drawn while it is played.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from etude.catalog.polygon import separation
from etude.episodes import Episode
from etude.goals.monitor import Monitor
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import perturbation
from etude.perturb.places import Crowd, free_place, taken
from etude.perturb.telling import role
from etude.pose import Pose
from etude.scene.events import CameraCovered, Event, HandPushed, LightOut, ThingMoved
from etude.scene.outlines import extent
from etude.scene.scene import Area, Body, Marker
from etude.scene.world import World
from etude.skills.carrying import pointing_down
from etude.suites.building import workspace
from etude.suites.suite import SUITES

EARLIEST, LATEST = 5, 45  # control steps of 50 ms: the shortest tasks take the oracle some 50
UNTAKEN = 20  # control steps in which no hand has come to the first thing
EACH, MORE = 30, 3  # control steps later, for each thing more that is to be moved, up to some
MOVED = 0.10  # m from where it was: nothing that is aimed at the old place gets hold of it
PLACES = 3  # for a thing, in case the first is taken when it is moved
TRIED = 40  # of which to find them
DRAWN = (20, 180, 1000)  # looked at for one place, a few first
HEIGHTS = (0.01, 0.2)  # m above a thing that the tip must be able to come to: to take it, and on its way there
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
    things = {thing for said, thing in episode.roles if said == "manipulated"}
    return stream.integer(EARLIEST, last + EACH * min(MORE, max(0, len(things) - 1)))


@perturbation("move_object", "event", plausible=True)
def move_object(episode: Episode, stream: Stream) -> Episode:
    """Move a thing that has to be taken to another place, while the hand is on its way."""
    moment, scene = _moment(episode, stream, UNTAKEN), episode.scene
    loose = [e for name in role(episode, "manipulated", "move_object") for e in scene.entities if e.name == name and _free(episode, e)]
    if not loose:
        raise EtudeError(f"move_object: nothing that is manipulated stands free on the table of {episode.name}")
    crowd = Crowd(taken(episode, "move_object"))
    world = World(scene)
    for thing in stream.shuffled(loose):
        places = tuple(_places(episode, world, thing, crowd, stream))
        if places:
            return _happening(episode, ThingMoved(moment, thing.name, places))
    raise EtudeError(f"move_object: there is no free place for {loose[0].name!r} within reach in {episode.name}")


def _free(episode: Episode, entity: object) -> bool:
    """Does it stand on the table, on its own, with nothing on it or in it?"""
    scene = episode.scene
    if not isinstance(entity, Body) or entity.fixed or entity.name == episode.held or scene.table is None:
        return False
    mine = extent(entity)
    others = [e for e in scene.entities if e is not entity and not isinstance(e, (Area, Marker))]
    return abs(mine.low - scene.table.height) < STANDS and all(separation(mine.ring, extent(e).ring) > 0.0 for e in others)


def _places(episode: Episode, world: World, thing: Body, crowd: Crowd, stream: Stream) -> Iterator[Pose]:
    """Places for it, turned as it is: free, within reach, and neither nearer to the goal nor out of its way."""
    x, y, z = thing.pose.position
    radius = max(math.dist(corner, (x, y)) for corner in extent(thing).ring.tolist())
    box, found = workspace(SUITES[episode.parsed.suite], episode.scene), 0
    for _ in range(TRIED):
        spot = free_place(radius, crowd, box, DRAWN, stream)
        if spot is None:
            return
        place = Pose((spot[0], spot[1], z), thing.pose.rotation)
        if math.dist(spot[:2], (x, y)) >= MOVED and _fair(episode, world, thing, place):
            yield place
            found += 1
            if found == PLACES:
                return


def _fair(episode: Episode, world: World, thing: Body, place: Pose) -> bool:
    """Can the hand come to it there, and does the goal stand as before?"""
    world.reset()
    monitor = Monitor(episode.goal, world)
    before = [(n.status.satisfied, n.status.violated) for n in monitor.nodes()]
    (x, y, _), top = place.position, extent(thing).high
    heading = pointing_down(monitor.watch, x, y)
    if world.robot is None or not all(world.robot.reaches(Pose((x, y, top + h), heading), NEAR) for h in HEIGHTS):
        return False
    old = world.frame(thing.name)[0].copy()
    world.teleport({thing.name: place})
    monitor.displaced(thing.name, world.frame(thing.name)[0] - old)
    monitor.update()
    return world.fits(thing.name) and before == [(n.status.satisfied, n.status.violated) for n in monitor.nodes()]


@perturbation("light_out", "event", plausible=True)
def light_out(episode: Episode, stream: Stream) -> Episode:
    """Put all lamps out at some moment; only dim light from everywhere is left."""
    return _happening(episode, LightOut(_moment(episode, stream), round(stream.uniform(DIMMER, DIM), 6)))


@perturbation("cover_camera", "event", plausible=True)
def cover_camera(episode: Episode, stream: Stream) -> Episode:
    """Cover one of the cameras at some moment; the others still see."""
    usual = SUITES[episode.parsed.suite].cameras
    eyes = [c.name for c in episode.scene.cameras if (c.name in usual if usual else c.name != "render")]
    if len(eyes) < 2:
        raise EtudeError(f"cover_camera: {episode.name} has no second camera to see by")
    return _happening(episode, CameraCovered(_moment(episode, stream), stream.choice(eyes)))


@perturbation("push_hand", "event", plausible=True)
def push_hand(episode: Episode, stream: Stream) -> Episode:
    """Push the hand aside, or up, at some moment."""
    moment, turn, rise = _moment(episode, stream), stream.uniform(-math.pi, math.pi), stream.uniform(0.0, 0.5)
    force = stream.uniform(*PUSH)
    along = force * math.sqrt(1.0 - rise * rise)
    x, y, z = (round(v, 6) for v in (along * math.cos(turn), along * math.sin(turn), force * rise))
    return _happening(episode, HandPushed(moment, (x, y, z), stream.integer(*PUSHED)))
