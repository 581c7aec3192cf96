"""VIMA-Bench with CoGeLoT's difficulties: 17 tasks, told in words and pictures, at four levels of generalisation."""

from etude.suites.task import TASKS
from etude.suites.vima import (
    colours,  # noqa: F401
    imitation,  # noqa: F401
    manipulation,  # noqa: F401
    memory,  # noqa: F401
    novelty,  # noqa: F401
    rearranging,  # noqa: F401
    sameness,  # noqa: F401
    sweeping,  # noqa: F401
    twisting,  # noqa: F401
    understanding,  # noqa: F401
)

# T1 to T17, the order of every table.
ORDER = (
    "visual_manipulation", "scene_understanding", "rotate", "rearrange", "rearrange_then_restore", "novel_adj", "novel_noun",
    "novel_adj_and_noun", "twist", "follow_motion", "follow_order", "sweep_without_exceeding", "sweep_without_touching", "same_texture",
    "same_shape", "manipulate_old_neighbor", "pick_in_order_then_restore",
)  # fmt: skip
TASKS["vima"] = {name: TASKS["vima"][name] for name in ORDER}
