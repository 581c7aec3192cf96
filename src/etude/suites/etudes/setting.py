"""Settings: where an étude is played. A graph belongs to one of them, and acts are joined in the same way in all."""

from __future__ import annotations

from dataclasses import dataclass, replace

from etude.decisions.graph import walk
from etude.decisions.looks import Const
from etude.decisions.operator import Operator
from etude.decisions.solver import Domain
from etude.decisions.space import StimulusSpace
from etude.names import EtudeError
from etude.suites.etudes.acts import CHEST, TABLE
from etude.suites.etudes.household import CHEST_LOOKS, CHEST_SPACE, KINDS, PLACE
from etude.suites.etudes.things import COLOUR, LOOKS, PRISMS, SHAPE, TABLE_SPACE, space_of

LOGIC = ("And", "Or", "Xor", "Not")
COMPARED = ("IsSame", "NotSame")


@dataclass(frozen=True)
class EtudeSetting:
    """A setting: what can be done, joined and asked there, and with what.

    ``where`` is what its acts say of where they belong, and ``words`` the same for people. ``deeds``, ``joins`` and ``truths`` are
    operators by name, ``values`` what can be compared; ``asked`` are the properties of things that conditions ask about, ``shapes`` the
    things that are not part of the furniture. ``space`` is all that is told of things, ``looks`` what conditions are solved for. An étude
    speaks of at most ``things`` things, which take at most ``room``, one for each that has its place.
    """

    name: str
    where: str
    words: str
    deeds: tuple[str, ...]
    joins: tuple[str, ...]
    truths: tuple[str, ...]
    values: tuple[str, ...]
    asked: tuple[str, ...]
    shapes: tuple[str, ...]
    space: StimulusSpace
    looks: Domain
    things: int
    room: int

    def operators(self) -> tuple[str, ...]:
        """All that a graph may have here."""
        return (*self.deeds, *self.joins, *self.values, *self.truths)


AT_TABLE = EtudeSetting(
    "table",
    TABLE,
    "at a table with prisms",
    deeds=("PutOn", "PutIn", "PushTowards", "Touch", "Turn", "Tower", "TakeOver"),
    joins=("InOrder", "InAnyOrder", "OneOf", "Without", "ForEach", "ForSome", "Until", "Recall", "Undo", "Switch"),
    truths=(*COMPARED, *LOGIC),
    values=("Get", "Count", "Const"),
    asked=(COLOUR, SHAPE),
    shapes=tuple(PRISMS),
    space=TABLE_SPACE,
    looks=LOOKS,
    things=7,
    room=10,
)
IN_PLACES = replace(
    AT_TABLE,
    name="places",
    joins=(*AT_TABLE.joins, "WithoutMoving"),
    truths=("Lies", "Lay", *AT_TABLE.truths),
    looks=Domain(space_of(tuple(PRISMS), grid=(4, 4))),
)
"""The same table, with truths about where things are and were."""
AT_CHEST = EtudeSetting(
    "drawers",
    CHEST,
    "at a chest of drawers",
    deeds=("Open", "Close", "PutAway", "TakeOut"),
    joins=("InOrder", "InAnyOrder", "OneOf", "Without", "WithoutOpening", "ForEach", "ForSome", "Undo", "Switch"),
    truths=("IsOpen", "WasOpen", "Holds", *COMPARED, *LOGIC),
    values=("Get", "Const"),
    asked=(COLOUR, SHAPE, PLACE),
    shapes=tuple(KINDS),
    space=CHEST_SPACE,
    looks=CHEST_LOOKS,
    things=9,
    room=8,
)
SETTINGS = {setting.name: setting for setting in (AT_TABLE, IN_PLACES, AT_CHEST)}


def setting_of(root: Operator) -> EtudeSetting:
    """The setting that a graph belongs to; raises :class:`EtudeError` where its parts belong to several."""
    nodes = walk(root)
    homes = {node.json_kind: node.where for node in nodes if hasattr(node, "where")}
    if len(set(homes.values())) > 1:
        told = {where: next(s.words for s in SETTINGS.values() if s.where == where) for where in sorted(set(homes.values()))}
        first = {where: next(kind for kind, home in homes.items() if home == where) for where in told}
        raise EtudeError(f"an étude is played in one place: {' but '.join(f'{first[w]} belongs {told[w]}' for w in told)}")
    where = next(iter(homes.values()), TABLE)
    kinds = {node.json_kind for node in nodes}
    found = next((s for s in SETTINGS.values() if s.where == where and not kinds & (ALL_OPERATORS - {*s.operators()})), None)
    if found is None:
        extra = sorted(kinds & (ALL_OPERATORS - {name for s in SETTINGS.values() if s.where == where for name in s.operators()}))
        words = next(s.words for s in SETTINGS.values() if s.where == where)
        raise EtudeError(f"{', '.join(extra)} cannot be had {words}")
    shapes = found.space.values(SHAPE)
    for node in nodes:
        if isinstance(node, Const) and node.property == SHAPE and node.value not in shapes:
            raise EtudeError(f"there is no {node.value} {found.words}; there are {', '.join(shapes)}")
    return found


ALL_OPERATORS = frozenset(name for setting in SETTINGS.values() for name in setting.operators())
