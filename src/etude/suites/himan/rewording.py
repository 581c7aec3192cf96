"""Other words for the instructions of HiMan-Bench (HiMan-Bench 3.2).

Each sentence has one form, which is taken apart, and meta-templates that say the same; which drawer and which box is taken over letter by
letter. Instructions that say the stages, or their halves, one on each line, are reworded line by line, and stay in their order.
"""

from __future__ import annotations

from etude.names import EpisodeName, Stream
from etude.perturb.paraphrase.templates import Form

SHARED = {
    "asked": "||please |now |go ahead and |your task is to |your job is to |you should |you have to |I want you to |I would like you to ",
    "ensure": "make sure that|see to it that",
    "must": "should|must|has to|needs to",
    "need": "should|must|have to|need to",
    "put": "put|place|set",
    "take": "pick up|take|grab",
    "remove": "take {what} out of|remove {what} from|get {what} out of|fetch {what} from",
    "the": "take the block out of|remove the block from|get the block out of",
    "later": "afterwards|after that",
    "both": "take two blocks out of|remove two blocks from|get two blocks out of",
    "into": "into|inside|in",
    "onto": "on|onto",  # "on top of" would sound like a drawer
    "top": "the drawer's surface|the surface of the drawer",
    "then": ", then| and then",
    "shut": "close|shut",
    "dirt": "dirt|the dirt|all the dirt",
    "pan": "dustpan|the dustpan",
}
DRAWER = r"the (?:top|middle|bottom) drawer"
ON_TOP = r"the drawer's surface"
_form = Form.maker(SHARED)
FORMS: dict[str, Form] = {
    "open": _form(
        rf"open (?P<where>{DRAWER})",
        "<asked>[open {where}|pull {where} open|open up {where}].",
        "{where} <must> be [opened|pulled open].",
        "<ensure> {where} is [open|opened|pulled open].",
    ),
    "close": _form(
        rf"close (?P<where>{DRAWER})",
        "<asked>[<shut> {where}|push {where} shut].",
        "{where} <must> be [closed|shut|pushed shut].",
        "<ensure> {where} is [closed|shut|pushed shut].",
    ),
    "put": _form(
        rf"put (?P<what>the [\w ]+?) in (?P<where>{DRAWER}|the cupboard)",
        "<asked><put> {what} <into> {where}.",
        "<asked><take> {what} and <put> it <into> {where}.",
        "<asked><take> {what}<then> <put> it <into> {where}.",
        "<into> {where}, <put> {what}.",
        "{what} <must> go [into|inside] {where}.",
        "<ensure> {what} ends up [in|inside] {where}.",
    ),
    "down": _form(
        r"put (?P<what>the [\w ]+?) on the table",
        "<asked><put> {what} <onto> the table.",
        "<asked><take> {what} and <put> it <onto> the table.",
        "<asked><take> {what}<then> <put> it <onto> the table.",
        "<onto> the table, <put> {what}.",
        "{what} <must> go <onto> the table.",
        "<ensure> {what} ends up on the table.",
    ),
    "out": _form(
        rf"take (?P<what>the [\w ]+?) out of (?P<where>{DRAWER}) and place (?P=what) on {ON_TOP}",
        "<asked><remove> {where} and <put> it <onto> <top>.",
        "<asked><remove> {where}<then> <put> it <onto> <top>.",
        "<asked><take> {what} from {where} and <put> it <onto> <top>.",
        "{what} <must> go from {where} onto <top>.",
        "<ensure> {what} from {where} ends up on <top>.",
    ),
    "drop": _form(
        r"drop (?P<what>the [\w ]+) into the dustpan",
        "<asked>drop {what} <into> the dustpan.",
        "<asked>let {what} [fall|drop] into the dustpan.",
        "<asked><take> {what} and drop it into the dustpan.",
        "<asked><take> {what}<then> drop it into the dustpan.",
        "into the dustpan, drop {what}.",
        "{what} <must> be dropped into the dustpan.",
        "<ensure> {what} [falls|is dropped] into the dustpan.",
    ),
    "sweep": _form(
        r"sweep dirt to dustpan",
        "<asked>sweep <dirt> [to|into] <pan>.",
        "<asked>use the broom to sweep <dirt> into <pan>.",
        "with the broom, sweep <dirt> into <pan>.",
        "[the dirt|all the dirt] <must> be swept into <pan>.",
        "<ensure> [the dirt|all the dirt] is swept into <pan>.",
    ),
    "put and close": _form(
        rf"put the block in (?P<where>{DRAWER}) and close it",
        "<asked><put> the block <into> {where} and <shut> it.",
        "<asked><put> the block <into> {where}<then> <shut> [it|the drawer].",
        "<asked><take> the block, <put> it <into> {where} and <shut> the drawer.",
        "<into> {where}, <put> the block, and <shut> the drawer <later>.",
        "the block <must> go [into|inside] {where}, which <must> be [closed|shut] <later>.",
    ),
    "out and close": _form(
        rf"take the block out of (?P<where>{DRAWER}), place the block on {ON_TOP}, and then close (?P=where)",
        "<asked><the> {where}, <put> it <onto> <top>, and then <shut> {where}.",
        "<asked><the> {where}, <put> it <onto> <top>, and <shut> the drawer <later>.",
        "the block <must> go from {where} onto <top>; <later>, <shut> {where}.",
    ),
    "put two": _form(
        rf"put two blocks in (?P<where>{DRAWER})",
        "<asked><put> [two|both] blocks <into> {where}.",
        "<asked><take> two blocks and <put> them <into> {where}.",
        "<into> {where}, <put> two blocks.",
        "[two|both] blocks <need> go [into|inside] {where}.",
        "<ensure> [two|both] blocks end up [in|inside] {where}.",
    ),
    "two out": _form(
        rf"take two blocks out of (?P<where>{DRAWER}) and place them on {ON_TOP}",
        "<asked><both> {where} and <put> them <onto> <top>.",
        "<asked><both> {where}<then> <put> them <onto> <top>.",
        "[two|both] blocks <need> go from {where} onto <top>.",
        "<ensure> two blocks from {where} end up on <top>.",
    ),
    "put apart": _form(
        rf"put one block in (?P<first>{DRAWER}) and put the other block in (?P<second>{DRAWER})",
        "<asked><put> one block <into> {first} and the other [one|block] <into> {second}.",
        "<asked><put> one block <into> {first}<then> <put> the other [one|block] <into> {second}.",
        "one block <must> go [into|inside] {first}, the other [one|block] [into|inside] {second}.",
        "<ensure> one block ends up [in|inside] {first} and the other [one|block] [in|inside] {second}.",
    ),
    "out apart": _form(
        rf"take one block out of (?P<first>{DRAWER}) and take the other block out of (?P<second>{DRAWER}), then place them on {ON_TOP}",
        "<asked>take one block out of {first} and the other [one|block] out of {second}, and <put> [them|both] <onto> <top>.",
        "<asked>get one block from {first} and the other [one|block] from {second}<then> <put> [them|both] <onto> <top>.",
        "one block from {first} and the other [one|block] from {second} <need> go onto <top>.",
        "<ensure> one block from {first} and the other [one|block] from {second} end up on <top>.",
    ),
    "exchange": _form(
        r"exchange the positions of the spam and the sugar\(put the sugar on the table and put the spam in the cupboard\)",
        "<asked>[exchange|swap] the spam and the sugar: <put> the sugar <onto> the table and the spam <into> the cupboard.",
        "<asked>let the spam and the sugar [change|swap] places: <put> the sugar <onto> the table and the spam <into> the cupboard.",
        "<asked>[exchange|swap] the spam and the sugar: the sugar <must> go on the table and the spam [into|inside] the cupboard.",
        "<asked>let the spam and the sugar [change|swap] places, the sugar on the table and the spam in the cupboard.",
    ),
    "clean": _form(
        r"clean all the dirt and rubbish into the dustpan",
        "<asked>[clean|get|move] all the dirt and [|the ]rubbish into the dustpan.",
        "<asked>clean up: all the dirt and [|the ]rubbish <need> go into the dustpan.",
        "all the dirt and [|the ]rubbish <need> [end up in|go into] the dustpan.",
        "<ensure> all the dirt and [|the ]rubbish end up in the dustpan.",
    ),
    "transfer": _form(
        rf"take (?P<what>the [\w ]+?) out of (?P<where>{DRAWER}) and put (?P=what) in the cupboard",
        "<asked><remove> {where} and <put> it <into> the cupboard.",
        "<asked><remove> {where}<then> <put> it <into> the cupboard.",
        "<asked>[move|transfer|bring] {what} from {where} [to|into] the cupboard.",
        "{what} <must> go from {where} into the cupboard.",
        "<ensure> {what} from {where} ends up [in|inside] the cupboard.",
    ),
    # Halves of stages.
    "grasp": _form(rf"grasp (?P<what>{DRAWER} handle)", "<asked>[grasp|grab|grip|take hold of] {what}."),
    "near": _form(rf"move close to (?P<what>{DRAWER} handle)", "<asked>[move close to|come close to|get near|approach] {what}."),
    "pull": _form(rf"pull (?P<what>{DRAWER}) open", "<asked>[pull {what} open|pull open {what}|open {what} by pulling]."),
    "push": _form(rf"push (?P<what>{DRAWER}) shut", "<asked>[push {what} shut|push {what} closed|close {what} by pushing]."),
    "pick": _form(r"pick up (?P<what>the .+)", "<asked>[pick up|take|grab|lift] {what}."),
    "place": _form(r"place (?P<what>the [\w ]+?) (?P<where>(?:in|on) the .+)", "<asked>[place|put|set] {what} {where}."),
}  # fmt: skip
"""By what is done. No sentence has two of these forms."""


def reword(text: str, name: EpisodeName, stream: Stream) -> str | None:
    """The instruction in other words, without capitals; None if one of its lines has none of the known forms."""
    found = [_line(line, stream) for line in text.split("\n")]
    return " ".join(line for line in found if line is not None) if all(found) else None


def _line(line: str, stream: Stream) -> str | None:
    return next((said for form in FORMS.values() if (said := form.reworded(line, stream)) is not None), None)
