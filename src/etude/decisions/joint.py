"""Objects for several questions that look at common frames: all wanted answers together, or as many as the first ones leave possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from etude.decisions.asking import Question, Wanted, foils_of
from etude.decisions.solver import Domain, posed, solvable, solved
from etude.decisions.space import SeenThing
from etude.names import EtudeError, Stream

MOST_TRIES = 1000  # combinations of ways: many large questions about the same objects have more than can be gone through


class LinkedQuestions:
    """Questions that share objects, directly or through others. ``given`` are objects that are settled already, by frame."""

    def __init__(self, questions: Sequence[Question], domain: Domain, stream: Stream, given: Mapping[int, SeenThing] | None = None) -> None:
        self._questions, self._domain, self._stream = questions, domain, stream
        self._frames = sorted({f for q in questions for f in q.meaning.frames})
        self._given = {f: thing for f, thing in (given or {}).items() if f in self._frames}

    def objects(self, wishes: Sequence[str], branch: bool | None = None, adapt: bool = True) -> tuple[dict[int, SeenThing], list[str]]:
        """An object for every frame, and the answers: the wishes, or where a wish cannot be had with those before it, another one.

        ``branch`` asks the first question to go through this branch, where it can.
        """
        said = list(wishes)
        wanted = self._together(said, branch)
        if wanted is None:
            for k, wish in enumerate(wishes):
                said[k], wanted = self._possible(said[:k], wish, k)
                if said[k] != wish and not adapt:
                    raise EtudeError(f"a task cannot be answered with {wish!r} beside the tasks before it, but with {said[k]!r}")
        assert wanted is not None
        return solved(posed(self._domain, self._frames, wanted, self._given), self._stream, foils_of(wanted), self._domain.space), said

    def _possible(self, before: Sequence[str], wish: str, k: int) -> tuple[str, Wanted]:
        """The wish, or another answer that question k can have after the others were answered so; and what must hold then."""
        others = self._stream.shuffled([a for a in self._questions[k].answers if a != wish])
        for answer in (wish, *others):
            wanted = self._together([*before, answer])
            if wanted is not None:
                return answer, wanted
        raise EtudeError("a task has no answer with the objects that the tasks before it need; let it begin on another frame")

    def _together(self, said: Sequence[str], branch: bool | None = None) -> Wanted | None:
        """What must hold so that the first questions are answered so; None where that is impossible, or not found in :data:`MOST_TRIES`."""
        wanted: Wanted = ()
        for question, answer in zip(self._questions, said, strict=False):
            wanted += question.way(answer, self._stream, None if wanted else branch)
        if (len(said) == 1 and not self._given) or self._solvable(wanted):
            return wanted
        return next(self._searched((), said, branch, iter(range(MOST_TRIES))), None)

    def _searched(self, so_far: Wanted, said: Sequence[str], branch: bool | None, tries: Iterator[int], k: int = 0) -> Iterator[Wanted]:
        """Through all ways to every answer, as long as there are tries left."""
        if k == len(said):
            yield so_far
            return
        settled = dict(so_far)
        for way in self._questions[k].every_way(said[k], self._stream, branch):
            if any(settled.get(atom, truth) is not truth for atom, truth in way):
                continue
            if next(tries, None) is None:
                return
            if self._solvable(so_far + way):
                yield from self._searched(so_far + way, said, None, tries, k + 1)

    def _solvable(self, wanted: Wanted) -> bool:
        return solvable(self._domain, self._frames, wanted, self._given)
