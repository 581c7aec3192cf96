"""Where the hand shall go next, pointed at: every token of a look proposes a place, and how likely it is that one.

What a policy does changes all the time, and most of it is the same whatever it goes for; what it goes for stays the same until it is there.
So a controller learns both, and acts by what it points at: a thing has to be found once, not anew for every action.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.control import TIP

KEYS = 64  # numbers by which what is sought and what is seen are compared, for each frame
FRAMES = 2  # in which a token proposes a place: that of the world, and that of the tip
EXTENT = 0.5  # m: a place is about as far from the origin of its frame
SPREAD = 0.05  # m: a place that is off by this much is less likely by a factor of e
SAME = 0.05  # m: proposals within about this of the likeliest are taken together
TURN_SPREAD = 0.3  # rad
STRIDES = (0.1, 0.015, 0.005)  # m: the last two are about as far as a hand goes in a step, freely and with care
TURNED = 0.1  # rad in a step
HINTS = 3 + 3 * len(STRIDES) + 3 + 2 * 3  # what actions are made by


@dataclass(frozen=True, eq=False)
class Pointed:
    """Of N looks: ``places`` (N, P, 3) in metres (world) and how likely each is, as logarithms (N, P); the turn (N, 3) in radians about the
    axes of the tip; and the pose of the tip: ``tip`` (N, 3), and its axes as the columns of ``axes`` (N, 3, 3)."""

    places: Tensor
    likely: Tensor
    turn: Tensor
    tip: Tensor
    axes: Tensor

    @property
    def place(self) -> Tensor:
        """The likeliest place (N, 3), with those beside it."""
        best = self.likely.argmax(1)[:, None, None].expand(-1, 1, 3)
        apart = (self.places - self.places.gather(1, best)).square().sum(2)
        shares = (self.likely - apart / (2 * SAME**2)).softmax(1)
        return (shares[..., None] * self.places).sum(1)

    def hints(self) -> Tensor:
        """The way there (N, :data:`HINTS`), whole and as far as a step goes. Nothing is learned about places by it."""
        offset = (self.place - self.tip).detach()
        near = (offset[:, None] @ self.axes)[:, 0]  # in the frame of the tip
        turn = self.turn.detach()
        steps = [_at_most(near, stride) for stride in STRIDES]
        return torch.cat([near / EXTENT, *steps, _at_most(offset, STRIDES[1]), turn, _at_most(turn, TURNED)], 1)

    def off(self, aims: Tensor) -> Tensor:
        """How far (N,) the place is from that of poses (N, 7), in metres."""
        return (self.place - aims[:, :3]).norm(dim=1)

    def losses(self, aims: Tensor) -> Tensor:
        """How unlikely (N,) the poses (N, 7) are that were right: position and quaternion (wxyz), world. The mean of all places counts too:
        where a wrong token is taken for likely, the right one would hear of it by nothing else."""
        apart = (self.places - aims[:, None, :3]).norm(dim=2)
        unlikely = -(self.likely - apart / SPREAD).logsumexp(1)
        mean = (self.likely.exp()[..., None] * self.places).sum(1)
        turned = (self.turn - turns_to(aims[:, 3:], self.axes)).abs().sum(1)
        return unlikely + (mean - aims[:, :3]).norm(dim=1) / SPREAD + turned / TURN_SPREAD


class HandPointer(nn.Module):
    """Points at a place, given what was made of a look."""

    full_precision = True

    def __init__(self, width: int) -> None:
        super().__init__()
        self.asking, self.looked = nn.LayerNorm(width), nn.LayerNorm(width)
        self.sought, self.keys = (nn.Linear(width, FRAMES * KEYS) for _ in range(2))
        self.proposed, self.turn = nn.Linear(width, FRAMES * 3), nn.Linear(width, 3)

    def forward(self, made: Tensor, tokens: Tensor, felt: Tensor) -> Pointed:
        """``made`` (N, width) of looks whose ``tokens`` are (N, M, width), where this was ``felt`` (N, D)."""
        with torch.autocast(made.device.type, enabled=False):
            asking, seen, felt = self.asking(made.float()), self.looked(tokens.float()), felt.float()
            tip, axes = felt[:, -TIP : -TIP + 3], axes_of(felt[:, -TIP + 3 : -TIP + 7])
            there, from_tip = (EXTENT * self.proposed(seen)).chunk(FRAMES, 2)
            places = torch.cat([there, tip[:, None] + from_tip @ axes.transpose(1, 2)], 1)
            sought, keys = (x.unflatten(-1, (FRAMES, KEYS)) for x in (self.sought(asking), self.keys(seen)))
            likely = (keys * sought[:, None]).sum(3) / math.sqrt(KEYS)
            return Pointed(places, functional.log_softmax(likely.transpose(1, 2).flatten(1), 1), self.turn(asking), tip, axes)


def axes_of(rotation: Tensor) -> Tensor:
    """Quaternions (N, 4), wxyz, as matrices (N, 3, 3)."""
    w, x, y, z = functional.normalize(rotation, dim=1).unbind(1)
    rows = (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip
    return torch.stack(rows, 1).unflatten(1, (3, 3))


def turns_to(wanted: Tensor, axes: Tensor) -> Tensor:
    """What turns (N, 3) lead from ``axes`` (N, 3, 3) to rotations (N, 4): the axis, in the frame of what is turned, times the angle."""
    between = axes.transpose(1, 2) @ axes_of(wanted)
    sines = torch.stack([
        between[:, 2, 1] - between[:, 1, 2], between[:, 0, 2] - between[:, 2, 0], between[:, 1, 0] - between[:, 0, 1],
    ], 1) / 2  # fmt: skip
    size = sines.norm(dim=1)
    cosine = (between.diagonal(dim1=1, dim2=2).sum(1) - 1) / 2
    return sines * (torch.atan2(size, cosine) / size.clamp(min=1e-6))[:, None]


def _at_most(offset: Tensor, reach: float) -> Tensor:
    """As far as ``reach``, in units of it."""
    return offset / offset.norm(dim=1, keepdim=True).clamp(min=reach)
