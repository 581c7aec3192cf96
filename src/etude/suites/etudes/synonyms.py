"""Other words for études, one for one: those that no training episode has. Who knows them only from elsewhere has to put them in."""

from __future__ import annotations

import re

OTHERS = {
    "put": "place", "bring": "carry", "into": "inside", "push": "shove", "towards": "toward", "touch": "tap", "touching": "tapping",
    "touched": "tapped", "build": "erect", "tower": "pile", "move": "shift", "stood": "rested", "turn": "rotate", "quarter": "right-angle",
    "undo": "reverse", "thing": "object", "things": "objects", "each": "every", "otherwise": "else", "exactly": "precisely",
    "number": "count", "colour": "hue", "shape": "form",
    "red": "scarlet", "green": "emerald", "blue": "azure", "yellow": "golden", "cyan": "turquoise", "magenta": "fuchsia",
    "orange": "tangerine", "white": "ivory",
    "cube": "block", "cubes": "blocks", "cylinder": "drum", "cylinders": "drums", "triangle": "wedge", "triangles": "wedges",
    "hexagon": "nut", "hexagons": "nuts", "star": "asterisk", "stars": "asterisks", "heart": "valentine", "hearts": "valentines",
    "diamond": "rhombus", "diamonds": "rhombuses", "area": "zone", "areas": "zones",
    "close": "shut", "take": "fetch", "store": "stow", "holds": "contains", "hold": "contain", "drawer": "compartment", "chest": "dresser",
    "top": "upper", "middle": "central", "spot": "position", "lies": "sits", "lie": "sit", "lay": "sat", "moving": "displacing",
    "can": "tin", "cans": "tins", "cup": "beaker", "cups": "beakers",
    "bottom": "lowest",
}  # fmt: skip
"""Usual words → others."""
USUAL = {other: word for word, other in OTHERS.items()}
_ARTICLE = re.compile(r"\ban? (?=([a-z]))")
_WORD = re.compile(r"[A-Za-z][A-Za-z-]*")


def reworded(text: str) -> str:
    """A text in the other words."""
    return _ARTICLE.sub(lambda match: "an " if match[1] in "aeiou" else "a ", _WORD.sub(lambda match: _other(match[0]), text))


def _other(word: str) -> str:
    found = OTHERS.get(word.lower(), word)
    return found[0].upper() + found[1:] if word[0].isupper() else found
