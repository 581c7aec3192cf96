"""Training: a recipe, a stream, a model; what is learned is kept as a checkpoint, and can be gone on with."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from etude.evaluation.plan import Plan
from etude.evaluation.run import Quiet, RunSettings, evaluate
from etude.learn.checkpoint import metadata_of, read_file, save_model, write_tensors
from etude.learn.header import NAME
from etude.learn.kinds import kind_of
from etude.learn.models.cogelot import parameters_of
from etude.learn.recipes import Recipe
from etude.learn.stream import DemonstrationStream
from etude.names import EtudeError, parse_json

STATE = "state.safetensors"
CURVE = "curve.jsonl"
EVERY = 50  # steps between lines of the curve
LEAST_RATE = 0.02  # of the full rate, at the end of the cosine


@dataclass(frozen=True)
class CurvePoint:
    """A line of the curve: means since the last one. ``seen`` is how often an episode in the buffer was drawn, on average."""

    step: int
    loss: float
    axes: tuple[float, ...]
    rate: float
    episodes: int
    seen: float
    seconds: float
    samples_per_second: float
    idle: float


class Trainer:
    """A model being trained. What a step does depends on the recipe and its number alone, not on the clock."""

    def __init__(self, recipe: Recipe, device: str | torch.device = "cpu") -> None:
        self.recipe, self.device = recipe, torch.device(device)
        torch.manual_seed(recipe.schedule.seed)
        self.kind = kind_of(recipe)
        self.model: Any = self.kind.model(recipe).to(self.device)
        self.averaged = self.kind.model(recipe).to(self.device).eval().requires_grad_(False)
        self.averaged.load_state_dict(self.model.state_dict())
        decayed = [p for p in self.model.parameters() if p.ndim > 1]
        plain = [p for p in self.model.parameters() if p.ndim <= 1]
        groups = [{"params": decayed, "weight_decay": recipe.schedule.decay}, {"params": plain, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=recipe.schedule.rate, betas=(0.9, 0.98), fused=self.device.type == "cuda")
        self.buffer = self.kind.buffer(recipe, self.device)
        self.done = 0  # steps
        self.drawn = 0  # episodes

    def wanted(self, step: int) -> int:
        """Episodes that shall be there before a step."""
        data = self.recipe.data
        return min(data.most, data.start + step * data.fresh)

    def rate(self, share: float) -> float:
        """The learning rate when this share of the schedule is over."""
        schedule = self.recipe.schedule
        warm = min(1.0, (self.done + 1) / schedule.warmup) if schedule.warmup else 1.0
        return schedule.rate * warm * (LEAST_RATE + (1 - LEAST_RATE) * 0.5 * (1 + math.cos(math.pi * min(1.0, share))))

    def step(self, share: float) -> Tensor:
        """One step on a batch from the buffer; the mean losses by part (5 of a stroke), still on the device."""
        schedule = self.recipe.schedule
        draw = torch.Generator().manual_seed((schedule.seed << 32) + self.done)
        chosen = torch.randint(len(self.buffer), (schedule.batch,), generator=draw)
        shuffle = None
        if self.recipe.shuffles:
            shuffle = torch.Generator(self.device).manual_seed((schedule.seed << 32) + self.done)
        torch.manual_seed((schedule.seed << 32) + self.done)  # dropout
        batch = self.buffer.batch(chosen, shuffle)
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(share)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            losses = self.model.losses(batch).mean(0)
        losses.sum().backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), schedule.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.done += 1
        self.drawn += schedule.batch
        keep = min(schedule.ema, (1 + self.done) / (10 + self.done))
        with torch.no_grad():
            averaged, current = list(self.averaged.parameters()), list(self.model.parameters())
            torch._foreach_lerp_(averaged, current, 1 - keep)
        return losses.detach()

    # -------------------------------------------------------------------------------------------- keeping

    def save(self, folder: Path, seconds: float = 0.0) -> None:
        """Write the policy, and the state from which training goes on."""
        about = {"steps": self.done, "drawn": self.drawn, "episodes": len(self.buffer), "seconds": round(seconds, 1)}
        save_model(folder / NAME, self.averaged, self.recipe, **about)
        tensors = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"averaged.{k}": v for k, v in self.averaged.state_dict().items()}
        for number, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{k}": v for k, v in state.items()}
        write_tensors(folder / STATE, tensors, metadata_of(self.recipe, **about))

    def resume(self, folder: Path) -> None:
        """Go on from a saved state of the same recipe; the stream has to be played again up to where it was."""
        tensors, metadata = read_file(folder / STATE)
        kept = Recipe.from_data(parse_json(metadata["recipe"]))
        if kept != self.recipe:
            raise EtudeError(f"{folder} was trained with another recipe; go on with its own, or train into another folder")
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "averaged": {}}
        states: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            what, _, rest = name.partition(".")
            if what == "optimizer":
                number, _, key = rest.partition(".")
                states.setdefault(int(number), {})[key] = value
            else:
                parts[what][rest] = value
        self.model.load_state_dict(parts["model"])
        self.averaged.load_state_dict(parts["averaged"])
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": states})
        history = parse_json(metadata["history"])
        self.done, self.drawn = int(history["steps"]), int(history["drawn"])


def train(
    trainer: Trainer,
    samples: Iterator[tuple[int, str, Any]],
    ready: Callable[[], Sequence[tuple[int, str, Any]]] | None = None,
    minutes: float | None = None,
    report: Callable[[CurvePoint], None] = lambda progress: None,
) -> None:
    """Train to the end of the schedule. With ``minutes`` the clock is the schedule, and all that is ``ready`` is taken at every step."""
    begun = last = time.perf_counter()
    schedule, data = trainer.recipe.schedule, trainer.recipe.data
    total: Tensor | None = None
    count, waited = 0, 0.0
    while True:
        elapsed = time.perf_counter() - begun
        share = trainer.done / schedule.steps if minutes is None else elapsed / (60 * minutes)
        if share >= 1:
            break
        before = time.perf_counter()
        fresh = [one for _, _, one in ready()] if minutes is not None and ready is not None and len(trainer.buffer) < data.most else []
        wanted = trainer.wanted(trainer.done) if minutes is None else data.start
        while len(trainer.buffer) + len(fresh) < wanted:
            fresh.append(next(samples)[2])
        waited += time.perf_counter() - before
        trainer.buffer.add(fresh)
        losses = trainer.step(share)
        total, count = losses if total is None else total + losses, count + 1
        if trainer.done % EVERY == 0:
            axes = (total / count).tolist()
            now = time.perf_counter()
            report(
                CurvePoint(
                    trainer.done, sum(axes), tuple(axes), trainer.rate(share), len(trainer.buffer), trainer.drawn / len(trainer.buffer),
                    now - begun, count * schedule.batch / (now - last), waited / (now - last),
                )
            )  # fmt: skip
            total, count, waited, last = None, 0, 0.0, now


def run(
    recipe: Recipe,
    folder: Path,
    device: str | torch.device,
    workers: int,
    minutes: float | None = None,
    validate: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Trainer:
    """Train a recipe from its stream, into a folder; a folder that holds a state of the same recipe is gone on with.

    Afterwards, so many episodes of the training split that nobody trains on are played to ``validate`` it, as a run of their own.
    """
    trainer = Trainer(recipe, device)
    if (folder / STATE).exists():
        trainer.resume(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recipe.json").write_text(json.dumps(recipe.to_data(), indent=1) + "\n")
    say(f"{parameters_of(trainer.model):,} parameters; recipe {json.dumps(recipe.to_data())}")
    begun = time.perf_counter()
    with DemonstrationStream(recipe.data.source, workers) as stream, (folder / CURVE).open("a") as curve:

        def report(progress: CurvePoint) -> None:
            curve.write(json.dumps(progress.__dict__) + "\n")
            curve.flush()
            if progress.step % (10 * EVERY) == 0:
                say(
                    f"step {progress.step}: loss {progress.loss:.3f} ({' '.join(f'{a:.2f}' for a in progress.axes)}), "
                    f"{progress.episodes} episodes seen {progress.seen:.1f} times, {progress.samples_per_second:.0f} episodes/s drawn, "
                    f"waited {100 * progress.idle:.0f} %, {progress.seconds:.0f} s"
                )

        train(trainer, iter(stream), stream.ready, minutes, report)
    trainer.save(folder, time.perf_counter() - begun)
    if validate:
        _validate(trainer, folder, workers, validate, say)
    return trainer


def _validate(trainer: Trainer, folder: Path, workers: int, episodes: int, say: Callable[[str], None]) -> None:
    """Judge it on samples that nobody trains on, and play the same episodes."""
    held_out = trainer.recipe.data.source.held_out()
    with DemonstrationStream(held_out, workers) as stream:
        found = list(islice(stream, episodes))
    say(trainer.kind.judged(trainer.averaged, found, trainer.device))
    plan = Plan(f"learned:{folder}?device={trainer.device.type}", tuple(name for _, name, _ in found))
    played = evaluate(plan, folder / f"validation-{trainer.done}", RunSettings(), Quiet())
    say(str(played.table()))
