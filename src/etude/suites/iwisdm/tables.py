"""iWISDM's own tables: what was answered where something else was right, how long it took, and what delays cost (figures 10 to 14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from etude.arithmetic import total
from etude.evaluation.decide import NOTHING, said_and_right
from etude.evaluation.record import Record
from etude.evaluation.tables import name_of
from etude.names import EpisodeName
from etude.suites.iwisdm.benchmarks import LISTS
from etude.suites.suite import Rows, SuiteTable

QUANTILES = {"5 %": 5, "25 %": 25, "median": 50, "75 %": 75, "95 %": 95}
Modes = Mapping[str, Sequence[Record]]


def confusion_rows(modes: Modes) -> Rows:
    """For each level and right answer, how often each answer was given."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for record in _decided(modes):
        for said, right in said_and_right(record):
            counts.setdefault((record.level, right), Counter())[said or NOTHING] += 1
    rights = dict.fromkeys(right for _, right in counts)
    columns = [*rights, *dict.fromkeys(said for found in counts.values() for said in found if said not in rights)]
    return [
        {"level": level, "right answer": right, **{said: found[said] for said in columns}, "right": found[right] / found.total()}
        for (level, right), found in sorted(counts.items(), key=lambda item: _rank(item[0][0]))
    ]


def response_times(records: Sequence[Record]) -> dict[tuple[str, bool], list[float]]:
    """Seconds that trials took, by level, and those answered rightly and wrongly apart."""
    times: dict[tuple[str, bool], list[float]] = {}
    for record in records:
        if "seconds" in record.timings:
            times.setdefault((record.level, record.success), []).append(record.timings["seconds"])
    return times


def time_rows(modes: Modes) -> Rows:
    """How long trials took, by level and correctness: seconds at some quantiles."""
    rows = Rows()
    for (level, right), found in sorted(response_times(_decided(modes)).items(), key=lambda item: (_rank(item[0][0]), not item[0][1])):
        at = {name: f"{_quantile(found, share):.2f}" for name, share in QUANTILES.items()}
        rows.append({"level": level, "answered": "rightly" if right else "wrongly", "trials": len(found), **at})
    return rows


def delay_rows(modes: Modes) -> Rows:
    """Trials with a delay that their name asks for: how often they were right, and what the delay cost the same trials."""
    right: dict[tuple[str, int], dict[int, bool]] = {}
    for record in _decided(modes):
        name = name_of(record)
        if (delay := _delay(name)) is not None:
            right.setdefault((name.task, delay), {})[name.seed] = record.success
    found = Rows()
    for (task, delay), trials in sorted(right.items()):
        least = min(d for t, d in right if t == task)
        pairs = [(trials[seed], before) for seed, before in right[task, least].items() if seed in trials]
        change = total(one - before for one, before in pairs) / len(pairs) if pairs and delay != least else None
        share = total(trials.values()) / len(trials)
        found.append({"list": task, "delay": delay, "trials": len(trials), "right": share, "against the shortest": change})
    return found


def _decided(modes: Modes) -> list[Record]:
    return [record for records in modes.values() for record in records if record.outcome != "error"]


def _delay(name: EpisodeName) -> int | None:
    text = dict(name.options).get("delay")
    return None if text is None else int(text)


def _rank(level: str) -> int:
    """Where a level stands among the lists."""
    return next((k for k, name in enumerate(LISTS) if name.startswith(level)), len(LISTS))


def _quantile(values: Sequence[float], percent: int) -> float:
    """Between the two nearest, in proportion."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below = int(place)
    return ordered[below] + (place - below) * (ordered[min(below + 1, len(ordered) - 1)] - ordered[below])


TABLES = (
    SuiteTable("confusions", "Confusions", "How often each answer was given, where what was right stands at the left.", confusion_rows),
    SuiteTable(
        "response_times",
        "Response times",
        "Seconds that trials took, from their first frame to the last answer, at some quantiles; those answered rightly and wrongly apart.",
        time_rows,
    ),
    SuiteTable(
        "delays",
        "Delays",
        "The same trials with more and more empty frames (?delay=k). The last column is the difference on trials that were played with the "
        "shortest delay too.",
        delay_rows,
    ),
)
