"""Other words for the instructions of the real-robot tasks; sentences that HiMan-Bench has too are reworded as there."""

from __future__ import annotations

from etude.names import EpisodeName, Stream
from etude.perturb.paraphrase.templates import Form
from etude.suites.himan import rewording as shared

ITEM = r"(?P<what>the [\w ]+?)"
_form = Form.maker(shared.SHARED)
FORMS: dict[str, Form] = {
    "box to table": _form(
        rf"pick {ITEM} from the box and place it on the table",
        "<asked><take> {what} from the box and <put> it <onto> the table.",
        "<asked>get {what} out of the box<then> <put> it <onto> the table.",
        "{what} <must> go from the box onto the table.",
        "<ensure> {what} from the box ends up on the table.",
    ),
    "into the drawer": _form(
        rf"pick {ITEM} from the (?P<where>table|box) and place it into (?P<drawer>the opened (?:top|middle|bottom) drawer)",
        "<asked><take> {what} from the {where} and <put> it <into> {drawer}.",
        "<asked><take> {what} from the {where}<then> <put> it <into> {drawer}.",
        "{what} <must> go from the {where} into {drawer}.",
        "<ensure> {what} from the {where} ends up in {drawer}.",
    ),
    "in and close": _form(
        rf"pick {ITEM} from the (?P<where>table|box), put it into the opened drawer, and then close it",
        "<asked><take> {what} from the {where}, <put> it <into> the opened drawer, and <shut> the drawer <later>.",
        "{what} <must> go from the {where} into the opened drawer, which <must> be [closed|shut] <later>.",
    ),
    "open, in and close": _form(
        rf"open the top drawer, pick {ITEM} from the (?P<where>table|box), put it (?:inside|into the drawer), and then close the drawer",
        "<asked>open the top drawer, <take> {what} from the {where}, <put> it <into> the drawer, and <shut> the drawer <later>.",
        "<asked>[pull the top drawer open|open up the top drawer], <put> {what} from the {where} <into> it<then> <shut> the drawer.",
    ),
}  # fmt: skip
"""By what is done. No sentence has two of these forms."""


def reword(text: str, name: EpisodeName, stream: Stream) -> str | None:
    """The instruction in other words, without capitals; None if one of its lines has none of the known forms."""
    found = [_line(line, name, stream) for line in text.split("\n")]
    return " ".join(line for line in found if line is not None) if all(found) else None


def _line(line: str, name: EpisodeName, stream: Stream) -> str | None:
    own = next((said for form in FORMS.values() if (said := form.reworded(line, stream)) is not None), None)
    return own if own is not None else shared.reword(line, name, stream)
