"""Words that do not flicker: what is open for a moment only is not said.

A tower that sways under what is put on it is no longer a tower for a step or two, and a pencil that was let go rolls. The oracle goes on
with what is open then, as it must in case nothing comes of waiting; what is said stays as it was, until it has been open for a while.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from etude.goals.goal import GoalNode
from etude.goals.units import RESTING, Composed
from etude.skills.aim import AWAY, NOTHING, Aim

SETTLING = 5  # control steps in a row for which what was done has to be open again, to be said again


@dataclass
class SteadyWords:
    """The sub-task and the step that are said; ``waited`` control steps ago there would have been others."""

    task: str = ""
    step: str = ""
    waited: int = 0

    def of(self, aim: Aim, patience: int) -> Aim:
        """The aim with the words of before, for as many steps in a row as there is ``patience``; then with its own."""
        if (aim.task, aim.step) == (self.task, self.step):
            self.waited = 0
        elif self.task and self.waited < patience:
            self.waited += 1
            return replace(aim, task=self.task, step=self.step)
        else:
            self.task, self.step, self.waited = aim.task, aim.step, 0
        return aim


@dataclass
class LeafWords:
    """What is said of the leaves of a goal, one after the other."""

    _words: SteadyWords = field(default_factory=SteadyWords)
    _last: GoalNode | None = None
    _finished: set[str] = field(default_factory=set)
    _said: set[tuple[str, str]] = field(default_factory=set)

    def of(self, node: GoalNode, aim: Aim) -> Aim:
        """The aim for a leaf, in words that may stay those of what was done before."""
        if self._last is not None and self._last.path != node.path:
            self._words.waited = 0
            if self._last.status.satisfied:
                self._finished.add(self._last.path)
        self._last = node
        if node.reached and aim.step == NOTHING:  # waiting for what was done before belongs to what was done last
            return replace(aim, task=self._words.task or aim.task)
        worded = self._words.of(aim, self._patience(node, aim.step))
        self._said.add((node.path, worded.step))
        if worded is aim:  # it is begun again in earnest
            self._finished.discard(node.path)
        return worded

    def _patience(self, node: GoalNode, step: str) -> int:
        """For how many control steps what is begun again is not said: what was let go and has yet to come to rest takes longer than what
        sways."""
        if isinstance(node.goal, Composed) and self._words.step == AWAY:
            return RESTING if (node.path, step) in self._said else 0
        return SETTLING if node.path in self._finished else 0
