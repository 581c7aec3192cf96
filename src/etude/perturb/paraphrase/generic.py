"""Other words for any instruction: something said before it, something after it, and nothing changed between that could change its meaning.

A suite whose sentences are known adds rules of its own: what to look for, and what may stand there instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from etude.names import Stream
from etude.perturb.paraphrase.templates import Template, template
from etude.perturb.wording import PICTURE


@dataclass(frozen=True)
class Rule:
    """Wherever ``pattern`` is found, a reading of ``said`` takes its place; ``{g1}`` is the first group of the pattern, and so on."""

    pattern: re.Pattern[str]
    said: Template

    def applied(self, text: str, stream: Stream) -> str:
        """The text after this rule."""

        def drawn(match: re.Match[str]) -> str:
            return re.sub(r"\{g(\d)\}", lambda g: match[int(g[1])], self.said.draw(stream))

        return self.pattern.sub(drawn, text)


def rules(pairs: Iterable[tuple[str, str]]) -> tuple[Rule, ...]:
    """Rules from patterns, in which ``PICTURE`` is a picture, and what may stand there."""
    return tuple(Rule(re.compile(p.replace("PICTURE", PICTURE), re.IGNORECASE), template(t)) for p, t in pairs)


COMMANDS = re.compile(
    r"(?:add|adjust|arrange|balance|bring|build|close|copy|drop|exchange|fetch|fill|find|first|follow|get|give|grab|grasp|hand|hit|insert|keep"
    r"|lay|let|lift|look|make|match|move|open|pick|pile|place|pour|press|pull|push|put|reach|rearrange|remove|restore|rotate|screw|select|set"
    r"|shove|show|slide|sort|stack|strike|swap|sweep|switch|take|throw|toss|touch|trace|turn|twist|unplug|use|wipe)\b",
    re.IGNORECASE,
)
"""First words by which a sentence is known to tell what to do, so that "please" can stand before it."""

ASKED = template(
    "[|please |now |now, please |go ahead and |your task is to |your job is to |you should |you have to |I want you to "
    "|I would like you to |what you have to do is to |the task is to ]"
)
ANNOUNCED = template(
    "[[here is|this is] [your|the] [task|instruction|job]: |[here is|this is] what [to do|you have to do|is to be done|I want you to do]: "
    "|do the following: |[your|the] task: ]"
)
ADDED = template("[||| thank you.]")
PLAIN = rules(
    [
        (r"(^|[.,;] |\band |\bthen )put (?=PICTURE|the |a )", "{g1}[put|place|set] "),
        (r"(^|[.,;] |\band |\bthen )place (?=PICTURE|the |a )", "{g1}[place|put|set] "),
        (r"(^|[.,;] |\band |\bthen )pick up (?=PICTURE|the |a )", "{g1}[pick up|lift up] "),
    ]
)
"""Rules that are safe in any suite."""


def reworded(text: str, stream: Stream, own: Sequence[Rule] = PLAIN, turned: Callable[[str, Stream], str] = lambda t, s: t) -> str:
    """The instruction in other words. ``own`` are the suite's rules, ``turned`` may change the order of clauses of its last sentence."""
    for rule in own:
        text = rule.applied(text, stream)
    said = text.rstrip()
    if not said.endswith((".", "!", "?")):
        said += "."
    before, last = _parted(said)
    if not COMMANDS.match(last):
        return ANNOUNCED.draw(stream) + said + ADDED.draw(stream)
    last = turned(last[0].lower() + last[1:], stream)
    if not COMMANDS.match(last):
        opener = ""
    elif stream.chance(0.2):
        opener = "" if before else ANNOUNCED.draw(stream)
    else:
        opener = ASKED.draw(stream)
    return before + opener + last + ADDED.draw(stream)


def _parted(text: str) -> tuple[str, str]:
    """What comes before the last sentence, and the last sentence."""
    cut = max(text.rfind(mark, 0, len(text) - 1) for mark in (". ", "! ", "? "))
    return (text[: cut + 2], text[cut + 2 :]) if cut >= 0 else ("", text)
