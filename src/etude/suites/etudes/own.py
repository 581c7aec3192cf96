"""Études of one's own: a graph as JSON or in English, for which a table is set as for those that are drawn."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from etude.decisions.graph import rebuilt, walk
from etude.decisions.looks import Const, Count, Get, Select, ValueComparison
from etude.decisions.operator import Operator
from etude.names import EtudeError, read_text
from etude.suites.etudes.acts import EACH, SOME, UNTIL, Deed, Forbidding, It
from etude.suites.etudes.composing import Unsolved
from etude.suites.etudes.facts import AThing, Fact
from etude.suites.etudes.groups import ForEach, ForSome, Until, stops
from etude.suites.etudes.meaning import EtudeGraph
from etude.suites.etudes.telling import GRAMMARS, read


def read_etude(given: str) -> EtudeGraph:
    """An étude from its JSON, from its words, fluent or exact, or from a file that holds one of these."""
    text = given.strip()
    if not text.startswith(("{", "[")) and not text.endswith(".") and (" " not in text or _is_file(text)):
        text = read_text(Path(text)).strip()
    if text.startswith("["):
        raise EtudeError('an étude as JSON is an object, {"root": …}, and not a list')
    if text.startswith("{"):
        return EtudeGraph.from_json(text)
    wrong: list[EtudeError] = []
    for grammar in GRAMMARS:
        try:
            return read(text, grammar)
        except EtudeError as error:
            wrong.append(error)
    raise wrong[0]


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # longer than any path
        return False


def unsettled(etude: EtudeGraph) -> tuple[Unsolved, tuple[Select, ...]]:
    """An étude as if it had been drawn: about things by number. With it, what is told of each of them."""
    told: dict[Select, int] = {}
    _number(etude.root, told)
    extra = [len(told)]  # what is counted comes after what is spoken of

    def numbered(node: Operator) -> Operator:
        if isinstance(node, AThing):
            extra[0] += 1
            return AThing(extra[0] - 1, node.matches)
        if isinstance(node, Select):
            return type(node)(told[node]) if node in told else node
        if isinstance(node, ValueComparison):
            return node.with_inputs([_counted(side, node, extra) for side in node.inputs()])
        return node

    root = rebuilt(etude.root, numbered)
    parts = _parts(root)
    return Unsolved(root, tuple(frozenset(parts[k]) for k in range(extra[0]))), tuple(told)


def _number(node: Operator, told: dict[Select, int]) -> None:
    if isinstance(node, Select):
        if not isinstance(node, (It, AThing)):
            told.setdefault(node, len(told))
    elif not isinstance(node, Count):
        for part in node.inputs():
            _number(part, told)


def _counted(side: Operator, comparison: Operator, extra: list[int]) -> Operator:
    """What is counted, as one thing more than the number it is compared with, each of which may look so or not."""
    if not isinstance(side, Count):
        return side
    number = next((int(other.value) for other in comparison.inputs() if isinstance(other, Const)), 0)
    first, extra[0] = extra[0], extra[0] + max(2, number + 1)
    return Count(tuple(Select(k, side.of[0].matches) for k in range(first, extra[0])))


def _parts(root: Operator) -> defaultdict[int, set[str]]:
    """The parts that things play, and the properties that are asked of them, by their numbers."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    ends = stops(root)
    for node in walk(root):
        if isinstance(node, Deed):
            for thing, part in zip(node.inputs(), node.casting, strict=True):
                if isinstance(thing, Select) and not isinstance(thing, It):
                    found[thing.when].add(part)
        elif isinstance(node, Forbidding):
            found[node.thing.when].add(node.part)
        elif isinstance(node, Fact):
            for thing, prop in node.asks():
                found[thing.when].add(prop)
        elif isinstance(node, Get) and not isinstance(node.of, It):
            found[node.of.when].add(node.property)
        elif isinstance(node, Count):
            for one in node.of:
                found[one.when] |= {match.property for match in one.matches}
        elif isinstance(node, (ForEach, ForSome, Until)):
            end = ends.get(node.things.when)
            sign = SOME if isinstance(node, ForSome) else f"{UNTIL}{end.property} " if end is not None else EACH
            found[node.things.when].add(sign + _part_of_it(node.act))
    return found


def _part_of_it(act: Operator) -> str:
    """What the things of a group are for: the part of it in the first deed that speaks of it."""
    deeds = [node for node in walk(act) if isinstance(node, Deed)]
    return next(part for deed in deeds for thing, part in zip(deed.inputs(), deed.casting, strict=True) if isinstance(thing, It))
