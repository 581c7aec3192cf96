"""Training: a recipe, demonstrations, a model; what is learned is kept as a checkpoint, from which training can be resumed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from etude.learn.checkpoint import load_model, metadata_of, save_model
from etude.learn.curve import CurvePoint
from etude.learn.gpu_meter import GpuMeter, card_of
from etude.learn.half_copy import HalfCopy
from etude.learn.header import NAME
from etude.learn.kinds import kind_of
from etude.learn.ranks import Ranks
from etude.learn.recipes import SEEDS, Recipe
from etude.learn.state import StateForm, compacted, expanded, read_state, write_state
from etude.learn.stream import Samples
from etude.names import EtudeError, parse_json

EVERY = 50  # steps between points of the curve
LEAST_RATE = 0.02  # of the full rate, at the end of the cosine
LOOK = 0.5  # seconds after which a wait for demonstrations is broken off to see whether training shall end


class Trainer:
    """A model being trained. What a step does depends on the recipe and its number alone, not on the clock.

    Of several ``ranks`` each has every n-th episode. A step draws from those of all, each computes its part, and gradients are added up:
    the batch is that of one process.
    """

    def __init__(self, recipe: Recipe, device: str | torch.device = "cpu", ranks: Ranks | None = None) -> None:
        self.recipe, self.device = recipe, torch.device(device)
        self.ranks = ranks or Ranks(self.device)
        torch.manual_seed(recipe.schedule.seed)
        self.kind = kind_of(recipe)
        self.model: Any = self.kind.model(recipe).to(self.device)
        self.averaged = self.kind.model(recipe).to(self.device).eval().requires_grad_(False)
        self.averaged.load_state_dict(self.model.state_dict())
        self._half = HalfCopy(self.model) if self.half_precision else None
        decayed = [p for p in self.model.parameters() if p.ndim > 1]
        plain = [p for p in self.model.parameters() if p.ndim <= 1]
        groups = [{"params": decayed, "weight_decay": recipe.schedule.decay}, {"params": plain, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=recipe.schedule.rate, betas=(0.9, 0.98), fused=self.device.type == "cuda")
        self.buffer = self.kind.buffer(recipe, self.device)
        self.done = 0  # steps
        self.drawn = 0  # episodes
        self.over = 0.0  # share of the schedule
        self.seconds = 0.0  # of training
        self.allowed = recipe.data.most  # of this rank's episodes in the buffer, so many may be drawn from
        self.there = 0  # episodes that the last step drew from, of all ranks
        self.next = 0  # the number of the episode that a stream goes on with
        self.earlier = 0  # episodes that were in the buffer before training was stopped, and are no more
        self.again = 0  # episodes that were there before, and are read again before training goes on by the clock
        self.own = torch.zeros(0, dtype=torch.long)  # places in the buffer of episodes that the policy played itself

    @property
    def half_precision(self) -> bool:
        """Is a step computed in half precision? On a GPU."""
        return bool(self.device.type == "cuda")

    def wanted(self, step: int) -> int:
        """Episodes that shall be there before a step."""
        data = self.recipe.data
        return min(data.most, data.start + step * data.fresh)

    def rate(self, share: float) -> float:
        """The learning rate when this share of the schedule is over."""
        schedule = self.recipe.schedule
        warm = min(1.0, (self.done + 1) / schedule.warmup) if schedule.warmup else 1.0
        return schedule.rate * warm * (LEAST_RATE + (1 - LEAST_RATE) * 0.5 * (1 + math.cos(math.pi * min(1.0, share))))

    @property
    def stock(self) -> int:
        """Episodes of the stream in the buffer."""
        return len(self.buffer) - len(self.own)

    def add_own(self, samples: Sequence[Any]) -> None:
        """Episodes that the policy played itself, which are drawn by their own share."""
        before = len(self.buffer)
        self.buffer.add(samples)
        self.own = torch.cat([self.own, torch.arange(before, len(self.buffer))])

    def _chosen(self, seed: int) -> Tensor:
        """The places in the buffer of the episodes that a step draws from all ranks' (B,)."""
        count, generator = self.recipe.schedule.batch, torch.Generator().manual_seed(seed)
        chosen = torch.randint(self.there, (count,), generator=generator)
        dagger = self.recipe.dagger
        if dagger is None or not len(self.own):
            return chosen
        theirs = torch.ones(len(self.buffer), dtype=torch.bool)
        theirs[self.own] = False
        chosen = theirs.nonzero()[chosen, 0]
        some = round(dagger.share * count)
        chosen[:some] = self.own[torch.randint(len(self.own), (some,), generator=generator)]
        return chosen

    @property
    def episodes(self) -> int:
        """Distinct ones that steps have drawn from so far."""
        return self.earlier + self.there

    def step(self, share: float) -> Tensor:
        """One step on a batch from the buffer; the mean losses by part (5 of a stroke), still on the device."""
        schedule, ranks = self.recipe.schedule, self.ranks
        seed = (schedule.seed << 32) + self.done
        # Of all ranks' episodes the k-th is the first's, the next the second's, and so on in turn: as far as none is missing.
        self.there = int(ranks.least(min(self.allowed, self.stock) * ranks.count + ranks.number)[0])
        chosen = self._chosen(seed)
        chosen = chosen[chosen % ranks.count == ranks.number] // ranks.count
        shuffle = torch.Generator(self.device).manual_seed(seed) if self.recipe.shuffles else None
        torch.manual_seed((SEEDS << 32) * ranks.number + seed)  # dropout
        computing: Any = self.model if self._half is None else self._half.computing
        computing.train()
        if self._half is not None:
            self._half.refresh()
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(share)
        parameters = list(self.model.parameters())
        losses, count = torch.zeros(self.kind.parts, device=self.device), torch.zeros(1, device=self.device)
        for lot in self.buffer.lots(chosen) if len(chosen) else ():
            batch = self.buffer.batch(lot, shuffle)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self._half is not None):
                found = computing.losses(batch).float()
            found.sum().backward()
            if self._half is not None:
                self._half.hand_over()
            losses, count = losses + found.detach().sum(0), count + len(found)
        losses = self._added_up(parameters, losses, count)
        torch.nn.utils.clip_grad_norm_(parameters, schedule.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.done += 1
        self.drawn += schedule.batch
        keep = min(schedule.ema, (1 + self.done) / (10 + self.done))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.averaged.parameters()), parameters, 1 - keep)
        return losses

    def _added_up(self, parameters: list[Tensor], losses: Tensor, count: Tensor) -> Tensor:
        """Make sums of losses and gradients into means over the steps that all ranks have learned from."""
        if self.ranks.count > 1:
            for parameter in parameters:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
        gradients = [p.grad for p in parameters if p.grad is not None]
        self.ranks.add_up([losses, count, *gradients])
        torch._foreach_mul_(gradients, 1 / count.squeeze())
        return losses / count

    # -------------------------------------------------------------------------------------------- keeping

    def save(self, folder: Path, form: StateForm = "full", clock: bool = False, **more: Any) -> None:
        """Write the policy, and the state from which training goes on: by the ``clock``, or to a number of steps."""
        about = {"steps": self.done, "over": self.over, "drawn": self.drawn, "episodes": self.episodes}
        about |= {"seconds": round(self.seconds, 1), **more}
        tensors = {f"model.{k}": v for k, v in self.model.state_dict().items()}
        tensors |= {f"averaged.{k}": v for k, v in self.averaged.state_dict().items()}
        for number, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{k}": v for k, v in state.items()}
        where = {"next": self.next, "clock": clock, "form": form}
        write_state(folder, compacted(tensors) if form == "compact" else tensors, metadata_of(self.recipe, **about, **where))
        save_model(folder / NAME, self.averaged, self.recipe, **about)

    def begin(self, path: Path) -> None:
        """Go on from the weights of a checkpoint, as a training of its own."""
        found, other, _ = load_model(path, self.device)
        try:
            for model in (self.model, self.averaged):
                model.load_state_dict(found.state_dict())
        except RuntimeError as error:
            why = " ".join(str(error).split())[:160]
            raise EtudeError(f"the weights of {path} are of another network ({other.json_kind}) than this recipe's: {why}") from None

    def resume(self, folder: Path, clock: bool = False, saved: bool = False) -> None:
        """Go on from a saved state of the same recipe. By the clock, a stream goes on too that is not ``saved`` and has no end;
        otherwise it has to be played, or read, again."""
        tensors, metadata = read_state(folder)
        kept, history = Recipe.from_data(parse_json(metadata["recipe"])), parse_json(metadata["history"])
        if kept != self.recipe:
            raise EtudeError(f"{folder} was trained with another recipe; resume it with its own, or train into another folder")
        if clock != history["clock"]:
            ways = ("by the clock", "to a number of steps")
            raise EtudeError(f"{folder} was trained {ways[clock]}, not {ways[not clock]}; resume it with the same of --minutes and --steps")
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "averaged": {}}
        states: dict[int, dict[str, Tensor]] = {}
        for name, value in expanded(tensors, history["form"]).items():
            what, _, rest = name.partition(".")
            if what == "optimizer":
                number, _, key = rest.partition(".")
                states.setdefault(int(number), {})[key] = value
            else:
                parts[what][rest] = value
        self.model.load_state_dict(parts["model"])
        self.averaged.load_state_dict(parts["averaged"])
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": states})
        self.done, self.drawn = int(history["steps"]), int(history["drawn"])
        self.over, self.seconds = float(history["over"]), float(history["seconds"])
        if clock and not saved and self.recipe.data.source.count is None:
            self.next, self.earlier = int(history["next"]), int(history["episodes"])
        elif clock:
            self.again = int(history["episodes"])


def train(
    trainer: Trainer,
    source: Samples,
    minutes: float | None = None,
    every: Sequence[int] = (),
    asked: Callable[[], bool] = lambda: False,
    workers: int = 1,
) -> Iterator[CurvePoint]:
    """Train to the end of the schedule, or until somebody has ``asked`` for an end; gives points of the curve, also for ``every`` so many
    steps of any of these. What happens between two points takes no time. With ``minutes`` the clock is the schedule, from the
    first step on, and all that is ready is taken."""
    schedule, ranks = trainer.recipe.schedule, trainer.ranks
    span = _Span(trainer)
    meter = GpuMeter(card_of(trainer.device))
    last, begun = time.perf_counter(), False
    try:
        while True:
            now = time.perf_counter()
            trainer.seconds += now - last
            trainer.over = trainer.done / schedule.steps if minutes is None else trainer.over + (now - last) / (60 * minutes)
            last = now
            if trainer.over < 1:
                _fill(trainer, source, minutes is not None, asked)
                span.waited += time.perf_counter() - now
            if not begun:  # until there is something to learn from, no time goes by
                last, begun = time.perf_counter(), True
            share, going, behind = ranks.least(trainer.over, not asked(), -source.next)
            trainer.next = round(-behind)
            if share >= 1 or not going:
                break
            span.add(trainer.step(share))
            if any(trainer.done % count == 0 for count in (EVERY, *every)):
                yield span.point(share, meter.idle(), workers)
                span, last = _Span(trainer), time.perf_counter()
        if span.count:
            yield span.point(share, meter.idle(), workers)
    finally:
        meter.close()


def _fill(trainer: Trainer, source: Samples, by_the_clock: bool, asked: Callable[[], bool]) -> None:
    """Take demonstrations for the next step: those it asks for, or, by the clock, all that are there."""
    buffer, data, ranks = trainer.buffer, trainer.recipe.data, trainer.ranks
    wanted = max(data.start, trainer.again) if by_the_clock else trainer.wanted(trainer.done)
    own, most = (max(1, (n - ranks.number + ranks.count - 1) // ranks.count) for n in (wanted, data.most))  # of so many, every n-th
    trainer.allowed = most if by_the_clock else own
    before = -1
    while by_the_clock and before < trainer.stock < most and not source.ended and not asked():
        before = trainer.stock
        source.fill(buffer)
    while trainer.stock < own and not source.ended and not asked():
        source.fill(buffer, LOOK)
    if not trainer.stock and not asked():
        raise EtudeError("there is no demonstration to learn from")


class _Span:
    """What happens between two points of the curve."""

    def __init__(self, trainer: Trainer) -> None:
        self.count, self.waited = 0, 0.0
        self._trainer, self._sum = trainer, torch.zeros(trainer.kind.parts, device=trainer.device)
        self._begun, self._over = time.perf_counter(), trainer.over
        self._episodes = trainer.episodes

    def add(self, losses: Tensor) -> None:
        self._sum += losses
        self.count += 1

    def point(self, share: float, idle: float | None, workers: int) -> CurvePoint:
        trainer = self._trainer
        axes: list[float] = (self._sum / self.count).tolist()
        if not math.isfinite(sum(axes)):
            raise EtudeError(f"the loss is no number any more at step {trainer.done}; the last state stays: try a smaller schedule.rate")
        seconds = time.perf_counter() - self._begun
        episodes = trainer.episodes
        gone = max(1e-9, share - self._over)
        return CurvePoint(
            trainer.done, sum(axes), tuple(axes), trainer.rate(share), episodes, trainer.drawn / episodes, trainer.seconds,
            self.count * trainer.recipe.schedule.batch / seconds, (episodes - self._episodes) / seconds, workers,
            min(1.0, self.waited / seconds), idle, max(0.0, 1 - share) * seconds / gone,
        )  # fmt: skip
