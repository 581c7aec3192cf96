"""The action head: strokes in bins, one number after the other or each on its own."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.models.tokens import StrokeTokens
from etude.learn.models.trunk import TransformerBlock
from etude.scene.rooms import UR5_LOWER, UR5_UPPER

SOFT = 0.75  # bins: the width of a label, so that a near miss counts less than a far one
NEIGHBOURS = 2  # bins on either side of the best, whose mean is the answer
BESIDE_WIDTH = 96  # hidden, between a thing and where beside its middle is meant
REACH = 12.0  # bins beside the middle of a thing, at most
NARROW, WIDE = 0.5, 4.0  # bins: the width of a bell


@dataclass(frozen=True)
class Axis:
    """A number of a stroke in ``bins`` of the same width from ``low`` to ``high``; one that ``wraps`` has no ends."""

    low: float
    high: float
    bins: int
    wraps: bool = False


_LOW, _HIGH = UR5_LOWER, UR5_UPPER  # m, world
_X, _Y = Axis(float(_LOW[0]), float(_HIGH[0]), 50), Axis(float(_LOW[1]), float(_HIGH[1]), 100)  # CoGeLoT A.2
AXES = (_X, _Y, _X, _Y, Axis(-math.pi, math.pi, 72, wraps=True))
_PLACED = [axis for axis in AXES if not axis.wraps]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What strokes are read from: M ``tokens`` (B, M, width) of B episodes, and ``places`` (B, M, 2): where on the table their things are,
    as shares of the picture. Q steps of each ask, by a ``query`` (B, Q, width); a step is ``shown`` tokens (B, Q, M), and some of these
    can be ``pointed`` at (B, Q, M). ``where`` (N, 2): the episodes and steps that are answered; without it all are, N = B · Q."""

    tokens: Tensor
    places: Tensor
    query: Tensor
    shown: Tensor
    pointed: Tensor
    where: Tensor | None = None

    def of_steps(self, steps: Tensor) -> Evidence:
        """What one step (B,) of each episode has to read from."""
        episode = torch.arange(len(steps), device=steps.device)
        query, shown, pointed = (values[episode, steps][:, None] for values in (self.query, self.shown, self.pointed))
        return Evidence(self.tokens, self.places, query, shown, pointed)

    def taken(self, values: Tensor) -> Tensor:
        """Values (B, Q, …) of those that are answered (N, …)."""
        if self.where is None:
            return values.flatten(0, 1)
        return values.flatten(0, 1).index_select(0, self.where[:, 0] * values.shape[1] + self.where[:, 1])

    def of_episode(self, values: Tensor) -> Tensor:
        """Values (B, M, …) of the episode of every answer (N, M, …)."""
        steps = self.query.shape[1]
        if self.where is None:
            return values[:, None].expand(-1, steps, *values.shape[1:]).flatten(0, 1)
        return functional.embedding(self.where[:, 0], values.flatten(1)).unflatten(1, values.shape[1:])


@dataclass(frozen=True, eq=False)
class KnownEvidence:
    """What a head makes of evidence before anything is asked: keys and values of the tokens for each of its blocks, and, if it points, the
    pointer's keys (B, M, width) and what it knows of each thing (N, M, hidden)."""

    pairs: list[Tensor]
    keys: Tensor | None = None
    things: Tensor | None = None


class StrokeHead(nn.Module):
    """Reads strokes: a query for each number, which knows those before it if ``chained``.

    If ``pointing``, a place is told by pointing at a thing that is or was seen, or that the prompt shows, and by how far from its middle:
    the distribution over bins is a mixture of bells around things and of bins as such.
    """

    def __init__(self, width: int, heads: int, layers: int, dropout: float, chained: bool, pointing: bool) -> None:
        super().__init__()
        self.chained = chained
        self.before = StrokeTokens(width, torch.tensor([a.low for a in AXES]), torch.tensor([a.high for a in AXES]))
        self.asking = nn.Parameter(0.02 * torch.randn(len(AXES), width))
        self.blocks = nn.ModuleList(TransformerBlock(width, heads, dropout, own=False, cross=True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.bins = nn.ModuleList(nn.Linear(width, axis.bins) for axis in AXES)
        self.pointer = Pointer(width) if pointing else None

    def axis_logits(
        self, evidence: Evidence, numbers: Tensor, first: int = 0, end: int = len(AXES), known: KnownEvidence | None = None
    ) -> list[Tensor]:
        """Log-probabilities of the bins (N, bins) of some axes; each may know those of the numbers (B, Q, 5) that come before it.
        ``known``: what does not depend on the numbers, where it has been made before."""
        known = known or self.known(evidence)
        asked = evidence.query[:, :, None] + self.asking[first:end]
        if self.chained:
            parts = self.before.parts(numbers)
            asked = asked + torch.cat([torch.zeros_like(parts[:, :, :1]), parts.cumsum(2)[:, :, :-1]], 2)[:, :, first:end]
        steps, axes = asked.shape[1:3]
        shown = evidence.shown[:, :, None].expand(-1, -1, axes, -1).flatten(1, 2)[:, None]
        asked = asked.flatten(1, 2)
        for block, pairs in zip(self.blocks, known.pairs, strict=True):
            asked = block(asked, shown=shown, known=pairs)
        asked = self.norm(asked).unflatten(1, (steps, axes))
        taken = evidence.taken(asked)
        plain = [functional.log_softmax(self.bins[first + k](taken[:, k]).float(), -1) for k in range(axes)]
        if self.pointer is None or known.keys is None or known.things is None:
            return plain
        return [
            plain[k] if AXES[first + k].wraps else self.pointer(first + k, asked[:, :, k], plain[k], known.keys, known.things, evidence)
            for k in range(axes)
        ]

    def known(self, evidence: Evidence) -> KnownEvidence:
        """What all numbers of a stroke look at."""
        tokens = evidence.tokens
        pairs = [block.cross.both(tokens) for block in self.blocks]
        if self.pointer is None:
            return KnownEvidence(pairs)
        return KnownEvidence(pairs, self.pointer.keys(tokens), evidence.of_episode(self.pointer.thing(tokens)))

    def losses(self, evidence: Evidence, labels: Tensor) -> Tensor:
        """How much (N, 5) the answers differ from labels (B, Q, 5): the divergence from a label's own distribution, 0 at best."""
        found, right = self.axis_logits(evidence, labels), evidence.taken(labels)
        wanted = [softened(right[:, k], axis) for k, axis in enumerate(AXES)]
        return torch.stack([(w * (w.clamp(min=1e-9).log() - f)).sum(-1) for w, f in zip(wanted, found, strict=True)], 1)

    def answers(self, evidence: Evidence) -> Tensor:
        """The best strokes (N, 5), where every step is answered."""
        episodes, steps = evidence.query.shape[:2]
        found: list[Tensor] = []
        known = self.known(evidence)
        for k, axis in enumerate(AXES):
            later = evidence.query.new_zeros(episodes * steps, len(AXES) - k, dtype=torch.float32)
            numbers = torch.cat([*found, later], 1).unflatten(0, (episodes, steps))
            found.append(best(self.axis_logits(evidence, numbers, k, k + 1, known)[0], axis)[:, None])
        return torch.cat(found, 1)


class Pointer(nn.Module):
    """Which thing is meant, and where beside its middle. A picture from above shows the whole table: to begin with, shares of it are taken
    for shares of the axes; what is not quite so is learned."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.keys = nn.Linear(width, width)
        self.queries = nn.ModuleList(nn.Linear(width, width) for _ in _PLACED)
        self.elsewhere = nn.ModuleList(nn.Linear(width, 1) for _ in _PLACED)
        self.thing, self.asked = nn.Linear(width, BESIDE_WIDTH), nn.ModuleList(nn.Linear(width, BESIDE_WIDTH) for _ in _PLACED)
        self.beside = nn.ModuleList(nn.Linear(BESIDE_WIDTH, 2) for _ in _PLACED)
        self.view = nn.Parameter(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))  # of x and y, by column and row of the picture
        self.shift = nn.Parameter(torch.zeros(2))

    def forward(self, k: int, asked: Tensor, plain: Tensor, keys: Tensor, things: Tensor, evidence: Evidence) -> Tensor:
        """Log-probabilities (N, bins) of axis k, which is ``asked`` for (B, Q, width), from those of the ``plain`` bins and what ``keys``
        and ``thing`` make of the tokens."""
        axis = AXES[k]
        scores = (self.queries[k](asked) @ keys.transpose(1, 2)).float() / math.sqrt(asked.shape[-1])
        scores, asked = evidence.taken(scores.masked_fill(~evidence.pointed, -torch.inf)), evidence.taken(asked)
        chances = functional.log_softmax(torch.cat([scores, self.elsewhere[k](asked).float()], 1), 1)
        hidden = functional.gelu(things + self.asked[k](asked)[:, None])
        beside, spread = self.beside[k](hidden).float().unbind(-1)
        with torch.autocast(asked.device.type, enabled=False):
            share = evidence.of_episode(evidence.places.float()) @ self.view[k % 2].float() + self.shift[k % 2].float()
        middle = share * axis.bins - 0.5 + REACH * torch.tanh(beside / REACH)
        width = NARROW + (WIDE - NARROW) * torch.sigmoid(spread)
        bins = torch.arange(axis.bins, device=asked.device)
        bells = -0.5 * ((bins - middle[..., None]) / width[..., None]) ** 2 - (width * math.sqrt(2 * math.pi)).log()[..., None]
        near = torch.logsumexp(chances[:, :-1, None] + bells, 1)
        return torch.logaddexp(near, chances[:, -1:] + plain)


def centres(axis: Axis, device: torch.device) -> Tensor:
    """The middles of the bins."""
    return axis.low + (torch.arange(axis.bins, device=device) + 0.5) * ((axis.high - axis.low) / axis.bins)


def _apart(values: Tensor, axis: Axis) -> Tensor:
    """How far (…) is from every bin's middle, in bins (…, bins), with sign."""
    width = (axis.high - axis.low) / axis.bins
    off = (centres(axis, values.device) - values[..., None]) / width
    return (off + axis.bins / 2) % axis.bins - axis.bins / 2 if axis.wraps else off


def softened(values: Tensor, axis: Axis) -> Tensor:
    """Numbers (N,) as distributions over bins (N, bins)."""
    return torch.softmax(-0.5 * (_apart(values, axis) / SOFT) ** 2, -1)


def best(logits: Tensor, axis: Axis) -> Tensor:
    """The number (N,) in the midst of the best bin and its neighbours."""
    top = centres(axis, logits.device)[logits.argmax(-1)]
    off = _apart(top, axis)
    weights = torch.softmax(logits.masked_fill(off.abs() > NEIGHBOURS + 0.5, -torch.inf), -1)
    found = top + (weights * off).sum(-1) * ((axis.high - axis.low) / axis.bins)
    if axis.wraps:
        span = axis.high - axis.low
        return (found - axis.low) % span + axis.low
    return found.clamp(axis.low, axis.high)
