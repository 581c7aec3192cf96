"""Visual memory: manipulate_old_neighbor and pick_in_order_then_restore."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from etude.catalog.registry import shape
from etude.goals.goal import Order
from etude.goals.imitating import Anew, InTurn
from etude.pose import IDENTITY, Pose, Vec2, yaw_quat
from etude.prompts.instruction import instruction
from etude.suites.suite import Draft, Draw
from etude.suites.vima.stage import VimaActor, VimaSceneBuilder, clear, laid
from etude.suites.vima.suite import SPLITS, vima
from etude.suites.vima.things import PAN

DIRECTIONS = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}  # rows go away from the robot, columns to its left
ROWS, COLUMNS, BASE = (0.375, 0.5, 0.625), (-0.25, 0.0), (0.5, 0.25)  # m: x and y of the grid, and the base
MANY_ROWS, MANY_COLUMNS, FAR_BASE = (0.3125, 0.4375, 0.5625, 0.6875), (-0.35, -0.2, -0.05, 0.1), (0.5, 0.3)
DENSE = 0.8  # times smaller, so that the larger grid has gaps
ONLOOKERS = 2  # beside the grid, when distracting
SHELF_ROWS, SHELF_COLUMNS = (0.375, 0.625), (-0.25, 0.0, 0.25)
NEAR = 0.05  # m
EXTRAS = 4  # objects nobody asks for, when distracting
SHRUNK = (0.5, 0.8)  # times smaller, bases nobody asks for, when extreme
HAIR = 0.001  # m


@vima.task(splits=SPLITS)
def manipulate_old_neighbor(draw: Draw) -> Draft:
    """T16: put an object into a base, then the one that was its neighbour.

    Asked: "First put {dragged_obj} into {base_obj} then put the object that was previously at its DIR into the same {base_obj}.", with a
    direction as on a map of the view from above. Randomised: base, five objects on a grid of 3 × 2 cells (when extreme, 16 smaller ones
    on 4 × 4, and the base has the shape of a dragged object), the empty cell, which of them is meant, and the direction; when
    distracting, two more objects beside the grid. Succeeds when first the object and then its neighbour came to lie within 10 cm of
    the base; the neighbour lying there first is a mistake, and so is any other object there.
    """
    stage = VimaSceneBuilder(draw)
    pools = stage.pools
    base = stage.actor(stage.stream.choice(pools.dragged if stage.extreme else pools.bases), stage.stream.choice(pools.base_textures))
    rows, columns, at = (MANY_ROWS, MANY_COLUMNS, FAR_BASE) if stage.extreme else (ROWS, COLUMNS, BASE)
    cells = list(product(range(len(rows)), range(len(columns))))
    if not stage.extreme:
        cells.remove(stage.stream.choice(cells))
    pairs = [(thing, texture) for thing in pools.dragged for texture in pools.dragged_textures]
    scale = (DENSE,) * 3 if stage.extreme else (1.0,) * 3
    crowd = [stage.actor(*pair, scale) for pair in stage.stream.sample(pairs, len(cells) + ONLOOKERS)]
    grid = dict(zip(cells, crowd, strict=False))
    first, second, word = stage.stream.choice(
        [(a, grid[r + dr, c + dc], word) for (r, c), a in grid.items() for word, (dr, dc) in DIRECTIONS.items() if (r + dr, c + dc) in grid]
    )
    place = based(stage, base, at)
    for (row, column), actor in grid.items():
        stage.set_at(actor, actor.standing(rows[row], columns[column]))
    onlookers = crowd[len(cells) :] if stage.distracting else []
    stage.keep_free(place)
    for actor in onlookers:
        stage.put(actor)
    steps = laid(first, place, base), laid(second, place, base)
    others = [a for a in (*grid.values(), *onlookers) if a not in (first, second)]
    text = instruction(
        "First put ", first.picture("dragged_obj"), " into ", base.picture("base_obj"),
        f" then put the object that was previously at its {word} into the same ", base.picture("base_obj"), ".",
    )  # fmt: skip
    goal = stage.goal(Order((steps[0], Anew(steps[1]))), [first, second], InTurn(steps), clear(others, [place]))
    return Draft(stage.scene(), goal, (text,), roles=(("manipulated", first.name), ("receiving", base.name)), least=2)


def based(stage: VimaSceneBuilder, base: VimaActor, at: Vec2) -> Vec2:
    """Set a base so that the middle of its hollow is at this place."""
    x, y = stage.middle(base, base.standing(*at))
    pose = base.standing(2 * at[0] - x, 2 * at[1] - y)
    stage.set_at(base, pose, fixed=True)
    return stage.middle(base, pose)


@vima.task(splits=SPLITS)
def pick_in_order_then_restore(draw: Draw) -> Draft:
    """T17: carry an object through two containers and back.

    Asked: "Put {dragged_obj} into {base_obj_1} then {base_obj_2}. Finally restore it into its original container." Randomised: object,
    the shape of the six containers, their textures, and which of them are meant; when distracting, four more objects, three of them in
    the other containers; when extreme, the containers differ in shape, and the others in size. Succeeds when the object has lain within
    5 cm of the middle of both containers in their order, and lies in the first one again; one before its turn is a mistake, and so is
    another object there.
    """
    stage = VimaSceneBuilder(draw)
    pools, stream = stage.pools, stage.stream
    shapes = [t for t in pools.bases if t != PAN]  # too long for its place among the others
    thing = stream.choice(shapes)
    textures = stream.sample(pools.base_textures, 6)
    dragged, *extras = [stage.actor(*pair) for pair in stream.sample(list(product(pools.dragged, pools.dragged_textures)), 1 + EXTRAS)]
    cells = stream.shuffled(list(product(SHELF_ROWS, SHELF_COLUMNS)))
    if stage.extreme:
        bases = [stage.actor(stream.choice(shapes), texture) for texture in textures[:3]]
        for texture in textures[3:]:
            factor = stream.uniform(*SHRUNK)
            bases.append(stage.actor(stream.choice(pools.bases), texture, (factor, factor, 1.0)))
    else:
        bases = [stage.actor(thing, texture) for texture in textures]
    poses = [base.standing(*cell) for base, cell in zip(bases, cells, strict=True)]
    for base, pose in zip(bases, poses, strict=True):
        stage.set_at(base, pose, fixed=True)
    onlookers = extras if stage.distracting else []
    for actor, base, pose in zip([dragged, *onlookers], [bases[0], *bases[3:]], [poses[0], *poses[3:]], strict=False):
        stage.set_at(actor, bedded(stage, base, pose, actor, stream.uniform(0.0, 2 * math.pi)))
    for actor in onlookers[3:]:
        stage.put(actor, clearance=HAIR)
    home, one, two = (stage.middle(base, pose) for base, pose in zip(bases[:3], poses[:3], strict=True))
    steps = tuple(laid(dragged, p, b, NEAR) for p, b in ((one, bases[1]), (two, bases[2]), (home, bases[0])))
    text = instruction(
        "Put ", dragged.picture("dragged_obj"), " into ", bases[1].picture("base_obj_1"), " then ", bases[2].picture("base_obj_2"),
        ". Finally restore it into its original container.",
    )  # fmt: skip
    goal = stage.goal(Order(steps), [dragged], InTurn(steps), clear(onlookers, [one, two, home], NEAR))
    return Draft(stage.scene(), goal, (text,), roles=(("manipulated", dragged.name), ("receiving", bases[1].name)), least=3)


def bedded(stage: VimaSceneBuilder, base: VimaActor, pose: Pose, actor: VimaActor, yaw: float) -> Pose:
    """An actor in a base: on the floor of its hollow if it fits, otherwise on its rim, from where it settles."""
    hull, model = shape(base.thing.shape, base.size), shape(actor.thing.shape, actor.size)
    rim = float(hull.bounds[1][2])
    if hull.cavity is not None:
        (x0, y0, floor), (x1, y1, _) = hull.cavity
        room = np.array([x1 - x0, y1 - y0]) / 2 - HAIR
        if np.all(np.abs(model.outline(yaw_quat(yaw))) < room):
            rim = floor
    x, y = stage.middle(base, pose)
    return Pose.flat(x, y, pose.position[2] + rim + HAIR + model.lift(IDENTITY), yaw)
