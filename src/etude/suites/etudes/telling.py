"""Études in words and back: the grammars of decisions, with things of a table for their objects, and commands for their acts.

``exact`` puts every act within another in brackets. ``fluent`` says what comes one after the other in sentences of its own. Both have one
reading; :func:`read` gives the graph that :func:`told` was given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import product
from typing import Any

from etude.decisions.logic import Switch
from etude.decisions.looks import Const, Count, Match, Select
from etude.decisions.operator import Operator, field_types
from etude.decisions.parse import ExactReader, FluentReader
from etude.decisions.patterns import WordPattern, patterns
from etude.decisions.reading import SentenceReader
from etude.decisions.space import StimulusSpace
from etude.decisions.templates import COMMAND, EXACT, FLUENT, TextPiece, pieces
from etude.decisions.wording import Exact, Fluent, SentenceWriter
from etude.names import EtudeError, pick
from etude.prompts.instruction import with_article
from etude.suites.etudes.acts import DRAWER, LEVEL, Act, Drawer, EveryThing, InOrder, It, SomeThings, row
from etude.suites.etudes.facts import AThing, Fact
from etude.suites.etudes.household import KINDS, LEVELS, PLACE, PLACES
from etude.suites.etudes.meaning import EtudeGraph
from etude.suites.etudes.synonyms import USUAL, reworded
from etude.suites.etudes.things import CATALOGUE, COLOUR, COLOURS, SHAPE

_ALL = tuple(dict.fromkeys((*CATALOGUE, *KINDS)))
_SAID = list(product(range(len(COLOURS)), range(len(_ALL)), range(len(PLACES))))
SPOKEN = StimulusSpace(
    {prop: tuple(one[k] for one in _SAID) for k, prop in enumerate((COLOUR, SHAPE, PLACE))},
    {COLOUR: COLOURS, SHAPE: _ALL, PLACE: PLACES}, views=1, grid=(1, 1),
)  # fmt: skip
"""All that there are words for, in whatever setting."""
THING = "thing"  # where no shape is told
PLURAL = "s"  # of every shape there is


class _Telling(SentenceWriter):
    """Things by what they look like, and acts within acts in brackets."""

    def select(self, select: Select) -> str:
        if isinstance(select, It):
            return "it"
        if isinstance(select, Drawer):
            return f"the {select.level} {DRAWER}"
        told = {m.property: self.value(m.value) for m in select.matches if isinstance(m.value, Const)}
        if select.when or len(told) < len(select.matches) or not told.keys() <= {COLOUR, SHAPE}:
            raise EtudeError("a thing on a table is told by its colour, its shape, or both")
        words = [*([told[COLOUR]] if COLOUR in told else []), told.get(SHAPE, THING)]
        if isinstance(select, SomeThings):
            words[-1] += PLURAL
        if isinstance(select, AThing):
            return with_article(" ".join(words))
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
        if hint is Drawer:
            return self.drawer()
        if hint is AThing:
            if not self.tokens.accept("an"):
                self.tokens.expect("a")
            return AThing(0, self._look())
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

    def drawer(self) -> Drawer:
        """A drawer, by its level."""
        self.tokens.expect("the")
        if self.tokens.peek().key not in LEVELS:
            raise self.tokens.wrong(f"a drawer ({', '.join(f'the {level}' for level in LEVELS)})")
        level = self.tokens.take().key
        self.tokens.expect(DRAWER)
        return Drawer(0, (Match(LEVEL, Const(LEVEL, level)),))

    def part(self) -> Operator:
        """A truth within truths: a fact about where things are, or what decisions know."""
        tokens, here = self.tokens, self.tokens.peek(1).key
        of_drawer = here in LEVELS and tokens.peek(2).key == DRAWER
        if not tokens.at("the") or not (of_drawer or here in (THING, *SPOKEN.values(COLOUR), *SPOKEN.values(SHAPE))):
            return super().part()  # type: ignore[safe-super]  # that of the grammar, which comes next
        subject = self.drawer() if of_drawer else self.select()
        table = _facts(of_drawer, len(Operator.kinds))
        found = self.recognised(table, subject)
        if found is None:
            raise tokens.wrong(f"what is so of it ({', '.join(sorted(' '.join(pattern.keys) for pattern in table))})")
        return found

    def alone(self) -> Select:
        """A thing, or a drawer, and nothing else."""
        found = self.drawer() if self.tokens.peek(2).key == DRAWER else self.select()
        if not self.tokens.done:
            raise self.tokens.wrong("the end")
        return found

    def _look(self, plural: bool = False) -> tuple[Match, ...]:
        tokens, end = self.tokens, PLURAL if plural else ""
        matches = []
        if tokens.peek().key in SPOKEN.values(COLOUR):
            matches.append(Match(COLOUR, Const(COLOUR, tokens.take().key)))
        shapes = {f"{shape}{end}": shape for shape in SPOKEN.values(SHAPE)}
        if tokens.peek().key in shapes:
            matches.append(Match(SHAPE, Const(SHAPE, shapes[tokens.take().key])))
        elif not tokens.accept(f"{THING}{end}"):
            colours = "" if matches else f"a colour ({', '.join(SPOKEN.values(COLOUR))}), "
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


@functools.cache
def _facts(of_drawers: bool, count: int) -> list[WordPattern]:
    """The words of all facts about a thing, or about a drawer; ``count`` is the number of operators there are by now."""
    found = []
    for kind in Operator.kinds.values():
        if issubclass(kind, Fact) and kind.said:
            first, words, *rest = pieces(kind.said)
            if (field_types(kind)[first.name] is Drawer) is of_drawers:
                found.append(WordPattern(words.keys, kind, first.name, tuple(rest)))
    return sorted(found, key=lambda pattern: -len(pattern.keys))


_WRITERS: dict[str, type[_Telling]] = {FLUENT: _FluentTelling, EXACT: _ExactTelling}
_READERS: dict[str, type[_Reading]] = {FLUENT: _FluentReading, EXACT: _ExactReading}
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
    return _FluentReading(f"the {words}", SPOKEN).alone()


def things(words: str) -> EveryThing:
    """All things that look so: ``things("red thing")``."""
    return EveryThing(0, thing(words).matches)
