"""Études in words: the grammars of decisions, with things of a table for their objects, and commands for their acts.

``exact`` puts every act within another in brackets. ``fluent`` has sentences for what comes one after the other, and within them weaker
and stronger signs: what is separated by a semicolon has commas within it, and what has semicolons within it is a sentence of its own.
Brackets are left for what lies deeper still.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from etude.decisions.logic import And, Negation, Or, Switch, Xor
from etude.decisions.looks import Const, Count, Get, IsSame, NotSame, Select, ValueComparison
from etude.decisions.operator import Operator
from etude.decisions.space import NUMBER, StimulusSpace
from etude.decisions.wording import Exact, Fluent, SentenceWriter
from etude.names import EtudeError
from etude.prompts.instruction import with_article
from etude.suites.etudes.acts import DRAWER, Act, Deed, Drawer, EveryThing, Forbidding, InAnyOrder, InOrder, It, OneOf, SomeThings, row
from etude.suites.etudes.facts import AThing, Fact
from etude.suites.etudes.groups import ForEach, ForSome, Until
from etude.suites.etudes.household import CHEST, KINDS, PLACE, PLACES
from etude.suites.etudes.memory import Recall, Undo
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
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SPELT_OUT = 3  # numbers up to this one are told as words
FIRST_ONE = "the one that was touched first"
ALL_OF_THESE = "do all of the following, in any order", "also"  # how sentences begin, and the next of them
ONE_OF_THESE = "do one of the following", "or"
IN_ORDER_OF_DISTANCE = "from the nearest to the robot on"


class Telling(SentenceWriter):
    """Things by what they look like, and acts within acts in brackets."""

    it = "it"  # what the thing is called whose turn it is

    def select(self, select: Select) -> str:
        if isinstance(select, It):
            return self.it
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


class ExactTelling(Telling, Exact):
    """Every act within another in brackets."""


class Phrase(NamedTuple):
    """What is to be done, in words; ``level`` is the strongest sign in them: nothing, a comma, or a semicolon."""

    text: str
    level: int = 0


PLAIN, COMMAS, SEMICOLONS = range(3)
_SIGNS = ("", ",", ";")
_ENDS = OR_BOTH, NOT_BOTH = "or both", "but not both"
ANY_IS_SO, ONE_IS_SO = "at least one of these is so", "exactly one of these is so"


class FluentTelling(Telling, Fluent):
    """Whole sentences, with brackets only where neither commas nor semicolons are left to tell what belongs together."""

    # ---------------------------------------------------------------------------------------- what is to be done

    def etude(self, root: Operator) -> str:
        return " ".join(f"{_capital(one)}." for one in self._sentences(root))

    def _sentences(self, root: Operator) -> list[str]:
        """The whole; what has semicolons in its parts takes more than one."""
        if isinstance(root, InOrder):
            *before, last = row(root)
            first, *rest = [*(self._member(one, InOrder).text for one in before), *self._sentences_of_choice(last)]
            return [f"first, {first}", *(f"then, {one}" for one in rest[: len(before)]), *rest[len(before) :]]
        if isinstance(root, Forbidding) and self.act(root.act).level == SEMICOLONS:
            return [self.filled(root, root.forbidden), *self._sentences(root.act)]
        if isinstance(root, (InAnyOrder, OneOf)):
            members = row(root)
            said = [self._member(one, type(root) if k < len(members) - 1 else None) for k, one in enumerate(members)]
            if any(one.level == SEMICOLONS for one in said):
                opening, word = ALL_OF_THESE if isinstance(root, InAnyOrder) else ONE_OF_THESE
                first, *others = (one.text for one in said)
                return [opening, first, *(f"{word}, {one}" for one in others)]
        return self._sentences_of_choice(root)

    def _sentences_of_choice(self, node: Operator) -> list[str]:
        """One sentence, or two for a choice."""
        if not isinstance(node, Switch):
            return [self.act(node).text]
        then, otherwise = self.act(node.then), self.act(node.otherwise)
        if then.level == PLAIN and otherwise.level < SEMICOLONS:
            return [self.act(node).text]
        return [f"if {self.truth(node.condition)}, then {then.text}", f"otherwise, {otherwise.text}"]

    def act(self, node: Operator) -> Phrase:
        """What is to be done, in words that end where it ends."""
        if isinstance(node, Switch):
            return self._after([f"if {self.truth(node.condition)}, then ", ", otherwise "], [node.then], node.otherwise)
        if isinstance(node, InOrder):
            members = row(node)
            return self._after(["first ", *[", then "] * (len(members) - 1)], members[:-1], members[-1], InOrder)
        if isinstance(node, (InAnyOrder, OneOf)):
            opening, word = ("in any order: ", "and") if isinstance(node, InAnyOrder) else ("either ", "or")
            members = row(node)
            return self._listed(opening, members, word, type(node))
        if isinstance(node, ForEach):
            if _takes_it(node.act):
                return self._deed(node.act, f"each {self.select(node.things)}")
            return self._headed(f"for each {self.select(node.things)}, ", node.act)
        if isinstance(node, (ForSome, Until)):
            return self._bounded(node)
        if isinstance(node, Recall):
            return self._recalled(node)
        if isinstance(node, (Forbidding, Undo)):
            return self._headed(self.filled(node, node.command.removesuffix("{act}")), node.act)
        if isinstance(node, Deed):
            return self._deed(node)
        return Phrase(node.written(self), COMMAS)

    def _deed(self, deed: Operator, it: str = "it") -> Phrase:
        assert isinstance(deed, Deed)
        kept, self.it = self.it, it
        text = self.filled(deed, deed.command)
        self.it = kept
        return Phrase(text)

    def _headed(self, head: str, act: Operator) -> Phrase:
        found = self.act(act)
        return Phrase(head + found.text, max(COMMAS, found.level))

    def _member(self, node: Operator, within: type[Operator] | None = None) -> Phrase:
        """Something after which more is to come; one of the same kind would be taken for several of them."""
        found = self.act(node)
        return Phrase(f"({found.text})") if isinstance(node, within or ()) else found

    def _after(self, words: Sequence[str], before: Sequence[Operator], last: Operator, within: type[Operator] | None = None) -> Phrase:
        """Words before each of several acts, with a comma after the act before, or a semicolon where that has commas in itself."""
        said, end = [_within(self._member(node, within)) for node in before], self.act(last)
        level = max(COMMAS, end.level, *(one.level + 1 for one in said))
        opening, *between = words
        texts = [f"{_SIGNS[level]}{word[1:]}{one.text}" for word, one in zip(between, [*said[1:], end], strict=True)]
        return Phrase("".join([opening, said[0].text, *texts]), level)

    def _listed(self, opening: str, members: Sequence[Operator], word: str, kind: type[Operator]) -> Phrase:
        """Several acts with a word before the last of them."""
        said = [_within(self._member(one, kind if k < len(members) - 1 else None)) for k, one in enumerate(members)]
        level = max(COMMAS, *(one.level + 1 for one in said), *(SEMICOLONS for one in said if " and " in one.text))
        *before, last = (one.text for one in said)
        if level == COMMAS:
            return Phrase(f"{opening}{', '.join(before)} {word} {last}", level)
        return Phrase(f"{opening}{'; '.join(before)}; {word} {last}", level)

    def _bounded(self, node: ForSome | Until) -> Phrase:
        """What is done for some things, or up to one of them, and what comes after it."""
        things, stop = self.select(node.things), ""
        if isinstance(node, ForSome):
            some = f"exactly {counted(node.count)} of the {things}"
            act = self._deed(node.act, some) if _takes_it(node.act) else self._opened(f"do this with {some}: ", node.act)
        elif _takes_it(node.act) and _is_look_of_it(node.stop):
            act = self._deed(node.act, f"one {things} after the other")
            stop = f", {IN_ORDER_OF_DISTANCE}, up to the first that{self.claim(node.stop).removeprefix('it')}"
        else:
            act, stop = self._opened(f"{IN_ORDER_OF_DISTANCE}, for each {things}, ", node.act), f", until {self.truth(node.stop)}"
        after = self.act(node.after)
        level = max(COMMAS, after.level, act.level + 1)
        sign = _SIGNS[level]
        return Phrase(f"{act.text}{stop.replace(', until', f'{sign} until')}{sign} and after that {after.text}", level)

    def _opened(self, opening: str, act: Operator) -> Phrase:
        found = _within(self._member(act))
        return Phrase(opening + found.text, found.level)

    def _recalled(self, node: Recall) -> Phrase:
        left, right, act = (self.act(part) for part in (node.left, node.right, node.act))
        then = self._deed(node.act, FIRST_ONE).text if _takes_it(node.act) else f"for {FIRST_ONE}, {act.text}"
        if max(left.level, right.level, act.level) == PLAIN and " and " not in left.text + right.text:
            return Phrase(f"in either order: {left.text} and {right.text}, then {then}", COMMAS)
        return Phrase(f"in either order: {left.text}; and {right.text}; then {then}", SEMICOLONS)

    # ---------------------------------------------------------------------------------------- what is so

    def part(self, node: Operator) -> str:
        return self.claim(node) if isinstance(node, (And, Or, Xor, Negation, Fact, ValueComparison)) else super().part(node)

    def truth(self, node: Operator) -> str:
        """What is so, where it ends with the next comma."""
        if amount := _bounds(node, self):
            return amount
        if isinstance(node, And):
            *before, last = map(self.claim, _row(node))
            return f"{_followed(', '.join(before))} and {last}"
        if isinstance(node, (Or, Xor)):
            members = _row(node) if isinstance(node, Or) else [node.left, node.right]
            *before, last = map(self.claim, members)
            joined = any(isinstance(one, (And, Or, Xor)) and not _bounds(one, self) for one in members)
            if joined or len(members) > 2:
                opening = ANY_IS_SO if isinstance(node, Or) else ONE_IS_SO
                return f"{opening}: {_followed(', '.join(before))} or {last}"
            if isinstance(node, Or):
                return f"{before[0]} or {last}, {OR_BOTH}"
        return self.claim(node)

    def claim(self, node: Operator) -> str:
        """The same within another truth: its first words and its last ones say what belongs to it."""
        if amount := _bounds(node, self):
            return amount
        if isinstance(node, And):
            return f"both {_followed(self.claim(node.left))} and {self.claim(node.right)}"
        if isinstance(node, (Or, Xor)):
            end = OR_BOTH if isinstance(node, Or) else NOT_BOTH
            return f"either {_followed(self.claim(node.left))} or {self.claim(node.right)}, {end}"
        if isinstance(node, Negation):
            of = node.of
            return self.filled(of, of.denied) if isinstance(of, Fact) and of.denied else f"it is false that {self.claim(of)}"
        return super().part(node)

    def compared(self, node: ValueComparison) -> str:
        left, right = (node.right, node.left) if isinstance(node.left, Const) else (node.left, node.right)
        if type(node) not in (IsSame, NotSame) or not isinstance(left, (Get, Count)) or left.kind() != right.kind():
            return super().compared(node)
        same = isinstance(node, IsSame)
        if isinstance(left, Count):
            return _how_many(left, right, same, self) if isinstance(right, Const) else super().compared(node)
        if isinstance(right, Const):
            return f"{self.select(left.of)} is {'' if same else 'not '}{_predicate(right, self)}"
        if isinstance(right, Get):
            one, other = self.select(left.of), self.select(right.of)
            verb = "is in" if left.property == PLACE else "has"
            return f"{one} {verb} {f'the same {left.property} as' if same else f'another {left.property} than'} {other}"
        return super().compared(node)


def _followed(claim: str) -> str:
    """A truth within another one, after which more of that comes: "or both" ends with a comma then."""
    return f"{claim}," if claim.endswith(_ENDS) else claim


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _within(said: Phrase) -> Phrase:
    """In brackets where no sign is left that is stronger than those in it."""
    return said if said.level < SEMICOLONS else Phrase(f"({said.text})")


def _takes_it(act: Operator) -> bool:
    """Can a group be told in the place of it? Where a deed is done to it, and nothing else in its words speaks of it."""
    if not isinstance(act, Deed) or "it" in act.command.split():
        return False
    first, *others = act.inputs()
    name = act.roles()[0]
    return isinstance(first, It) and not any(isinstance(other, It) for other in others) and act.command.count(f"{{{name}}}") == 1


def _is_look_of_it(stop: Operator) -> bool:
    """Is it about what it looks like, and nothing else?"""
    left, right = stop.inputs() if type(stop) in (IsSame, NotSame) else (None, None)
    return isinstance(left, Get) and isinstance(left.of, It) and isinstance(right, Const)


def _row(node: And | Or) -> list[Operator]:
    """The members of a row that leans to the right; an amount is one member."""
    right = node.right
    return [node.left, *(_row(right) if isinstance(right, type(node)) and not _is_amount(right) else [right])]


def _is_amount(row: And | Or) -> bool:
    """Does it say of one number after the other, from zero on, that it is, or is not, how many there are?"""
    each, kind = _members(row), NotSame if isinstance(row, And) else IsSame
    count = next(iter(each[0].inputs()), None)
    return isinstance(count, Count) and all(one == kind(count, Const(NUMBER, str(k))) for k, one in enumerate(each))


def _members(node: And | Or) -> list[Operator]:
    return [node.left, *(_members(node.right) if isinstance(node.right, type(node)) else [node.right])]


def counted(number: int) -> str:
    """A number, as a word if it is small."""
    return NUMBERS[number] if 0 <= number <= SPELT_OUT else str(number)


def _predicate(value: Const, say: FluentTelling) -> str:
    """What is said of a thing that has a look, or is in a place."""
    said = say.value(value)
    if value.property == SHAPE:
        return with_article(said)
    if value.property == PLACE:
        return f"on the {said}" if value.value == CHEST else f"in the {said}"
    return said


def _bounds(node: Operator, say: FluentTelling) -> str:
    """That there are more than so many, or at most: where a row says one number after the other that it is, or that it is not."""
    if not isinstance(node, (And, Or)) or not _is_amount(node):
        return ""
    each, kind = _members(node), NotSame if isinstance(node, And) else IsSame
    count = each[0].inputs()[0]
    assert isinstance(count, Count)
    things, most = say.select(count.of[0]), len(each) - 1
    said = f"{'more than' if kind is NotSame else 'at most'} {counted(most)}"
    return f"there is {said} {things.removesuffix(PLURAL)}" if most == 1 else f"there are {said} {things}"


def _how_many(count: Count, number: Const, same: bool, say: FluentTelling) -> str:
    if len(count.of) != 1 or not isinstance(count.of[0], SomeThings):
        raise EtudeError("what is counted on a table are things of one colour or of one shape")
    many = int(say.value(number))
    things = say.select(count.of[0])
    one = things.removesuffix(PLURAL)
    if same:
        return f"there is exactly one {one}" if many == 1 else f"there are {f'exactly {counted(many)}' if many else 'no'} {things}"
    return f"the number of {things} is not {counted(many)}" if many else f"there is at least one {one}"
