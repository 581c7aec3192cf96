"""What cards end with: how to cite what they are about and etude itself, and where to ask. Nothing in it depends on when or where."""

from __future__ import annotations

import re
from collections.abc import Mapping

LICENCE = "apache-2.0"
TITLE = "etude: compositional, language-conditioned robot manipulation, judged ability by ability"
AUTHORS = "the etude authors"
PLACES = {"dataset": "datasets/", "model": "", "space": "spaces/"}
"""Where the Hub has what is of a kind."""


def ending(title: str, kind: str, repository: str, version: str, protocol: str) -> str:
    """The last sections of a card: the entry of this ``title``, if it is in a ``repository`` (OWNER/NAME) of the Hub, that of the etude
    which made it, and where to ask."""
    owner, _, name = repository.partition("/")
    made = f"etude {version}, protocol {protocol}" if version else f"protocol {protocol}"
    place = f"Hugging Face Hub, {PLACES[kind]}{repository}"
    own = {"title": f"{{{_plain(title)}}}", "author": f"{{{_plain(owner)}}}", "howpublished": place, "note": f"made by {made}"}
    etude = {"title": f"{{{TITLE}}}", "author": f"{{{AUTHORS}}}", "note": made}
    entries = [*([_entry(name, own)] if name else []), _entry("etude", etude)]
    here = "the *Community* tab of this repository" if name else "whoever gave it to you"
    return f"""## Citing it

```bibtex
{chr(10).join(entries)}
```

## Asking

About what is here: {here}. A defect of etude is reported with the output of `etude doctor`, a number that seems wrong with the name of
its episode.
"""


def _entry(key: str, fields: Mapping[str, str]) -> str:
    lines = ",\n".join(f"  {name} = {{{_escaped(value)}}}" for name, value in fields.items())
    return f"@misc{{{re.sub(r'[^A-Za-z0-9-]', '-', key)},\n{lines}\n}}"


def _escaped(text: str) -> str:
    return re.sub(r"([&%$#_])", r"\\\1", text)


def _plain(text: str) -> str:
    """Without what TeX takes for something else, and that cannot be escaped in a letter."""
    return re.sub(r"[{}\\~^]", "", text)
