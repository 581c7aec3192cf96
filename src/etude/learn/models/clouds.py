"""Clouds of points: drawn anew from orthographic views, moved as a whole, zoomed into; and rotations as six numbers.

Places are shares of a cube, (…, 3) from 0 to 1. The views are from above, from +x and from +y: each lacks the axis along which it looks.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

VIEWS = ((0, 1, 2), (1, 2, 0), (0, 2, 1))  # axes down and across a picture, and the one along which it looks, from its greater end
ABOVE = VIEWS[:1]
CHANNELS = 7  # of a picture: three colours, three coordinates, and whether anything is there
DEEP = (1 << 20) - 1  # steps of depth
WIDE = 21  # bits for the number of a point
NOTHING = 1 << 62
FILLED = 2  # times a picture is halved to fill the gaps between points


def drawn(places: Tensor, colours: Tensor, there: Tensor, size: int, views: Sequence[tuple[int, int, int]] = VIEWS) -> Tensor:
    """Pictures (B, V, 7, size, size) of the points at ``places`` (B, P, 3) with ``colours`` (B, P, 3) that are ``there`` (B, P) and in the
    cube. Of those that fall on one pixel the nearest to the viewer is seen; gaps show what a picture of half the size does."""
    seen = there & ((places >= 0) & (places < 1)).all(-1)
    features = torch.cat([colours, 2 * places - 1, torch.ones_like(places[..., :1])], -1).to(colours.dtype)
    number = torch.arange(places.shape[1], device=places.device)
    pixels = (places * size).long().clamp(0, size - 1)
    far = ((1 - places) * DEEP).long()
    pictures = []
    for down, across, along in views:
        at = torch.where(seen, pixels[..., down] * size + pixels[..., across], size * size)
        keys = torch.full((len(places), size * size + 1), NOTHING, device=places.device)
        keys = keys.scatter_reduce(1, at, (far[..., along] << WIDE) + number, "amin")[:, :-1].view(-1, size, size)
        nearest = _without_gaps(keys).flatten(1)
        shown = nearest != NOTHING
        point = torch.where(shown, nearest & ((1 << WIDE) - 1), 0)
        found = features.gather(1, point[..., None].expand(-1, -1, CHANNELS)) * shown[..., None]
        pictures.append(found.transpose(1, 2).unflatten(2, (size, size)))
    return torch.stack(pictures, 1)


def _without_gaps(keys: Tensor) -> Tensor:
    """The nearest points of pixels (B, S, S), with those of larger pixels where there are none."""
    smaller = keys
    for level in range(1, FILLED + 1):
        smaller = _lesser(smaller[:, ::2], smaller[:, 1::2])
        smaller = _lesser(smaller[:, :, ::2], smaller[:, :, 1::2])
        larger = smaller[:, :, None, :, None].expand(-1, -1, 1 << level, -1, 1 << level).flatten(3, 4).flatten(1, 2)
        keys = torch.where(keys == NOTHING, larger, keys)
    return keys


def _lesser(one: Tensor, other: Tensor) -> Tensor:
    """The lesser of numbers of 64 bits. Of some that are near each other onnxruntime 1.31 takes the wrong one for the minimum."""
    return torch.where(one < other, one, other)


def zoomed(places: Tensor, centre: Tensor, share: float | Tensor) -> Tensor:
    """Places (B, …, 3) in a smaller cube around ``centre`` (B, 3), whose side is this share of the larger one's; or those along each
    axis (3,) are."""
    return (places - centre.view(len(centre), *[1] * (places.ndim - 2), 3)) / share + 0.5


def sampled(pictures: Tensor, places: Tensor) -> Tensor:
    """Features (B, C) of pictures (B, C, H, W) at places (B, 2), shares of their height and width."""
    at = 2 * places.flip(1) - 1
    return functional.grid_sample(pictures.float(), at[:, None, None], padding_mode="border", align_corners=False).flatten(1)


class RigidMotion:
    """A ``turn`` (B,) about the vertical through the middle of the cube (rad), and a ``shift`` (B, 3), as shares of its side.

    Sums of products stand written out: under autocast a product of matrices would be rounded to centimetres.
    """

    def __init__(self, turn: Tensor, shift: Tensor) -> None:
        self._cos, self._sin, self._shift = turn.cos()[:, None], turn.sin()[:, None], shift[:, None]

    def turned(self, vectors: Tensor) -> Tensor:
        """Vectors (B, N, 3), turned."""
        x, y, z = vectors.unbind(-1)
        return torch.stack([self._cos * x - self._sin * y, self._sin * x + self._cos * y, z], -1)

    def moved(self, places: Tensor) -> Tensor:
        """Places (B, N, 3), turned and shifted."""
        return self.turned(places - 0.5) + 0.5 + self._shift


def matrices(quaternions: Tensor) -> Tensor:
    """Rotations (…, 3, 3) of quaternions (…, 4), wxyz, of any length."""
    w, x, y, z = functional.normalize(quaternions.float(), dim=-1).unbind(-1)
    rows = (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip
    return torch.stack(rows, -1).unflatten(-1, (3, 3))


def six_numbers(rotations: Tensor) -> Tensor:
    """The first two columns (…, 6) of rotations (…, 3, 3)."""
    return rotations[..., :2].transpose(-1, -2).flatten(-2)


def from_six_numbers(numbers: Tensor) -> Tensor:
    """The rotations (…, 3, 3) whose first two columns are nearest to numbers (…, 6)."""
    first = functional.normalize(numbers[..., :3].float(), dim=-1)
    second = numbers[..., 3:].float()
    second = functional.normalize(second - (first * second).sum(-1, keepdim=True) * first, dim=-1)
    return torch.stack([first, second, torch.linalg.cross(first, second)], -1)
