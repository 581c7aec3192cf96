"""Questions about frames of a demonstration, for models that learn or are tested to plan (RoboHiMan, tables 4 and 5, in our own words).

Unlike the question of :mod:`etude.policies.chat_prompt` they give no list to choose from: the model has to find the words itself.
``IMAGE`` stands where a picture belongs, in the order of the views.
"""

from __future__ import annotations

from collections.abc import Sequence

IMAGE = "<image>"


def next_subtask(task: str, views: Sequence[str], history: Sequence[str] = ()) -> str:
    """What is to be done next? ``views`` are the names of the cameras; ``history`` the sub-tasks so far, oldest first, if told."""
    return "\n".join(
        (
            _scene(task),
            *_gone_by(history),
            f"You see the scene as it is now from {_counted(views)}:",
            *_shown(views),
            "Judge by the task and by what you see: which sub-task does the robot have to do next?",
            "Answer in this XML form:",
            "<reasoning> your reasons, in plain sentences </reasoning>",
            "<sub_task> the next sub-task, in plain words </sub_task>",
        )
    )


def reasoning(task: str, views: Sequence[str], subtask: str) -> str:
    """Why is this sub-task the next one? Pictures of the frame come first, then those of the frame at which the sub-task ends."""
    return "\n".join(
        (
            _scene(task),
            f"You see the scene at the start of a sub-task from {_counted(views)}:",
            *_shown(views),
            "And, only to help you understand, the same views at its end:",
            *_shown(views),
            f"The sub-task that leads from the start towards the end is: {subtask}",
            "Give the reasons why it is the right one to do next. They must follow from the task and from the views at the start alone: "
            "say nothing that is only seen at the end.",
            "Answer in this XML form:",
            "<reasoning> first what the scene looks like, then why this sub-task comes next </reasoning>",
        )
    )


def _scene(task: str) -> str:
    return f"A robot arm works on things on a table. Its task is: {task.rstrip(' .')}."


def _gone_by(history: Sequence[str]) -> list[str]:
    return [f"Sub-tasks done so far, oldest first: {'; '.join(history)}."] if history else []


def _counted(views: Sequence[str]) -> str:
    return "one camera" if len(views) == 1 else f"{len(views)} cameras at once"


def _shown(views: Sequence[str]) -> list[str]:
    return [f"- {view}: {IMAGE}" for view in views]
