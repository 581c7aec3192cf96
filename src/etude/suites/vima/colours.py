"""VIMA's palette: what "vima/dark red" is."""

from etude.catalog.colours import TABLEAU, register_palette

PALETTE = {**TABLEAU, "olive": (128, 128, 0), "gray": (186, 176, 172)}  # gray: objects in prompts whose texture must not matter

register_palette("vima", PALETTE)
