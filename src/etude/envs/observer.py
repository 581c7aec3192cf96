"""What is seen of a running episode: the observation that environments and policies share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.envs.simulation import Simulation
from etude.episodes import MODALITIES
from etude.goals.goal import Goal
from etude.names import EtudeError, unknown
from etude.perturb.perturbation import observed
from etude.pose import matrix
from etude.prompts.instruction import Instruction
from etude.render.camera import intrinsics, seen_points
from etude.render.picture import Picture
from etude.render.studio import Studio
from etude.render.tokens import tokens
from etude.scene.scene import Marker, Scene
from etude.suites.suite import SUITES

Observation = dict[str, Any]
LONGEST_TEXT = 2000
SLOTS = 24  # for objects: the fullest table of any suite has fewer
STATE = 9  # numbers of an object in a slot, where environments tell their state


def key(camera: str, modality: str) -> str:
    """Where an observation keeps a picture: ``base``, ``base_depth``, ``base_segmentation``."""
    return camera if modality == "rgb" else f"{camera}_{modality}"


def object_slots(scene: Scene) -> tuple[str, ...]:
    """The objects of a scene in the order of their slots: all but markers."""
    return tuple(entity.name for entity in scene.entities if not isinstance(entity, Marker))


def object_states(simulation: Simulation) -> NDArray[np.float32]:
    """The objects in their slots as numbers (SLOTS, 9), 0 where there is none: whether one is there, as which thing the sub-goal to be
    worked on next names it (1 the first, 2 the second, …; 0 not at all), position (m) and quaternion wxyz, world."""
    found = np.zeros((SLOTS, STATE), np.float32)
    names, leaf = object_slots(simulation.world.scene), simulation.monitor.next_leaf()
    if len(names) > SLOTS:
        raise EtudeError(f"{simulation.episode.name} has {len(names)} objects; the state has room for {SLOTS}")
    wanted = [] if leaf is None else [name for name in _texts(leaf.goal) if name in names]
    for slot, name in enumerate(names):
        pose = simulation.world.pose(name)
        found[slot] = 1.0, wanted.index(name) + 1 if name in wanted else 0.0, *pose.position, *pose.rotation
    return found


def _texts(goal: Goal) -> list[str]:
    """The texts in the fields of a goal, in their order, each once."""
    values = (getattr(goal, field.name) for field in fields(goal))  # type: ignore[arg-type]
    return list(
        dict.fromkeys(text for value in values for text in (value if isinstance(value, tuple) else (value,)) if isinstance(text, str))
    )


class Observer:
    """Looks at one simulation through some of its cameras. ``size`` is (width, height) in pixels, the suite's own if not given.

    With ``smooth``, edges in colour pictures are smooth (2×2 samples for each pixel). With ``pictured``, the instruction has ``{image:k}``
    where there are pictures, and not the words that stand for them.

    The modality "points" adds for each camera ``NAME_points`` float32 (H, W, 3), where every pixel is in the world (m; 0 where nothing is
    seen), ``NAME_intrinsics`` (3, 3) and ``NAME_extrinsics`` (4, 4), the world pose of its optical frame (x right, y down, z forward).

    The modality "objects" adds ``objects_crops`` uint8 (V, SLOTS, 32, 32, 3), ``objects_boxes`` int32 (V, SLOTS, 4) and ``objects_mask``
    bool (V, SLOTS), see :class:`~etude.render.tokens.ObjectTokens`. Views are in the order of the cameras. Slot k is the k-th entity of the
    scene that is no marker, in every view and at every step; slots without an object are masked.
    """

    def __init__(
        self,
        simulation: Simulation,
        cameras: Sequence[str],
        size: tuple[int, int] | None,
        modalities: Sequence[str],
        renderer: str = "raster",
        smooth: bool = False,
        pictured: bool = False,
    ) -> None:
        for modality in modalities:
            if modality not in MODALITIES:
                raise unknown("modality", modality, MODALITIES)
        self._simulation, self._cameras, self._modalities = simulation, tuple(cameras), tuple(modalities)
        self._size = size or SUITES[simulation.episode.parsed.suite].size
        self._renderer, self._smooth, self._pictured = renderer, smooth, pictured
        self._heard: tuple[Instruction | None, str] = (None, "")  # the latest instruction, as it is told
        self.segmentations: dict[str, NDArray[np.uint16]] = {}  # of the latest look
        self.objects: tuple[str, ...] = ()  # whose slots they were in the latest look

    @functools.cached_property
    def studio(self) -> Studio:
        """The cameras, made when the first picture is taken: who needs none pays for none."""
        return Studio(self._simulation.world, self._renderer)

    def look(self) -> Observation:
        """Pictures by camera and modality, ``proprioception``, and the ``instruction`` as text."""
        seen: Observation = {}
        pictures = []
        for camera in self._cameras:
            picture = self.studio.shoot(camera, self._size, self._smooth)
            pictures.append(picture)
            self.segmentations[camera] = picture.segmentation
            values = {"rgb": picture.rgb, "depth": picture.depth, "segmentation": picture.segmentation}
            for modality in self._modalities:
                if modality in values:
                    seen[key(camera, modality)] = values[modality]
            if "points" in self._modalities:
                seen.update(self._measured(camera, picture))
        if "objects" in self._modalities:
            seen.update(self._cut(pictures))
        episode = self._simulation.episode
        seen["proprioception"] = self._simulation.proprioception()
        if self._heard[0] is not episode.instruction:
            told = episode.instruction
            self._heard = told, (told.template() if self._pictured else told.text)[:LONGEST_TEXT]
        seen["instruction"] = self._heard[1]
        seen = observed(seen, episode, self._simulation.steps)
        # Names go along, so that what changes the slots changes them as well, but the policy does not see them.
        self.objects = seen.pop("objects_names", ())
        return seen

    def _measured(self, name: str, picture: Picture) -> Observation:
        """Where every pixel is, and the camera's own measures."""
        world = self._simulation.world
        camera = world.scene.camera(name)
        pose = world.camera_pose(camera)
        extrinsics = np.eye(4)
        extrinsics[:3, :3], extrinsics[:3, 3] = matrix(pose.rotation), pose.position
        return {
            key(name, "points"): seen_points(camera, picture.depth, pose),
            key(name, "intrinsics"): intrinsics(camera, self._size),
            key(name, "extrinsics"): extrinsics,
        }

    def _cut(self, pictures: Sequence[Picture]) -> Observation:
        names, ids = object_slots(self._simulation.world.scene), self._simulation.world.segmentation_ids()
        if len(names) > SLOTS:
            raise EtudeError(f"{self._simulation.episode.name} has {len(names)} objects; the modality 'objects' has room for {SLOTS}")
        found = tokens(pictures, [ids[name] for name in names], SLOTS)
        return {"objects_crops": found.crops, "objects_boxes": found.boxes, "objects_mask": found.mask, "objects_names": names}
