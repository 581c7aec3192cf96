"""Colours: the palettes hold the published values, and names find them."""

import colorsys

import pytest

from etude.catalog.colours import PALETTES, SEEN, UNSEEN, VIMA, colour, colour_names
from etude.names import EtudeError


def test_bare_names_address_the_plain_palette():
    assert colour("red") == (255, 0, 0)
    assert colour("light grey") == PALETTES["plain"]["light grey"]


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
    assert len(PALETTES["clevrskills"]) == 9


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
