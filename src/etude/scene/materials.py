"""How surfaces touch: contact parameters by material, chosen once, here."""

from __future__ import annotations

from dataclasses import dataclass

from etude.names import pick

# The physics clock. 50 ms of control are 25 steps, as in ClevrSkills (500 Hz).
TIMESTEP = 0.002  # s
CONTROL_PERIOD = 0.05  # s
SUBSTEPS = 25

# Who collides with whom, as MuJoCo bit masks: still things never meet each other, nor does the robot meet itself.
STILL, LOOSE, ROBOT_BIT = 1, 2, 4
CONTACT_BITS = {
    "still": (STILL, 0),
    "loose": (LOOSE, STILL | LOOSE | ROBOT_BIT),
    "robot": (ROBOT_BIT, STILL),
}


@dataclass(frozen=True)
class Material:
    """Friction (sliding, torsional in m, rolling in m) and the time constant (s) with which a contact pushes back.

    Drops of a ``fluid`` rub on nothing: they only shift, which makes them cheap, and come to rest because they drag a little.
    """

    friction: tuple[float, float, float]
    softness: float = 0.006
    decides: bool = False  # whether its values hold in every contact; otherwise the rougher surface decides
    rolling: bool = False  # whether rolling friction is worked out at all; it costs two more rows for each contact
    fluid: bool = False


MATERIALS: dict[str, Material] = {
    "default": Material((1.0, 0.003, 0.0003)),
    "slippery": Material((0.3, 0.001, 0.0001)),  # VIMA's container
    "half": Material((0.5, 0.002, 0.0001)),  # VIMA's swept block
    "rubber": Material((1.4, 0.02, 0.0002), 0.004),  # finger pads, suction lips
    "ball": Material((0.8, 0.002, 0.0015), rolling=True),  # rolls to a stop instead of for ever
    "sponge": Material((0.4, 0.01, 0.0003), 0.02, decides=True),  # wet and soft, whatever it touches
    "water": Material((0.05, 0.0005, 0.00005), 0.01, fluid=True),
}


def material(name: str) -> Material:
    """The material called ``name``."""
    return pick("material", name, MATERIALS)
