"""Tokenisers: things (crops and boxes), words, and strokes, each as vectors of one width."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from etude.learn.samples import NUMBERS
from etude.learn.wording import BUCKETS
from etude.render.tokens import SIDE

HATS = 64  # of a coordinate
WORD_WIDTH = 64
FEATURES = 96  # of a picture, for each 8×8 pixels
PLACES = 256  # in a sentence


def hats(values: Tensor, low: float | Tensor, high: float | Tensor, count: int = HATS) -> Tensor:
    """Numbers (…) as (…, count): how near each is to evenly spaced knots; a straight line through them can be any curve of the number."""
    knots = torch.arange(count, device=values.device, dtype=torch.float32)
    at = ((values.float() - low) / (high - low)).clamp(0, 1) * (count - 1)
    return functional.relu(1 - (at[..., None] - knots).abs())


def gathered(table: Tensor, at: Tensor) -> Tensor:
    """Rows (…, width) of a table (N, width) by their numbers (…), 0 for −1. The gradient of a row that is asked for a thousand times is
    summed up by many threads, always in the same order; plain indexing leaves that to one."""
    return functional.embedding(at + 1, functional.pad(table, (0, 0, 1, 0)), padding_idx=0)


def jittered(pixels: Tensor, jitter: float) -> Tensor:
    """Pictures (N, 3, H, W) from −1 to 1 whose three colours vary; as they are with 0."""
    if not jitter:
        return pixels
    gain = 1 + jitter * torch.randn(len(pixels), 3, 1, 1, device=pixels.device)
    return (pixels + 1) * gain - 1 + 0.2 * jitter * torch.randn_like(pixels)


class PixelEncoder(nn.Module):
    """Pictures (N, 3, H, W) as features (N, 96, H/8, W/8), by small convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 4, 2, 1)
        self.down1, self.same1 = nn.Conv2d(32, 64, 3, 2, 1), nn.Conv2d(64, 64, 3, 1, 1)
        self.down2, self.same2 = nn.Conv2d(64, FEATURES, 3, 2, 1), nn.Conv2d(FEATURES, FEATURES, 3, 1, 1)
        self.norm1, self.norm2 = nn.GroupNorm(8, 64), nn.GroupNorm(8, FEATURES)

    def looks(self, crops: Tensor, jitter: float = 0.0) -> Tensor:
        """Of pictures as they are kept, bytes (N, H, W, 3). With ``jitter``, and while it learns, the three colours of each vary, so that
        no episode is known again by its pixels."""
        pixels = jittered(crops.permute(0, 3, 1, 2).to(self.stem.weight.dtype) / 127.5 - 1.0, jitter if self.training else 0.0)
        count = pixels.shape[0]
        if pixels.is_cuda:
            pixels = functional.pad(pixels, (0, 0) * 3 + (0, rounded(count) - count))
        found: Tensor = self(pixels)
        return found[:count]

    def forward(self, crops: Tensor) -> Tensor:
        x = functional.gelu(self.stem(crops))
        x = self.down1(x)
        x = x + self.same1(functional.gelu(self.norm1(x)))
        x = self.down2(functional.gelu(x))
        return functional.gelu(x + self.same2(functional.gelu(self.norm2(x))))


class CropEncoder(PixelEncoder):
    """A crop (N, 3, 32, 32) as a vector (N, width). Where in the crop something is stays known: grips depend on it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.out = nn.Linear(FEATURES * (SIDE // 8) ** 2, width)

    def forward(self, crops: Tensor) -> Tensor:
        out: Tensor = self.out(super().forward(crops).flatten(1))
        return out


class FrameTokens(PixelEncoder):
    """Square frames (N, 3, size, size) as ``grid`` × ``grid`` tokens (N, grid², width), row by row."""

    def __init__(self, width: int, size: int, grid: int, jitter: float = 0.0) -> None:
        super().__init__()
        self.grid, self.jitter = grid, jitter
        self.cells = nn.Conv2d(FEATURES, width, size // (8 * grid), size // (8 * grid))

    def tokens(self, features: Tensor) -> Tensor:
        """Tokens (N, grid², width) of what convolutions have made of frames, or of fewer cells (N, 96, h, w)."""
        out: Tensor = self.cells(features).flatten(2).transpose(1, 2)
        return out


def rounded(count: int) -> int:
    """A number of crops that is as large and one of few: a GPU plans convolutions anew for every number there is."""
    step = 2048 if count > 2048 else 1 << max(5, (count - 1).bit_length() - 1)
    return -(-count // step) * step


class ThingTokens(nn.Module):
    """Things in V views as tokens (N, width). ``size`` (width, height) is the pictures', in pixels."""

    def __init__(self, width: int, size: tuple[int, int], jitter: float = 0.0, views: int = 2) -> None:
        super().__init__()
        self.jitter = jitter
        self.crop = CropEncoder(width)
        self.view = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(views))
        self.box = nn.ModuleList(nn.Linear(4 * HATS, width) for _ in range(views))
        self.unseen = nn.Parameter(torch.zeros(views, width))
        self.mix = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        across, down = size
        self.register_buffer("extent", torch.tensor([across, down, down, across], dtype=torch.float32), persistent=False)

    def forward(self, crops: Tensor, boxes: Tensor, mask: Tensor, cells: Tensor | None = None) -> Tensor:
        """Of ``boxes`` (N, V, 4), where the ``mask`` (N, V) says that a view sees something, and ``crops`` (N, V, 32, 32, 3); or of crops
        (C, 32, 32, 3) that things share: ``cells`` (N, V) says which."""
        looks = self.crop.looks(crops if cells is not None else crops.flatten(0, 1), self.jitter)
        x = 0.0
        for v, view in enumerate(self.view):
            seen = view(looks[v :: len(self.view)]) if cells is None else gathered(view(looks), cells[:, v])
            place = hats(boxes[:, v], 0.0, self.extent).flatten(1).to(looks.dtype)
            x = x + torch.where(mask[:, v, None], seen + self.box[v](place), self.unseen[v])
        return x + self.mix(x)


class WordTokens(nn.Module):
    """Words by their two buckets (…, 2) as tokens (…, width), trained from scratch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(BUCKETS, WORD_WIDTH) for _ in range(2))
        self.out = nn.Linear(WORD_WIDTH, width)

    def forward(self, words: Tensor) -> Tensor:
        out: Tensor = self.out(self.tables[0](words[..., 0]) + self.tables[1](words[..., 1]))
        return out


class StrokeTokens(nn.Module):
    """Numbers of a stroke (…, 5) between ``low`` and ``high`` (5,), the first ``known`` of them, as tokens (…, width)."""

    def __init__(self, width: int, low: Tensor, high: Tensor) -> None:
        super().__init__()
        self.register_buffer("low", low, persistent=False)
        self.register_buffer("high", high, persistent=False)
        self.axes = nn.ModuleList(nn.Linear(HATS, width) for _ in range(NUMBERS))

    def parts(self, numbers: Tensor) -> Tensor:
        """Each number as a token of its own (…, 5, width)."""
        features = hats(numbers, self.low, self.high).to(self.axes[0].weight.dtype)
        return torch.stack([layer(features[..., k, :]) for k, layer in enumerate(self.axes)], -2)

    def forward(self, numbers: Tensor) -> Tensor:
        return self.parts(numbers).sum(-2)
