"""A page about one policy that reads like the results section of a paper: sentences with intervals, numbered tables, the limits of what
was shown, and the commands. The first run is the one that is told of; others stand beside it, on the same episodes."""

from __future__ import annotations

import html
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path

from etude.evaluation.pairs import perturbation_costs
from etude.evaluation.store import Run
from etude.evaluation.subgoals import is_decision
from etude.names import EtudeError
from etude.report import article_tables as tables
from etude.report import telling
from etude.report.article_tables import NumberedTable
from etude.report.audits import BestCheat, best_cheats
from etude.report.contestants import contestants
from etude.report.evaluation import command_of
from etude.report.markup import esc, listed
from etude.report.page import document
from etude.report.telling import PolicyEvidence
from etude.report.understanding import understanding


def write_article(runs: Sequence[Run], path: Path, audits: Sequence[Path] = ()) -> None:
    """Write the page; folders are made as needed. ``audits`` are folders of audits, whose best cheats stand beside the success."""
    text = article(runs, best_cheats(audits))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EtudeError(f"the article {str(path)!r} cannot be written: {error.strerror}; choose a place you may write to") from None


def article(runs: Sequence[Run], cheats: Mapping[tuple[str, str, str], BestCheat] | None = None) -> str:
    """The text of the page; the same runs give the same text."""
    evidence = _evidence(runs, cheats or {})
    found = [one for one in _tables(evidence) if one is not None]
    numbers = {one.key: k for k, one in enumerate(found, 1)}

    def see(key: str) -> str:
        return f" (table {numbers[key]})" if key in numbers else ""

    def shown(*keys: str) -> str:
        return "".join(_laid_out(numbers[one.key], one) for one in found if one.key in keys)

    suites = listed(telling.suites_of(evidence.subject))
    title = f"{evidence.subject.label} on {suites}"
    parts = [
        ("Set-up", _paragraphs(telling.setup(evidence))),
        ("Results", _paragraphs(telling.results(evidence, see)) + shown("levels", "conditions", "tasks", "decisions")),
        ("Beside others", _paragraphs(telling.beside(evidence, see)) + shown("beside")),
        ("Perturbations", _paragraphs(telling.perturbations(evidence, see)) + shown("costs")),
        ("Failures", _paragraphs(telling.failures(evidence, see)) + shown("failed", "causes", "faults", "confused", "errors")),
        ("What this does not show", _list(telling.limits(evidence))),
        ("Reproduce", _paragraphs(telling.again(evidence)) + "".join(_command(text) for text in _commands(runs, evidence))),
    ]
    sections = "".join(
        f'<section><h2><span class="number">{k}</span>{esc(heading)}</h2>{text}</section>'
        for k, (heading, text) in enumerate((part for part in parts if part[1]), 1)
    )
    head = f'<header><p class="eyebrow">etude · results</p><h1>{esc(title)}</h1></header>'
    abstract = f'<section class="abstract" aria-label="Abstract">{_paragraphs([" ".join(telling.abstract(evidence))])}</section>'
    folder = resources.files("etude.report")
    style = "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in ("evaluation.css", "article.css"))
    return document(f"etude: {title}", f"{head}<main>{abstract}{sections}</main>", style)


def _evidence(runs: Sequence[Run], cheats: Mapping[tuple[str, str, str], BestCheat]) -> PolicyEvidence:
    found = contestants(runs)
    if not found or found[0].run is not runs[0]:
        raise EtudeError(f"there is nothing to tell of {str(runs[0].folder)!r}: no episode of it has been played")
    costs = [perturbation_costs(arm.records, arm.run.plausible) for arm in found]
    understood = next((findings for arm, findings in understanding(found, costs) if arm is found[0]), [])
    return PolicyEvidence(found[0], tuple(found[1:]), tuple(c for c in costs[0] if not c.task), tuple(understood), cheats)


def _tables(evidence: PolicyEvidence) -> Iterator[NumberedTable | None]:
    """All tables in the order of the page; None where there is nothing to show."""
    yield tables.by_level(evidence)
    yield tables.by_condition(evidence)
    yield tables.by_task(evidence)
    yield tables.right_answers(evidence)
    yield tables.against_others(evidence)
    yield tables.costs(evidence)
    yield tables.failed(evidence)
    yield tables.causes(evidence)
    yield tables.planner_or_policy(evidence)
    yield tables.confused(evidence)
    yield tables.errors_by_message(evidence)


# ------------------------------------------------------------------------------------------------ layout


def _paragraphs(texts: Sequence[str]) -> str:
    return "".join(f"<p>{esc(text)}</p>" for text in texts if text)


def _list(texts: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{esc(text)}</li>' for text in texts)}</ul>" if texts else ""


def _laid_out(number: int, one: NumberedTable) -> str:
    """A table under its caption, as in print: words to the left, numbers to the right."""
    kinds = [' class="words"' if k < one.words else "" for k in range(len(one.columns))]
    head = "".join(f"<th scope=col{kind}>{title}</th>" for kind, title in zip(kinds, one.columns, strict=True))
    body = "".join(f"<tr>{''.join(f'<td{kind}>{cell}</td>' for kind, cell in zip(kinds, row, strict=True))}</tr>" for row in one.rows)
    caption = f"<caption><b>Table {number}.</b> {esc(one.caption)}</caption>"
    return f'<div class="printed" tabindex="0"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _command(text: str) -> str:
    return f'<pre tabindex="0"><code>{html.escape(text)}</code></pre>'


def _commands(runs: Sequence[Run], evidence: PolicyEvidence) -> Iterator[str]:
    """What makes the runs and this page, and shows the first failure."""
    yield from filter(None, map(command_of, runs))
    yield shlex.join(["etude", "report", *(str(run.folder) for run in runs), "--article"])
    failure = next((r for r in evidence.subject.records if r.outcome == "failure"), None)
    if failure is not None:
        seen = ["show", failure.episode, "--out", "trial.html"] if is_decision(failure) else ["view", str(runs[0].folder)]
        yield shlex.join(["etude", *seen, *([] if is_decision(failure) else ["--episode", failure.episode])])
