"""What is trained on études: a policy that acts in chunks and can be told by a planner, copies of it that do not see or do not hear, and a
planner."""

from __future__ import annotations

from etude.suites.etudes.composing import LEVELS
from etude.suites.paper import PaperModel

TASKS = f"data.source.tasks={','.join(LEVELS)}"
STEPS = "schedule.steps=12000"
COPIES = {
    "chunks": ("Learned", ()),
    "chunks-blind": ("Learned, blind", ("model.sees=instruction",)),
    "chunks-deaf": ("Learned, deaf", ("model.sees=frames",)),
}
MODELS = (
    *(PaperModel(name, who, "", "chunks", (TASKS, STEPS, *own), added=True) for name, (who, own) in COPIES.items()),
    PaperModel("planner", "Learned planner", "", "planner", (TASKS, STEPS), added=True),
)
