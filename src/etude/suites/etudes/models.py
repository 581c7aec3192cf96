"""What is trained on études: at a table a policy that acts in chunks, at a chest one of keyposes; copies of both that do not see or do not
hear; and planners that tell them what to do next."""

from __future__ import annotations

from etude.suites.etudes.composing import LEVELS
from etude.suites.etudes.setting import AT_CHEST, AT_TABLE
from etude.suites.etudes.suite import task_name
from etude.suites.paper import PaperModel

WHO = {"": "Learned", "-blind": "Learned, blind", "-deaf": "Learned, deaf"}
SEES = {
    "chunks": {"": (), "-blind": ("model.sees=instruction",), "-deaf": ("model.sees=frames",)},
    "heatmaps": {"": (), "-blind": ("model.sees=instruction",), "-deaf": ("model.sees=cloud",)},
}
RECIPES = {AT_TABLE.name: "chunks", AT_CHEST.name: "heatmaps"}
PLANNER, PLANNER_LINE = "planner", "Learned planner"
STEPS = {"chunks": "schedule.steps=12000", "heatmaps": "schedule.steps=6000", PLANNER: "schedule.steps=6000"}
VIEWS = {AT_TABLE.name: (), AT_CHEST.name: ("data.source.cameras=front,wrist",)}


def _tasks(setting: str) -> str:
    return f"data.source.tasks={','.join(task_name(setting, level) for level in LEVELS)}"


MODELS = (
    *(
        PaperModel(
            f"{recipe}{copy}", who, setting, recipe, (_tasks(setting), STEPS[recipe], *SEES[recipe][copy]), added=True, stream=setting
        )
        for setting, recipe in RECIPES.items()
        for copy, who in WHO.items()
    ),
    *(
        PaperModel(f"planner-{setting}", PLANNER_LINE, setting, PLANNER, (_tasks(setting), STEPS[PLANNER], *VIEWS[setting]), added=True)
        for setting in RECIPES
    ),
)
