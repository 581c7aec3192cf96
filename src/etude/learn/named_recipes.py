"""Recipes by their names: what a suite's are, and how settings change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal

from etude.learn.control import ControlSource, plain_source
from etude.learn.folders import LANGUAGES, VISIONS, folder_digest, placed
from etude.learn.guided_control import plain_guided_source
from etude.learn.keyposes import CAMERAS, KeyposeSource, plain_keypose_source
from etude.learn.network_recipes import (
    ControllerRecipe,
    DeciderRecipe,
    HeatmapRecipe,
    ModelRecipe,
    PlannerRecipe,
    PointRecipe,
    TopdownRecipe,
)
from etude.learn.recipes import (
    ControlData,
    ControlRecipe,
    DecisionRecipe,
    DemonstrationData,
    GuidedData,
    GuidedRecipe,
    KeyposeData,
    KeyposeRecipe,
    PlanningData,
    PlanningRecipe,
    PointFlowRecipe,
    Recipe,
    ScheduleRecipe,
    StrokeRecipe,
    TopdownKeyposes,
    TrialData,
)
from etude.learn.samples import Look
from etude.learn.stream import Source
from etude.learn.subtasks import plain_subtask_source
from etude.learn.trials import TrialSource
from etude.names import EtudeError, decode, encode, pick, unknown
from etude.policies.contract import ANSWER
from etude.suites.suite import SUITES

LOOK_NAMES: dict[str, Look] = {"objects": "objects", "patches": "patches"}
CONDITIONINGS: dict[str, Literal["cross", "concat"]] = {"xattn": "cross", "concat": "concat"}
DECIDER, HEATMAPS, TOPDOWN, POINTS, CHUNKS, PLANNER = "decider", "heatmaps", "topdown", "points", "chunks", "planner"
CONTROLLERS: dict[str, tuple[ControllerRecipe, int, int]] = {  # with how many cameras, and windows in a batch: steps of about one cost
    "stream": (ControllerRecipe("stream", layers=3, looks=16, dropout=0.0), 2, 32),
    "window": (ControllerRecipe("window", dropout=0.0), 1, 256),
    "readout": (ControllerRecipe("readout", layers=5, dropout=0.0), 2, 192),
    "frame": (ControllerRecipe("frame", layers=3, looks=16, dropout=0.0), 2, 32),
}
"""The closed-loop policies that ClevrSkills compares (its table 4 says which cameras each has)."""


def recipe_names(suite: str) -> tuple[str, ...]:
    """The recipes of a suite: each is trained as SUITE/NAME."""
    if SUITES[suite].control == ANSWER:
        return (DECIDER,)
    planned = bool(SUITES[suite].asked_every)
    planners = (PLANNER,) if planned else ()
    keyposes = (HEATMAPS, TOPDOWN, POINTS)
    if SUITES[suite].control == "keypose":
        return (*keyposes, CHUNKS, *CONTROLLERS, *planners)
    strokes = (f"{look}-{conditioning}" for look in LOOK_NAMES for conditioning in CONDITIONINGS)
    return (*strokes, *CONTROLLERS, *(keyposes if SUITES[suite].keyposed else ()), *((CHUNKS,) if planned else ()), *planners)


def recipe_named(name: str, settings: Sequence[str] = ()) -> Recipe:
    """A recipe by its name, SUITE/NAME, with ``key=value`` settings such as ``schedule.batch=256``."""
    suite, slash, form = name.partition("/")
    if not slash:
        stem, suites = (suite, [suite]) if suite in SUITES else ("SUITE", [*SUITES])
        known = ", ".join(dict.fromkeys(one for each in suites for one in recipe_names(each)))
        raise EtudeError(f"{name!r} is not a recipe; expected {stem}/NAME with one of the names {known}")
    if form not in recipe_names(suite):
        raise unknown(f"recipe of {suite}", form, recipe_names(suite))
    found = _plain_recipe(suite, form)
    data = _changed(found, settings, "schedule.batch=256")
    _know(data)
    return Recipe.from_data(data)


def source_named(suite: str, settings: Sequence[str] = ()) -> Source:
    """The demonstrations of a suite, with ``key=value`` settings such as ``weights=twist:2``: those of a recipe's ``data.source``."""
    pick("suite", suite, SUITES)
    found: Source = decode(Source, _changed(Source(suite), settings, "seed=1"), "source")
    return found


def control_source_named(suite: str, settings: Sequence[str] = ()) -> ControlSource:
    """The same of closed-loop control, seen by two cameras."""
    pick("suite", suite, SUITES)
    plain = plain_source(suite, 2, ControllerRecipe.execute)
    found: ControlSource = decode(ControlSource, _changed(plain, settings, "levels=L0"), "source")
    return found


def _changed(found: Any, settings: Sequence[str], example: str) -> dict[str, Any]:
    data: dict[str, Any] = encode(found)
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign:
            raise EtudeError(f"{setting!r} is not of the form key=value, e.g. {example}")
        _set(found, data, key, key.split("."), value)
    return data


def _know(data: dict[str, Any]) -> None:
    """Have a recipe's plain data know its pretrained parts again wherever it is played, and the demonstrations told in its language."""
    model = data["model"]
    for part, kinds in (("language", LANGUAGES), ("vision", VISIONS)):
        if model.get(part):
            model[part] = placed(model[part], kinds)
            model.setdefault(f"{part}_digest", folder_digest(model[part]))
    if model.get("language"):
        data["data"]["source"].setdefault("language", model["language"])


def _plain_recipe(suite: str, form: str) -> Recipe:
    if form == DECIDER:
        return DecisionRecipe(DeciderRecipe(), TrialData(TrialSource(suite)), ScheduleRecipe(rate=5e-4, warmup=1000, steps=40_000))
    if form == HEATMAPS:
        return KeyposeRecipe(HeatmapRecipe(), _keyposes(plain_keypose_source(suite)), ScheduleRecipe(batch=48, rate=5e-4, steps=4000))
    if form == TOPDOWN:
        source = replace(plain_keypose_source(suite), cameras=(*CAMERAS, "overhead"), size=160)
        return TopdownKeyposes(TopdownRecipe(), _keyposes(source), ScheduleRecipe(batch=48, rate=5e-4, steps=8000))
    if form == POINTS:
        return PointFlowRecipe(PointRecipe(), _keyposes(plain_keypose_source(suite)), ScheduleRecipe(batch=48, rate=5e-4, steps=6000))
    if form == CHUNKS:
        controller = ControllerRecipe("chunks", layers=4, looks=1, chunk=50, execute=10, pointing=False)
        return GuidedRecipe(controller, GuidedData(plain_guided_source(suite)), ScheduleRecipe(batch=256, rate=5e-4, warmup=500))
    if form == PLANNER:
        schedule = ScheduleRecipe(batch=128, rate=5e-4, steps=4000)
        return PlanningRecipe(PlannerRecipe(), PlanningData(plain_subtask_source(suite)), schedule)
    if form in CONTROLLERS:
        controller, views, batch = CONTROLLERS[form]
        schedule = ScheduleRecipe(batch=batch, rate=8e-4, warmup=200)
        return ControlRecipe(controller, ControlData(plain_source(suite, views, controller.execute)), schedule)
    look, _, conditioning = form.partition("-")
    model = ModelRecipe(LOOK_NAMES[look], CONDITIONINGS[conditioning])
    return StrokeRecipe(model, DemonstrationData(Source(suite, look=model.look)))


def _keyposes(source: KeyposeSource) -> KeyposeData:
    """The whole list of a source, where it has one."""
    return KeyposeData(source, most=max(KeyposeData.most, source.count or 0))


def _set(value: Any, data: dict[str, Any], key: str, path: Sequence[str], text: str) -> None:
    """Change the plain data of a recipe, of which ``value`` tells the types: only all settings together have to make sense."""
    known = {f.name for f in fields(value)}
    if path[0] not in known:
        raise unknown(f"key of a recipe ({key}):", path[0], known)
    old = getattr(value, path[0])
    if len(path) > 1:
        if not is_dataclass(old):
            raise EtudeError(f"{key}: {path[0]!r} has no parts")
        _set(old, data.setdefault(path[0], encode(old)), key, path[1:], text)  # it may be one that is not written at its default
    elif is_dataclass(old):
        raise EtudeError(f"{key} has parts of its own: {', '.join(f'{key}.{f.name}' for f in fields(old))}")
    else:
        data[path[0]] = _plain(old, text, key)


def _plain(old: Any, text: str, key: str) -> Any:
    if isinstance(old, bool):
        if text.lower() not in ("true", "false"):
            raise EtudeError(f"{key} is true or false, got {text!r}")
        return text.lower() == "true"
    if isinstance(old, tuple):
        return [_pair(part, key) if ":" in part else part for part in text.split(",") if part]
    if isinstance(old, (int, float)):
        try:
            return type(old)(text)
        except ValueError:
            raise EtudeError(f"{key} is a number such as {old}, got {text!r}") from None
    return text


def _pair(part: str, key: str) -> list[Any]:
    name, _, number = part.partition(":")
    return [name, _plain(0.0, number, key)]
