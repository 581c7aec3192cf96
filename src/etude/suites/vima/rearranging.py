"""Goals as pictures: rearrange and rearrange_then_restore."""

from __future__ import annotations

import math
from dataclasses import dataclass

from etude.catalog.registry import shape
from etude.goals.goal import All, Either, Goal, Not, Once, Order
from etude.goals.laying import Away, Laid
from etude.pose import Pose
from etude.prompts.instruction import ScenePicture, instruction
from etude.suites.suite import Draft, Draw
from etude.suites.vima.stage import EPS, VimaActor, VimaSceneBuilder, scene_picture
from etude.suites.vima.suite import SPLITS, vima

COUNTS = (1, 1, 2, 2, 3)  # objects to be moved, each as likely
THREE = 3  # the same number always (CoGeLoT 4.1)
IN_THE_WAY, FEWER_IN_THE_WAY = 0.5, 0.3  # how likely a distractor lies where something belongs; of three objects (CoGeLoT 4.1)
USUAL, MANY = 2, 3  # distractors when extreme and when distracting (CoGeLoT E.1)
ANY_TURN = 2 * math.pi  # the picture shows how things are turned, but only where they lie counts
KINDS = ("varied", "three")


@dataclass(frozen=True)
class Rearrangement:
    """What belongs where. ``targets`` and ``starts`` are the poses of the ``dragged``, in their order."""

    dragged: list[VimaActor]
    targets: list[Pose]
    starts: list[Pose]
    distractors: list[VimaActor]
    blocking: int

    def laid(self, poses: list[Pose]) -> tuple[Goal, ...]:
        """Every object was at its pose at some moment, however it was turned: what was achieved need not last (VIMA 1.11)."""
        return tuple(
            Once(Laid(a.name, (p.position[0], p.position[1]), EPS, round(p.yaw, 9), ANY_TURN, max(1, a.thing.symmetry)))
            for a, p in zip(self.dragged, poses, strict=True)
        )

    def off(self, poses: list[Pose]) -> Goal:
        """No distractor is left where an object belongs."""
        return Away(tuple(d.name for d in self.distractors), tuple((p.position[0], p.position[1]) for p in poses), EPS)

    @property
    def roles(self) -> tuple[tuple[str, str], ...]:
        """What is to be moved first."""
        return (("manipulated", self.dragged[0].name),)

    def picture(self, words: str) -> ScenePicture:
        """The objects, and nothing else, where they belong."""
        return scene_picture("scene", [a.body(p) for a, p in zip(self.dragged, self.targets, strict=True)], words)


@vima.task(splits=SPLITS, options=("count",), described=False)
def rearrange(draw: Draw) -> Draft:
    """T4: move the objects to where a picture shows them.

    Asked: "Rearrange to this {scene}." Randomised: one, two or three objects (always three with ``count=three``), their places now and
    in the picture; a distractor beside a single object, which lies in half of the episodes where the object belongs. Three distractors
    when distracting; when extreme, two (or as many as there are objects) and always in the way. Succeeds when every object has been within
    10 cm of its place, however turned, and no distractor is.
    """
    stage = VimaSceneBuilder(draw)
    plan = planned(stage)
    there, off = plan.laid(plan.targets), plan.off(plan.targets)
    # Without mistakes the last object may not come to its place before the distractors are gone.
    rules = (Either((off, Not(All(there)))),) if stage.strict else ()
    goal = stage.goal(All((off, *there)), plan.dragged, *rules)
    text = instruction("Rearrange to this ", plan.picture("scene"), ".")
    return Draft(stage.scene(), goal, (text,), roles=plan.roles, least=len(plan.dragged) + plan.blocking)


@vima.task(splits=SPLITS, options=("count",), described=False)
def rearrange_then_restore(draw: Draw) -> Draft:
    """T5: move the objects to where a picture shows them, and then back.

    Asked: "Rearrange objects to this setup {scene} and then restore." Randomised: as in rearrange. Succeeds when, after every object has
    been at its place in the picture and the distractors out of the way, every object has been within 10 cm of where it was at first, and
    no distractor is. Distractors need not be restored.
    """
    stage = VimaSceneBuilder(draw)
    plan = planned(stage)
    stages = [All((plan.off(poses), *plan.laid(poses))) for poses in (plan.targets, plan.starts)]
    text = instruction("Rearrange objects to this setup ", plan.picture("(a scene)"), " and then restore.")
    goal = stage.goal(Order(tuple(stages)), plan.dragged)
    return Draft(stage.scene(), goal, (text,), roles=plan.roles, least=2 * len(plan.dragged) + plan.blocking)


def planned(stage: VimaSceneBuilder) -> Rearrangement:
    """Draw objects, distractors and poses, and set the table. No two objects look alike: the picture would not say which is which."""
    stream, three = stage.stream, stage.one_of("count", KINDS) == "three"
    count = stream.choice(COUNTS)
    count = THREE if three else count
    looks = stream.sample([(thing, texture) for thing in stage.pools.dragged for texture in stage.textures], count)
    dragged = [stage.actor(thing, texture) for thing, texture in looks]
    distractors = drawn_distractors(stage, dragged, three)
    blockers = dict(zip(stream.sample(range(count), count), [d for d, blocking in distractors if blocking], strict=False))
    targets = [target(stage, actor, blockers.get(i)) for i, actor in enumerate(dragged)]
    starts = [stage.put(actor) for actor in dragged]
    for start in starts:
        stage.keep_free((start.position[0], start.position[1]))
    for i, blocker in blockers.items():
        x, y, _ = targets[i].position
        stage.things.append(blocker.body(blocker.standing(x, y, targets[i].yaw)))
        stage.find(blocker)  # room to put it away
    for actor, _ in distractors:
        if actor not in blockers.values():
            stage.put(actor)
    return Rearrangement(dragged, targets, starts, [d for d, _ in distractors], len(blockers))


def drawn_distractors(stage: VimaSceneBuilder, dragged: list[VimaActor], three: bool) -> list[tuple[VimaActor, bool]]:
    """Distractors of other shapes than the objects, and whether they shall lie in the way."""
    stream, pools = stage.stream, stage.pools
    few = int(len(dragged) == 1 and not three)
    count = MANY if stage.distracting else min(USUAL, len(dragged)) if stage.extreme else few
    shapes = [t for t in pools.dragged if t not in {a.thing for a in dragged}]
    found = []
    for _ in range(count):
        by_chance = stream.chance(FEWER_IN_THE_WAY if three else IN_THE_WAY)
        found.append((stage.actor(stream.choice(shapes), stream.choice(stage.textures)), by_chance or stage.extreme))
    return found


def target(stage: VimaSceneBuilder, actor: VimaActor, blocker: VimaActor | None) -> Pose:
    """A place for an actor, with room for what lies there at first; nothing else is put near it."""
    there = [a for a in (actor, blocker) if a is not None]
    found = stage.find(max(there, key=lambda a: shape(a.thing.shape, a.size).radius), free=True)
    x, y, _ = found.position
    stage.keep_free((x, y))
    return actor.standing(x, y, found.yaw)
