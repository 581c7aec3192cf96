"""Depth and segmentation made visible, and contact sheets."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from etude.names import rng

Picture = NDArray[np.uint8]


def depth_picture(depth: NDArray[np.float32]) -> Picture:
    """Depth (H, W) metres as grey: near is light, nothing is black."""
    seen = depth > 0
    if not seen.any():
        return np.zeros((*depth.shape, 3), np.uint8)
    near, far = float(depth[seen].min()), float(depth[seen].max())
    grey = np.where(seen, 235 - 190 * (depth - near) / max(far - near, 1e-6), 0.0)
    return np.repeat(np.rint(grey).astype(np.uint8)[..., None], 3, axis=2)


def segmentation_picture(ids: NDArray[np.uint16]) -> Picture:
    """Segmentation (H, W) in one colour for each id."""
    palette = np.zeros((int(ids.max()) + 1, 3), np.uint8)
    for i in range(1, len(palette)):
        stream = rng("pictures/segmentation", str(i))
        colour = colorsys.hsv_to_rgb((i * 0.381966) % 1.0, stream.uniform(0.45, 0.85), stream.uniform(0.65, 0.98))
        palette[i] = [round(255 * c) for c in colour]
    return np.asarray(palette[ids])


def sheet(tiles: Sequence[tuple[str, Picture]], columns: int = 12, tile: int = 112) -> Picture:
    """Labelled pictures in rows, each fitted into a square of ``tile`` pixels."""
    gap, label = 6, 15
    rows = math.ceil(len(tiles) / columns)
    width, height = columns * (tile + gap) + gap, rows * (tile + label + gap) + gap
    canvas = Image.new("RGB", (width, height), (250, 250, 248))
    pen, font = ImageDraw.Draw(canvas), ImageFont.load_default(10)
    for i, (name, picture) in enumerate(tiles):
        x, y = gap + (i % columns) * (tile + gap), gap + (i // columns) * (tile + label + gap)
        image = Image.fromarray(picture)
        if image.size != (tile, tile):
            image = image.resize((tile, tile), Image.Resampling.LANCZOS)
        canvas.paste(image, (x, y))
        text = name
        while text and pen.textlength(text, font) > tile:
            text = text[:-1]
        pen.text((x, y + tile + 1), text if text == name else text[:-1] + "…", (70, 74, 80), font)
    return np.asarray(canvas)


def stacked(pictures: Sequence[Picture]) -> Picture:
    """Pictures of different widths one below the other."""
    width = max(p.shape[1] for p in pictures)
    return np.vstack([np.pad(p, ((0, 0), (0, width - p.shape[1]), (0, 0)), constant_values=250) for p in pictures])


def save(picture: Picture, path: Path) -> None:
    """Write a PNG; folders are made as needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(path)
