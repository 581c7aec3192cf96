"""Words in sub-word tokens: what a tokenizer has to offer, a small one of our own, those of Hugging Face, and those in a local file."""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from etude.names import EtudeError

PIECES = "ETUDE_PIECES"  # the environment variable that names a tokenizer's file or folder, so that workers know it as well
LIBRARIES = {".json": "tokenizers", ".model": "sentencepiece"}  # who reads which file
FILES = ("tokenizer.json", "spiece.model", "tokenizer.model")  # what is looked for in a folder


class Tokenizer(Protocol):
    """Turns a word into token ids and back. ``vocabulary`` are the ids that may stand in a text: no special ones, no placeholders."""

    @property
    def vocabulary(self) -> Sequence[int]:
        """Ids to draw from, always in the same order."""

    def encode(self, text: str) -> list[int]:
        """The ids of a word."""

    def decode(self, ids: list[int]) -> str:
        """The text of some ids."""


_WORDS = (
    "about above after again all also and any are around back base before below between book both bottom but call can change close "
    "cold come day door down each end face far fast find first fit five for found four from front full get give go good ground hand "
    "hard has have head home hot house how in into is it just keep kind know land last late leave left less like little long look "
    "lost low made make man many mark may mean milk mind more most much must name near need never new next night not now number of "
    "off old on once one only open or other our out over own page paper part path plain plan play point power quick rain read real "
    "rest right river road rock roll room run said same say sea second see she ship show sign simple six snow some song soon sound "
    "space stand start state stay step still stone stop street such sun sure swim talk tell ten test than that the their them then "
    "there these they thing think this three time to town train tree true try two under until up upon use very voice wait walk wall "
    "want warm was watch water way well went were what wheel when where which while who why wide wind window wish with without work "
    "world year you"
)
_PARTS = (
    "ab able ac ad age al am an ance ant ap ar ard as at ate ation au be bi bl br ca ce ch ci ck cl co com con cr ct cu de di dis dr "
    "ea ec ed ee el em en ence ent er ers es ess est et ew ex fi fl fo fr fu ful gh gl gr ha he hi ho hu ian ib ic id ie if ig il im "
    "ine ing int ion ir ish iss ist ite ity ive ize ja ke ki la le li ll lo lu ly ma me ment mi mo mu na nd ne ness ng ni no nt nu oc "
    "od ol om oo op os ot ou ow pa pe ph pi pl po pr pre pro pu qu ra re ri ro rt ru sa sc se sh si sk sl sn so sp ss st sti str su "
    "sw ta te ter th ti tion tive tr tu ty ua ub uc ud ul um un ur us ut va ve vi vo wa we wh wi wo wr xi ya ye yo za ze zo"
)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Pieces:
    """Takes from a word, again and again, the longest piece it knows; a sign it does not know is a token of its own."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = tuple(dict.fromkeys(pieces))
        self._ids = {piece: k for k, piece in enumerate(self._pieces)}
        self._longest = max(map(len, self._pieces))
        self.vocabulary: Sequence[int] = range(len(self._pieces))

    def encode(self, text: str) -> list[int]:
        """The ids of a text; blanks only part words."""
        found = []
        for word in text.split():
            start = 0
            while start < len(word):
                end = min(len(word), start + self._longest)
                while end > start + 1 and word[start:end] not in self._ids:
                    end -= 1
                sign = word[start:end]
                found.append(self._ids[sign] if sign in self._ids else len(self._pieces) + ord(sign))
                start = end
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """The pieces in a row, without blanks."""
        known = len(self._pieces)
        return "".join(self._pieces[k] if k < known else chr(k - known) for k in ids)


@functools.cache
def built_in() -> Pieces:
    """Our own: common words and parts of words, none of which names a thing, a texture or what to do with it, and single letters."""
    return Pieces([*_WORDS.split(), *_PARTS.split(), *_LETTERS])


class HuggingFace:
    """A tokenizer of the library ``transformers``, without its special and its added tokens."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        never = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
        self.vocabulary: Sequence[int] = sorted(set(tokenizer.get_vocab().values()) - never)

    def encode(self, text: str) -> list[int]:
        """The ids of a word on its own."""
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids, without the blanks around it."""
        return str(self._tokenizer.decode(list(ids), clean_up_tokenization_spaces=False)).strip()


class TokenizerFile:
    """A ``tokenizer.json``, read by the library ``tokenizers``; without its special and its added tokens."""

    def __init__(self, library: Any, file: Path) -> None:
        self._tokenizer = library.Tokenizer.from_file(str(file))
        never = self._tokenizer.get_added_tokens_decoder().keys()
        self.vocabulary: Sequence[int] = sorted(set(self._tokenizer.get_vocab(with_added_tokens=False).values()) - set(never))

    def encode(self, text: str) -> list[int]:
        """The ids of a word on its own."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids, without the blanks around it."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=False)).strip()


class SentencePieceFile:
    """A model of SentencePiece (``spiece.model``), read by the library of that name; pieces that stand for no text are left out."""

    def __init__(self, library: Any, file: Path) -> None:
        self._pieces = library.SentencePieceProcessor(model_file=str(file))
        never = (self._pieces.is_control, self._pieces.is_unknown, self._pieces.is_unused, self._pieces.is_byte)
        self.vocabulary: Sequence[int] = [k for k in range(self._pieces.get_piece_size()) if not any(test(k) for test in never)]

    def encode(self, text: str) -> list[int]:
        """The ids of a word on its own."""
        return list(self._pieces.encode(text))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids, without the blanks around it."""
        return str(self._pieces.decode(list(ids))).strip()


def tokenizer_file(path: Path) -> Path:
    """The file of a tokenizer: this one, or the one in this folder."""
    if path.is_dir():
        found = next((path / name for name in FILES if (path / name).is_file()), None)
        if found is None:
            raise EtudeError(f"the folder {str(path)!r} holds no tokenizer; expected {', '.join(FILES[:-1])} or {FILES[-1]} in it")
        return found
    if not path.is_file():
        raise EtudeError(f"there is no tokenizer {str(path)!r}; name a folder or a file that is here, nothing is downloaded")
    if path.suffix not in LIBRARIES:
        raise EtudeError(f"{str(path)!r} is not the file of a tokenizer; expected one that ends in {' or '.join(LIBRARIES)}")
    return path


@functools.lru_cache(maxsize=4)
def local_tokenizer(file: Path) -> Tokenizer:
    """The tokenizer in a file, where the library that reads it is installed."""
    needed = LIBRARIES[file.suffix]
    try:
        library = importlib.import_module(needed)
    except ImportError:
        raise EtudeError(f"the tokenizer {str(file)!r} is read by {needed}, which is not installed: pip install {needed}") from None
    try:
        return TokenizerFile(library, file) if needed == "tokenizers" else SentencePieceFile(library, file)
    except Exception as error:  # each library has its own for a file that is none
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise EtudeError(f"the tokenizer {str(file)!r} cannot be read by {needed}: {why:.120}") from None


@functools.lru_cache(maxsize=4)
def fingerprint(file: Path) -> str:
    """Eight signs that tell tokenizers apart: of all that is in the file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:8]


def given_file() -> Path | None:
    """The file of the tokenizer that the environment names, if it names one."""
    path = os.environ.get(PIECES)
    return tokenizer_file(Path(path)) if path else None


def given_tokenizer() -> Tokenizer:
    """The tokenizer that the environment names, or else our own."""
    file = given_file()
    return built_in() if file is None else local_tokenizer(file)
