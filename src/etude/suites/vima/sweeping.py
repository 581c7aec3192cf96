"""Constraint satisfaction: sweep_without_exceeding and sweep_without_touching."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from etude.arithmetic import product
from etude.catalog.polygon import area, separation
from etude.catalog.registry import shape
from etude.episodes import ActionSpace
from etude.goals.goal import Always
from etude.goals.sweeping import Gathered, KeptOff, NoMore
from etude.names import Stream
from etude.pose import Array, Pose, Vec2
from etude.prompts.instruction import ObjectPicture, instruction
from etude.scene.placement import NoRoom
from etude.scene.rooms import UR5_UPPER
from etude.scene.scene import Area
from etude.skills.pushes import Rect
from etude.skills.sweeping import board_of, pushes_needed, rect_of
from etude.suites.suite import Draft, Draw
from etude.suites.vima.stage import SPAN, VimaActor, VimaSceneBuilder
from etude.suites.vima.suite import vima
from etude.suites.vima.things import (
    CROSS,
    DIAMOND,
    FLOWER,
    HEART,
    HEXAGON,
    PENTAGON,
    RING,
    SMALL_BLOCK,
    STAR,
    TRIANGLE,
    worn,
)  # fmt: skip

SWEEP: ActionSpace = "sweep"
HORIZONS = ("10", "20")  # actions: CoGeLoT D.3, and a longer one
CASTS = 4  # tables laid for what was drawn before something else is drawn
COUNTS, MANY = ((1, 0.5), (2, 0.25), (3, 0.25)), ((3, 0.2), (4, 0.4), (5, 0.4))  # things to sweep, and as many distractors
DETERMINERS = (("any", 1), ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5))
ODD_SHAPES = (CROSS, DIAMOND, TRIANGLE, FLOWER, HEART, HEXAGON, PENTAGON, RING, STAR)  # when extreme
SHRUNK = (0.4, 0.7)
ANCHORS = ((0.57, -0.22), (0.58, 0.03))  # m: corners of the squares in which things lie
SPREAD = 0.18  # m: sides of the squares
BESIDE = 0.015  # m between things: the plate comes down there
PICTURED = 0.21  # m: the picture of a small block shows it seven times as large (VIMA 1.8)
TRIES, PATIENT = 240, 40  # places looked at for a thing, and how many of them in its own square

BOUNDS_AT, BOUNDS = (0.41, 0.0), (0.27, 0.27)  # T12: middle and sides (y, x) of the zone
LINE = (0.3375, 0.04)
LINE_AT = (0.3425, 0.437)  # x
OUT = 0.015  # m by which the place that counts lies farther out than it is drawn (VIMA)

TOUCH_BOUNDS_AT, TOUCH_BOUNDS = (0.39, 0.0), (0.30, 0.172)  # T13
TOUCH_LINE = (0.1875, 0.04)
LONGER = 1.85  # the line's length when distracting or extreme


@dataclass(frozen=True)
class SweepScene:
    """What is on the table: things to sweep, how many of them and in what word, others, the zone and the line."""

    swept: list[VimaActor]
    others: list[VimaActor]
    count: int
    determiner: str
    bounds: str
    line: str


def cast_of(stage: VimaSceneBuilder) -> SweepScene:
    """Draw everything but places. What takes part is kept for some tables, so that counts depend little on what can be laid out."""
    stream, pools = replace(stage.draw, attempt=stage.draw.attempt // CASTS).rng("cast"), stage.pools
    texture, other = stream.sample(pools.dragged_textures, 2)
    bounds, line = stream.sample(pools.base_textures, 2)
    number = drawn(stream, MANY if stage.distracting else COUNTS)
    words = [(word, n) for word, n in DETERMINERS if n <= number] + [("all", number)]
    determiner, count = words[int(stream.uniform() * len(words))]
    thing, scale = SMALL_BLOCK, (1.0, 1.0, 1.0)
    if stage.extreme:
        thing = stream.choice(ODD_SHAPES)
        scale = (stage.stream.uniform(*SHRUNK), stage.stream.uniform(*SHRUNK), stage.stream.uniform(*SHRUNK))
    swept = [stage.actor(thing, texture, scale) for _ in range(number)]
    return SweepScene(swept, [stage.actor(thing, other, scale) for _ in range(number)], count, determiner, bounds, line)


def drawn(stream: Stream, table: Sequence[tuple[int, float]]) -> int:
    """A number by its probability; one word of the stream, whatever the table."""
    left = stream.uniform()
    for number, share in table:
        left -= share
        if left < 0:
            return number
    return table[-1][0]


def flat(name: str, kind: str, texture: str, at: Vec2, sides: Vec2, turn: float, level: int) -> Area:
    """Something flat to see on the table; levels lie on top of each other."""
    thick = 0.001
    return Area(name, kind, worn(texture), Pose.flat(at[0], at[1], thick * (level + 0.5), turn), (*sides, thick), SPAN)


def scatter(stage: VimaSceneBuilder, actors: Sequence[VimaActor], corner: Vec2, taken: list[Array]) -> None:
    """Set things near a corner's square, apart from each other. A square that is full grows to both sides, where the table has room."""
    stream = stage.draw.rng(f"layout/{corner}")
    model = shape(actors[0].thing.shape, actors[0].size)
    footprint = model.footprint
    radius = model.radius
    for actor in actors:
        for k in range(TRIES):
            beyond = 0.002 * max(0, k - PATIENT)
            x = stream.uniform(corner[0], min(corner[0] + SPREAD + beyond, UR5_UPPER[0] - radius))
            y = stream.uniform(corner[1] - beyond, corner[1] + SPREAD + beyond)
            yaw = stream.uniform(0.0, 2 * math.pi)
            c, s = math.cos(yaw), math.sin(yaw)
            outline = product(footprint, [[c, s], [-s, c]]) + np.array((x, y))
            if all(separation(outline, other) >= BESIDE for other in taken):
                break
        else:
            raise NoRoom(f"no room for {actor.name!r} beside {len(taken)} other things")
        taken.append(outline)
        stage.things.append(actor.body(actor.standing(x, y, yaw)))


def corners(rect: Rect) -> Array:
    """The corners of a rectangle, counter-clockwise, (4, 2)."""
    (x0, y0), (x1, y1) = rect.lower, rect.upper
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])


def enlarged(actor: VimaActor, words: str) -> ObjectPicture:
    """The picture of a swept thing, large enough to be seen."""
    x, y, z = shape(actor.thing.shape, actor.size).size
    factor = PICTURED / max(x, y, z)
    return replace(actor.picture("swept_obj"), words=words, size=(x * factor, y * factor, z * factor))


def draft(stage: VimaSceneBuilder, cast: SweepScene, zone: Area, line: Area, region: Rect, manner: str, most: int) -> Draft:
    """Set the table and say what is wanted. A table that needs more than ``most`` strokes, or more than the episode has, is not set."""
    horizon = int(stage.one_of("horizon", HORIZONS))
    most = min(most, horizon)
    stage.things += [zone, line]
    first, second = stage.stream.shuffled(ANCHORS)
    taken = [corners(region), corners(rect_of(line))]
    scatter(stage, cast.swept, first, taken)
    scatter(stage, cast.others, second, taken)
    swept, others = tuple(a.name for a in cast.swept), tuple(a.name for a in cast.others)
    gathered = Gathered(swept, cast.count, region.lower, region.upper, zone.name, line.name)
    kept = rect_of(line)
    goal = stage.goal(
        gathered,
        cast.swept,
        NoMore(swept, cast.count, region.lower, region.upper, zone.name),
        KeptOff(others, region.lower, region.upper, zone.name),
        Always(KeptOff(swept, kept.lower, kept.upper, line.name)),
    )
    needed = pushes_needed(board_of(stage.scene(), gathered), gathered, most)
    if needed is None:
        raise NoRoom(f"no way is seen to sweep {cast.count} things into the zone with {most} strokes")
    plural = "" if cast.determiner in ("any", "one") else "es" if cast.swept[0].thing.words.endswith("s") else "s"
    text = instruction(
        f"Sweep {cast.determiner} ",
        enlarged(cast.swept[0], cast.swept[0].words + plural),
        " into ",
        ObjectPicture(f"the {cast.bounds} three-sided rectangle", zone.shape, zone.size, zone.texture, SPAN, None, "bounds", "front"),
        f" without {manner} ",
        ObjectPicture(f"the {cast.line} line", line.shape, line.size, line.texture, SPAN, None, "constraint", "front"),
        ".",
    )
    roles = (("manipulated", swept[0]), ("receiving", zone.name))
    return Draft(stage.scene(), goal, (text,), roles=roles, least=needed, horizon=horizon)


@vima.task(splits=("train", "val", "L1", "L2"), options=("horizon",), control=SWEEP)
def sweep_without_exceeding(draw: Draw) -> Draft:
    """T12: sweep so many things into a zone, but not as far as a line across it."""
    stage = VimaSceneBuilder(draw, hand="spatula")
    cast = cast_of(stage)
    model = shape(cast.swept[0].thing.shape, cast.swept[0].size)
    width = 2 * math.sqrt(area(model.footprint) / math.pi) + 0.012
    rows = math.ceil(cast.count / max(1, int((BOUNDS[0] - 0.02) / width)))
    edge = BOUNDS_AT[0] + BOUNDS[1] / 2
    deep = rows * width + 0.02
    farthest = max(LINE_AT[0], min(LINE_AT[1], edge - LINE[1] / 2 - deep))
    x = LINE_AT[0] + (farthest - LINE_AT[0]) * stage.stream.uniform()
    zone = flat("zone", "three-sided rectangle", cast.bounds, BOUNDS_AT, BOUNDS, -math.pi / 2, 0)
    line = flat("line", "line", cast.line, (x, 0.0), LINE, math.pi / 2, 1)
    region = Rect((x + LINE[1] / 2 + OUT, -BOUNDS[0] / 2), (edge + OUT, BOUNDS[0] / 2))
    return draft(stage, cast, zone, line, region, "exceeding", min(8, cast.count + 2))


@vima.task(splits=("L4",), options=("horizon",), control=SWEEP)
def sweep_without_touching(draw: Draw) -> Draft:
    """T13: sweep so many things into a zone, round a line that bars the way."""
    stage = VimaSceneBuilder(draw, hand="spatula")
    cast = cast_of(stage)
    (x, y), (wide, deep) = TOUCH_BOUNDS_AT, TOUCH_BOUNDS
    length = TOUCH_LINE[0] * (LONGER if stage.distracting or stage.extreme else 1.0)
    zone = flat("zone", "three-sided rectangle", cast.bounds, TOUCH_BOUNDS_AT, TOUCH_BOUNDS, -math.pi / 2, 0)
    line = flat("line", "line", cast.line, (x + (deep + TOUCH_LINE[1]) / 2, y), (length, TOUCH_LINE[1]), math.pi / 2, 1)
    region = Rect((x - deep / 2, y - wide / 2), (x + deep / 2, y + wide / 2))
    return draft(stage, cast, zone, line, region, "touching", min(14, 2 * cast.count + 2))
