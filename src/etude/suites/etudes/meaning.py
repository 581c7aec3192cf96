"""What an étude means at a table: which things its words stand for, whether its conditions hold, and the goal that it is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from etude.catalog.registry import shape
from etude.decisions.formulas import Formula
from etude.decisions.graph import rebuilt
from etude.decisions.logic import Connective, Switch
from etude.decisions.looks import Const, Count, Get, IsSame, Match, NotSame, Select, ValueComparison
from etude.decisions.meaning import FrameView
from etude.decisions.operator import ACT, Operator
from etude.decisions.space import SeenThing, StimulusSpace
from etude.goals.branching import Conditional, Look, LooksAlike, LooksCounted, LooksLike
from etude.goals.goal import All, Either, Goal, Not
from etude.goals.whereabouts import Located
from etude.names import EtudeError, canonical_json, from_json
from etude.pose import Pose, Vec2, Vec3
from etude.scene.scene import Body, Fixture, Scene
from etude.suites.etudes.acts import AIM, CARRIER, DRAWER, ONTO_AREA, Act, Deed, Drawer, EveryThing, It, given_well
from etude.suites.etudes.facts import Fact
from etude.suites.etudes.groups import ForEach, ForSome, Until
from etude.suites.etudes.household import CHEST, CHEST_SPACE, KINDS, PLACE, PLACES, box_of
from etude.suites.etudes.memory import Recall
from etude.suites.etudes.setting import EtudeSetting, setting_of
from etude.suites.etudes.things import CATALOGUE, COLOUR, COLOURS, SHAPE, TABLE_SPACE, TURNS


@dataclass(frozen=True)
class EtudeGraph:
    """An étude: a graph of acts, conditions and looks at the things that stand on the table now."""

    root: Operator

    def __post_init__(self) -> None:
        _refuse_strangers(self.root)
        if self.root.kind() != ACT:
            raise EtudeError(f"an étude asks for something to be done, not for {self.root.kind()}")
        setting_of(self.root)
        _refuse_loose(self.root, False)

    @property
    def setting(self) -> EtudeSetting:
        """Where it is played."""
        return setting_of(self.root)

    def to_json(self) -> str:
        """The canonical text."""
        return canonical_json(self)

    @classmethod
    def from_json(cls, text: str) -> EtudeGraph:
        """The étude written as ``text``."""
        return from_json(cls, text)


def _refuse_strangers(node: Operator) -> None:
    """Raise where something stands in a graph that is no node."""
    if not isinstance(node, Operator):
        raise EtudeError(f"an étude is made of acts, truths and things, not of {node!r}")
    if not isinstance(node, Select):
        given_well(node)
    for part in node.inputs():
        _refuse_strangers(part)


def _refuse_loose(node: Operator, turn: bool) -> None:
    """Raise where "it" stands, but nothing has its turn."""
    if isinstance(node, It) and not turn:
        raise EtudeError("the étude speaks of 'it', but not within 'for each' or 'for the one'")
    own = ("act", "stop") if isinstance(node, (ForEach, ForSome, Until)) else ("act",) if isinstance(node, Recall) else ()
    for role, part in zip(node.roles(), node.inputs(), strict=True):
        _refuse_loose(part, turn or role in own)


@dataclass(frozen=True)
class SetTable:
    """A table with things on it, or a chest, as an étude speaks of it. ``shapes``: words → shapes of the catalogue."""

    bodies: tuple[Body, ...]
    base: Vec2  # of the robot, m, world
    space: StimulusSpace
    shapes: Mapping[str, str]
    it: str = ""  # the thing whose turn it is
    chest: Pose = Pose()  # world

    @classmethod
    def of(cls, scene: Scene) -> SetTable:
        """The table of a scene."""
        if scene.robot is None:
            raise EtudeError("an étude is for a robot, and there is none in this scene")
        chest = next((one for one in scene.entities if isinstance(one, Fixture) and one.name == CHEST), None)
        shapes = {word: item.shape for word, item in KINDS.items()} if chest is not None else CATALOGUE
        known = [b for b in scene.entities if isinstance(b, Body) and b.texture in COLOURS and b.shape in shapes.values()]
        base = scene.robot.base.position[:2]
        if chest is None:
            return cls(tuple(known), base, TABLE_SPACE, shapes)
        return cls(tuple(known), base, CHEST_SPACE, shapes, chest=chest.pose)

    @cached_property
    def words(self) -> dict[str, str]:
        """Shapes of the catalogue → words."""
        return {form: word for word, form in self.shapes.items()}

    @cached_property
    def view(self) -> FrameView:
        """All things on one frame, as decisions see them; the place of each is its number."""
        looks = [(body.texture, self.words[body.shape]) for body in self.bodies]
        return view_of(looks, self.space)

    def body(self, select: Select) -> Body:
        """The one thing that is meant."""
        if isinstance(select, Drawer):
            raise EtudeError(f"the {select.level} drawer is part of the chest, and no thing by itself")
        if isinstance(select, It):
            if not self.it:
                raise EtudeError("the étude speaks of 'it', but not within 'for each' or 'for the one'")
            return next(body for body in self.bodies if body.name == self.it)
        found = self.view.selected(select) or []
        if len(found) != 1:
            told = " ".join(m.value.value for m in select.matches if isinstance(m.value, Const)) or "thing"
            raise EtudeError(f"the étude speaks of one thing, 'the {told}', but on the table there are {len(found)}")
        return self.bodies[found[0].location]

    def name(self, select: Select) -> str:
        """The name of the one thing that is meant."""
        return self.body(select).name

    def place(self, select: Select) -> Vec3:
        """Where it stands at the start (m, world)."""
        return self.body(select).pose.position

    def pose(self, select: Select) -> Pose:
        """The same, and how it is turned."""
        return self.body(select).pose

    def turns(self, select: Select) -> int:
        """In how many ways it can be turned about the vertical and look the same."""
        return TURNS[self.words[self.body(select).shape]]

    def height(self, select: Select) -> float:
        """How tall it is, m."""
        body = self.body(select)
        return shape(body.shape, body.size).size[2]

    def on_chest(self, select: Select) -> Vec3:
        """Where it stands at the start (m, in the frame of the chest)."""
        return self.chest.inverse().point(*self.place(select))

    def members(self, group: EveryThing) -> list[Body]:
        """The things of a group, whatever order a scene lists its things in."""
        found = self.view.selected(group)
        if not found:
            raise EtudeError("the étude speaks of things of a group, but there is none on the table")
        return sorted((self.bodies[thing.location] for thing in found), key=lambda body: (body.texture, body.shape, body.name))

    def each(self, group: EveryThing) -> list[SetTable]:
        """The same for each thing of a group, which is then it."""
        return [replace(self, it=body.name) for body in self.members(group)]

    def from_nearest(self, group: EveryThing) -> list[SetTable]:
        """The same in the order of their distance from the robot."""
        return [replace(self, it=body.name) for body in sorted(self.members(group), key=self.distance)]

    def distance(self, body: Body) -> float:
        """How far it stands from the robot's base, m."""
        return math.dist(body.pose.position[:2], self.base)

    def with_it(self, select: Select) -> SetTable:
        """The same with one thing that is then it."""
        return replace(self, it=self.name(select))

    def seen(self, truth: Operator) -> bool:
        """Is this so at the start?"""
        found = rebuilt(truth, lambda node: self._told(self.body(node)) if isinstance(node, It) else node).evaluate(self.view)
        if not isinstance(found, bool):
            raise EtudeError("the étude asks of a thing what cannot be told, as another one looks the same")
        return found

    def _told(self, body: Body) -> Select:
        """A thing by all that can be told of it."""
        return Select(0, (Match(COLOUR, Const(COLOUR, body.texture)), Match(SHAPE, Const(SHAPE, self.words[body.shape]))))

    def goal(self, node: Operator) -> Goal:
        """What an act asks for: one node of the goal for each of the graph's."""
        if isinstance(node, Switch):
            return Conditional(self.fact(node.condition), self.goal(node.then), self.goal(node.otherwise))
        if not isinstance(node, Act):
            raise EtudeError(f"{node.json_kind} is nothing that can be done")
        return node.goal(self)

    def roles(self, node: Operator) -> Iterator[tuple[str, str]]:
        """The things that an act is about, each with its role: "manipulated", or "receiving" for what others are brought to."""
        if isinstance(node, (ForEach, ForSome, Until)):
            for one in self.each(node.things):
                yield from one.roles(node.act)
            if not isinstance(node, ForEach):
                yield from self.roles(node.after)
        elif isinstance(node, Deed):
            for thing, part in zip(node.inputs(), node.casting, strict=True):
                assert isinstance(thing, Select)
                name = CHEST if isinstance(thing, Drawer) else self.name(thing)
                alone = len(node.casting) == 1
                yield ("receiving" if part in (CARRIER, ONTO_AREA, AIM) or (part == DRAWER and not alone) else "manipulated"), name
        else:
            for below in node.inputs():
                if below.kind() == ACT:
                    for table in [self.with_it(thing) for thing in node.things()] if isinstance(node, Recall) else [self]:
                        yield from table.roles(below)

    def fact(self, node: Operator) -> Goal:
        """When a condition holds, as a goal that nobody has to bring about."""
        if isinstance(node, IsSame):
            return self._same(node)
        if isinstance(node, NotSame):
            return Not(self._same(node))
        if isinstance(node, Fact):
            return node.fact(self)
        if isinstance(node, Connective):
            # Its formula over the numbers of its inputs: whatever connects truths is understood.
            return _fact(node.combined(*range(len(node.inputs()))), [self.fact(part) for part in node.inputs()])
        raise EtudeError(f"{node.json_kind} is no condition that can be seen on a table")

    def _same(self, node: ValueComparison) -> Goal:
        sides = sorted(node.inputs(), key=lambda side: isinstance(side, Const))
        left, right = sides
        if isinstance(left, Count) and isinstance(right, Const):
            return self._counted(left, right)
        if not isinstance(left, Get) or not isinstance(right, (Get, Const)):
            raise EtudeError(f"{node.json_kind} compares what things on a table look like, with each other or with a name")
        if left.property == PLACE:
            return self._together(left, right)
        look = cast(Look, left.property)
        if isinstance(right, Get):
            return LooksAlike(self.name(left.of), self.name(right.of), look)
        return LooksLike(self.name(left.of), look, self.shapes[right.value] if look == SHAPE else right.value)

    def _together(self, left: Get, right: Get | Const) -> Goal:
        """A thing is in a place, or in the same one as another."""
        if isinstance(right, Const):
            return Located(self.name(left.of), *box_of(right.value))
        names = self.name(left.of), self.name(right.of)
        return Either(tuple(All(tuple(Located(name, *box_of(place)) for name in names)) for place in PLACES))

    def _counted(self, count: Count, number: Const) -> Goal:
        matches = [match for group in count.of for match in group.matches]
        if len(count.of) != 1 or len(matches) != 1 or not isinstance(matches[0].value, Const):
            raise EtudeError("what is counted on a table are things of one colour or of one shape")
        look, value = cast(Look, matches[0].property), matches[0].value.value
        return LooksCounted(look, self.shapes[value] if look == SHAPE else value, int(number.value))


def _fact(formula: Formula, parts: list[Goal]) -> Goal:
    if isinstance(formula, bool):
        return All(()) if formula else Not(All(()))
    if isinstance(formula, int):
        return parts[formula]
    sign, *below = formula
    inner = [_fact(one, parts) for one in below]
    if sign == "not":
        return Not(inner[0])
    if sign == "and":
        return All(tuple(inner))
    if sign == "or":
        return Either(tuple(inner))
    if sign == "xor":
        return Either((All((inner[0], Not(inner[1]))), All((Not(inner[0]), inner[1]))))
    return Either((All((inner[0], inner[1])), All((Not(inner[0]), inner[2]))))


def view_of(looks: Sequence[tuple[str, str]], space: StimulusSpace) -> FrameView:
    """Things of these colours and shapes on one frame, as decisions see them; the place of each is its number."""
    shapes = len(space.values(SHAPE))
    items = [space.value(COLOUR, colour) * shapes + space.value(SHAPE, word) for colour, word in looks]
    return FrameView([[SeenThing(item, k) for k, item in enumerate(items)]], space, 0)


def goal_of(etude: EtudeGraph, scene: Scene) -> Goal:
    """The goal that an étude is in a scene."""
    return SetTable.of(scene).goal(etude.root)
