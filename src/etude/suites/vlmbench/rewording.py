"""Other words for the sentences of VLMbench (VLMbench 1.7).

Each family of tasks has one form of sentence, which is taken apart, and meta-templates that say the same. How things are told apart ("the
smaller pencil", "the left letter of 't'") is taken over letter by letter. An instruction that also says every step has them after the
sentence; a few words of theirs change.
"""

from __future__ import annotations

from etude.names import EpisodeName, Stream
from etude.perturb.paraphrase.generic import rules
from etude.perturb.paraphrase.templates import Form

SHARED = {
    "asked": "||please |now |go ahead and |your task is to |your job is to |you should |you have to |I want you to |I would like you to ",
    "ensure": "make sure that|see to it that",
    "put": "put|place|set",
    "move": "move|bring|transfer",
    "into": "into|inside|in",
    "inside": "into|inside",
    "onto": "on|onto|on top of",
    "over": "over|above",
    "take": "pick up|take|grab|lift",
    "then": ", then| and then",
    "must": "should|must|has to|needs to",
    "pile": "stack|stack up|pile up",
    "stack": "stack|pile|tower",
    "fall": "fall|drop",
    "flows": "flows|runs|pours",
    "wipe": "wipe|wipe over",
    "fully": "fully|completely|entirely|all the way",
    "whole": "fully|completely|entirely",
    "bit": "slightly|a little|a bit|a little bit|only a little|just a bit",
    "part": ", not <whole>|, not all the way",
}
_form = Form.maker(SHARED)
FORMS: dict[str, Form] = {
    "pick": _form(
        r"Pick up (?P<what>the .+) and place it into (?P<where>the .+)\.",
        "<asked><take> {what} and <put> it <into> {where}.",
        "<asked><take> {what}<then> <put> it <into> {where}.",
        "<asked><put> {what} <into> {where}.",
        "<asked><move> {what} into {where}.",
        "<inside> {where}, <put> {what}.",
        "{what} <must> go <inside> {where}.",
        "<ensure> {what} ends up [in|inside] {where}.",
        "<asked>use {where} to hold {what}.",
    ),
    # "In sequence" means: the first below, the second on it. Every reading says which is which.
    "stack": _form(
        r"Stack (?P<lower>the .+) and (?P<upper>the .+) in sequence\.",
        "<asked>[<put>|stack] {upper} <onto> {lower}.",
        "<asked><take> {upper} and [<put>|stack] it <onto> {lower}.",
        "<onto> {lower}, [<put>|stack] {upper}.",
        "<asked><pile> {lower} and {upper}, the first [below|at the bottom] and the second [above it|on top of it|on top].",
        "<asked><pile> {lower} and {upper} [from the bottom up|from bottom to top].",
        "[from the bottom up|from bottom to top], <pile> {lower} and {upper}.",
        "<asked>[build|make] a <stack> with {lower} [at the bottom|below] and {upper} [on top|above it|on top of it].",
        "<asked>use {lower} as the base of a <stack> and [<put>|stack] {upper} [on top|on top of it|onto it].",
        "{upper} <must> [go|be stacked] <onto> {lower}.",
        "<ensure> {upper} ends up [on|on top of] {lower}.",
    ),
    "drop": _form(
        r"Drop (?P<what>the .+) into (?P<where>the .+)\.",
        "<asked>drop {what} <into> {where}.",
        "<asked>let {what} <fall> into {where}.",
        "<asked><take> {what} and [drop it|let it <fall>] into {where}.",
        "<asked><take> {what}<then> [drop it|let it <fall>] into {where}.",
        "<asked>[hold|bring|move] {what} <over> {where} and [drop it in|let it <fall> in].",
        "into {where}, drop {what}.",
        "{what} <must> be dropped into {where}.",
        "<ensure> {what} [falls|is dropped] into {where}.",
    ),
    "sorter": _form(
        r"Put (?P<what>the .+) through (?P<hole>the hole of .+ shape)\.",
        "<asked>[<put>|push|pass|drop] {what} through {hole}.",
        "<asked><take> {what} and [<put>|push|pass|drop] it through {hole}.",
        "<asked><take> {what}<then> [<put>|push|pass|drop] it through {hole}.",
        "<asked>[insert|fit|put] {what} into {hole}.",
        "<asked>sort {what} through {hole}.",
        "through {hole}, <put> {what}.",
        "{what} <must> go through {hole}.",
        "<ensure> {what} goes through {hole}.",
    ),
    "pour": _form(
        r"Pour the water from (?P<source>the .+) to (?P<target>the .+)\.",
        "<asked>pour [the |]water [from {source} to|from {source} into|out of {source} into] {target}.",
        "<asked>pour the water [that is |]in {source} into {target}.",
        "<asked><take> {source} and pour [water|the water|its water] into {target}.",
        "<asked>use {source} to pour water into {target}.",
        "<asked>[tip|tilt] {source} so that [its|the] water <flows> into {target}.",
        "<asked>hold {source} <over> {target} and pour [water|the water|its water] in.",
        "into {target}, pour [the |]water from {source}.",
        "[the water|water] from {source} <must> be poured into {target}.",
        "<ensure> [the |]water from {source} is poured into {target}.",
        "<asked>let [the |]water from {source} [flow|run|pour] into {target}.",
    ),
    "wipe": _form(
        r"Wipe (?P<area>the .+) with a sponge\.",
        "<asked><wipe> {area}[| with [a|the] sponge].",
        "<asked>[rub|rub over|go over] {area} with the sponge.",
        "<asked><take> the sponge and <wipe> {area}[| with it].",
        "<asked>use the sponge to [<wipe>|rub|rub over|go over] {area}.",
        "[with|using] the sponge, [<wipe>|rub|rub over|go over] {area}.",
        "<asked>give {area} a wipe[| with the sponge].",
        "{area} <must> be wiped[| with the sponge].",
        "<ensure> [{area} is wiped|you <wipe> {area}][| with the sponge].",
    ),
    "fully open": _form(
        r"Fully open (?P<what>the .+)\.",
        "<asked>[open {what} <fully>|<whole> open {what}].",
        "{what} <must> be [opened <fully>|<whole> opened|<whole> open].",
        "<ensure> {what} is [opened <fully>|<whole> opened|<whole> open].",
        "<asked>open {what} until it is <whole> open.",
    ),
    "fully close": _form(
        r"Fully close (?P<what>the .+)\.",
        "<asked>[[close|shut] {what} <fully>|<whole> [close|shut] {what}].",
        "{what} <must> be [[closed|shut] <fully>|<whole> [closed|shut]].",
        "<ensure> {what} is [[closed|shut] <fully>|<whole> [closed|shut]].",
        "<asked>[close|shut] {what} until it is <whole> closed.",
    ),
    "slightly open": _form(
        r"Slightly open (?P<what>the .+)\.",
        "<asked>open {what} <bit>[|<part>].",
        "<asked>slightly open {what}[|<part>].",
        "{what} <must> be opened <bit>[|<part>].",
        "<ensure> you [open {what} <bit>|slightly open {what}][|<part>].",
    ),
    "slightly close": _form(
        r"Slightly close (?P<what>the .+)\.",
        "<asked>close {what} <bit>[|<part>].",
        "<asked>slightly close {what}[|<part>].",
        "{what} <must> be closed <bit>[|<part>].",
        "<ensure> you [close {what} <bit>|slightly close {what}][|<part>].",
    ),
}
"""By what is done. No sentence has two of these forms."""

STEPS = rules(
    [
        (r"\bgrasp (?=the )", "[grasp|grip|grab|take hold of] "),
        (r"\bmove the object (above|on|into|to) ", "[move|bring] the object {g1} "),
        (r"\brotate (?=the |around )", "[rotate|turn] "),
        (r"\brelease the gripper", "[release|open] the gripper"),
    ]
)
"""For sentences that say single steps."""


def reword(text: str, name: EpisodeName, stream: Stream) -> str | None:
    """The instruction in other words, without capitals; None if its first sentence has none of the known forms."""
    sentence, stop, steps = text.partition(". ")
    for form in FORMS.values():
        found = form.reworded(sentence + "." * bool(stop), stream)
        if found is not None:
            for rule in STEPS:
                steps = rule.applied(steps, stream)
            return f"{found} {steps}".rstrip()
    return None
