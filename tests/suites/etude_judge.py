"""A second opinion on études that shares no code with the first: from the JSON of a graph, the things of a scene and what was seen of a
play, it says whether what was due was done."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
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


def holds(node: Node, seen: Looks, it: str = "", now: Looks | None = None) -> bool:
    """Is a condition true? ``it`` is the thing of a group whose turn it is; ``now`` what is seen when its turn comes."""
    kind = node["kind"]
    if kind == "Not":
        return not holds(node["of"], seen, it, now)
    if kind in ("And", "Or", "Xor"):
        truths = [holds(node["left"], seen, it, now), holds(node["right"], seen, it, now)]
        return {"And": all(truths), "Or": any(truths), "Xor": truths[0] != truths[1]}[kind]
    if kind not in ("WasOpen", "Lay"):
        seen = now or seen
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
    turn: int = 0  # the step from which on things count
    end: int = 10**9  # the step before which they do
    firsts: dict[tuple[int, int, str], int | None] = field(default_factory=dict)  # by node, turn and thing: when it was first done

    @property
    def last(self) -> int:
        """The last step that counts."""
        return min(self.end, len(self.places)) - 1

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

    def rests(self, top: str, bottom: str, within: float, height: float) -> bool:
        """Does one thing stand on the other, let go?"""
        step = self.last
        (x, y, z), (u, v, w) = self.places[step][top], self.places[step][bottom]
        return math.hypot(x - u, y - v) < within and abs(z - w - height) < 0.006 and self.held[step] not in (top, bottom)

    def moved(self, thing: str) -> float:
        """How far it has been moved, m."""
        return math.dist(self.places[0][thing], self.places[self.last][thing])

    def until(self, step: int) -> Seen:
        """The same up to a step."""
        return replace(self, end=step)

    def since(self, step: int) -> Seen:
        """The same from a step on: before it, it was not the turn of what is asked for."""
        return replace(self, turn=step)

    def looks(self, seen: Looks) -> Looks:
        """What things look like when the turn comes, and where they are."""
        found = {name: dict(look) for name, look in seen.items()}
        for name, (x, y, _) in self.places[self.turn].items():
            found[name].update(x=str(x), y=str(y))
        for name, height in self.heights[self.turn].items():
            found[name]["spot"] = _spot(height)
        for name, out in self.out[self.turn].items():
            found[name]["open"] = str(out > OPEN)
        return found

    def first_touched(self, names: list[str]) -> str:
        """Which of these the hand touched before the others."""
        return next(name for touched in self.touched[self.turn : self.last + 1] for name in names if name in touched)


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
            thing, within = names["thing"], slice(play.turn, play.last + 1)
            still = math.dist(play.places[play.turn][thing], play.places[play.last][thing]) < 0.03
            return any(thing in touched for touched in play.touched[within]) and thing not in play.held[within] and still
        case "PushTowards":
            aim, start, end = (
                play.places[0][names["towards"]],
                play.places[play.turn][names["thing"]],
                play.places[play.last][names["thing"]],
            )
            return (
                math.dist(end[:2], aim[:2]) < 0.7 * math.dist(start[:2], aim[:2])
                and names["thing"] not in play.held[play.turn : play.last + 1]
            )
        case "Open":
            return any(out[drawer] > OPEN and before[drawer] <= OPEN for before, out in pairwise(play.out[play.turn : play.last + 1]))
        case "Close":
            return any(out[drawer] < 0.03 and before[drawer] >= 0.03 for before, out in pairwise(play.out[play.turn : play.last + 1]))
        case "PutAway":
            return _spot(play.heights[play.last][names["thing"]]) == drawer and names["thing"] not in play.touched[play.last]
        case "TakeOut":
            return _spot(play.heights[play.last][names["thing"]]) == "chest" and names["thing"] not in play.touched[play.last]
        case "TakeOver":
            end, place = play.places[play.last][names["second"]], play.places[0][names["first"]]
            there = math.dist(end, place) < 0.055 and play.held[play.last] != names["second"]
            return there and play.rests(names["first"], names["on"], 0.06, 0.05)
        case "Turn":
            thing, sign = names["thing"], 1 if deed["direction"] == "anti-clockwise" else -1
            alike = 2 * math.pi / {"heart": 1, "diamond": 2, "triangle": 3}[seen[thing]["shape"]]
            off = (play.headings[play.last][thing] - play.headings[0][thing] - sign * math.pi / 2) % alike
            return min(off, alike - off) < math.radians(6) and play.moved(thing) < 0.055 and play.held[play.last] != thing
    raise AssertionError(deed["kind"])


def first(node: Node, seen: Looks, play: Seen, it: str = "") -> int | None:
    """The first step, from its turn on, at which an act was done: so far nothing that comes later counts."""
    key = (id(node), play.turn, it)
    if key not in play.firsts:
        steps = range(play.turn, len(play.places))
        play.firsts[key] = next((k for k in steps if verdict(node, seen, play.until(k + 1), it)), None)
    step = play.firsts[key]
    return step if step is not None and step <= play.last else None


def lasting(node: Node, seen: Looks, play: Seen, it: str = "") -> bool:
    """Does it hold in the end? What is asked for only once was done at some time."""
    if node["kind"] in ("Touch", "PushTowards", "Open", "Close"):
        return first(node, seen, play, it) is not None
    return verdict(node, seen, play, it)


def followed(step: int | None, after: Node, seen: Looks, play: Seen, it: str) -> bool:
    """Was something done once its turn had come at this step, and not before?"""
    if step is None:
        return False
    opening = after
    while opening["kind"] == "InOrder":
        opening = opening["left"]
    early = opening["kind"] not in ("Without", "WithoutMoving", "WithoutOpening") and lasting(
        opening, seen, play.since(step).until(step + 1), it
    )
    return not early and lasting(after, seen, play.since(step), it)


def verdict(node: Node, seen: Looks, play: Seen, it: str = "") -> bool:
    """Has come about what was asked for, from its turn on, and in the order in which it was?"""
    match node["kind"]:
        case "Switch":
            held = holds(node["condition"], seen, it, play.looks(seen))
            due, left = ("then", "otherwise") if held else ("otherwise", "then")
            return lasting(node[due], seen, play, it) and first(node[left], seen, play, it) is None
        case "InOrder":
            return lasting(node["left"], seen, play, it) and followed(first(node["left"], seen, play, it), node["right"], seen, play, it)
        case "InAnyOrder":
            return all(lasting(node[side], seen, play, it) for side in ("left", "right"))
        case "OneOf":
            return any(lasting(node[side], seen, play, it) for side in ("left", "right"))
        case "Without":
            touched = play.touched[play.turn : play.last + 1]
            return lasting(node["act"], seen, play, it) and not any(meant(node["thing"], seen)[0] in names for names in touched)
        case "WithoutMoving":
            thing = meant(node["thing"], seen)[0]
            where = play.places[play.turn : play.last + 1]
            still = all(math.dist(places[thing], play.places[0][thing]) < 0.031 for places in where)
            return still and lasting(node["act"], seen, play, it)
        case "WithoutOpening":
            kept = all(out[_drawer(node["thing"])] < OPEN for out in play.out[play.turn : play.last + 1])
            return kept and lasting(node["act"], seen, play, it)
        case "ForEach":
            return all(lasting(node["act"], seen, play, name) for name in meant(node["things"], seen))
        case "ForSome":
            done_so_far = [first(node["act"], seen, play, name) for name in meant(node["things"], seen)]
            some = sorted(step for step in done_so_far if step is not None)
            exact = sum(lasting(node["act"], seen, play, name) for name in meant(node["things"], seen)) == node["count"]
            return exact and len(some) == node["count"] and followed(some[-1], node["after"], seen, play, it)
        case "Until":
            row = sorted(meant(node["things"], seen), key=lambda name: math.dist(play.places[0][name][:2], BASE))
            last = next((k for k, name in enumerate(row) if holds(node["stop"], seen, name)), len(row) - 1)
            step: int | None = play.turn
            for name in row[: last + 1]:
                step = first(node["act"], seen, play.since(step), name) if step is not None else None
            too_far = any(first(node["act"], seen, play, name) is not None for name in row[last + 1 :])
            return not too_far and followed(step, node["after"], seen, play, it)
        case "Undo":
            things = [_one(part[key], seen, it) for part in parts(node["act"]) for key in CARRIED.get(part["kind"], ())]
            back = all(play.moved(name) < 0.055 and play.held[play.last] != name for name in things)
            for part in parts(node["act"]):
                if part["kind"] in ("Open", "Close"):
                    was, is_now = (out[_drawer(part["drawer"])] > OPEN for out in (play.out[0], play.out[play.last]))
                    back = back and was is is_now
            return back and first(node["act"], seen, play, it) is not None
        case "Recall":
            begun, second = (_one(node[side]["thing"], seen, it) for side in ("left", "right"))
            steps = [first(node[side], seen, play, it) for side in ("left", "right")]
            if None in steps:
                return False
            chosen = play.first_touched([begun, second])
            other = second if chosen == begun else begun
            later = play.since(max(step for step in steps if step is not None))
            return lasting(node["act"], seen, later, chosen) and first(node["act"], seen, later, other) is None
    return done(node, seen, play, it)
