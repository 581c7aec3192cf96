"""The figures of iWISDM: accuracy by level, property asked about, delay, operators, stimuli and kind of answer.

The paper prints none of its numbers but that people are right in 0.78 to 0.98, depending on the level: all else is in plots.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Mapping, Sequence

from etude.decisions.graph import FIFTHS
from etude.evaluation.decisions import TRUTH, answers_of, sliced
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.suites.iwisdm.benchmarks import SWEPT
from etude.suites.iwisdm.levels import LEVELS
from etude.suites.iwisdm.tables import response_times
from etude.suites.paper import NOT_PRINTED, PaperBlock, PaperCell, PaperCondition, PaperRow, PaperTable, Printed

TRIALS = 100  # of each list, as the released files have
SPLIT = "val"
OPEN = ("InternLM-XComposer2", "MMICL")  # the models of figures 12 to 14
MODELS = ("GPT-4V", "Gemini-Pro-1.0", "Claude-3", *OPEN)
PROPERTIES = ("location", "category", "identity", "all")
ABILITIES = ("perception", "temporal_attention", "memory")  # that the levels are put together from: what and where something is or was
BY_PROPERTY = {  # as in figure 2: identities are not asked for in single frames, and not in the level high
    "Single frame": ("single_frame_location", "single_frame_category", "", ""),
    "Low complexity": ("low_location", "low_category", "low_identity", "low"),
    "Medium complexity": ("medium_location", "medium_category", "medium_identity", "medium"),
    "High complexity": ("high_location", "high_category", "", "high"),
}


def listed(name: str) -> PaperCondition:
    """The trials of a list."""
    return PaperCondition(name, "iwisdm", TRIALS, task=(name,), split=(SPLIT,))


ALL = tuple(map(listed, LEVELS))
DELAYS = PaperCondition("delays", "iwisdm-delays")


def _of(records: Sequence[Record], names: Sequence[str]) -> list[Record]:
    return [r for r in records if name_of(r).task in names]


def _right(records: Sequence[Record], name: str) -> float | None:
    """The share of right answers in a list."""
    answers = answers_of(_of(records, (name,)))
    return sum(one.right for one in answers) / len(answers) if answers else None


def _chance(records: Sequence[Record], name: str) -> float | None:
    answers = answers_of(_of(records, (name,)))
    return statistics.fmean(1 / len(one.asked.choices) for one in answers) if answers else None


def _sliced(records: Sequence[Record], names: Sequence[str], breakdown: str, value: str) -> float | None:
    found = sliced(answers_of(_of(records, names)), breakdown).get(value)
    return None if found is None else found.accuracy


def _unprinted(columns: int, models: Sequence[str] = OPEN) -> dict[str, list[list[Printed]]]:
    return {model: [[NOT_PRINTED] * columns] for model in models}


def _figure_2a() -> PaperTable:
    accuracy, chance = (
        PaperRow(tuple(PaperCell((one,), functools.partial(count, name=one.key)) for one in ALL)) for count in (_right, _chance)
    )
    blocks = (PaperBlock("Accuracy", (accuracy,), _unprinted(len(LEVELS), (*MODELS, "Humans"))), PaperBlock("Chance level", (chance,)))
    note = "people: 0.78 to 0.98 across levels, as the text says. The kind of prompt is an option of the policy: chat:MODEL@…?prompt=…"
    return PaperTable("Figure 2a", "Accuracy by level", tuple(LEVELS), blocks, "bars", digits=2, note=note)


def _figure_2b() -> PaperTable:
    blocks = []
    for title, lists in BY_PROPERTY.items():
        cells = [PaperCell((listed(one),), functools.partial(_right, name=one)) if one else None for one in lists]
        shown: list[Printed] = [NOT_PRINTED if one else None for one in lists]
        blocks.append(PaperBlock(title, (PaperRow(tuple(cells)),), {model: [shown] for model in MODELS}))
    return PaperTable("Figure 2b-e", "Accuracy by property", PROPERTIES, tuple(blocks), "bars", digits=2)


def _seconds(records: Sequence[Record], level: str, right: bool) -> list[float]:
    return response_times(records).get((level, right), [])


def _median_seconds(records: Sequence[Record], level: str, right: bool) -> float | None:
    found = _seconds(records, level, right)
    return statistics.median(found) if found else None


def _figure_10() -> PaperTable:
    blocks = []
    for title, right in (("Answered rightly", True), ("Answered wrongly", False)):
        cells = [
            PaperCell(
                (one,),
                functools.partial(_median_seconds, level=one.key, right=right),
                values=functools.partial(_seconds, level=one.key, right=right),
            )
            for one in ALL
        ]
        blocks.append(PaperBlock(title, (PaperRow(tuple(cells)),), _unprinted(len(LEVELS), ("Humans",)), people_only=True))
    study = "etude study --task low --task medium --task high --trials 100 --person 1 --person 2 --out RUN"
    note = f"medians, in seconds; the figure has whole distributions, as boxes. People are asked by {study}"
    return PaperTable("Figure 10", "Response times of people", tuple(LEVELS), tuple(blocks), "boxes", digits=1, note=note)


def _figure_11() -> PaperTable:
    delays = tuple(map(str, SWEPT))
    blocks = []
    for title, prop in (("Location", "location"), ("Category", "category")):
        names = (f"match_to_sample_{prop}",)
        cells = [PaperCell((DELAYS,), functools.partial(_sliced, names=names, breakdown="delays", value=delay)) for delay in delays]
        blocks.append(PaperBlock(title, (PaperRow(tuple(cells)),), _unprinted(len(delays), ("GPT-4V", *OPEN))))
    note = "the same trials with more and more empty frames; how many the paper plays is not printed"
    return PaperTable("Figure 11", "Accuracy by delay frames", delays, tuple(blocks), "lines", digits=2, note=note)


def _counted(
    number: str, title: str, values: Sequence[str], parts: Mapping[str, tuple[tuple[PaperCondition, ...], str]], missing: str = ""
) -> PaperTable:
    """Accuracy by a number of something: a panel for each part, which has its lists and its breakdown."""
    blocks = []
    for name, (lists, breakdown) in parts.items():
        names = tuple(one.key for one in lists)
        cells = [PaperCell(lists, functools.partial(_sliced, names=names, breakdown=breakdown, value=value)) for value in values]
        blocks.append(PaperBlock(name, (PaperRow(tuple(cells)),), _unprinted(len(values))))
    return PaperTable(number, title, tuple(values), tuple(blocks), "lines", digits=2, missing=missing)


def _figure_14() -> PaperTable:
    kinds = {"boolean": TRUTH, "location": "location", "category": "category"}
    cells = tuple(
        PaperCell((listed("high"),), functools.partial(_sliced, names=("high",), breakdown="answer type", value=kind))
        for kind in kinds.values()
    )
    return PaperTable(
        "Figure 14",
        "Accuracy by kind of answer",
        tuple(kinds),
        (PaperBlock("High complexity", (PaperRow(cells),), _unprinted(len(kinds))),),
        "bars",
        digits=2,
    )


def _study_1() -> PaperTable:
    fifths = tuple(str(k + 1) for k in range(FIFTHS))
    blocks = []
    for one in ALL:
        cells = [PaperCell((one,), functools.partial(_sliced, names=(one.key,), breakdown="fifth of structures", value=k)) for k in fifths]
        blocks.append(PaperBlock(one.key, (PaperRow(tuple(cells)),)))
    note = "not in the paper. All forms of questions (operators and properties, whatever the objects) are dealt out into five parts"
    return PaperTable("Study 1", "Accuracy by fifth of structures", fifths, tuple(blocks), "bars", digits=2, note=note)


def _study_2() -> PaperTable:
    """What the levels are put together from: one property of what is seen now, at a place in a row, or earlier, reported or compared."""
    blocks = []
    for ability in ABILITIES:
        for does in ("report", "compare"):
            names = [f"{ability}_{prop}_{does}" if prop in ("location", "category") else "" for prop in PROPERTIES]
            blocks.append(_by_list(f"{ability.replace('_', ' ').capitalize()}: {does}", names))
    blocks.append(_by_list("Match to sample", [f"match_to_sample_{prop}" if prop != "all" else "match_to_sample" for prop in PROPERTIES]))
    note = "not in the paper. Lists of which those of figure 2 are put together; one question each"
    return PaperTable("Study 2", "Accuracy by what is put together", PROPERTIES, tuple(blocks), "bars", digits=2, note=note)


def _by_list(title: str, names: Sequence[str]) -> PaperBlock:
    cells = [PaperCell((listed(name),), functools.partial(_right, name=name)) if name else None for name in names]
    return PaperBlock(title, (PaperRow(tuple(cells)),))


def tables() -> tuple[PaperTable, ...]:
    """All figures and the table, in the order of the paper."""
    picture, example = "an illustration", "etude show iwisdm/{}@val#0 --out trial.html"
    operators = {"a) Equal and not equal": "IsSame and NotSame", "b) And": "And", "c) Or": "Or", "d) Switch": "Switch"}
    return (
        PaperTable("Figure 1", "Operators and graphs", missing=picture, command=example.format("contextual_decision")),
        _figure_2a(),
        _figure_2b(),
        PaperTable("Figure 3", "Making coffee", missing=picture),
        PaperTable("Figure 4", "Tasks combined in time", missing=picture, command=example.format("interleave")),
        PaperTable("Figure 5", "How a graph is made", missing=picture),
        *(
            PaperTable(f"Figure {k}", f"A trial of the level {level}", missing=picture, command=example.format(level))
            for k, level in zip((6, 7, 8), LEVELS, strict=True)
        ),
        PaperTable("Figure 9", "A trial with distractors", missing=picture, command=example.format("temporal_attention")),
        _figure_10(),
        _figure_11(),
        _counted(
            "Figure 12",
            "Accuracy by number of operators",
            tuple(map(str, range(7))),
            {title: (ALL, f"number of {kind}") for title, kind in operators.items()},
        ),
        _counted(
            "Figure 13",
            "Accuracy by number of stimuli",
            tuple(map(str, range(2, 10))),
            {f"{letter}) {one.key}": ((one,), "stimuli") for letter, one in zip("abc", ALL, strict=True)},
            "every trial of the level low has four stimuli here, so that panel a is one number",
        ),
        _figure_14(),
        PaperTable(
            "Table 1",
            "Settings of the levels",
            missing="settings of the generator, which ask nothing of a policy; ours are told with the lists",
            command="etude list iwisdm",
        ),
        _study_1(),
        _study_2(),
    )
