"""Colours: the palettes hold the published values, and names find them."""

import colorsys
import subprocess
import sys

import pytest

from etude.catalog.colours import FURNISHING, PALETTES, SEEN, UNSEEN, bare, colour, colour_names, is_colour, register_palette
from etude.names import EtudeError
from etude.suites.clevrskills.colours import PALETTE as CLEVRSKILLS
from etude.suites.vima.colours import PALETTE as VIMA


def test_bare_names_address_the_plain_palette():
    assert colour("red") == (255, 0, 0)
    assert colour("light grey") == FURNISHING["light grey"]


def test_other_palettes_are_qualified():
    assert colour("vima/red") == (255, 87, 89)
    assert colour("vima/gray") == (186, 176, 172)
    assert colour("clevrskills/purple") == (255, 0, 255)
    assert colour("clevrskills/black") == (51, 51, 51)


def test_hexadecimal_colours_need_no_name():
    assert colour("#0a10FF") == (10, 16, 255)


def test_palettes_have_the_published_counts():
    assert (len(SEEN), len(UNSEEN)) == (20, 5)
    assert len(VIMA) == 9 + 8 + 1
    assert len(CLEVRSKILLS) == 9


@pytest.mark.parametrize("name", [name for name in VIMA if name.startswith("dark ")])
def test_dark_colours_are_the_plain_ones_with_less_value(name):
    hue, saturation, value = colorsys.rgb_to_hsv(*(c / 255 for c in VIMA[name.removeprefix("dark ")]))
    expected = [255 * c for c in colorsys.hsv_to_rgb(hue, saturation, value - 0.3)]
    assert VIMA[name] == pytest.approx(expected, abs=1.0)


def test_every_listed_name_is_a_colour_of_three_bytes():
    names = colour_names()
    assert len(set(names)) == len(names)
    for name in names:
        rgb = colour(name)
        assert len(rgb) == 3 and all(isinstance(c, int) and 0 <= c <= 255 for c in rgb)


@pytest.mark.parametrize(("wrong", "nearest"), [("redd", "'red'"), ("dark blue", "'vima/dark blue'"), ("vima/purpel", "purple")])
def test_an_unknown_colour_is_refused_with_the_nearest_name(wrong, nearest):
    with pytest.raises(EtudeError, match="unknown colour") as error:
        colour(wrong)
    assert nearest in str(error.value)


@pytest.mark.parametrize("malformed", ["#12345", "#gggggg", "", "#1234567"])
def test_malformed_colours_are_refused(malformed):
    with pytest.raises(EtudeError):
        colour(malformed)


def test_a_palette_of_ones_own_is_found_by_its_prefix_and_knows_its_module():
    assert not is_colour("my_lab/moss")
    register_palette("my_lab", {"moss": (90, 110, 60)})
    assert colour("my_lab/moss") == (90, 110, 60) and "my_lab/moss" in colour_names()
    assert PALETTES.module_of("my_lab") == __name__ and bare("my_lab/moss") == "moss" and bare("brick") == "brick"
    with pytest.raises(EtudeError, match=rf"^{__name__}: {__name__} has the palette 'my_lab' already"):
        register_palette("my_lab", {})
    with pytest.raises(EtudeError, match="my_second_lab/snow must be three whole numbers from 0 to 255"):
        register_palette("my_second_lab", {"snow": (256, 256, 256)})


def test_colours_of_a_suite_are_found_in_a_process_that_has_not_loaded_it():
    code = "from etude.catalog.textures import known_texture; print(known_texture('vima/dark red'), known_texture('clevrskills/purple'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "vima/dark red clevrskills/purple\n"
