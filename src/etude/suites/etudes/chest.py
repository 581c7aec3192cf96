"""A chest of drawers with things on it and in it, laid out for an étude whose looks are solved."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from etude.catalog.registry import shape
from etude.decisions.asking import Degenerate
from etude.decisions.graph import walk
from etude.decisions.looks import Select
from etude.names import EtudeError, Stream
from etude.pose import Pose, Vec2
from etude.scene.fixtures import drawer_cabinet
from etude.scene.rooms import TABLE_TOP, furnished, rlbench_room
from etude.scene.scene import Body, Fixture, Scene
from etude.suites.etudes.acts import AVOIDED, STORED, Deed, Drawer, It
from etude.suites.etudes.composing import Unsolved
from etude.suites.etudes.facts import Holds
from etude.suites.etudes.furniture import TakeOut
from etude.suites.etudes.household import (
    CHEST,
    CHEST_LOOKS,
    FLOOR,
    KINDS,
    LEVELS,
    MOST_IN_DRAWER,
    MOST_ON_CHEST,
    OPENED,
    PLACE,
    PLACES,
    TOP,
    frame_in,
)  # fmt: skip
from etude.suites.etudes.meaning import goal_of
from etude.suites.etudes.rehearsing import Rehearsal, Unplayable
from etude.suites.etudes.roads import refuse_dead_ends
from etude.suites.etudes.setting import AT_CHEST
from etude.suites.etudes.sketching import ChestState, arriving, possible
from etude.suites.etudes.solving import Solved, conditions, solved

TURN = math.pi / 8  # rad by which the chest is turned, at most (HiMan-Bench 3.1)
AT = ((0.18, 0.30), (-0.24, -0.08))  # m: where it stands
WRIST = 0.59  # m before its middle: the wrist of a hand that is about to take the handle of an open drawer
BASE, STRETCHED = (-0.268, -0.006), 0.86  # m: where the robot stands, and how far from there that wrist may be
WOOD, FRONTS = "#b89f7a", "#dbcfbd"
APART = 0.035  # m between things: room for a finger
CORNER, SHY = 0.112, 0.02  # m: where things stand that are not to be touched, and how much farther others stand from them
ON_CHEST: tuple[Vec2, Vec2] = ((-0.105, -0.105), (0.105, 0.105))  # m: middles of things, in its frame
# The same in a drawer: farther back the wrist would meet the chest, nearer to its front or aslant the palm would meet that.
IN_FRONT: tuple[Vec2, Vec2] = ((-0.055, -0.065), (0.05, -0.035))
ASLANT = 0.35  # rad by which things in drawers are turned from their sides, at most
TRIES = 8  # chests for an étude of one's own and one way in which its conditions come out
FEWER = 3  # the same for one that is drawn: another is drawn as soon
LAYOUTS = 6  # of things whose looks are settled
SPOTS = 30  # places that are tried for a thing


def furnished_for(unsolved: Unsolved, outcomes: Sequence[bool], stream: Stream, given: Sequence[Select] = ()) -> tuple[Solved, Scene]:
    """Things and a chest with which the conditions come out so; raises :class:`EtudeError` where that cannot be had.

    An étude that could come out in one way only is refused: its words would tell how. One that was drawn, with nothing ``given``, is also
    fair: in its scene every branch can be carried out, be it the one to be taken or the other.
    """
    wished = tuple(outcomes[: len(conditions(unsolved.root))])
    fixed = {k: told.level for k, told in enumerate(given) if isinstance(told, Drawer)}
    chests = possible(unsolved.root, fixed, fair=not given)
    # Words tell the levels of drawers: with them, too, every way must be possible.
    levels = set.intersection(*({state.levels for state in there} for there in chests.values()))
    if not levels:
        raise Unplayable("its drawers cannot be opened and closed as it asks for, however its conditions come out")
    told = stream.choice(sorted(levels))
    chests = {ways: [state for state in there if state.levels == told] for ways, there in chests.items()}
    found = _found(unsolved, wished, chests[wished], stream, given)
    for ways, there in chests.items():
        if ways != wished:
            _found(unsolved, ways, there, stream, given)
    return found


def _found(
    unsolved: Unsolved, outcomes: Sequence[bool], chests: Sequence[ChestState], stream: Stream, given: Sequence[Select]
) -> tuple[Solved, Scene]:
    wrong = EtudeError("no chest found")
    for _ in range(TRIES if given else FEWER):
        state = stream.choice(chests)
        try:
            found = solved(unsolved, outcomes, stream, given, AT_CHEST, dict(state.levels))
            scene = chest_scene(found, unsolved, state.opened, stream)
            goal = goal_of(found.etude, scene)
            came = Rehearsal(found.etude, goal, scene).outcomes()
            refuse_dead_ends(found.etude, goal, scene, fair=not given)
        except Degenerate:
            raise
        except EtudeError as error:
            wrong = error
            continue
        if all(one is None or one is wish for one, wish in zip(came, outcomes, strict=True)):
            return found, scene
        wrong = EtudeError("its conditions come out in another way")
    raise wrong


def chest_scene(found: Solved, unsolved: Unsolved, opened: str, stream: Stream) -> Scene:
    """A chest for an étude, with one drawer open, or none; raises :class:`EtudeError` where what it asks for cannot be had together."""
    known, later = _places(found, unsolved), Counter[str]()
    for number, count in arriving(found.drawn).items():
        later[f"{_level(Drawer(number), found)} drawer"] = count
    fixture = _chest(stream, opened)
    avoided = [number for number, parts in enumerate(unsolved.parts) if AVOIDED in parts]
    names = stream.shuffled(range(len(found.looks)))  # numbers in names say nothing of the parts that things play
    bodies: list[tuple[int, Body]] = []
    for place, spots in _laid_out(known, later, found, avoided, stream).items():
        frame, floor = (fixture.pose, TOP) if place == CHEST else (frame_in(fixture, place.removesuffix(" drawer")), FLOOR)
        for k, at in spots.items():
            colour, word = found.looks[k]
            item = KINDS[word]
            assert item.size is not None
            yaw = stream.uniform(-math.pi, math.pi) if place == CHEST else _aligned(stream)
            pose = frame * Pose.flat(*at, floor + item.size[2] / 2 + 0.0005, yaw)
            bodies.append((names[k], Body(f"{colour} {word} {names[k]}", item.shape, colour, pose, item.size, 0.1, item.mass)))
    return furnished(rlbench_room(), fixture, *(body for _, body in sorted(bodies, key=lambda one: one[0])))


def _laid_out(
    known: Sequence[str], later: Mapping[str, int], found: Solved, avoided: Sequence[int], stream: Stream
) -> dict[str, dict[int, Vec2]]:
    """Where all things are: places, and spots (m, in the frame of each) by the numbers of things. ``later``: how many come to a place."""
    most = {place: MOST_ON_CHEST if place == CHEST else MOST_IN_DRAWER for place in PLACES}
    for place in PLACES:
        if known.count(place) > most[place]:
            raise EtudeError(f"there is no room for {known.count(place)} things: {place}")
    wrong = EtudeError("there is no room for all things")
    for _ in range(LAYOUTS):
        places = [*known]
        for k, place in enumerate(known):  # what nobody speaks of is wherever there is room
            if not place:
                free = [one for one in PLACES if places.count(one) + later.get(one, 0) < most[one]]
                if not free:
                    raise EtudeError("there is no room for what nobody speaks of")
                places[k] = stream.choice(free)
        try:
            laid: dict[str, dict[int, Vec2]] = {}
            for place in PLACES:
                here = [k for k, one in enumerate(places) if one == place]
                shy = [place == CHEST and any(k in found.cast[number] for number in avoided) for k in here]
                spots = _spots([found.looks[k][1] for k in here], shy, ON_CHEST if place == CHEST else IN_FRONT, stream)
                laid[place] = dict(zip(here, spots, strict=True))
            return laid
        except EtudeError as error:
            wrong = error
    raise wrong


def _level(drawer: Drawer, found: Solved) -> str:
    """The level of a drawer that was drawn by number."""
    told = found.told[drawer.when]
    assert isinstance(told, Drawer)
    return told.level


def _places(found: Solved, unsolved: Unsolved) -> list[str]:
    """Where each thing is at the start; nothing for those of which nobody speaks."""
    places: list[str] = [""] * len(found.looks)

    def put(number: int, place: str) -> None:
        for k in found.cast[number]:
            if places[k] not in ("", place):
                raise EtudeError("a thing cannot be in two places")
            places[k] = place

    for node in walk(found.drawn):
        if isinstance(node, TakeOut):
            put(node.thing.when, f"{_level(node.drawer, found)} drawer")
        elif isinstance(node, Holds):
            put(node.thing.when, f"{_level(node.of, found)} drawer")
    for number, parts in enumerate(unsolved.parts):
        if PLACE in parts and number in found.seen:
            put(number, PLACES[CHEST_LOOKS.space.of(PLACE, found.seen[number])])
        elif STORED not in parts and any(places[k] == "" for k in found.cast[number]):
            put(number, CHEST)
    _refuse_misplaced(found, places)
    return places


def _refuse_misplaced(found: Solved, places: Sequence[str]) -> None:
    """What is put away is on the chest."""
    for node in walk(found.drawn):
        if isinstance(node, Deed) and not isinstance(node, TakeOut):
            for thing in node.carried():
                if not isinstance(thing, It) and any(places[k] != CHEST for k in found.cast[thing.when]):
                    raise EtudeError("what is put into a drawer is on the chest before")


def _chest(stream: Stream, opened: str) -> Fixture:
    """The chest somewhere on the table; its drawers open to the robot's left, within its reach."""
    while True:
        x, y = (stream.uniform(*limits) for limits in AT)
        pose = Pose.flat(x, y, TABLE_TOP, math.pi + stream.uniform(-TURN, TURN))
        if math.dist(pose.apply((0.0, -WRIST, 0.0))[:2], BASE) < STRETCHED:
            break
    values = [OPENED if level == opened else 0.0 for level in LEVELS]
    return drawer_cabinet(CHEST, pose, drawers=LEVELS, texture=WOOD, drawer_texture=FRONTS, opened=values)


def _aligned(stream: Stream) -> float:
    """How a thing is turned in a drawer, rad: along one of its sides, more or less."""
    return stream.integer(-2, 1) * math.pi / 2 + stream.uniform(-ASLANT, ASLANT)


def _spots(words: Sequence[str], shy: Sequence[bool], bounds: tuple[Vec2, Vec2], stream: Stream) -> list[Vec2]:
    """Places for things, with room for fingers between them (m); those that are not to be touched are ``shy`` and stand in corners at the
    back: what comes out of drawers comes over the front."""
    (left, near), (right, far) = bounds
    found: list[tuple[Vec2, float]] = []
    for word, apart in zip(words, shy, strict=True):
        item = KINDS[word]
        radius = shape(item.shape, item.size).radius + (SHY if apart else 0.0)
        for _ in range(SPOTS):
            at = stream.uniform(left, right), stream.uniform(near, far)
            if apart:
                at = stream.choice((-CORNER, CORNER)), CORNER
            if all(math.dist(at, other) > radius + reach + APART for other, reach in found):
                found.append((at, radius))
                break
        else:
            raise EtudeError("there is no room for all things")
    return [at for at, _ in found]
