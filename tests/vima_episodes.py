"""What the tests of VIMA's T2 and T4 to T9 share: episodes by task, and who is who in them."""

from __future__ import annotations

import math

import etude
from etude.episodes import Episode
from etude.goals.goal import Goal
from etude.goals.laying import Clear, Laid
from etude.prompts.instruction import Words
from etude.scene.scene import Body

DIFFICULTIES = ("default", "distracting", "extreme", "extremely_distracting")
TASKS = {
    **dict.fromkeys(
        ("scene_understanding", "rearrange", "rearrange_then_restore", "novel_adj", "novel_noun", "twist"), ("train", "L1", "L2", "L3")
    ),
    "novel_adj_and_noun": ("L4",),
}
TASKS_AND_SPLITS = [(task, split) for task, splits in TASKS.items() for split in splits]


def in_turn(tasks: dict[str, tuple[str, ...]], difficulties: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """(task, split, difficulty) so that every task meets each of its splits and each difficulty, and no more than it takes."""
    cases = []
    for task, splits in tasks.items():
        rounds = max(len(splits), len(difficulties))
        cases += [(task, splits[k % len(splits)], difficulties[k % len(difficulties)]) for k in range(rounds)]
    return cases


def episode(task: str, split: str = "train", seed: int = 0, **options: str) -> Episode:
    chosen = "&".join(f"{key}={value}" for key, value in options.items())
    return etude.episode(f"vima/{task}@{split}#{seed}" + (f"?{chosen}" if chosen else ""))


def wording(found: Episode) -> str:
    """The prompt as the original writes it: pictures are slots in braces."""
    return "".join(p.words if isinstance(p, Words) else f"{{{p.slot}}}" for p in found.instruction.parts)


def leaves(goal: Goal, kind: type) -> list:
    return ([goal] if isinstance(goal, kind) else []) + [leaf for part in goal.parts() for leaf in leaves(part, kind)]


def bodies(found: Episode) -> dict[str, Body]:
    return {e.name: e for e in found.scene.entities if isinstance(e, Body)}


def cast_of(found: Episode) -> tuple[list[Body], Body | None, list[Body]]:
    """What is to be moved, what receives it, and the distractors."""
    names, roles, all_ = {leaf.thing for leaf in leaves(found.goal, Laid)}, dict(found.roles), bodies(found)
    base = all_.get(roles.get("receiving", ""))
    return [all_[n] for n in sorted(names)], base, [b for b in all_.values() if b.name not in names and b != base]


def in_the_way(found: Episode) -> list[Body]:
    leaf = leaves(found.goal, Clear)[0]
    _, _, others = cast_of(found)
    return [b for b in others if any(math.dist(b.pose.position[:2], place) < leaf.tolerance for place in leaf.places)]
