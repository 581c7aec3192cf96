"""Shape sorter: Control(o) + M1[a4,b3](o). A piece through the hole of its shape, told apart by colour, side or shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from etude.arithmetic import dot
from etude.catalog.registry import shape
from etude.catalog.sorter import BOX, HOLES, LID
from etude.goals.detecting import Detected
from etude.goals.regions import AtPoint, Fixed, Region
from etude.goals.units import Composed, Control, MoveFree
from etude.pose import Pose, Vec2, yaw_quat
from etude.scene.rooms import TABLE_TOP
from etude.scene.scene import Body
from etude.suites.suite import Draft, Draw
from etude.suites.vlmbench.stage import (
    BASE,
    CUBE,
    CYLINDER,
    MOON,
    SIDES,
    STAR,
    TRIANGULAR,
    ObjectKind,
    UnitActor,
    UnitSceneBuilder,
    both,
    grasped,
    sides,
)
from etude.suites.vlmbench.suite import vlmbench

SEEN_PIECES, UNSEEN_PIECES = (STAR, TRIANGULAR, CYLINDER, CUBE), (MOON, STAR, TRIANGULAR, CYLINDER, CUBE)
SORTER = ObjectKind("shape sorter", "shape sorter lid", LID, 2.36)
INSIDE = ((-0.096, -0.096, 0.006 - BOX[2] / 2), (0.096, 0.096, 0.126 - BOX[2] / 2))  # m: what the detector sees, in the box's frame
BESIDE_SORTER = 0.25  # m from the sorter's middle to the pieces, and to the arm that reaches for them
ENTERED = 0.006  # m by which a piece is in its hole when it is let go: past a bevelled rim
BACK = 0.08  # m above, where the hand stops first


def _pieces(stage: UnitSceneBuilder) -> tuple[ObjectKind, ...]:
    return UNSEEN_PIECES if stage.unseen else SEEN_PIECES


def _laid(stage: UnitSceneBuilder, pieces: Sequence[UnitActor], wanted: str = "") -> None:
    """The sorter, and the pieces beside it; the first of two on its ``wanted`` side of the second."""
    sorter = UnitActor("shape sorter", SORTER, "")
    [place] = stage.strew([sorter])
    x, y, _ = place.position
    box, lid = stage.some_colours(2)
    low, high = TABLE_TOP + BOX[2] / 2, TABLE_TOP + BOX[2] + LID[2] / 2
    stage.things += [
        Body("sorter box", "shape sorter box", box, Pose.of((x, y, low), place.rotation), BOX, mass=2.0, fixed=True),
        Body("sorter lid", "shape sorter lid", lid, Pose.of((x, y, high), place.rotation), LID, mass=0.36, fixed=True),
    ]
    ordered = sides([wanted]) if wanted else _any
    clear = partial(_clear, (x, y))
    stage.set(pieces, stage.strew(pieces, accept=lambda poses: all(map(clear, poses)) and ordered(poses)))


def _any(poses: Sequence[Pose]) -> bool:
    return True


def _clear(sorter: Vec2, pose: Pose) -> bool:
    """Does the sorter leave room for the arm that reaches for a piece there? The forearm does not pass over it."""
    along = np.subtract(pose.position[:2], BASE)
    share = float(np.clip(dot(np.subtract(sorter, BASE), along) / dot(along, along), 0.0, 1.0))
    return math.dist(sorter, np.asarray(BASE) + share * along) > BESIDE_SORTER


def _draft(stage: UnitSceneBuilder, pieces: Sequence[UnitActor]) -> Draft:
    """The first of the pieces belongs into the sorter."""
    fits, *_ = pieces
    holes = sorted(UNSEEN_PIECES, key=lambda kind: kind != fits.kind)
    goal, *others = (_sorted(piece, hole) for piece in pieces for hole in holes)
    return stage.draft(f"Put {fits.said} through the hole of {fits.kind.words} shape.", goal, others, fits.name, "sorter box")


def _sorted(piece: UnitActor, into: ObjectKind) -> Composed:
    """Put a piece through the hole of a shape, its own or not."""
    hole = next(h for h in HOLES if h.shape == into.shape)
    # What turns about its centre of mass looks the same; that need not be the middle of its bounding box, from which the hole is told.
    _, mass, _ = shape(piece.kind.shape, piece.size).mass_properties
    centre = (round(float(mass[0]), 6), round(float(mass[1]), 6), 0.0)
    above = LID[2] / 2 + piece.size[2] / 2 - ENTERED
    x, y, z = Pose((*hole.position, above), yaw_quat(hole.yaw)).apply(centre).round(6).tolist()
    return Composed(
        Detected(piece.name, "sorter box", *INSIDE),
        (
            Control(piece.name, grasped(piece.said)),
            MoveFree(
                piece.name,
                Region("sorter lid", AtPoint((x, y, z)), Fixed(yaw_quat(hole.yaw), piece.kind.symmetry), point=centre),
                f"Move the object to the hole of {into.words} shape; Release the gripper.",
                back=BACK,
            ),
        ),
    )


@vlmbench.task(level="sorter")
def sorter_color(draw: Draw) -> Draft:
    """Put the piece of a colour through its hole, of three of the same shape."""
    stage = UnitSceneBuilder(draw)
    colours = stage.some_colours(3, stage.colours[stage.variation(len(stage.colours))])
    kind = stage.stream.choice(_pieces(stage))
    pieces = [stage.actor(kind, c, said=f"the {c} {kind.words}") for c in colours]
    _laid(stage, pieces)
    return _draft(stage, pieces)


@vlmbench.task(level="sorter")
def sorter_relative(draw: Draw) -> Draft:
    """Put the piece on a side through its hole, of two of the same shape."""
    stage = UnitSceneBuilder(draw)
    wanted = SIDES[stage.variation(4)]
    kind = stage.stream.choice(_pieces(stage))
    pieces = [stage.actor(kind, c, said=f"the {s} {kind.words}") for c, s in zip(stage.some_colours(2), both(wanted), strict=True)]
    _laid(stage, pieces, wanted)
    return _draft(stage, pieces)


@vlmbench.task(level="sorter")
def sorter_shape(draw: Draw) -> Draft:
    """Put the piece of a shape through its hole, beside one or two of other shapes."""
    stage = UnitSceneBuilder(draw)
    kinds = _pieces(stage)
    kind = kinds[stage.variation(len(kinds))]
    others = stage.stream.sample([k for k in kinds if k != kind], stage.stream.integer(1, 2))
    pieces = [stage.actor(k, stage.stream.choice(stage.colours), said=f"the {k.words}") for k in (kind, *others)]
    _laid(stage, pieces)
    return _draft(stage, pieces)
