"""Tasks of one's own, by name: spaces that AutoTask draws from, and graphs from a file.

``auto?switch=1&depth=6&operators=IsSame,And`` is drawn from all tasks with these settings; ``auto?graph=FILE`` is the task that the file
holds: the JSON of a :class:`~etude.decisions.graph.DecisionGraph`, or the text of an instruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from etude.decisions.asking import asked
from etude.decisions.autotask import auto_question
from etude.decisions.balance import wanted
from etude.decisions.compose import make_trial
from etude.decisions.connectivity import TaskSpace
from etude.decisions.graph import DecisionGraph
from etude.decisions.listing import TrialDraw
from etude.decisions.operator import operator_class
from etude.decisions.parse import parse
from etude.decisions.space import StimulusSpace
from etude.decisions.trial import Placed, Trial
from etude.names import EtudeError, read_text, whole_number

OPTIONS = ("switch", "depth", "operators", "properties", "joins", "frames", "graph")
ALWAYS = ("Get", "Const")  # below every comparison
USUAL = ("IsSame", "NotSame", "And", "Or", "Get")
MOST_SWITCHES = 3


def auto(draw: TrialDraw) -> Trial:
    """A task from a space of one's own, or from a file. The answers of a question come equally often, over the seeds."""
    chosen, stream = dict(draw.options), draw.stream()
    if "graph" in chosen:
        others = [key for key in OPTIONS if key in chosen and key != "graph"]
        if others:
            raise EtudeError(f"a task from a file is what it is: leave out {others[0]!r}")
        tasks = read_graph(unquote(chosen["graph"]), draw.domain.space)
    else:
        tasks = (Placed(auto_question(task_space(chosen), stream, draw.domain).task),)
    questions = [asked(p.task, draw.domain, p.start) for p in tasks]
    answers = [wanted(q.answers, f"{draw.list}/{k}/{len(q.answers)}", draw.seed) for k, q in enumerate(questions)]
    branch = wanted((True, False), f"{draw.list}/branch", draw.seed)
    return make_trial(draw.name, tasks, draw.domain, answers, stream, showing=draw.showing("auto"), branch=branch)


def task_space(options: Mapping[str, str]) -> TaskSpace:
    """The space of tasks that options span. ``switch``, ``joins`` and ``frames`` are exact numbers, ``depth`` the most."""
    numbers = {key: _number(key, options[key]) for key in ("switch", "depth", "joins", "frames") if key in options}
    settings = TaskSpace(max_switch=numbers.get("switch", 0), switch_chance=1.0, max_depth=numbers.get("depth", TaskSpace.max_depth))
    if settings.max_switch > MOST_SWITCHES:
        raise EtudeError(f"switch={settings.max_switch} is too much: a task has at most {MOST_SWITCHES} conditions")
    for key in ("joins", "frames"):
        if key in numbers:
            settings = replace(settings, **{key: (numbers[key], numbers[key])})  # type: ignore[arg-type]
    if "properties" in options:
        props = tuple(options["properties"].split(","))
        named = tuple(p for p in settings.named if p in props)
        settings = replace(settings, properties=tuple((p, 1.0) for p in props), reported=named, named=named)
    roots = tuple(options["operators"].split(",")) if "operators" in options else USUAL
    truths = tuple(name for name in roots if operator_class(name).gives == "truth")
    if not settings.reported:  # identities have no names that could be told
        roots = tuple(name for name in roots if name != "Get")
    return replace(settings, roots=roots, booleans=truths or ("IsSame", "NotSame"), operators=(*ALWAYS, *dict.fromkeys((*truths, *roots))))


def _number(key: str, text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise EtudeError(f"{key}={text} is not a whole number from 0 on")
    return number


def read_graph(path: str, space: StimulusSpace) -> tuple[Placed, ...]:
    """The tasks that a file holds: a graph as JSON, or an instruction in words."""
    text = read_text(Path(path)).strip()
    if text.startswith("{"):
        return (Placed(DecisionGraph.from_json(text)),)
    return parse(text, space)
