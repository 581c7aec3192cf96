"""Who touched whom, how hard and where, over the last control period.

Every physics step adds its contact forces to a table of pairs. Bodies that MuJoCo has put to sleep report no contacts; what they
touched when they fell asleep stays true until one of them wakes.
"""

from __future__ import annotations

import ctypes
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
    numbers: Array, codes: NDArray[np.int32], at: NDArray[np.intp], count: int, forces: Array, geoms: NDArray[np.int32],
    awake: NDArray[np.int32], dt: float, table: Array,
) -> None:  # fmt: skip
    """Add one physics step of ``count`` contacts. ``table`` is (2, 7, owners, owners), over the period and of the last step: impulse or
    force, weighted position, weight. ``geoms`` (2, n) are owners and bodies."""
    total, last, owner = table[0], table[1], geoms[0]
    pos, frame, geom, address = at[0], at[1], at[2], at[3]
    n = total.shape[1]
    up = np.zeros(n, np.bool_)
    for g in range(len(owner)):
        if awake[geoms[1, g]] == 1:
            up[owner[g]] = True
    for a in range(n):
        for b in range(a, n):
            if last[6, a, b] != 0.0 and (up[a] or up[b]):
                last[:, a, b] = 0.0
    for c in range(count):  # a pair that has just fallen asleep is overwritten, not added to
        a, b = owner[codes[c, geom]], owner[codes[c, geom + 1]]
        if b < a:
            a, b = b, a
        last[:, a, b] = 0.0
    for c in range(count):
        k = codes[c, address]
        if k < 0:
            continue
        a, b = owner[codes[c, geom]], owner[codes[c, geom + 1]]
        sign = 1.0
        if b < a:
            a, b = b, a
            sign = -1.0
        norm = 0.0
        for i in range(frame, frame + 3):
            f = numbers[c, i] * forces[k] + numbers[c, 3 + i] * forces[k + 1] + numbers[c, 6 + i] * forces[k + 2]
            norm += f * f
            last[i - frame, a, b] += sign * f
            total[i - frame, a, b] += sign * f * dt
        weight = np.sqrt(norm)
        for i in range(3):
            last[3 + i, a, b] += weight * numbers[c, pos + i]
            total[3 + i, a, b] += weight * dt * numbers[c, pos + i]
        last[6, a, b] += weight
        total[6, a, b] += weight * dt


@compiled
def _touched(table: Array, geoms: NDArray[np.int32], awake: NDArray[np.int32], seconds: float, up: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The pairs of owners (k, 2) that touched over a period, in their order; fills ``up`` with who is awake."""
    n = len(up)
    up[:] = False
    for g in range(geoms.shape[1]):
        if awake[geoms[1, g]] == 1:
            up[geoms[0, g]] = True
    found = np.empty((n * n, 2), np.intp)
    count = 0
    for a in range(n):
        for b in range(a, n):
            weight = table[0, 6, a, b] if up[a] or up[b] else table[1, 6, a, b] * seconds
            if weight > FAINT:
                found[count, 0], found[count, 1] = a, b
                count += 1
    return found[:count]


@compiled
def _sole(codes: NDArray[np.int32], at: NDArray[np.intp], count: int, geoms: NDArray[np.int32], chosen: NDArray[np.bool_]) -> int:
    """The one owner that the chosen geoms press on; −1 if there is none, or more."""
    found = -1
    for c in range(count):
        first, second = codes[c, at[2]], codes[c, at[2] + 1]
        if codes[c, at[3]] < 0 or not (chosen[first] or chosen[second]):
            continue
        other = geoms[0, second if chosen[first] else first]
        if found >= 0 and other != found:
            return -1
        found = other
    return found


class ContactTable:
    """The pairs of one world. Owners are named like paths: asking for "cabinet" includes "cabinet/top"."""

    def __init__(self, owners: list[str], geom_owner: NDArray[np.int32], geom_body: NDArray[np.int32], data: Any) -> None:
        self.owners = owners
        self._geoms = np.stack([geom_owner, geom_body]).astype(np.int32)
        n = len(owners)
        self._table = np.zeros((2, 7, n, n))
        self._filled = False  # is there anything in the period's half of it?
        self._elapsed = 0.0
        self._pairs: list[list[int]] | None = None  # who touched in the last period, once that was asked for
        self._near: dict[str, list[str]] = {}  # the same by owner
        self._up = np.zeros(n, np.bool_)
        self._members: dict[str, list[int]] = {}
        self._named: dict[str, frozenset[str]] = {}
        self.quiet = True  # nothing touched in the last physics step
        self._data = data
        self._awake_now: NDArray[np.int32] = data.body_awake  # a view that later steps change
        self._awake = self._awake_now.copy()
        self._memory: tuple[Array, NDArray[np.int32], NDArray[np.intp]] | None = None

    def begin(self) -> None:
        """Forget the last control period."""
        self._pairs = None
        if self._filled:
            self._table[0] = 0.0
            self._filled = False
        self._elapsed = 0.0

    def _found(self) -> tuple[Array, NDArray[np.int32], NDArray[np.intp]]:
        """MuJoCo's contacts as rows of doubles and as rows of integers, and where in them position, frame, geoms and address stand.

        They begin at the same place after every step, the start of its arena: looking it up five times a step costs more than all else.
        """
        if self._memory is None:
            contact = self._data.contact
            begin, size = _place(contact.dist), contact.dist.strides[0]
            rows = self._data.narena // size
            raw = np.frombuffer((ctypes.c_char * (rows * size)).from_address(begin), np.uint8)
            places = [(contact.pos, 8), (contact.frame, 8), (contact.geom, 4), (contact.efc_address, 4)]
            at = np.array([(_place(field) - begin) // width for field, width in places])
            self._memory = raw.view(np.float64).reshape(rows, -1), raw.view(np.int32).reshape(rows, -1), at
        return self._memory

    def record(self, count: int) -> bool:
        """Take in the physics step just made, with so many contacts; gives whether nothing touched in it."""
        numbers, codes, at = self._found() if count else NONE
        _record(numbers, codes, at, count, self._data.efc_force, self._geoms, self._awake_now, TIMESTEP, self._table)
        self._filled = True
        self.quiet = count == 0
        return self.quiet

    def sole(self, count: int, chosen: NDArray[np.bool_]) -> str | None:
        """The one owner on which the chosen geoms press in the physics step just made, which had so many contacts, one at least."""
        _, codes, at = self._found()
        found = _sole(codes, at, count, self._geoms, chosen)
        return self.owners[found] if found >= 0 else None

    def close(self, steps: int) -> None:
        """End a control period of so many physics steps: note its length and who is awake."""
        self._elapsed = steps * TIMESTEP
        self._awake[:] = self._awake_now
        self._pairs = None

    def _touched(self) -> list[list[int]]:
        """The pairs of owners that touched, sleeping ones included."""
        if self._pairs is None:
            found = _touched(self._table, self._geoms, self._awake, max(self._elapsed, TIMESTEP), self._up)
            self._pairs, self._near = found.tolist(), {}
            for a, b in self._pairs:  # in their order, so that everything by owner comes in the order of owners as well
                if a != b:
                    first, second = self.owners[a], self.owners[b]
                    self._near.setdefault(first, []).append(second)
                    self._near.setdefault(second, []).append(first)
        return self._pairs

    def _row(self, a: int, b: int) -> Array:
        """What passed between two owners over the period, (7,): impulse, weighted position, weight."""
        self._touched()
        row: Array = self._table[0, :, a, b] if self._up[a] or self._up[b] else self._table[1, :, a, b] * max(self._elapsed, TIMESTEP)
        return row

    def pairs(self) -> tuple[Contact, ...]:
        """Every pair that touched, in the order of owners."""
        return tuple(self._contact(self.owners[a], self.owners[b], self._row(a, b)) for a, b in self._touched())

    @staticmethod
    def _contact(first: str, second: str, row: Array) -> Contact:
        x, y, z = row[:3].tolist()
        px, py, pz = (row[3:6] / row[6]).tolist()
        return Contact(first, second, (x, y, z), (px, py, pz))

    def members(self, name: str) -> list[int]:
        """The owners that belong to ``name``."""
        found = self._members.get(name)
        if found is None:
            found = self._members[name] = [i for i, owner in enumerate(self.owners) if owner == name or owner.startswith(f"{name}/")]
        return found

    def impulse(self, first: str, second: str) -> Array:
        """Impulse (3,) N·s that ``second`` received from ``first``; zero if they did not touch."""
        out = np.zeros(3)
        for a in self.members(first):
            for b in self.members(second):
                out += self._row(a, b)[:3] if a <= b else -self._row(b, a)[:3]
        return out

    def touching(self, name: str) -> tuple[str, ...]:
        """Everything that ``name`` touched, by owner."""
        pairs, own = self._touched(), self.members(name)
        if len(own) == 1:
            return tuple(self._near.get(self.owners[own[0]], ()))
        others = {b if a in own else a for a, b in pairs if (a in own) != (b in own)}
        return tuple(self.owners[j] for j in sorted(others))

    def touches(self, first: str, second: str) -> bool:
        """Did these two touch? Names of wholes include their parts."""
        named = self._named.get(second)
        if named is None:
            named = self._named[second] = frozenset(self.owners[i] for i in self.members(second))
        return not named.isdisjoint(self.touching(first))

    def copy_from(self, other: ContactTable) -> None:
        """Take over the state of another table of the same world."""
        self._table[:] = other._table
        self._pairs, self._filled = None, other._filled
        self._elapsed, self.quiet, self._awake = other._elapsed, other.quiet, other._awake.copy()

    def snapshot(self) -> ContactTable:
        """A copy that later steps do not touch."""
        twin = ContactTable(self.owners, self._geoms[0], self._geoms[1], self._data)
        twin.copy_from(self)
        return twin


NONE = np.zeros((0, 0)), np.zeros((0, 0), np.int32), np.zeros(4, np.intp)


def _place(array: NDArray[Any]) -> int:
    """Where an array begins in memory."""
    place: int = array.__array_interface__["data"][0]
    return place
