"""Études read from fluent English. Whatever is told is read back in its one way; beyond that much is understood that is never told so:
"it" for what was named last, sentences without "first" and "then", "all red things", "at most two", a missing full stop."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from etude.decisions.logic import And, Or, Switch, Xor
from etude.decisions.logic import Negation as Denial
from etude.decisions.looks import Const, Count, Get, IsSame, Match, NotSame, Select, ValueComparison
from etude.decisions.operator import Operator, field_types
from etude.decisions.parse import FluentReader
from etude.decisions.space import NUMBER, StimulusSpace
from etude.decisions.templates import COMMAND, TextPiece, keys, pieces
from etude.names import EtudeError
from etude.suites.etudes.acts import DRAWER, LEVEL, Drawer, EveryThing, Forbidding, InAnyOrder, InOrder, It, OneOf, SomeThings
from etude.suites.etudes.deeds import PushTowards, PutIn, PutOn, TakeOver, Tower, Turn
from etude.suites.etudes.furniture import PutAway, TakeOut
from etude.suites.etudes.groups import ForEach, ForSome, Until
from etude.suites.etudes.hearing import Reading, facts
from etude.suites.etudes.household import CHEST, IN_DRAWERS, LEVELS, PLACE
from etude.suites.etudes.memory import Recall
from etude.suites.etudes.negation import denied
from etude.suites.etudes.speaking import ALL_OF_THESE, ANY_IS_SO, NUMBERS, ONE_IS_SO, ONE_OF_THESE, SPOKEN
from etude.suites.etudes.things import AREA, COLOUR, SHAPE

T = TypeVar("T")
Join = Callable[[Operator, Operator], Operator]
CARRYING = ("put", "bring", "move", "store", "stack")
MOST = 9  # things there may be on a table: as many as can be compared with
_AFTERWARDS = (("then",), ("next",), ("finally",), ("lastly",), ("afterwards",), ("after", "that"))
_GROUPS = ("each", "all")
_TOOLS = "a deed at a table or at a chest of drawers, where there are no tools, water or dirt: touch, put, push, open, …"
_CARRIED = "'put … on …', 'bring … into …' or 'store … in …': nothing stays in the hand"
_DEEDS = {
    **dict.fromkeys(("wipe", "pour", "sweep", "clean", "mop"), _TOOLS),
    **dict.fromkeys(("pick", "grab", "grasp", "lift", "hold"), _CARRIED),
    "sort": "what goes where: 'in any order: bring each red thing into the red area and bring each blue thing into the blue area'",
    "don't": "'never touch … .' or 'without ever touching …, …'",
}
"""What is expected instead of deeds that are not there."""
_TRUTHS = ("the", "there", "it", "both", "either", "neither", "at", "exactly", "(")  # how truths begin


class HeardFluently(Reading, FluentReader):
    """Reads what is told in the fluent grammar, and more."""

    def __init__(self, text: str, space: StimulusSpace) -> None:
        super().__init__(text, space)
        self._turn = 0  # within how many acts that have a thing whose turn it is
        self._named: Select | None = None  # the thing that was named last
        self._drawer: Drawer | None = None
        self._container: Select | None = None  # the area or the drawer that was named last
        self._before: Select | None = None  # the same before the words of the deed
        self._deed = False  # are the words of a deed being read?
        self._group: tuple[str, EveryThing, int] | None = None  # what the deed is to be done to, each or some or up to one of these

    # ---------------------------------------------------------------------------------------- sentences

    def sentences(self) -> Operator:
        tokens = self.tokens
        for kind in Operator.kinds.values():
            if issubclass(kind, Forbidding) and kind.forbidden:
                words, of, *_ = pieces(kind.forbidden)
                if tokens.accept(*words.keys):
                    thing = self.field(kind, of)
                    if not tokens.accept("."):
                        tokens.expect(",")
                    return kind(thing, self.sentences())
        for (opening, word), join in ((ALL_OF_THESE, InAnyOrder), (ONE_OF_THESE, OneOf)):
            if tokens.accept(*keys(opening)):
                return self._told_apart(word, join)
        first = tokens.accept("first")
        tokens.accept(",")
        found = [self.act()]
        while not tokens.done:
            stopped = tokens.accept(".") or tokens.accept(";")
            if not stopped:
                tokens.accept(",")
            if tokens.done:
                break
            tokens.accept("and")
            then = any(tokens.accept(*words) for words in _AFTERWARDS)
            tokens.accept(",")
            if not then and not stopped:
                raise tokens.wrong("the end of the sentence, or what comes next: 'a, then b' in this order, 'in any order: a and b' in any")
            found.append(self.act())
        if first and len(found) < 2:
            raise tokens.wrong("'Then,' and what comes next")
        return _row(InOrder, found)

    def _told_apart(self, word: str, join: Join) -> Operator:
        """Several sentences that are told to belong together."""
        tokens = self.tokens
        if not tokens.accept(":"):
            tokens.expect(".")
        found = [self.act()]
        while tokens.accept(".") and not tokens.done:
            tokens.expect(word)
            tokens.accept(",")
            found.append(self.act())
        if len(found) < 2:
            raise tokens.wrong(f"{word.capitalize()!r} and another one")
        return _row(join, found)

    # ---------------------------------------------------------------------------------------- what is to be done

    def act(self) -> Operator:
        tokens = self.tokens
        self.enter()
        if tokens.accept("("):
            found = self.act()
            tokens.expect(")")
        elif tokens.accept("if"):
            found = self.choice()
        elif tokens.accept("first"):
            found = self._in_order()
        elif any(tokens.accept(*words) for words in (("in", "any", "order"), ("do", "both"), ("both",))):
            found = _row(InAnyOrder, self._listed("and", self.act))
        elif tokens.accept("either"):
            found = _row(OneOf, self._listed("or", self.act))
        elif tokens.accept("in", "either", "order"):
            found = self._recalled()
        elif tokens.accept("do", "this", "with") or tokens.at("for", "exactly"):
            tokens.accept("for")
            found = self._some()
        elif tokens.at("for") and tokens.peek(1).key in _GROUPS:
            tokens.accept("for")
            things = self._everything()
            if not tokens.accept(":"):
                self._pause()
            with self._turns():
                found = ForEach(things, self.act())
        elif tokens.accept("from", "the", "nearest"):
            found = self._until()
        else:
            found = self._done()
        self.leave()
        return found

    def no_act(self) -> EtudeError:
        expected = _DEEDS.get(self.tokens.peek().key)
        return self.tokens.wrong(expected) if expected else super().no_act()

    def choice(self) -> Operator:
        tokens = self.tokens
        condition = self.clause()
        comma = tokens.accept(",")
        if not tokens.accept("then") and not comma:
            raise tokens.wrong("', then' and what is to be done, or 'and' or 'or'")
        self.tokens.accept(",")
        then = self.act()
        if not tokens.accept("."):
            self._pause()
        tokens.accept("or")
        if not tokens.accept("otherwise"):
            raise tokens.wrong("', otherwise' and what is to be done then")
        tokens.accept(",")
        return Switch(condition, then, self.act())

    def _in_order(self) -> Operator:
        tokens = self.tokens
        tokens.accept(",")
        found = [self.act()]
        sign = tokens.take().key if tokens.at(",", "then") or tokens.at(";", "then") else ""
        tokens.expect("then")
        while True:
            tokens.accept(",")
            found.append(self.act())
            # Signs of another strength belong to what this is a part of.
            if not (tokens.accept(sign, "then") if sign else tokens.accept("then")):
                return _row(InOrder, found)

    def _listed(self, word: str, read: Callable[[], T]) -> list[T]:
        """Several with a word before the last of them."""
        tokens = self.tokens
        if not tokens.accept(":"):
            tokens.accept(",")
        found = [read()]
        while True:
            pause = tokens.accept(",") or tokens.accept(";")
            last = tokens.accept(word)
            if not last and not pause:
                raise tokens.wrong(f"{word!r} and another one")
            found.append(read())
            if last:
                return found

    def _recalled(self) -> Operator:
        tokens = self.tokens
        left, right = self._listed("and", self.act)
        self._pause()
        tokens.expect("then")
        with self._turns():
            if tokens.at("for", "the", "one"):
                tokens.accept("for")
                self.select()
                self._pause()
            return Recall(left, right, self.act())

    def _some(self) -> Operator:
        count, things = self._exactly()
        if not self.tokens.accept(":"):
            self._pause()
        with self._turns():
            act = self.act()
        return ForSome(count, things, act, self._after())

    def _until(self) -> Operator:
        tokens = self.tokens
        tokens.expect("to", "the", "robot", "on")
        self._pause()
        tokens.expect("for")
        things = self._everything()
        self._pause()
        with self._turns():
            act = self.act()
            self._pause()
            tokens.expect("until")
            stop = self.clause()
        return Until(things, act, stop, self._after())

    def _after(self) -> Operator:
        """What comes after an act that has an end: only who goes on has noticed it."""
        self._pause()
        if not self.tokens.accept("and", "after", "that"):
            raise self.tokens.wrong("', and after that' and what comes then")
        self.tokens.accept(",")
        return self.act()

    def _pause(self) -> None:
        if not self.tokens.accept(","):
            self.tokens.accept(";")

    @contextmanager
    def _turns(self) -> Iterator[None]:
        """Here "it" is the thing whose turn it is."""
        self._turn += 1
        yield
        self._turn -= 1

    # ---------------------------------------------------------------------------------------- deeds

    def _done(self) -> Operator:
        """A deed, or another act with words of its own; with a group in the place of a thing it is done to all of that, or to some."""
        kept, self._group, self._deed, self._before = self._group, None, True, self._named
        found = self._carried() or self._plainly() or self.opened(grammar=COMMAND)
        if found is None:
            raise self.no_act()
        (group, self._group), self._deed = (self._group, kept), False
        if group is None:
            return found
        sign, things, count = group
        if sign == "each":
            return ForEach(things, found)
        if sign == "some":
            assert isinstance(things, SomeThings)
            return ForSome(count, things, found, self._after())
        self._pause()
        self.tokens.expect("from", "the", "nearest", "to", "the", "robot", "on")
        self._pause()
        self.tokens.expect("up", "to", "the", "first", "that")
        stop = self._said_of_thing(It())
        return Until(things, found, stop, self._after())

    def _carried(self) -> Operator | None:
        """To put something somewhere."""
        tokens = self.tokens
        if tokens.peek().key not in CARRYING:
            return None
        verb = tokens.take().key
        thing = self.select()
        if tokens.accept("onto") or tokens.accept("on"):
            tokens.accept("top", "of")
            on = self.select()
            if verb == "move" and tokens.accept("and"):
                second = self.select()
                tokens.expect("to", "where")
                at = tokens.peek()
                if not tokens.accept("it") and self.select() != thing:
                    raise tokens.wrong("what was moved before", at)
                tokens.expect("stood")
                return TakeOver(thing, on, second)
            return PutOn(thing, on)
        if not (tokens.accept("into") or tokens.accept("in")):
            raise tokens.wrong("'on' or 'into', and where it is to be put")
        if tokens.done or tokens.peek().key in (",", ";", ".", ")", "and", "or", "then", "otherwise"):
            if self._container is None:
                raise tokens.wrong("a drawer or an area: none has been named before")
            into = self._container
        else:
            into = self._place()
        return PutAway(thing, into) if isinstance(into, Drawer) else PutIn(thing, into)

    def _place(self) -> Select:
        """A drawer or an area."""
        if self.tokens.at("it") and not self._turn and self._container is not None:
            self.tokens.take()
            return self._container
        return self.drawer() if self._comes_drawer() else self.select()

    def _plainly(self) -> Operator | None:
        """What is told at greater length."""
        tokens = self.tokens
        if tokens.accept("push"):
            thing = self.select()
            tokens.accept("a", "third", "of", "the", "way")
            if not tokens.accept("towards"):
                raise tokens.wrong("'towards' and the thing that it is pushed towards")
            return PushTowards(thing, self.select())
        if tokens.accept("build"):
            tokens.expect("a", "tower", "of")
            at, things = tokens.peek(), self._listed("and", self.select)
            if len(things) != 3:
                raise tokens.wrong("three things, such as 'the cube, the star and the heart'", at)
            tokens.accept("from", "the", "bottom", "up")
            return Tower(*things)
        if tokens.accept("turn"):
            thing = self.select()
            tokens.accept("by")
            tokens.accept("a", "quarter")
            return Turn(thing, self.field(Turn, TextPiece(name="direction")))
        if tokens.accept("take"):
            thing = self.select()
            if not tokens.accept("from"):
                tokens.expect("out", "of")
            drawer = self.drawer()
            tokens.accept("and", "put", "it", "on", "the", CHEST)
            return TakeOut(thing, drawer)
        return None

    def field(self, kind: type[Operator], piece: TextPiece) -> Any:
        deed, self._deed = self._deed, self._deed and field_types(kind)[piece.name] is Select
        found = super().field(kind, piece)
        self._deed = deed
        return found

    # ---------------------------------------------------------------------------------------- things

    def select(self) -> Select:
        tokens = self.tokens
        if tokens.accept("it") or tokens.accept("them"):
            earlier = self._before if self._deed and self._before is not None else self._named
            return It() if self._turn or earlier is None else earlier
        if tokens.accept("the", "one"):
            if not tokens.accept("that", "was"):
                tokens.accept("you")
            if not (tokens.accept("touched", "first") or tokens.accept("moved", "first")):
                raise tokens.wrong("'that was touched first'")
            return It()
        if tokens.peek().key in (*_GROUPS, "exactly") or (self._deed and tokens.at("one")):
            return self._of_group()
        if not tokens.at("the"):
            raise tokens.wrong("'the' and a thing, such as 'the red cube'")
        tokens.take()
        found = self._named = Select(0, self.looked())
        if any(match.property == SHAPE and match.value == Const(SHAPE, AREA) for match in found.matches):
            self._container = found
        return found

    def _of_group(self) -> Select:
        tokens, at = self.tokens, self.tokens.peek()
        if not self._deed or self._group is not None:
            raise tokens.wrong("one thing: 'each', 'all' and 'exactly' stand once in what is to be done, and nowhere else", at)
        if at.key == "exactly":
            count, things = self._exactly()
            self._group = "some", things, count
        elif at.key == "one":
            tokens.take()
            self._group = "one", EveryThing(0, self.looked()), 0
            tokens.expect("after", "the", "other")
        else:
            self._group = "each", self._everything(), 0
        return It()

    def _everything(self) -> EveryThing:
        """ "each red thing", "all the red things"."""
        tokens = self.tokens
        if not any(tokens.accept(word) for word in _GROUPS):
            raise tokens.wrong("'each' and what is meant, such as 'each red thing'")
        tokens.accept("of")
        tokens.accept("the")
        return EveryThing(0, self.looked(plural=None))

    def _exactly(self) -> tuple[int, SomeThings]:
        """ "exactly two of the red things", "exactly two red things"."""
        self.tokens.expect("exactly")
        count = self._number()
        self.tokens.accept("of")
        self.tokens.accept("the")
        return count, SomeThings(0, self.looked(plural=None))

    def _number(self) -> int:
        if self.tokens.peek().key in NUMBERS:
            return NUMBERS.index(self.tokens.take().key)
        return self.tokens.number("a whole number")

    def _comes_drawer(self) -> bool:
        tokens = self.tokens
        return tokens.at("the") and (tokens.peek(1).key == DRAWER or tokens.peek(2).key == DRAWER)

    def drawer(self) -> Drawer:
        """A drawer by its level. "It" is the one that was named last, and "the drawer" too; if none was, the top one."""
        tokens = self.tokens
        if tokens.at("it"):
            if self._drawer is None:
                raise tokens.wrong("a drawer: none has been named before")
            tokens.take()
            return self._drawer
        found = self._drawer if tokens.at("the", DRAWER) else None
        if tokens.accept("the", DRAWER):
            found = found or Drawer(0, (Match(LEVEL, Const(LEVEL, LEVELS[0])),))
        else:
            found = super().drawer()
        self._drawer = self._container = found
        return found

    # ---------------------------------------------------------------------------------------- what is so

    def truth(self, of_it: bool) -> Operator:
        """What is so, and nothing else; with ``of_it`` it may speak of the thing whose turn it is."""
        self._turn += of_it
        found = self.clause()
        if not self.tokens.done:
            raise self.tokens.wrong("the end")
        return found

    def clause(self) -> Operator:
        tokens, found = self.tokens, [self.part()]
        if tokens.at(",") and tokens.peek(1).key in _TRUTHS:
            while tokens.accept(","):
                found.append(self.part())
        for word, kind, other in (("and", And, "or"), ("or", Or, "and")):
            if tokens.at(word):
                while tokens.accept(word):
                    found.append(self.part())
                if tokens.at(other):
                    raise tokens.wrong(f"one of both: {word!r} beside {other!r} can be read in two ways; say 'both … and …' within")
                return self._closed(found) if kind is Or else _row(And, found)
        if len(found) > 1:
            raise tokens.wrong("'and' or 'or', and what else is to be so")
        return found[0]

    def _closed(self, found: Sequence[Operator]) -> Operator:
        """What ends with "or both", or with "but not both"."""
        tokens = self.tokens
        comma = tokens.at(",") and tokens.peek(1).key in ("or", "but")
        if comma:
            tokens.take()
        if tokens.accept("but", "not", "both"):
            if len(found) > 2:
                raise tokens.wrong("two of which one is so", tokens.peek(-3))
            return Xor(*found)
        if comma or tokens.at("or"):
            tokens.expect("or", "both")
        return _row(Or, found)

    def part(self) -> Operator:
        self.enter()
        found = self._truth()
        self.leave()
        return found

    def _truth(self) -> Operator:
        tokens = self.tokens
        if tokens.accept("("):
            found = self.clause()
            tokens.expect(")")
            return found
        if tokens.accept("both"):
            return _row(And, self._listed("and", self.part))
        if tokens.accept("either"):
            left = self.part()
            tokens.expect("or")
            found = self._closed([left, self.part()])
            if tokens.at(",") and tokens.peek(1).key in ("and", "or") and tokens.peek(2).key != "after":
                tokens.take()  # the end of "or both", where more comes of what this is a part of
            return found
        if tokens.accept("neither"):
            left = self.part()
            tokens.expect("nor")
            return And(denied(left), denied(self.part()))
        if tokens.accept(*keys(ANY_IS_SO)):
            return _row(Or, self._listed("or", self.part))
        if tokens.accept(*keys(ONE_IS_SO)):
            at, two = tokens.peek(), self._listed("or", self.part)
            if len(two) > 2:
                raise tokens.wrong("two of which one is so", at)
            return Xor(*two)
        if tokens.accept("it", "is", "false", "that"):
            return Denial(self.part())
        if tokens.at("there"):
            return self._there_are()
        if self._comes_drawer():
            return self._said_of_drawer(self.drawer())
        if tokens.at("it"):
            if self._drawer is not None and not self._turn and self._named is None:
                return self._said_of_drawer(self.drawer())
            return self._said_of_thing(self.select())
        if tokens.at("the") and not self._comes_property():
            return self._said_of_thing(self.select())
        if not tokens.at("the") and not self._is_known():
            raise self.unknown("something that is so, such as 'the cube is red' or 'there are exactly two cubes'", _TRUTHS[:-1])
        return super(Reading, self).part()

    def _comes_property(self) -> bool:
        return self.tokens.peek(1).key in (COLOUR, SHAPE, PLACE, NUMBER)

    def _is_known(self) -> bool:
        """Do words of another operator come?"""
        here = self.tokens.peek().key
        return any(pattern.keys[:1] == (here,) for pattern in self._known.opening)

    def _there_are(self) -> Operator:
        tokens = self.tokens
        tokens.expect("there")
        if not tokens.accept("is"):
            tokens.expect("are")
        contrary = tokens.accept("not")
        if tokens.accept("no"):
            compare: Callable[[Count], Operator] = lambda count: IsSame(count, _whole(0))  # noqa: E731
        elif tokens.accept("a") or tokens.accept("an"):
            compare = lambda count: NotSame(count, _whole(0))  # noqa: E731
        else:
            compare = self._amount()
        found = compare(Count((SomeThings(0, self.looked(plural=None)),)))
        return denied(found) if contrary else found

    def _amount(self) -> Callable[[Count], Operator]:
        """What is said of a number: that it is so great, or greater."""
        tokens = self.tokens
        for words, kind, more in _AMOUNTS:
            if tokens.accept(*words):
                at = tokens.peek()
                bound = self._number() + more
                if not 0 <= bound < MOST:
                    raise tokens.wrong(f"a number that leaves a choice: there are at most {MOST} things", at)
                return lambda count: _row(And if kind is NotSame else Or, [kind(count, _whole(k)) for k in range(bound + 1)])
        tokens.accept("exactly")
        number = self._number()
        return lambda count: IsSame(count, _whole(number))

    def _said_of(self, subject: Operator) -> Operator:
        """What follows "is", after a property or a number that was told by its name."""
        tokens = self.tokens
        contrary = tokens.accept("not")
        if isinstance(subject, Count):
            if tokens.accept("different", "from"):
                contrary = not contrary
            else:
                tokens.accept("equal", "to")
                tokens.accept("the", "same", "as")
            found = self._amount()(subject)
            return denied(found) if contrary else found
        sign = self.sign()
        found = self.compared(sign or IsSame, subject, self._operand())
        return denied(found) if contrary else found

    def _said_of_drawer(self, drawer: Drawer) -> Operator:
        tokens = self.tokens
        for verb, kind in (("is", "IsOpen"), ("was", "WasOpen")):
            for word in ("close", "closed"):  # "shut" is another word for the first of them
                if tokens.accept(verb, word):
                    if kind == "WasOpen":
                        tokens.expect("at", "the", "start")
                    return Denial(Operator.kinds[kind](drawer))
        return self._fact(drawer, True)

    def _said_of_thing(self, thing: Select) -> Operator:
        tokens = self.tokens
        if tokens.accept("has"):
            return self._alike(thing)
        if not tokens.at("is"):
            return self._fact(thing, False)
        tokens.take()
        contrary = tokens.accept("not")
        sign: type[ValueComparison] = NotSame if contrary else IsSame
        here = tokens.peek().key
        if here in SPOKEN.values(COLOUR):
            return sign(Get(COLOUR, thing), Const(COLOUR, tokens.take().key))
        if here in ("a", "an"):
            tokens.take()
            if tokens.peek().key not in SPOKEN.values(SHAPE):
                raise self.unknown(f"a shape ({', '.join(SPOKEN.values(SHAPE))})", SPOKEN.values(SHAPE))
            return sign(Get(SHAPE, thing), Const(SHAPE, tokens.take().key))
        if tokens.accept("on"):
            tokens.expect("the", CHEST)
            return sign(Get(PLACE, thing), Const(PLACE, CHEST))
        if tokens.accept("in"):
            if tokens.at("the", "same") or tokens.at("another"):
                found = self._alike(thing)
                return denied(found) if contrary else found
            level = self.drawer().level
            return sign(Get(PLACE, thing), Const(PLACE, IN_DRAWERS[LEVELS.index(level)]))
        raise self.unknown(
            f"a colour ({', '.join(SPOKEN.values(COLOUR))}), 'a' and a shape, 'in' and a drawer, or 'on the chest'", SPOKEN.values(COLOUR)
        )

    def _alike(self, thing: Select) -> Operator:
        """The same property as another thing, or another one."""
        tokens = self.tokens
        same = tokens.accept("the", "same")
        if not same and not tokens.accept("another"):
            raise tokens.wrong("'the same' or 'another'")
        if tokens.peek().key not in (COLOUR, SHAPE, PLACE):
            raise self.unknown(f"a property ({COLOUR}, {SHAPE} or {PLACE})", (COLOUR, SHAPE, PLACE))
        prop = tokens.take().key
        if not (same and tokens.accept("as")):
            tokens.expect("as" if same else "than")
        return (IsSame if same else NotSame)(Get(prop, thing), Get(prop, self.select()))

    def _fact(self, subject: Select, of_drawer: bool) -> Operator:
        """A fact, or its contrary."""
        count = len(Operator.kinds)
        found = self.recognised(facts(of_drawer, True, count), subject)
        if found is not None:
            return Denial(found)
        table = facts(of_drawer, False, count)
        found = self.recognised(table, subject)
        if found is None:
            said = [*sorted(" ".join(pattern.keys) for pattern in table), *(() if of_drawer else ("has", "is"))]
            raise self.unknown(f"what is so of it ({', '.join(said)})", (one.split()[0] for one in said))
        return found


_AMOUNTS: tuple[tuple[tuple[str, ...], type[ValueComparison], int], ...] = (
    (("more", "than"), NotSame, 0),
    (("greater", "than"), NotSame, 0),
    (("at", "least"), NotSame, -1),
    (("fewer", "than"), IsSame, -1),
    (("less", "than"), IsSame, -1),
    (("at", "most"), IsSame, 0),
)
"""Words for amounts; what is said of all numbers from zero on; and up to which, from the one that is named."""


def _whole(number: int) -> Const:
    return Const(NUMBER, str(number))


def _row(kind: Join, members: Sequence[Operator]) -> Operator:
    """A row of one kind, which leans to the right."""
    join: Join = lambda right, left: kind(left, right)  # noqa: E731
    return functools.reduce(join, reversed(members))
