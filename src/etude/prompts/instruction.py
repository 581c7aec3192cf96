"""What the agent is told, as data: words and pictures in a row.

The same instruction renders as multimodal (text with placeholders, and images), as text only (words stand in for pictures), or as chat
messages. Pictures are described, not stored: an object, a texture, or the scene with some things elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from etude.catalog.registry import shape
from etude.names import Family
from etude.pose import Pose, Vec3
from etude.scene.scene import Entity

NEARER = 4.0  # times as small as its own picture could show it, a thing may become beside a larger one


class InstructionPart(Family):
    """One piece of an instruction; ``words`` is how it reads where there are no pictures."""

    words: str


@dataclass(frozen=True)
class Words(InstructionPart):
    """Plain text, with the spaces it needs."""

    words: str


@dataclass(frozen=True)
class ObjectPicture(InstructionPart):
    """An object alone on a plain ground; without ``texture`` it is shown in neutral grey.

    ``frame`` (metres, radius) says what the picture shall hold. Those of an instruction that do not say share one scale, that of the
    largest of them, so that sizes can be compared; a picture by itself is fitted to the object. With a
    ``camera`` it is seen as that camera of the scene would see it lying in the middle of an empty table. ``slot`` is what the original
    calls this place of the prompt.
    """

    words: str
    shape: str
    size: Vec3 | None = None
    texture: str = ""
    texture_span: float = 0.1
    frame: float | None = None
    slot: str = ""
    camera: str = ""


@dataclass(frozen=True)
class TexturePicture(InstructionPart):
    """A swatch of a texture."""

    words: str
    texture: str


@dataclass(frozen=True)
class ScenePicture(InstructionPart):
    """The scene with some things moved to ``poses`` (and the hand's tip to ``tip``, if the robot shall be seen).

    With ``things`` the table is shown with these on it instead of its own.
    """

    words: str
    poses: tuple[tuple[str, Pose], ...] = ()
    tip: Pose | None = None
    camera: str = "base"
    slot: str = ""
    things: tuple[Entity, ...] = ()


@dataclass(frozen=True)
class Blank(InstructionPart):
    """A grey picture that shows nothing; ``camera`` is the one whose proportions it has, as those of the picture in whose place it is."""

    words: str = ""
    slot: str = ""
    camera: str = ""


@dataclass(frozen=True)
class Instruction:
    """Parts in order. ``complete`` says whether the text alone tells everything (pictures of scenes have no words that do)."""

    parts: tuple[InstructionPart, ...]

    @property
    def text(self) -> str:
        """The text-only form; what stands for a picture has a capital where it begins a sentence."""
        said = ""
        for part in self.parts:
            begins = not isinstance(part, Words) and (not said or said.endswith((". ", "! ", "? ")))
            said += part.words[:1].upper() + part.words[1:] if begins else part.words
        return said

    @property
    def complete(self) -> bool:
        """Does the text alone tell everything?"""
        return not any(isinstance(part, ScenePicture) for part in self.parts)

    def pictures(self) -> tuple[InstructionPart, ...]:
        """The parts that are pictures, in order."""
        return tuple(part for part in self.parts if not isinstance(part, Words))

    def template(self, mark: str = "{{image:{k}}}", slots: bool = False) -> str:
        """The multimodal text: every picture is a placeholder, numbered from 0. With ``slots``, those that have a slot are ``{slot}``."""
        count, out = 0, []
        for part in self.parts:
            if isinstance(part, Words):
                out.append(part.words)
            else:
                slot = getattr(part, "slot", "") if slots else ""
                out.append(f"{{{slot}}}" if slot else mark.format(k=count))
                count += 1
        return "".join(out)


def one_scale(told: Instruction) -> Instruction:
    """The instruction as its pictures are taken: with one scale for all objects that have none of their own.

    Fitted each for itself, all balls would look alike. What is much smaller than the largest thing is brought nearer: specks tell nothing.
    """
    radii = {
        k: math.hypot(*shape(part.shape, part.size).size) / 2
        for k, part in enumerate(told.parts)
        if isinstance(part, ObjectPicture) and part.frame is None and not part.camera
    }
    most = max(radii.values(), default=0.0)
    framed = {k: replace(told.parts[k], frame=min(most, NEARER * radius)) for k, radius in radii.items()}  # type: ignore[type-var]
    return Instruction(tuple(framed.get(k, part) for k, part in enumerate(told.parts)))


def with_article(noun: str) -> str:
    """The noun after "a", or "an" before a vowel."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def instruction(*pieces: str | InstructionPart) -> Instruction:
    """An instruction from strings and pictures.

    >>> instruction("Put ", cup.picture(), " on ", plate.picture(), ".")
    """
    return Instruction(tuple(Words(p) if isinstance(p, str) else p for p in pieces))
