"""Words in sub-word tokens: what a tokenizer has to offer, a small one of our own, and those of Hugging Face as one."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Protocol


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
