"""Moving the hand: match_pose, move_without_hitting, trace."""

from __future__ import annotations

import math
from collections.abc import Sequence as Row

import numpy as np

from etude.arithmetic import norm, norms
from etude.catalog.registry import shape
from etude.goals.goal import Always, Goal, Order, Sequence
from etude.goals.leaves import TipAtPose, Traced, Untouched
from etude.goals.markers import FUTURE, NEXT, marker
from etude.names import EtudeError, Stream, whole_number
from etude.pose import Array, Pose, Quat, Vec3, axis_quat, matrix, multiply, yaw_quat
from etude.prompts.instruction import Instruction, InstructionPart, ScenePicture, instruction
from etude.scene import robots
from etude.scene.kinematics import Chain
from etude.scene.placement import NoRoom
from etude.scene.scene import Body, Robot
from etude.suites.clevrskills.stage import A, ClevrActor, ClevrSceneBuilder, resized
from etude.suites.clevrskills.suite import clevrskills
from etude.suites.clevrskills.things import primitives, top_pool
from etude.suites.suite import Draft, Draw

LOWER: Vec3 = (-0.25, -0.3, 0.1)  # m: goals and floating obstacles lie in this box
UPPER: Vec3 = (0.05, 0.3, 0.4)
TILT = (math.radians(90), math.radians(270))  # about the world's x axis; 180° points straight down
SPACING = 0.15  # m between goals, and from where the hand starts: three tolerances, as the original meant
ROOMY = 0.03  # m between the robot, at the start or at a goal, and any thing
ABOVE = 0.015  # m between the robot and the table
OBSTACLES = (1, 5)  # paper
BETWEEN, OFF = (0.35, 0.65), 0.02  # where on the straight way to the goal one obstacle is, and m off it
WAYS = 20  # goals tried until one has room for an obstacle on the way to it
HALF = 0.5  # of the size of a primitive
MARKERS = (2, 5)  # paper
TRIES = 200
PLAIN = "#bab0ac"  # the distractor wears no texture
DOWN: Quat = axis_quat((1, 0, 0), math.pi)

Ball = tuple[Vec3, float]  # centre and radius around a thing, metres


class Reach:
    """What the robot of an episode can reach without touching anything, from its chain and the capsules around its links."""

    def __init__(self, robot: Robot) -> None:
        self.arm, self.hand, self.base = robots.arm(robot.arm), robots.hand(robot.hand), robot.base
        self.chain = Chain(self.arm, self.hand)
        self.start = np.asarray(robot.joints or self.arm.home)
        self.tip = self.base * self.chain.forward(self.start)

    def posture(self, tip: Pose) -> Array | None:
        """Joint values with the tip there, found as goal pictures find them; None out of reach."""
        found = self.chain.solve(self.base.inverse() * tip, self.chain.home, 200)
        return found.joints if found.reached else None

    def bones(self, joints: Array) -> tuple[Array, Array, Array]:
        """Both ends (K, 3) and radii (K,) of capsules around the moving links and the hand, world."""
        frame, found = self.base, []
        for link, q in zip(self.arm.links, joints.tolist(), strict=True):
            frame = frame * link.origin * Pose((0, 0, 0), yaw_quat(q))
            for piece in link.pieces:
                radius, half, _ = piece.size
                along = matrix(piece.rotation)[:, 2] * half
                found.append((frame.apply(piece.position - along), frame.apply(piece.position + along), radius))
        flange = frame * self.arm.flange
        width = max(math.hypot(*piece.size[:2]) for piece in self.hand.pieces)
        found.append((np.asarray(flange.position), flange.apply(self.hand.tip.position), width))
        starts, ends, radii = zip(*found, strict=True)
        return np.array(starts), np.array(ends), np.array(radii)

    def all_clear(self, postures: Row[Array | None], balls: list[Ball]) -> bool:
        """Does the robot keep away in every one of these postures, and are they all within reach?"""
        return all(joints is not None and self.clear(joints, balls) for joints in postures)

    def clear(self, joints: Array, balls: list[Ball]) -> bool:
        """Does the robot keep away from the table and from every ball?"""
        a, b, radii = self.bones(joints)
        if float((np.minimum(a[:, 2], b[:, 2])[:-1] - radii[:-1]).min()) < ABOVE:
            return False
        along = b - a
        squared = np.maximum((along**2).sum(1), 1e-12)
        for centre, radius in balls:
            share = np.clip(((np.asarray(centre) - a) * along).sum(1) / squared, 0.0, 1.0)
            if float((norms(a + share[:, None] * along - centre) - radii).min()) < radius + ROOMY:
                return False
        return True


def _around(body: Body) -> Ball:
    """The ball around a body."""
    lower, upper = shape(body.shape, body.size).bounds
    x, y, z = body.pose.apply((lower + upper) / 2).tolist()
    return (x, y, z), norm(upper - lower) / 2


def _spot(stream: Stream) -> Vec3:
    x, y, z = (stream.uniform(a, b) for a, b in zip(LOWER, UPPER, strict=True))
    return (x, y, z)


def _goals(stream: Stream, reach: Reach, count: int, balls: list[Ball], tilted: bool) -> list[Pose]:
    """Tips that can be reached, apart from each other and from the start; pointing down unless ``tilted``."""
    found: list[Pose] = []
    for _ in range(TRIES):
        position = _spot(stream)
        x, y, _ = reach.base.inverse().apply(position).tolist()
        rotation = axis_quat((1, 0, 0), stream.uniform(*TILT)) if tilted else multiply(yaw_quat(math.atan2(y, x)), DOWN)
        if any(math.dist(position, other.position) < SPACING for other in (reach.tip, *found)):
            continue
        goal = Pose(position, rotation)
        joints = reach.posture(goal)
        if joints is not None and reach.clear(joints, balls):
            found.append(goal)
        if len(found) == count:
            return found
    raise NoRoom(f"only {len(found)} of {count} goals for the hand are within reach, free, and {SPACING} m apart")


def _distractor(stage: ClevrSceneBuilder) -> Ball:
    """One thing on the table that has nothing to do with the task."""
    item = stage.stream.choice(top_pool(stage.draw.split))
    stage.put(ClevrActor(item.words, item, PLAIN))
    body = stage.things[-1]
    assert isinstance(body, Body)
    return _around(body)


def _shown(pose: Pose) -> ScenePicture:
    return ScenePicture("the goal picture", tip=pose)


def _robot(stage: ClevrSceneBuilder) -> Robot:
    assert stage.room.robot is not None
    return stage.room.robot


@clevrskills.task(level="L0", horizon=200, options=("goals",))
def match_pose(draw: Draw) -> Draft:
    """Bring the hand to the pose in a picture.

    Asked: "Match the pose of the end effector in PICTURE"; ``?goals=3`` asks for three, one after the other. Randomised: the pose, tilted
    sideways by up to 90°, and a distractor. Succeeds when the tip is within 5 cm and 0.1 rad of the pose.
    """
    given = draw.option("goals", "1")
    count = whole_number(given)
    if count is None or not 1 <= count <= MARKERS[1]:
        raise EtudeError(f"goals={given} is not possible; it is a number from 1 to {MARKERS[1]}")
    stage = ClevrSceneBuilder(draw, *A)
    balls = [_distractor(stage)]
    goals = _goals(draw.rng("goals"), Reach(_robot(stage)), count, balls, True)
    leaves = tuple(TipAtPose(goal) for goal in goals)
    goal: Goal = Order(leaves) if len(leaves) > 1 else leaves[0]
    return Draft(stage.scene(), goal, _matching([_shown(g) for g in goals]))


def _matching(pictures: list[ScenePicture]) -> tuple[Instruction, ...]:
    """The paper's "A, B followed by C", then the code's "A followed by B followed by C"."""
    found = []
    for separator in (", ", " followed by ") if len(pictures) > 2 else (" followed by ",):
        pieces: list[str | InstructionPart] = ["Match the pose of the end effector in ", pictures[0]]
        for k, picture in enumerate(pictures[1:], 2):
            pieces += [" followed by " if k == len(pictures) else separator, picture]
        found.append(instruction(*pieces))
    return tuple(found)


@clevrskills.task(level="L0", horizon=200)
def move_without_hitting(draw: Draw) -> Draft:
    """Bring the hand to the pose in a picture, past things that float in the air.

    Asked: "Match the pose of the end effector in PICTURE without hitting any objects". Randomised: the pose, as in match_pose, one to five
    floating obstacles, their shapes, textures and places; one of them is in the straight way to the goal. Succeeds when the tip is within
    5 cm and 0.1 rad of the pose and neither arm nor hand ever touched an obstacle; a touch is final.
    """
    stage = ClevrSceneBuilder(draw, *A)
    stream, reach = draw.rng("goals"), Reach(_robot(stage))
    cast = stage.cast(primitives(draw.split), stage.stream.integer(*OBSTACLES), 2)
    first, *others = [ClevrActor(actor.name, resized(actor.item, HALF), actor.texture) for actor in cast]
    pose, place = _barred(stream, reach, first)
    free = [reach.start, reach.posture(pose)]
    bodies = [first.body(place, fixed=True)]
    for actor in others:
        bodies.append(actor.body(_floating(stream, reach, actor, [_around(body) for body in bodies], free), fixed=True))
    stage.things += bodies
    goal = Sequence((Always(Untouched(tuple(e.name for e in stage.things))), TipAtPose(pose)))
    prompts = (instruction("Match the pose of the end effector in ", _shown(pose), " without hitting any objects"),)
    return Draft(stage.scene(), goal, prompts)


def _barred(stream: Stream, reach: Reach, actor: ClevrActor) -> tuple[Pose, Pose]:
    """A goal, and a place for an obstacle in the straight way of the tip to it; at the start and at the goal the robot is clear of it."""
    for _ in range(WAYS):
        (goal,) = _goals(stream, reach, 1, [], True)
        for _ in range(WAYS):
            share = stream.uniform(*BETWEEN)
            x, y, z = (a + share * (b - a) + stream.uniform(-OFF, OFF) for a, b in zip(reach.tip.position, goal.position, strict=True))
            place = Pose((x, y, z), yaw_quat(stream.uniform(0.0, 2 * math.pi)))
            if reach.all_clear((reach.start, reach.posture(goal)), [_around(actor.body(place))]):
                return goal, place
    raise NoRoom(f"no goal with room for {actor.name!r} on the way to it")


def _floating(stream: Stream, reach: Reach, actor: ClevrActor, balls: list[Ball], free: Row[Array | None]) -> Pose:
    """A place in the air for another obstacle: off the robot in these postures, and spaced like goals."""
    for _ in range(TRIES):
        place = Pose(_spot(stream), yaw_quat(stream.uniform(0.0, 2 * math.pi)))
        ball = _around(actor.body(place, fixed=True))
        if all(math.dist(place.position, centre) >= SPACING for centre, _ in balls) and reach.all_clear(free, [ball]):
            return place
    raise NoRoom(f"no room for {actor.name!r} in the air beside {len(balls)} others, {SPACING} m apart")


@clevrskills.task(level="L0", horizon=300)
def trace(draw: Draw) -> Draft:
    """Pass a row of markers in the air, always the green one next.

    Asked: "Trace the sequence of goals by moving to the next green goal." Randomised: two to five markers, a distractor; ``?variant=k``
    changes the order of the markers alone. Succeeds when the tip has come within 5 cm of every marker, in order; visited ones are yellow,
    later ones red.
    """
    stage = ClevrSceneBuilder(draw, *A)
    balls = [_distractor(stage)]
    goals = _goals(draw.rng("goals"), Reach(_robot(stage)), stage.stream.integer(*MARKERS), balls, False)
    if stage.variant:
        goals = draw.rng(f"variant/{stage.variant}").shuffled(goals)
    leaves = []
    for k, goal in enumerate(goals):
        stage.things.append(marker(f"goal {k}", goal.position, FUTURE if k else NEXT))
        leaves.append(Traced(f"goal {k}", goal.position))
    return Draft(stage.scene(), Order(tuple(leaves)), (instruction("Trace the sequence of goals by moving to the next green goal."),))
