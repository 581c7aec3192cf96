"""Arms of others: a serial chain of hinges read from an MJCF or URDF file by MuJoCo's own parsers.

Joints, limits and masses are the file's. Every solid becomes a capsule around it, which is what our arms are made of and what planning
expects; what is seen are the file's own primitives and meshes in their colours. Numbers are kept to nine decimals, as everywhere.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from etude.arithmetic import norms
from etude.catalog.mesh import box, capsule, cylinder, ellipsoid, surface, turned
from etude.catalog.shape import Piece, PieceKind
from etude.names import EtudeError, unknown
from etude.pose import Array, Pose, Vec3, align, yaw_quat
from etude.scene.robots.anatomy import Arm, Link, Look

LEAST_JOINTS = 6  # a hand has six ways to move, and actions ask for all of them
SPEED = 2.0  # rad/s, where a file does not say how fast a joint turns: slower than any of our arms
FIRMNESS, SOFTEST, STIFFEST = 60.0, 800.0, 5000.0  # servos: N·m/rad for each N·m of torque, within the bounds of our own arms
LEAST_MASS = 0.01  # kg of a link between two joints of one body
SHORTEST = 1e-4  # m: half the length of a capsule around something round
RESERVED = "&=?+#@/"  # have a meaning in names of episodes

Values = float | Sequence[float] | None


@dataclass
class _Segment:
    """What moves as one: the bodies that ride on a joint (or on the base), with their frames in that of the joint, and their mass."""

    origin: Pose = Pose()
    joint: int = -1
    bodies: list[tuple[int, Pose]] = field(default_factory=list)


def read_arm(
    path: str | Path, name: str, tip: str, home: Sequence[float], offset: Pose, torque: Values, speed: Values, stiffness: Values
) -> Arm:
    """The arm that a file describes; see :meth:`Arm.from_mjcf` for what the arguments mean."""
    source = Path(path)
    if not name or any(c in RESERVED for c in name):
        raise EtudeError(f"{name!r} cannot be the name of an arm; expected a word without any of {RESERVED}")
    with _in_one_line(source):
        spec = mujoco.MjSpec.from_file(str(source))
        spec.compiler.fusestatic = False  # the tip may well be a link that is fixed to another
        model = spec.compile()
    segments, flange = _segments(model, source, tip)
    base, links = segments[0], segments[1:]
    if len(links) < LEAST_JOINTS:
        raise EtudeError(
            f"{source.name}: {len(links)} joints lead to {tip!r}; an arm needs at least {LEAST_JOINTS} to turn its hand any way"
        )
    torques = _each("torque", torque, links, [_torque(model, s.joint) for s in links], model, source)
    told = _told_speeds(source)
    speeds = _each("speed", speed, links, [told.get(model.joint(s.joint).name, SPEED) for s in links], model, source)
    firm = _each("stiffness", stiffness, links, [min(max(FIRMNESS * t, SOFTEST), STIFFEST) for t in torques], model, source)
    ranges = [_range(model, s.joint, source) for s in links]
    _check_home(name, home, ranges, [model.joint(s.joint).name for s in links])
    base_looks, base_pieces = _solids(model, base)
    built = []
    for segment, limits, strength, pace in zip(links, ranges, torques, speeds, strict=True):
        looks, pieces = _solids(model, segment)
        mass = max(round(math.fsum(float(model.body_mass[b]) for b, _ in segment.bodies), 6), LEAST_MASS)
        pieces = pieces or (Piece("capsule", (0.01, SHORTEST, 0.0)),)  # something that can weigh
        built.append(Link(segment.origin, limits, strength, pace, mass, looks, pieces))
    return Arm(name, tuple(built), flange * offset, tuple(float(q) for q in home), tuple(firm), base_looks, base_pieces)


@contextlib.contextmanager
def _in_one_line(source: Path) -> Iterator[None]:
    if not source.is_file():
        raise EtudeError(f"there is no file {str(source)!r}")
    try:
        yield
    except (ValueError, mujoco.FatalError) as error:
        raise EtudeError(f"{source.name} cannot be read as MJCF or URDF: {' '.join(str(error).split())}") from None


# ------------------------------------------------------------------------------------------------ the chain


def _segments(model: Any, source: Path, tip: str) -> tuple[list[_Segment], Pose]:
    """The base, then what every joint carries, and the flange in the frame of the last joint."""
    last, flange = _tip(model, source, tip)
    chain = [last]
    while model.body_parentid[chain[0]]:
        chain.insert(0, int(model.body_parentid[chain[0]]))
    of_urdf = _root(source).tag == "robot"
    found, frame = [_Segment()], Pose()
    if of_urdf:  # the root link is MuJoCo's world; in MJCF the world is a room in which the arm stands
        found[0].bodies.append((0, Pose()))
    ends = max((i for i, body in enumerate(chain) if model.body_jntnum[body]), default=0)
    for i, body in enumerate(chain):
        standing = i == 0 and not of_urdf and not model.body_jntnum[body]
        frame = Pose() if standing else frame * _frame(model.body_pos[body], model.body_quat[body])
        for joint in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
            kind = mujoco.mjtJoint(int(model.jnt_type[joint])).name.removeprefix("mjJNT_").lower()
            if kind != "hinge":
                raise EtudeError(
                    f"{source.name}: joint {model.joint(joint).name!r} on the way to {tip!r} is of type {kind}; expected hinges"
                )
            hinge = _frame(model.jnt_pos[joint], align((0.0, 0.0, 1.0), model.jnt_axis[joint]))
            zero = yaw_quat(-float(model.qpos0[model.jnt_qposadr[joint]]))
            found.append(_Segment(frame * hinge * Pose((0.0, 0.0, 0.0), zero), joint))
            frame = hinge.inverse()
        found[-1].bodies.append((body, frame))
        for child in _children(model, body):
            if child in chain:
                continue
            if not _moves(model, child):
                found[-1].bodies += _riding(model, child, frame)
            elif i < ends:
                raise EtudeError(f"{source.name}: {model.body(child).name!r} branches off before {tip!r}; expected one chain of joints")
    _check_open(model, source, chain, {s.joint for s in found[1:]})
    return found, frame * flange


def _tip(model: Any, source: Path, tip: str) -> tuple[int, Pose]:
    sites = {model.site(i).name: i for i in range(model.nsite)}
    bodies = {model.body(i).name: i for i in range(1, model.nbody)}
    if tip in sites:
        site = sites[tip]
        return int(model.site_bodyid[site]), _frame(model.site_pos[site], model.site_quat[site])
    if tip not in bodies:
        raise unknown(f"site or body of {source.name}", tip, [n for n in (*sites, *bodies) if n])
    return bodies[tip], Pose()


def _frame(position: Any, rotation: Any) -> Pose:
    return Pose.of(np.asarray(position), np.asarray(rotation))


def _children(model: Any, body: int) -> list[int]:
    return [b for b in range(1, model.nbody) if model.body_parentid[b] == body]


def _moves(model: Any, body: int) -> bool:
    return bool(model.body_jntnum[body]) or any(_moves(model, child) for child in _children(model, body))


def _riding(model: Any, body: int, frame: Pose) -> list[tuple[int, Pose]]:
    """A body that is fixed to one at ``frame``, and what is fixed to it."""
    place = frame * _frame(model.body_pos[body], model.body_quat[body])
    return [(body, place), *(rider for child in _children(model, body) for rider in _riding(model, child, place))]


def _check_open(model: Any, source: Path, chain: list[int], joints: set[int]) -> None:
    """Nothing may tie the chain to itself or to anything else."""
    ties = (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD)
    for k in range(model.neq):
        ends = [int(v) for v in (model.eq_obj1id[k], model.eq_obj2id[k]) if v >= 0]
        if model.eq_type[k] == mujoco.mjtEq.mjEQ_JOINT:
            tied = any(end in joints for end in ends)
        elif mujoco.mjtEq(int(model.eq_type[k])) in ties:
            of_sites = model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_SITE
            tied = any((int(model.site_bodyid[end]) if of_sites else end) in chain for end in ends)
        else:
            tied = False
        if tied:
            name = model.equality(k).name or f"number {k + 1}"
            raise EtudeError(f"{source.name}: the equality {name!r} closes or couples the chain; expected joints that move on their own")


# ------------------------------------------------------------------------------------------------ limits


def _range(model: Any, joint: int, source: Path) -> tuple[float, float]:
    if not model.jnt_limited[joint]:
        raise EtudeError(f"{source.name}: joint {model.joint(joint).name!r} has no limits; write its range into the file")
    low, high = (round(float(v), 9) for v in model.jnt_range[joint])
    return low, high


def _torque(model: Any, joint: int) -> float | None:
    """The largest torque of a joint: what the joint itself allows, or its actuator."""
    if model.jnt_actfrclimited[joint]:
        return round(float(np.abs(model.jnt_actfrcrange[joint]).max()), 6)
    for k in range(model.nu):
        drives = mujoco.mjtTrn(int(model.actuator_trntype[k])) in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
        if drives and model.actuator_trnid[k, 0] == joint and model.actuator_forcelimited[k]:
            return round(float(np.abs(model.actuator_forcerange[k]).max() * abs(model.actuator_gear[k, 0])), 6)
    return None


def _root(source: Path) -> ElementTree.Element:
    return ElementTree.parse(source).getroot()


def _told_speeds(source: Path) -> dict[str, float]:
    """The speeds (rad/s) that a URDF file gives its joints; MuJoCo has no such number, and its files have none."""
    root = _root(source)
    limits = {j.get("name", ""): j.find("limit") for j in root.iter("joint")} if root.tag == "robot" else {}
    return {name: float(limit.get("velocity", SPEED)) for name, limit in limits.items() if limit is not None}


def _each(what: str, given: Values, links: list[_Segment], told: Sequence[float | None], model: Any, source: Path) -> list[float]:
    """A positive number for every joint: as given, or as the file says."""
    values = list(told) if given is None else [given] * len(links) if isinstance(given, (int, float)) else list(given)
    if len(values) != len(links):
        raise EtudeError(f"{what} must be one number or {len(links)}, one for each joint, got {len(values)}")
    for segment, value in zip(links, values, strict=True):
        if value is None or not (math.isfinite(value) and value > 0):
            where = model.joint(segment.joint).name
            raise EtudeError(f"{source.name}: joint {where!r} has no {what} above zero{'' if given else f'; give {what}=…'}")
    return [float(v) for v in values if v is not None]


def _check_home(name: str, home: Sequence[float], ranges: Sequence[tuple[float, float]], joints: Sequence[str]) -> None:
    if len(home) != len(ranges):
        raise EtudeError(f"the home of {name!r} has {len(home)} values; expected {len(ranges)}, one for each of {', '.join(joints)}")
    for joint, value, (low, high) in zip(joints, home, ranges, strict=True):
        if not low <= value <= high:
            raise EtudeError(f"the home of {name!r} puts joint {joint!r} at {value:.4g} rad; its range is {low:.4g} to {high:.4g}")


# ------------------------------------------------------------------------------------------------ what it looks and feels like


def _solids(model: Any, segment: _Segment) -> tuple[tuple[Look, ...], tuple[Piece, ...]]:
    """What is seen of a segment and what it touches with. Where a file tells only one of them, it stands for both."""
    seen: list[tuple[int, Pose]] = []
    felt: list[tuple[int, Pose]] = []
    for body, frame in segment.bodies:
        for geom in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
            if _kind(model, geom) is None:
                continue
            place = frame * _frame(model.geom_pos[geom], model.geom_quat[geom])
            (felt if model.geom_contype[geom] or model.geom_conaffinity[geom] else seen).append((geom, place))
    looks = tuple(_look(model, geom, place) for geom, place in seen or felt)
    return looks, tuple(_capsule(model, geom, place) for geom, place in felt or seen)


_KINDS: dict[Any, PieceKind] = {
    mujoco.mjtGeom.mjGEOM_BOX: "box",
    mujoco.mjtGeom.mjGEOM_CYLINDER: "cylinder",
    mujoco.mjtGeom.mjGEOM_SPHERE: "sphere",
    mujoco.mjtGeom.mjGEOM_CAPSULE: "capsule",
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: "ellipsoid",
    mujoco.mjtGeom.mjGEOM_MESH: "hull",
}


def _kind(model: Any, geom: int) -> PieceKind | None:
    """What the solid is; None for planes and fields, which no arm is made of."""
    return _KINDS.get(mujoco.mjtGeom(int(model.geom_type[geom])))


def _size(model: Any, geom: int) -> Vec3:
    a, b, c = (round(float(v), 9) for v in model.geom_size[geom])
    return (a, b, c)


def _triangles(model: Any, geom: int, place: Pose) -> tuple[Array, Array]:
    """Vertices (N, 3) of a mesh in the frame of its segment, to a micrometre, and its faces (M, 3)."""
    k = int(model.geom_dataid[geom])
    points = model.mesh_vert[model.mesh_vertadr[k] : model.mesh_vertadr[k] + model.mesh_vertnum[k]].astype(float)
    faces = model.mesh_face[model.mesh_faceadr[k] : model.mesh_faceadr[k] + model.mesh_facenum[k]]
    return np.round(place.apply(points), 6), np.asarray(faces)


def _look(model: Any, geom: int, place: Pose) -> Look:
    material = int(model.geom_matid[geom])
    rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
    colour = "#" + "".join(f"{round(255 * min(max(float(v), 0.0), 1.0)):02x}" for v in rgba[:3])
    kind, (a, b, c) = _kind(model, geom), _size(model, geom)
    if kind == "hull":
        return Look(surface(*_triangles(model, geom, place)), colour)
    if kind == "box":
        mesh = box((2 * a, 2 * b, 2 * c))
    elif kind == "cylinder":
        mesh = cylinder(a, 2 * b)
    elif kind == "capsule":
        mesh = capsule(a, 2 * b)
    else:
        mesh = ellipsoid((a, b, c) if kind == "ellipsoid" else (a, a, a))
    return Look(mesh.moved(place.position, place.rotation), colour)


def _capsule(model: Any, geom: int, place: Pose) -> Piece:
    kind = _kind(model, geom)
    assert kind is not None
    if kind == "hull":
        return capsule_around(_triangles(model, geom, place)[0])
    piece = Piece(kind, _size(model, geom))
    return (piece if kind == "capsule" else capsule_around(piece.support())).moved(place.position, place.rotation)


def capsule_around(points: Array) -> Piece:
    """The smallest capsule along x, y or z that is as long and as wide as the points (N, 3); the edges at its ends are rounded off."""
    middle = (points.min(0) + points.max(0)) / 2
    x, y, z = middle.tolist()
    found = []
    for axis in range(3):
        across = (points - middle)[:, [i for i in range(3) if i != axis]]
        radius = float(norms(across).max())
        half = max(float(np.ptp(points[:, axis])) / 2 - radius, SHORTEST)
        volume = math.pi * radius * radius * (2 * half + 4 / 3 * radius)
        found.append((round(volume, 12), axis, Piece("capsule", (round(radius, 9), round(half, 9), 0.0), (x, y, z), turned("xyz"[axis]))))
    return min(found, key=lambda one: one[:2])[2]
