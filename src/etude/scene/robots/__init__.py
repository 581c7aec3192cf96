"""Arms and hands by name. Those of others are registered with :func:`register_arm` and :func:`register_hand`."""

from etude.registry import Registry, caller
from etude.scene.robots.anatomy import Arm, Hand
from etude.scene.robots.hands import GLUING, PARALLEL, SPATULA, SUCTION, VACUUM

ARMS: Registry[Arm] = Registry("arm")
HANDS: Registry[Hand] = Registry("hand")


def register_arm(arm: Arm) -> Arm:
    """From now on scenes may name this arm."""
    ARMS.add(arm.name, arm, caller())
    return arm


def register_hand(hand: Hand) -> Hand:
    """From now on scenes may name this hand."""
    HANDS.add(hand.name, hand, caller())
    return hand


def arm(name: str) -> Arm:
    """The arm called ``name``."""
    return ARMS[name]


def hand(name: str) -> Hand:
    """The hand called ``name``."""
    return HANDS[name]


for _name in ("panda", "xarm6", "ur5"):  # each takes a while to shape, and most processes need one
    ARMS.add_later(_name, f"{__name__}.{_name}", _name.upper())
for _hand in (PARALLEL, GLUING, VACUUM, SUCTION, SPATULA):
    register_hand(_hand)

__all__ = ["ARMS", "HANDS", "Arm", "Hand", "arm", "hand", "register_arm", "register_hand"]
