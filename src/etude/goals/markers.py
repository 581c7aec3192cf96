"""How the markers of a tracing goal look: they follow its progress, so that the next one can be told from the others."""

from __future__ import annotations

from collections.abc import Iterable

from etude.goals.goal import Node
from etude.goals.leaves import Traced
from etude.pose import Pose, Vec3
from etude.scene.scene import Marker, Scene

# Texture and radius in metres (ClevrSkills 2.2).
NEXT = ("#00ff00", 0.10)
VISITED = ("#ffff00", 0.05)
FUTURE = ("#ff0000", 0.05)


def marker(name: str, position: Vec3, look: tuple[str, float]) -> Marker:
    """A translucent ball."""
    texture, radius = look
    return Marker(name, "sphere", texture, Pose(position), (2 * radius, 2 * radius, 2 * radius))


def marked(nodes: Iterable[Node]) -> bool:
    """Has any of these goals a marker?"""
    return any(isinstance(node.goal, Traced) for node in nodes)


def changed_markers(nodes: Iterable[Node], scene: Scene) -> list[Marker]:
    """The markers of these goals that should no longer look as they do in the scene."""
    found = []
    for node in nodes:
        if isinstance(node.goal, Traced):
            look = VISITED if node.status.satisfied else NEXT if node.begun else FUTURE
            new = marker(node.goal.marker, node.goal.position, look)
            if scene.entity(new.name) != new:
                found.append(new)
    return found
