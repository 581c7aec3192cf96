"""Keeping a pair of scales in balance: which blocks stand on which plate, and which splits weigh the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from etude.arithmetic import total
from etude.goals.goal import Goal, GoalNode, Status, listed
from etude.names import EtudeError, pick
from etude.scene.scene import Fixture

if TYPE_CHECKING:
    from etude.goals.adapting import Scaled
    from etude.goals.watch import Watch

CEILING = 6.0  # reward for a block on the right plate (ClevrSkills 2.2)
NEAR = 0.03  # m across: close enough to start lowering
WAITING = 0.1  # less than the ceiling while everything stands but the beam still moves


@dataclass(frozen=True)
class Balanced(Goal):
    """Every block stands on a plate, directly or on other blocks; both plates carry the same; the beam hangs free and still.

    ``plates`` and ``beam`` are parts of the fixture ``scale``. Plates carry the same when their loads differ by at most ``tolerance`` of
    the total mass; the beam must stay ``margin`` (rad) away from both of its limits and be slower than ``speed`` (rad/s).
    """

    scale: str
    blocks: tuple[str, ...]
    plates: tuple[str, str] = ("plate 1", "plate 2")
    beam: str = "beam"
    thickness: float = 0.02  # m: the frame of a plate is half of it below its top
    tolerance: float = 0.001
    margin: float = math.radians(1)
    speed: float = math.radians(1)

    destinations = Goal.nowhere

    def scaled(self, change: Scaled) -> Goal:
        if change.name in self.blocks:
            raise EtudeError("what balances would not in another size")
        return change.in_frame(self, self.scale, "thickness")

    def part(self, name: str) -> str:
        """The full name of a part of the scale."""
        return f"{self.scale}/{name}"

    def begin(self, watch: Watch, memory: dict[str, Any]) -> None:
        masses = [watch.world.mass(b) for b in self.blocks]
        memory["splits"] = self.splits(masses)
        if not memory["splits"]:
            raise EtudeError(f"no split of these blocks balances: {', '.join(f'{m:.4f}' for m in masses)} kg")
        fixture = watch.world.scene.entity(self.scale)
        joints = {p.name: p.joint for p in fixture.parts if p.joint is not None} if isinstance(fixture, Fixture) else {}
        memory["range"] = pick(f"moving part of {self.scale!r}", self.beam, joints).range

    def splits(self, masses: list[float]) -> list[tuple[int, ...]]:
        """Every way to share the blocks (0 and 1: first and second plate, in order of ``blocks``) that balances."""
        weight = total(masses)
        return [
            split
            for split in product((0, 1), repeat=len(masses))
            if abs(total(m if side else -m for m, side in zip(masses, split, strict=True))) <= self.tolerance * weight
        ]

    def standing(self, watch: Watch) -> dict[str, int]:
        """The plate (0 or 1) of every block that stands on one, let go, the lowest first."""
        found: dict[str, int] = {}
        for side, plate in enumerate(self.plates):
            below = [self.part(plate)]
            while below:
                carrier = below.pop(0)
                for block in self.blocks:
                    if block not in found and not watch.grasped(block) and watch.rests_on(block, carrier):
                        found[block] = side
                        below.append(block)
        return found

    def wanted(self, splits: list[tuple[int, ...]], standing: dict[str, int]) -> dict[str, int]:
        """The balanced split that has most blocks on their plates already: the plate of every block."""
        best = max(splits, key=lambda split: sum(standing.get(b) == side for b, side in zip(self.blocks, split, strict=True)))
        return dict(zip(self.blocks, best, strict=True))

    def words(self) -> str:
        return f"Balance the {{{self.scale}}} with {listed(self.blocks, article=True)}"

    def judge(self, watch: Watch, node: GoalNode) -> Status:
        memory = node.memory
        standing = memory["standing"] = self.standing(watch)
        wanted = memory["wanted"] = self.wanted(memory["splits"], standing)
        ceiling = CEILING * len(self.blocks)
        right = sum(wanted[b] == side for b, side in standing.items())
        if right == len(self.blocks):
            satisfied = self.hangs_free(watch, memory["range"]) and self.still(watch)
            return Status(satisfied, 1.0 if satisfied else 0.99, ceiling if satisfied else ceiling - WAITING)
        reward = CEILING * (2 * right - len(standing)) + self._shaping(watch, standing, wanted)
        return Status(False, min(0.99, max(0.0, reward / ceiling)), reward)

    def hangs_free(self, watch: Watch, limits: tuple[float, float]) -> bool:
        """Is the beam away from both of its stops?"""
        angle = watch.world.joint(self.part(self.beam))
        return limits[0] + self.margin <= angle <= limits[1] - self.margin

    def still(self, watch: Watch) -> bool:
        """Is the beam slow enough?"""
        _, spin = watch.world.velocity(self.part(self.beam))
        return math.hypot(*spin.tolist()) < self.speed

    def misplaced(self, standing: dict[str, int], wanted: dict[str, int]) -> list[str]:
        """The blocks that stand on the wrong plate."""
        return [b for b, side in standing.items() if wanted[b] != side]

    def top(self, watch: Watch, side: int, standing: dict[str, int]) -> float:
        """The height at which the next block on a plate would stand, metres."""
        tops = [watch.extent(b)[1] for b, s in standing.items() if s == side]
        return max(tops, default=float(watch.position(self.part(self.plates[side]))[2]) + self.thickness / 2)

    def _shaping(self, watch: Watch, standing: dict[str, int], wanted: dict[str, int]) -> float:
        """At most 6 with a block in the hand, at most 3 without."""
        held = watch.held
        wrong = self.misplaced(standing, wanted)
        if held in wanted:
            assert held is not None
            side = wanted[held]
            p, q = watch.position(held), watch.position(self.part(self.plates[side]))
            if any(standing[b] == side for b in wrong):  # its tower must be taken down first: it belongs on the table for now
                free = min(math.hypot(p[0] - r[0], p[1] - r[1]) for r in (watch.position(self.part(n)) for n in self.plates))
                return -3.0 + 3.0 * math.exp(10.0 * min(free - 0.1, 0.0))
            above = watch.extent(held)[0] - self.top(watch, side, standing)
            return 3.0 + _approach(math.hypot(p[0] - q[0], p[1] - q[1]), above - NEAR, above)
        best = 0.0
        tip = watch.tip.position
        for block in wrong or [b for b in self.blocks if b not in standing]:
            p = watch.position(block)
            above = tip[2] - watch.extent(block)[1]
            best = max(best, _approach(math.hypot(tip[0] - p[0], tip[1] - p[1]), above, above))
        return best


def _approach(across: float, left: float, above: float) -> float:
    """Shaping from 0 to 3: over there not too low, then down. ``left`` is the way down that remains."""
    if across < NEAR:
        return 2.0 + math.exp(-5.0 * max(0.0, left))
    if above < NEAR:
        return math.exp(-5.0 * (NEAR - above))
    return 1.0 + math.exp(-5.0 * (across - NEAR))
