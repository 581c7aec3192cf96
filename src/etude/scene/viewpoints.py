"""Cameras of one's own, written as text, so that they can stand wherever the name of a camera can: in a command, a URL, a stored run.

``side=0.9:-0.6:0.7:0:0:0.1:50`` is called "side", stands at the first three numbers, looks at the next three (m, world frame), and its
vertical field of view is the last one (degrees). ``side=0.9:-0.6:0.7:W:X:Y:Z:50`` has a quaternion wxyz in place of what it looks at: the
optical frame as in OpenCV, x right, y down, z forward.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from etude.arithmetic import norm
from etude.names import EtudeError
from etude.pose import Pose
from etude.scene.scene import Camera, Scene, look_at

FORM = "NAME=X:Y:Z:TO_X:TO_Y:TO_Z:FOV or NAME=X:Y:Z:QW:QX:QY:QZ:FOV (m and degrees, world frame)"
FORWARDS = (1.0, 0.0, 0.0)  # upwards in pictures of a camera that looks straight down, or up


def own_camera(text: str) -> Camera | None:
    """The camera that is written so; None for the plain name of one in the scene."""
    name, sign, rest = text.partition("=")
    if not sign:
        return None
    try:
        numbers = [float(part) for part in rest.split(":")]
    except ValueError:
        numbers = []
    if len(numbers) not in (7, 8) or not all(map(math.isfinite, numbers)):
        raise EtudeError(f"{text!r} is not a camera; the form is {FORM}")
    eye = (numbers[0], numbers[1], numbers[2])
    if len(numbers) == 7:
        target = (numbers[3], numbers[4], numbers[5])
        plumb = math.hypot(target[0] - eye[0], target[1] - eye[1]) < 1e-6
        pose = look_at(eye, target, FORWARDS) if plumb else look_at(eye, target)
    elif abs(norm(numbers[3:7]) - 1.0) > 1e-3:
        raise EtudeError(f"the quaternion of camera {name!r} has the length {norm(numbers[3:7]):g}; that of a rotation is 1")
    else:
        pose = Pose.of(eye, numbers[3:7])
    return Camera(name, pose, numbers[-1])


def camera_text(camera: str | Camera) -> str:
    """A camera as text; a text is given back as it is."""
    if isinstance(camera, str):
        return camera
    if camera.fov is None or camera != Camera(camera.name, camera.pose, camera.fov):
        raise EtudeError(f"camera {camera.name!r}: a camera of one's own has a pose in the world and a field of view, and nothing else")
    numbers = (*camera.pose.position, *camera.pose.rotation, camera.fov)
    return f"{camera.name}={':'.join(repr(float(number)) for number in numbers)}"


def camera_names(texts: Iterable[str]) -> tuple[str, ...]:
    """What cameras are called: of one's own, what stands before the sign."""
    return tuple(text.partition("=")[0] for text in texts)


def with_cameras(scene: Scene, texts: Iterable[str]) -> Scene:
    """The scene with those of the cameras that are one's own."""
    own = [camera for camera in map(own_camera, dict.fromkeys(texts)) if camera is not None]
    return replace(scene, cameras=(*scene.cameras, *own)) if own else scene
