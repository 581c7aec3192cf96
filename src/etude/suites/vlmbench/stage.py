"""What the tasks of VLMbench share: the lists of things, the table being set, and what is said of things (VLMbench 1.3 to 1.7)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from etude.catalog.colours import SEEN, UNSEEN
from etude.catalog.registry import shape
from etude.goals.units import Composed, Unit
from etude.names import Stream
from etude.pose import Pose, Vec3
from etude.prompts.instruction import instruction
from etude.scene.placement import FULL_TURN, Layout, NoRoom
from etude.scene.rooms import RLBENCH_LOWER, RLBENCH_UPPER, TABLE_TOP, rlbench_room
from etude.scene.scene import Body, Entity, Scene
from etude.suites.suite import Draft, Draw

BESIDE = 0.015  # m between things
BASE = (-0.268, -0.006)  # m: where the robot stands
REACH = (0.34, 0.74)  # m from there: nearer or farther, the hand cannot point down
SIDES = ("left", "right", "front", "rear")
OPPOSITE = {"left": "right", "right": "left", "front": "rear", "rear": "front", "smaller": "larger", "larger": "smaller"}
TRIES = 60


@dataclass(frozen=True)
class ObjectKind:
    """A kind of thing: how it is called, its shape in the catalogue and its extents (m), its mass (kg)."""

    words: str
    shape: str
    size: Vec3
    mass: float
    symmetry: int = 1
    largest: float = 10.0  # scale beyond which the fingers no longer get round it


STAR = ObjectKind("star", "star", (0.0517, 0.0547, 0.0346), 0.0357, 5, largest=2.0)
TRIANGULAR = ObjectKind("triangular prism", "triangular prism", (0.0456, 0.0395, 0.0392), 0.035, 3, largest=1.5)
CYLINDER = ObjectKind("cylinder", "cylinder", (0.0455, 0.0455, 0.0418), 0.0675, 36, largest=1.5)
CUBE = ObjectKind("cube", "cube", (0.0418, 0.0418, 0.0418), 0.0729, 4, largest=1.6)
MOON = ObjectKind("moon", "moon", (0.0603, 0.0348, 0.0388), 0.0563)
LETTER = ObjectKind("letter of 't'", "letter t", (0.08, 0.08, 0.04), 0.126)
CROSS = ObjectKind("cross-shaped block", "cross", (0.08, 0.08, 0.04), 0.183, 4, largest=1.7)
FLOWER = ObjectKind("flower", "flower", (0.08, 0.08, 0.04), 0.174, largest=1.0)
PENCIL = ObjectKind("pencil", "pencil", (0.0175, 0.328, 0.0153), 0.072)
BASKET = ObjectKind("container", "pencil basket", (0.0924, 0.0924, 0.1556), 0.41)
CONTAINER = ObjectKind("container", "box container", (0.20, 0.125, 0.05), 0.086)
SPONGE = ObjectKind("sponge", "sponge", (0.0579, 0.125, 0.0328), 0.119)

SEEN_SHAPES, UNSEEN_SHAPES = (STAR, TRIANGULAR, CYLINDER, CUBE, MOON), (CUBE, LETTER, CROSS, FLOWER)
SEEN_COLOURS, UNSEEN_COLOURS = tuple(SEEN), tuple(UNSEEN)


@dataclass(frozen=True)
class UnitActor:
    """A thing with a part to play. ``said`` is how the task tells it apart: "the left object", "the smaller pencil"."""

    name: str
    kind: ObjectKind
    colour: str
    scale: float = 1.0
    said: str = ""

    @property
    def size(self) -> Vec3:
        """Its extents, metres."""
        x, y, z = self.kind.size
        return round(x * self.scale, 6), round(y * self.scale, 6), round(z * self.scale, 6)

    @property
    def radius(self) -> float:
        """How far its outline reaches from its middle, metres."""
        return shape(self.kind.shape, self.size).radius

    def body(self, pose: Pose, fixed: bool = False) -> Body:
        """The actor on stage."""
        return Body(
            self.name, self.kind.shape, self.colour, pose, self.size, 0.1, round(self.kind.mass * math.pow(self.scale, 3), 6), fixed
        )


@dataclass
class UnitSceneBuilder:
    """A table being set for one episode."""

    draw: Draw
    actors: list[UnitActor] = field(default_factory=list)
    things: list[Entity] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stream: Stream = self.draw.rng("cast")
        self.layout = Layout(self.draw.rng("layout"), RLBENCH_LOWER, RLBENCH_UPPER, TABLE_TOP, BESIDE)
        self.unseen = self.draw.split.endswith("unseen")
        self.colours = UNSEEN_COLOURS if self.unseen else SEEN_COLOURS
        self.shapes = UNSEEN_SHAPES if self.unseen else SEEN_SHAPES
        self.room: Scene = rlbench_room(grasp=self.draw.option("grasp", "friction"))

    def variation(self, count: int) -> int:
        """Which of the task's variations: seeds take them in turn."""
        return self.draw.name.seed % count

    def some_colours(self, count: int, first: str = "") -> list[str]:
        """Different colours, ``first`` first if given."""
        rest = [c for c in self.colours if c != first]
        return [*([first] if first else []), *self.stream.sample(rest, count - bool(first))]

    def actor(self, kind: ObjectKind, colour: str, scale: float = 1.0, said: str = "") -> UnitActor:
        """A new actor, with a name of its own; ``said`` is how it is spoken of."""
        name = f"{colour} {kind.words} {len(self.actors)}"
        self.actors.append(UnitActor(name, kind, colour, round(min(scale, kind.largest), 4), said))
        return self.actors[-1]

    def place(self, actor: UnitActor, apart: Sequence[tuple[Pose, float]] = (), yaw: tuple[float, float] = FULL_TURN) -> Pose:
        """A free place within reach, its middle away from some poses by some distances (m)."""
        model = shape(actor.kind.shape, actor.size)
        for _ in range(TRIES):
            pose = self.layout.place(actor.name, model, yaw=yaw)
            x, y, _z = pose.position
            if REACH[0] <= math.dist((x, y), BASE) <= REACH[1] and all(
                math.dist((x, y), other.position[:2]) >= distance for other, distance in apart
            ):
                return pose
            self.layout.taken.pop()
        raise NoRoom(f"no room for {actor.name!r} within the robot's reach")

    def strew(
        self,
        actors: Sequence[UnitActor],
        apart: float = 0.10,
        accept: Callable[[Sequence[Pose]], bool] = lambda poses: True,
        yaw: tuple[float, float] = FULL_TURN,
        away: Sequence[tuple[Pose, float]] = (),
    ) -> list[Pose]:
        """Places for some actors, at least ``apart`` metres between their middles, drawn again until ``accept`` likes them.

        ``away`` are other poses, with the distances (m) to keep from them.
        """
        for _ in range(TRIES):
            before = len(self.layout.taken)
            poses: list[Pose] = []
            try:
                for actor in actors:
                    poses.append(self.place(actor, [*away, *((p, apart) for p in poses)], yaw))
                if accept(poses):
                    return poses
            except NoRoom:
                pass
            del self.layout.taken[before:]
        raise NoRoom(f"no places for {', '.join(a.name for a in actors)} that are as they should be")

    def set(self, actors: Sequence[UnitActor], poses: Sequence[Pose], fixed: bool = False) -> None:
        """Set actors on the table."""
        self.things += [a.body(p, fixed) for a, p in zip(actors, poses, strict=True)]

    def scene(self) -> Scene:
        """The set table."""
        return replace(self.room, entities=tuple(self.things))

    def draft(self, text: str, goal: Composed, others: Iterable[Composed], manipulated: str, receiving: str = "") -> Draft:
        """The parts of the episode; the second instruction also says every step. ``others`` is what could be said instead."""
        steps = " ".join(u.text for u in goal.units if isinstance(u, Unit))
        roles = (("manipulated", manipulated), *((("receiving", receiving),) if receiving else ()))
        goal = replace(goal, others=tuple(others))
        return Draft(self.scene(), goal, (instruction(text), instruction(f"{text} {steps}")), roles=roles)


def grasped(said: str, where: str = "top") -> str:
    """The low-level sentence of a grasp (VLMbench A), with the side from which the hand comes."""
    return f"Move to the {where} of {said}; Grasp {said}."


def side(one: Pose, other: Pose) -> str:
    """On which side of ``other`` ``one`` lies: front is farther from the robot (VLMbench 1.6)."""
    x, y = one.position[0] - other.position[0], one.position[1] - other.position[1]
    if abs(x) > abs(y):
        return "front" if x > 0 else "rear"
    return "left" if y > 0 else "right"


def both(word: str) -> tuple[str, str]:
    """What is said of the first of two things, and then of the second."""
    return word, OPPOSITE[word]


def sides(wanted: Sequence[str]) -> Callable[[Sequence[Pose]], bool]:
    """Is, of two things each, the first on its wanted side of the second?"""
    return lambda poses: all(side(poses[2 * k], poses[2 * k + 1]) == w for k, w in enumerate(wanted))


def scaled(box: tuple[Vec3, Vec3], scale: float) -> tuple[Vec3, Vec3]:
    """A box in the frame of something that was scaled."""
    (a, b, c), (d, e, f) = box
    return (a * scale, b * scale, c * scale), (d * scale, e * scale, f * scale)
