"""The procedural stimuli: told apart by shape, not by colour; the same bytes every time."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray

from etude.decisions.space import CATEGORIES, SPLITS
from etude.decisions.stimuli import rendering
from etude.decisions.stimuli.album import Album
from etude.decisions.stimuli.models import BUILDERS, IDENTITIES, PALETTES, model
from etude.decisions.stimuli.rendering import ANGLES, VIEWS, sprite
from etude.decisions.stimuli.sets import Procedural, StimulusSet
from etude.names import EtudeError

Floats = NDArray[np.float64]
SMALL = 28  # pixels: about what a glance takes in
MODELS = len(BUILDERS) * IDENTITIES
ITEMS = MODELS * len(PALETTES)
BYTES = "323e94aeb3f03d10"


@pytest.fixture(scope="module")
def gallery() -> Floats:
    """All 64 models from all views, each in one of the colours, (64, 48, SMALL, SMALL, 4)."""
    return painted(0)


def painted(turn: int, views: Iterable[int] = range(len(VIEWS))) -> Floats:
    """All models from these views, every one of a category in the colour that comes ``turn`` after that of the gallery."""
    ours, colours = Procedural(), len(PALETTES)
    items = [colours * k + (k + turn) % colours for k in range(MODELS)]
    return np.array([[ours.picture(item, view, SMALL) for view in views] for item in items], float)


def shown(pictures: Floats) -> Floats:
    """Over black, (..., SMALL, SMALL, 3)."""
    return np.asarray(pictures[..., :3] * pictures[..., 3:] / 255)


def grey(pictures: Floats) -> Floats:
    """Silhouette and shading without colour, (..., SMALL, SMALL, 2)."""
    return np.stack([pictures[..., 3], shown(pictures) @ [0.299, 0.587, 0.114]], -1)


def mean_colour(pictures: Floats) -> Floats:
    return np.asarray(shown(pictures).sum((-3, -2)) / (pictures[..., 3:].sum((-3, -2)) / 255))


def distances(a: Floats, b: Floats) -> Floats:
    """Root mean squared differences between all rows of (N, …) and (M, …)."""
    p, q = a.reshape(len(a), -1), b.reshape(len(b), -1)
    squares = (p**2).sum(1)[:, None] + (q**2).sum(1) - 2 * p @ q.T
    return np.asarray(np.sqrt(np.maximum(squares, 0) / p.shape[1]))


def closest_views(pictures: Floats) -> list[Floats]:
    """For each category, the distance (8, 8) between any two of its identities from the views in which they are most alike."""
    found = []
    for start in range(0, MODELS, IDENTITIES):
        category = np.concatenate(pictures[start : start + IDENTITIES])
        found.append(distances(category, category).reshape(IDENTITIES, len(VIEWS), IDENTITIES, len(VIEWS)).min((1, 3)))
    return found


def of_split(split: str) -> list[int]:
    return [k for k, view in enumerate(VIEWS) if view.split == split]


def recognised(features: Floats, split: str, known: Floats | None = None) -> tuple[float, float]:
    """How often the nearest training view (of ``known``, if they are others) has the right category, and the right identity."""
    train, held_out = of_split("train"), of_split(split)
    near = distances(np.concatenate(features[:, held_out]), np.concatenate(features[:, train] if known is None else known)).argmin(1)
    guess, truth = near // len(train), np.repeat(np.arange(MODELS), len(held_out))
    return float(np.mean(guess // IDENTITIES == truth // IDENTITIES)), float(np.mean(guess == truth))


# ------------------------------------------------------------------------------------------------ the audit


@pytest.mark.parametrize("split", ["val", "test"])
def test_category_is_told_from_new_views_without_colour(gallery: Floats, split: str) -> None:
    category, identity = recognised(grey(gallery), split)
    assert category > 0.94
    assert identity > 0.85


@pytest.mark.parametrize("split", ["val", "test"])
def test_identity_is_told_from_new_views_with_colour(gallery: Floats, split: str) -> None:
    category, identity = recognised(shown(gallery), split)
    assert category > 0.97
    assert identity > 0.95


def test_category_is_told_of_identities_never_seen_by_shape(gallery: Floats) -> None:
    features, right = grey(gallery), []
    for k in range(IDENTITIES):
        new = np.arange(MODELS) % IDENTITIES == k
        near = distances(np.concatenate(features[new]), np.concatenate(features[~new])).argmin(1)
        seen = np.flatnonzero(~new)[near // len(VIEWS)] // IDENTITIES
        right.append(np.mean(seen == np.repeat(np.flatnonzero(new) // IDENTITIES, len(VIEWS))))
    assert np.mean(right) > 0.7  # chance is 1/8; couches and tables share a low outline from behind


def test_mean_colour_tells_little(gallery: Floats) -> None:
    category, identity = recognised(mean_colour(gallery), "test")
    assert category < 0.5
    assert identity < 0.4


def test_no_two_identities_of_a_category_look_alike_from_any_views(gallery: Floats) -> None:
    for category, nearest in zip(BUILDERS, closest_views(shown(gallery)), strict=True):
        assert nearest[~np.eye(IDENTITIES, dtype=bool)].min() > 15, category


def test_all_identities_of_a_category_differ_in_shape(gallery: Floats) -> None:
    for category, nearest in zip(BUILDERS, closest_views(gallery[..., 3]), strict=True):
        assert nearest[~np.eye(IDENTITIES, dtype=bool)].min() > 15, category


def test_identity_is_told_in_another_colour_by_shape_alone(gallery: Floats) -> None:
    others = painted(1, of_split("train"))
    assert recognised(grey(gallery), "test", grey(others))[1] > 0.9
    assert recognised(mean_colour(gallery), "test", mean_colour(others))[1] < 0.03  # chance is 1/64


def test_view_angles_can_be_told(gallery: Floats) -> None:
    pictures = shown(gallery)
    angle = np.array([view.angle for view in VIEWS])
    train, held_out = of_split("train"), of_split("val") + of_split("test")
    between = distances(np.concatenate(pictures[:, held_out]), np.concatenate(pictures[:, train]))
    blocks = between.reshape(MODELS, len(held_out), MODELS, len(train))
    right = [np.mean(angle[train][blocks[k, :, k].argmin(1)] == angle[held_out]) for k in range(MODELS)]
    assert np.mean(right) > 0.97
    assert min(right) > 0.7  # a quarter would be chance


# ------------------------------------------------------------------------------------------------ models and colours


def test_the_categories_are_the_papers() -> None:
    assert tuple(BUILDERS) == CATEGORIES
    assert all(len(builders) == IDENTITIES for builders in BUILDERS.values())


def test_every_identity_comes_in_every_colour() -> None:
    ours = Procedural()
    pairs = Counter(zip(ours.classes["identity"], ours.classes["colour"], strict=True))
    assert len(pairs) == MODELS * len(PALETTES)
    assert set(pairs.values()) == {1}


def test_every_model_has_a_title_of_its_own_and_closed_parts() -> None:
    models = [model(category, k) for category in BUILDERS for k in range(IDENTITIES)]
    assert len({m.title for m in models}) == MODELS
    for m in models:
        for mesh in m.parts.values():
            assert np.isfinite(mesh.vertices).all() and np.isfinite(mesh.normals).all(), m.title
            assert mesh.mass_properties()[0] > 0, m.title  # not inside out


# ------------------------------------------------------------------------------------------------ views


def test_no_view_is_in_two_splits_and_every_split_has_all_angles() -> None:
    ours = Procedural()
    views = [ours.views(split) for split in SPLITS]
    assert sorted(v for group in views for v in group) == list(range(len(VIEWS)))
    assert len({(v.yaw, v.pitch) for v in VIEWS}) == len(VIEWS)
    for group in views:
        assert {ours.angle(v) for v in group} == set(range(len(ANGLES)))


def test_views_go_all_around_and_none_is_along_an_axis_or_from_above() -> None:
    for view in VIEWS:
        assert 10 <= view.pitch <= 35
        assert min(view.yaw % 90, 90 - view.yaw % 90) > 15
    assert np.diff(sorted(view.yaw for view in VIEWS)).max() <= 35


# ------------------------------------------------------------------------------------------------ sprites


def test_sprites_fill_the_cell_and_lie_in_its_middle(gallery: Floats) -> None:
    solid = gallery[..., 3] > 0
    for item in range(MODELS):
        for view in range(len(VIEWS)):
            x, y = np.flatnonzero(solid[item, view].any(0)), np.flatnonzero(solid[item, view].any(1))
            assert 0.8 * SMALL < max(np.ptp(x), np.ptp(y)) + 1 <= 0.97 * SMALL
            assert abs(x[0] + x[-1] - (SMALL - 1)) <= 2 and abs(y[0] + y[-1] - (SMALL - 1)) <= 2


def test_sprites_have_smooth_edges_and_are_empty_outside() -> None:
    picture = sprite("chairs", 1, "red", 0)
    assert picture.shape == (112, 112, 4) and picture.dtype == np.uint8
    assert len(np.unique(picture[..., 3])) > 5
    assert not picture[picture[..., 3] == 0].any()
    assert not picture[[0, -1]].any() and not picture[:, [0, -1]].any()


def test_a_large_sprite_shows_what_a_small_one_does() -> None:
    large, small = (sprite("boats", 2, "green", 5, pixels).astype(float) for pixels in (224, 56))
    coarse = shown(large).reshape(56, 4, 56, 4, 3).mean((1, 3))
    assert np.abs(coarse - shown(small)).mean() < 3


def test_same_item_and_view_give_same_bytes_in_any_order() -> None:
    wanted = [(9, 3, 64), (40, 11, 64), (9, 17, 64), (9, 3, 40)]
    first = [Procedural().picture(*key).tobytes() for key in wanted]
    fresh = Album(rendering.drawn)
    again = [fresh.get(*key).tobytes() for key in reversed(wanted)]
    assert again[::-1] == first


def test_the_bytes_are_those_of_this_version() -> None:
    total = hashlib.sha256()
    for item in range(ITEMS):
        total.update(Procedural().picture(item, (7 * item) % len(VIEWS), SMALL).tobytes())
    # If this fails on purpose, count up GENERATOR in sets.py.
    assert (Procedural.version, total.hexdigest()[:16]) == ("etude-stimuli-2/etude-raster-1", BYTES)


def test_sprites_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        sprite("cars", 0, "red", 0)[0, 0, 0] = 1


def test_an_album_forgets_the_least_used_pictures() -> None:
    drawn: list[int] = []

    def draw(item: int, view: int, pixels: int) -> NDArray[np.uint8]:
        drawn.append(item)
        return np.zeros((pixels, pixels, 4), np.uint8)

    album = Album(draw, limit=2 * 10 * 10 * 4)
    for item in (0, 1, 0, 2, 0, 1):
        album.get(item, 0, 10)
    assert drawn == [0, 1, 2, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("chair", 0, "red", 0), "did you mean 'chairs'"),
        (("chairs", 0, "rad", 0), "did you mean 'red'"),
        (("chairs", 8, "red", 0), "identities 0 to 7, got 8"),
        (("chairs", 0, "red", 48), "views are numbered 0 to 47, got 48"),
        (("chairs", 0, "red", 0, 0), "1 to 2048 pixels"),
    ],
)
def test_what_does_not_exist_is_refused_in_one_line(arguments: tuple[str, int, str, int], message: str) -> None:
    with pytest.raises(EtudeError, match=message):
        sprite(*arguments)


def test_unknown_splits_and_items_are_refused() -> None:
    with pytest.raises(EtudeError, match="did you mean 'train'"):
        Procedural().views("trian")
    with pytest.raises(EtudeError, match="items are numbered 0 to 255, got 256"):
        Procedural().picture(256, 0)


def test_ours_is_a_stimulus_set() -> None:
    ours: StimulusSet = Procedural()
    assert set(ours.properties) == set(ours.classes)
    for prop, values in ours.classes.items():
        assert len(values) == ITEMS and set(values) == set(range(len(ours.properties[prop])))
