"""Instructions back into tasks: what :mod:`etude.decisions.text` writes is read here.

Every text in ``exact`` and ``fluent`` has one reading. ``original`` has several, as in the paper: here "and" binds tighter than "or", and
a delay is one blank frame unless the number of a later frame tells more. It also takes the paper's older wordings.
"""

from __future__ import annotations

from etude.decisions.graph import And, Exist, Get, IsSame, Negation, NotSame, Operator, Or, Select, Switch, Xor
from etude.decisions.reading import DEEPEST, NamedWords, SentenceReader
from etude.decisions.space import StimulusSpace
from etude.decisions.trial import Placed
from etude.decisions.wording import ORIGINAL_NAMES
from etude.names import pick


def parse(text: str, space: StimulusSpace, grammar: str = "exact") -> tuple[Placed, ...]:
    """The tasks of an instruction: in the order of their numbers where it has any, otherwise in that of their answers.

    Raises :class:`EtudeError` with the place in the text where it cannot be read.
    """
    return pick("grammar", grammar, _READERS)(text, space).placed()


class _Exact(SentenceReader):
    def question(self) -> Operator:
        found = self.whole()
        self.tokens.expect("?")
        return found

    def nested(self) -> Operator:
        found = self.whole()
        self.tokens.expect(")")
        return found

    def whole(self) -> Operator:
        self.enter()
        if self.tokens.accept("if"):
            condition = self.joined()
            self.tokens.expect(",", "then")
            then = self.joined()
            self.tokens.expect("?", "else")
            found: Operator = Switch(condition, then, self.whole())
        else:
            found = self.joined()
        self.leave()
        return found

    def joined(self) -> Operator:
        left = self.part()
        for word, kind in (("and", And), ("or", Or), ("xor", Xor)):
            if self.tokens.accept(word):
                return kind(left, self.part())
        return left

    def part(self) -> Operator:
        left = self.operand()
        sign = self.sign()
        return self.settled(left) if sign is None else self.compared(sign, left, self.operand())

    def sign(self) -> type[IsSame] | type[NotSame] | None:
        if self.tokens.accept("equals"):
            return IsSame
        return NotSame if self.tokens.accept("not", "equals") else None

    def operand(self) -> Operator | NamedWords:
        tokens = self.tokens
        if tokens.accept("("):
            return self.nested()
        if tokens.accept("not", "("):
            return Negation(self.nested())
        if tokens.at("object"):
            select = self.select()
            if tokens.accept("exists"):
                return Exist(select)
            tokens.expect("is")
            return self.related(select)
        if tokens.accept("number"):
            return self.counted()
        words = self.words()
        return Get(self.property(words), self.select()) if tokens.accept("of") else words


class _Original(_Exact):
    def whole(self) -> Operator:
        tokens = self.tokens
        self.enter()
        if tokens.accept("if"):
            condition = self.joined()
            tokens.expect(",", "then")
            then = self.whole()
            if not tokens.accept(","):  # as it was written before the paper
                tokens.expect("?")
            tokens.expect("else")
            found: Operator = Switch(condition, then, self.whole())
        else:
            found = self.joined()
        self.leave()
        return found

    def joined(self) -> Operator:
        found = self._conjunction()
        for _ in range(DEEPEST):
            if not self.tokens.accept("or"):
                break
            found = Or(found, self._conjunction())
        return found

    def _conjunction(self) -> Operator:
        found = self.part()
        for _ in range(DEEPEST):
            if not self.tokens.accept("and"):
                break
            found = And(found, self.part())
        return found

    def sign(self) -> type[IsSame] | type[NotSame] | None:
        if self.tokens.accept("equals") or self.tokens.accept("equal"):
            return IsSame
        return NotSame if self.tokens.accept("not", "equals") or self.tokens.accept("not", "equal") else None

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
        names = {name: prop for prop, name in ORIGINAL_NAMES.items() if prop in self.space.properties}
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


class _Fluent(SentenceReader):
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
            tokens.expect("is")
            found = self._asked_whether()
            tokens.expect("?")
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
        tokens = self.tokens
        if tokens.accept("there", "an"):
            return Exist(self.select())
        if tokens.accept("it", "true", "that"):
            return self.clause()
        if tokens.accept("it", "false", "that"):
            return Negation(self.part())
        return self._said_of(self.select() if tokens.at("object") else self.settled(self._operand()))

    def nested(self) -> Operator:
        tokens = self.tokens
        if tokens.accept("if"):
            condition = self.clause()
            tokens.expect(",", "then")
            then = self.clause()
            tokens.expect(",", "otherwise")
            found: Operator = Switch(condition, then, self.clause())
        else:
            found = self.clause()
        tokens.expect(")")
        return found

    def clause(self) -> Operator:
        tokens = self.tokens
        self.enter()
        if tokens.accept("both"):
            left = self.part()
            tokens.expect("and")
            found: Operator = And(left, self.part())
        elif tokens.accept("either"):
            left = self.part()
            tokens.expect("or")
            found = Xor(left, self.part())
            tokens.expect("but", "not", "both")
        elif tokens.accept("it", "is", "false", "that"):
            found = Negation(self.part())
        else:
            found = self.part()
            if tokens.accept("or"):
                found = Or(found, self.part())
                tokens.expect("or", "both")
        self.leave()
        return found

    def part(self) -> Operator:
        tokens = self.tokens
        if tokens.accept("there", "is", "an"):
            return Exist(self.select())
        if tokens.at("object"):
            select = self.select()
            tokens.expect("is")
            return self._said_of(select)
        found = self.settled(self._operand())
        return self._said_of(found) if tokens.accept("is") else found

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
        """What a sentence says of what it is about."""
        tokens = self.tokens
        if isinstance(subject, Select):
            tokens.accept("to", "the")
            return self.related(subject)
        if tokens.accept("different", "from"):
            return self.compared(NotSame, subject, self._operand())
        if not tokens.accept("equal", "to"):
            tokens.expect("the", "same", "as")
        return self.compared(IsSame, subject, self._operand())


_READERS: dict[str, type[SentenceReader]] = {"exact": _Exact, "fluent": _Fluent, "original": _Original}
