"""What follows the progress of a goal: markers, of which the next stands out, and whatever else a leaf shows."""

from __future__ import annotations

from collections.abc import Iterable

from etude.goals.goal import Goal, GoalNode
from etude.pose import Pose, Vec3
from etude.scene.scene import Entity, Marker, Scene

# Texture and radius in metres (ClevrSkills 2.2).
NEXT = ("#00ff00", 0.10)
VISITED = ("#ffff00", 0.05)
FUTURE = ("#ff0000", 0.05)


def marker(name: str, position: Vec3, look: tuple[str, float]) -> Marker:
    """A translucent ball."""
    texture, radius = look
    return Marker(name, "sphere", texture, Pose(position), (2 * radius, 2 * radius, 2 * radius))


def marked(nodes: Iterable[GoalNode]) -> bool:
    """Has any of these goals something that follows it?"""
    return any(type(node.goal).shown is not Goal.shown for node in nodes)


def changed_markers(nodes: Iterable[GoalNode], scene: Scene) -> list[Entity]:
    """What follows these goals and should no longer look as it does in the scene."""
    return [entity for node in nodes for entity in node.goal.shown(node, scene) if scene.entity(entity.name) != entity]
