"""Études read from their words: what the two grammars share, and the exact one."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable
from typing import Any

from etude.decisions.logic import Switch
from etude.decisions.looks import Const, Count, Match, Select
from etude.decisions.operator import Operator, field_types
from etude.decisions.parse import ExactReader
from etude.decisions.patterns import WordPattern, patterns
from etude.decisions.reading import SentenceReader
from etude.decisions.space import StimulusSpace
from etude.decisions.templates import COMMAND, TextPiece, pieces
from etude.decisions.tokens import Token
from etude.names import EtudeError
from etude.suites.etudes.acts import DRAWER, LEVEL, Act, Drawer, EveryThing, It, SomeThings
from etude.suites.etudes.facts import AThing, Fact
from etude.suites.etudes.household import LEVELS
from etude.suites.etudes.meaning import EtudeGraph
from etude.suites.etudes.speaking import PLURAL, SPOKEN, THING
from etude.suites.etudes.synonyms import USUAL
from etude.suites.etudes.things import COLOUR, SHAPE

_ARTICLES = ("the", "a", "an")  # like many words, and meant for none of them
_SPACED = re.compile(" (?=[,:])")


class Reading(SentenceReader):
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
            found = self.choice()
        else:
            found = self.opened(grammar=COMMAND)
        if found is None:
            raise self.no_act()
        self.leave()
        return found

    def choice(self) -> Operator:
        """What follows "if"."""
        condition = self.clause()
        self.tokens.expect(",", "then")
        then = self.act()
        self.tokens.expect(",", "otherwise")
        return Switch(condition, then, self.act())

    def no_act(self) -> EtudeError:
        """The error for words that are no act."""
        verbs = {_SPACED.sub("", " ".join(pattern.keys)): pattern.keys[0] for pattern in patterns(COMMAND, len(Operator.kinds)).opening}
        return self.unknown(f"something to be done ({', '.join(['if', *sorted(verbs)])})", ["if", *verbs.values()])

    def unknown(self, expected: str, choices: Iterable[str], at: Token | None = None) -> EtudeError:
        """The error for a word that is none of these, with the nearest of them."""
        key = (at or self.tokens.peek()).key
        near = [] if key in _ARTICLES else difflib.get_close_matches(key, sorted(set(choices)), n=1, cutoff=0.6)
        return self.tokens.wrong(f"{expected}{f'; did you mean {near[0]!r}?' if near else ''}", at)

    def field(self, kind: type[Operator], piece: TextPiece) -> Any:
        """Within acts stand acts, truths, things and groups."""
        hint = field_types(kind)[piece.name]
        if hint is Drawer:
            return self.drawer()
        if hint is AThing:
            return self.a_thing()
        if isinstance(hint, type) and issubclass(hint, EveryThing):
            return hint(0, self.looked(plural=hint is SomeThings))
        return self.act() if issubclass(kind, Act) and hint is Operator and piece.name not in kind.truths else super().field(kind, piece)

    def counted(self) -> Count | Const:
        """How many things there are that look so, or a number."""
        return Count((SomeThings(0, self.looked(plural=True)),)) if self.tokens.accept("of") else super().counted()

    def select(self) -> Select:
        """A thing on the table."""
        if self.tokens.accept("it"):
            return It()
        self.tokens.expect("the")
        return Select(0, self.looked())

    def a_thing(self) -> AThing:
        """Some thing that looks so."""
        if not self.tokens.accept("an"):
            self.tokens.expect("a")
        return AThing(0, self.looked())

    def drawer(self) -> Drawer:
        """A drawer, by its level."""
        self.tokens.expect("the")
        if self.tokens.peek().key not in LEVELS:
            raise self.unknown(f"a drawer ({', '.join(f'the {level}' for level in LEVELS)})", LEVELS)
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
        table = facts(of_drawer, False, len(Operator.kinds))
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

    def group(self) -> tuple[Match, ...]:
        """By what things are told, one or several, and nothing else."""
        found = self.looked(plural=None)
        if not self.tokens.done:
            raise self.tokens.wrong("the end")
        return found

    def looked(self, plural: bool | None = False) -> tuple[Match, ...]:
        """By what a thing is told; None for ``plural`` takes one thing or several."""
        tokens = self.tokens
        ends = (PLURAL, "") if plural is None else (PLURAL,) if plural else ("",)
        matches = []
        if tokens.peek().key in SPOKEN.values(COLOUR):
            matches.append(Match(COLOUR, Const(COLOUR, tokens.take().key)))
        shapes = {f"{shape}{end}": shape for end in ends for shape in SPOKEN.values(SHAPE)}
        anything = [f"{THING}{end}" for end in ends]
        if tokens.peek().key in shapes:
            matches.append(Match(SHAPE, Const(SHAPE, shapes[tokens.take().key])))
        elif not any(tokens.accept(one) for one in anything):
            colours = "" if matches else f"a colour ({', '.join(SPOKEN.values(COLOUR))}), "
            known = [*shapes, *anything, *(() if matches else SPOKEN.values(COLOUR))]
            raise self.unknown(f"{colours}a shape ({', '.join(shapes)}) or {' or '.join(map(repr, anything))}", known)
        return tuple(matches)


class HeardExactly(Reading, ExactReader):
    """Reads what is told in the exact grammar."""


@functools.cache
def facts(of_drawers: bool, denied: bool, count: int) -> list[WordPattern]:
    """The words of all facts, or of their contraries, about a thing, or about a drawer; ``count`` is the number of operators there are by
    now."""
    found = []
    for kind in Operator.kinds.values():
        said = (kind.denied if denied else kind.said) if issubclass(kind, Fact) else ""
        if said:
            first, words, *rest = pieces(said)
            if (field_types(kind)[first.name] is Drawer) is of_drawers:
                found.append(WordPattern(words.keys, kind, first.name, tuple(rest)))
    return sorted(found, key=lambda pattern: -len(pattern.keys))
