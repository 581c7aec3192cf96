"""The balance scale: balance."""

from __future__ import annotations

import math

from etude.catalog.registry import shape
from etude.goals.balance import Balanced
from etude.names import Stream
from etude.pose import Pose, Vec3
from etude.prompts.instruction import instruction
from etude.scene.fixtures import METAL, board, rod
from etude.scene.placement import NoRoom
from etude.scene.scene import Fixture, FixturePart, Joint, Solid
from etude.suites.clevrskills.stage import ClevrActor, ClevrSceneBuilder
from etude.suites.clevrskills.suite import clevrskills
from etude.suites.clevrskills.things import Item, texture_words, textures
from etude.suites.suite import Draft, Draw

LOWER, UPPER = (-0.5, -0.3), (-0.25, 0.3)  # workspace D (ClevrSkills 1.7)
KEEP_OUT = 0.2375  # m around the base of the robot
BLOCKS = (2, 4)
SHAPES = ("cube", "cylinder")
WIDTH = 0.1  # m
DENSITY = 300.0  # kg/m³
SLICE = (0.005, 0.015)  # m: blocks are so many slices high
HEIGHT = (0.021, 0.08)  # m of one block
TOWER = 0.15  # m of all blocks of one plate

# The scale (ClevrSkills 4, L2.1): pivot, beam, plates.
SCALE = "scale"
PIVOT: Vec3 = (-0.05, 0.0, 0.7)
ARM = 0.25  # m from the pivot to the hinge of a plate
DROP = 0.6  # m from that hinge down to the plate
LEAN = math.radians(20)
BEAM = 0.04  # m: its section
BEAM_MASS, PLATE_MASS = 0.8, 0.2  # kg: solid parts of density 1000
# The 0.1 by which the original's weak drive damps the beam is here the damping of each plate's hinge, so that plates come to rest too. Four
# balanced blocks let go with the beam at its stop: slower than 1°/s after 4.5 s; plates nudged by 1 cm: slower than 1 cm/s after 4 to 7 s.
BEAM_DAMPING, BEAM_FRICTION, BEAM_SPRING = 0.01, 1e-4, 0.1  # N·m·s/rad, N·m, N·m/rad
PLATE_DAMPING, PLATE_FRICTION = 0.1, 1e-4
PLATE_SWING = math.radians(89)
BEHIND = 0.068  # m behind the middle of a plate runs its rod: the hand comes in freely from the front and from both sides
WOOD = "light wood"


def scale(name: str = SCALE) -> Fixture:
    """A beam on a post, and two plates that hang from its ends on rods."""
    x, y, z = PIVOT
    gap = 0.002  # between the beam and the cheeks of its pivot
    cheek = 0.05 - BEAM / 2 - gap
    stand = FixturePart(
        "stand",
        (
            *(board((cheek, 0.03, 0.03), (s * (0.05 - cheek / 2), 0.0, z), METAL) for s in (-1, 1)),
            Solid("rod", (0.1, 0.012, 0.012), METAL, Pose((0.0, 0.0, z)), collides=False),
            rod(0.006, z, (0.05, 0.0, z / 2)),
            board((0.06, 0.12, 0.008), (0.06, 0.0, 0.004), METAL),
        ),
        mass=3.0,
    )
    beam = FixturePart(
        "beam",
        (board((BEAM, 2 * ARM, BEAM), (0.0, 0.0, 0.0), WOOD),),
        Pose((0.0, 0.0, z)),
        joint=Joint("hinge", (1.0, 0.0, 0.0), (-LEAN, LEAN), damping=BEAM_DAMPING, friction=BEAM_FRICTION, spring=BEAM_SPRING),
        mass=BEAM_MASS,
    )
    plates = tuple(_plate(f"plate {k + 1}", side) for k, side in enumerate((1, -1)))
    return Fixture(name, (stand, beam, *plates), Pose((x, y, 0.0)), (0.0, 0.0, 0.0))


def _plate(name: str, side: int) -> FixturePart:
    """A plate with its rod and pin; the frame is the middle of the plate."""
    solids = (
        board((WIDTH, WIDTH, 0.02), (0.0, 0.0, 0.0), METAL),
        board((BEHIND + 0.006 - WIDTH / 2, 0.02, 0.01), ((BEHIND + 0.006 + WIDTH / 2) / 2, 0.0, -0.005), METAL),
        rod(0.005, DROP, (BEHIND, 0.0, DROP / 2)),
        rod(0.005, BEHIND, (BEHIND / 2, 0.0, DROP), "x"),
    )
    swing = Joint("hinge", (1.0, 0.0, 0.0), (-PLATE_SWING, PLATE_SWING), (0.0, 0.0, DROP), PLATE_DAMPING, PLATE_FRICTION)
    return FixturePart(name, solids, Pose((0.0, side * ARM, -DROP)), "beam", swing, PLATE_MASS)


def block_heights(stream: Stream, count: int) -> list[float]:
    """Heights (m) of blocks that can be shared out so that both plates carry equally much."""
    thick = stream.uniform(*SLICE)
    least, most, tower = math.ceil(HEIGHT[0] / thick), math.floor(HEIGHT[1] / thick), math.floor(TOWER / thick)
    options = [
        (few, total)
        for few in range(1, count // 2 + 1)  # the first plate gets no more blocks than the second
        for total in range((count - few) * least, min(few * most, tower) + 1)
    ]
    if not options:
        raise NoRoom(f"{count} blocks of slices of {1000 * thick:.1f} mm cannot balance")
    few = stream.choice(sorted({f for f, _ in options}))
    total = stream.choice([t for f, t in options if f == few])
    slices = _shares(stream, total, few, least, most) + _shares(stream, total, count - few, least, most)
    return [n * thick for n in slices]


def _shares(stream: Stream, total: int, count: int, least: int, most: int) -> list[int]:
    """``total`` as a sum of ``count`` numbers from ``least`` to ``most``."""
    found = []
    for left in range(count - 1, -1, -1):
        low, high = max(least, total - left * most), min(most, total - left * least)
        found.append(stream.integer(low, high))
        total -= found[-1]
    return found


@clevrskills.task(level="L2", horizon=900)
def balance(draw: Draw) -> Draft:
    """Place all blocks on a pair of scales so that it balances.

    Asked: "Place all the TEXTURE cubes on the scale while keeping it in balance". Randomised: two to four cubes or cylinders of one
    texture, their heights (and so their weights) and places; there is always a split that balances. Succeeds when every block stands on
    a plate according to such a split, and the beam is at least 1° away from its stops and slower than 1°/s.
    """
    stage = ClevrSceneBuilder(draw, LOWER, UPPER)
    stage.layout.block_disc("reach of the robot", stage.base, KEEP_OUT)
    stream = stage.stream
    kind, texture = stream.choice(SHAPES), stream.choice(textures(draw.split, 1))
    heights = stream.shuffled(block_heights(stream, stream.integer(*BLOCKS)))
    names = []
    for k, height in enumerate(heights):
        item = Item(kind, kind, (WIDTH, WIDTH, height))
        actor = ClevrActor(f"{texture_words(texture)} {kind} {k}", item, texture)
        stage.actors.append(actor)
        model = shape(kind, item.size)
        pose = stage.layout.place(actor.name, model, inside=False)  # the workspace bounds the middles of things
        stage.things.append(actor.body(pose, mass=DENSITY * model.mesh.mass_properties()[0]))
        names.append(actor.name)
    stage.things.append(scale())
    prompts = (
        instruction(f"Place all the {texture_words(texture)} {kind}s on the scale while keeping it in balance"),
        instruction("Place all the objects on the scale while keeping it in balance"),
    )
    roles = (("manipulated", names[0]), ("receiving", SCALE))
    return Draft(stage.scene(), Balanced(SCALE, tuple(names)), prompts, roles=roles)
