"""Instructions with something taken out: the words, the pictures, or everything."""

from __future__ import annotations

from dataclasses import replace

from etude.episodes import Episode
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import perturbation
from etude.prompts.instruction import Blank, Instruction, InstructionPart, ObjectPicture, ScenePicture, Words

MASKS, ERASES = 3, 4  # ranks: after all that changes words


@perturbation("mask_language", "instruction", plausible=False, varies="the words of the instruction", rank=MASKS)
def mask_language(episode: Episode, stream: Stream) -> Episode:
    """Take every word out of the instruction; pictures stay, without the words that stand in for them."""
    pictures = tuple(replace(p, words="") for p in episode.instruction.pictures())  # type: ignore[type-var]
    return replace(episode, instruction=Instruction(pictures))


@perturbation("mask_visual", "instruction", plausible=False, varies="the pictures of the instruction", rank=MASKS)
def mask_visual(episode: Episode, stream: Stream) -> Episode:
    """Make every picture of the instruction blank; words stay, but not those that stand in for pictures.

    Refused where the instruction has no pictures: nothing would be taken away, and success should not suffer.
    """
    told = episode.instruction
    if not told.pictures():
        raise EtudeError(f"mask_visual: the instruction of {episode.name} has no pictures to mask; mask_language takes its words away")
    return replace(episode, instruction=Instruction(tuple(p if isinstance(p, Words) else _blank(p) for p in told.parts)))


@perturbation("mask_instruction", "instruction", plausible=False, varies="what it is told", rank=ERASES)
def mask_instruction(episode: Episode, stream: Stream) -> Episode:
    """Take the whole instruction away: no words, and no pictures either, for their number would tell something."""
    return replace(episode, instruction=Instruction(()))


def _blank(part: InstructionPart) -> Blank:
    seen_by_camera = isinstance(part, ObjectPicture) or (isinstance(part, ScenePicture) and bool(part.things))
    return Blank(slot=getattr(part, "slot", ""), camera=getattr(part, "camera", "") if seen_by_camera else "")
