"""Keyposes from a map of the table (as 6D-CLIPort has it): a spatial stream of convolutions over what is seen from above meets a stream of
words. First it is painted where the tip shall go; height, orientation and hand are read, in bins, from the features there.

Two networks: one sees the whole map, the other a small piece of it around where the first would go. A map has what is highest at each
place and what is lowest: under the hand, that is what the hand is above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.keypose_buffer import KeyposeBatch
from etude.learn.keyposes import LONGEST_SENTENCE, KeyposeSource
from etude.learn.models.clouds import ABOVE, CHANNELS, drawn, sampled, zoomed
from etude.learn.models.keypose_model import SENSES, KeyposeAnswer, KeyposeModel, Situation
from etude.learn.models.strokes import NEIGHBOURS, Axis, best, softened
from etude.learn.models.tokens import HATS, WordTokens, hats
from etude.learn.models.trunk import TransformerBlock
from etude.learn.network_recipes import TopdownRecipe

PARTS = 6  # of a loss: the place on the map, in the small piece, the tilt, the twist, the height, the hand
STEM, MIDDLE = 48, 96  # features at half the size of a map and at a quarter
CELL, PATCH = 2, 8  # pixels along each side: of a cell of a heat map, of a patch
TIP_CHANNELS = 5  # how far each pixel is from the tip, in the room's axes and in those of the hand, and a bell around the tip
BELL = 2.0  # cells: its width
GROUPS = 8  # of features that are normed together
HIDDEN = 256
MISSED = 1 / 6  # of the small piece's side, along each axis: so far the first answer may be beside the right one
TILT = 2.4  # rad: a hand points at most so far away from straight down
AXES = (Axis(-TILT, TILT, 48), Axis(-TILT, TILT, 48), Axis(-math.pi, math.pi, 72, wraps=True), Axis(0.0, 1.0, 128))
"""Where the hand is tilted to, along x and y, how far it is twisted about the vertical before (rad), and its height in the cube."""


class Topdown(KeyposeModel):
    """``losses`` (N, 6) of a batch to learn from, ``answers`` to one."""

    piece: Tensor
    lifts = False

    def __init__(self, recipe: TopdownRecipe, source: KeyposeSource) -> None:
        super().__init__(recipe, source)
        self.coarse, self.fine = TopdownStage(recipe, recipe.layers), TopdownStage(recipe, recipe.fine_layers)
        self.head = PoseHead(2 * (2 * recipe.width + STEM))
        share = recipe.zoom / source.side
        self.register_buffer("piece", torch.tensor([share, share, 1.0]), persistent=False)  # of the cube: of full height

    def losses(self, batch: KeyposeBatch) -> Tensor:
        """How far (B, 6) the answers are from the labels."""
        now, place, rotation = self._lesson(batch)
        coarse = self.coarse(now, torch.full_like(place, 0.5), torch.ones_like(self.piece))
        centre = self._above(place + (2 * torch.rand_like(place) - 1) * MISSED * self.piece)
        fine, inside = self.fine(now, centre, self.piece), zoomed(place, centre, self.piece)
        known = torch.cat([coarse.at(place), fine.at(inside)], 1)
        numbers = torch.cat([tilt_and_twist(rotation), place[:, 2:]], 1)
        chances, hand = self.head(known, _numbers_now(now), numbers)
        tilt_x, tilt_y, twist, height = (divergence(softened(numbers[:, k], axis), chances[k]) for k, axis in enumerate(AXES))
        parts = (
            map_losses(coarse.map, place),
            map_losses(fine.map, inside),
            tilt_x + tilt_y,
            twist,
            height,
            functional.binary_cross_entropy_with_logits(hand, (batch.labels[:, 7] > 0).float(), reduction="none"),
        )
        return torch.stack(parts, 1)

    def answers(self, batch: KeyposeBatch) -> KeyposeAnswer:
        """The likeliest keyposes."""
        now = self._situation(batch)
        coarse = self.coarse(now, torch.full_like(now.tip, 0.5), torch.ones_like(self.piece))
        centre = self._above(functional.pad(best_of_map(coarse.map), (0, 1)))
        fine = self.fine(now, centre, self.piece)
        inside = best_of_map(fine.map)
        place = (centre[:, :2] + (inside - 0.5) * self.piece[:2]).clamp(0, 1)  # a piece may reach beyond the cube
        numbers, hand = self.head.answers(torch.cat([coarse.at(place), fine.at(inside)], 1), _numbers_now(now))
        places = self.low + torch.cat([place, numbers[:, 3:]], 1) * self.source.side
        return KeyposeAnswer(places, from_tilt_and_twist(numbers[:, :3]), hand > 0)

    def _above(self, places: Tensor) -> Tensor:
        """The middles (B, 3) of pieces of full height around places (B, 3)."""
        return torch.cat([places[:, :2], torch.full_like(places[:, 2:], 0.5)], 1)


def _numbers_now(now: Situation) -> Tensor:
    """What the numbers of the tip's pose (B, 4) are before a keypose."""
    return torch.cat([tilt_and_twist(now.rotation), now.tip[:, 2:]], 1)


@dataclass(frozen=True, eq=False)
class TopdownView:
    """What a network makes of a map: ``map`` (B, C, C), how likely each cell is; features of ``cells`` (B, 48, C, C) and of ``patches``
    (B, width, G, G), and a ``query`` (B, width)."""

    map: Tensor
    cells: Tensor
    patches: Tensor
    query: Tensor

    def at(self, places: Tensor) -> Tensor:
        """What is known (B, 2 width + 48) at places (B, 2 or 3) of the map."""
        return torch.cat([self.query.float(), sampled(self.patches, places[:, :2]), sampled(self.cells, places[:, :2])], 1)


class TopdownStage(nn.Module):
    """Convolutions down to patches, a trunk in which these meet the words and what the robot feels, and convolutions up again. On both
    ways features are scaled and shifted by what was told and felt."""

    def __init__(self, recipe: TopdownRecipe, layers: int) -> None:
        super().__init__()
        width, self.size, self.grid = recipe.width, recipe.size, recipe.size // PATCH
        self.words, self.order = WordTokens(width), nn.Embedding(LONGEST_SENTENCE, width)
        self.feeling = nn.Sequential(nn.Linear(SENSES, width), nn.GELU(), nn.Linear(width, width))
        self.query = nn.Parameter(0.02 * torch.randn(width))
        self.listen = TransformerBlock(width, recipe.heads, recipe.dropout)
        self.stem = nn.Conv2d(2 * CHANNELS + TIP_CHANNELS, STEM, 4, 2, 1)
        self.down1, self.look1 = nn.Conv2d(STEM, MIDDLE, 3, 2, 1), FilmBlock(MIDDLE, width)
        self.down2, self.look2 = nn.Conv2d(MIDDLE, width, 3, 2, 1), FilmBlock(width, width)
        self.places = nn.Parameter(0.5 * torch.randn(self.grid**2, width))  # where counts as much as what
        self.looked = nn.LayerNorm(width)
        self.blocks = nn.ModuleList(TransformerBlock(width, recipe.heads, recipe.dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.up2, self.paint2 = nn.Conv2d(width, 4 * MIDDLE, 1), FilmBlock(MIDDLE, width)
        self.up1, self.paint1 = nn.Conv2d(MIDDLE, 4 * STEM, 1), FilmBlock(STEM, width)
        self.map = nn.Conv2d(STEM, 1, 1)

    def forward(self, now: Situation, centre: Tensor, share: Tensor) -> TopdownView:
        """Look at the piece around ``centre`` (B, 3) whose sides are these shares (3,) of the whole cube's."""
        told = functional.pad(now.words[..., 0] >= 0, (1, 0), value=True)
        words = self.words(now.words.clamp(min=0)) + self.order.weight[: now.words.shape[1]]
        words = torch.cat([(self.query + self.feeling(now.felt(centre, share)))[:, None], words], 1)
        words = self.listen(words, told[:, None, None])
        half = functional.gelu(self.stem(topdown_map(now, centre, share, self.size)))
        quarter = self.look1(self.down1(half), words[:, 0])
        eighth = self.look2(self.down2(functional.gelu(quarter)), words[:, 0])
        x = torch.cat([self.looked(eighth.flatten(2).transpose(1, 2)) + self.places, words], 1)
        allowed = functional.pad(told, (self.grid**2, 0), value=True)[:, None, None]
        for block in self.blocks:
            x = block(x, allowed)
        x = self.norm(x)
        patches = x[:, : self.grid**2].transpose(1, 2).unflatten(2, (self.grid, self.grid))
        query = x[:, self.grid**2]
        cells = self.paint2(quarter + functional.pixel_shuffle(self.up2(patches + eighth), 2), query)
        cells = self.paint1(half + functional.pixel_shuffle(self.up1(functional.gelu(cells)), 2), query)
        return TopdownView(self.map(functional.gelu(cells))[:, 0].float(), cells, patches, query)


class FilmBlock(nn.Module):
    """Two convolutions beside what is there (B, C, H, W), scaled and shifted between them by what is known (B, width)."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(channels, channels, 3, 1, 1), nn.Conv2d(channels, channels, 3, 1, 1)
        self.norm, self.film = nn.GroupNorm(GROUPS, channels), nn.Linear(width, 2 * channels)

    def forward(self, x: Tensor, known: Tensor) -> Tensor:
        gain, shift = self.film(known)[..., None, None].chunk(2, 1)
        y = self.norm(self.first(functional.gelu(x)))
        out: Tensor = x + self.second(functional.gelu(y * (1 + gain) + shift))
        return out


def topdown_map(now: Situation, centre: Tensor, share: Tensor, size: int) -> Tensor:
    """Maps (B, 19, size, size) of a piece of the cube: what is highest, what is lowest, and where the tip is."""
    places = zoomed(now.places, centre, share)
    upturned = torch.cat([places[..., :2], 1 - places[..., 2:]], -1)
    layers = [drawn(seen, now.colours, now.there, size, ABOVE)[:, 0] for seen in (places, upturned)]
    knots = (torch.arange(size, device=places.device) + 0.5) / size
    tip, axis = zoomed(now.tip, centre, share), now.rotation[:, :2, 2]
    x = (knots[:, None] - tip[:, :1, None]).expand(-1, -1, size)
    y = (knots[None] - tip[:, 1:2, None]).expand(-1, size, -1)
    along, across = (axis[:, k, None, None] * x + s * axis[:, 1 - k, None, None] * y for k, s in ((0, 1), (1, -1)))
    bell = torch.exp(-0.5 * (x**2 + y**2) * (size / (CELL * BELL)) ** 2)
    return torch.cat([*layers, torch.stack([x, y, along, across, bell], 1)], 1)


class PoseHead(nn.Module):
    """Reads the numbers of a pose from features, one after the other: each knows those before it."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.known, self.now = nn.Linear(features, HIDDEN), nn.Linear(len(AXES) * HATS, HIDDEN)
        self.before = nn.ModuleList(nn.Linear(HATS, HIDDEN) for _ in AXES)
        self.mix = nn.ModuleList(nn.Sequential(nn.GELU(), nn.Linear(HIDDEN, HIDDEN), nn.GELU()) for _ in range(len(AXES) + 1))
        self.bins = nn.ModuleList(ChangeBins(axis) for axis in AXES)
        self.hand = nn.Linear(HIDDEN, 1)

    def forward(self, features: Tensor, now: Tensor, numbers: Tensor) -> tuple[list[Tensor], Tensor]:
        """Log-probabilities (B, bins) of every number where those before it are right (B, 4), and a positive number for a closed hand."""
        hidden, found = self._begun(features, now), []
        for k in range(len(AXES)):
            found.append(self.bins[k](self.mix[k](hidden), now[:, k]))
            hidden = hidden + self._told(k, numbers[:, k])
        return found, self.hand(self.mix[-1](hidden))[:, 0].float()

    def answers(self, features: Tensor, now: Tensor) -> tuple[Tensor, Tensor]:
        """The best numbers (B, 4), each read after those before it, and the hand."""
        hidden, found = self._begun(features, now), []
        for k, axis in enumerate(AXES):
            found.append(best(self.bins[k](self.mix[k](hidden), now[:, k]), axis))
            hidden = hidden + self._told(k, found[-1])
        return torch.stack(found, 1), self.hand(self.mix[-1](hidden))[:, 0].float()

    def _begun(self, features: Tensor, now: Tensor) -> Tensor:
        found: Tensor = self.known(features) + self.now(torch.cat([hats(now[:, k], a.low, a.high) for k, a in enumerate(AXES)], 1))
        return found

    def _told(self, k: int, numbers: Tensor) -> Tensor:
        found: Tensor = self.before[k](hats(numbers, AXES[k].low, AXES[k].high))
        return found


class ChangeBins(nn.Module):
    """How likely the bins of an axis are: as such, or by how far they are from the number as it is now. Much of a pose stays what it is, or
    changes by so much."""

    def __init__(self, axis: Axis) -> None:
        super().__init__()
        self.axis, self.reach = axis, 0 if axis.wraps else axis.bins
        self.plain, self.change = nn.Linear(HIDDEN, axis.bins), nn.Linear(HIDDEN, axis.bins + self.reach)
        self.which = nn.Linear(HIDDEN, 1)

    def forward(self, hidden: Tensor, now: Tensor) -> Tensor:
        """Log-probabilities (B, bins)."""
        axis = self.axis
        change = torch.softmax(self.change(hidden).float(), 1)
        bin_now = (now - axis.low) * (axis.bins / (axis.high - axis.low)) - 0.5
        apart = torch.arange(axis.bins, device=now.device) - bin_now[:, None] + self.reach
        below = apart.floor()
        part = apart - below
        near, far = (change.gather(1, ((below.long() + k) % change.shape[1])) for k in (0, 1))
        changed = (1 - part) * near + part * far
        share = torch.sigmoid(self.which(hidden).float())
        both = share * torch.softmax(self.plain(hidden).float(), 1) + (1 - share) * changed
        return both.clamp(min=1e-9).log()


def divergence(wanted: Tensor, found: Tensor) -> Tensor:
    """How much (B,) log-probabilities (B, N) differ from a distribution, 0 at best."""
    return (wanted * (wanted.clamp(min=1e-9).log() - found)).sum(1)


def _side(maps: Tensor) -> Axis:
    return Axis(0.0, 1.0, maps.shape[-1])


def map_losses(maps: Tensor, places: Tensor) -> Tensor:
    """How much (B,) maps (B, C, C) differ from those of places (B, 2 or 3)."""
    down, across = (softened(places[:, k], _side(maps)) for k in (0, 1))
    return divergence((down[:, :, None] * across[:, None]).flatten(1), functional.log_softmax(maps.flatten(1), 1))


def best_of_map(maps: Tensor) -> Tensor:
    """The likeliest places (B, 2) of maps (B, C, C): the mean around the best cell."""
    cells = maps.shape[-1]
    top = maps.flatten(1).argmax(1)
    steps = torch.arange(cells, device=maps.device)
    near = [(steps - at[:, None]).abs() <= NEIGHBOURS for at in (top // cells, top % cells)]
    share = torch.softmax(maps.masked_fill(~(near[0][:, :, None] & near[1][:, None]), -torch.inf).flatten(1), 1).view_as(maps)
    knots = (steps + 0.5) / cells
    return torch.stack([(share.sum(other) * knots).sum(1) for other in (2, 1)], 1)


def tilt_and_twist(rotations: Tensor) -> Tensor:
    """Three numbers (…, 3) of rotations (…, 3, 3) of the hand, in rad: how far and whither it is tilted away from straight down, along x
    and y, and how far it is twisted about the vertical before."""
    x, y, z = rotations[..., 2].unbind(-1)
    level = torch.hypot(x, y)
    tilt = torch.atan2(level, -z) / level.clamp(min=1e-6)
    upright = _times(_swing(x, y, z).transpose(-1, -2), rotations)
    twist = torch.atan2(upright[..., 1, 0], upright[..., 0, 0])
    return torch.stack([tilt * x, tilt * y, twist], -1)


def from_tilt_and_twist(numbers: Tensor) -> Tensor:
    """The rotations (…, 3, 3) of such numbers (…, 3)."""
    x, y, twist = numbers.unbind(-1)
    tilt = torch.hypot(x, y)
    level = torch.sin(tilt) / tilt.clamp(min=1e-6)
    swing = _swing(level * x, level * y, -torch.cos(tilt))
    c, s, none = twist.cos(), twist.sin(), torch.zeros_like(twist)
    down = torch.stack([c, s, none, s, -c, none, none, none, none - 1], -1).unflatten(-1, (3, 3))
    return _times(swing, down)


def _swing(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """The least rotations (…, 3, 3) by which what points straight down points along (x, y, z)."""
    k = 1 / (1 - z).clamp(min=1e-6)
    rows = (1 - k * x * x, -k * x * y, -x, -k * x * y, 1 - k * y * y, -y, x, y, -z)
    return torch.stack(rows, -1).unflatten(-1, (3, 3))


def _times(first: Tensor, second: Tensor) -> Tensor:
    """Products (…, 3, 3). They stand written out: under autocast a product of matrices would be rounded."""
    return (first[..., :, :, None] * second[..., None, :, :]).sum(-2)
