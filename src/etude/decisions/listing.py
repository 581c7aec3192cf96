"""What the lists of trials are drawn from: a list is a function from a seed to a trial, the same for all time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from etude.decisions.balance import PRIVATE, unrepeated
from etude.decisions.compose import Showing
from etude.decisions.solver import Domain, bits
from etude.decisions.space import SORTS, SeenThing
from etude.decisions.trial import Trial
from etude.names import Stream, rng
from etude.salt import salt_of

BOOLEAN = ("true", "false")


@dataclass(frozen=True)
class TrialDraw:
    """One place in a list. ``domain`` has the views of the split only, ``options`` are those of the trial's name."""

    suite: str
    task: str
    split: str
    seed: int
    domain: Domain
    stimuli: str = "procedural"
    options: tuple[tuple[str, str], ...] = ()

    @property
    def list(self) -> str:
        """What the turns of the list are drawn from: its name, and of private seeds their salt (:mod:`etude.salt`)."""
        return f"{self.suite}/{self.task}@{self.split}{self._salt}"

    @property
    def name(self) -> str:
        """The name of the trial, without options: variants of a trial are drawn alike."""
        return f"{self.suite}/{self.task}@{self.split}#{self.seed}"

    @property
    def _salt(self) -> str:
        return "".join(f"{PRIVATE}{salt_of(value)}" for key, value in self.options if key == "salt")

    def stream(self, purpose: str = "trial") -> Stream:
        """The random stream for a purpose."""
        return rng(f"{self.name}{self._salt}", purpose)

    def showing(self, level: str) -> Showing:
        """How trials of this list are shown."""
        return Showing(level, self.stimuli, self.split)


Lister = Callable[[TrialDraw], Trial]


def fresh_thing(domain: Domain, name: str, visit: int, prop: str = "", value: int = 0, equal: bool = True) -> SeenThing:
    """An object that is another one for every visit until all have been: in a short trial this is what keeps trials from being the same.

    With ``prop`` it is one whose property has (or, if not ``equal``, has not) this value.
    """
    masks = {sort: domain.full(sort) for sort in SORTS}
    if prop:
        masks[domain.space.sort(prop)] &= domain.alone(prop, value, equal)
    items, cells, views = (bits(masks[sort]) for sort in SORTS)
    number = unrepeated(range(len(items) * len(cells) * len(views)), name, visit)
    number, view = divmod(number, len(views))
    item, cell = divmod(number, len(cells))
    return SeenThing(items[item], cells[cell], views[view])
