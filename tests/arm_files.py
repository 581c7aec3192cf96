"""Arms written as other people's files: MJCF and URDF."""

from __future__ import annotations

import math

from etude.pose import Pose, matrix
from etude.scene.robots import Arm


def _numbers(values) -> str:
    return " ".join(repr(float(v)) for v in values)


def _placed(pose: Pose) -> str:
    return f'pos="{_numbers(pose.position)}" quat="{_numbers(pose.rotation)}"'


def _capsules(pieces) -> str:
    return "".join(f'<geom type="capsule" size="{_numbers(p.size[:2])}" {_placed(Pose(p.position, p.rotation))}/>' for p in pieces)


def as_mjcf(arm: Arm, tip: str = "flange", beyond: str = "", beside: str = "", outside: str = "") -> str:
    """The arm on a stand in a room; ``beyond`` hangs on its last link, ``beside`` on its first, ``outside`` stands after the world."""
    text = f'<site name="{tip}" {_placed(arm.flange)}/>{beyond}'
    for i, link in reversed(list(enumerate(arm.links, 1))):
        (low, high), torque = link.range, link.torque
        joint = f'<joint name="axis{i}" axis="0 0 1" range="{low} {high}" actuatorfrcrange="-{torque} {torque}"/>'
        inertia = f'<inertial pos="0 0 0" mass="{link.mass}" diaginertia="0.01 0.01 0.01"/>'
        text = (
            f'<body name="part{i}" {_placed(link.origin)}>{joint}{inertia}{_capsules(link.pieces)}{text}{beside if i == 1 else ""}</body>'
        )
    stand = f'<body name="stand" pos="0.3 0.2 0.8">{_capsules(arm.base_pieces)}{text}</body>'
    floor = '<geom type="plane" size="1 1 0.1"/>'
    return f'<mujoco><compiler angle="radian"/><worldbody>{floor}{stand}</worldbody>{outside}</mujoco>'


def _rpy(pose: Pose) -> str:
    R = matrix(pose.rotation)
    pitch = math.asin(max(-1.0, min(1.0, -R[2, 0])))
    if abs(R[2, 0]) > 1 - 1e-12:
        return _numbers((0.0, pitch, math.atan2(-R[0, 1], R[1, 1])))
    return _numbers((math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])))


def _origin(pose: Pose) -> str:
    return f'<origin xyz="{_numbers(pose.position)}" rpy="{_rpy(pose)}"/>'


def as_urdf(arm: Arm, tip: str = "flange") -> str:
    """The arm with its links numbered from 0, the base; a fixed joint leads to the tip."""

    def link(name: str, pieces, mass: float = 0.0) -> str:
        inertia = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
        inertial = f'<inertial><mass value="{mass}"/>{inertia}</inertial>' if mass else ""
        solids = "".join(
            f"<{what}>{_origin(Pose(p.position, p.rotation))}<geometry>"
            f'<cylinder radius="{p.size[0]}" length="{2 * (p.size[1] + p.size[0])}"/></geometry></{what}>'
            for p in pieces
            for what in ("visual", "collision")
        )
        return f'<link name="{name}">{inertial}{solids}</link>'

    parts = [link("part0", arm.base_pieces)]
    for i, one in enumerate(arm.links, 1):
        (low, high) = one.range
        parts.append(link(f"part{i}", one.pieces, one.mass))
        limit = f'<limit lower="{low}" upper="{high}" effort="{one.torque}" velocity="{one.speed}"/>'
        ends = f'<parent link="part{i - 1}"/><child link="part{i}"/>'
        parts.append(f'<joint name="axis{i}" type="revolute">{ends}{_origin(one.origin)}<axis xyz="0 0 1"/>{limit}</joint>')
    ends = f'<parent link="part{len(arm.links)}"/><child link="{tip}"/>'
    parts += [link(tip, ()), f'<joint name="mount" type="fixed">{ends}{_origin(arm.flange)}</joint>']
    return f'<?xml version="1.0"?><robot name="{arm.name}">{"".join(parts)}</robot>'
