"""Putting things into areas: sort, follow_order, follow_order_restore, neighbour."""

from __future__ import annotations

import math
from dataclasses import replace

from etude.catalog.registry import shape
from etude.catalog.shape import Shape
from etude.goals.goal import All, Not, Order
from etude.goals.leaves import Inside
from etude.names import EtudeError
from etude.pose import IDENTITY, Array, Pose, Vec2, Vec3, rotate, yaw_quat
from etude.prompts.instruction import InstructionPart, ScenePicture, instruction
from etude.scene.placement import FULL_TURN, NoRoom
from etude.suites.clevrskills.stage import FINDS, REACH, A, ClevrActor, ClevrSceneBuilder, steady
from etude.suites.clevrskills.suite import clevrskills
from etude.suites.clevrskills.things import Item, primitives, top_pool
from etude.suites.suite import Draft, Draw

AREA: Vec3 = (0.35, 0.35, 0.01)
SMALL_AREA: Vec3 = (0.18, 0.18, 0.01)
# To the right of the arm, to its left, and before it: all within reach, with room for the objects between them.
SPOTS: tuple[Vec2, ...] = ((-0.28, -0.33), (-0.28, 0.33), (0.08, 0.0))
SORT_OBJECTS = (2, 4)
APART = 0.03  # m between objects at the start: the hand is wider than what it takes
SORT_AREAS = (2, 3)
STATIONS = (3, 4)  # areas of follow_order
MOTIONS = (1, 4)
NEIGHBOUR_GAP = 0.1  # m between the two, along the axis, besides the neighbour's extent
DIRECTIONS: dict[str, Vec2] = {"north": (1.0, 0.0), "south": (-1.0, 0.0), "west": (0.0, 1.0), "east": (0.0, -1.0)}
OPPOSITE = {"north": "south", "south": "north", "west": "east", "east": "west"}


def area_pool(split: str, size: Vec3) -> tuple[Item, ...]:
    """The prisms, flat and wide."""
    return tuple(Item(f"{item.words} area", item.shape, size) for item in primitives(split))


def _pool(split: str, longest: float = 1.0) -> tuple[Item, ...]:
    """What is put into areas, up to a length (m)."""
    return tuple(item for item in steady(top_pool(split)) if max(shape(item.shape, item.size).size[:2]) <= longest)


def _areas(stage: ClevrSceneBuilder, count: int) -> list[ClevrActor]:
    """Large areas at their spots."""
    areas = stage.cast(area_pool(stage.draw.split, AREA), count, 2)
    for area, (x, y) in zip(areas, SPOTS, strict=False):
        pose = Pose((x, y, AREA[2] / 2))
        stage.layout.put(area.name, _model(area), pose)
        stage.things.append(area.body(pose, fixed=True))
    return areas


def _model(actor: ClevrActor) -> Shape:
    return shape(actor.item.shape, actor.item.size)


@clevrskills.task(level="L1", horizon=800)
def sort(draw: Draw) -> Draft:
    """Put every object into the area that wears its texture.

    Asked: "Place the objects in the identically textured areas". Randomised: two or three areas, two to four objects, each in the texture
    of one of the areas, and their places. Succeeds when every object rests on its area with its middle inside, let go and at rest.
    """
    stage = ClevrSceneBuilder(draw, *A)
    count = stage.stream.integer(*SORT_OBJECTS)
    areas = _areas(stage, stage.stream.integer(*SORT_AREAS))
    homes = [stage.stream.choice(areas) for _ in range(count)]
    actors = stage.cast(_pool(draw.split), count, worn=[area.texture for area in homes])
    for actor in actors:
        stage.put(actor, clearance=APART, reach=REACH)
    pairs = stage.parts(list(zip(actors, homes, strict=True)))
    each: list[str | InstructionPart] = []
    for actor, area in pairs:
        each += [" put " if each else "Put ", actor.picture(), " in ", area.picture()]
    prompts = (instruction("Place the objects in the identically textured areas"), instruction(*each))
    goal = All(tuple(Inside(actor.name, area.name) for actor, area in pairs))
    roles = [("manipulated", actor.name) for actor, _ in pairs] + [("receiving", area.name) for area in stage.parts(areas)]
    return Draft(stage.scene(), goal, prompts, roles=tuple(roles))


# ------------------------------------------------------------------------------------------------ following


def _followed(draw: Draw, most: tuple[int, int], restore: bool) -> Draft:
    stage = ClevrSceneBuilder(draw, *A)
    areas = stage.cast(area_pool(draw.split, SMALL_AREA), stage.stream.integer(*STATIONS), 2)
    motions = min(stage.stream.integer(*most), len(areas) - 1)
    (actor,) = stage.cast(_pool(draw.split, SMALL_AREA[0]), 1)  # what is longer than an area would lie on two of them
    at = {area.name: stage.put(area, fixed=True, reach=REACH) for area in areas}
    heading, home = stage.stream.uniform(*FULL_TURN), stage.roles.choice(areas)
    stage.things.append(actor.body(_upon(actor, home, at[home.name], heading)))
    others = stage.parts([area for area in areas if area is not home])
    route = others[:motions]
    steps = [ScenePicture(f"scene {k + 1}", ((actor.name, _upon(actor, area, at[area.name], heading)),)) for k, area in enumerate(route)]
    end = " and then restore" if restore else ""
    shown: list[str | InstructionPart] = ["Follow the motion for ", actor.picture(), ":"]
    said: list[str | InstructionPart] = ["Put ", actor.picture()]
    for k, (area, step) in enumerate(zip(route, steps, strict=True)):
        shown += [" ", step]
        said += [" then on " if k else " on ", area.picture()]
    if restore:
        route = [*route, home]
    goal = Order(tuple(Inside(actor.name, area.name) for area in route))
    roles = (("manipulated", actor.name), *(("receiving", area.name) for area in (home, *others)))
    return Draft(stage.scene(), goal, (instruction(*shown, end), instruction(*said, end)), roles=roles)


def _upon(actor: ClevrActor, area: ClevrActor, pose: Pose, heading: float) -> Pose:
    """The actor on an area, centre of mass above centre of mass."""
    turn = yaw_quat(heading)
    x, y, z = (pose.apply(_model(area).mass_properties[1]) - rotate(turn, _model(actor).mass_properties[1])).tolist()
    z = pose.position[2] + SMALL_AREA[2] / 2 + _model(actor).lift(IDENTITY)
    return Pose((x, y, z), turn)


@clevrskills.task(level="L1", horizon=600)
def follow_order(draw: Draw) -> Draft:
    """Move an object from area to area as pictures show.

    Asked: "Follow the motion for A: PICTURE PICTURE …". Randomised: three or four areas, textures and places; the object, which starts on
    one of them; one to three motions. Succeeds when it has rested on each of the areas in that order, its middle inside, let go and at
    rest.
    """
    return _followed(draw, MOTIONS, restore=False)


@clevrskills.task(level="L1", horizon=400)
def follow_order_restore(draw: Draw) -> Draft:
    """Move an object to another area as a picture shows, then back.

    Asked: "Follow the motion for A: PICTURE and then restore". Randomised: three or four areas, textures and places; the object. Succeeds
    when it has rested on that area and, after that, on its own again.
    """
    return _followed(draw, (1, 1), restore=True)


# ------------------------------------------------------------------------------------------------ neighbours


def _side_by_side(stage: ClevrSceneBuilder, main: ClevrActor, other: ClevrActor, direction: str) -> None:
    """Put ``main`` somewhere, and ``other`` in this direction of it."""
    dx, dy = DIRECTIONS[direction]
    for _ in range(FINDS):
        mark = len(stage.layout.taken)
        try:
            pose = stage.find(main, reach=REACH)
            heading = stage.stream.uniform(*FULL_TURN)
            outline = _model(other).outline(yaw_quat(heading))
            away = NEIGHBOUR_GAP + float((outline.max(0) - outline.min(0))[0 if dx else 1])
            x, y, _ = pose.position
            beside = Pose((x + dx * away, y + dy * away, _model(other).lift(IDENTITY)), yaw_quat(heading))
            _refuse_outside(stage, beside, outline)
            stage.layout.put(other.name, _model(other), beside)
        except NoRoom:
            raise
        except EtudeError:  # it would meet something
            del stage.layout.taken[mark:]
            continue
        stage.things += [main.body(pose), other.body(beside)]
        return
    raise NoRoom(f"no room for {main.name!r} with {other.name!r} to its {direction}")


def _refuse_outside(stage: ClevrSceneBuilder, pose: Pose, outline: Array) -> None:
    x, y, _ = pose.position
    inside = all(stage.lower[0] <= x + px <= stage.upper[0] and stage.lower[1] <= y + py <= stage.upper[1] for px, py in outline.tolist())
    if not inside or math.dist((x, y), stage.base) > REACH:
        raise EtudeError("the neighbour would stand outside")


@clevrskills.task(level="L1", horizon=400)
def neighbour(draw: Draw) -> Draft:
    """Put an object into an area, then the one that was beside it.

    Asked: "First put A in AREA and then put the object that was at its north in the same AREA". Randomised: two objects, one to the north
    (away from the arm), south, west or east of the other; two or three areas; textures and places. Succeeds when A rests in the area before
    the other does, and then both do at the same time, let go and at rest.
    """
    stage = ClevrSceneBuilder(draw, *A)
    areas = _areas(stage, stage.stream.integer(*SORT_AREAS))
    main, other = stage.cast(_pool(draw.split), 2)
    direction = stage.stream.choice(tuple(DIRECTIONS))
    _side_by_side(stage, main, other, direction)
    area = stage.parts(areas)[0]
    if stage.parts([main, other])[0] is other:
        main, other, direction = other, main, OPPOSITE[direction]
    first, second = Inside(main.name, area.name), Inside(other.name, area.name)
    goal = Order((All((first, Not(second))), All((first, second))))
    prompt = instruction(
        "First put ", main.picture(), " in ", area.picture(),
        f" and then put the object that was at its {direction} in the same ", replace(area.picture(), words=area.words),
    )  # fmt: skip
    roles = (("manipulated", main.name), ("manipulated", other.name), ("receiving", area.name))
    return Draft(stage.scene(), goal, (prompt,), roles=roles)
