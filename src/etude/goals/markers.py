"""What follows the progress of a goal: the markers of a tracing goal, of which the next stands out, and dirt that is wiped away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from etude.goals.detecting import Wiped
from etude.goals.goal import GoalNode
from etude.goals.leaves import Traced
from etude.pose import Pose, Vec3
from etude.scene.scene import Entity, Marker, Scene, Specks

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
    return any(isinstance(node.goal, (Traced, Wiped)) for node in nodes)


def changed_markers(nodes: Iterable[GoalNode], scene: Scene) -> list[Entity]:
    """The markers and the dirt of these goals that should no longer look as they do in the scene."""
    found: list[Entity] = []
    for node in nodes:
        if isinstance(node.goal, Traced):
            look = VISITED if node.status.satisfied else NEXT if node.begun else FUTURE
            new = marker(node.goal.marker, node.goal.position, look)
            if scene.entity(new.name) != new:
                found.append(new)
        elif isinstance(node.goal, Wiped) and node.begun:
            for name, cells in node.memory["there"].items():
                specks = scene.entity(name)
                if isinstance(specks, Specks) and specks.positions != cells:
                    found.append(replace(specks, positions=cells))
    return found
