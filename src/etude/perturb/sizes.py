"""Factors of size: what is manipulated and what receives, larger or smaller, with collision, looks and goal together."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np

from etude.arithmetic import norms
from etude.catalog.grasp import graspable
from etude.catalog.polygon import separation
from etude.catalog.registry import default_size, shape
from etude.catalog.shape import Shape
from etude.catalog.suction import suction_spot
from etude.episodes import Episode
from etude.goals.adapting import Scaled
from etude.goals.goal import Goal, every
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import perturbation
from etude.perturb.telling import refuse_told_size, role
from etude.pose import Array, Pose, Vec3
from etude.scene import robots
from etude.scene.outlines import Extent, extent
from etude.scene.robots.anatomy import forward
from etude.scene.scene import Area, Body, Entity, Fixture, FixturePart, Joint, Marker, Particles, Scene, Specks
from etude.scene.world import World

MANIPULATED, RECEIVING = (0.75, 1.25), (0.75, 1.15)  # The Colosseum's defaults
LARGEST = MANIPULATED[1]
MECHANISM = (0.9, 1.15)  # what has joints, in either role (HiMan-Bench 3.3)
DRAWS = 6  # factors drawn before the last of them is brought nearer to 1
HALVINGS = 3
NARROW = 0.05  # m: fingers get round this wherever they got round less
UNIT, STEP = 0.01, 0.05  # m, and the logarithm of a step: sizes in which things are tried in the hand
LEAST = 0.01  # a change that is smaller is none
RESTS = 0.006  # m: what is so near above something rests on it
DECIMALS = 9  # of extents, metres
LAST = -1  # rank: distractors come first, and keep off every size that a thing may get
ARM_ROOM, BELOW = 0.2, 0.05  # m: at the start the arm is within this of its base, or not so far below the tip of the hand
BESIDE = 0.045  # m: an open hand fits between two things
_SQUARE = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])


@perturbation("mo_size", "scene", plausible=True, varies="the size of what is moved", rank=LAST, factor=True)
def mo_size(episode: Episode, stream: Stream) -> Episode:
    """Make the manipulated things larger or smaller; the goal follows. Refused where the instruction or the goal goes by sizes."""
    return _resized(episode, "manipulated", "mo_size", MANIPULATED, stream)


@perturbation("ro_size", "scene", plausible=True, varies="the size of what receives", rank=LAST, factor=True)
def ro_size(episode: Episode, stream: Stream) -> Episode:
    """Make the receiving things larger or smaller; the goal follows. Refused where the instruction or the goal goes by sizes."""
    return _resized(episode, "receiving", "ro_size", RECEIVING, stream)


def _resized(episode: Episode, whose: str, factor: str, usual: tuple[float, float], stream: Stream) -> Episode:
    names = tuple(dict.fromkeys(name.partition("/")[0] for name in role(episode, whose, factor)))
    refuse_told_size(episode, names, factor)
    for name in names:
        _refuse_by_goal(episode, name, factor)
        entity = episode.scene.entity(name)
        low, high = MECHANISM if isinstance(entity, Fixture) and entity.jointed() else usual
        episode = _one(episode, name, factor, [stream.uniform(low, high) for _ in range(DRAWS)], whose == "manipulated")
    return episode


def _refuse_by_goal(episode: Episode, name: str, factor: str) -> None:
    """Refuse what the goal cannot follow, before anything is drawn: it is asked about a change that changes nothing."""
    try:
        episode.goal.scaled(Scaled(name, 1.0, episode.scene, episode.scene, episode.goal))
    except EtudeError as error:
        raise type(error)(f"{factor}: {error}") from None


def _one(episode: Episode, name: str, factor: str, drawn: list[float], held: bool) -> Episode:
    """The episode with one thing scaled by the first of the factors that leaves a sound scene, or by one nearer to 1."""
    tries = [*drawn, *(1.0 + (drawn[-1] - 1.0) / 2**k for k in range(1, HALVINGS + 1))]
    for times in (round(t, 4) for t in tries):
        if abs(times - 1.0) < LEAST:
            continue
        scene = resized(episode.scene, name, times, episode.held == name)
        if (not held or _graspable(episode.scene, scene, name)) and _sound(episode.scene, scene) and _roomy(episode, scene):
            change = Scaled(name, times, episode.scene, scene, episode.goal)
            return replace(episode, scene=scene, goal=episode.goal.scaled(change))
    raise EtudeError(f"{factor}: there is no room for {name!r} of {episode.name} in another size")


# ------------------------------------------------------------------------------------------------ a scene with one thing scaled


def resized(scene: Scene, name: str, times: float, held: bool = False) -> Scene:
    """The scene with a thing scaled about where it stands, and what rests on it or in it moved along.

    What is ``held`` by suction keeps its top where it is, not its lower side.
    """
    entity = scene.entity(name)
    new = _scaled(entity, times)
    if isinstance(entity, (Body, Area, Marker)) and isinstance(new, (Body, Area, Marker)):
        new = replace(new, pose=_hanging(entity, new) if held else _standing(entity, new))
    elif isinstance(entity, Fixture) and isinstance(new, Fixture):
        new = replace(new, pose=new.pose.moved(z=extent(entity).low - extent(new).low))
    riders = [] if held else _riders(scene, entity)
    return scene.changed(new, *(_carried(rider, entity, new, times) for rider in riders))


def _times(size: Vec3, times: float) -> Vec3:
    return round(size[0] * times, DECIMALS), round(size[1] * times, DECIMALS), round(size[2] * times, DECIMALS)


def _scaled(entity: Entity, times: float) -> Entity:
    """The thing in its own frame; masses go with the volume."""
    if isinstance(entity, Body):
        mass = entity.mass if entity.mass is not None else shape(entity.shape, entity.size).mass
        heavy = None if mass is None else round(mass * math.pow(times, 3), 9)
        return replace(entity, size=_times(entity.size or default_size(entity.shape), times), mass=heavy)
    if isinstance(entity, (Area, Marker)):
        return replace(entity, size=_times(entity.size or default_size(entity.shape), times))
    if isinstance(entity, Particles):
        return _grown(entity, times)
    if isinstance(entity, Specks):
        return replace(entity, size=_times(entity.size, times))
    assert isinstance(entity, Fixture)
    slides = {p.name for p in entity.jointed() if p.joint is not None and p.joint.kind == "slide"}
    values = zip([p.name for p in entity.jointed()], entity.joints, strict=False)
    return replace(
        entity,
        parts=tuple(_part(p, times) for p in entity.parts),
        joints=tuple(round(v * times, 9) if name in slides else v for name, v in values),
        latches=tuple(replace(one, release=round(one.release * times, 9)) if one.lock in slides else one for one in entity.latches),
    )


def _part(part: FixturePart, times: float) -> FixturePart:
    solids = tuple(replace(s, size=_times(s.size, times), pose=_spread(s.pose, times)) for s in part.solids)
    joint = None if part.joint is None else _joint(part.joint, times)
    return replace(part, solids=solids, pose=_spread(part.pose, times), joint=joint, mass=round(part.mass * math.pow(times, 3), 9))


def _joint(joint: Joint, times: float) -> Joint:
    moved = replace(joint, anchor=_times(joint.anchor, times))
    low, high = joint.range
    return replace(moved, range=(round(low * times, 9), round(high * times, 9))) if joint.kind == "slide" else moved


def _spread(pose: Pose, times: float) -> Pose:
    x, y, z = pose.position
    return Pose((x * times, y * times, z * times), pose.rotation)


def _grown(grains: Particles, times: float) -> Particles:
    """Larger or smaller grains that lie where they lay."""
    lift = (times - 1.0) * grains.diameter / 2
    return replace(
        grains,
        diameter=round(grains.diameter * times, DECIMALS),
        mass=round(grains.mass * math.pow(times, 3), 12),
        positions=tuple((x, y, round(z + lift, 9)) for x, y, z in grains.positions),
    )


def _model(entity: Body | Area | Marker) -> Shape:
    return shape(entity.shape, entity.size)


def _standing(old: Body | Area | Marker, new: Body | Area | Marker) -> Pose:
    """On what it stood on."""
    return old.pose.moved(z=_model(new).lift(new.pose.rotation) - _model(old).lift(old.pose.rotation))


def _hanging(old: Body | Area | Marker, new: Body | Area | Marker) -> Pose:
    """Where the cups held it: the same spot of it, at the same height."""
    before, after = _model(old), _model(new)
    x, y, _ = suction_spot(before) or (0.0, 0.0, 0.0)
    less = 1.0 - after.size[2] / before.size[2]
    across = old.pose.apply((less * x, less * y, 0.0)) - np.asarray(old.pose.position)
    return old.pose.moved(float(across[0]), float(across[1]), float(before.bounds[1][2] - after.bounds[1][2]))


# ------------------------------------------------------------------------------------------------ what rests on it


def _riders(scene: Scene, entity: Entity) -> list[Entity]:
    """Everything that is on or in a thing, also by way of others."""
    extents = {e.name: extent(e) for e in scene.entities if e is not entity and not isinstance(e, (Area, Marker))}
    found: list[Entity] = []
    below = [extent(entity)]
    while below:
        carrier = below.pop()
        for other in scene.entities:
            if other not in found and other.name in extents and _rests(extents[other.name], carrier, isinstance(entity, Area)):
                found.append(other)
                below.append(extents[other.name])
    return found


def _rests(upper: Extent, lower: Extent, flat: bool) -> bool:
    """Is the lower side of the one above the other's, and its middle over it?"""
    above = upper.low > lower.low + (0.0 if flat else RESTS) or abs(upper.low - lower.high) < RESTS / 2
    middle = upper.ring.mean(0)
    return above and upper.low < lower.high + RESTS and separation(middle + 1e-4 * _SQUARE, lower.ring) < 0


def _carried(rider: Entity, old: Entity, new: Entity, times: float) -> Entity:
    """A thing moved with what it rests on: the point of contact is scaled, the thing keeps its size. Grains may shrink: they fill it."""
    if isinstance(rider, Particles):
        rider = _grown(rider, min(1.0, times))
        up = np.array((0.0, 0.0, rider.diameter / 2))
        return replace(rider, positions=_cells(_mapped(np.array(rider.positions) - up, old, new, times) + up))
    if isinstance(rider, Specks):
        return replace(rider, positions=_cells(_mapped(np.array(rider.positions), old, new, times)))
    assert isinstance(rider, (Body, Fixture))
    x, y, _ = rider.pose.position
    foot = np.array([[x, y, extent(rider).low]])
    dx, dy, dz = (_mapped(foot, old, new, times) - foot)[0].tolist()
    return replace(rider, pose=rider.pose.moved(dx, dy, dz))


def _cells(points: Array) -> tuple[Vec3, ...]:
    return tuple((round(x, 9), round(y, 9), round(z, 9)) for x, y, z in points.tolist())


def _mapped(points: Array, old: Entity, new: Entity, times: float) -> Array:
    """Points (N, 3) on or in a thing, as they are on the scaled one.

    Vessels keep the thickness of their walls, so what lies on the floor of one lies on the floor of the other.
    """
    before, after = (getattr(e, "pose", Pose()) for e in (old, new))
    local = before.inverse().apply(points)
    spread = local * times
    if isinstance(old, Body) and isinstance(new, Body):
        one, other = _model(old).cavity, _model(new).cavity
        if one is not None and other is not None:
            above = local[:, 2] - one[0][2]
            in_it = local[:, 2] < one[1][2] - RESTS
            spread[:, 2] = np.where(in_it, other[0][2] + np.where(above < RESTS, above, above * times), spread[:, 2])
    return np.asarray(after.apply(spread))


# ------------------------------------------------------------------------------------------------ soundness


def _graspable(before: Scene, after: Scene, name: str) -> bool:
    """Can the hand still take it, if it could?"""
    old, new = before.entity(name), after.entity(name)
    if before.robot is None or not (isinstance(old, Body) and isinstance(new, Body)):
        return True
    fingers = robots.hand(before.robot.hand).kind == "fingers"
    size, wanted = (e.size or default_size(e.shape) for e in (old, new))
    if (wanted[2] < size[2] or min(wanted[:2]) < NARROW) if fingers else wanted[2] > size[2]:
        return True  # fingers get round what is smaller, and a cup sticks to what is larger
    longest = max(size)
    form = round(size[0] / longest, 3), round(size[1] / longest, 3), round(size[2] / longest, 3)
    now, then = (math.log(extent / UNIT) / STEP for extent in (longest, max(wanted)))
    whole = math.ceil if fingers else math.floor  # beyond the size that is wanted
    return _takes(old.shape, form, whole(then), fingers) or not _takes(old.shape, form, round(now), fingers)


@functools.lru_cache(maxsize=1024)
def _takes(name: str, form: Vec3, steps: int, fingers: bool) -> bool:
    """Can fingers, or a cup, take a shape of these proportions? Sizes go in steps, so that few have to be tried."""
    longest = UNIT * math.exp(STEP * steps)
    model = shape(name, (form[0] * longest, form[1] * longest, form[2] * longest))
    return graspable(model) if fingers else suction_spot(model) is not None


def _sound(before: Scene, after: Scene) -> bool:
    """Does nothing overlap? Physics is asked only where outlines that were changed come near to others."""
    old = {e.name: e for e in before.entities}
    solid = [(e, extent(e)) for e in after.entities if isinstance(e, (Body, Fixture, Particles))]
    changed = [(e, x) for e, x in solid if e is not old[e.name]]
    near = any(
        other is not e and min(x.high, y.high) > max(x.low, y.low) + 1e-3 and separation(x.ring, y.ring) < 0.0
        for e, x in changed
        for other, y in solid
    )
    if not near and not any(_by_robot(after, x) for _, x in changed):
        return True
    try:
        World(after)
    except EtudeError:
        return False
    return True


def _roomy(episode: Episode, after: Scene) -> bool:
    """Can fingers still get beside what they take, where they could before? In a smaller cupboard things come nearer to each other."""
    before = episode.scene
    for thing in dict.fromkeys(part.grasp() for part in every(episode.goal, Goal)):
        if not thing or "/" in thing or before.entity(thing) is after.entity(thing):
            continue
        for other in (e.name for e in before.entities if isinstance(e, Body) and e.name != thing):
            then, now = (separation(extent(s.entity(thing)).ring, extent(s.entity(other)).ring) for s in (before, after))
            if now < BESIDE <= then:
                return False
    return True


def _by_robot(scene: Scene, thing: Extent) -> bool:
    """Is it so near to the arm, or so high, that they could meet?"""
    robot = scene.robot
    if robot is None:
        return False
    arm = robots.arm(robot.arm)
    tip = robot.base * forward(arm, robot.joints or arm.home) * robots.hand(robot.hand).tip
    away = float(norms(thing.ring - np.array(robot.base.position[:2])).min())
    return away < ARM_ROOM or thing.high > tip.position[2] - BELOW
