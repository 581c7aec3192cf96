"""Recipes: what is trained, on which samples, and how. Small frozen values; a run prints its own and keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from etude.learn.control import ControlSource, plain_source
from etude.learn.keyposes import KeyposeSource, plain_keypose_source
from etude.learn.network_recipes import ControllerRecipe, DeciderRecipe, HeatmapRecipe, ModelRecipe, PlannerRecipe
from etude.learn.samples import Look, contract_for
from etude.learn.source import HELD_OUT, SampleSource
from etude.learn.stream import Source
from etude.learn.subtasks import SubtaskSource, plain_subtask_source
from etude.learn.trials import TrialSource, contract_of
from etude.learn.wording import language_digest, placed_language
from etude.names import SPARSE, EtudeError, Family, decode, encode, parse_json, pick, unknown
from etude.policies.contract import ANSWER, Contract
from etude.suites.suite import SUITES

SEEDS = 1 << 20  # of a schedule


@dataclass(frozen=True)
class DataRecipe:
    """The stream. Training begins with ``start`` episodes; ``fresh`` come with every step until there are ``most``."""

    source: SampleSource
    start: int = 2000
    fresh: int = 8
    most: int = 200_000


@dataclass(frozen=True)
class DemonstrationData(DataRecipe):
    """Demonstrations. Slots are shuffled anew whenever a step is drawn, unless ``shuffle`` is off. ``stored``: the folder of a data set
    that stands in for the stream."""

    source: Source
    shuffle: bool = True
    stored: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True)
class TrialData(DataRecipe):
    """Trials: they come faster than demonstrations."""

    source: TrialSource
    start: int = 20_000
    fresh: int = 64
    most: int = 1_000_000


@dataclass(frozen=True)
class KeyposeData(DataRecipe):
    """Episodes of keyposes: few, and megabytes each. ``by_subtask``: the share of keyposes that are told by their sub-task, as a planner
    would, and not by the task."""

    source: KeyposeSource
    start: int = 200
    fresh: int = 1
    most: int = 2000
    by_subtask: float = 0.5


@dataclass(frozen=True)
class ControlData(DataRecipe):
    """Whole episodes of closed-loop control: each has many windows to learn from, and takes megabytes."""

    source: ControlSource
    start: int = 200
    fresh: int = 1
    most: int = 6000


@dataclass(frozen=True)
class PlanningData(DataRecipe):
    """Episodes of questions for a planner. ``forget``: the share of questions that do not tell the sub-task before; ``again``: the share
    that tell the one that is worked on, as when it was tried and failed."""

    source: SubtaskSource
    start: int = 200
    fresh: int = 1
    most: int = 2000
    forget: float = 0.25
    again: float = 0.25


@dataclass(frozen=True)
class ScheduleRecipe:
    """How it is trained: AdamW with warm-up and cosine, gradients clipped, weights averaged (``ema`` is the share kept at a step)."""

    batch: int = 512
    rate: float = 1e-3
    warmup: int = 300
    decay: float = 0.05
    clip: float = 1.0
    ema: float = 0.999
    steps: int = 10_000
    seed: int = 0


@dataclass(frozen=True)
class Recipe(Family):
    """A training run. Its kind says what is learned, and with that which model, samples and buffer are its own
    (:mod:`etude.learn.kinds`)."""

    model: ModelRecipe | DeciderRecipe | ControllerRecipe | HeatmapRecipe | PlannerRecipe
    data: DataRecipe
    schedule: ScheduleRecipe = field(default_factory=ScheduleRecipe)

    def __post_init__(self) -> None:
        if self.data.source.seed == HELD_OUT:
            raise EtudeError("the demonstrations are those that are held out for validation; choose a smaller data.source.seed")
        if self.model.width % self.model.heads:
            raise EtudeError(f"a width of {self.model.width} cannot be parted among {self.model.heads} heads")
        if not 0 <= self.schedule.seed < SEEDS:
            raise EtudeError(f"schedule.seed is a whole number from 0 to {SEEDS - 1}, got {self.schedule.seed}")
        for name in ("batch", "steps"):
            if getattr(self.schedule, name) < 1:
                raise EtudeError(f"schedule.{name} must be at least 1, got {getattr(self.schedule, name)}")
        if not 1 <= self.data.start <= self.data.most:
            raise EtudeError(f"data.start must be from 1 to data.most ({self.data.most}), got {self.data.start}")

    @property
    def contract(self) -> Contract:
        """What the policy asks of an environment."""
        raise NotImplementedError

    @property
    def shuffles(self) -> bool:
        """Has a sample an order that is to mean nothing?"""
        return False

    @property
    def plans(self) -> bool:
        """Does it say what to do, for others to do it?"""
        return False

    @property
    def stored(self) -> str:
        """The folder of a data set that is learned from instead of a stream."""
        return ""

    @property
    def language(self) -> str:
        """Whose words are read (:mod:`etude.learn.wording`)."""
        return ""

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        data: dict[str, Any] = encode(self)
        return data

    @classmethod
    def from_data(cls, data: Any) -> Recipe:
        """From plain JSON data. The first checkpoints had no kind: there were strokes alone."""
        found: Recipe = decode(Recipe, {"kind": StrokeRecipe.json_kind, **data} if isinstance(data, dict) else data, "recipe")
        return found


@dataclass(frozen=True)
class StrokeRecipe(Recipe, kind="strokes"):
    """Strokes from place to place, learned from the oracle's."""

    model: ModelRecipe
    data: DemonstrationData

    def __post_init__(self) -> None:
        if self.model.look != self.data.source.look:
            raise EtudeError(f"the model sees {self.model.look}, but its demonstrations are in {self.data.source.look}")
        if self.data.stored and self.model.look != "objects":
            raise EtudeError(f"a stored data set has objects to learn from, but the model sees {self.model.look}")
        if self.model.language != self.data.source.language:
            raise EtudeError(
                f"the model's language is {self.model.language!r}, but its demonstrations are told in {self.data.source.language!r}; "
                "set model.language alone"
            )
        super().__post_init__()

    @property
    def contract(self) -> Contract:
        """Both views of the table, and prompts in the same views."""
        return contract_for(self.model.look)

    @property
    def shuffles(self) -> bool:
        """Slots."""
        return self.data.shuffle

    @property
    def stored(self) -> str:
        """A set of demonstrations."""
        return self.data.stored

    @property
    def language(self) -> str:
        """That of the prompts."""
        return self.model.language


@dataclass(frozen=True)
class DecisionRecipe(Recipe, kind="decisions"):
    """Answers to what is asked about frames."""

    model: DeciderRecipe
    data: TrialData

    @property
    def contract(self) -> Contract:
        """A trial whole."""
        return contract_of(self.data.source.size)


@dataclass(frozen=True)
class KeyposeRecipe(Recipe, kind="keyposes"):
    """Where the tip shall go next, from the cloud that cameras see."""

    model: HeatmapRecipe
    data: KeyposeData

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model.size < 8 or self.model.size % 8:
            raise EtudeError(f"model.size must be a multiple of 8, the pixels of a patch, got {self.model.size}")
        if not 0 < self.model.zoom <= self.data.source.side:
            raise EtudeError(f"model.zoom must be more than 0 and at most the cube's {self.data.source.side:g} m, got {self.model.zoom:g}")
        if not 0 <= self.data.by_subtask <= 1:
            raise EtudeError(f"data.by_subtask is a share from 0 to 1, got {self.data.by_subtask:g}")

    @property
    def contract(self) -> Contract:
        """Clouds of its cameras, words, keyposes."""
        return self.data.source.contract

    @property
    def shuffles(self) -> bool:
        """Keyposes and their words are drawn."""
        return True


@dataclass(frozen=True)
class ControlRecipe(Recipe, kind="control"):
    """Chunks of actions in closed loop, from what cameras see and the robot feels."""

    model: ControllerRecipe
    data: ControlData

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model.looks < 1:
            raise EtudeError(f"model.looks must be at least 1, got {self.model.looks}")
        _refuse_grid(self.data.source.size, self.model.grid)
        _ = self.contract  # refuses chunks that cannot be carried out

    @property
    def contract(self) -> Contract:
        """Frames of its cameras, the prompt once, chunks of actions."""
        return self.data.source.contract(self.model.chunk, self.model.execute)

    @property
    def shuffles(self) -> bool:
        """The moments that are learned from are drawn."""
        return True


@dataclass(frozen=True)
class PlanningRecipe(Recipe, kind="planning"):
    """Which sub-task comes next, from what cameras see, the instruction and the sub-task before."""

    model: PlannerRecipe
    data: PlanningData

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_grid(self.data.source.size, self.model.grid)
        shares = self.data.forget, self.data.again
        if min(shares) < 0 or sum(shares) > 1:
            raise EtudeError(f"data.forget and data.again are shares, together at most 1, got {shares[0]:g} and {shares[1]:g}")

    @property
    def contract(self) -> Contract:
        """Frames of its cameras."""
        return self.data.source.contract

    @property
    def shuffles(self) -> bool:
        """Questions, and what they tell, are drawn."""
        return True

    @property
    def plans(self) -> bool:
        """It does."""
        return True


def _refuse_grid(size: int, grid: int) -> None:
    if grid < 1 or size % (8 * grid):
        raise EtudeError(f"frames of {size} pixels have no {grid}×{grid} tokens; expected a size that is a multiple of {8 * grid}")


def recipe_in(metadata: Mapping[str, str], language: str = "") -> Recipe:
    """The recipe that a checkpoint holds; its pretrained ``language`` may lie elsewhere now."""
    found = Recipe.from_data(parse_json(metadata["recipe"]))
    if not language:
        return found
    if not isinstance(found, StrokeRecipe) or not found.language:
        raise EtudeError(f"this policy has learned its words from scratch; {language!r} is of no use to it")
    placed = placed_language(language)
    source = replace(found.data.source, language=placed)
    return replace(found, model=replace(found.model, language=placed), data=replace(found.data, source=source))


LOOK_NAMES: dict[str, Look] = {"objects": "objects", "patches": "patches"}
CONDITIONINGS: dict[str, Literal["cross", "concat"]] = {"xattn": "cross", "concat": "concat"}
DECIDER, HEATMAPS, PLANNER = "decider", "heatmaps", "planner"
CONTROLLERS: dict[str, tuple[ControllerRecipe, int, int]] = {  # with how many cameras, and windows in a batch: all learn from as many looks
    "stream": (ControllerRecipe("stream", layers=4, looks=16), 2, 32),
    "window": (ControllerRecipe("window"), 1, 512),
    "readout": (ControllerRecipe("readout", layers=5), 2, 512),
    "frame": (ControllerRecipe("frame", layers=4, looks=16), 2, 32),
}
"""The closed-loop policies that ClevrSkills compares (its table 4 says which cameras each has)."""


def recipe_names(suite: str) -> tuple[str, ...]:
    """The recipes of a suite: each is trained as SUITE/NAME."""
    if SUITES[suite].control == ANSWER:
        return (DECIDER,)
    planners = (PLANNER,) if SUITES[suite].asked_every else ()
    if SUITES[suite].control == "keypose":
        return (HEATMAPS, *CONTROLLERS, *planners)
    return (*(f"{look}-{conditioning}" for look in LOOK_NAMES for conditioning in CONDITIONINGS), *CONTROLLERS, *planners)


def recipe_named(name: str, settings: Sequence[str] = ()) -> Recipe:
    """A recipe by its name, SUITE/NAME, with ``key=value`` settings such as ``schedule.batch=256``."""
    suite, slash, form = name.partition("/")
    if not slash:
        known = ", ".join(dict.fromkeys(one for each in SUITES for one in recipe_names(each)))
        raise EtudeError(f"{name!r} is not a recipe; expected SUITE/NAME with one of the names {known}")
    if form not in recipe_names(suite):
        raise unknown(f"recipe of {suite}", form, recipe_names(suite))
    found = _plain_recipe(suite, form)
    data = _changed(found, settings, "schedule.batch=256")
    if data["model"].get("language"):
        _know(data)
    return Recipe.from_data(data)


def source_named(suite: str, settings: Sequence[str] = ()) -> Source:
    """The demonstrations of a suite, with ``key=value`` settings such as ``weights=twist:2``: those of a recipe's ``data.source``."""
    pick("suite", suite, SUITES)
    found: Source = decode(Source, _changed(Source(suite), settings, "seed=1"), "source")
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
    """Have the plain data of a recipe know its pretrained language again, wherever it is played, and the demonstrations told in it."""
    model = data["model"]
    model["language"] = language = placed_language(model["language"])
    model.setdefault("language_digest", language_digest(language))
    data["data"]["source"].setdefault("language", language)


def _plain_recipe(suite: str, form: str) -> Recipe:
    if form == DECIDER:
        return DecisionRecipe(DeciderRecipe(), TrialData(TrialSource(suite)), ScheduleRecipe(rate=5e-4, warmup=1000, steps=40_000))
    if form == HEATMAPS:
        return KeyposeRecipe(HeatmapRecipe(), KeyposeData(plain_keypose_source(suite)), ScheduleRecipe(batch=48, rate=5e-4, steps=4000))
    if form == PLANNER:
        schedule = ScheduleRecipe(batch=128, rate=5e-4, steps=4000)
        return PlanningRecipe(PlannerRecipe(), PlanningData(plain_subtask_source(suite)), schedule)
    if form in CONTROLLERS:
        controller, views, batch = CONTROLLERS[form]
        schedule = ScheduleRecipe(batch=batch, rate=5e-4, warmup=500)
        return ControlRecipe(controller, ControlData(plain_source(suite, views)), schedule)
    look, _, conditioning = form.partition("-")
    model = ModelRecipe(LOOK_NAMES[look], CONDITIONINGS[conditioning])
    return StrokeRecipe(model, DemonstrationData(Source(suite, look=model.look)))


def _set(value: Any, data: dict[str, Any], key: str, path: Sequence[str], text: str) -> None:
    """Change the plain data of a recipe, of which ``value`` tells the types: only all settings together have to make sense."""
    known = {f.name for f in fields(value)}
    if path[0] not in known:
        raise unknown(f"key of a recipe ({key}):", path[0], known)
    old = getattr(value, path[0])
    if len(path) > 1:
        if not is_dataclass(old):
            raise EtudeError(f"{key}: {path[0]!r} has no parts")
        _set(old, data[path[0]], key, path[1:], text)
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
