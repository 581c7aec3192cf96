"""The networks of recipes, as small frozen values: what each is made of, and how large."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from etude.learn.folders import DECODERS, LANGUAGES, T5, VISIONS, parted
from etude.learn.samples import Look
from etude.names import SPARSE, EtudeError


@dataclass(frozen=True)
class ModelRecipe:
    """The network. ``conditioning``: how it looks at the prompt; then it has ``layers``, or ``concat_layers`` of about the same size.

    ``chained``: numbers of a stroke are decided one after the other, not each on its own. ``pointing``: places are told from things, not
    only in bins of the table. ``slot_positions``: it knows slots by number. ``jitter``: how much the colours of crops vary in training.

    ``language``: t5:FOLDER has a pretrained T5, known by its ``language_digest``, read prompts in place of words and ``prompt_layers``
    that learn from scratch; its last ``language_layers`` learn.
    """

    look: Look = "objects"
    conditioning: Literal["cross", "concat"] = "cross"
    width: int = 192
    heads: int = 6
    prompt_layers: int = 2
    layers: int = 4
    concat_layers: int = 5
    head_layers: int = 1
    dropout: float = 0.1
    chained: bool = True
    pointing: bool = True
    slot_positions: bool = False
    jitter: float = 0.1
    language: str = field(default="", metadata=SPARSE)
    language_digest: str = field(default="", metadata=SPARSE)
    language_layers: int = field(default=0, metadata=SPARSE)

    def __post_init__(self) -> None:
        if self.language_layers < 0:
            raise EtudeError(f"model.language_layers must be at least 0, got {self.language_layers}")
        if self.language:
            parted(self.language, (T5,))
        if self.language_layers and not self.language:
            raise EtudeError("model.language_layers are of a pretrained language, and there is none; set model.language=t5:FOLDER too")


@dataclass(frozen=True)
class DeciderRecipe:
    """The network of a decider. ``sees``: frames alone make a deaf copy, the instruction alone a blind one."""

    sees: Literal["both", "frames", "instruction"] = "both"
    width: int = 192
    heads: int = 6
    layers: int = 8
    dropout: float = 0.1
    jitter: float = 0.1


Form = Literal["stream", "window", "readout", "frame", "chunks"]
TRUNKED: tuple[Form, ...] = ("stream", "frame")  # whose trunk can be a pretrained language model


@dataclass(frozen=True)
class ControllerRecipe:
    """The network of a closed-loop policy. ``looks``: so many are known at once, ``execute`` control steps apart, after each of which a
    ``chunk`` of actions is given; ``grid``: tokens along each side of a frame; ``hidden``: of a recurrent head. ``error``: what counts of
    how far the arm's actions are from the oracle's, where no noise flows. ``sees``: frames alone make a deaf copy, the instruction alone a
    blind one, which still feels where its arm is. ``pointing``: it learns to find things by their looks, and where the oracle brings the
    hand, and acts by that.

    Pretrained parts, known by their digests: ``language`` is t5:FOLDER, which reads prompts, or opt:FOLDER or llama:FOLDER, which is the
    trunk of ``stream`` and ``frame``; ``vision`` is vit:FOLDER, which looks at frames. They are frozen; with ``adapters``, matrices of this
    rank learn beside the queries and values of their attention.
    """

    form: Form = "window"
    width: int = 192
    heads: int = 6
    eye_layers: int = 2
    prompt_layers: int = 2
    layers: int = 6
    hidden: int = 256
    looks: int = 4
    chunk: int = 8
    execute: int = 4
    grid: int = 8
    dropout: float = 0.1
    jitter: float = 0.1
    pointing: bool = True
    error: Literal["squared", "absolute"] = field(default="squared", metadata=SPARSE)
    sees: Literal["both", "frames", "instruction"] = field(default="both", metadata=SPARSE)
    language: str = field(default="", metadata=SPARSE)
    language_digest: str = field(default="", metadata=SPARSE)
    vision: str = field(default="", metadata=SPARSE)
    vision_digest: str = field(default="", metadata=SPARSE)
    adapters: int = field(default=0, metadata=SPARSE)

    def __post_init__(self) -> None:
        if self.language:
            parted(self.language, LANGUAGES if self.form in TRUNKED else (T5,))
        if self.vision:
            parted(self.vision, VISIONS)
        if self.pointing and self.form == "chunks":
            raise EtudeError("model.pointing is for policies that look again after a few steps, not for chunks; set it to false")
        if self.adapters < 0:
            raise EtudeError(f"model.adapters is a rank, at least 0, got {self.adapters}")
        if self.adapters and not (self.language or self.vision):
            raise EtudeError("model.adapters are of pretrained parts, and there are none; set model.language or model.vision too")

    @property
    def trunked(self) -> bool:
        """Is its trunk a pretrained language model?"""
        return self.language.partition(":")[0] in DECODERS


@dataclass(frozen=True)
class KeyposeNetwork:
    """What networks of keypose policies share. ``sees``: the cloud alone makes a deaf copy, the instruction alone a blind one. ``turn``
    (degrees) and ``shift`` (m): how far clouds and labels are moved together in training, at most."""

    sees: Literal["both", "cloud", "instruction"] = "both"
    width: int = 192
    heads: int = 6
    layers: int = 5
    dropout: float = 0.1
    jitter: float = 0.1
    turn: float = 20.0
    shift: float = 0.08


@dataclass(frozen=True)
class HeatmapRecipe(KeyposeNetwork):
    """Heat maps. ``size``: pixels along each side of a view; ``zoom`` (m): the side of the cube that is looked at again, by a network of
    ``fine_layers``."""

    size: int = 112
    zoom: float = 0.3
    fine_layers: int = 4


@dataclass(frozen=True)
class TopdownRecipe(HeatmapRecipe):
    """The network of a keypose policy that looks at the table from above; ``layers`` of each stage are where words and map meet. Clouds
    are moved less than for heat maps, for what is left or in front is to stay so, and never up or down."""

    layers: int = 3
    fine_layers: int = 3
    jitter: float = 0.05
    size: int = 144
    turn: float = 10.0
    shift: float = 0.04


@dataclass(frozen=True)
class PointRecipe(KeyposeNetwork):
    """Point tokens and a flow. ``head_layers``: of what looks at the points from a pose on its way; ``steps``: from noise to a pose."""

    head_layers: int = 3
    steps: int = 5


@dataclass(frozen=True)
class PlannerRecipe:
    """The network of a planner. ``sees``: frames alone make a deaf copy, words alone a blind one. ``grid``: tokens along each side of a
    frame; ``readers``: layers in which what could be said looks at what is known; ``shift`` (pixels): how far frames are moved in training,
    at most."""

    sees: Literal["both", "frames", "words"] = "both"
    width: int = 192
    heads: int = 6
    layers: int = 4
    readers: int = 2
    grid: int = 8
    dropout: float = 0.1
    jitter: float = 0.1
    shift: int = 6
