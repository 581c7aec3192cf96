"""The models of a paper, trained one after the other: what they learn from is played once, and those that go on from others come after."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from etude.learn.control import ControlSource
from etude.learn.control_plan import ControlPlan
from etude.learn.header import checkpoint_bytes, checkpoint_file, digest_of, metadata_in
from etude.learn.named_recipes import recipe_named
from etude.learn.recipes import Recipe
from etude.learn.saved_stream import save_stream
from etude.learn.training_run import TrainingSettings, run
from etude.names import EtudeError, parse_json
from etude.papers.models import models_of
from etude.suites.paper import STREAMS, PaperModel


@dataclass(frozen=True)
class ModelTraining:
    """Where and how the models of a paper are trained. ``settings`` are those that all have besides their own."""

    suite: str
    folder: Path
    device: torch.device
    workers: int
    settings: tuple[str, ...] = ()
    say: Callable[[str], None] = lambda text: None

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
        kept = Recipe.from_data(parse_json(metadata["recipe"]))
        return int(parse_json(metadata["history"])["steps"]) >= kept.schedule.steps

    def train(self, models: Sequence[PaperModel]) -> None:
        """Train those that are not trained yet, in their order."""
        for model in models:
            if self.trained(model.folder):
                self.say(f"{model.name} is trained")
                continue
            recipe, stream, begin = self.recipe(model), None, None
            self.say(f"{model.name}: {model.command(self.suite, str(self.folder))}")
            if model.stream:
                stream = self.folder / STREAMS / model.stream
                self._save(model.stream, stream)
            if model.begins:
                begin = self.folder / model.begins
            run(recipe, self.folder / model.folder, self.device, TrainingSettings(self.workers, stream=stream, begin=begin), self.say)
            gc.collect()  # what the model before had on the device is no garbage until then, and too much to be there twice

    def _save(self, name: str, folder: Path) -> None:
        """Have a stream played, as far as it is not there, in all ways in which any model of the paper sees it."""
        recipes = [
            recipe_named(f"{self.suite}/{one.recipe}", (*one.settings, *self.settings))
            for one in models_of(self.suite)
            if one.stream == name
        ]
        sources = [one.data.source for one in recipes if isinstance(one.data.source, ControlSource)]
        if len(sources) < len(recipes):
            raise EtudeError(
                f"the stream {name!r} is shared by models that do not learn closed-loop control; they play streams of their own"
            )
        cameras = tuple(dict.fromkeys(camera for source in sources for camera in source.cameras))
        plan = ControlPlan(replace(sources[0], cameras=cameras, told="multimodal"), max(one.data.most for one in recipes))
        for source in sources:
            if why := plan.difference(source):
                raise EtudeError(f"the models that share the stream {name!r} do not learn from the same episodes: {why}")

        def tell(done: int, of: int) -> None:
            if done * 10 // of != (done - 1) * 10 // of:
                self.say(f"stream {name}: {100 * done // of} % of {plan.episodes:,} episodes")

        save_stream(plan, folder, self.workers, tell)
