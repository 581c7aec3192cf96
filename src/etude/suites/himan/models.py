"""The models of RoboHiMan's tables, as recipes to be trained: each policy and the planner on every level of training data; and some of
our own, for which the first policy has seen fewer demonstrations, or began with other weights."""

from __future__ import annotations

from etude.suites.himan.paper import FEWER, SEEDED
from etude.suites.himan.recipes import LEVELS
from etude.suites.paper import PaperModel

POLICIES = {"heatmaps": "RVT2", "points": "3D-Diffuser-Actor", "chunks": "π0"}  # recipes, and what they stand for
STREAMS = {"heatmaps": "keyposes", "points": "keyposes", "chunks": "control", "planner": "questions"}  # that all levels share
BEST = next(iter(POLICIES))
SHIPPED = f"{BEST}-{LEVELS[-1]}"  # zoo:himan-heatmaps
PLANNER = "Qwen2.5VL-7B"


def line(policy: str) -> str:
    """What the paper calls a policy with the rule-based planner, under which its line is known."""
    return f"{policy}-RP"


def _policy(recipe: str, name: str, trained: str, *settings: str) -> PaperModel:
    policy = POLICIES[recipe]
    also = f"{policy}-Vanilla", f"{policy}-VLM", policy
    return PaperModel(name, line(policy), trained, recipe, settings, ships=name == SHIPPED, also=also, stream=STREAMS[recipe])


def _level(level: str) -> str:
    return f"data.source.plan={level}"


MODELS = (
    *(_policy(recipe, f"{recipe}-{level}", level, _level(level)) for recipe in POLICIES for level in LEVELS),
    *(PaperModel(f"planner-{level}", PLANNER, level, "planner", (_level(level),), stream=STREAMS["planner"]) for level in LEVELS),
    *(
        _policy(BEST, f"{BEST}-{count}", trained, _level("L4"), f"data.most={count}", f"data.start={count}")
        for count, trained in FEWER.items()
    ),
    *(
        _policy(BEST, f"{BEST}-{trained.replace(' ', '-')}", trained, _level(trained[:2]), f"schedule.seed={trained[-1]}")
        for trained in SEEDED.values()
        if trained not in LEVELS
    ),
)
