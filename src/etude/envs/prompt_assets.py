"""The prompt of an episode in the form of VIMA-Bench: a text with named slots, and for each slot its pictures (VIMA 1.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.episodes import Episode
from etude.library import told_in
from etude.names import EtudeError
from etude.prompts.instruction import InstructionPart, ObjectPicture
from etude.prompts.views import Views, part_views, shown_objects
from etude.scene.visual import TABLE

VIEWS = ("front", "top")
NOTHING = 255  # in segmentations
TABLE_ID, FIRST_THING = 1, 2  # in pictures of scenes; the plane, which is not drawn, would be 0


def prompt_assets(episode: Episode, size: tuple[int, int] = (256, 128)) -> tuple[str, dict[str, dict[str, Any]]]:
    """The text with ``{slot}`` for every picture, and for every slot what the original has there; ``size`` is (width, height).

    ``rgb``: ``front`` and ``top``, uint8 (3, H, W). ``segm``: ``front`` and ``top``, uint8 (H, W), and ``obj_info``: ``obj_id``,
    ``obj_name`` and ``obj_color`` of the object (id 0), or of each in a list (ids from 2, the table is 1); 255 is nothing.
    ``placeholder_type``: "object" or "scene"; a picture that was made blank is a scene of nothing.
    """
    scene = told_in(episode)
    assets: dict[str, dict[str, Any]] = {}
    parts: dict[str, InstructionPart] = {}
    for part in episode.instruction.pictures():
        slot = getattr(part, "slot", "")
        if not slot:
            raise EtudeError(
                f"{episode.name}: a {type(part).__name__} of its instruction has no slot; only suites with named slots have assets"
            )
        if parts.setdefault(slot, part) != part:
            raise EtudeError(f"{episode.name}: the slot {slot!r} of its instruction stands for two different pictures")
        assets[slot] = _asset(part, part_views(part, scene, size, VIEWS))
    return episode.instruction.template(slots=True), assets


def told_views(episode: Episode, size: tuple[int, int], cameras: Sequence[str]) -> list[Views]:
    """The pictures of its instruction, as these cameras see them."""
    scene = told_in(episode)
    return [part_views(part, scene, size, cameras) for part in episode.instruction.pictures()]


def pictured(episode: Episode) -> list[dict[str, Any]]:
    """Of every picture of its instruction the ``slot``, the ``type`` ("object" or "scene") and its ``objects``: id, name and colour."""
    scene = told_in(episode)
    return [
        {
            "slot": getattr(part, "slot", ""),
            "type": "object" if isinstance(part, ObjectPicture) else "scene",
            "objects": [asdict(thing) for thing in shown_objects(part, scene)],
        }
        for part in episode.instruction.pictures()
    ]


def _asset(part: InstructionPart, views: Views) -> dict[str, Any]:
    alone = isinstance(part, ObjectPicture)
    ids = {thing.id: k + (0 if alone else FIRST_THING) for k, thing in enumerate(views.objects)}
    renumbered: NDArray[np.uint8] = np.full(2**16, NOTHING, np.uint8)
    renumbered[TABLE] = TABLE_ID
    renumbered[list(ids)] = list(ids.values())
    listed = [{"obj_id": ids[thing.id], "obj_name": thing.name, "obj_color": thing.colour} for thing in views.objects]
    return {
        "rgb": {name: np.ascontiguousarray(picture.rgb.transpose(2, 0, 1)) for name, picture in views.items()},
        "segm": {
            **{name: renumbered[picture.segmentation] for name, picture in views.items()},
            "obj_info": listed[0] if alone else listed,
        },
        "placeholder_type": "object" if alone else "scene",
    }
