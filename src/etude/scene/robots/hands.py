"""Hands: a parallel gripper, a five-cup vacuum, a single suction cup, and a spatula. Any of them fits any arm."""

from __future__ import annotations

from dataclasses import replace

from etude.catalog.mesh import cylinder
from etude.catalog.polygon import Outline, rectangle, rounded
from etude.catalog.shape import box_piece
from etude.pose import Pose, Vec3
from etude.scene.robots.anatomy import Hand, Look, block, capsule_piece, drum, spun

WHITE, GREY, DARK, BLACK, RUBBER = "#eceded", "#b9bdc2", "#3b3e43", "#26282b", "#35516b"


def _slab(size: tuple[float, float], z0: float, z1: float, texture: str, radius: float = 0.01) -> Look:
    """A rounded upright slab between two heights of the hand's frame."""
    from etude.catalog.mesh import prism

    outline = Outline.of(rounded(rectangle(*size), radius, 3))
    return Look(prism(outline, z1 - z0, (z0 + z1) / 2, bevel=0.002), texture)


# Fingers 0.02 x 0.04 with pads (VLMbench 0.2); the tip lies between the pads, 0.1034 from the flange (published tool centre).
PARALLEL = Hand(
    name="parallel",
    kind="fingers",
    tip=Pose((0, 0, 0.1034)),
    mass=0.73,
    looks=(
        spun([(0, 0), (0.034, 0), (0.034, 0.012), (0.03, 0.016), (0, 0.016)], DARK),
        _slab((0.045, 0.2), 0.012, 0.062, WHITE, 0.018),
        _slab((0.03, 0.17), 0.062, 0.067, DARK, 0.01),
    ),
    pieces=(box_piece((0.045, 0.2, 0.055), (0, 0, 0.0395)),),
    finger_looks=(
        block((0.02, 0.016, 0.022), GREY, (0, 0.011, 0.0)),
        block((0.02, 0.012, 0.036), GREY, (0, 0.008, 0.028)),
        block((0.018, 0.0025, 0.018), BLACK, (0, 0.00125, 0.0445)),
    ),
    finger_pieces=(box_piece((0.02, 0.0145, 0.057), (0, 0.00725, 0.0178)),),
    finger_origin=(0.0, 0.0, 0.066),
    finger_travel=0.04,
    force=70.0,  # continuous, as published
)

GLUING = replace(PARALLEL, name="gluing", glue=True)  # the same, for benchmarks that attach what they grasp (VLMbench 0.4)

# ClevrSkills 1.3: mount ring, trunk, head and five cups, distances from the flange.
_CUPS = tuple((x, y, 0.1265, 0.0142) for x, y in ((0.018, 0.025), (0.018, -0.025), (-0.018, 0.025), (-0.018, -0.025), (0.0, 0.0)))

VACUUM = Hand(
    name="vacuum",
    kind="suction",
    tip=Pose((0, 0, 0.1254)),
    mass=0.666,
    looks=(
        spun([(0, 0), (0.037, 0), (0.037, 0.005), (0, 0.005)], DARK),
        _slab((0.04, 0.07), 0.004, 0.082, WHITE, 0.008),
        _slab((0.062, 0.09), 0.0805, 0.1055, GREY, 0.008),
        *(
            spun(
                [(0, 0.104), (0.007, 0.104), (0.007, 0.1115), (0.009, 0.115), (0.0142, 0.1265), (0, 0.1265)], RUBBER, (x, y, 0), segments=12
            )
            for x, y, _, _ in _CUPS
        ),
    ),
    pieces=(box_piece((0.062, 0.09, 0.1015), (0, 0, 0.0548)),),
    cups=_CUPS,
    force=100.0,
)

SUCTION = Hand(
    name="suction",
    kind="suction",
    tip=Pose((0, 0, 0.13)),
    mass=0.3,
    looks=(
        spun([(0, 0), (0.034, 0), (0.034, 0.012), (0.026, 0.018), (0.026, 0.055), (0.012, 0.062), (0, 0.062)], DARK),
        Look(cylinder(0.006, 0.06, 12).moved((0, 0, 0.09)), GREY),
        spun([(0, 0.108), (0.0065, 0.108), (0.008, 0.116), (0.0065, 0.12), (0.0125, 0.13), (0, 0.13)], RUBBER, segments=14),
    ),
    pieces=(capsule_piece((0, 0, 0.03), (0, 0, 0.1), 0.012),),
    cups=((0.0, 0.0, 0.13, 0.01),),
    force=50.0,
)

# VIMA 1.2: a plate 0.05 wide, 0.005 thick, 0.11 tall; its flat side faces along x, the way it sweeps.
_PLATE: Vec3 = (0.005, 0.05, 0.11)

SPATULA = Hand(
    name="spatula",
    kind="tool",
    tip=Pose((0, 0, 0.17)),
    mass=0.25,
    looks=(
        spun([(0, 0), (0.034, 0), (0.034, 0.012), (0.02, 0.02), (0.02, 0.055), (0, 0.06)], DARK),
        drum((0, 0, 1), 0.012, 0.03, GREY, (0, 0, 0.055), bevel=0.002),
        block(_PLATE, GREY, (0, 0, 0.115)),
    ),
    pieces=(box_piece(_PLATE, (0, 0, 0.115)), capsule_piece((0, 0, 0.02), (0, 0, 0.04), 0.02)),
)
