"""Names of all tasks, so that importing etude can register their environments without loading a single suite."""

from __future__ import annotations

CLEVRSKILLS = (
    "match_pose", "move_without_hitting", "pick", "place", "push", "rotate", "throw", "throw_topple", "touch", "touch_push",
    "touch_topple", "trace",
    "simple_manipulation", "follow_order", "follow_order_restore", "neighbour", "novel_adj", "novel_noun", "novel_adj_noun", "rearrange",
    "rearrange_restore", "rotate_restore", "rotate_symmetry", "stack", "stack_reversed", "sort", "swap",
    "balance", "sort_stack", "stack_topple", "swap_push", "swap_rotate", "throw_sort",
)  # fmt: skip

VIMA = (
    "visual_manipulation", "scene_understanding", "rotate", "rearrange", "rearrange_then_restore", "novel_adj", "novel_noun",
    "novel_adj_and_noun", "twist", "follow_motion", "follow_order", "sweep_without_exceeding", "sweep_without_touching", "same_texture",
    "same_shape", "manipulate_old_neighbor", "pick_in_order_then_restore",
)  # fmt: skip

TASKS: dict[str, tuple[str, ...]] = {"clevrskills": CLEVRSKILLS, "vima": VIMA}


def env_id(suite: str, task: str) -> str:
    """The Gymnasium id of a task."""
    return f"etude/{suite}.{task}-v1"


def register() -> None:
    """Tell Gymnasium about every task. Cheap: the environment class is imported when one is made."""
    import gymnasium

    for suite, names in TASKS.items():
        for name in names:
            gymnasium.register(
                id=env_id(suite, name), entry_point="etude.envs.env:EpisodeEnv", kwargs={"suite": suite, "task": name}, order_enforce=True
            )
