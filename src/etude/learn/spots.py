"""Where the things are seen that a prompt shows in pictures, or names in their place: by this it is learned to find things by their
looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from etude.prompts.instruction import Instruction, InstructionPart, ObjectPicture, TexturePicture
from etude.scene.scene import Body, Scene

SOUGHT = 4  # things of a prompt, the first ones, that are looked for
UNSEEN = -1  # for both numbers of a place


def things_shown(instruction: Instruction, scene: Scene) -> tuple[str, ...]:
    """Which thing of the scene each of the first pictures shows, or the words that stand for it; "" where it shows none, or several could
    be meant."""
    bodies = [entity for entity in scene.entities if isinstance(entity, Body)]
    found = ([body.name for body in bodies if _like(part, body)] for part in instruction.pictures()[:SOUGHT])
    return tuple(names[0] if len(names) == 1 else "" for names in found)


def _like(part: InstructionPart, body: Body) -> bool:
    if isinstance(part, ObjectPicture):
        return part.shape == body.shape and part.texture in ("", body.texture)
    return isinstance(part, TexturePicture) and part.texture == body.texture


def spots(segmentations: Sequence[NDArray[np.uint16]], ids: Mapping[str, int], names: Sequence[str]) -> NDArray[np.int16]:
    """In the middle of what of each thing (:data:`SOUGHT`, V, 2) is seen in V views: column and row of a pixel, or :data:`UNSEEN`."""
    found = np.full((SOUGHT, len(segmentations), 2), UNSEEN, np.int16)
    for view, segmentation in enumerate(segmentations):
        for k, name in enumerate(names):
            if not name:
                continue
            rows, columns = np.nonzero(segmentation == ids[name])
            if len(rows):
                found[k, view] = int(columns.sum()) // len(columns), int(rows.sum()) // len(rows)
    return found
