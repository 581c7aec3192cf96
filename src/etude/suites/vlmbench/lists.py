"""The frozen lists of episodes, with the sizes of the paper's table 7.

Seeds take the variations of a task in turn, so a list is its first seeds. Every test episode was solved by the oracle, played from its
name; a seed that was not is replaced by one of the same variation (:mod:`etude.suites.replacing`).
"""

from __future__ import annotations

from collections import Counter

from etude.names import EpisodeName
from etude.suites.replacing import listed
from etude.suites.suite import InventoryTable, Purpose, Rows

SPLITS: dict[str, Purpose] = {
    "train": "training", "valid_seen": "validation", "valid_unseen": "validation", "test_seen": "test", "test_unseen": "test",
}  # fmt: skip
SIZES: dict[str, tuple[int, int, int, int, int]] = {  # in the order of SPLITS
    "pick_color": (400, 100, 25, 100, 100),
    "pick_relative": (320, 80, 80, 96, 96),
    "pick_shape": (100, 25, 20, 100, 100),
    "pick_size": (80, 20, 20, 100, 100),
    "stack_color": (400, 100, 25, 100, 100),
    "stack_relative": (320, 80, 80, 96, 96),
    "stack_shape": (100, 25, 20, 100, 100),
    "stack_size": (120, 30, 30, 96, 96),
    "drop_color": (395, 100, 25, 100, 100),
    "drop_relative": (320, 80, 80, 96, 96),
    "drop_size": (80, 20, 20, 100, 100),
    "sorter_color": (400, 100, 25, 100, 100),
    "sorter_relative": (80, 20, 20, 100, 100),
    "sorter_shape": (80, 20, 25, 100, 100),
    "pour_color": (388, 100, 25, 100, 100),
    "pour_relative": (80, 20, 20, 100, 100),
    "pour_size": (40, 10, 10, 100, 100),
    "wipe_color": (400, 100, 25, 100, 100),
    "wipe_relative": (80, 20, 20, 100, 100),
    "wipe_shape": (80, 20, 10, 100, 100),
    "wipe_size": (40, 10, 10, 100, 100),
    "wipe_direction": (40, 10, 10, 100, 100),
    "drawer": (240, 60, 60, 96, 96),
    "door": (200, 20, 20, 100, 100),
}
REPLACED: dict[str, tuple[int, ...]] = {  # seeds, by "task@split"
    "sorter_shape@test_seen": (89,),
    "pour_relative@test_seen": (68,),
    "wipe_color@test_seen": (72,),
    "pick_size@test_unseen": (94,),
    "pour_color@test_unseen": (85,),
    "wipe_size@test_unseen": (51,),
}


def names(split: str) -> tuple[str, ...]:
    """The episodes of a split, task by task."""
    column = list(SPLITS).index(split)
    return tuple(
        listed(EpisodeName("vlmbench", task, split, seed), REPLACED) for task, sizes in SIZES.items() for seed in range(sizes[column])
    )


def inventory() -> tuple[InventoryTable, ...]:
    """How many episodes of each task the lists have (VLMbench, Table 7)."""
    counts = {split: Counter(EpisodeName.parse(name).task for name in names(split)) for split in SPLITS}
    rows: Rows = [{"task": task, **{split: counts[split][task] for split in SPLITS}} for task in SIZES]
    rows.append({"task": "together", **{split: counts[split].total() for split in SPLITS}})
    return (InventoryTable("Episodes of the frozen lists", rows),)
