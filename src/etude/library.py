"""From names to episodes: finds the task, samples, applies options and perturbations. Suites are loaded when they are first asked for."""

from __future__ import annotations

import importlib
from dataclasses import replace

from etude.episode import Episode
from etude.names import EpisodeName, EtudeError, pick, unknown
from etude.perturb.perturbation import known_perturbations, perturbed
from etude.scene.placement import NoRoom
from etude.suites.task import TASKS, Draft, Draw, Task

SUITES = ("clevrskills", "vima")
RESAMPLES = 20  # layouts tried before an episode is given up


def tasks(suite: str) -> dict[str, Task]:
    """The tasks of a suite, by name, in the suite's order."""
    if suite not in SUITES:
        raise unknown("suite", suite, SUITES)
    importlib.import_module(f"etude.suites.{suite}")
    return TASKS[suite]


def find_task(name: EpisodeName) -> Task:
    """The task of this name, after a look at everything the name says that can be checked without sampling."""
    found = pick(f"task of {name.suite}", name.task, tasks(name.suite))
    if name.split not in found.splits:
        raise unknown(f"split of {name.suite}/{name.task}", name.split, found.splits)
    for one in name.perturbations:
        pick("perturbation", one, known_perturbations())
    for key, _ in name.options:
        if key not in ("prompt", *found.options):
            raise unknown(f"option of {name.suite}/{name.task}", key, ("prompt", *found.options))
    return found


def episode(name: str | EpisodeName) -> Episode:
    """The episode of this name. Equal names give equal episodes, anywhere."""
    parsed = EpisodeName.parse(name) if isinstance(name, str) else name
    found = find_task(parsed)
    draft = _sampled(found, parsed)
    wanted = dict(parsed.options).get("prompt", "0")
    if not wanted.isdigit() or int(wanted) >= len(draft.instructions):
        raise EtudeError(f"prompt={wanted} does not exist; {parsed.suite}/{parsed.task} has prompts 0 to {len(draft.instructions) - 1}")
    base = Episode(
        name=str(parsed),
        scene=draft.scene,
        goal=draft.goal,
        instruction=draft.instructions[int(wanted)],
        horizon=found.horizon,
        control=found.control,
        level=found.level or parsed.split,
        held=draft.held,
        roles=draft.roles,
        least=draft.least,
    )
    return perturbed(base, parsed.perturbations)


def _sampled(found: Task, name: EpisodeName) -> Draft:
    reason: EtudeError | None = None
    for attempt in range(RESAMPLES):
        try:
            return found.sample(replace(Draw(name), attempt=attempt))
        except NoRoom as error:
            reason = error
    raise EtudeError(f"{name} cannot be laid out in {RESAMPLES} attempts: {reason}")
