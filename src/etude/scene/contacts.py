"""Who touched whom, how hard and where, over the last control period.

Every physics step adds its contact forces to a table of pairs. Bodies that MuJoCo has put to sleep report no contacts; what they
touched when they fell asleep stays true until one of them wakes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.arithmetic import norm
from etude.compiled import compiled
from etude.pose import Array, Vec3
from etude.scene.materials import TIMESTEP

FAINT = 1e-5  # N·s: below this a contact does not count (ClevrSkills 1.1)


@dataclass(frozen=True)
class Contact:
    """``first`` and ``second`` touched: the impulse (N·s, world) that ``second`` received, and its mean place (m, world)."""

    first: str
    second: str
    impulse: Vec3
    position: Vec3

    @property
    def strength(self) -> float:
        """Length of the impulse, N·s."""
        return norm(self.impulse)


@compiled
def _record(
    geoms: NDArray[np.int32], addresses: NDArray[np.int32], frames: Array, positions: Array, forces: Array,
    geom_owner: NDArray[np.int32], geom_body: NDArray[np.int32], awake: NDArray[np.int32], dt: float,
    total: Array, last: Array,
) -> None:  # fmt: skip
    """Add one physics step. ``total`` and ``last`` are (owners, owners, 7): impulse or force, weighted position, weight."""
    n = len(total)
    up = np.zeros(n, np.bool_)
    for g in range(len(geom_owner)):
        if awake[geom_body[g]] == 1:
            up[geom_owner[g]] = True
    for a in range(n):
        for b in range(a, n):
            if up[a] or up[b]:
                last[a, b, :] = 0.0
    for c in range(len(geoms)):  # a pair that has just fallen asleep is overwritten, not added to
        a, b = geom_owner[geoms[c, 0]], geom_owner[geoms[c, 1]]
        if b < a:
            a, b = b, a
        last[a, b, :] = 0.0
    for c in range(len(geoms)):
        k = addresses[c]
        if k < 0:
            continue
        a, b = geom_owner[geoms[c, 0]], geom_owner[geoms[c, 1]]
        sign = 1.0
        if b < a:
            a, b = b, a
            sign = -1.0
        norm = 0.0
        for i in range(3):
            f = frames[c, i] * forces[k] + frames[c, 3 + i] * forces[k + 1] + frames[c, 6 + i] * forces[k + 2]
            norm += f * f
            last[a, b, i] += sign * f
            total[a, b, i] += sign * f * dt
        weight = np.sqrt(norm)
        for i in range(3):
            last[a, b, 3 + i] += weight * positions[c, i]
            total[a, b, 3 + i] += weight * dt * positions[c, i]
        last[a, b, 6] += weight
        total[a, b, 6] += weight * dt


class ContactTable:
    """The pairs of one world. Owners are named like paths: asking for "cabinet" includes "cabinet/top"."""

    def __init__(self, owners: list[str], geom_owner: NDArray[np.int32], geom_body: NDArray[np.int32]) -> None:
        self.owners = owners
        self._geom_owner, self._geom_body = geom_owner, np.ascontiguousarray(geom_body, np.int32)
        n = len(owners)
        self.total, self.last = np.zeros((n, n, 7)), np.zeros((n, n, 7))
        self._elapsed = 0.0
        self._seen: Array | None = None  # the table with sleeping pairs filled in, once it was asked for
        self._members: dict[str, list[int]] = {}
        self.quiet = True  # nothing touched in the last physics step
        self._awake: NDArray[np.int32] = np.zeros(int(self._geom_body.max(initial=0)) + 1, np.int32)

    def begin(self) -> None:
        """Forget the last control period."""
        self._seen = None
        if self._elapsed:
            self.total[:] = 0.0
        self._elapsed = 0.0

    def record(self, data: Any) -> bool:
        """Take in the physics step just made; gives whether nothing touched in it."""
        contact = data.contact
        _record(
            contact.geom, contact.efc_address, contact.frame, contact.pos, data.efc_force,
            self._geom_owner, self._geom_body, data.body_awake, TIMESTEP, self.total, self.last,
        )  # fmt: skip
        self.quiet = data.ncon == 0
        return self.quiet

    def close(self, data: Any, steps: int) -> None:
        """End a control period of so many physics steps: note its length and who is awake."""
        self._elapsed = steps * TIMESTEP
        self._awake = data.body_awake.copy()
        self._seen = None

    def _rows(self) -> Array:
        """The table of impulses with sleeping pairs filled in, (owners, owners, 7)."""
        if self._seen is not None:
            return self._seen
        awake = np.zeros(len(self.owners), bool)
        awake[self._geom_owner[self._awake[self._geom_body] == 1]] = True
        asleep = ~(awake[:, None] | awake[None, :])
        self._seen = np.where(asleep[..., None], self.last * max(self._elapsed, TIMESTEP), self.total)
        return self._seen

    def pairs(self) -> tuple[Contact, ...]:
        """Every pair that touched, in the order of owners."""
        rows = self._rows()
        found = np.argwhere(rows[:, :, 6] > FAINT)
        return tuple(self._contact(self.owners[a], self.owners[b], rows[a, b]) for a, b in found.tolist())

    @staticmethod
    def _contact(first: str, second: str, row: Array) -> Contact:
        x, y, z = row[:3].tolist()
        px, py, pz = (row[3:6] / row[6]).tolist()
        return Contact(first, second, (x, y, z), (px, py, pz))

    def members(self, name: str) -> list[int]:
        """The owners that belong to ``name``."""
        if name not in self._members:
            self._members[name] = [i for i, owner in enumerate(self.owners) if owner == name or owner.startswith(f"{name}/")]
        return self._members[name]

    def impulse(self, first: str, second: str) -> Array:
        """Impulse (3,) N·s that ``second`` received from ``first``; zero if they did not touch."""
        rows, out = self._rows(), np.zeros(3)
        for a in self.members(first):
            for b in self.members(second):
                out += rows[a, b, :3] if a <= b else -rows[b, a, :3]
        return out

    def touching(self, name: str) -> tuple[str, ...]:
        """Everything that ``name`` touched, by owner."""
        own = self.members(name)
        weights = self._rows()[:, :, 6]
        found = np.zeros(len(self.owners), bool)
        for i in own:
            found |= (weights[i] > FAINT) | (weights[:, i] > FAINT)
        found[own] = False
        return tuple(self.owners[j] for j in np.flatnonzero(found).tolist())

    def copy_from(self, other: ContactTable) -> None:
        """Take over the state of another table of the same world."""
        self.total[:], self.last[:] = other.total, other.last
        self._seen = None
        self._elapsed, self.quiet, self._awake = other._elapsed, other.quiet, other._awake.copy()

    def snapshot(self) -> ContactTable:
        """A copy that later steps do not touch."""
        twin = ContactTable(self.owners, self._geom_owner, self._geom_body)
        twin.copy_from(self)
        return twin
