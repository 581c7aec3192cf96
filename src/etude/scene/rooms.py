"""The three rooms the suites play in: table, robot, light and cameras with the published measures.

A room is a scene without things; a task adds them with :func:`furnished`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from etude.names import unknown
from etude.pose import Pose, Vec3, matrix_quat
from etude.scene.scene import Camera, Entity, Floor, Light, Lighting, Robot, Scene, Table, Walls, look_at


def furnished(room: Scene, *things: Entity) -> Scene:
    """The room with these things in it."""
    return replace(room, entities=room.entities + things)


# ------------------------------------------------------------------------------------------------ VIMA-Bench

UR5_LOWER, UR5_UPPER = (0.25, -0.5), (0.75, 0.5)  # workspace, metres (VIMA 1.1)


def ur5_room(hand: str = "suction", visible: bool = False) -> Scene:
    """A dark table before a UR5, seen from above and from the front without perspective (VIMA 1.1 and 1.6)."""
    half = math.sqrt(0.5)
    cameras = (
        Camera("top", look_at((0.5, 0.0, 1.5), (0.5, 0.0, 0.0), (-1.0, 0.0, 0.0)), None, 0.510, (256, 128), 0.01, 3.0),
        Camera("front", look_at((1.41, 0.0, 1.0), (0.41, 0.0, 0.0), (-half, 0.0, half)), None, 0.509, (256, 128), 0.01, 4.0),
        Camera("render", look_at((1.45, -0.95, 0.95), (0.35, 0.0, 0.12)), 38.0, None, (512, 512)),
    )
    return Scene(
        robot=Robot("ur5", hand, visible=visible),
        table=Table((0.5, 0.0), (0.501, 0.999), 0.0, 0.002, "#333333", endless=True, legs=False),
        floor=None,
        lighting=Lighting(background=(1.0, 1.0, 1.0)),
        cameras=cameras,
    )


# ------------------------------------------------------------------------------------------------ ClevrSkills


# Where the camera "base" stands, what it looks at (m), and its field of view. "table" holds what an arm can reach, up to 0.42 m high;
# "wide" also what can be thrown at. The original's (ClevrSkills 1.6) misses much of either, and half of it is sky.
XARM_VIEWS: dict[str, tuple[Vec3, Vec3, float]] = {
    "table": ((1.02, 0.0, 1.19), (0.03, 0.0, 0.2), 28.0),
    "wide": ((0.9, 0.0, 1.15), (0.0, 0.0, 0.12), 55.0),
    "original": ((0.3, -0.1, 0.3), (-0.1, 0.0, 0.1), 90.0),
}


def xarm_room(arm: str = "xarm6", view: str = "table") -> Scene:
    """A light table around an arm with a five-cup vacuum (ClevrSkills 1.3, 1.6 and 1.7), seen in one of three ways."""
    eye, target, fov = XARM_VIEWS[view]
    base = {"xarm6": (-0.562, 0.0, 0.0), "panda": (-0.65, 0.0, 0.0)}.get(arm, (-0.6, 0.0, 0.0))
    # On the hand: forward is the tool's z, up its x.
    hand_view = Pose.of((0.0464982, -0.0200011, 0.0360011), matrix_quat([[0, -1, 0], [1, 0, 0], [0, 0, 1]]))
    cameras = (
        Camera("base", look_at(eye, target), fov, size=(256, 256)),
        Camera("hand_view", hand_view, 90.0, size=(256, 256), mount="hand", hides=("hand",)),
        Camera("render", look_at((1.0, 1.0, 0.8), (0.0, 0.0, 0.1)), math.degrees(1.0), size=(512, 512)),
    )
    return Scene(
        robot=Robot(arm, "vacuum", Pose(base)),
        table=Table((-0.5, 0.0), (1.5, 1.5), 0.0, 0.01, "light wood", 0.9, endless=True, legs=False),
        floor=Floor(-0.0125, "#264040", 1.0, 100.0),
        lighting=Lighting(
            ambient=(0.36, 0.36, 0.36),
            key=Light((1.0, 1.0, -1.0), (0.5, 0.5, 0.5)),
            fills=(Light((0.0, 0.0, -1.0), (0.3, 0.3, 0.3)),),
            background=(0.55, 0.63, 0.66),
        ),
        cameras=cameras,
    )


# ------------------------------------------------------------------------------------------------ VLMbench, HiMan-Bench

TABLE_TOP = 0.752  # m (VLMbench 0.1)
RLBENCH_LOWER, RLBENCH_UPPER = (-0.075, -0.455), (0.575, 0.455)
RLBENCH_REACH: tuple[Vec3, Vec3] = ((-0.275, -0.655, 0.712), (0.775, 0.655, 1.752))  # m: where the tip may be (VLMbench 0.1)
RLBENCH_HOME = (0.0, 0.1745, 0.0, -0.8029, 0.0, 1.2217, 0.7854)  # rad, with the published zero of joint 4 (VLMbench 0.2)


GRASPS = ("friction", "glued")


def rlbench_room(texture: str = "light wood", walls: str = "plaster", grasp: str = "friction") -> Scene:
    """The walled room of RLBench and its descendants: a Panda on a table, five cameras (VLMbench 0.1 to 0.3) and one to look on.

    With ``grasp`` "glued", what both fingers touch is fixed to the hand, as in the originals.
    """
    if grasp not in GRASPS:
        raise unknown("value of grasp", grasp, GRASPS)

    def looking(name: str, eye: Vec3, along: Vec3, up: Vec3 = (0.0, 0.0, 1.0)) -> Camera:
        target = (eye[0] + along[0], eye[1] + along[1], eye[2] + along[2])
        return Camera(name, look_at(eye, target, up), 40.0, size=(256, 256), far=4.5)

    c, s = math.cos(math.radians(5.0)), math.sin(math.radians(5.0))
    wrist = Pose.of((0.05, 0.0, 0.0), matrix_quat(np.array([[0.0, -c, -s], [1.0, 0.0, 0.0], [0.0, -s, c]])))
    cameras = (
        looking("left_shoulder", (-0.175, 0.20, 1.98), (0.416, -0.073, -0.906)),
        looking("right_shoulder", (-0.175, -0.20, 1.98), (0.416, 0.073, -0.906)),
        looking("front", (1.35, 0.0, 1.58), (-0.906, 0.0, -0.423)),
        looking("overhead", (0.25, 0.0, 2.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)),
        Camera("wrist", wrist, 60.0, size=(256, 256), mount="hand", far=4.5),
        Camera("render", look_at((-0.55, 1.45, 1.7), (0.22, 0.0, 1.06)), 42.0, size=(512, 512)),
    )
    return Scene(
        robot=Robot("panda", "gluing" if grasp == "glued" else "parallel", Pose((-0.268, -0.006, 0.752)), RLBENCH_HOME),
        table=Table((0.15, 0.0), (1.2, 1.5), TABLE_TOP, 0.04, texture, 0.9),
        floor=Floor(0.0, "concrete", 1.2, 8.0),
        walls=Walls(walls),
        cameras=cameras,
    )
