"""From names to episodes: finds the task, samples, applies options and perturbations. Suites are loaded when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from etude.decisions.trial import Trial
from etude.episodes import Episode
from etude.foreign import UnmadeEpisode, episode_made_by
from etude.names import EpisodeName, EtudeError, parse_json, pick, rng, unknown, whole_number
from etude.perturb.perturbation import find_perturbation, perturbed
from etude.prompts.instruction import Instruction
from etude.scene.placement import NoRoom
from etude.scene.scene import Scene
from etude.suites.shuffling import ORDERS, shuffled
from etude.suites.suite import SUITES, Draft, Draw, Task

RESAMPLES = 20  # layouts tried before an episode is given up
PRIVATE = "salt"  # the option that every task has
EVERYWHERE = ("prompt", "order", "robot", PRIVATE)  # options that every task with a scene has


def tasks(suite: str) -> dict[str, Task]:
    """The tasks of a suite, by name, in the suite's order.

    >>> [task.name for task in etude.tasks("kitchen").values() if task.level == "L0"]
    """
    return SUITES[suite].tasks


def named_plan(text: str) -> Callable[[], tuple[str, ...]] | None:
    """The frozen list of a suite that is called ``SUITE-PLAN``; None where there is none."""
    for name in SUITES:
        if text.startswith(f"{name}-") and (found := SUITES[name].plans.get(text.removeprefix(f"{name}-"))):
            return found
    return None


def plan_names() -> tuple[str, ...]:
    """What the frozen lists of all suites are called: ``SUITE-PLAN``."""
    return tuple(f"{suite}-{plan}" for suite in SUITES for plan in SUITES[suite].plans)


def find_task(name: EpisodeName) -> Task:
    """The task of this name, after a look at everything the name says that can be checked without sampling."""
    found = pick(f"task of {name.suite}", name.task, tasks(name.suite))
    if name.split not in found.splits:
        raise unknown(f"split of {name.suite}/{name.task}", name.split, found.splits)
    for one in name.perturbations:
        find_perturbation(one)
    for key, _ in name.options:
        if key not in (*EVERYWHERE, *found.options):
            general = (PRIVATE,) if found.control == "answer" else EVERYWHERE
            raise unknown(f"option of {name.suite}/{name.task}", key, (*general, *found.options))
    return found


def find(name: str | EpisodeName) -> Episode | Trial:
    """What this name stands for: an episode with a robot, or a trial of decisions."""
    parsed = EpisodeName.parse(name) if isinstance(name, str) else name
    found = find_task(parsed)
    draft = _sampled(found, parsed)
    if isinstance(draft, Trial):
        for what in (*parsed.perturbations, *(key for key, _ in parsed.options if key not in (PRIVATE, *found.options))):
            raise EtudeError(f"{what!r} does not apply to {parsed.suite}: a decision has no scene to change and no prompts to choose from")
        return draft
    return _episode(found, parsed, draft)


def episode(name: str | EpisodeName) -> Episode:
    """The episode with this name. Equal names give equal episodes, on every machine.

    >>> etude.episode("kitchen/cup_on_plate@test#3").instruction.text
    """
    found = find(name)
    if isinstance(found, Trial):
        raise EtudeError(f"{name} is a decision without a robot: find it with etude.library.trial")
    return found


def read_episode(text: str) -> Episode:
    """An episode from its JSON, whatever suite it is of: goals can be read once their suite is loaded."""
    data = parse_json(text)
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise EtudeError("this is not an episode written as JSON: it has no name")
    tasks(EpisodeName.parse(data["name"]).suite)
    return Episode.from_json(text)


def told_in(found: Episode) -> Scene:
    """The scene in which the pictures of its instruction are taken: without perturbations, which must not show in what is told."""
    parsed = found.parsed
    if not parsed.perturbations or not found.instruction.pictures():
        return found.scene
    return episode(replace(parsed, perturbations=())).scene


def prompts(found: Episode) -> tuple[Instruction, ...]:
    """Every way in which it can be told, the k-th as ``?prompt=k``; of an episode that its name no longer stands for, its own alone."""
    parsed = found.parsed
    task, others = find_task(parsed), [option for option in parsed.options if option[0] != "prompt"]
    draft = _sampled(task, parsed)
    assert isinstance(draft, Draft)
    forms = (replace(parsed, options=(*others, ("prompt", str(k)))) for k in range(len(draft.instructions)))
    told = tuple(_episode(task, form, draft).instruction for form in forms)
    return told if found.instruction in told else (found.instruction,)


def trial(name: str | EpisodeName) -> Trial:
    """The trial of this name. Equal names give equal trials, anywhere."""
    found = find(name)
    if isinstance(found, Episode):
        raise EtudeError(f"{name} is not a decision: find it with etude.library.episode")
    return found


def _episode(found: Task, parsed: EpisodeName, draft: Draft) -> Episode:
    wanted = dict(parsed.options).get("prompt", "0")
    number = whole_number(wanted)
    if number is None or number >= len(draft.instructions):
        raise EtudeError(f"prompt={wanted} does not exist; {parsed.suite}/{parsed.task} has prompts 0 to {len(draft.instructions) - 1}")
    order = dict(parsed.options).get("order", ORDERS[0])
    if order not in ORDERS:
        raise unknown("value of order", order, ORDERS)
    if order != "spawn":
        draft = shuffled(draft, rng(parsed, "order"))
    base = Episode(
        name=str(parsed),
        scene=draft.scene,
        goal=draft.goal,
        instruction=draft.instructions[number],
        horizon=draft.horizon or found.horizon,
        control=found.control,
        level=found.level or parsed.split,
        held=draft.held,
        roles=draft.roles,
        least=draft.least,
        budget=found.budget,
    )
    return perturbed(base, parsed.perturbations)


def _sampled(found: Task, name: EpisodeName) -> Draft | Trial:
    reason: EtudeError | None = None
    split = SUITES[name.suite].alike.get(name.split, name.split)
    arm = dict(name.options).get("robot", "")
    for attempt in range(RESAMPLES):
        try:
            with episode_made_by(f"{name} cannot be made, its sampler broke"):
                draft = found.sample(Draw(name, split, attempt))
            if not isinstance(draft, (Draft, Trial)):
                raise UnmadeEpisode(f"{name} cannot be made: its sampler gave {draft!r:.60}, expected what draw.episode(…) gives")
            if arm and isinstance(draft, Draft):
                from etude.suites.arms import rearmed  # loads the kinematics, which an episode by itself can do without

                return rearmed(draft, arm)
            return draft
        except NoRoom as error:
            reason = error
    raise EtudeError(f"{name} cannot be laid out in {RESAMPLES} attempts: {reason}")
