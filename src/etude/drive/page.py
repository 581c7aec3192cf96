"""The page from which a person drives: a view of the scene, what is to be done, and keys to do it with."""

from __future__ import annotations

from importlib import resources

from etude.report.markup import esc
from etude.report.page import document
from etude.report.view_page import scene_script, view_style

KEYS: tuple[tuple[str, str, str], ...] = (  # what, on a keyboard, on a gamepad
    ("away, nearer, left, right", "W S A D, or arrows", "left stick"),
    ("up, down", "R F, or page up, page down", "right stick, up and down"),
    ("turn left, right", "Q E", "right stick, left and right"),
    ("tilt away, towards you", "I K", "cross, up and down"),
    ("tilt left, right", "J L", "cross, left and right"),
    ("slowly", "shift", "either trigger"),
    ("open or close the hand", "space", "A (lowest)"),
    ("keep it, and go on", "enter", "start"),
    ("throw it away, begin again", "backspace", "select"),
    ("next, previous episode", "N B", "right, left shoulder"),
    ("pause", "P", "X (left)"),
    ("look from here, through a camera", "0, 1 to 9", ""),
    ("these keys", "H", "Y (highest)"),
)
BUTTONS = (("keep", "Keep", "enter"), ("again", "Begin again", "backspace"), ("previous", "Previous", "B"), ("next", "Next", "N"),
           ("pause", "Pause", "P"), ("help", "Keys", "H"), ("finish", "Finish", ""))  # fmt: skip


def drive_page(where: str, failures: bool) -> str:
    """The text of the page; ``where`` is the folder things are kept in, ``failures`` says that they need not be solved."""
    rows = "".join(f"<tr><th scope='row'>{esc(what)}</th><td>{esc(key)}</td><td>{esc(pad)}</td></tr>" for what, key, pad in KEYS)
    buttons = "".join(
        f'<button type="button" data-do="{do}">{esc(text)}{f"<kbd>{esc(key)}</kbd>" if key else ""}</button>' for do, text, key in BUTTONS
    )
    body = f"""<main class="view drive" data-failures="{"yes" if failures else ""}" data-where="{esc(where)}">
<div class="stage"><div class="names"></div><p class="status" role="status"></p></div>
<div class="viewpoints" role="group" aria-label="Look from"></div>
<aside>
<p class="name"></p>
<div class="told"></div>
<div class="clock"><span class="hand"></span><output></output></div>
<progress max="1" value="1" aria-label="time left"></progress>
<ol class="goal"></ol>
<p class="note" role="alert"></p>
<div class="deeds">{buttons}</div>
<p class="kept"></p>
</aside>
<dialog class="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2>
<table><thead><tr><th></th><th scope="col">keyboard</th><th scope="col">gamepad</th></tr></thead><tbody>{rows}</tbody></table>
<p>Time begins with the first thing you do. Directions are as you see them: drag to walk around, with shift to move aside, wheel to come
nearer. The red thread hangs down from the hand.</p>
<form method="dialog"><button autofocus>Drive<kbd>H</kbd></button></form></dialog>
</main>"""
    style, script = (resources.files("etude.drive").joinpath(name).read_text(encoding="utf-8") for name in ("drive.css", "drive.js"))
    return document("etude: drive", body, view_style() + style, scene_script() + script, "connect-src 'self'")
