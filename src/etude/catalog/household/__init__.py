"""Things of the household, as procedural stand-ins: the YCB set's distractors and the movable objects of VLMbench and HiMan-Bench.

``YCB`` maps the ids HiMan-Bench's distractors have in the YCB set to names of this catalogue, ``DISTRACTORS`` lists those names in order
of id, and ``default_texture`` gives every household thing the colour or texture it usually has. Sizes and masses follow
the published lists; where those give only a part of a thing (a hammer's head), or none (marbles, bricks, airplane), ours are plausible.
"""

from __future__ import annotations

from etude.catalog.household import balls, cleaning, fruit, hollow, kitchen, packages, tools, toys  # noqa: F401
from etude.catalog.household.forms import YCB as _ENTERED
from etude.catalog.household.forms import default_texture

YCB: dict[str, str] = dict(sorted(_ENTERED.items()))
DISTRACTORS: tuple[str, ...] = tuple(YCB.values())

__all__ = ["DISTRACTORS", "YCB", "default_texture"]
