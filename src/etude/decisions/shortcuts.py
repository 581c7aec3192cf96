"""What could be scored without doing the task: a report on a list of trials.

Each shortcut leaves something out. "Always then" and "always else" ignore the condition of a Switch, "larger branch" takes that with more
possible answers; "first part" and "second part" look at one input of every And and Or; "last frame" sees nothing but the frame on which the
answer is due, and knows how trials are made; "text" sees no picture and learns from the other half of the list which answer is usual for
such a question (in a list that is balanced as a whole this comes out a little below chance); "majority" gives the most usual answer.
"Colour", "category" and "colour and category" look at these in questions that are about nothing but identities.

Some shortcuts cannot be brought down to chance, whatever the objects are:

* A Switch. Let p be how often the condition is true. "Always then" is right then, so its score is at least p, and that of "always else" at
  least 1 − p. One of them is at least 1/2, and a list that treats both branches alike cannot do better than 1/2 for each. Where the
  branches have m and n different answers and all are equally likely, as they must be for "text", the larger branch is taken in
  m / (m + n) of the trials.
* An And whose answers are balanced. When it is true both parts are true, and who looks at one of them is right: 1/2 of the trials. When it
  is false, at least one part is false, so the two shortcuts together are right at least once: on average in 1/2 of the other half. Their
  mean is at least 1/2 + 1/4 = 3/4. An Or is the same with true and false exchanged. Where such a question is only asked with probability q
  (in one branch of a Switch), at most q/4 is lost: the floor is 1 − q/4, and with several of them the losses add up at most.
* More answers than fit. Where a list offers answers that a question cannot have, who reads it does not give them; and where both branches
  are taken equally often, whatever they answer with, a branch with n answers has each of them in 1/2n of the trials.
* One frame. Where all objects of a question are on its last frame there is nothing left out.

Categories tell nothing of identities: those that are compared are of one category, the same or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from etude.arithmetic import total
from etude.decisions.asking import Wanted, asked
from etude.decisions.graph import DecisionGraph, form, properties_of, structure, walk
from etude.decisions.logic import And, Or, Switch
from etude.decisions.looks import Get, IsSame, NotSame
from etude.decisions.meaning import answer
from etude.decisions.operator import Operator
from etude.decisions.solver import Domain
from etude.decisions.space import SORTS, SeenThing, StimulusSpace
from etude.decisions.trial import Placed, Trial

ENOUGH = 20  # questions of a kind from which their usual answer is learnt


@dataclass(frozen=True)
class Asked:
    """One answer that is due in a trial."""

    placed: Placed
    frames: tuple[tuple[SeenThing, ...], ...]
    right: str
    choices: tuple[str, ...]

    @property
    def root(self) -> Operator:
        """The question."""
        return self.placed.task.root


@dataclass(frozen=True)
class Shortcut:
    """What a shortcut scores on the answers it applies to, beside chance and the least any list of such questions allows."""

    name: str
    score: float
    chance: float
    floor: float
    bounds: tuple[float, ...]  # for each answer, the larger of both: a list of several kinds of questions is bound as its parts are

    @property
    def applies(self) -> int:
        """The number of answers."""
        return len(self.bounds)

    @property
    def excess(self) -> float:
        """How far it is above what must be."""
        return self.score - total(self.bounds) / max(self.applies, 1)


def report(trials: Iterable[Trial], domain: Domain) -> list[Shortcut]:
    """All shortcuts on a list of trials. The domain is that of their split."""
    space = domain.space
    due = [one for trial in trials for one in answers_due(trial)]

    def read(one: Asked) -> float:
        return known_to_readers(one, space)

    def even(one: Asked) -> bool:
        return read(one) > 0

    rows = [_row("majority", due, _majority(due), read), _row("text", due, _text(due), read)]
    rows.append(_row("last frame", due, [_from_last_frame(one, domain) for one in due], lambda one: max(read(one), _last_frame_floor(one))))
    switches = _having(due, Switch)
    for part, name in ((1, "always then"), (2, "always else")):
        rows.append(_row(name, switches, [_right(one, _cut(one.root, (Switch,), part), space) for one in switches], lambda one: 0.5))
    uneven = [one for one in switches if _shares(one.root, space, even(one))[0] != 0.5]
    larger = [_right(one, _cut(one.root, (Switch,), 1 if _shares(one.root, space)[0] > 0.5 else 2), space) for one in uneven]
    rows.append(_row("larger branch", uneven, larger, lambda one: max(_shares(one.root, space))))
    joined = _having(due, And, Or)
    for part, name in ((0, "first part"), (1, "second part")):
        scores = [_right(one, _cut(one.root, (And, Or), part), space) for one in joined]
        rows.append(_row(name, joined, scores, lambda one: 1 - _loss(one.root, space, even(one))))
    named = {name: props for name, props in _STAND_INS.items() if set(props) <= set(space.classes)}
    identities = [one for one in due if properties_of(one.root) == {"identity"}]
    for name, props in named.items():
        scores = [_right(one, _by(one.root, props), space) for one in identities]
        rows.append(_row(name, identities, scores, read))
    return rows


def answers_due(trial: Trial) -> Iterator[Asked]:
    """The answers of a trial, each with its task."""
    answered: list[str] = []
    for placed in trial.tasks:
        due = placed.after is None or answered[placed.after] == placed.given
        answered.append(trial.answers[placed.end] if due else "")
        if due:
            yield Asked(placed, trial.frames, trial.answers[placed.end], trial.choices)


def known_to_readers(one: Asked, space: StimulusSpace) -> float:
    """How often one is right who reads the question, and nothing else, of which more answers are offered than it can have; 0 where not."""
    shares, counts = dict[str, float](), dict[str, int]()
    for end, share in _ends(one.root):
        shares[end.kind()] = shares.get(end.kind(), 0.0) + share
        counts[end.kind()] = max(counts.get(end.kind(), 0), end.answer_count(space))
    if total(counts.values()) >= len(one.choices):
        return 0.0
    return max(share / counts[kind] for kind, share in shares.items())


def _ends(node: Operator, share: float = 1.0) -> list[tuple[Operator, float]]:
    """What is answered with at the end of each branch, and how often it is if both branches are."""
    if isinstance(node, Switch):
        return [*_ends(node.then, share / 2), *_ends(node.otherwise, share / 2)]
    return [(node, share)]


def _row(name: str, due: Sequence[Asked], scores: Sequence[float], floor: Callable[[Asked], float]) -> Shortcut:
    count, chances, floors = max(len(due), 1), [1 / len(one.choices) for one in due], [floor(one) for one in due]
    bounds = tuple(map(max, chances, floors))
    return Shortcut(name, total(scores) / count, total(chances) / count, total(floors) / count, bounds)


# ------------------------------------------------------------------------------------------------ without pictures


def _majority(due: Sequence[Asked]) -> list[float]:
    usual = Counter(one.right for one in due).most_common(1)
    return [float(one.right == usual[0][0]) for one in due]


def _text(due: Sequence[Asked]) -> list[float]:
    """Half of the list tells what is usual in the other half: for this very question, for one of this form, for one with such answers."""
    keys = [_keys(one) for one in due]
    scores = [0.0] * len(due)
    for half in (0, 1):
        usual: dict[str, Counter[str]] = {}
        for one, names in zip(due[1 - half :: 2], keys[1 - half :: 2], strict=True):
            for name in names:
                usual.setdefault(name, Counter())[one.right] += 1
        for k in range(half, len(due), 2):
            known = next((usual[n] for n in keys[k] if n in usual and usual[n].total() >= ENOUGH), Counter())
            best = [a for a, n in known.items() if n == max(known.values())]
            scores[k] = (due[k].right in best) / len(best) if best else 1 / len(due[k].choices)
    return scores


def _keys(one: Asked) -> list[str]:
    task = one.placed.task
    return [structure(task), form(task.root), f"{type(task.root).__name__} {one.choices}", str(one.choices)]


# ------------------------------------------------------------------------------------------------ half of the question


def _having(due: Sequence[Asked], *kinds: type[Operator]) -> list[Asked]:
    return [one for one in due if any(isinstance(node, kinds) for node in walk(one.root))]


def _right(one: Asked, root: Operator, space: StimulusSpace) -> float:
    """Is the answer of another question, asked in its place, the right one?"""
    return float(answer(DecisionGraph(root, one.placed.task.frames), one.frames, space, one.placed.start) == one.right)


def _cut(node: Operator, kinds: tuple[type[Operator], ...], part: int) -> Operator:
    """The question with one input in place of every operator of these kinds."""
    if isinstance(node, kinds):
        return _cut(node.inputs()[part], kinds, part)
    return node.with_inputs([_cut(each, kinds, part) for each in node.inputs()])


_STAND_INS = {"colour": ("colour",), "category": ("category",), "colour and category": ("colour", "category")}


def _compares_identities(node: Operator) -> bool:
    return isinstance(node, (IsSame, NotSame)) and all(isinstance(part, Get) and part.property == "identity" for part in node.inputs())


def _by(node: Operator, properties: Sequence[str]) -> Operator:
    """The question with these properties compared wherever it compares identities."""
    if not _compares_identities(node):
        return node.with_inputs([_by(each, properties) for each in node.inputs()])
    first, *rest = (replace(node, left=replace(node.left, property=p), right=replace(node.right, property=p)) for p in properties)  # type: ignore
    return first if not rest else And(first, *rest) if isinstance(node, IsSame) else Or(first, *rest)


def _shares(node: Operator, space: StimulusSpace, even: bool = False) -> tuple[float, float]:
    """How often each branch of a Switch is taken if all answers are equally likely, or both branches (``even``)."""
    if even or not isinstance(node, Switch) or node.then.kind() == node.otherwise.kind():
        return 0.5, 0.5
    then, otherwise = node.then.answer_count(space), node.otherwise.answer_count(space)
    return then / (then + otherwise), otherwise / (then + otherwise)


def _loss(node: Operator, space: StimulusSpace, even: bool, share: float = 1.0) -> float:
    """The most that looking at one part of every And and Or can cost, in the mean of both parts."""
    if isinstance(node, Switch):
        then, otherwise = _shares(node, space, even)
        branches = _loss(node.then, space, even, share * then) + _loss(node.otherwise, space, even, share * otherwise)
        return _loss(node.condition, space, even, share) + branches
    if isinstance(node, (And, Or)):  # within another one it need not be balanced: then half of it can be lost
        inner = total(2 * _loss(part, space, even, share) for part in node.inputs())
        return share / 4 + inner
    return total(_loss(part, space, even, share) for part in node.inputs())


# ------------------------------------------------------------------------------------------------ the last frame


def _from_last_frame(one: Asked, domain: Domain) -> float:
    """The score of one who sees the last frame only, knows in which ways answers are made, and gives the likeliest (of equals, any)."""
    question = asked(one.placed.task, domain, one.placed.start)
    last = one.placed.end
    seen = next((t for t in one.frames[last] if not t.distractor), None) if last in question.meaning.frames else None
    likely: dict[str, float] = {}
    for said in question.answers:
        ways = [(option, 1 / len(options)) for options in question.best(said).values() for option in options]
        weight = total(share * (_likelihood(seen, last, question.wanted(option), domain) if seen else 1.0) for option, share in ways)
        likely[said] = weight / len(question.best(said))
    best = [said for said, value in likely.items() if value >= max(likely.values()) * (1 - 1e-9)]
    return (one.right in best) / len(best)


def _likelihood(seen: SeenThing, last: int, wanted: Wanted, domain: Domain) -> float:
    """How likely this object is on the last frame, as far as conditions on it alone tell."""
    found = 1.0
    for sort in SORTS:
        mask = domain.full(sort)
        for atom, truth in wanted:
            if atom.second is None and atom.first == last and domain.space.sort(atom.property) == sort:
                mask &= domain.alone(atom.property, atom.value, truth)
        found *= (mask >> seen.part(sort) & 1) / max(mask.bit_count(), 1)
    return found


def _last_frame_floor(one: Asked) -> float:
    return float(one.placed.task.seen == (one.placed.task.frames - 1,))
