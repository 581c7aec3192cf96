"""Text in place of pictures: "the red swirl star"."""

from __future__ import annotations

import re
from dataclasses import replace

from etude.episodes import Episode
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import perturbation
from etude.perturb.wording import article_of
from etude.prompts.instruction import Instruction, InstructionPart, ObjectPicture, TexturePicture, Words, with_article
from etude.suites.suite import SUITES

DESCRIBES = 1  # rank: after paraphrase, whose sentences it fills in
GREY = "gray"  # as the original spells it
_PLAIN = r"all|any|each|one|two|three|four|five|six|seven|eight|nine|ten"
_OPEN = re.compile(
    rf"\b(?:(?:{_PLAIN}|the|an?|this|same)|(?:the|an?|this)(?: less)? (?!(?:as|at|for|in|into|of|on|than|to|with) )\w+) $", re.IGNORECASE
)
_NAMED = re.compile(r"\b(?:this|here) is an? \w+ $", re.IGNORECASE)


@perturbation("descriptors", "instruction", plausible=True, varies="pictures of things", rank=DESCRIBES, suits=lambda task: task.described)
def descriptors(episode: Episode, stream: Stream) -> Episode:
    """Say in words what the pictures of the instruction show.

    Refused where words cannot: in tasks whose suite says so, and where a picture shows a scene or is there to compare sizes.
    """
    told, name = episode.instruction, episode.parsed
    table = SUITES[name.suite].tasks
    if not table[name.task].described:
        words = ", ".join(task.name for task in table.values() if task.described)
        raise EtudeError(f"descriptors: words cannot stand for the pictures of {name.suite}/{name.task}; they can for {words}")
    if not told.pictures():
        raise EtudeError(f"descriptors: the instruction of {episode.name} has no pictures that words could stand for")
    for part in told.pictures():
        if not isinstance(part, (ObjectPicture, TexturePicture)) or (isinstance(part, ObjectPicture) and part.frame is not None):
            what = "compares sizes" if isinstance(part, ObjectPicture) else "is no single object"
            raise EtudeError(f"descriptors: a picture in the instruction of {episode.name} {what}; words can stand for plain objects only")
    return replace(episode, instruction=described(told))


def described(instruction: Instruction) -> Instruction:
    """The instruction with the words of every picture in its place, with the article that the words before ask for."""
    text = ""
    for part in instruction.parts:
        text = text + part.words if isinstance(part, Words) else _continued(text, part)
    return Instruction((Words(text),))


def _continued(before: str, part: InstructionPart) -> str:
    """The text so far, and what the picture shows."""
    article = article_of(part.words)
    noun = part.words.removeprefix(article)
    if isinstance(part, ObjectPicture) and not part.texture and not noun.startswith(GREY):
        noun = f"{GREY} {noun}"
    if isinstance(part, TexturePicture):
        return before + part.words
    if _NAMED.search(before):
        return f"{before[:-1]}, {with_article(noun)}"  # "This is a dax, a gray block."
    if _OPEN.search(before):
        return before + noun
    shown = with_article(noun) if article.startswith("a") else (article or "the ") + noun
    starts = not before or before.endswith((". ", "! ", "? "))
    return before + (shown[0].upper() + shown[1:] if starts else shown)
