"""A second opinion on études that shares no code with the first: from the JSON of a graph, the things of a scene and what was seen of a
play, it says whether what was due was done."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any

from etude.envs.simulation import Simulation
from etude.scene.scene import Body, Fixture, Scene

Node = dict[str, Any]
Looks = dict[str, dict[str, str]]
BASE = (-0.615, 0.0)  # m, world: where the robot stands
CARRIED = {"PutOn": ("thing",), "PutIn": ("thing",), "Tower": ("middle", "top"), "PutAway": ("thing",)}
SHAPES = {"solid square": "area", "six-pointed star": "star"}
HOUSEHOLD = {"cylinder": "can", "cups a": "cup"}
DRAWERS = {"top": 0.321, "middle": 0.225, "bottom": 0.128}  # m: their middles above the foot of the chest
ON_CHEST = 0.38  # m: what is higher is on it
OPEN = 0.15  # m that a drawer is out


def looks(scene: Scene) -> Looks:
    """Of every thing, its colour, its shape and where it is; and of every drawer, whether it is open."""
    chest = next((one for one in scene.entities if isinstance(one, Fixture)), None)
    found: Looks = {}
    for one in scene.entities:
        if isinstance(one, Body):
            x, y, z = one.pose.position
            shape = SHAPES.get(one.shape, one.shape) if chest is None else HOUSEHOLD.get(one.shape, one.shape)
            spot = "" if chest is None else _spot(z - chest.pose.position[2])
            found[one.name] = {"colour": one.texture, "shape": shape, "spot": spot, "x": str(x), "y": str(y)}
    for part, value in zip(chest.jointed(), chest.joints, strict=True) if chest is not None else ():
        found[f"{part.name} drawer"] = {"open": str(value > OPEN)}
    return found


def _spot(height: float) -> str:
    return "chest" if height > ON_CHEST else f"{min(DRAWERS, key=lambda level: abs(DRAWERS[level] - height))} drawer"


def meant(select: Node, seen: Looks) -> list[str]:
    """The things that a reference fits."""
    wanted = {match["property"]: match["value"]["value"] for match in select["matches"]}
    return [name for name, look in seen.items() if all(look.get(prop) == value for prop, value in wanted.items())]


def holds(node: Node, seen: Looks, it: str = "") -> bool:
    """Is a condition true? ``it`` is the thing of a group whose turn it is."""
    kind = node["kind"]
    if kind == "Not":
        return not holds(node["of"], seen, it)
    if kind in ("And", "Or", "Xor"):
        truths = [holds(node["left"], seen, it), holds(node["right"], seen, it)]
        return {"And": all(truths), "Or": any(truths), "Xor": truths[0] != truths[1]}[kind]
    if kind in ("IsOpen", "WasOpen"):
        return seen[_drawer(node["of"])]["open"] == "True"
    if kind == "Holds":
        return any(seen[name]["spot"] == _drawer(node["of"]) for name in meant(node["thing"], seen))
    if kind in ("Lies", "Lay"):
        (x, y), (u, v) = ([float(seen[meant(node[key], seen)[0]][axis]) for axis in "xy"] for key in ("first", "second"))
        nearer = math.dist((x, y), BASE) < math.dist((u, v), BASE)
        return {"left": y > v, "right": y < v, "nearer": nearer, "farther": not nearer}[node["side"]]
    sides = []
    for side in (node["left"], node["right"]):
        if side["kind"] == "Count":
            sides.append(str(len(meant(side["of"][0], seen))))
            continue
        sides.append(side["value"] if side["kind"] == "Const" else seen[_one(side["of"], seen, it)][side["property"]])
    return (sides[0] == sides[1]) is (kind == "IsSame")


def _drawer(select: Node) -> str:
    return f"{select['matches'][0]['value']['value']} drawer"


def _one(select: Node, seen: Looks, it: str) -> str:
    return it if select["kind"] == "It" else meant(select, seen)[0]


def parts(node: Node) -> list[Node]:
    """A node and all below it."""
    found = [node]
    for value in node.values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                found += parts(one)
    return [one for one in found if "kind" in one]


@dataclass
class Seen:
    """What was seen of a play: where every thing was after each step (m, world) and how it was turned (rad), and which of them the hand
    touched or held."""

    headings: list[dict[str, float]] = field(default_factory=list)
    places: list[dict[str, tuple[float, float, float]]] = field(default_factory=list)
    touched: list[set[str]] = field(default_factory=list)
    held: list[str | None] = field(default_factory=list)
    out: list[dict[str, float]] = field(default_factory=list)  # of every drawer, how far, m
    heights: list[dict[str, float]] = field(default_factory=list)  # of every thing above the foot of the chest, m

    def look(self, simulation: Simulation) -> None:
        """Once after every step."""
        names = [one.name for one in simulation.world.scene.entities if isinstance(one, Body)]
        world = simulation.world
        frames = {name: world.frame(name) for name in names}
        self.places.append({name: tuple(frames[name][0].tolist()) for name in names})
        self.headings.append({name: math.atan2(frames[name][1][1, 0], frames[name][1][0, 0]) for name in names})
        self.touched.append({name for name in names if world.touches(name, "hand")})
        self.held.append(simulation.robot.held)
        chest = next((one for one in world.scene.entities if isinstance(one, Fixture)), None)
        self.out.append({f"{part.name} drawer": world.joint(f"chest/{part.name}") for part in chest.jointed()} if chest else {})
        self.heights.append({name: frames[name][0][2] - chest.pose.position[2] for name in names} if chest else {})

    def rests(self, top: str, bottom: str, within: float, height: float, step: int = -1) -> bool:
        """Does one thing stand on the other, let go?"""
        (x, y, z), (u, v, w) = self.places[step][top], self.places[step][bottom]
        return math.hypot(x - u, y - v) < within and abs(z - w - height) < 0.006 and self.held[step] not in (top, bottom)

    def moved(self, thing: str) -> float:
        """How far it has been moved, m."""
        return math.dist(self.places[0][thing], self.places[-1][thing])

    def until(self, step: int) -> Seen:
        """The same up to a step."""
        return Seen(*(getattr(self, one.name)[:step] for one in fields(self)))

    def first_touched(self, names: list[str]) -> str:
        """Which of these the hand touched before the others."""
        return next(name for touched in self.touched for name in names if name in touched)


def done(deed: Node, seen: Looks, play: Seen, it: str) -> bool:
    """Was the deed done, and does it last? ``it`` is the thing of a group whose turn it is."""
    names = {key: _one(value, seen, it) for key, value in deed.items() if isinstance(value, dict) and value["kind"] != "Drawer"}
    drawer = _drawer(deed["drawer"]) if "drawer" in deed else ""
    match deed["kind"]:
        case "PutOn":
            return play.rests(names["thing"], names["on"], 0.06, 0.05)
        case "PutIn":
            return play.rests(names["thing"], names["into"], 0.13, 0.03)
        case "Tower":
            tower = [names["bottom"], names["middle"], names["top"]]
            return all(play.rests(top, bottom, 0.06, 0.05) for bottom, top in pairwise(tower))
        case "Touch":
            thing = names["thing"]
            return any(thing in touched for touched in play.touched) and thing not in play.held and play.moved(thing) < 0.03
        case "PushTowards":
            aim, start, end = play.places[0][names["towards"]], play.places[0][names["thing"]], play.places[-1][names["thing"]]
            return math.dist(end[:2], aim[:2]) < 0.7 * math.dist(start[:2], aim[:2]) and names["thing"] not in play.held
        case "Open":
            return any(out[drawer] > OPEN and before[drawer] <= OPEN for before, out in pairwise(play.out))
        case "Close":
            return any(out[drawer] < 0.03 and before[drawer] >= 0.03 for before, out in pairwise(play.out))
        case "PutAway":
            return _spot(play.heights[-1][names["thing"]]) == drawer and names["thing"] not in play.touched[-1]
        case "TakeOut":
            return _spot(play.heights[-1][names["thing"]]) == "chest" and names["thing"] not in play.touched[-1]
        case "TakeOver":
            end, place = play.places[-1][names["second"]], play.places[0][names["first"]]
            there = math.dist(end, place) < 0.055 and play.held[-1] != names["second"]
            return there and play.rests(names["first"], names["on"], 0.06, 0.05)
        case "Turn":
            thing, sign = names["thing"], 1 if deed["direction"] == "anti-clockwise" else -1
            alike = 2 * math.pi / {"heart": 1, "diamond": 2, "triangle": 3}[seen[thing]["shape"]]
            off = (play.headings[-1][thing] - play.headings[0][thing] - sign * math.pi / 2) % alike
            return min(off, alike - off) < math.radians(6) and play.moved(thing) < 0.055 and play.held[-1] != thing
    raise AssertionError(deed["kind"])


def verdict(node: Node, seen: Looks, play: Seen, it: str = "") -> bool:
    """Has come about what was asked for, as far as the end of a play tells? In which order is not looked at."""
    match node["kind"]:
        case "Switch":
            due, left = ("then", "otherwise") if holds(node["condition"], seen) else ("otherwise", "then")
            return verdict(node[due], seen, play, it) and not verdict(node[left], seen, play, it)
        case "InOrder" | "InAnyOrder":
            return all(verdict(node[side], seen, play, it) for side in ("left", "right"))
        case "OneOf":
            return any(verdict(node[side], seen, play, it) for side in ("left", "right"))
        case "Without":
            return verdict(node["act"], seen, play, it) and not any(meant(node["thing"], seen)[0] in touched for touched in play.touched)
        case "WithoutMoving":
            thing = meant(node["thing"], seen)[0]
            still = all(math.dist(where[thing], play.places[0][thing]) < 0.031 for where in play.places)
            return still and verdict(node["act"], seen, play, it)
        case "WithoutOpening":
            return all(out[_drawer(node["thing"])] < OPEN for out in play.out) and verdict(node["act"], seen, play, it)
        case "ForEach":
            return all(verdict(node["act"], seen, play, name) for name in meant(node["things"], seen))
        case "ForSome":
            some = sum(verdict(node["act"], seen, play, name) for name in meant(node["things"], seen))
            return some == node["count"] and verdict(node["after"], seen, play, it)
        case "Until":
            row = sorted(meant(node["things"], seen), key=lambda name: math.dist(play.places[0][name][:2], BASE))
            last = next((k for k, name in enumerate(row) if holds(node["stop"], seen, name)), len(row) - 1)
            up_to = [verdict(node["act"], seen, play, name) for name in row] == [k <= last for k in range(len(row))]
            return up_to and verdict(node["after"], seen, play, it)
        case "Undo":
            things = [_one(part[key], seen, it) for part in parts(node["act"]) for key in CARRIED.get(part["kind"], ())]
            back = all(play.moved(name) < 0.055 and play.held[-1] != name for name in things)
            for part in parts(node["act"]):
                if part["kind"] in ("Open", "Close"):
                    was, is_now = (out[_drawer(part["drawer"])] > OPEN for out in (play.out[0], play.out[-1]))
                    back = back and was is is_now
            return back and any(verdict(node["act"], seen, play.until(step), it) for step in range(1, len(play.places)))
        case "Recall":
            first, second = (_one(node[side]["thing"], seen, it) for side in ("left", "right"))
            chosen = play.first_touched([first, second])
            steps = range(1, len(play.places) + 1)
            both = all(any(verdict(node[side], seen, play.until(step), it) for step in steps) for side in ("left", "right"))
            return both and verdict(node["act"], seen, play, chosen)
    return done(node, seen, play, it)
