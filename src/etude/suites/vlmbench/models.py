"""The agents of VLMbench's tables 8 and 9, as recipes to be trained: 6D-CLIPort's like, and its copies that only hear or only see.

Two of them are the same network, told the true rotation or the true position of every keypose while it plays. All are told what to do as
they will be when they play: by the task.
"""

from __future__ import annotations

from etude.suites.paper import PaperModel

WHOLE, LANGUAGE, VISION = "6D-CLIPort", "Language-Only", "Vision-Only"
TRUE_ROTATION, TRUE_POSITION = "6D-CLIPort (GT Ori)", "6D-CLIPort (GT Pos)"
RECIPE, STREAM = "topdown", "keyposes"


def settings(sees: str) -> tuple[str, ...]:
    """What tells an agent apart from the others, and from other keypose policies."""
    return f"model.sees={sees}", "data.by_subtask=0.0"


def _same(part: str, who: str) -> PaperModel:
    return PaperModel(f"{RECIPE}-true-{part}", who, "", RECIPE, settings("both"), given=f"true:{part}:", same_as=RECIPE, stream=STREAM)


MODELS = (
    PaperModel("language-only", LANGUAGE, "", RECIPE, settings("instruction"), stream=STREAM),
    PaperModel("vision-only", VISION, "", RECIPE, settings("cloud"), stream=STREAM),
    PaperModel(RECIPE, WHOLE, "", RECIPE, settings("both"), stream=STREAM),
    _same("rotation", TRUE_ROTATION),
    _same("position", TRUE_POSITION),
)
