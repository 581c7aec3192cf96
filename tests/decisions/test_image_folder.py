"""Any folder of images with a table is a stimulus set."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from etude.decisions.stimuli.folder import ImageFolder
from etude.decisions.stimuli.sets import StimulusSet
from etude.names import EtudeError

Rows = list[dict[str, object]]


def make(folder: Path, table: str = "csv") -> Rows:
    """Two categories of two identities from two views; every image has a grey of its own."""
    rows: Rows = []
    for category in ("cups", "hats"):
        for identity in (1, 2):
            for view, split in ((0, "train"), (30, "test")):
                file = f"{category}-{identity}-{view}.png"
                Image.new("RGB", (40, 20), (20 * len(rows) + 10,) * 3).save(folder / file)
                size = "big" if identity == 1 else "small"
                rows.append({"file": file, "category": category, "identity": identity, "view": view, "split": split, "size": size})
    write(folder, rows, table)
    return rows


def write(folder: Path, rows: Rows, table: str = "csv") -> None:
    if table == "json":
        (folder / "properties.json").write_text(json.dumps(rows))
        return
    with (folder / "properties.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("table", ["csv", "json"])
def test_a_table_declares_items_properties_and_views(tmp_path: Path, table: str) -> None:
    make(tmp_path, table)
    found: StimulusSet = ImageFolder(tmp_path)
    assert found.properties["category"] == ("cups", "hats")
    assert found.properties["identity"] == ("cups 1", "cups 2", "hats 1", "hats 2")
    assert found.properties["size"] == ("big", "small")
    assert found.classes == {"category": (0, 0, 1, 1), "identity": (0, 1, 2, 3), "size": (0, 1, 0, 1)}
    assert (found.views("train"), found.views("test", 2), found.angles) == ((0,), (30,), ("0", "30"))
    assert found.angle(30) == 1


def test_pictures_are_letterboxed_with_nothing_above_and_below(tmp_path: Path) -> None:
    make(tmp_path)
    picture = ImageFolder(tmp_path).picture(1, 0, 64)
    assert picture.shape == (64, 64, 4)
    assert (picture[16:48] == (50, 50, 50, 255)).all()
    assert not picture[:16].any() and not picture[48:].any()


def test_transparent_images_keep_their_alpha(tmp_path: Path) -> None:
    make(tmp_path)
    image = np.zeros((32, 32, 4), np.uint8)
    image[8:24, 8:24] = (250, 120, 0, 255)
    Image.fromarray(image).save(tmp_path / "cups-1-0.png")
    picture = ImageFolder(tmp_path).picture(0, 0, 16)
    assert picture[0, 0, 3] == 0 and tuple(picture[8, 8]) == (250, 120, 0, 255)
    edge = picture[picture[..., 3] > 40][:, :3].astype(int)
    assert np.abs(edge - (250, 120, 0)).max() < 12  # no dark fringe


def test_one_identity_in_two_colours_is_two_items(tmp_path: Path) -> None:
    rows = make(tmp_path)
    rows[1]["size"] = "huge"
    write(tmp_path, rows)
    found = ImageFolder(tmp_path)
    assert found.classes["identity"] == (0, 0, 1, 2, 3)
    assert found.classes["size"] == (0, 1, 2, 0, 2)


def test_the_version_follows_the_images(tmp_path: Path) -> None:
    make(tmp_path)
    before = ImageFolder(tmp_path).version
    assert ImageFolder(tmp_path).version == before
    Image.new("RGB", (40, 20), (1, 2, 3)).save(tmp_path / "cups-1-0.png")
    assert ImageFolder(tmp_path).version != before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[3].update(file="gone.png"), "image 'gone.png' does not exist"),
        (lambda rows: rows[3].update(file="../outside.png"), "outside the folder"),
        (lambda rows: [row.pop("view") for row in rows], "no column 'view'; it needs file, category"),
        (lambda rows: rows[3].update(split="tests"), "unknown split 'tests'; did you mean 'test'"),
        (lambda rows: rows[3].update(view="left"), "row 4 .* whole number, got 'left'"),
        (lambda rows: rows[3].update(category=""), "row 4 .* has no category"),
        (lambda rows: rows[3].update(view=0), "view 0 of 'cups 2' occurs twice"),
        (lambda rows: [row.update(location="top") for row in rows], "cannot declare the property 'location'"),
        (lambda rows: rows.__delitem__(slice(6, 8)), "category 'hats' needs at least 2 identities, it has 1"),
        (lambda rows: rows.__delitem__(slice(4, 8)), "at least 2 categories, there is only 'cups'"),
    ],
)
def test_mistakes_in_the_table_are_named_in_one_line(tmp_path: Path, change: object, message: str) -> None:
    rows = make(tmp_path)
    change(rows)  # type: ignore[operator]
    write(tmp_path, rows)
    with pytest.raises(EtudeError, match=message) as caught:
        ImageFolder(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_folder_needs_exactly_one_table(tmp_path: Path) -> None:
    with pytest.raises(EtudeError, match=r"expected one table, properties\.csv or properties\.json, found none"):
        ImageFolder(tmp_path)
    make(tmp_path)
    write(tmp_path, make(tmp_path), "json")
    with pytest.raises(EtudeError, match="found 2"):
        ImageFolder(tmp_path)


def test_broken_tables_and_images_are_refused(tmp_path: Path) -> None:
    (tmp_path / "properties.json").write_text("[{")
    with pytest.raises(EtudeError, match="not JSON"):
        ImageFolder(tmp_path)
    make(tmp_path, "json")
    (tmp_path / "cups-1-0.png").write_text("no image")
    with pytest.raises(EtudeError, match=r"cups-1-0\.png cannot be read as an image"):
        ImageFolder(tmp_path).picture(0, 0)


def test_missing_views_are_refused(tmp_path: Path) -> None:
    make(tmp_path)
    found = ImageFolder(tmp_path)
    with pytest.raises(EtudeError, match="no val views that all items share"):
        found.views("val")
    with pytest.raises(EtudeError, match="item 0 has no view 7"):
        found.picture(0, 7)
