"""What the three grammars of instructions share when they are read: frames, objects, and names of properties and values."""

from __future__ import annotations

import typing
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from etude.decisions.graph import DecisionGraph, selects
from etude.decisions.looks import Const, Count, Get, Match, Select, ValueComparison
from etude.decisions.operator import Operator, field_types
from etude.decisions.patterns import GrammarPatterns, WordPattern, patterns, signs
from etude.decisions.space import LOCATION, NUMBER, StimulusSpace
from etude.decisions.templates import EXACT, TextPiece, keys
from etude.decisions.tokens import Token, TokenReader
from etude.decisions.trial import Placed
from etude.decisions.wording import spoken
from etude.names import EtudeError, unknown

DEEPEST = 64  # questions within questions: nobody asks so, and Python's own limit is never reached


@dataclass(frozen=True)
class NamedWords:
    """A name of a property or of a value: which, and of what, is known from what follows."""

    tokens: tuple[Token, ...]

    @property
    def text(self) -> str:
        """The name."""
        return " ".join(t.text for t in self.tokens)


@dataclass(frozen=True)
class _Asked:
    """A question that was read, on which frame. ``label`` is its number, 0 if it has none."""

    at: Token
    root: Operator
    frame: int
    label: int
    after: int | None
    given: str


class SentenceReader(ABC):
    """Reads one instruction. The words of operators are read by their patterns, so that new ones are understood at once."""

    grammar = EXACT
    look: tuple[str, ...] = ("observe",)
    wait = "delay"
    stop = ","
    then_do: tuple[str, ...] = ("then", "do")
    separators: tuple[str, ...] = (",",)  # in a list of numbers

    def __init__(self, text: str, space: StimulusSpace) -> None:
        self.tokens, self.space = TokenReader(text), space
        self._properties = sorted(((p, _signature(TokenReader(spoken(p)).all)) for p in space.known), key=lambda p: -len(p[1]))
        self._depth = 0
        self.frame = -1  # the last one that was told
        self.last = ""  # what was told last: object, blank, begin or question
        self.seen: list[int] = []  # the frames of the objects
        self._begun: dict[int, int] = {}
        self._asked: list[_Asked] = []

    # ---------------------------------------------------------------------------------------- the whole

    def placed(self) -> tuple[Placed, ...]:
        """The tasks: in the order of their numbers, or of their answers."""
        while not self.tokens.done:
            self.last = self._step()
        if not self._asked:
            raise self.tokens.wrong("a question")
        labels = [a.label for a in self._asked]
        if any(labels) and sorted(labels) != list(range(1, len(labels) + 1)):
            raise self.tokens.wrong(f"the numbers 1 to {len(labels)}, one for each task", self._asked[-1].at)
        if self._begun.keys() - set(labels):
            raise self.tokens.wrong(f"a question for task {max(self._begun.keys() - set(labels))}")
        return tuple(self._task(a) for a in sorted(self._asked, key=lambda a: a.label))

    def _task(self, asked: _Asked) -> Placed:
        first = asked.frame - max((s.when for s in selects(asked.root)), default=0)
        start = self._begun.get(asked.label, 0 if len(self._asked) == 1 else first)
        if asked.after is not None and (asked.after + 1 == asked.label or not 0 <= asked.after < len(self._asked)):
            raise self.tokens.wrong("a condition on another task", asked.at)
        try:
            return Placed(DecisionGraph(asked.root, asked.frame - start + 1), start, asked.after, asked.given)
        except EtudeError as error:
            raise self.tokens.wrong(f"a question that makes sense: {error}", asked.at) from None

    def _step(self) -> str:
        tokens = self.tokens
        if tokens.accept(*self.look):
            what = "object"
            self._object()
        elif tokens.accept(self.wait):
            what = "blank"
            self.frame += self._run() if tokens.accept("for") else 1
        elif tokens.at("task") and tokens.peek(2).key == "begins":
            what = "begin"
            tokens.take()
            self._begun[tokens.number("the number of a task")] = self.frame + 1
            tokens.take()
        else:
            self._question()
            return "question"
        if not tokens.done:
            tokens.expect(self.stop)
        return what

    def _run(self) -> int:
        count = self.tokens.number("a number of frames")
        self.tokens.expect("frames")
        return count

    # ---------------------------------------------------------------------------------------- objects that are shown

    def _object(self) -> None:
        tokens = self.tokens
        self.object_word()
        number = tokens.number("the number of an object")
        if number != len(self.seen) + 1:
            raise tokens.wrong(f"the number {len(self.seen) + 1}: objects are numbered in the order of time", tokens.peek(-1))
        self.frame += 1
        if tokens.accept("in", "frame"):
            self.anchored(tokens.number("the number of a frame") - 1)
        self.seen.append(self.frame)
        self.distinguished()

    def object_word(self) -> None:
        """The word before the number."""
        self.tokens.expect("object")

    def anchored(self, frame: int) -> None:
        """The frame of the object, as the instruction tells it."""
        if frame != self.frame:
            raise self.tokens.wrong(f"frame {self.frame + 1}", self.tokens.peek(-1))

    def distinguished(self) -> None:
        """What tells the object from others on its frame, if anything does."""
        while self.tokens.at("at") or self.tokens.at("with"):
            if self.tokens.take().key == "at" and not self.tokens.at(LOCATION):
                raise self.tokens.wrong(repr(LOCATION))
            self.named_value(self.words())

    # ---------------------------------------------------------------------------------------- questions

    @abstractmethod
    def question(self) -> Operator:
        """A question with the mark at its end."""

    @abstractmethod
    def within(self) -> Operator:
        """What may stand in brackets."""

    @abstractmethod
    def part(self) -> Operator:
        """A question within a question, in brackets if it needs any."""

    def nested(self) -> Operator:
        """What stands in brackets, and the second of them."""
        found = self.within()
        self.tokens.expect(")")
        return found

    def clause(self) -> Operator:
        """A part, or what joins several: without brackets around it."""
        self.enter()
        found = self.opened(bracketed=True)
        if found is None:
            left = self.part()
            found = self.recognised(self._known.joining, left) or left
        self.leave()
        return found

    @property
    def _known(self) -> GrammarPatterns:
        return patterns(self.grammar, len(Operator.kinds))

    def opened(self, bracketed: bool | None = None, grammar: str = "") -> Operator | None:
        """An operator that begins with words of its own, if one comes. With ``bracketed`` it is one of those that stand in brackets within
        others, or one of those that do not."""
        table = patterns(grammar or self.grammar, len(Operator.kinds)).opening
        return self.recognised([p for p in table if bracketed in (None, self.grammar in p.kind.bracketed)])

    def about(self, select: Select, asked: bool = False) -> Operator:
        """What is said of an object; where it is ``asked``, its "is" has been read before."""
        table = self._known.of_objects
        if asked:
            table = [p._replace(keys=p.keys[1:]) for p in table if p.keys[0] == "is"]
        found = self.recognised(table, select)
        if found is None:
            raise self.tokens.wrong(" or ".join(sorted({repr(p.keys[0]) for p in table if p.keys})) or "what is said of the object")
        return found

    def recognised(self, table: Iterable[WordPattern], before: Operator | None = None) -> Operator | None:
        """The first of these operators whose words come; ``before`` is what was read already."""
        for pattern in table:
            if not self.tokens.accept(*pattern.keys):
                continue
            self.enter()
            given: dict[str, Any] = {} if before is None else {pattern.given: before}
            for piece in pattern.rest:
                if piece.name in given:
                    self._again(pattern.kind, piece, given[piece.name])
                elif piece.name:
                    given[piece.name] = self.field(pattern.kind, piece)
                else:
                    self.tokens.expect(*piece.keys)
            self.leave()
            return pattern.kind(**given)
        return None

    def _again(self, kind: type[Operator], piece: TextPiece, given: Any) -> None:
        """A field that its words tell once more."""
        at = self.tokens.peek()
        if self.field(kind, piece) != given:
            raise self.tokens.wrong("the same as before", at)

    def field(self, kind: type[Operator], piece: TextPiece) -> Any:
        """A field of an operator whose words are being read."""
        hint = field_types(kind)[piece.name]
        if typing.get_origin(hint) is tuple:
            return self._several(typing.get_args(hint)[0])
        if hint is Select:
            return self.select()
        if isinstance(hint, type) and issubclass(hint, Operator):
            return self.within() if piece.bare else self.part()
        if typing.get_origin(hint) is typing.Literal:
            return self._choice({value: kind.spellings.get(self.grammar, {}).get(value, str(value)) for value in typing.get_args(hint)})
        if piece.name == "property":
            return self.property(self.words())
        if hint is int:
            return self.tokens.number("a whole number")
        raise EtudeError(f"{kind.__module__}: {kind.json_kind} does not say how its field {piece.name!r} is read")

    def _several(self, hint: Any) -> tuple[Any, ...]:
        read = self.select if hint is Select else self.part
        self.tokens.expect("(")
        found = [read()]
        while self.tokens.accept(","):
            found.append(read())
        self.tokens.expect(")")
        return tuple(found)

    def _choice(self, spellings: dict[Any, str]) -> Any:
        for value, words in sorted(spellings.items(), key=lambda pair: -len(pair[1])):
            if self.tokens.accept(*keys(words)):
                return value
        raise self.tokens.wrong(" or ".join(map(repr, spellings.values())))

    def _question(self) -> None:
        tokens, at = self.tokens, self.tokens.peek()
        label, after, given = 0, None, ""
        if tokens.accept("if", "the", "answer", "to", "task"):
            after = tokens.number("the number of a task") - 1
            tokens.expect("is")
            given = self.words().text
            tokens.expect(",", *self.then_do)
        if after is not None or tokens.at("task"):
            tokens.expect("task")
            label = tokens.number("the number of a task")
            tokens.expect(":")
        self.asked()
        self._asked.append(_Asked(at, self.question(), self.frame, label, after, given))

    def asked(self) -> None:
        """A question comes, on the last frame that was told."""
        if self.frame < 0:
            raise self.tokens.wrong("a frame before the first question")

    def enter(self) -> None:
        """A part of a question begins."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.tokens.wrong(f"at most {DEEPEST} questions within each other")

    def leave(self) -> None:
        """A part of a question ends."""
        self._depth -= 1

    # ---------------------------------------------------------------------------------------- objects that are asked about

    def select(self) -> Select:
        """An object with the conditions on it."""
        self.enter()
        self.tokens.expect("object")
        found = Select(self.when(), self._matches())
        self.leave()
        return found

    def when(self) -> int:
        """The number of an object that was shown, as the number of frames since then."""
        number = self.tokens.number("the number of an object")
        if not 1 <= number <= len(self.seen):
            shown = f"1 to {len(self.seen)}" if self.seen else "none"
            raise self.tokens.wrong(f"the number of an object that was shown before ({shown})", self.tokens.peek(-1))
        return self.frame - self.seen[number - 1]

    def _matches(self) -> tuple[Match, ...]:
        found = []
        while self.tokens.accept("with"):
            self.tokens.accept("the")
            words = self.words()
            if self.tokens.accept("of"):
                prop = self.property(words)
                found.append(Match(prop, Get(prop, self._bare())))
            elif self.tokens.accept("("):
                found.append(Match(self.property(words), self.nested()))
            else:
                const = self.named_value(words)
                found.append(Match(const.property, const))
        return tuple(found)

    def _bare(self) -> Select:
        """An object within a condition: its own conditions stand in brackets, so that nobody takes them for those of the other one."""
        if self.tokens.accept("("):
            found = self.select()
            self.tokens.expect(")")
            return found
        self.tokens.expect("object")
        return Select(self.when())

    def counted(self) -> Count | Const:
        """The number of some objects, or a number; the word "number" has been read."""
        tokens = self.tokens
        if not tokens.accept("of"):
            return self.const(NUMBER, self.words())
        if tokens.at("("):
            return Count(self._several(Select))
        if not tokens.accept("objects"):
            return Count((self.select(),))
        whens = [self.when()]
        while tokens.peek().key in self.separators and tokens.peek(1).is_number:
            tokens.take()
            whens.append(self.when())
        matches = self._matches()
        return Count(tuple(Select(when, matches) for when in whens))

    # ---------------------------------------------------------------------------------------- names

    def words(self) -> NamedWords:
        """A name: all words up to one that has a meaning of its own."""
        found = []
        while self.tokens.peek().is_name:
            found.append(self.tokens.take())
        if not found:
            raise self.tokens.wrong("the name of a property or a value")
        return NamedWords(tuple(found))

    def property(self, words: NamedWords) -> str:
        """The property of this name."""
        for prop, signature in self._properties:
            if _signature(words.tokens) == signature:
                return prop
        raise self.tokens.wrong(f"a property: {unknown('property', words.text, self.space.known)}", words.tokens[0])

    def named_value(self, words: NamedWords) -> Const:
        """A property with its value."""
        for prop, signature in self._properties:
            if len(words.tokens) > len(signature) and _signature(words.tokens[: len(signature)]) == signature:
                return self.const(prop, NamedWords(words.tokens[len(signature) :]))
        raise self.tokens.wrong(f"a property ({', '.join(self.space.properties)}) and its value", words.tokens[0])

    def const(self, prop: str, words: NamedWords) -> Const:
        """A value of a property."""
        name, first = words.text, words.tokens[0]
        if prop == NUMBER:
            if len(words.tokens) > 1 or not first.is_number:
                raise self.tokens.wrong("a whole number", first)
        elif prop not in self.space.known:
            raise self.tokens.wrong(f"something that {name!r} can be compared with", first)
        elif name not in self.space.values(prop):
            raise self.tokens.wrong(f"a value of {prop}: {unknown('value', name, self.space.values(prop))}", first)
        return Const(prop, name)

    def settled(self, part: Operator | NamedWords) -> Operator:
        """A part of a question that stands alone."""
        return self.named_value(part) if isinstance(part, NamedWords) else part

    def sign(self) -> type[ValueComparison] | None:
        """The words between two values that are compared, if they come."""
        for words, kind in signs(self.grammar, len(Operator.kinds)):
            if self.tokens.accept(*words):
                return kind
        return None

    def compared(self, sign: type[ValueComparison], left: Operator | NamedWords, right: Operator | NamedWords) -> Operator:
        """A comparison; a value says nothing of its property, so the other side must."""
        if isinstance(left, NamedWords):
            left = self.const(self._kind(right), left)
        if isinstance(right, NamedWords):
            right = self.const(self._kind(left), right)
        return sign(left, right)

    def _kind(self, part: Operator | NamedWords) -> str:
        try:
            return "" if isinstance(part, NamedWords) else part.kind()
        except EtudeError as error:
            raise self.tokens.wrong(f"something that can be compared: {error}") from None


def _signature(tokens: tuple[Token, ...] | list[Token]) -> list[str]:
    return [t.text for t in tokens]
