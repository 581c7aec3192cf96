"""Études in words and back: :func:`read` gives the graph that :func:`told` was given, in either of two grammars.

``exact`` puts every act within another in brackets. ``fluent`` is English, with one reading all the same; what is read in it is more than
what is told.
"""

from __future__ import annotations

from etude.decisions.looks import Select
from etude.decisions.operator import Operator
from etude.decisions.templates import EXACT, FLUENT
from etude.names import pick
from etude.suites.etudes.acts import EveryThing, SomeThings
from etude.suites.etudes.hearing import HeardExactly, Reading
from etude.suites.etudes.listening import HeardFluently
from etude.suites.etudes.meaning import EtudeGraph
from etude.suites.etudes.speaking import SPOKEN, ExactTelling, FluentTelling, Telling
from etude.suites.etudes.synonyms import reworded

_WRITERS: dict[str, type[Telling]] = {FLUENT: FluentTelling, EXACT: ExactTelling}
_READERS: dict[str, type[Reading]] = {FLUENT: HeardFluently, EXACT: HeardExactly}
GRAMMARS = tuple(_WRITERS)


def told(etude: EtudeGraph, grammar: str = FLUENT, other_words: bool = False) -> str:
    """An étude in words: the usual ones, or :mod:`others <etude.suites.etudes.synonyms>`."""
    text = pick("grammar", grammar, _WRITERS)(SPOKEN, {}).etude(etude.root)
    return reworded(text) if other_words else text


def read(text: str, grammar: str = FLUENT) -> EtudeGraph:
    """The étude of a text; raises :class:`EtudeError` with the place in it that is not understood."""
    return pick("grammar", grammar, _READERS)(text, SPOKEN).etude()


def thing(words: str) -> Select:
    """A thing by what it looks like: ``thing("red cube")``."""
    return HeardExactly(f"the {words}", SPOKEN).alone()


def things(words: str) -> EveryThing:
    """All things that look so: ``things("red thing")``."""
    return EveryThing(0, HeardExactly(words, SPOKEN).group())


def some_things(words: str) -> SomeThings:
    """The same, of which some are meant: ``some_things("red thing")``."""
    return SomeThings(0, HeardExactly(words, SPOKEN).group())


def truth(words: str, of_it: bool = False) -> Operator:
    """Something that is so or not: ``truth("the cube is red")``. With ``of_it`` "it" is the thing whose turn it is."""
    return HeardFluently(words, SPOKEN).truth(of_it)
