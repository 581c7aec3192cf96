"""AutoTask draws what its settings allow, all of it, evenly, and nothing twice where that is asked for."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest
from agreement import OPERATORS, RICH

from etude.decisions.autotask import MOST_MISSES, auto_question, auto_task, distinct_tasks
from etude.decisions.connectivity import TaskSpace
from etude.decisions.graph import operators, selects, structure, walk
from etude.decisions.logic import Switch
from etude.decisions.looks import Const
from etude.decisions.operator import Operator
from etude.decisions.solver import Domain
from etude.decisions.space import standard_space
from etude.names import EtudeError, rng
from etude.suites.iwisdm.levels import HIGH, LEVELS, LOW, MEDIUM, restricted

SPACE = standard_space()
DOMAIN = Domain(SPACE)


@pytest.mark.parametrize(
    ("settings", "frames", "joins", "switches"), [(LOW, 6, {1}, 0), (MEDIUM, 8, {1}, 1), (HIGH, 9, {1, 2}, 1)], ids=list(LEVELS)
)
def test_levels_have_the_numbers_of_the_paper(settings: TaskSpace, frames: int, joins: set[int], switches: int) -> None:
    stream = rng("levels", "tasks")
    seen = set()
    for _ in range(200):
        task = auto_task(settings, stream, SPACE)
        found = operators(task.root)
        seen.add(found.get("And", 0) + found.get("Or", 0))
        assert task.frames == frames
        assert found.get("Switch", 0) == switches
        assert task.seen[0] == 0 and task.seen[-1] == frames - 1  # delays lie between objects
        assert 0 <= frames - len(task.seen) <= 4
        for part in task.root.inputs() if isinstance(task.root, Switch) else (task.root,):
            assert depth(part) <= settings.max_depth
            assert sum(operators(part).values()) <= settings.max_operators
    assert seen == joins


def depth(node: Operator) -> int:
    """The longest way from the root to a leaf, in nodes."""
    return 1 + max((depth(part) for part in node.inputs()), default=0)


def test_all_operators_are_drawn_and_all_tasks_make_sense() -> None:
    stream = rng("rich", "tasks")
    found: set[str] = set()
    for _ in range(150):
        question = auto_question(RICH, stream, DOMAIN)
        found.update(operators(question.task.root))
        assert len(question.answers) >= 2
    assert found == {*OPERATORS, "Select", "Switch"}


def test_one_property_means_one_property() -> None:
    stream = rng("one", "tasks")
    for _ in range(50):
        text = auto_task(restricted(HIGH, "location"), stream, SPACE).to_json()
        assert "category" not in text and "identity" not in text


def test_one_property_of_one_object_is_never_read_twice() -> None:
    stream = rng("shared", "tasks")
    shared = 0
    for _ in range(100):
        task = auto_task(MEDIUM, stream, SPACE)
        shared += len(list(selects(task.root))) > len(task.seen)
        text = task.to_json()
        for select in selects(task.root):
            for prop in ("category", "identity", "location"):
                read = f'{{"kind":"Get","of":{{"kind":"Select","matches":[],"when":{select.when}}},"property":"{prop}"}}'
                assert text.count(read) <= 1
    assert shared > 20


def test_same_stream_same_tasks() -> None:
    first, second = ([auto_task(HIGH, s, SPACE) for _ in range(5)] for s in (rng("a", "t"), rng("a", "t")))
    assert first == second


def test_a_wanted_answer_can_be_had_in_the_wanted_branch() -> None:
    stream = rng("wanted", "tasks")
    for answer in ("true", "cars", "top left"):
        for branch in (True, False):
            for _ in range(20):
                assert branch in auto_question(HIGH, stream, DOMAIN, answer, branch).best(answer)


def test_the_last_frame_alone_tells_nothing() -> None:
    """Unless every object is named, or compared with a constant."""
    stream = rng("last", "tasks")
    for _ in range(100):
        root = auto_task(MEDIUM, stream, SPACE).root
        alone = [s.when for node in operators_with_constants(root) for s in selects(node)]
        assert 0 not in alone or set(alone) == {s.when for s in selects(root)}


def operators_with_constants(root: Operator) -> list[Operator]:
    return [node for node in walk(root) if any(isinstance(part, Const) for part in node.inputs())]


def test_distinct_tasks_are_distinct() -> None:
    tasks = list(distinct_tasks(HIGH, rng("distinct", "tasks"), 1500))
    assert len({structure(task) for task in tasks}) == 1500


def test_tasks_are_spread_evenly_over_structures() -> None:
    stream = rng("spread", "tasks")
    for settings, tasks, structures, most_frequent, evenness in ((LOW, 2000, 600, 0.02, 0.9), (HIGH, 1000, 950, 0.01, 0.99)):
        counts = Counter(structure(auto_question(settings, stream, DOMAIN).task) for _ in range(tasks))
        assert len(counts) > structures and max(counts.values()) / tasks < most_frequent
        assert -sum(n / tasks * math.log(n / tasks) for n in counts.values()) / math.log(len(counts)) > evenness  # entropy / its most


def test_a_space_of_tasks_that_is_used_up_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_MISSES > 1000
    monkeypatch.setattr("etude.decisions.autotask.MOST_MISSES", 300)
    single = TaskSpace(roots=("IsSame",), properties=(("location", 1.0),), constants=1.0, joins=(0, 0), frames=(1, 1), delays=(0, 0))
    with pytest.raises(EtudeError, match="after 4 of 100"):
        list(distinct_tasks(single, rng("few", "tasks"), 100))


def test_settings_that_cannot_be_met_say_so() -> None:
    with pytest.raises(EtudeError, match="no task in 1000 attempts"):
        auto_task(replace(LOW, frames=(30, 30)), rng("x", "t"), SPACE)
    with pytest.raises(EtudeError, match="can be answered with 'cars'"):
        auto_question(LOW, rng("x", "t"), DOMAIN, "cars")


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(EtudeError, match="unknown operator 'Same'; did you mean 'IsSame'"):
        auto_task(replace(LOW, roots=("Same",)), rng("x", "t"), SPACE)
    with pytest.raises(EtudeError, match="unknown property 'colour'"):
        auto_task(replace(LOW, properties=(("colour", 1.0),)), rng("x", "t"), SPACE)
