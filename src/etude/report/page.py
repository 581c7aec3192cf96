"""One self-contained HTML page: headings, paragraphs, tables and pictures, nothing loaded from elsewhere."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from etude.prompts.pictures import data_url

POLICY = "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light dark; --ink: #1d2126; --paper: #fbfbfa; --line: #d9dcdf; --soft: #5d666f; --accent: #b5542b; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e8eaec; --paper: #16181b; --line: #33383d; --soft: #9aa3ab; --accent: #e58a5f; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 2.5rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
       font: 16px/1.55 ui-sans-serif, system-ui, "Segoe UI", sans-serif; }
h1 { font-size: 2.1rem; margin: 0 0 .3rem; letter-spacing: -.02em; }
h2 { margin: 2.6rem 0 .4rem; font-size: 1.25rem; border-top: 1px solid var(--line); padding-top: 1.2rem; }
p { margin: .3rem 0 .9rem; color: var(--soft); max-width: 78ch; }
.row { display: flex; flex-wrap: wrap; gap: .8rem; }
figure { margin: 0; } figure img { display: block; border-radius: 6px; max-width: 100%; image-rendering: auto; }
figcaption { font-size: .8rem; color: var(--soft); padding: .25rem .1rem; }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem 1.1rem .25rem 0; border-bottom: 1px solid var(--line); }
code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .92em; color: var(--accent); }
"""


def colours() -> dict[str, str]:
    """The colours of pages in the light, by their names in the style sheets: for pictures that stand in them or beside them."""
    sheets = resources.files("etude.report").joinpath("evaluation.css").read_text(encoding="utf-8") + STYLE
    return dict(reversed(re.findall(r"--(\w+): (#[0-9a-f]{6})", sheets)))  # those for the dark come second


class Page:
    """Collects blocks in order; ``write`` makes the file."""

    def __init__(self, title: str, lead: str = "") -> None:
        self.title = title
        self._blocks = [f"<h1>{html.escape(title)}</h1>"]
        if lead:
            self.text(lead)

    def heading(self, text: str) -> None:
        """A section."""
        self._blocks.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, text: str) -> None:
        """A paragraph; words between backquotes are set as code."""
        pieces = html.escape(text).split("`")
        marked = "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))
        self._blocks.append(f"<p>{marked}</p>")

    def figures(self, pictures: Sequence[tuple[str, NDArray[np.uint8]]]) -> None:
        """A row of pictures (H, W, 3) with captions."""
        items = [
            f'<figure><img alt="{html.escape(caption, quote=True)}" width="{image.shape[1]}" height="{image.shape[0]}" '
            f'src="{data_url(image)}"><figcaption>{html.escape(caption)}</figcaption></figure>'
            for caption, image in pictures
        ]
        self._blocks.append(f'<div class="row">{"".join(items)}</div>')

    def drawing(self, svg: str) -> None:
        """A drawing as SVG, made here."""
        self._blocks.append(f'<div class="row">{svg}</div>')

    def table(self, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """A plain table."""
        head = "".join(f"<th>{html.escape(h)}</th>" for h in header)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in row) + "</tr>" for row in rows)
        self._blocks.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

    def write(self, path: Path) -> None:
        """Write the page; folders are made as needed."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document(self.title, "\n".join(self._blocks)), encoding="utf-8")


def document(title: str, body: str, style: str = "", script: str = "", allowed: str = "") -> str:
    """The whole text of a page. Browsers are told to load nothing from anywhere, so that a page that would is broken at once;
    ``allowed`` is what else it may do, as content security policies say it."""
    rules = "; ".join(filter(None, (POLICY, allowed)))
    ending = f"<script>\n{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{rules}">\n<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}{style}</style></head>\n<body>\n{body}\n{ending}</body></html>\n"
    )
