"""Études in words and back: the grammars of decisions, with things of a table for their objects, and commands for their acts.

``exact`` puts every act within another in brackets. ``fluent`` says what comes one after the other in sentences of its own. Both have one
reading; :func:`read` gives the graph that :func:`told` was given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from etude.decisions.logic import Switch
from etude.decisions.looks import Const, Count, Match, Select
from etude.decisions.operator import Operator, field_types
from etude.decisions.parse import ExactReader, FluentReader
from etude.decisions.patterns import patterns
from etude.decisions.reading import SentenceReader
from etude.decisions.space import StimulusSpace
from etude.decisions.templates import COMMAND, EXACT, FLUENT, TextPiece
from etude.decisions.wording import Exact, Fluent, SentenceWriter
from etude.names import EtudeError, pick
from etude.suites.etudes.acts import Act, EveryThing, InOrder, It, SomeThings, row
from etude.suites.etudes.meaning import EtudeGraph
from etude.suites.etudes.synonyms import USUAL, reworded
from etude.suites.etudes.things import COLOUR, SHAPE, TABLE

THING = "thing"  # where no shape is told
PLURAL = "s"  # of every shape there is


class _Telling(SentenceWriter):
    """Things by what they look like, and acts within acts in brackets."""

    def select(self, select: Select) -> str:
        if isinstance(select, It):
            return "it"
        told = {m.property: self.value(m.value) for m in select.matches if isinstance(m.value, Const)}
        if select.when or len(told) < len(select.matches) or not told.keys() <= {COLOUR, SHAPE}:
            raise EtudeError("a thing on a table is told by its colour, its shape, or both")
        words = [*([told[COLOUR]] if COLOUR in told else []), told.get(SHAPE, THING)]
        if isinstance(select, SomeThings):
            words[-1] += PLURAL
        return " ".join(words if isinstance(select, EveryThing) else ["the", *words])

    def part(self, node: Operator) -> str:
        return f"({node.written(self)})" if isinstance(node, Switch) or (node.bracketed and isinstance(node, Act)) else super().part(node)

    def switched(self, node: Switch) -> str:
        return f"if {node.condition.written(self)}, then {self.part(node.then)}, otherwise {self.part(node.otherwise)}"

    def etude(self, root: Operator) -> str:
        """The whole, with its full stop."""
        return f"{_capital(root.written(self))}."


class _ExactTelling(_Telling, Exact):
    pass


class _FluentTelling(_Telling, Fluent):
    def etude(self, root: Operator) -> str:
        if not isinstance(root, InOrder):
            return super().etude(root)
        first, *rest = (part.written(self) for part in row(root))
        return " ".join([f"First, {first}.", *(f"Then, {one}." for one in rest)])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


class _Reading(SentenceReader):
    """Reads what is told so, in the usual words or in the others."""

    def __init__(self, text: str, space: StimulusSpace) -> None:
        super().__init__(text, space)
        self.tokens.all[:] = [token._replace(text=USUAL.get(token.key, token.text)) for token in self.tokens.all]

    def etude(self) -> EtudeGraph:
        """The whole."""
        at = self.tokens.peek()
        root = self.sentences()
        if not self.tokens.done:
            raise self.tokens.wrong("the end")
        try:
            return EtudeGraph(root)
        except EtudeError as error:
            raise self.tokens.wrong(f"something to be done: {error}", at) from None

    def sentences(self) -> Operator:
        """All there is."""
        return self.sentence()

    def sentence(self) -> Operator:
        """An act with its full stop."""
        found = self.act()
        self.tokens.expect(".")
        return found

    def act(self) -> Operator:
        """Something to be done, in brackets if it has any."""
        tokens = self.tokens
        self.enter()
        if tokens.accept("("):
            found: Operator | None = self.act()
            tokens.expect(")")
        elif tokens.accept("if"):
            condition = self.clause()
            tokens.expect(",", "then")
            then = self.act()
            tokens.expect(",", "otherwise")
            found = Switch(condition, then, self.act())
        else:
            found = self.opened(grammar=COMMAND)
        if found is None:
            verbs = sorted(" ".join(pattern.keys) for pattern in patterns(COMMAND, len(Operator.kinds)).opening)
            raise tokens.wrong(f"something to be done (if, {', '.join(verbs)})")
        self.leave()
        return found

    def field(self, kind: type[Operator], piece: TextPiece) -> Any:
        """Within acts stand acts, truths, things and groups."""
        hint = field_types(kind)[piece.name]
        if isinstance(hint, type) and issubclass(hint, EveryThing):
            return hint(0, self._look(plural=hint is SomeThings))
        return self.act() if issubclass(kind, Act) and hint is Operator and piece.name not in kind.truths else super().field(kind, piece)

    def counted(self) -> Count | Const:
        """How many things there are that look so, or a number."""
        return Count((SomeThings(0, self._look(plural=True)),)) if self.tokens.accept("of") else super().counted()

    def select(self) -> Select:
        """A thing on the table."""
        if self.tokens.accept("it"):
            return It()
        self.tokens.expect("the")
        return Select(0, self._look())

    def alone(self) -> Select:
        """A thing and nothing else."""
        found = self.select()
        if not self.tokens.done:
            raise self.tokens.wrong("the end")
        return found

    def _look(self, plural: bool = False) -> tuple[Match, ...]:
        tokens, end = self.tokens, PLURAL if plural else ""
        matches = []
        if tokens.peek().key in TABLE.values(COLOUR):
            matches.append(Match(COLOUR, Const(COLOUR, tokens.take().key)))
        shapes = {f"{shape}{end}": shape for shape in TABLE.values(SHAPE)}
        if tokens.peek().key in shapes:
            matches.append(Match(SHAPE, Const(SHAPE, shapes[tokens.take().key])))
        elif not tokens.accept(f"{THING}{end}"):
            colours = "" if matches else f"a colour ({', '.join(TABLE.values(COLOUR))}), "
            raise tokens.wrong(f"{colours}a shape ({', '.join(shapes)}) or {f'{THING}{end}'!r}")
        return tuple(matches)


class _ExactReading(_Reading, ExactReader):
    pass


class _FluentReading(_Reading, FluentReader):
    def sentences(self) -> Operator:
        if not self.tokens.accept("first", ","):
            return self.sentence()
        found = [self.sentence()]
        while self.tokens.accept("then", ","):
            found.append(self.sentence())
        if len(found) < 2:
            raise self.tokens.wrong("'Then,' and what comes next")
        join: Callable[[Operator, Operator], Operator] = lambda right, left: InOrder(left, right)  # noqa: E731
        return functools.reduce(join, reversed(found))


_WRITERS: dict[str, type[_Telling]] = {FLUENT: _FluentTelling, EXACT: _ExactTelling}
_READERS: dict[str, type[_Reading]] = {FLUENT: _FluentReading, EXACT: _ExactReading}
GRAMMARS = tuple(_WRITERS)


def told(etude: EtudeGraph, grammar: str = FLUENT, other_words: bool = False) -> str:
    """An étude in words: the usual ones, or :mod:`others <etude.suites.etudes.synonyms>`."""
    text = pick("grammar", grammar, _WRITERS)(TABLE, {}).etude(etude.root)
    return reworded(text) if other_words else text


def read(text: str, grammar: str = FLUENT) -> EtudeGraph:
    """The étude of a text; raises :class:`EtudeError` with the place in it that is not understood."""
    return pick("grammar", grammar, _READERS)(text, TABLE).etude()


def thing(words: str) -> Select:
    """A thing by what it looks like: ``thing("red cube")``."""
    return _FluentReading(f"the {words}", TABLE).alone()


def things(words: str) -> EveryThing:
    """All things that look so: ``things("red thing")``."""
    return EveryThing(0, thing(words).matches)
