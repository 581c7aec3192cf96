"""Recipes: what is trained, on which samples, and how. Small frozen values; a run prints its own and keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from etude.learn.control import ControlSource, DaggerRecipe
from etude.learn.folders import LANGUAGES, VISIONS, placed
from etude.learn.guided_control import GuidedSource
from etude.learn.keyposes import KeyposeSource
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
from etude.learn.samples import contract_for
from etude.learn.source import HELD_OUT, SampleSource
from etude.learn.stream import Source
from etude.learn.subtasks import SubtaskSource
from etude.learn.trials import TrialSource, contract_of
from etude.names import SPARSE, EtudeError, Family, decode, encode, parse_json
from etude.policies.contract import Contract

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
    """Demonstrations. Slots are shuffled anew whenever a step is drawn, unless ``shuffle`` is off. ``stored``: the folder of a dataset
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
        """The folder of a dataset that is learned from instead of a stream."""
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
            raise EtudeError(f"a stored dataset has objects to learn from, but the model sees {self.model.look}")
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
        if self.model.execute % (every := self.data.source.every):
            told = f"{self.model.execute} and {every}; set both"
            raise EtudeError(f"model.execute must be a multiple of data.source.every, the steps from look to look; got {told}")
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
