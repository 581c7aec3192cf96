"""The judge of a running episode: looks once after every control step, and remembers what must be remembered."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from etude.goals.goal import Goal, GoalNode, Status
from etude.goals.watch import Watch
from etude.pose import Array
from etude.scene.world import World

Memory = tuple[GoalNode, tuple[Array, Array] | None]


class Monitor:
    """Watches one goal in one world. ``update`` after every control step; everything else reads what it found."""

    def __init__(self, goal: Goal, world: World) -> None:
        self.goal = goal
        self._world = world
        self.root = GoalNode.of(goal, "goal")
        self._nodes = self.root.listed()
        self.watch = Watch(world)
        self.interventions = 0  # times that somebody else has moved a thing
        self.root.judge(self.watch)

    def update(self) -> Status:
        """Look at the world once more."""
        self.watch = Watch(self._world, self.watch)
        return self.root.judge(self.watch)

    def displaced(self, thing: str, shift: Array) -> None:
        """Somebody else has moved a thing by ``shift`` (3,) m, world: nobody is credited with that, or blamed for it."""
        self.interventions += 1
        for node in self.nodes():
            if node.begun:
                node.goal.displaced(node.memory, thing, shift)

    def save(self) -> Memory:
        """What it remembers, for :meth:`restore`."""
        return copy.deepcopy(self.root), self.watch.earlier

    def restore(self, saved: Memory) -> None:
        """Take up what was remembered; the world must stand as it did then."""
        root, earlier = saved
        self.root = copy.deepcopy(root)
        self._nodes = self.root.listed()
        self.watch = Watch(self._world)
        self.watch.earlier = earlier

    @property
    def status(self) -> Status:
        """How the whole goal stands."""
        return self.root.status

    def nodes(self) -> Iterator[GoalNode]:
        """Every node of the tree, parents first."""
        return iter(self._nodes)

    def statuses(self) -> dict[str, Status]:
        """Every sub-goal's status by its path: "goal" is the whole, "goal.0" its first member, and so on."""
        return {node.path: node.status for node in self.nodes()}

    def parent(self, node: GoalNode) -> GoalNode | None:
        """What a node is a member of."""
        return next((n for n in self.nodes() if any(m is node for m in n.members)), None)

    def next_leaf(self) -> GoalNode | None:
        """The leaf to work on next, chosen greedily; None when all is done."""
        if self.root.status.satisfied:
            return None
        return self.goal.following(self.root)

    def choices(self) -> list[GoalNode]:
        """Every leaf that may be worked on now."""
        return [] if self.root.status.satisfied else self.goal.choices(self.root)

    def first_failure(self) -> str | None:
        """The first sub-goal that is violated or, failing that, still open: where to look when an episode failed."""
        if self.root.status.satisfied:
            return None
        leaves = [n for n in self.nodes() if not n.members]
        for node in leaves:
            if node.status.violated:
                return node.path
        following = self.next_leaf()
        return following.path if following is not None else self.root.path
