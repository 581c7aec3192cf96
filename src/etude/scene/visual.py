"""What there is to see of a world: meshes riding on moving frames. The renderers draw nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from etude.catalog.mesh import Mesh
from etude.pose import Pose

# Segmentation ids. Entities follow from FIRST_ENTITY on, in the order of the scene.
NOTHING, FLOOR, WALLS, TABLE, ROBOT, HAND, FIRST_ENTITY = 0, 1, 2, 3, 4, 5, 8


@dataclass(frozen=True, eq=False)
class Visual:
    """One mesh of one material.

    ``body`` is the index of the frame it rides on (0: the world) and ``pose`` its place there; ``span`` the metres one repetition of the
    texture covers; ``entity`` its segmentation id. ``alpha`` below 1 makes it a marker: blended into colour, absent from everything else.
    """

    body: int
    mesh: Mesh
    texture: str
    pose: Pose = Pose()
    span: float = 0.1
    entity: int = NOTHING
    alpha: float = 1.0
    shadow: bool = True
    gloss: float = 0.15  # strength of the highlight, 0 to 1

    def looks_like(self, other: Visual) -> bool:
        """Would a renderer draw the same?"""
        return self.mesh is other.mesh and all(
            getattr(self, name) == getattr(other, name)
            for name in ("body", "texture", "pose", "span", "entity", "alpha", "shadow", "gloss")
        )
