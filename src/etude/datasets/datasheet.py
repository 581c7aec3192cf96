"""A description as a datasheet in Markdown, with the sections that Gebru et al. ("Datasheets for Datasets", 2021) ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from etude.datasets.describing import ActionSpread, Description, GroupFacts, Spread
from etude.evaluation.citation import LICENCE
from etude.evaluation.tables import plural
from etude.names import PROTOCOL

MOST = 40  # names that are listed


def datasheet(found: Description, figures: Mapping[str, str] | None = None) -> str:
    """The page. ``figures``: addresses of pictures that stand beside it, by what they show."""
    title = found.about.get("title") or found.what
    parts = [f"# {title}: datasheet", _motivation(found), _composition(found), _language(found), _actions(found.actions)]
    parts += [_drawn(figures or {}), _coverage(found), _collection(found), _labels(found), _rest(found)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '∣') for cell in line)} |" for line in lines)


def _number(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _spread(one: Spread | None) -> tuple[str, str, str]:
    """Median, mean and range."""
    return ("–", "–", "–") if one is None else (_number(one.median), _number(one.mean), f"{_number(one.least)}–{_number(one.most)}")


def _mean(one: Spread | None) -> str:
    return "–" if one is None else _number(one.mean)


def _of_decisions(found: Description) -> bool:
    """Trials have a length whoever answers, and no solvers."""
    return all(group.length is not None and group.solvers is None for group in found.tasks)


def _motivation(found: Description) -> str:
    """What it is for (ClevrSkills H.1)."""
    about = found.about
    if _of_decisions(found):
        purpose = (
            "to find out who understands instructions about what is shown over time, and how much can be put together of what was learned"
        )
    else:
        purpose = (
            "to find out whether policies that have learned some tasks can do others that are put together from the same skills, and to"
            " train such policies"
        )
    levels = ", ".join(dict.fromkeys(one.level for one in found.levels if one.level))
    told = f" Its levels ({levels}) tell how much is put together." if "," in levels else ""
    paper = f" It was made after {about['paper']}, whose conditions it has." if about.get("paper") else ""
    return f"## Motivation\n\nIt was made {purpose}.{told}{paper}"


def _drawn(figures: Mapping[str, str]) -> str:
    return "\n\n".join(["## Figures", *(f"![{words}]({address})" for words, address in figures.items())]) if figures else ""


def _composition(found: Description) -> str:
    decisions = _of_decisions(found)
    columns = ["", "level", "episodes", f"{'frames' if decisions else 'actions'}: median", "mean", "range"]
    columns += [] if decisions else ["seconds", "solvers", "sub-tasks"]

    def row(one: GroupFacts) -> list[str]:
        return [one.name, one.level, str(one.episodes), *_spread(one.length), *map(_mean, (one.seconds, one.solvers, one.subtasks))]

    left = f" {found.unsolved} more were not solved by the oracle, and are not counted." if found.unsolved else ""
    instance = "a trial: frames that are shown, and questions about them" if decisions else "an episode: a scene, a goal, an instruction"
    lead = f"{plural(found.episodes, 'episode')} of {plural(len(found.tasks), 'task')}.{left} An instance is {instance}" + (
        ", what was seen and what was done." if found.kind == "dataset" else "; more can be drawn of every task, without end."
    )
    if not decisions:
        lead += " *Solvers* are the stretches in which one step follows another, as the oracle calls them; *sub-tasks* are longer ones."
    levels, tasks = (_table(columns, [row(one)[: len(columns)] for one in groups]) for groups in (found.levels, found.tasks))
    return f"## Composition\n\n{lead}\n\n{levels}\n\n{tasks}"


def _language(found: Description) -> str:
    counted = f", and tokens of `{found.tokenizer}`" if found.tokenizer else ""
    columns = ["", "different", "words: median", "mean", "range"] + (["tokens: median", "mean", "range"] if found.tokenizer else [])
    rows = [
        [one.name, f"{one.instructions} of {one.episodes}", *_spread(one.words), *(_spread(one.tokens) if found.tokenizer else ())]
        for one in found.tasks
    ]
    return f"## Instructions\n\nLengths in words{counted}, with words in the place of pictures.\n\n{_table(columns, rows)}"


def _actions(spreads: Sequence[ActionSpread]) -> str:
    if not spreads:
        return ""
    parts = [
        "## Actions\n\nFor each number of an action its range, its standard deviation, and its coverage: of twenty equal parts of the"
        " range, the share in which some episode is at the same tenth of its course, on average over the tenths."
    ]
    for one in spreads:
        if one.task and any(not other.task and other.control == one.control for other in spreads):
            continue  # in the table of all tasks
        rows = [
            [str(k), f"{low:.3g} to {high:.3g}", f"{deviation:.3g}", f"{100 * coverage:.0f} %"]
            for k, (low, high, deviation, coverage) in enumerate(zip(one.low, one.high, one.deviation, one.coverage, strict=True))
        ]
        lead = f"`{one.control}`, {f'{one.task}, ' if one.task else 'all tasks, '}{plural(one.episodes, 'episode')}:"
        parts.append(f"{lead}\n\n" + _table(("number", "range", "deviation", "coverage"), rows))
        tasks = [other for other in spreads if other.task and other.control == one.control and not one.task]
        if tasks:
            rows = [[other.task, str(other.episodes), *(f"{100 * v:.0f} %" for v in other.coverage)] for other in tasks]
            numbers = [f"number {k}" for k in range(len(one.low))]
            parts.append(
                f"`{one.control}`, coverage task by task, each of the task's own range:\n\n" + _table(("task", "episodes", *numbers), rows)
            )
    return "\n\n".join(parts)


def _coverage(found: Description) -> str:
    parts = ["## What is covered"]
    titles = ("Things", "Looks", "Operators") if _of_decisions(found) else ("Shapes", "Textures", "Verbs")
    for title, counts in zip(titles, (found.shapes, found.textures, found.verbs), strict=True):
        if counts:
            parts.append(f"**{title}** ({len(counts)}): {_listed(counts)}.")
    return "\n\n".join(parts)


def _listed(counts: Mapping[str, int]) -> str:
    shown = ", ".join(f"{name} × {count}" for name, count in list(counts.items())[:MOST])
    return shown + (f", and {len(counts) - MOST} more" if len(counts) > MOST else "")


def _collection(found: Description) -> str:
    about = found.about
    if found.kind == "suite":
        paper = f" It follows {about['paper']}." if about.get("paper") else ""
        splits = "; ".join(f"`{split}` for {purpose}" for split, purpose in about.get("splits", {}).items())
        return (
            f"## Where it comes from\n\nEvery episode is drawn from its name, by the program itself, and is the same on every machine;"
            f" protocol {PROTOCOL}.{paper} Splits: {splits}. Described were {about['described']}."
        )
    made = f"\n\n```\n{about['command']}\n```\n\n" if about.get("command") else " "
    policy = f"by the policy `{about['policy']}` " if about.get("policy") else ""
    return (
        f"## How it was collected\n\nPlayed in simulation {policy}and carried out again before it was kept; failures were left out."
        f"{made}Protocol {about.get('protocol', 'unknown')}, renderer {about.get('renderer', 'unknown')}."
    )


def _labels(found: Description) -> str:
    """What was done to it, and how it is labelled (ClevrSkills H.4)."""
    if _of_decisions(found):
        labels = "Labels are right answers: they are computed from the graph of the task and what is shown, by the program itself."
        return f"## Preprocessing, cleaning and labelling\n\nNothing is preprocessed or left out. {labels}"
    cleaning = (
        "Episodes that the oracle does not solve are counted and left out; nothing else is." if found.kind == "suite" else _cleaned(found)
    )
    labels = (
        "Labels are made, not annotated: the actions themselves, and beside each the sub-task and the step in words, as the one who acts"
        " calls them; what was reached for a step or two only, or has yet to come to rest, is not said anew."
    )
    return f"## Preprocessing, cleaning and labelling\n\n{cleaning} {labels}"


def _cleaned(found: Description) -> str:
    about = found.about
    unsolved = len(about.get("unsolved") or ())
    parts = [
        f"Failed episodes were left out, but for {unsolved} that are flagged." if unsolved else "Failed episodes were left out.",
        "Frames are as they were rendered, actions as they were carried out: neither was filtered, scaled or resampled.",
    ]
    head, _, rest = str(about.get("policy") or "").partition(":")
    if head == "mishap":
        share, came = float(rest.partition(":")[0]), int(about.get("recoveries") or 0)
        parts.append(
            f"Recovery: in {100 * share:.3g} % of the episodes, drawn from their names, the oracle was to fail a grasp, or to drop what it"
            f" carried, before it mended that; {came} of {plural(found.episodes, 'episode')} ({100 * came / found.episodes:.3g} %) begin"
            " after such a mistake, which is not recorded itself."
        )
    elif head == "takeover":
        came = int(about.get("recoveries") or 0)
        parts.append(
            f"Takeover: the oracle took over from another policy; {came} of {plural(found.episodes, 'episode')} begin where it did."
        )
    return " ".join(parts)


def _rest(found: Description) -> str:
    use = "Training and judging policies that follow instructions." + (
        " Splits for testing are refused where datasets are made, unless asked for." if found.kind == "dataset" else ""
    )
    return (
        f"## Uses\n\n{use} Nothing in it is about people; scenes, objects and textures are made by the program itself.\n\n"
        f"## Distribution and upkeep\n\nLicence: {LICENCE}. It can be made again from its names with the same version, byte by byte; what"
        " changes between versions is in the list of changes."
    )
