"""ClevrSkills' palette: what "clevrskills/purple" is."""

from etude.catalog.colours import register_palette

PALETTE = {
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "purple": (255, 0, 255),
    "cyan": (0, 255, 255),
    "white": (255, 255, 255),
    "black": (51, 51, 51),
    "grey": (128, 128, 128),
}

register_palette("clevrskills", PALETTE)
