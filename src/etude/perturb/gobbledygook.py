"""Instructions whose words are nonsense: as many words between pictures as before, in a random order, and nothing left of their meaning.

Words stand for themselves between pictures, and in place of pictures where a policy reads text only. Both become nonsense, or the text-only
form would still say what the pictures show; pictures themselves stay. Signs that touch a picture (its comma or full stop) stay with it.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from etude.episodes import Episode
from etude.names import EtudeError, Stream
from etude.perturb.perturbation import PERTURBATIONS, Change, perturbation
from etude.perturb.tokenizer import PIECES, HuggingFace, Tokenizer, built_in, fingerprint, given_file, local_tokenizer, tokenizer_file
from etude.perturb.wording import merged
from etude.prompts.instruction import Instruction, InstructionPart, Words

TOKENS = "gobbledygook_tokens"
WORDS = "the words of the instruction"
GARBLES = 2  # rank: after rewording, before masking
QUICK = 10  # words drawn as a whole, before they are drawn token by token
TRIES = 200  # words drawn, and tokens for one of them
_SIGNS_AFTER = re.compile(r"[^\w\s]+(?=\s|$)")  # at the start of words that follow a picture
_SIGNS_BEFORE = re.compile(r"(?<!\S)[^\w\s]+$")

Renew = Callable[[Sequence[str], Stream], list[str]]


@perturbation("gobbledygook_words", "instruction", plausible=False, varies=WORDS, rank=GARBLES)
def gobbledygook_words(episode: Episode, stream: Stream) -> Episode:
    """Turn every word into random letters, as many as it had signs, and shuffle the words; pictures stay in place."""
    return replace(episode, instruction=garbled(episode.instruction, _letters, stream))


def _letters(words: Sequence[str], stream: Stream) -> list[str]:
    drawn = iter(stream.uniforms(0, len(string.ascii_letters), sum(len(word) for word in words)).tolist())
    return ["".join(string.ascii_letters[int(next(drawn))] for _ in word) for word in words]


def gobbledygook_tokens_with(tokenizer: Any, label: str) -> str:
    """Register ``gobbledygook_tokens:label``, which counts tokens as this tokenizer does, and return its name.

    The tokenizer is a :class:`~etude.perturb.tokenizer.Tokenizer`, or any of Hugging Face's.
    """
    name = f"{TOKENS}:{label}"
    if not re.fullmatch(r"[A-Za-z0-9_.,-]+", label):
        raise EtudeError(f"{label!r} cannot be part of an episode's name; a label has letters, digits and _ . , -")
    counted: Tokenizer = HuggingFace(tokenizer) if hasattr(tokenizer, "all_special_ids") else tokenizer
    perturbation(name, "instruction", plausible=False, varies=WORDS, rank=GARBLES)(_with_tokens_of(lambda: counted))
    return name


def use_pieces(path: Path) -> str:
    """From now on ``gobbledygook_tokens`` asked of a plan is made with the tokenizer in this file or folder; returns its own name.

    That has the tokenizer's fingerprint in it, so that episodes with other pieces are other episodes. Workers know it as well.
    """
    file = tokenizer_file(path).resolve()
    local_tokenizer(file)  # whatever is wrong with it is told now
    os.environ[PIECES] = str(file)
    return asked_for(TOKENS)


def asked_for(name: str) -> str:
    """The perturbation that a plan means by a name: ``gobbledygook_tokens`` is that of the tokenizer which was given, if one was."""
    file = given_file()
    return f"{TOKENS}:{fingerprint(file)}" if name == TOKENS and file is not None else name


def register_given() -> None:
    """Have the perturbation registered whose tokenizer was given."""
    file = given_file()
    if file is not None and (name := asked_for(TOKENS)) not in PERTURBATIONS:
        perturbation(name, "instruction", plausible=False, varies=WORDS, rank=GARBLES)(_with_tokens_of(lambda: local_tokenizer(file)))


def refuse_lacking(name: str) -> None:
    """Raise if a name is of a tokenizer that is not here: not a wrong name, but one whose pieces have to be given."""
    if name.startswith(f"{TOKENS}:"):
        here = f"here are {asked_for(TOKENS).partition(':')[2]}" if given_file() else "none are given"
        raise EtudeError(f"{name!r} is made with pieces {name.partition(':')[2]!r}; {here}: name their tokenizer with --pieces DIR")


def _with_tokens_of(tokenizer: Callable[[], Tokenizer]) -> Change:
    def change(episode: Episode, stream: Stream) -> Episode:
        """Turn every word into random tokens, as many as it had, and shuffle the words; pictures stay in place."""
        counted = tokenizer()
        return replace(episode, instruction=garbled(episode.instruction, lambda words, s: [nonsense(w, counted, s) for w in words], stream))

    return change


gobbledygook_tokens = perturbation(TOKENS, "instruction", plausible=False, varies=WORDS, rank=GARBLES)(_with_tokens_of(built_in))


def garbled(instruction: Instruction, renew: Renew, stream: Stream) -> Instruction:
    """The instruction with every word renewed.

    Those between pictures are shuffled among their places. Those of a picture are shuffled among themselves, and pictures with the same
    words in the same slot get the same nonsense: they still are the same picture.
    """
    parts = merged(instruction.parts)
    pieces = [_pieces(p.words, k > 0, k + 1 < len(parts)) if isinstance(p, Words) else [] for k, p in enumerate(parts)]
    places = [(row, j) for row in pieces for j in range(0, len(row), 2) if row[j]]
    words = stream.shuffled(renew([row[j] for row, j in places], stream))
    for (row, j), word in zip(places, words, strict=True):
        row[j] = word
    spoken: dict[tuple[str, str], str] = {}
    found: list[InstructionPart] = []
    for part, row in zip(parts, pieces, strict=True):
        if isinstance(part, Words):
            found.append(Words("".join(row)))
            continue
        key = (getattr(part, "slot", ""), part.words)
        if key not in spoken:
            spoken[key] = " ".join(stream.shuffled(renew(part.words.split(), stream)))
        found.append(replace(part, words=spoken[key]))  # type: ignore[type-var]
    return Instruction(tuple(found))


def _pieces(words: str, follows: bool, precedes: bool) -> list[str]:
    """Words to renew at even places, what stays as it is between them: blanks, and signs that touch a picture before or after."""
    before = match.end() if follows and (match := _SIGNS_AFTER.match(words)) else 0
    after = match.start() if precedes and (match := _SIGNS_BEFORE.search(words, before)) else len(words)
    found = re.split(r"(\s+)", words[before:after])
    return ["", words[:before], *found, words[after:]]


def nonsense(word: str, tokenizer: Tokenizer, stream: Stream) -> str:
    """Random tokens that read back as many tokens as the word has, without a blank in them (CoGeLoT 4.4)."""
    count = max(1, len(tokenizer.encode(word)))
    for attempt in range(TRIES):
        ids = [stream.choice(tokenizer.vocabulary) for _ in range(count)] if attempt < QUICK else _one_by_one(count, tokenizer, stream)
        text = tokenizer.decode(ids)
        if text != word and _reads(text, count, tokenizer):
            return text
    raise EtudeError(f"the tokenizer has no other word of {count} tokens; gobbledygook needs one with more pieces of words")


def _one_by_one(count: int, tokenizer: Tokenizer, stream: Stream) -> list[int]:
    """Tokens none of which melts into those before or falls apart; slower than drawing all at once, but it finds even rare ones."""
    ids: list[int] = []
    for _ in range(TRIES):
        if len(ids) == count:
            break
        longer = [*ids, stream.choice(tokenizer.vocabulary)]
        if _reads(tokenizer.decode(longer), len(longer), tokenizer):
            ids = longer
    return ids


def _reads(text: str, count: int, tokenizer: Tokenizer) -> bool:
    return text.split() == [text] and len(tokenizer.encode(text)) == count
