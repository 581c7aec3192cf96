"""A second opinion on trials: what is right to do on every frame, worked out from the JSON text of a trial and what operators are said to
mean. Nothing of the package is used: neither its evaluation nor its tables."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import product
from typing import Any

CATEGORIES = ["benches", "boats", "cars", "chairs", "couches", "lighting", "planes", "tables"]
PLACES = ["top left", "top right", "bottom left", "bottom right"]
Seen = dict[str, str]  # an object as a person would describe it


class Senseless(Exception):
    """A question about nothing, or about more than one object."""


@dataclass
class World:
    """How items are described, and how many columns the grid has. The usual one: eight categories of eight."""

    items: list[Seen] = field(
        default_factory=lambda: [{"category": CATEGORIES[k // 8], "identity": f"{CATEGORIES[k // 8]} {k % 8 + 1}"} for k in range(64)]
    )
    places: list[str] = field(default_factory=lambda: PLACES)
    columns: int = 2

    def described(self, thing: dict[str, Any]) -> Seen:
        return {**self.items[thing["item"]], "location": self.places[thing["location"]], "view angle": str(thing["view"])}


def in_colours() -> World:
    """The procedural stimuli: eight categories of eight, each identity in four colours."""
    kinds = [(CATEGORIES[k // 32], k // 4 % 8 + 1, k % 4) for k in range(256)]
    return World([{"category": c, "identity": f"{c} {i}", "colour": str(colour)} for c, i, colour in kinds])


def right_actions(text: str, world: World | None = None) -> list[str]:
    """The right action on every frame of a trial: an answer, or nothing."""
    trial = json.loads(text)
    world = world or World()
    shown = _shown(trial, world)
    actions = [""] * len(shown)
    answered: list[str | None] = []
    for placed in trial["tasks"]:
        due = placed["after"] is None or answered[placed["after"]] == placed["given"]
        last = placed["start"] + placed["task"]["frames"] - 1
        said = _said(_of(placed["task"]["root"], shown, last, world))
        answered.append(said if due else None)
        if due:
            assert actions[last] == "", f"two answers on frame {last}"
            actions[last] = said
    return actions


def _shown(trial: dict[str, Any], world: World) -> list[list[Seen]]:
    """What a subject takes to be on every frame. Where a property points out one of several objects, that one. Nobody knows that an object
    which stands alone is a distractor: who asks about it gets it."""
    named = dict(trial["named"])
    found = []
    for number, things in enumerate(trial["frames"]):
        seen = [world.described(thing) for thing in things]
        if number in named:
            (meant,) = [world.described(t) for t in things if not t["distractor"]]
            seen = [s for s in seen if s[named[number]] == meant[named[number]]]
            assert len(seen) == 1, f"{named[number]} does not tell the objects on frame {number} apart"
        assert len({s["location"] for s in seen}) == len(seen) <= 1, f"frame {number} shows several objects and none is pointed out"
        found.append(seen)
    return found


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of(node: dict[str, Any], shown: list[list[Seen]], last: int, world: World) -> Any:
    """The value of a node: True or False, a number, or the word for a property's value."""

    def of(part: dict[str, Any]) -> Any:
        return _of(part, shown, last, world)

    def found(select: dict[str, Any]) -> list[Seen]:
        wanted = [(m["property"], of(m["value"])) for m in select["matches"]]
        return [s for s in shown[last - select["when"]] if all(s[p] == v for p, v in wanted)]

    def one(select: dict[str, Any]) -> Seen:
        there = found(select)
        if len(there) != 1:
            raise Senseless
        return there[0]

    kind = node["kind"]
    if kind == "Const":
        return int(node["value"]) if node["property"] == "number" else node["value"]
    if kind == "Get":
        return one(node["of"])[node["property"]]
    if kind == "Exist":
        return len(found(node["of"])) > 0
    if kind == "Count":
        return sum(len(found(select)) for select in node["of"])
    if kind == "Relative":
        return _relative(
            node["relation"], *(world.places.index(one(node[side])["location"]) for side in ("first", "second")), world.columns
        )
    if kind == "Switch":
        return of(node["then"]) if of(node["condition"]) else of(node["otherwise"])
    if kind == "Not":
        return not of(node["of"])
    left, right = of(node["left"]), of(node["right"])
    return {
        "IsSame": left == right,
        "NotSame": left != right,
        "And": left is True and right is True,
        "Or": left is True or right is True,
        "Xor": [left, right].count(True) == 1,
    }[kind]


def _relative(relation: str, first: int, second: int, columns: int) -> bool:
    across, down = first % columns - second % columns, first // columns - second // columns
    return {"left of": across < 0, "right of": across > 0, "above": down < 0, "below": down > 0}[relation]


def all_answers(task: str, world: World, views: int = 1) -> dict[str, int]:
    """Every answer a task (as JSON) can have, with the number of ways to fill its frames that lead to it, by trying all of them."""
    data = json.loads(task)
    frames = sorted({data["frames"] - 1 - when for when in _whens(data["root"])})
    numbers = product(range(len(world.items)), range(len(world.places)), range(views))
    things = [world.described({"item": item, "location": place, "view": view}) for item, place, view in numbers]
    found: dict[str, int] = {}
    for chosen in product(things, repeat=len(frames)):
        shown: list[list[Seen]] = [[] for _ in range(data["frames"])]
        for frame, thing in zip(frames, chosen, strict=True):
            shown[frame] = [thing]
        try:
            said = _said(_of(data["root"], shown, data["frames"] - 1, world))
        except Senseless:
            continue
        found[said] = found.get(said, 0) + 1
    return found


def _whens(node: Any) -> set[int]:
    if isinstance(node, list):
        return set().union(*(_whens(part) for part in node)) if node else set()
    if not isinstance(node, dict):
        return set()
    here = {node["when"]} if node.get("kind") == "Select" else set()
    return here | _whens(list(node.values()))
