"""Episodes that test nothing, or cannot be done as they are told: found by looking at them, one by one."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from etude.audit.parts import ChoiceCase, candidates, entity_of, role_entities
from etude.audit.symmetry import canonical
from etude.audit.texts import faults
from etude.envs.simulation import Simulation
from etude.episodes import Episode
from etude.goals.goal import every
from etude.goals.units import Control
from etude.names import EtudeError
from etude.pose import Pose
from etude.prompts.instruction import ObjectPicture, TexturePicture
from etude.prompts.pictures import part_picture
from etude.render.studio import Studio
from etude.scene.appearance import segmentation_ids
from etude.scene.scene import Body, Fixture, Scene
from etude.skills.grips import grips, suitable
from etude.suites.suite import SUITES

FEWEST = 20  # pixels of a thing that must be seen
ALIKE = 6.0  # mean difference of two pictures, of 255, where there is something in either: below it nobody tells them apart
SIDE = 128  # pixels of the pictures that are compared
TELLING = re.compile(
    r"\b(?:left|right|front|rear|back|behind|top|bottom|upper|lower|middle|north|south|east|west|first|last|near\w*|far\w*|other"
    r"|large\w*|small\w*|tall\w*|short\w*|big\w*|horizontal|vertical|\w+er than)\b",
    re.IGNORECASE,
)
"""Words that tell apart what looks the same in a list: places and sizes."""


@dataclass(frozen=True)
class BrokenEpisode:
    """What is wrong with an episode."""

    episode: str
    what: str


def degenerate(episode: Episode, built: bool) -> Iterator[BrokenEpisode]:
    """What is wrong with an episode by itself. ``built``: look at its world as well, as it stands before the first action."""
    found = [*faults(episode.instruction.text, [e.name for e in episode.scene.entities]), *_same_pictures(episode)]
    if built:
        found += _in_its_world(episode)
    for what in found:
        yield BrokenEpisode(episode.name, what)


def without_choice(cases: Sequence[ChoiceCase]) -> Iterator[BrokenEpisode]:
    """Episodes in which nothing is left to choose, of a task in which otherwise there is."""
    if any(case.chance < 1 for case in cases):
        for case in cases:
            if case.chance >= 1:
                yield BrokenEpisode(case.episode, "nothing to choose: every choice is right")


# ------------------------------------------------------------------------------------------------ what is told


def ambiguous(case: ChoiceCase) -> Iterator[str]:
    """Two things that look the same, of which only one will do, while no word tells them apart."""
    if TELLING.search(case.text):
        return
    numbers = {slot.right: k for k, slot in enumerate(case.slots)}
    same = canonical(case.pattern)
    for slot in case.slots:
        right = next(c for c in slot.candidates if c.name == slot.right)
        for other in slot.candidates:
            if other.name == right.name or (other.form, other.texture) != (right.form, right.texture) or "/" in other.name:
                continue
            if other.name in numbers:
                swapped = list(range(len(numbers)))
                swapped[numbers[right.name]], swapped[numbers[other.name]] = numbers[other.name], numbers[right.name]
                if canonical(case.pattern, swapped) == same:
                    continue
            yield f"two things fit the words: {right.name!r} and {other.name!r}"
            return


def _same_pictures(episode: Episode) -> Iterator[str]:
    """Pictures of different things that nobody can tell apart."""
    parts = [p for p in episode.instruction.pictures() if isinstance(p, (ObjectPicture, TexturePicture))]
    for a, b in combinations(dict.fromkeys(parts), 2):
        if type(a) is type(b) and _shown(a) != _shown(b) and _difference(a, b, _bare(episode.scene)) < ALIKE:
            yield f"two pictures of the prompt look the same: {a.words!r} and {b.words!r}"


def _shown(part: ObjectPicture | TexturePicture) -> object:
    return (part.shape, part.texture, part.size) if isinstance(part, ObjectPicture) else part.texture


def _bare(scene: Scene) -> Scene:
    """What a picture of a thing alone depends on."""
    return Scene(lighting=scene.lighting, cameras=scene.cameras, table=None, floor=None)


@functools.lru_cache(maxsize=4096)
def _difference(a: ObjectPicture | TexturePicture, b: ObjectPicture | TexturePicture, scene: Scene) -> float:
    first, second = (part_picture(part, scene, SIDE).astype(np.int64) for part in (a, b))
    if first.shape != second.shape:
        return 255.0
    ground = first[0, 0]
    something = (first != ground).any(axis=2) | (second != ground).any(axis=2)
    return float(np.abs(first - second)[something].sum()) / max(1, 3 * int(something.sum()))


# ------------------------------------------------------------------------------------------------ its world


def _in_its_world(episode: Episode) -> Iterator[str]:
    try:
        simulation = Simulation(episode)
    except EtudeError as error:
        yield f"cannot be built: {error}"
        return
    if simulation.status.satisfied:
        yield "satisfied before the first action"
    if simulation.status.violated:
        yield "violated before the first action"
    yield from _unseen(episode, simulation)
    yield from _unreachable(episode, simulation)


def _unseen(episode: Episode, simulation: Simulation) -> Iterator[str]:
    suite = SUITES[episode.parsed.suite]
    cameras = suite.cameras or tuple(c.name for c in episode.scene.cameras if c.name != "onlooker")
    studio, ids = Studio(simulation.world), segmentation_ids(simulation.world.scene)
    pictures = [studio.shoot(camera, suite.size).segmentation for camera in cameras]
    for thing in role_entities(episode):
        if thing.name in ids and not _inside_furniture(thing.name, episode.scene):
            most = max((int(np.count_nonzero(picture == ids[thing.name])) for picture in pictures), default=0)
            if most < FEWEST:
                yield f"{'unseen' if not most else f'only {most} pixels'} in every camera: {thing.name!r}"


def _inside_furniture(name: str, scene: Scene) -> bool:
    """Things in a drawer, or in a cupboard, need not be seen from outside."""
    thing = scene.entity(name)
    if not isinstance(thing, Body):
        return False
    return any(_holds(other, thing.pose) for other in scene.entities if isinstance(other, Fixture))


def _holds(furniture: Fixture, pose: Pose) -> bool:
    reach = [abs(s.pose.position[k] + p.pose.position[k]) + s.size[k] / 2 for p in furniture.parts for s in p.solids for k in (0, 1)]
    x, y, _ = furniture.pose.position
    return max(abs(pose.position[0] - x), abs(pose.position[1] - y)) <= max(reach, default=0.0)


def _unreachable(episode: Episode, simulation: Simulation) -> Iterator[str]:
    """Things that are to be moved, above which the hand cannot be held as it is held at the start, and that no fingers can take either."""
    robot = simulation.robot
    home = robot.tip()
    for role, name in episode.roles:
        thing = episode.scene.entity(name)
        if role != "manipulated" or not isinstance(thing, Body) or thing.fixed or name == episode.held:
            continue
        x, y, z = thing.pose.position
        above = (Pose((x, y, z + up), home.rotation) for up in (0.05, 0.10, 0.20))
        if not any(robot.reaches(pose, 0.02) for pose in chain(above, _taken(episode, simulation, thing))):
            yield f"unreachable: {name!r}"


def _taken(episode: Episode, simulation: Simulation, thing: Body) -> Iterator[Pose]:
    """Tips of fingers that take hold of a thing, best first: by its handle, where the goal says by which."""
    if simulation.robot.hand.kind == "fingers":
        handle = next((unit.handle for unit in every(episode.goal, Control) if unit.thing == thing.name), ())
        ways = sorted(grips(simulation.monitor.watch, thing.name, handle), key=lambda grip: -grip.score)
        yield from (tip for grip in ways if suitable(tip := thing.pose * grip.tip))


def shapes_and_textures(episode: Episode) -> set[tuple[str, str]]:
    """What its things with a role are: shape and texture."""
    named = {name for _, name in episode.roles}
    return {(c.shape, c.texture) for c in candidates(episode.scene) if c.texture and entity_of(c.name) in named}
