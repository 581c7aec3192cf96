"""The same instruction in other words.

Pictures, novel words, numbers, textures, determiners and directions stay as they are, and so does what is done to what. A suite may bring
rewordings of its own; any other instruction gets something said before it (``generic``).
"""

from __future__ import annotations

from dataclasses import replace

from etude.episodes import Episode
from etude.names import EpisodeName, EtudeError, Stream
from etude.perturb.paraphrase import generic
from etude.perturb.perturbation import perturbation
from etude.perturb.wording import capitalised, marked, once, unmarked
from etude.prompts.instruction import Instruction
from etude.suites.suite import SUITES

__all__ = ["paraphrase", "paraphrased"]


@perturbation("paraphrase", "instruction", plausible=True, varies="the wording of the instruction")
def paraphrase(episode: Episode, stream: Stream) -> Episode:
    """Say the same in other words."""
    return replace(episode, instruction=paraphrased(episode.instruction, episode.parsed, stream))


def paraphrased(instruction: Instruction, name: EpisodeName, stream: Stream) -> Instruction:
    """The instruction of an episode of this name in other words, never in its own."""
    text, pictures = marked(instruction), instruction.pictures()
    if not any(sign.isalpha() for sign in text):
        raise EtudeError(f"paraphrase: the instruction of {name} has no words")
    while True:  # every instruction has at least twenty other readings
        found = capitalised(once(_reworded(text, name, stream), pictures))
        if found.rstrip(".") != text.rstrip("."):
            return unmarked(found, pictures)


def _reworded(text: str, name: EpisodeName, stream: Stream) -> str:
    reword = SUITES[name.suite].reword
    found = reword(text, name, stream) if reword is not None else None
    return generic.reworded(text, stream) if found is None else found
