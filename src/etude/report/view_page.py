"""Views of episodes in pages: a page of their own, or figures of a report that come to life when they are pressed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from etude.evaluation.view import joined
from etude.report.markup import esc
from etude.report.page import document


def view_style() -> str:
    """The style sheet of views."""
    return _text("view.css")


def view_script() -> str:
    """The script of views; it begins when the page has been read."""
    return scene_script() + _text("viewer.js")


def scene_script() -> str:
    """The script with which a scene is drawn and walked around in, for pages that have controls of their own."""
    return _text("view.js") + _text("looking.js")


def _text(name: str) -> str:
    return resources.files("etude.report").joinpath(name).read_text(encoding="utf-8")


def view_data(views: Sequence[Mapping[str, Any]]) -> str:
    """The views as data inside a page."""
    text = json.dumps(joined(views), separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="views">{text}</script>'


def view_figure(number: int, view: Mapping[str, Any]) -> str:
    """A still of the view with this number in the page's data; a press on it opens the view in its place."""
    still = f'<img alt="{esc("The last moment of " + view["episode"])}" src="{view["still"]}">'
    return f'<div class="view" data-view="{number}">{still}<button type="button">Walk around</button></div>'


def view_page(views: Sequence[Mapping[str, Any]]) -> str:
    """The text of a page with views to choose from; it needs nothing else."""
    options = "".join(
        f'<option value="{k}">{esc(" · ".join(filter(None, (view["episode"], view["policy"], view["outcome"]))))}</option>'
        for k, view in enumerate(views)
    )
    hidden = " hidden" if len(views) == 1 else ""
    body = (
        f'<header class="views"><label{hidden}>Episode <select id="view-choice">{options}</select></label></header>'
        f'<main><div class="view alone" data-view="0"></div></main>{view_data(views)}'
    )
    title = views[0]["episode"] if len(views) == 1 else f"{len(views)} episodes"
    return document(f"etude: {title}", body, view_style(), view_script())


def write_view_page(views: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the page; folders are made as needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(view_page(views), encoding="utf-8")
