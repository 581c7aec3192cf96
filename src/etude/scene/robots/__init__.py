"""Arms and hands by name."""

from etude.names import pick
from etude.scene.robots.anatomy import Arm, Hand
from etude.scene.robots.hands import GLUING, PARALLEL, SPATULA, SUCTION, VACUUM
from etude.scene.robots.panda import PANDA
from etude.scene.robots.ur5 import UR5
from etude.scene.robots.xarm6 import XARM6

ARMS: dict[str, Arm] = {a.name: a for a in (PANDA, XARM6, UR5)}
HANDS: dict[str, Hand] = {h.name: h for h in (PARALLEL, GLUING, VACUUM, SUCTION, SPATULA)}


def arm(name: str) -> Arm:
    """The arm called ``name``."""
    return pick("arm", name, ARMS)


def hand(name: str) -> Hand:
    """The hand called ``name``."""
    return pick("hand", name, HANDS)


__all__ = ["ARMS", "HANDS", "Arm", "Hand", "arm", "hand"]
