"""Any folder of images as a stimulus set.

The folder holds a table, ``properties.csv`` or ``properties.json`` (a list of objects), with one row for each image: ``file`` (relative to
the folder), ``category``, ``identity``, ``view`` (a whole number), ``split`` (train, val or test), and any further columns, each of which
becomes a property. Rows that agree in all properties are views of one item.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from etude.decisions.space import LOCATION, NUMBER, SPLITS, VIEW
from etude.decisions.stimuli.album import Album, Rgba
from etude.decisions.stimuli.sets import known_split
from etude.names import EtudeError

TABLES = ("properties.csv", "properties.json")
NEEDED = ("file", "category", "identity", "view", "split")
FEWEST = 2  # categories, and identities of a category: with less there is nothing to compare
RESERVED = (LOCATION, VIEW, NUMBER)  # what things have on a frame, not in a set


@dataclass(frozen=True)
class _Image:
    path: Path
    split: str


class ImageFolder:
    """The images of a folder, described by the table in it. Everything but the images themselves is read and checked at once."""

    def __init__(self, path: str | Path) -> None:
        self._folder = Path(path)
        rows = [_checked(row, number) for number, row in enumerate(_rows(self._folder), 1)]
        if not rows:
            raise EtudeError(f"{self._folder}: the table of properties has no rows")
        self._further = tuple(key for key in rows[0] if key not in NEEDED)
        # Two categories may both have an identity called "1": the words for an identity name its category too.
        clashing = len({row["identity"] for row in rows}) < len({(row["category"], row["identity"]) for row in rows})
        for row in rows:
            if clashing:
                row["identity"] = f"{row['category']} {row['identity']}"
        columns = ("category", "identity", *self._further)
        self.properties: Mapping[str, tuple[str, ...]] = {c: tuple(dict.fromkeys(row[c] for row in rows)) for c in columns}
        items = {key: number for number, key in enumerate(dict.fromkeys(tuple(row[c] for c in columns) for row in rows))}
        self.classes: Mapping[str, tuple[int, ...]] = {
            c: tuple(self.properties[c].index(key[k]) for key in items) for k, c in enumerate(columns)
        }
        self._images: dict[tuple[int, int], _Image] = {}
        for row in rows:
            key = items[tuple(row[c] for c in columns)], int(row["view"])
            if key in self._images:
                raise EtudeError(f"{self._folder}: view {key[1]} of {row['identity']!r} occurs twice, the second time as {row['file']!r}")
            self._images[key] = _Image(self._inside(row["file"]), row["split"])
        self._numbers = tuple(sorted({view for _, view in self._images}))
        self._check_sizes()
        self._album = Album(self._load)

    @property
    def name(self) -> str:
        """The folder's."""
        return self._folder.resolve().name

    @functools.cached_property
    def version(self) -> str:
        """A digest of the table and of all images."""
        total = hashlib.sha256(json.dumps([self.properties, self.classes], sort_keys=True).encode())
        for (item, view), image in sorted(self._images.items()):
            total.update(f"\n{item} {view} {image.split} ".encode() + hashlib.sha256(image.path.read_bytes()).digest())
        return f"folder-{total.hexdigest()[:12]}"

    @property
    def angles(self) -> tuple[str, ...]:
        """The view numbers of the table; equal numbers mean equal angles."""
        return tuple(str(n) for n in self._numbers)

    def views(self, split: str, item: int | None = None) -> tuple[int, ...]:
        """The views of a split: those of one item, or those that all items have."""
        known_split(split)
        found = self._views.get((split, item), ())
        if not found:
            whose = "that all items share" if item is None else f"of item {item}"
            raise EtudeError(f"{self._folder}: there are no {split} views {whose}")
        return found

    def angle(self, view: int) -> int:
        """The number of a view's angle."""
        if view not in self._numbers:
            raise EtudeError(f"{self._folder}: there is no view {view}")
        return self._numbers.index(view)

    def picture(self, item: int, view: int, pixels: int = 112) -> Rgba:
        """The image scaled into the middle of a square, (pixels, pixels, 4), read-only; what it does not cover is transparent."""
        if (item, view) not in self._images:
            raise EtudeError(f"{self._folder}: item {item} has no view {view}")
        return self._album.get(item, view, pixels)

    @functools.cached_property
    def _views(self) -> dict[tuple[str, int | None], tuple[int, ...]]:
        """The views of a split and an item; under None those that all items have."""
        found: dict[tuple[str, int | None], tuple[int, ...]] = {}
        for split in SPLITS:
            each: list[set[int]] = [set() for _ in self.classes["category"]]
            for (item, view), image in self._images.items():
                if image.split == split:
                    each[item].add(view)
            found |= {(split, k): tuple(sorted(views)) for k, views in enumerate(each)}
            found[split, None] = tuple(sorted(set.intersection(*each)))
        return found

    def _inside(self, file: str) -> Path:
        root = self._folder.resolve()
        path = (root / file).resolve()
        if not path.is_relative_to(root):
            raise EtudeError(f"{self._folder}: {file!r} lies outside the folder")
        if not path.is_file():
            raise EtudeError(f"{self._folder}: the image {file!r} does not exist")
        return path

    def _check_sizes(self) -> None:
        words = self.properties["category"]
        if len(words) < FEWEST:
            raise EtudeError(f"{self._folder}: a stimulus set needs at least {FEWEST} categories, there is only {words[0]!r}")
        for number, category in enumerate(words):
            pairs = zip(self.classes["category"], self.classes["identity"], strict=True)
            found = len({identity for c, identity in pairs if c == number})
            if found < FEWEST:
                raise EtudeError(f"{self._folder}: the category {category!r} needs at least {FEWEST} identities, it has {found}")

    def _load(self, item: int, view: int, pixels: int) -> Rgba:
        path = self._images[item, view].path
        try:
            with Image.open(path) as file:
                image = file.convert("RGBA")
        except (UnidentifiedImageError, OSError) as error:
            raise EtudeError(f"{path.name} cannot be read as an image: {str(error).splitlines()[0]}") from None
        scale = pixels / max(image.size)
        width, height = (max(round(side * scale), 1) for side in image.size)
        square = np.zeros((pixels, pixels, 4), np.uint8)
        x, y = (pixels - width) // 2, (pixels - height) // 2
        square[y : y + height, x : x + width] = np.asarray(image.resize((width, height), Image.Resampling.BICUBIC))
        return square


def _rows(folder: Path) -> list[dict[str, str]]:
    """The rows of the table as text."""
    found = [folder / name for name in TABLES if (folder / name).is_file()]
    if len(found) != 1:
        raise EtudeError(f"{folder}: expected one table, {TABLES[0]} or {TABLES[1]}, found {len(found) or 'none'}")
    text = found[0].read_text(encoding="utf-8-sig")
    if found[0].suffix == ".csv":
        rows: Any = [{k: v for k, v in row.items() if k is not None} for row in csv.DictReader(text.splitlines())]
    else:
        try:
            rows = json.loads(text)
        except json.JSONDecodeError as error:
            raise EtudeError(f"{found[0]}: not JSON: {error.msg} at line {error.lineno}") from None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise EtudeError(f"{found[0]}: expected a list of objects, one for each image")
    return [{key: "" if value is None else str(value).strip() for key, value in row.items()} for row in rows]


def _checked(row: dict[str, str], number: int) -> dict[str, str]:
    """The row, if it has all that is needed."""
    for column in NEEDED:
        if column not in row:
            raise EtudeError(f"the table of properties has no column {column!r}; it needs {', '.join(NEEDED)}")
    for column, value in row.items():
        if column in RESERVED:
            raise EtudeError(f"a stimulus set cannot declare the property {column!r}: it has another meaning")
        if not value:
            raise EtudeError(f"row {number} of the table of properties has no {column}")
    known_split(row["split"])
    if not row["view"].isdigit():
        raise EtudeError(f"row {number} of the table of properties: a view is a whole number, got {row['view']!r}")
    return row
