"""A training run in a folder: begun or resumed, validated and kept while it goes, and stopped without a loss."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import FrameType

import torch

from etude.evaluation.plan import Plan
from etude.evaluation.ray_team import RaySettings
from etude.evaluation.run import Quiet, RunSettings, evaluate
from etude.evaluation.store import read_run, write_whole
from etude.learn.checkpoint import save_model
from etude.learn.cluster_stream import ClusterStream
from etude.learn.control import ControlSource
from etude.learn.curve import Curve, CurvePoint, measured, write_page
from etude.learn.dagger import played_round
from etude.learn.header import NAME, checkpoint_bytes, metadata_in
from etude.learn.models.cogelot import parameters_of
from etude.learn.ranks import Ranks
from etude.learn.recipes import Recipe
from etude.learn.saved_stream import SavedStream
from etude.learn.state import StateForm, has_state
from etude.learn.stored import stored
from etude.learn.stream import GivenSamples, OrderedStream, Samples, SampleStream
from etude.learn.train import EVERY, Trainer, train
from etude.names import EpisodeName, EtudeError, parse_json

RECIPE, MEASURED = "recipe.json", "measured.json"
TELL = 10 * EVERY  # steps between lines of progress, where they are fast
SILENCE = 30.0  # seconds after which the next point of the curve has a line


@dataclass(frozen=True)
class TrainingSettings:
    """How a recipe is trained; apart from ``minutes``, none of it changes what is learned.

    ``minutes``: the clock is the schedule. ``validate``: so many episodes of the training split that nobody trains on are played at the
    end, and for ``every`` so many steps. ``state``: "full" goes on exactly, "compact" nearly, from two thirds of the room. ``keep``:
    minutes of training between two states. ``stream``: the folder of a saved stream that is read instead of being played, or the cluster
    that plays it. ``begin``: the checkpoint whose weights a recipe that has ``begun`` goes on from; where training was begun before, they
    are not needed any more.
    """

    workers: int = 1
    minutes: float | None = None
    validate: int = 0
    every: int = 0
    state: StateForm = "full"
    keep: float = 5.0
    stream: Path | RaySettings | None = None
    begin: Path | None = None

    def __post_init__(self) -> None:
        if self.minutes is not None and self.minutes <= 0:
            raise EtudeError(f"training lasts more than 0 minutes, got {self.minutes:g}")
        if self.every and not self.validate:
            raise EtudeError("--every says how often episodes are played while training; --validate says how many")
        if self.keep <= 0:
            raise EtudeError(f"there must be some minutes between two states, got {self.keep:g}")


class Stopping:
    """SIGINT and SIGTERM end training between two steps; what can be done again is broken off :meth:`at_once`."""

    def __init__(self) -> None:
        self.asked = False
        self._at_once = False

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if self._at_once:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """While training goes on."""
        if threading.current_thread() is not threading.main_thread():  # where no signal arrives
            yield
            return
        before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """While something is done that nothing is lost by."""
        if self.asked:
            raise KeyboardInterrupt
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False


def run(
    recipe: Recipe,
    folder: Path,
    device: torch.device,
    settings: TrainingSettings,
    say: Callable[[str], None] = lambda text: None,
) -> Trainer:
    """Train a recipe from its stream, or from a stored set, into a folder; a folder that holds a state of the same recipe is resumed.

    An interrupt ends it after the step that is being made, and what was reached is kept.
    """
    _refuse_misfits(recipe)
    if isinstance(settings.stream, Path):
        _saved(recipe, settings.stream)
    elif settings.stream is not None and recipe.stored:
        raise EtudeError("a recipe learns from a stored set or from a cluster's stream, not from both")
    with Ranks(device) as ranks:
        trainer = Trainer(recipe, ranks.device, ranks)
        if ranks.device.type == "cuda":
            torch.set_float32_matmul_precision("high")  # what is not done in bfloat16 is done in TF32
        clock = settings.minutes is not None
        if has_state(folder):
            trainer.resume(folder, clock, bool(recipe.stored) or isinstance(settings.stream, Path))
        elif settings.begin is not None:
            trainer.begin(settings.begin)
        if recipe.dagger is not None and ranks.count > 1:
            raise EtudeError("episodes that the policy plays itself (data.dagger) are for one process; train without torchrun")
        if ranks.number:
            for _ in _training(trainer, settings, Stopping()):
                pass
            return trainer
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / RECIPE, json.dumps(recipe.to_data(), indent=1) + "\n")
        say(f"{parameters_of(trainer.model):,} parameters; recipe {json.dumps(recipe.to_data())}")
        _Keeping(trainer, folder, settings, say).train()
    return trainer


def _refuse_misfits(recipe: Recipe) -> None:
    """Raise if there is nothing to learn from, or nothing that the model could see and do; before anything is begun."""
    source, folder = recipe.data.source, recipe.stored
    if not folder:
        source.refuse_misfits()
        return
    _, name, _ = next(stored(Path(folder)), (0, "", None))
    if not name:
        raise EtudeError(f"the dataset {folder!r} holds no episode to learn from")
    if EpisodeName.parse(name).suite != source.suite:
        raise EtudeError(f"the dataset {folder!r} holds {name}; the recipe is for {source.suite}")


def _training(trainer: Trainer, settings: TrainingSettings, stopping: Stopping) -> Generator[CurvePoint, None, None]:
    """Points of the curve, until the end or an interrupt."""
    with stopping.listening(), _samples(trainer, settings) as source:
        dagger = trainer.recipe.dagger
        every = [n for n in (settings.every, dagger.every if dagger is not None else 0) if n]
        workers = source.workers if isinstance(source, OrderedStream) else settings.workers
        yield from train(trainer, source, settings.minutes, every, lambda: stopping.asked, workers * trainer.ranks.count)


def _samples(trainer: Trainer, settings: TrainingSettings) -> AbstractContextManager[Samples]:
    """This rank's part of them. A stream begins with a multiple of the number of ranks, so that no two have an episode in common."""
    ranks, recipe = trainer.ranks, trainer.recipe
    if recipe.stored:
        return nullcontext(GivenSamples(stored(Path(recipe.stored), recipe.language), ranks.number, ranks.count))
    if isinstance(settings.stream, Path):
        return nullcontext(_saved(recipe, settings.stream, ranks.number, ranks.count))
    first = -(-trainer.next // ranks.count) * ranks.count
    if settings.stream is not None:
        return ClusterStream(recipe.data.source, settings.stream, first + ranks.number, ranks.count)
    return SampleStream(recipe.data.source, settings.workers, first + ranks.number, ranks.count)


def _saved(recipe: Recipe, folder: Path, first: int = 0, stride: int = 1) -> SavedStream:
    if recipe.stored:
        raise EtudeError("a recipe learns from a stored set or from a saved stream, not from both")
    return SavedStream(folder, recipe.data.source, first, stride)


def _policy_steps(folder: Path) -> int:
    """After how many steps the policy of a run was written: the state comes before it, and somebody may have been killed between them."""
    try:
        return int(parse_json(metadata_in(checkpoint_bytes(folder / NAME), folder)["history"])["steps"])
    except (EtudeError, KeyError):  # there is none, or no whole one
        return -1


class _Keeping:
    """The first rank's part: the curve, states and validations."""

    def __init__(self, trainer: Trainer, folder: Path, settings: TrainingSettings, say: Callable[[str], None]) -> None:
        self._trainer, self._folder, self._settings, self._say = trainer, folder, settings, say
        self._curve = Curve(folder, trainer.done)
        self._stopping = Stopping()
        self._kept = trainer.done if has_state(folder) and _policy_steps(folder) == trainer.done else -1  # the step of state and policy
        self._rounds = 0  # of episodes that the policy played itself, in the buffer

    def train(self) -> None:
        """Train to the end, or until somebody asks for one; who asks again while the last state is written does not break it off."""
        with self._stopping.listening():
            self._train()

    def _train(self) -> None:
        trainer, settings = self._trainer, self._settings
        self._play()
        last = said = time.monotonic()
        with contextlib.closing(_training(trainer, settings, self._stopping)) as points:
            for point in points:
                self._curve.add(point)
                due = bool(settings.every) and point.step % settings.every == 0
                if due or self._behind or time.monotonic() - last > 60 * settings.keep:
                    self._keep()
                    last = time.monotonic()
                self._play()
                if due:
                    with contextlib.suppress(KeyboardInterrupt):  # the state is kept already, and training ends at the next look
                        self._validate(point)
                if due or point.step % TELL == 0 or time.monotonic() - said > SILENCE:
                    said = time.monotonic()
                    self._say(self._curve.points[-1].told(None if settings.minutes else trainer.recipe.schedule.steps))
        if trainer.done != self._kept:
            self._keep()
        if self._stopping.asked:
            self._say(f"stopped after step {trainer.done}, which is saved; repeat the command to resume")
            raise KeyboardInterrupt
        if self._curve.points:
            if settings.validate:
                self._judge(self._curve.points[-1])
            self._tell()

    @property
    def _behind(self) -> bool:
        """Shall the policy play before the next step?"""
        trainer, dagger = self._trainer, self._trainer.recipe.dagger
        ends = self._settings.minutes is None and trainer.done >= trainer.recipe.schedule.steps
        return dagger is not None and not ends and self._rounds < trainer.done // dagger.every

    def _play(self) -> None:
        """Have the rounds that are due played by the averaged weights, or read again those that were."""
        trainer, dagger, source = self._trainer, self._trainer.recipe.dagger, self._trainer.recipe.data.source
        while self._behind and not self._stopping.asked:
            assert dagger is not None and isinstance(source, ControlSource)
            number = self._rounds + 1
            with contextlib.suppress(KeyboardInterrupt), self._stopping.at_once():  # what was played stays, and training ends soon

                def save(path: Path) -> None:
                    save_model(path, trainer.averaged, trainer.recipe, steps=trainer.done)

                found = played_round(self._folder, number, source, dagger, trainer.device.type, save)
                trainer.add_own(found)
                self._rounds = number
                self._say(f"round {number}: {len(found)} of {dagger.episodes} episodes that the policy played itself are learned from")

    def _keep(self) -> None:
        trainer, settings = self._trainer, self._settings
        trainer.save(self._folder, settings.state, settings.minutes is not None, workers=settings.workers, device=trainer.device.type)
        self._kept = trainer.done
        if self._curve.points:
            write_page(self._folder, self._curve.points, trainer.recipe.to_data())

    def _validate(self, point: CurvePoint) -> None:
        """Play held-out episodes, as a run of its own, and tell the curve."""
        held_out, count = self._trainer.recipe.data.source.held_out(), self._settings.validate
        folder = self._validation(point)
        shutil.rmtree(folder, ignore_errors=True)  # of weights that are no more, where training went on from an earlier step
        address, names = f"learned:{self._folder}?device={self._trainer.device.type}", tuple(held_out.names(count))
        # What a planner says is done by the oracle: then success is its own.
        plan = Plan("oracle", names, address, ("planner",)) if self._trainer.recipe.plans else Plan(address, names)
        with self._stopping.at_once():
            played = evaluate(plan, folder, RunSettings(), Quiet())
        self._curve.add(replace(point, success=sum(record.success for record in played.records) / count, validated=count))
        write_page(self._folder, self._curve.points, self._trainer.recipe.to_data())

    def _validation(self, point: CurvePoint) -> Path:
        return self._folder / f"validation-{point.step}"

    def _judge(self, last: CurvePoint) -> None:
        """At the end: what was played as a table, and what it would have done beside what is right, on the same episodes."""
        trainer, count = self._trainer, self._settings.validate
        if last.validated != count:
            self._validate(last)
        with self._stopping.at_once(), SampleStream(trainer.recipe.data.source.held_out(), self._settings.workers) as stream:
            self._say(trainer.kind.judged(trainer.averaged, list(islice(stream, count)), trainer.device))
        self._say(str(read_run(self._validation(last)).table()))

    def _tell(self) -> None:
        numbers = measured(self._curve.points)
        write_whole(self._folder / MEASURED, json.dumps(numbers, indent=1) + "\n")
        self._say(json.dumps(numbers))
