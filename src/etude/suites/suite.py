"""What a suite is: one value with its tasks, what its splits are for, its table and its bounds, its plans, its words and its tables.

A task is a sampler from random streams to the parts of an episode, registered under a name::

    kitchen = Suite("kitchen", "Kitchen tasks", splits={"train": "training", "test": "test"}, room=rlbench_room)

    @kitchen.task(level="L1", horizon=300)
    def cup_on_plate(draw: Draw) -> Draft: ...

Samplers raise :class:`~etude.scene.placement.NoRoom` when a layout cannot be completed; another one is drawn then.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from etude.decisions.trial import Trial
from etude.episodes import ActionSpace, Episode
from etude.goals.goal import Goal
from etude.index import INDEX, load_suite, register_env
from etude.names import EpisodeName, EtudeError, Stream, rng, unknown
from etude.pose import Vec2, Vec3
from etude.prompts.instruction import Instruction
from etude.registry import Registry
from etude.scene.scene import Scene

if TYPE_CHECKING:
    from etude.bench.result import Result
    from etude.envs.simulation import Simulation
    from etude.evaluation.record import Record
    from etude.suites.building import SceneBuilder
    from etude.suites.paper import PaperClaim, PaperModel, PaperTable

Purpose = Literal["training", "validation", "test"]
PURPOSES: tuple[Purpose, ...] = ("training", "validation", "test")


@dataclass(frozen=True)
class Draw:
    """The input of a sampler: random streams by purpose, the split, and the options of the episode's name.

    ``split`` is the one whose objects are used: that of the name, unless the suite says that it is like another.

    >>> draw.rng("layout").uniform(-0.3, 0.3), draw.option("difficulty", "default")
    """

    name: EpisodeName
    split: str
    attempt: int = 0

    def rng(self, purpose: str) -> Stream:
        """The stream for a purpose. Layouts that found no room are drawn again from another one."""
        return rng(self.name, purpose if self.attempt == 0 else f"{purpose}/{self.attempt}")

    def option(self, key: str, default: str) -> str:
        """An option of the name, or its default."""
        return dict(self.name.options).get(key, default)

    def scene(self) -> SceneBuilder:
        """The suite's room, to be furnished."""
        from etude.suites.building import SceneBuilder

        return SceneBuilder(self, SUITES[self.name.suite])


@dataclass(frozen=True)
class Draft:
    """The result of a sampler: the parts of an episode. The first instruction is the default; ``?prompt=k`` selects another.

    ``held``, ``roles`` and ``least`` as in an :class:`~etude.episodes.Episode`; ``horizon`` too, 0 for that of the task.

    >>> Draft(scene, OnTop("cup", "plate"), (instruction("Put the cup on the plate."),))
    """

    scene: Scene
    goal: Goal
    instructions: tuple[Instruction, ...]
    held: str = ""
    roles: tuple[tuple[str, str], ...] = ()
    least: int = 0
    horizon: int = 0


Sampler = Callable[[Draw], Draft | Trial]  # decisions have neither scene nor goal: their sampler gives the whole trial


@dataclass(frozen=True)
class Task:
    """A task of a suite. ``horizon`` and ``budget`` as in an :class:`~etude.episodes.Episode`; ``without``: factors it is not given.

    ``described`` says whether words can stand for the pictures of its instruction; ``options`` are those an episode's name may have.
    """

    suite: str
    name: str
    sample: Sampler
    level: str
    splits: tuple[str, ...]
    horizon: int
    options: tuple[str, ...] = ()
    control: ActionSpace = "ee_delta"
    budget: int = 0
    without: tuple[str, ...] = ()
    described: bool = True

    @property
    def summary(self) -> str:
        """First line of the sampler's docstring."""
        return (self.sample.__doc__ or "").strip().splitlines()[0]

    @property
    def module(self) -> str:
        """The module that brought it."""
        return self.sample.__module__


Cell = str | int | float | None
Rows = list[dict[str, Cell]]


@dataclass(frozen=True)
class SuiteTable:
    """A table of a suite's own, in the layout of its paper: for the page and for exports.

    ``rows`` gets the records of one run, by mode, and gives the cells of each row by column; fractions (float) are shown in per cent.
    """

    key: str
    title: str
    lead: str
    rows: Callable[[Mapping[str, Sequence[Record]]], Rows]


@dataclass(frozen=True)
class RunsTable:
    """A table of a suite's own over several runs, such as those of one method at several levels of training data.

    ``rows`` gets the records of every run, by the run's title and then by mode; for the rest it is a :class:`SuiteTable`.
    """

    key: str
    title: str
    lead: str
    rows: Callable[[Mapping[str, Mapping[str, Sequence[Record]]]], Rows]


@dataclass(frozen=True)
class InventoryTable:
    """What is in a suite's lists, counted: shown with its tasks by ``etude list``."""

    title: str
    rows: Rows


@dataclass(frozen=True)
class Conceded:
    """A cheat that may exceed chance in a task, and why: a page of the paper, or a proof."""

    task: str
    cheat: str
    reason: str


ONLOOKER = "render"  # the camera of videos, which policies do not see by default
MOST_CONCEDED = 5  # for a suite: more would be an excuse
Novelty = Literal["shape", "texture", "combination"]

Workspace = tuple[Vec2, Vec2]  # lower and upper corner
Reach = tuple[Vec3, Vec3]  # the same
Plan = Callable[[], tuple[str, ...]]
Reword = Callable[[str, EpisodeName, Stream], str | None]


class Witness(Protocol):
    """A failure monitor: observes an episode at every control step, and says afterwards what went wrong first."""

    def look(self) -> None:
        """Observe the state after a control step."""

    def cause(self, misled: int | None = None, led: bool = False) -> str:
        """What went wrong first in an episode that failed, in the suite's own categories. ``misled``: the step at which a planner said a
        wrong sub-task that was not made good; ``led``: there was a planner whom the policy was to follow."""


@dataclass(eq=False)
class Suite:
    """A benchmark, as one value: nothing else in etude knows it by name. Creating one registers it.

    ``splits`` gives the purpose of each: demonstrations use training splits and evaluations test splits, unless others are named; the
    first split of a purpose is the default. ``alike``: splits that differ from another one in their seeds only.

    ``room`` makes the scene that :meth:`Draw.scene` furnishes; ``workspace`` (m, world) is where objects may be placed, and where pick-and-
    place actions may lead; ``reach`` (m, world) is the box to which keyposes may move the tip. Either may be a function of a scene, if
    rooms differ. ``keyposed``: tasks that the oracle can also play with keyposes, besides those whose ``control`` they are.
    ``cameras`` and ``size`` (width, height) are what policies see by default: if none are named, all cameras except the one for videos.
    ``views``: the two cameras of planners, and of policies with two; in rooms without them, the first camera fixed in the room, and the
    one on the hand or else the next.

    ``horizon``, ``control`` and ``options`` are the defaults of its tasks; ``order`` is the order of tasks in its tables. ``plans`` are
    fixed episode lists, played with ``--plan SUITE-PLAN``. ``reword`` paraphrases an instruction, or returns None if it cannot. ``modes``
    are its additional evaluation modes; ``asked_every``: control steps between questions to a planner, by level.
    ``cause`` says why an episode failed, in the suite's own categories, from its final state; a ``witness`` does so if it has to observe
    the whole episode. ``open_branches``: which of the two branches of each condition of an episode could be carried out, whether or not
    it is the right one.
    ``tables``, ``paper_tables`` (the tables and figures of its paper), ``paper_models`` (the models to be trained for them),
    ``paper_claims`` (its conclusions), ``inventory`` and ``benches`` are loaded on demand. ``layout``: a dataset format of the suite.
    ``novel`` says for a split what no training split may contain; ``exceptions`` are cheats that an audit accepts.

    >>> kitchen = Suite("kitchen", "Kitchen tasks", splits={"train": "training", "test": "test"}, room=rlbench_room)
    >>> @kitchen.task(level="L1", horizon=300)
    ... def cup_on_plate(draw: Draw) -> Draft: ...
    """

    name: str
    title: str
    splits: Mapping[str, Purpose]
    paper: str = ""
    alike: Mapping[str, str] = field(default_factory=dict)
    room: Callable[[], Scene] | None = None
    workspace: Workspace | Callable[[Scene], Workspace] | None = None
    reach: Reach | Callable[[Scene], Reach] | None = None
    keyposed: tuple[str, ...] = ()
    cameras: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    size: tuple[int, int] = (128, 128)
    horizon: int = 200
    control: ActionSpace = "ee_delta"
    options: tuple[str, ...] = ()
    order: Sequence[str] = ()
    plans: Mapping[str, Plan] = field(default_factory=dict)
    reword: Reword | None = None
    modes: tuple[str, ...] = ()
    asked_every: Mapping[str, int] = field(default_factory=dict)
    cause: Callable[[Simulation], str] | None = None
    witness: Callable[[Simulation], Witness] | None = None
    open_branches: Callable[[Episode], Sequence[tuple[bool, bool]]] | None = None
    tables: Callable[[], Sequence[SuiteTable | RunsTable]] = tuple
    paper_tables: Callable[[], Sequence[PaperTable]] = tuple
    paper_models: Callable[[], Sequence[PaperModel]] = tuple
    paper_claims: Callable[[], Sequence[PaperClaim]] = tuple
    inventory: Callable[[], Sequence[InventoryTable]] = tuple
    benches: Mapping[str, Callable[[], list[Result]]] = field(default_factory=dict)
    layout: str = ""
    novel: Mapping[str, Novelty] = field(default_factory=dict)
    exceptions: Sequence[Conceded] = ()

    def __post_init__(self) -> None:
        if len(self.exceptions) > MOST_CONCEDED:
            raise EtudeError(f"suite {self.name}: {len(self.exceptions)} cheats are conceded; at most {MOST_CONCEDED} may be")
        for split in self.novel:
            if split not in self.splits:
                raise unknown(f"split of {self.name}", split, self.splits)
        for split, purpose in self.splits.items():
            if purpose not in PURPOSES:
                raise EtudeError(f"suite {self.name}: split {split!r} is for {purpose!r}; expected one of {', '.join(PURPOSES)}")
        for split, other in self.alike.items():
            if split not in self.splits or other not in self.splits:
                raise EtudeError(f"suite {self.name}: {split!r} cannot be like {other!r}; its splits are {', '.join(self.splits)}")
        EpisodeName(self.name, "task", next(iter(self.splits), ""), 0)  # a name that episodes cannot have is refused here
        self._tasks: dict[str, Task] = {}
        SUITES.add(self.name, self, sys._getframe(2).f_globals["__name__"])

    @property
    def tasks(self) -> dict[str, Task]:
        """Its tasks by name: in ``order``, then in that of registration."""
        names = dict.fromkeys((*(name for name in self.order if name in self._tasks), *self._tasks))
        return {name: self._tasks[name] for name in names}

    def task(
        self,
        name: str = "",
        *,
        level: str = "",
        splits: Sequence[str] = (),
        horizon: int = 0,
        options: Sequence[str] = (),
        control: ActionSpace | None = None,
        budget: int = 0,
        without: Sequence[str] = (),
        described: bool = True,
    ) -> Callable[[Callable[[Draw], Any]], Callable[[Draw], Any]]:
        """Register a sampler as a task, under its own name unless another is given; ``options`` are added to the suite's."""

        def register(sample: Callable[[Draw], Any]) -> Callable[[Draw], Any]:
            for split in splits:
                if split not in self.splits:
                    raise unknown(f"split of {self.name}", split, self.splits)
            chosen = tuple(splits) or tuple(self.splits)
            found = Task(
                self.name, name or sample.__name__, sample, level, chosen, horizon or self.horizon, (*self.options, *options),
                control or self.control, budget, tuple(without), described,
            )  # fmt: skip
            there = self._tasks.setdefault(found.name, found)
            if there is not found:
                raise EtudeError(f"{found.module}: {there.module} has the task {self.name}/{found.name} already; choose another name")
            register_env(self.name, found.name, found.control)
            return sample

        return register

    def two_views(self, scene: Scene | None = None) -> tuple[str, ...]:
        """The cameras of ``views`` in a scene, or in its room; fewer where there are fewer."""
        room = scene or (self.room() if self.room is not None else Scene())
        seeing = [camera for camera in room.cameras if camera.name != ONLOOKER]
        if self.views and {*self.views} <= {camera.name for camera in seeing}:
            return self.views
        fixed = [camera.name for camera in seeing if camera.mount == "world"]
        second = [camera.name for camera in seeing if camera.mount == "hand"] or fixed[1:]
        return (*fixed[:1], *second[:1]) if fixed else ()

    def split_of(self, task: Task, purpose: Purpose) -> str | None:
        """The first split of a task that is for this; None where it has none."""
        return next((split for split in self.splits if self.splits[split] == purpose and split in task.splits), None)


def later(module: str, name: str) -> Callable[[], Any]:
    """What a module of a suite holds or gives under a name; the module is imported when it is asked for."""

    def asked() -> Any:
        found = getattr(importlib.import_module(module), name)
        return found() if callable(found) else found

    return asked


class _Indexed(Registry[Suite]):
    """Suites by name; those of the index are imported when they are first asked for."""

    def add(self, name: str, value: Suite, module: str) -> None:
        if name in INDEX and not module.startswith(INDEX[name]["module"]):
            raise EtudeError(f"{module}: {INDEX[name]['module']} has the suite {name!r} already; choose another name")
        super().add(name, value, module)

    def __getitem__(self, name: str) -> Suite:
        if name not in self._values:
            load_suite(name)
        if name not in self._values:
            raise unknown(self.what, name, self)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in INDEX

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*INDEX, *self._values)))

    def __len__(self) -> int:
        return len(INDEX | self._values)


SUITES: Registry[Suite] = _Indexed("suite")
