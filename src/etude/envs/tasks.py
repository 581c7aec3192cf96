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

VLMBENCH = (
    "pick_color", "pick_relative", "pick_shape", "pick_size", "stack_color", "stack_relative", "stack_shape", "stack_size",
    "drop_color", "drop_relative", "drop_size", "sorter_color", "sorter_relative", "sorter_shape", "pour_color", "pour_relative",
    "pour_size", "wipe_color", "wipe_relative", "wipe_shape", "wipe_size", "wipe_direction", "drawer", "door",
)  # fmt: skip

HIMAN = (
    "open_drawer", "close_drawer", "put_in_opened_drawer", "take_out_of_opened_drawer", "box_out_of_opened_drawer", "box_in_cupboard",
    "box_out_of_cupboard", "broom_out_of_cupboard", "sweep_to_dustpan", "rubbish_in_dustpan", "put_in_without_close",
    "take_out_without_close", "put_in_and_close", "take_out_and_close", "put_two_in_same", "take_two_out_of_same", "put_two_in_different",
    "take_two_out_of_different", "box_exchange", "sweep_and_drop", "transfer_box", "retrieve_and_sweep",
)  # fmt: skip

IWISDM = (
    "single_frame_location", "single_frame_category", "low", "low_location", "low_category", "low_identity", "medium",
    "medium_location", "medium_category", "medium_identity", "high", "high_location", "high_category", "high_identity", "cvr_low",
    "cvr_low_location", "cvr_low_category", "cvr_medium", "cvr_medium_location", "cvr_medium_category", "cvr_high", "cvr_high_location",
    "cvr_high_category", "perception", "perception_category_report", "perception_category_compare", "perception_location_report",
    "perception_location_compare", "spatial_attention", "spatial_attention_category_report", "spatial_attention_category_compare",
    "feature_attention", "feature_attention_location_report", "feature_attention_location_compare", "temporal_attention",
    "temporal_attention_category_report", "temporal_attention_category_compare", "temporal_attention_location_report",
    "temporal_attention_location_compare", "memory", "memory_category_report", "memory_category_compare", "memory_location_report",
    "memory_location_compare", "match_to_sample", "match_to_sample_category", "match_to_sample_location", "match_to_sample_identity",
    "one_back", "one_back_category", "one_back_location", "one_back_identity", "two_back", "two_back_category", "two_back_location",
    "two_back_identity", "three_back", "three_back_category", "three_back_location", "three_back_identity", "samples_abcabc",
    "samples_abcabc_category", "samples_abcabc_location", "samples_abcabc_identity", "samples_abbcca", "samples_abbcca_category",
    "samples_abbcca_location", "samples_abbcca_identity", "dual_match_to_sample", "contextual_decision", "queue", "overlap",
    "interleave", "condition",
)  # fmt: skip

TASKS: dict[str, tuple[str, ...]] = {"clevrskills": CLEVRSKILLS, "vima": VIMA, "vlmbench": VLMBENCH, "himan": HIMAN, "iwisdm": IWISDM}
DECISIONS = ("iwisdm",)  # suites without a robot


def env_id(suite: str, task: str) -> str:
    """The Gymnasium id of a task."""
    return f"etude/{suite}.{task}-v1"


def register() -> None:
    """Tell Gymnasium about every task. Cheap: the environment class is imported when one is made."""
    import gymnasium

    for suite, names in TASKS.items():
        entry = "etude.envs.decision_env:DecisionEnv" if suite in DECISIONS else "etude.envs.env:EpisodeEnv"
        for name in names:
            gymnasium.register(id=env_id(suite, name), entry_point=entry, kwargs={"suite": suite, "task": name}, order_enforce=True)
