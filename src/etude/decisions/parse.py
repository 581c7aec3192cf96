"""Instructions back into tasks: what :mod:`etude.decisions.text` writes is read here.

Every text in ``exact`` and ``fluent`` has one reading. ``original`` has several, as in the paper: here "and" binds tighter than "or", and
a delay is one blank frame unless the number of a later frame tells more. It also takes the paper's older wordings.
"""

from __future__ import annotations

from collections.abc import Callable

from etude.decisions.logic import And, Or, Switch
from etude.decisions.looks import Get
from etude.decisions.operator import Operator
from etude.decisions.reading import DEEPEST, NamedWords, SentenceReader
from etude.decisions.space import StimulusSpace
from etude.decisions.templates import EXACT, FLUENT, ORIGINAL, QUESTION
from etude.decisions.trial import Placed
from etude.decisions.wording import ORIGINAL_NAMES
from etude.names import pick


def parse(text: str, space: StimulusSpace, grammar: str = "exact") -> tuple[Placed, ...]:
    """The tasks of an instruction: in the order of their numbers where it has any, otherwise in that of their answers.

    Raises :class:`EtudeError` with the place in the text where it cannot be read.
    """
    return pick("grammar", grammar, _READERS)(text, space).placed()


class ExactReader(SentenceReader):
    """Reads what :class:`~etude.decisions.wording.Exact` writes."""

    def question(self) -> Operator:
        found = self.within()
        self.tokens.expect("?")
        return found

    def within(self) -> Operator:
        self.enter()
        if self.tokens.accept("if"):
            condition = self.clause()
            self.tokens.expect(",", "then")
            then = self.branch()
            self.tokens.expect("else")
            found: Operator = Switch(condition, then, self.within())
        else:
            found = self.clause()
        self.leave()
        return found

    def branch(self) -> Operator:
        """The first of two questions, with its mark."""
        found = self.clause()
        self.tokens.expect("?")
        return found

    def part(self) -> Operator:
        left = self.operand()
        sign = self.sign()
        return self.settled(left) if sign is None else self.compared(sign, left, self.operand())

    def operand(self) -> Operator | NamedWords:
        tokens = self.tokens
        if tokens.accept("("):
            return self.nested()
        found = self.opened(bracketed=False)
        if found is not None:
            return found
        if tokens.at("object"):
            return self.about(self.select())
        if tokens.accept("number"):
            return self.counted()
        words = self.words()
        return Get(self.property(words), self.select()) if tokens.accept("of") else words


class _Original(ExactReader):
    grammar = ORIGINAL

    def branch(self) -> Operator:
        found = self.within()
        if not self.tokens.accept(","):  # as it was written before the paper
            self.tokens.expect("?")
        return found

    def clause(self) -> Operator:
        return self._chain("or", Or, lambda: self._chain("and", And, self.part))

    def _chain(self, word: str, kind: type[And] | type[Or], part: Callable[[], Operator]) -> Operator:
        found = part()
        for _ in range(DEEPEST):
            if not self.tokens.accept(word):
                break
            found = kind(found, part())
        return found

    def operand(self) -> Operator | NamedWords:
        if self.tokens.accept("object", "of"):
            return Get("identity", self.select())
        words = self.words()
        if self.tokens.accept("of"):
            return Get(self.property(words), self.select())
        if self.tokens.accept(":"):
            return self.const(self.property(words), self.words())
        return words

    def property(self, words: NamedWords) -> str:
        names = {name: prop for prop, name in ORIGINAL_NAMES.items() if prop in self.space.known}
        if words.text not in names:
            raise self.tokens.wrong(f"a property ({', '.join(names)})", words.tokens[0])
        return names[words.text]

    def object_word(self) -> None:
        self.tokens.accept("object")  # missing in some of the paper's figures

    def distinguished(self) -> None:
        while self.tokens.accept("at") or self.tokens.accept("with"):
            prop = self.property(self.words())
            self.tokens.expect(":")
            self.tokens.accept(",")  # the paper's figure 9
            self.const(prop, self.words())

    def anchored(self, frame: int) -> None:
        if self.last == "blank" and frame > self.frame:
            self.frame = frame
        super().anchored(frame)

    def asked(self) -> None:
        if self.last in ("blank", "question"):  # a blank frame on which a question is asked is not told otherwise
            self.frame += 1
        super().asked()


class FluentReader(SentenceReader):
    """Reads what :class:`~etude.decisions.wording.Fluent` writes."""

    grammar = FLUENT
    look = ("look", "at")
    wait = "wait"
    stop = "."
    then_do = ("do",)
    separators = (",", "and")

    def distinguished(self) -> None:
        if self.tokens.accept(",", "the", "one"):
            super().distinguished()

    def question(self) -> Operator:
        tokens = self.tokens
        self.enter()
        if tokens.accept("if"):
            found = self._switched()
        elif tokens.accept("answer"):
            found = self.settled(self._operand())
            tokens.expect(".")
        elif tokens.accept("what", "is"):
            found = self.settled(self._operand())
            tokens.expect("?")
        else:
            found = self._asked_whether()
        self.leave()
        return found

    def _switched(self) -> Operator:
        condition = self.clause()
        self.tokens.expect(",")
        if self.tokens.accept("("):
            then = self.question()
            self.tokens.expect(")")
        else:
            then = self.question()
        self.tokens.expect("otherwise", ",")
        return Switch(condition, then, self.question())

    def _asked_whether(self) -> Operator:
        found = self.opened(grammar=QUESTION)
        if found is not None:
            return found
        tokens = self.tokens
        tokens.expect("is")
        if tokens.accept("it", "true", "that"):
            found = self.clause()
        elif tokens.at("object"):
            found = self.about(self.select(), asked=True)
        else:
            found = self._said_of(self.settled(self._operand()))
        tokens.expect("?")
        return found

    def within(self) -> Operator:
        if not self.tokens.accept("if"):
            return self.clause()
        condition = self.clause()
        self.tokens.expect(",", "then")
        then = self.clause()
        self.tokens.expect(",", "otherwise")
        return Switch(condition, then, self.clause())

    def part(self) -> Operator:
        found = self.opened(bracketed=False)
        if found is not None:
            return found
        if self.tokens.at("object"):
            return self.about(self.select())
        found = self.settled(self._operand())
        return self._said_of(found) if self.tokens.accept("is") else found

    def _operand(self) -> Operator | NamedWords:
        tokens = self.tokens
        if tokens.accept("("):
            return self.nested()
        if tokens.accept("the", "number") or tokens.accept("number"):
            return self.counted()
        if tokens.accept("the"):
            words = self.words()
            tokens.expect("of")
            return Get(self.property(words), self.select())
        return self.words()

    def _said_of(self, subject: Operator) -> Operator:
        """What a comparison says of what it is about."""
        sign = self.sign()
        if sign is None:
            raise self.tokens.wrong("a comparison such as 'the same as' or 'different from'")
        return self.compared(sign, subject, self._operand())


_READERS: dict[str, type[SentenceReader]] = {EXACT: ExactReader, FLUENT: FluentReader, ORIGINAL: _Original}
