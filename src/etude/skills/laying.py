"""Strokes that lay things where they belong, and out of the way of others."""

from __future__ import annotations

import math

import numpy as np

from etude.arithmetic import norms, product
from etude.catalog.suction import suction_spot
from etude.goals.goal import Goal
from etude.goals.imitating import Followed, InTurn, NotAmong
from etude.goals.laying import Away, Clear, Laid, OnBoard
from etude.goals.sweeping import KeptOff, NoMore
from etude.goals.watch import Watch
from etude.pose import Array, Vec2
from etude.scene.rooms import UR5_LOWER, UR5_UPPER
from etude.scene.scene import Body
from etude.skills.oracle import Context, planned
from etude.skills.piling import covering, steady_place
from etude.skills.strokes import Stroke

MARGIN = 0.06  # m kept to the rim of the workspace
STEP = 0.02  # m between candidate places


@planned(Laid)
def lay(context: Context[Laid]) -> Stroke:
    """Pick the thing where suction holds best, and put it so that its middle comes to the place, or where it lies firmly near it.

    What lies upon it goes first.
    """
    goal, watch = context.goal, context.watch
    above = covering(watch, goal.thing, grip_point(watch, goal.thing))
    if above is not None:
        return carried(watch, above, free_place(watch, above, (goal.place,), goal.tolerance))
    return carried(watch, goal.thing, steady_place(watch, goal) if goal.into else goal.place, goal.off_by(watch))


def carried(watch: Watch, thing: str, place: Vec2, turn: float = 0.0) -> Stroke:
    """The stroke that brings a thing's origin to a place and turns it by ``turn`` (rad) about the vertical."""
    spot = grip_point(watch, thing)
    offset = spot[:2] - watch.position(thing)[:2]
    c, s = math.cos(turn), math.sin(turn)
    x, y = (np.asarray(place) + product([[c, -s], [s, c]], offset)).tolist()
    return Stroke("pick_place", (float(spot[0]), float(spot[1])), (x, y), 0.0, turn)


def grip_point(watch: Watch, thing: str) -> Array:
    """The point (3,) on a thing where a cup holds best; on things that lie on their side, above their middle."""
    p, axes = watch.position(thing), watch.axes(thing)
    local = suction_spot(watch.model(thing)) if abs(axes[2, 2]) > 0.95 else None
    if local is None:
        return np.array([p[0], p[1], watch.extent(thing)[1]])
    return p + product(axes, local)


@planned(Followed, InTurn, KeptOff, NoMore, NotAmong, OnBoard)
def wait(context: Context[Goal]) -> Stroke:
    """Reach for the empty rim of the table: a move that was wrong is mended by the next right one, if at all, not by any of its own."""
    x, y = (UR5_LOWER[0], (UR5_LOWER[1] + UR5_UPPER[1]) / 2)
    return Stroke("pick_place", (x, y), (x, y))


@planned(Clear, Away)
def put_away(context: Context[Clear]) -> Stroke:
    """Take what lies in the way to a place that is free and wanted by nobody."""
    goal, watch = context.goal, context.watch
    thing = goal.intruder(watch)
    assert thing is not None
    return carried(watch, thing, free_place(watch, thing, goal.places, goal.tolerance))


def free_place(watch: Watch, thing: str, avoid: tuple[Vec2, ...], distance: float) -> Vec2:
    """The place on the table farthest from everything else, at least ``distance`` from those to avoid."""
    xs = np.arange(UR5_LOWER[0] + MARGIN, UR5_UPPER[0] - MARGIN + 1e-9, STEP)
    ys = np.arange(UR5_LOWER[1] + MARGIN, UR5_UPPER[1] - MARGIN + 1e-9, STEP)
    grid = np.stack(np.meshgrid(xs, ys, indexing="ij"), -1).reshape(-1, 2)
    room = np.full(len(grid), math.inf)
    for entity in watch.world.scene.entities:
        if isinstance(entity, Body) and entity.name != thing:
            centre = watch.position(entity.name)[:2]
            room = np.minimum(room, norms(grid - centre) - watch.radius(entity.name))
    for place in avoid:
        room = np.minimum(room, norms(grid - np.asarray(place)) - distance)
    x, y = grid[int(np.argmax(room))].tolist()
    return x, y
