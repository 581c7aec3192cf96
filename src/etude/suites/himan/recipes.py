"""The frozen lists of HiMan-Bench: which factors apply to which task, the sets for evaluation, and the levels of training data.

104 perturbed atomic and 132 perturbed compositional task instances (HiMan-Bench 3.3 to 3.5).
"""

from __future__ import annotations

from etude.names import EpisodeName, EtudeError, pick
from etude.suites.replacing import listed

# In the order of the Colosseum's numbers 2 to 12 and 14.
FACTORS = (
    "mo_color", "ro_color", "mo_texture", "ro_texture", "mo_size", "ro_size", "light_color", "table_color", "table_texture", "distractors",
    "background_texture", "camera_pose",
)  # fmt: skip
LEVELS = ("L1", "L2", "L3", "L4")  # of training data
EVERY = "all"  # the factors of a task together

MISSING: dict[str, tuple[str, ...]] = {
    "open_drawer": ("ro_color", "mo_texture", "ro_texture", "ro_size"),
    "close_drawer": ("ro_color", "mo_texture", "ro_texture", "ro_size"),
    "put_in_opened_drawer": ("ro_texture",),
    "take_out_of_opened_drawer": ("ro_texture",),
    "box_out_of_opened_drawer": ("mo_texture", "ro_texture"),
    "box_in_cupboard": ("mo_texture",),
    "box_out_of_cupboard": ("mo_texture",),
    "broom_out_of_cupboard": ("mo_texture",),
    "sweep_to_dustpan": ("mo_size",),
    "rubbish_in_dustpan": (),
    "put_in_without_close": ("ro_texture",),
    "take_out_without_close": ("ro_texture",),
    "put_in_and_close": ("ro_texture",),
    "take_out_and_close": ("ro_texture",),
    "put_two_in_same": ("ro_texture",),
    "take_two_out_of_same": ("ro_texture",),
    "put_two_in_different": ("ro_texture",),
    "take_two_out_of_different": ("ro_texture",),
    "box_exchange": ("mo_texture",),
    "sweep_and_drop": ("mo_size",),
    "transfer_box": ("ro_texture",),
    "retrieve_and_sweep": ("mo_size",),
}
ATOMIC, COMPOSITIONAL = tuple(MISSING)[:10], tuple(MISSING)[10:]
SEEN = ("put_in_without_close", "take_out_without_close", "sweep_and_drop", "transfer_box")  # compositions in the training data
PLAIN, PERTURBED = 15, 5  # episodes of a task for evaluation, and of a task with a factor
PART = 5  # one of so many episodes is in the fixed part of a list
DEMOS, COMPOSED = 20, 5  # demonstrations of an atomic task, and of a composition
REPLACED: dict[str, tuple[int, ...]] = {  # seeds that the oracle did not solve, by "task@split+factor"
    "take_two_out_of_same@test+distractors": (3,),
    "take_two_out_of_same@test+all": (3, 3),  # and the one after it
    "transfer_box@test+all": (2,),
}

# The real robot's (appendix D), played in a suite of their own: what its tasks are perturbed by, in turn. Distractors; other places of
# things; people who move them, or stand before a camera. What lies in the box is neither moved nor put elsewhere without it.
REAL = "himan_real"
BOXED, ON_TABLE = ("distractors", "cover_camera"), ("distractors", "other_place", "move_object", "cover_camera")
REAL_ATOMIC = {"open_drawer": BOXED, "close_drawer": BOXED, "box_item_on_table": BOXED, "table_item_in_opened_drawer": ON_TABLE}
REAL_COMPOSED = {
    "table_item_in_opened_drawer_close": ON_TABLE, "table_item_in_drawer": ON_TABLE,
    "box_item_in_opened_drawer_close": BOXED, "box_item_in_drawer": BOXED,
}  # fmt: skip
REAL_SEEN = "box_item_in_drawer"  # the composition in the training data
REAL_PLAIN, REAL_DEMOS = 10, 40  # episodes of a composition, and as many under perturbations; demonstrations of an atomic task


def factors(task: str) -> tuple[str, ...]:
    """The factors that a task is perturbed by, one at a time."""
    missing = pick("task of himan", task, MISSING)
    return tuple(f for f in FACTORS if f not in missing)


def _named(task: str, split: str, seed: int, factor: str = "") -> str:
    return listed(EpisodeName("himan", task, split, seed, perturbations=(factor,) if factor else ()), REPLACED)


def evaluation(tasks: tuple[str, ...], part: bool = False) -> tuple[str, ...]:
    """Episodes without a factor, with each factor, and with all of them.

    ``part``: the fifth of them with the seeds k, k + 5, … of the k-th task, so that every factor is there with its control, and all
    variations are.
    """
    found = []
    for k, task in enumerate(tasks):
        first, step = (k % PART, PART) if part else (0, 1)
        found += [_named(task, "test", seed) for seed in range(first, PLAIN, step)]
        found += [_named(task, "test", seed, factor) for factor in (*factors(task), EVERY) for seed in range(first, PERTURBED, step)]
    return tuple(found)


def training(level: str) -> tuple[str, ...]:
    """The demonstrations of a data level, L1 to L4; each holds the one before."""
    if level not in LEVELS:
        raise EtudeError(f"there is no data level {level!r}; valid: {', '.join(LEVELS)}")
    found = [_named(task, "train", seed) for task in ATOMIC for seed in range(DEMOS)]
    if level >= "L2":
        found += [_named(task, "train", DEMOS + k, factor) for task in ATOMIC for k, factor in enumerate(factors(task))]
    if level >= "L3":
        found += [_named(task, "train", seed) for task in SEEN for seed in range(COMPOSED)]
    if level >= "L4":
        found += [_named(task, "train", COMPOSED + k, factor) for task in SEEN for k, factor in enumerate(factors(task))]
    return tuple(found)


def real_evaluation() -> tuple[str, ...]:
    """Episodes of the real robot's compositions, and the same under perturbations, which take turns."""
    found = []
    for task, changes in REAL_COMPOSED.items():
        found += [_real(task, "test", seed) for seed in range(REAL_PLAIN)]
        found += [_real(task, "test", seed, changes[seed % len(changes)]) for seed in range(REAL_PLAIN)]
    return tuple(found)


def real_training() -> tuple[str, ...]:
    """The real robot's demonstrations: of atomic tasks, one of a composition, and of all of these one under each perturbation."""
    found = [_real(task, "train", seed) for task in REAL_ATOMIC for seed in range(REAL_DEMOS)]
    found.append(_real(REAL_SEEN, "train", 0))
    for task, changes in {**REAL_ATOMIC, REAL_SEEN: REAL_COMPOSED[REAL_SEEN]}.items():
        first = REAL_DEMOS if task in REAL_ATOMIC else 1
        found += [_real(task, "train", first + k, change) for k, change in enumerate(changes)]
    return tuple(found)


def _real(task: str, split: str, seed: int, change: str = "") -> str:
    return str(EpisodeName(REAL, task, split, seed, perturbations=(change,) if change else ()))
