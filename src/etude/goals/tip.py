"""Predicates about the tip of the hand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from etude.goals.goal import Goal, GoalNode, Status, spoken_place
from etude.goals.markers import FUTURE, NEXT, VISITED, marker
from etude.goals.shaping import judged
from etude.pose import Pose, Vec3, angle_between
from etude.scene.scene import Entity, Scene

if TYPE_CHECKING:
    from etude.goals.watch import Watch


@dataclass(frozen=True)
class TipAtPosition(Goal):
    """The tip of the hand is at a place."""

    position: Vec3
    tolerance: float = 0.05

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def words(self) -> str:
        return f"Bring the end effector to {spoken_place(self.position, height=True)}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        distance = math.dist(watch.tip.position, self.position)
        there = distance < self.tolerance
        return judged(there, 2.0 if there else max(0.0, 2.0 - distance), 2.0)


@dataclass(frozen=True)
class TipAtPose(Goal):
    """The tip of the hand is at a place and turned as asked."""

    pose: Pose
    tolerance: float = 0.05
    angle: float = 0.1

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def words(self) -> str:
        return f"Match the pose of the end effector at {spoken_place(self.pose.position, height=True)}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        distance = math.dist(watch.tip.position, self.pose.position)
        turn = angle_between(watch.tip.rotation, self.pose.rotation)
        there = distance < self.tolerance and turn < self.angle
        return judged(there, 2.0 if there else max(0.0, 2.0 - distance - turn / 2), 2.0)


@dataclass(frozen=True)
class Traced(Goal):
    """The tip of the hand passes a marker; its colour follows (next green, visited yellow)."""

    marker: str
    position: Vec3
    tolerance: float = 0.05

    scaled, destinations = Goal.unchanged, Goal.nowhere

    def shown(self, node: GoalNode, scene: Scene) -> Iterable[Entity]:
        return (marker(self.marker, self.position, VISITED if node.status.satisfied else NEXT if node.begun else FUTURE),)

    def words(self) -> str:
        return "Move to the next green goal"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        distance = math.dist(watch.tip.position, self.position)
        there = distance < self.tolerance
        return judged(there, 6.0 if there else max(0.0, 2.0 - distance), 6.0)
