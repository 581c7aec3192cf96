"""Cans, boxes and bottles from the shelf."""

from __future__ import annotations

from etude.catalog.household.forms import HouseholdModel, Section, block, convex, drum, household, loft
from etude.catalog.mesh import lathe
from etude.catalog.shape import box_piece, cylinder_piece
from etude.pose import Vec3

# ------------------------------------------------------------------------------------------------ cans


def can(radius: float, height: float) -> HouseholdModel:
    """A tin with rolled rims and a sunken lid; it collides as a cylinder."""
    body = radius - 0.0012
    profile = [
        (0.0, 0.001), (radius - 0.003, 0.001), (radius, 0.0), (radius, 0.003), (body, 0.0045),
        (body, height - 0.0045), (radius, height - 0.003), (radius, height), (radius - 0.002, height),
        (radius - 0.003, height - 0.003), (0.0, height - 0.003),
    ]  # fmt: skip
    return HouseholdModel(lathe(profile, 20), (cylinder_piece(radius, height, (0.0, 0.0, height / 2)),))


@household("master chef can", (0.102, 0.102, 0.139), "#3b4f8c", ycb="002", mass=0.414, symmetry=0)
def master_chef_can() -> HouseholdModel:
    radius, height = 0.051, 0.139
    profile = [
        (0.0, 0.001), (radius - 0.003, 0.001), (radius - 0.001, 0.0), (radius - 0.001, 0.003), (radius - 0.0025, 0.005),
        (radius - 0.0025, height - 0.016), (radius, height - 0.015), (radius, height - 0.002), (radius - 0.003, height), (0.0, height),
    ]  # fmt: skip
    return HouseholdModel(lathe(profile, 20), (cylinder_piece(radius, height, (0.0, 0.0, height / 2)),))


household("tomato soup can", (0.066, 0.066, 0.101), "#c8362e", ycb="005", mass=0.349, symmetry=0)(lambda: can(0.033, 0.101))
household("tuna fish can", (0.085, 0.085, 0.033), "#3f7fb8", ycb="007", mass=0.171, symmetry=0)(lambda: can(0.0425, 0.033))


@household("potted meat can", (0.050, 0.097, 0.082), "#2f4f9a", ycb="010", mass=0.370, symmetry=2)
def potted_meat_can() -> HouseholdModel:
    levels = ((0.0, 0.0), (0.004, 0.0), (0.006, 0.0015), (0.074, 0.0015), (0.077, 0.0), (0.082, 0.0))
    tin = loft([Section(z, 0.025 - inset, 0.0485 - inset) for z, inset in levels], squareness=5.0)
    return HouseholdModel(tin.mesh, (box_piece((0.050, 0.097, 0.082), (0.0, 0.0, 0.041)),))


# ------------------------------------------------------------------------------------------------ boxes


def _carton(name: str, size: Vec3, texture: str, mass: float, ycb: str = "") -> None:
    household(name, size, texture, ycb=ycb, mass=mass, symmetry=2)(lambda: block(size))


_carton("cracker box", (0.060, 0.158, 0.210), "#c9302c", 0.411, "003")
_carton("sugar box", (0.038, 0.089, 0.175), "#f0c419", 0.514, "004")
_carton("pudding box", (0.110, 0.089, 0.035), "#7a4a2b", 0.187, "008")  # the flat boxes lie
_carton("gelatin box", (0.085, 0.073, 0.028), "#b8262e", 0.097, "009")
# HiMan-Bench's boxes stand.
_carton("strawberry jello box", (0.0271, 0.0729, 0.0857), "#d8344f", 0.169)
_carton("spam", (0.10, 0.05, 0.08), "#2a4b9b", 0.40)
_carton("sugar", (0.035, 0.09, 0.175), "#f2c431", 0.551)


# ------------------------------------------------------------------------------------------------ bottles


@household("mustard bottle", (0.058, 0.095, 0.190), "#f2c80f", ycb="006", mass=0.603, symmetry=2)
def mustard_bottle() -> HouseholdModel:
    body = [
        Section(0.0, 0.026, 0.043), Section(0.006, 0.029, 0.0475), Section(0.105, 0.028, 0.046),
        Section(0.128, 0.023, 0.034), Section(0.140, 0.016, 0.018),
    ]  # fmt: skip
    cap = [Section(0.140, 0.0175, 0.0175), Section(0.158, 0.0165, 0.0165), Section(0.164, 0.009, 0.009), Section(0.190, 0.004, 0.004)]
    return loft(body, squareness=2.6) + loft(cap, corners=12)


@household("bleach cleanser", (0.065, 0.098, 0.250), "#e8ecef", ycb="021", mass=1.131)
def bleach_cleanser() -> HouseholdModel:
    body = [
        Section(0.0, 0.030, 0.046), Section(0.006, 0.0325, 0.049), Section(0.100, 0.0325, 0.049),
        Section(0.150, 0.031, 0.045, (0.0, -0.003)),
        Section(0.190, 0.026, 0.034, (0.0, -0.012)), Section(0.208, 0.016, 0.018, (0.0, -0.020)),
    ]  # fmt: skip
    cap = [Section(0.208, 0.018, 0.018), Section(0.244, 0.0165, 0.0165), Section(0.250, 0.013, 0.013)]
    return loft(body, squareness=3.0) + loft(cap, corners=12).moved((0.0, -0.020, 0.0))


@household("windex bottle", (0.080, 0.105, 0.270), "#3fa0d8", ycb="022", mass=1.022)
def windex_bottle() -> HouseholdModel:
    body = [
        Section(0.0, 0.037, 0.048), Section(0.006, 0.040, 0.0525), Section(0.110, 0.039, 0.050),
        Section(0.155, 0.026, 0.030), Section(0.185, 0.014, 0.014),
    ]  # fmt: skip
    collar = drum(0.017, 0.022, 0.183, segments=12)
    head = [(x, y, z) for x in (-0.013, 0.013) for y, z in ((-0.040, 0.232), (-0.034, 0.262), (-0.010, 0.270), (0.036, 0.266),
                                                           (0.036, 0.246), (0.014, 0.205), (-0.014, 0.205))]  # fmt: skip
    nozzle = [(x, y, z) for x in (-0.008, 0.008) for y in (0.036, 0.050) for z in (0.248, 0.264)]
    trigger = [(x, y, z) for x in (-0.006, 0.006) for y, z in ((0.022, 0.246), (0.034, 0.246), (0.040, 0.200), (0.034, 0.198))]
    return loft(body, squareness=2.6) + collar + convex(head) + convex(nozzle) + convex(trigger)
