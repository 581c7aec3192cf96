"""Textures: every published name is there, tiles without a seam, and gives the same bytes everywhere."""

import hashlib
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from etude.catalog.colours import colour, colour_names, is_colour
from etude.catalog.textures import NUMBERED, TEXTURES, register_texture, texture, texture_names
from etude.names import EtudeError
from etude.suites.vima.colours import PALETTE as VIMA

HUES = ("red", "yellow", "green", "blue", "purple")
PAIRS = [f"{a} and {b}" for a, b in itertools.combinations(HUES, 2)]
IMAGES = ["brick", "tiles", "wooden", "granite", "plastic", "polka dot", "checkerboard", "tiger", "magma", "rainbow"]
TWO_TONED = [f"{pair} {design}" for design in ("stripe", "polka dot") for pair in PAIRS] + [f"{hue} swirl" for hue in HUES]
DARK = [f"dark {name}" for name in TWO_TONED]
PAISLEYS = [f"{hue} paisley" for hue in HUES]
VIMA_RECORDS = [*IMAGES, *TWO_TONED, *DARK, *PAISLEYS, *(f"vima/{name}" for name in VIMA if name != "gray")]
CLEVRSKILLS_IMAGES = [
    *("brick", "checkerboard", "granite", "magma", "plastic", "rainbow", "tiger", "tiles", "wood", "swirl", "polka dot"),
    *("black paisley", *PAISLEYS, *TWO_TONED, *DARK),
]
FURNISHING = ["light wood", "dark wood", "floor planks", "concrete", "fabric", "carpet", "marble", "plaster"]
NUMBERS = [f"numbered {i}" for i in range(NUMBERED)]
PATTERNS = [name for name in texture_names() if not is_colour(name)] + NUMBERS


def test_all_82_records_of_vima_exist():
    assert len(set(VIMA_RECORDS)) == 82
    assert set(VIMA_RECORDS) <= set(texture_names())


def test_all_76_textures_of_clevrskills_exist():
    names = {*CLEVRSKILLS_IMAGES, *(name for name in colour_names() if name.startswith("clevrskills/"))}
    assert (len(set(CLEVRSKILLS_IMAGES)), len(names)) == (67, 76)
    assert names <= set(texture_names())


def test_the_numbered_family_covers_himans_213():
    assert NUMBERED >= 213
    assert all(texture(name).shape == (256, 256, 3) for name in NUMBERS)


def test_scenes_find_their_furnishing():
    assert set(FURNISHING) <= set(texture_names())


def test_names_are_listed_once_and_without_numbers():
    names = texture_names()
    assert len(set(names)) == len(names)
    assert not set(names) & set(NUMBERS)


@pytest.mark.parametrize("name", ["red", "vima/dark red", "#102030"])
def test_a_colour_is_a_solid_texture(name):
    assert texture(name).tolist() == [[list(colour(name))]]


def test_patterns_are_read_only_bytes_painted_once():
    for name in [*PATTERNS, "red"]:
        pixels = texture(name)
        assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[0] == pixels.shape[1]
        assert pixels is texture(name)
        with pytest.raises(ValueError, match="read-only"):
            pixels[0, 0, 0] = 1


@pytest.mark.parametrize("axis", [0, 1])
def test_patterns_tile_without_a_seam(axis):
    for name in PATTERNS:
        pixels = texture(name).astype(np.float64)
        steps = np.abs(pixels - np.roll(pixels, 1, axis)).mean(axis=(1 - axis, 2))  # steps[0] is the one across the seam
        assert steps[0] <= 1.3 * steps[1:].max() + 0.5, name


def test_patterned_names_show_vimas_colours():
    pixels = texture("dark red and blue stripe").reshape(-1, 3)
    values, counts = np.unique(pixels, axis=0, return_counts=True)
    top = {tuple(int(c) for c in values[i]) for i in np.argsort(counts)[-2:]}
    assert top == {VIMA["dark red"], VIMA["dark blue"]}


@pytest.mark.parametrize("name", TWO_TONED)
def test_dark_twins_are_darker(name):
    assert texture(f"dark {name}").mean() < texture(name).mean() - 15


def signature(name: str) -> np.ndarray:
    """What one sees at a glance: a colour histogram (4 levels a channel, softly binned) and how busy each direction is."""
    pixels = texture(name).astype(np.float64)
    small = pixels.reshape(64, 4, 64, 4, 3).mean(axis=(1, 3)).reshape(-1, 3) / 255 * 3
    low = np.minimum(np.floor(small), 2).astype(int)
    part = small - low
    histogram = np.zeros(64)
    for corner in itertools.product((0, 1), repeat=3):
        weight = np.prod(np.where(corner, part, 1 - part), axis=1)
        np.add.at(histogram, ((low + corner) * (16, 4, 1)).sum(axis=1), weight / len(small))
    grey = pixels.mean(axis=2)
    busy = [np.abs(grey - np.roll(grey, step, axis)).mean() / 255 for axis in (0, 1) for step in (1, 4, 16)]
    return np.concatenate([histogram, busy])


def test_no_two_numbered_textures_look_alike():
    signatures = np.stack([signature(name) for name in NUMBERS])
    apart = np.abs(signatures[:, None] - signatures[None]).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    first, second = np.unravel_index(apart.argmin(), apart.shape)
    assert apart.min() > 0.25, f"{NUMBERS[first]} and {NUMBERS[second]}: {apart.min():.3f}"


def test_another_process_paints_the_same_bytes():
    """All named patterns and every seventh numbered one, among which is each design of the family."""
    program = (
        "import hashlib, sys; from etude.catalog.textures import texture; total = hashlib.sha256()\n"
        "for name in sys.stdin.read().splitlines(): total.update(texture(name).tobytes())\n"
        "print(total.hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    run = [sys.executable, "-c", program]
    # in another order, too: painting one texture must not move another
    names = [*reversed(NUMBERS[::7]), *reversed([name for name in PATTERNS if name not in NUMBERS])]
    answer = subprocess.run(run, input="\n".join(names), capture_output=True, text=True, env=environment, check=True)
    here = hashlib.sha256()
    for name in names:
        here.update(texture(name).tobytes())
    assert answer.stdout.strip() == here.hexdigest()


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [("bricks", "'brick'"), ("red and yelow stripe", "'red and yellow stripe'"), ("numbered 240", "numbered 24"), ("rad", "red")],
)
def test_an_unknown_texture_is_refused_with_the_nearest_name(wrong, nearest):
    with pytest.raises(EtudeError, match="unknown texture") as error:
        texture(wrong)
    assert nearest in str(error.value)


def test_a_painter_of_ones_own_is_a_texture_like_any_other():
    assert texture("brick") is not None  # registration works after the first look, too

    @register_texture("my felt")
    def felt(stream):
        return np.full((3, 1, 1), 90.0) + np.array([[stream.uniform(0.0, 20.0) for _ in range(256)]])

    assert texture("my felt").shape == (256, 256, 3) and len(np.unique(texture("my felt"))) > 5
    assert "my felt" in texture_names() and TEXTURES.module_of("my felt") == __name__
    with pytest.raises(EtudeError, match="has the texture 'my felt' already"):
        register_texture("my felt")(felt)
    with pytest.raises(EtudeError, match="'red' is a colour already"):
        register_texture("red")(felt)


def test_a_painting_of_the_wrong_form_is_refused():
    register_texture("my photograph")(lambda stream: np.zeros((256, 256, 3)))
    with pytest.raises(EtudeError, match=r"painted as \(256, 256, 3\); expected what broadcasts to \(3, 256, 256\)"):
        texture("my photograph")
