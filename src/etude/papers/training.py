"""The models of a paper, trained one after the other or some at a time: what they learn from is played once, and those that go on from
others come after."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import DEVNULL, Popen

import torch

from etude.evaluation.local import exit_reason
from etude.learn.header import checkpoint_bytes, checkpoint_file, digest_of, metadata_in
from etude.learn.named_recipes import recipe_named
from etude.learn.recipes import Recipe
from etude.learn.saved_stream import PLAN, plan_of, save_stream
from etude.learn.stopping import stopped_by_term
from etude.learn.training_run import TrainingSettings, run
from etude.names import EtudeError, parse_json
from etude.papers.models import models_of
from etude.suites.paper import STREAMS, PaperModel

LOOK = 0.5  # seconds between looks at processes that train


@dataclass(frozen=True)
class ModelTraining:
    """Where and how the models of a paper are trained. ``settings`` are those that all have besides their own; with ``minutes`` each is
    trained so long by the clock, and not to its number of steps."""

    suite: str
    folder: Path
    device: torch.device
    workers: int
    settings: tuple[str, ...] = ()
    say: Callable[[str], None] = lambda text: None
    minutes: float | None = None

    def recipe(self, model: PaperModel) -> Recipe:
        """What is trained under a model's name."""
        found = recipe_named(f"{self.suite}/{model.recipe}", model.settings)
        if not model.begins:
            return found
        before = self.folder / model.begins
        if not self.trained(model.begins):
            raise EtudeError(f"{model.name} goes on from {model.begins}, which is not trained to its end in {self.folder}; train it first")
        return replace(found, begun=digest_of(checkpoint_bytes(checkpoint_file(before))))

    def trained(self, name: str) -> bool:
        """Is a model trained to the end of its schedule?"""
        file = checkpoint_file(self.folder / name)
        if not file.exists():
            return False
        metadata = metadata_in(checkpoint_bytes(file), file)
        kept, history = Recipe.from_data(parse_json(metadata["recipe"])), parse_json(metadata["history"])
        return bool(history.get("over", 0) >= 1 or history["steps"] >= kept.schedule.steps)

    def train(self, models: Sequence[PaperModel]) -> None:
        """Train those that are not trained yet, in their order."""
        for model in self._untrained(models):
            recipe, stream, begin = self.recipe(model), None, None
            self.say(f"{model.name}: {model.command(self.suite, str(self.folder))}")
            if model.stream:
                stream = self.stream_folder(model)
                self.save(model.stream)
            if model.begins:
                begin = self.folder / model.begins
            settings = TrainingSettings(self.workers, self.minutes, stream=stream, begin=begin)
            run(recipe, self.folder / model.folder, self.device, settings, self.say)
            gc.collect()  # what the model before had on the device is no garbage until then, and too much to be there twice

    def train_at_once(self, models: Sequence[PaperModel], most: int) -> None:
        """Train those that are not trained yet, at most so many at the same time, each in a process of its own; saved streams are played
        meanwhile. One that fails does not stop the others, and is told in the end."""
        waiting, failed = list(self._untrained(models)), dict[str, str]()
        for model in waiting:
            if model.begins not in ("", *(one.folder for one in waiting)):
                self.recipe(model)  # refuses it where the one before is not trained
        streams = list(dict.fromkeys(model.stream for model in waiting if model.stream))
        with stopped_by_term(), _Stream(self, streams) as stream, _Trainings(self, max(1, self.workers // most)) as trainings:
            while waiting or trainings.running:
                stream.check()
                for model in waiting:
                    begun = not model.begins or self.trained(model.begins)
                    if len(trainings.running) < most and begun and (not model.stream or (self.stream_folder(model) / PLAN).exists()):
                        trainings.start(model)
                failed |= trainings.ended()
                failed |= {one.name: f"{one.begins}, from which it goes on, was not" for one in waiting if one.begins in failed}
                waiting = [one for one in waiting if one.name not in trainings.started and one.name not in failed]
                time.sleep(LOOK)
        if failed:
            told = "; ".join(f"{name} ({why})" for name, why in failed.items())
            raise EtudeError(f"{len(failed)} of {len(models)} were not trained: {told}; repeat the command to resume")

    def stream_folder(self, model: PaperModel) -> Path:
        """Where the saved stream is that a model learns from."""
        return self.folder / STREAMS / model.stream

    def _untrained(self, models: Sequence[PaperModel]) -> Iterator[PaperModel]:
        seen = set()
        for model in models:
            if model.folder in seen or self.trained(model.folder):
                self.say(f"{model.name} is trained")
            else:
                yield model
            seen.add(model.folder)

    def save(self, name: str) -> None:
        """Have a stream played, as far as it is not there, in all ways in which any model of the paper sees it."""
        recipes = [
            recipe_named(f"{self.suite}/{one.recipe}", (*one.settings, *self.settings))
            for one in models_of(self.suite)
            if one.stream == name
        ]
        plan = plan_of([one.data.source for one in recipes], max(one.data.most for one in recipes))
        for recipe in recipes:
            if why := plan.difference(recipe.data.source):
                raise EtudeError(f"the models that share the stream {name!r} do not learn from the same episodes: {why}")

        def tell(done: int, of: int) -> None:
            if done * 10 // of != (done - 1) * 10 // of:
                self.say(f"stream {name}: {100 * done // of} % of {plan.episodes:,} episodes")

        save_stream(plan, self.folder / STREAMS / name, self.workers, tell)


class _Stream(AbstractContextManager["_Stream"]):
    """Saved streams that are played one after the other in a process of their own. Left early, it is told to stop; what is saved stays."""

    def __init__(self, training: ModelTraining, names: Sequence[str]) -> None:
        alone = replace(training, say=_said)
        self._process = multiprocessing.get_context("spawn").Process(target=_save_all, args=(alone, tuple(names)))
        self._process.start()

    def check(self) -> None:
        """Raise if it has failed: nobody would get what they wait for."""
        if self._process.exitcode:
            raise EtudeError(f"the stream of demonstrations ended ({exit_reason(self._process.exitcode)}); what it said is above")

    def __exit__(self, *_: object) -> None:
        if self._process.exitcode is None and self._process.pid is not None:
            os.kill(self._process.pid, signal.SIGINT)
        self._process.join()


def _said(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _save_all(training: ModelTraining, names: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for name in names:
            training.save(name)
    except EtudeError as error:
        _said(f"error: {error}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(0)


class _Trainings(AbstractContextManager["_Trainings"]):
    """Trainings in processes of their own, each with a file of what it says beside its folder. Left early, they are told to stop, and keep
    what they have."""

    def __init__(self, training: ModelTraining, workers: int) -> None:
        self._training, self._workers = training, workers
        self.started: set[str] = set()
        self.running: dict[str, tuple[Popen[bytes], float]] = {}

    def start(self, model: PaperModel) -> None:
        training = self._training
        words = [word for one in model.settings for word in ("--set", one)]
        words += ["--stream", str(training.stream_folder(model))] if model.stream else []
        words += ["--from", str(training.folder / model.begins)] if model.begins else []
        words += ["--minutes", str(training.minutes)] if training.minutes is not None else []
        words += ["--device", training.device.type, "--workers", str(self._workers), "--out", str(training.folder / model.folder)]
        training.folder.mkdir(parents=True, exist_ok=True)
        with self._log(model.name).open("ab") as log:
            command = [sys.executable, "-m", "etude", "train", f"{training.suite}/{model.recipe}", *words]
            process = Popen(command, stdin=DEVNULL, stdout=log, stderr=log, start_new_session=True)  # an interrupt is told to it once
            self.running[model.name] = process, time.monotonic()
        self.started.add(model.name)
        training.say(f"{model.name} is being trained; {self._log(model.name)} says how")

    def ended(self) -> dict[str, str]:
        """Those that have failed since, and why."""
        failed = {}
        for name, (process, begun) in list(self.running.items()):
            if process.poll() is None:
                continue
            del self.running[name]
            if process.returncode:
                lines = self._log(name).read_text(errors="replace").strip().splitlines() or [""]
                failed[name] = f"{lines[-1]} ({exit_reason(process.returncode)})"
            else:
                self._training.say(f"{name} is trained, after {(time.monotonic() - begun) / 60:.1f} minutes")
        return failed

    def _log(self, name: str) -> Path:
        return self._training.folder / f"{name}.log"

    def __exit__(self, *_: object) -> None:
        for process, _begun in self.running.values():
            process.send_signal(signal.SIGINT)
        for process, _begun in self.running.values():
            process.wait()
