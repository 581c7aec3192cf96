"""A scene as MJCF, MuJoCo's own text: what moves and collides, for programs that know MuJoCo but not us."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

from etude.scene.compile import Builder
from etude.scene.prototype import structure
from etude.scene.scene import Body, Fixture, Scene


def mjcf(scene: Scene) -> str:
    """The text of a scene's model, convex hulls included: it needs no other file. Textures, lights and cameras are not in it.

    Whatever is fixed stands where the scene has it; whatever is loose stands where a state of the scene's world puts it. Such a state can
    be set as it is, and all bodies are then where they are in that world, but for the last bit: MuJoCo writes six digits, so the numbers
    that decide where bodies are get written again in full.
    """
    return sharpened(laid_out(scene))


def laid_out(scene: Scene) -> Any:
    """The specification of a scene's model, with whatever is fixed in its place."""
    builder = Builder(structure(scene))
    builder.build()
    for entity in scene.entities:
        if isinstance(entity, (Body, Fixture)):
            body = builder.spec.body(entity.name)
            if not body.joints:
                body.pos, body.quat = entity.pose.position, entity.pose.rotation
    return builder.spec


def sharpened(spec: Any) -> str:
    """The text of a specification, in which it can be trusted where bodies are."""
    model = spec.compile()
    root = ElementTree.fromstring(spec.to_xml())
    for element in root.iter("body"):
        _sharpen(element, model)
    return ElementTree.tostring(root, encoding="unicode")


def _sharpen(element: ElementTree.Element, model: Any) -> None:
    """Write the place of a body in its parent, and the axes of its joints, in full."""
    body = model.body(element.get("name"))
    element.set("pos", _text(body.pos))
    element.set("quat", _text(body.quat))
    joints = [child for child in element if child.tag in ("joint", "freejoint")]
    for joint, child in enumerate(joints, int(body.jntadr[0])):
        if child.tag == "joint":
            child.set("pos", _text(model.jnt_pos[joint]))
            child.set("axis", _text(model.jnt_axis[joint]))


def _text(values: Iterable[float]) -> str:
    return " ".join(repr(float(v)) for v in values)
