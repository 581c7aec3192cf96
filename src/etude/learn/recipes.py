"""Recipes: what is trained, on which samples, and how. Small frozen values; a run prints its own and keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from etude.learn.control import ControlSource, DaggerRecipe, plain_source
from etude.learn.folders import LANGUAGES, VISIONS, folder_digest, placed
from etude.learn.guided_control import GuidedSource, plain_guided_source
from etude.learn.keyposes import CAMERAS, KeyposeSource, plain_keypose_source
from etude.learn.network_recipes import (
    ControllerRecipe,
    DeciderRecipe,
    HeatmapRecipe,
    KeyposeNetwork,
    ModelRecipe,
    PlannerRecipe,
    PointRecipe,
    TopdownRecipe,
)
from etude.learn.samples import Look, contract_for
from etude.learn.source import HELD_OUT, SampleSource
from etude.learn.stream import Source
from etude.learn.subtasks import SubtaskSource, plain_subtask_source
from etude.learn.trials import TrialSource, contract_of
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
    """Whole episodes of closed-loop control: each has many windows to learn from, and takes megabytes. ``dagger``: some that the policy
    plays itself."""

    source: ControlSource
    start: int = 200
    fresh: int = 1
    most: int = 6000
    dagger: DaggerRecipe = field(default=DaggerRecipe(), metadata=SPARSE)


@dataclass(frozen=True)
class GuidedData(ControlData):
    """The same with sub-tasks. ``by_subtask``: the share of looks that are told by their sub-task, as a planner would, and not by the
    task."""

    source: GuidedSource
    by_subtask: float = 0.5


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
    (:mod:`etude.learn.kinds`). ``begun``: the digest of the weights that it goes on from, as a training of its own."""

    model: ModelRecipe | DeciderRecipe | ControllerRecipe | KeyposeNetwork | PlannerRecipe
    data: DataRecipe
    schedule: ScheduleRecipe = field(default_factory=ScheduleRecipe)
    begun: str = field(default="", metadata=SPARSE)

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

    @property
    def dagger(self) -> DaggerRecipe | None:
        """What the policy plays itself while it is trained."""
        return None

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
        _refuse_two_languages(self.model, self.data.source)
        if self.model.look != self.data.source.look:
            raise EtudeError(f"the model sees {self.model.look}, but its demonstrations are in {self.data.source.look}")
        if self.data.stored and self.model.look != "objects":
            raise EtudeError(f"a stored data set has objects to learn from, but the model sees {self.model.look}")
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
class _KeyposeRecipe(Recipe):
    model: KeyposeNetwork
    data: KeyposeData

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_no_share(self.data.by_subtask)

    @property
    def contract(self) -> Contract:
        """Clouds of its cameras, words, keyposes."""
        return self.data.source.contract

    @property
    def shuffles(self) -> bool:
        """Keyposes and their words are drawn."""
        return True


@dataclass(frozen=True)
class KeyposeRecipe(_KeyposeRecipe, kind="keyposes"):
    """Where the tip shall go next, from heat maps of the cloud that cameras see."""

    model: HeatmapRecipe

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model.size < 8 or self.model.size % 8:
            raise EtudeError(f"model.size must be a multiple of 8, the pixels of a patch, got {self.model.size}")
        if not 0 < self.model.zoom <= self.data.source.side:
            raise EtudeError(f"model.zoom must be more than 0 and at most the cube's {self.data.source.side:g} m, got {self.model.zoom:g}")


@dataclass(frozen=True)
class TopdownKeyposes(KeyposeRecipe, kind="topdown"):
    """The same, from a map of the table."""

    model: TopdownRecipe


@dataclass(frozen=True)
class PointFlowRecipe(_KeyposeRecipe, kind="points"):
    """Where the tip shall go next, flowing out of noise among the points that cameras see."""

    model: PointRecipe

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data.source.size % 8:
            raise EtudeError(f"data.source.size must be a multiple of 8, the pixels of a token, got {self.data.source.size}")
        if self.model.steps < 1:
            raise EtudeError(f"model.steps must be at least 1, got {self.model.steps}")


@dataclass(frozen=True)
class ControlRecipe(Recipe, kind="control"):
    """Chunks of actions in closed loop, from what cameras see and the robot feels."""

    model: ControllerRecipe
    data: ControlData

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_two_languages(self.model, self.data.source)
        if self.model.looks < 1:
            raise EtudeError(f"model.looks must be at least 1, got {self.model.looks}")
        _refuse_grid(self.data.source.size, self.model.grid)
        _ = self.contract  # refuses chunks that cannot be carried out

    @property
    def contract(self) -> Contract:
        """Frames of its cameras, the prompt once, chunks of actions."""
        return self.data.source.contract(self.model.chunk, self.model.execute)

    @property
    def dagger(self) -> DaggerRecipe | None:
        """Rounds of episodes, where a share of what is drawn shall be of them."""
        return self.data.dagger if self.data.dagger.share else None

    @property
    def shuffles(self) -> bool:
        """The moments that are learned from are drawn."""
        return True

    @property
    def language(self) -> str:
        """That of the prompts."""
        return self.model.language


@dataclass(frozen=True)
class GuidedRecipe(ControlRecipe, kind="guided-control"):
    """Chunks of actions in closed loop, told by tasks and by sub-tasks."""

    data: GuidedData

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_no_share(self.data.by_subtask)
        if self.data.by_subtask and self.model.looks > 1:
            raise EtudeError(
                f"who is told anew forgets what was seen before: model.looks must be 1, or data.by_subtask 0; got {self.model.looks}"
            )


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


def _refuse_no_share(by_subtask: float) -> None:
    if not 0 <= by_subtask <= 1:
        raise EtudeError(f"data.by_subtask is a share from 0 to 1, got {by_subtask:g}")


def _refuse_two_languages(model: ModelRecipe | ControllerRecipe, source: Source | ControlSource) -> None:
    if model.language != source.language:
        told = f"the model's language is {model.language!r}, but its demonstrations are told in {source.language!r}"
        raise EtudeError(f"{told}; set model.language alone")


def _refuse_grid(size: int, grid: int) -> None:
    if grid < 1 or size % (8 * grid):
        raise EtudeError(f"frames of {size} pixels have no {grid}×{grid} tokens; expected a size that is a multiple of {8 * grid}")


def recipe_in(metadata: Mapping[str, str], language: str = "", vision: str = "") -> Recipe:
    """The recipe that a checkpoint holds; its pretrained ``language`` and ``vision`` may lie elsewhere now."""
    found = Recipe.from_data(parse_json(metadata["recipe"]))
    data = found.to_data()
    if language:
        if not found.language:
            raise EtudeError(f"this policy has learned its words from scratch; {language!r} is of no use to it")
        data["model"]["language"] = data["data"]["source"]["language"] = placed(language, LANGUAGES)
    if vision:
        if not data["model"].get("vision"):
            raise EtudeError(f"this policy has learned to see from scratch; {vision!r} is of no use to it")
        data["model"]["vision"] = placed(vision, VISIONS)
    return Recipe.from_data(data)


LOOK_NAMES: dict[str, Look] = {"objects": "objects", "patches": "patches"}
CONDITIONINGS: dict[str, Literal["cross", "concat"]] = {"xattn": "cross", "concat": "concat"}
DECIDER, HEATMAPS, TOPDOWN, POINTS, CHUNKS, PLANNER = "decider", "heatmaps", "topdown", "points", "chunks", "planner"
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
        return (HEATMAPS, TOPDOWN, POINTS, CHUNKS, *CONTROLLERS, *planners)
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
    found: ControlSource = decode(ControlSource, _changed(plain_source(suite, 2), settings, "levels=L0"), "source")
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
        controller = ControllerRecipe("chunks", layers=4, looks=1, chunk=50, execute=10)
        return GuidedRecipe(controller, GuidedData(plain_guided_source(suite)), ScheduleRecipe(batch=256, rate=5e-4, warmup=500))
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
