"""What runs showed, in sentences: for a page about one policy that is read like the results section of a paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from etude.evaluation.pairs import FEWEST_PAIRS, LEVEL, Comparison, PerturbationCost, compare
from etude.evaluation.record import Record
from etude.evaluation.subgoals import FailureGroup, failure_groups
from etude.evaluation.tables import Sum, Tally, by, name_of, percent, perturbation_of, plural, points, tally
from etude.evaluation.understanding import Finding
from etude.report.audits import BestCheat
from etude.report.contestants import Contestant
from etude.report.markup import listed
from etude.report.setting import contract_words, machine_words, played_words, time_words
from etude.report.understanding import knows_the_state

NAMED = 4
"""Tasks, perturbations and others that a sentence names."""

See = Callable[[str], str]
"""The key of a table → " (table 3)", or nothing where there is no such table."""


@dataclass(frozen=True)
class PolicyEvidence:
    """What is known of one policy, the ``subject``: those ``beside`` it, its perturbations over all tasks, what it has ``understood``,
    and the best cheats by suite, task and split."""

    subject: Contestant
    beside: tuple[Contestant, ...]
    costs: tuple[PerturbationCost, ...]
    understood: tuple[Finding, ...]
    cheats: Mapping[tuple[str, str, str], BestCheat]

    @cached_property
    def compared(self) -> tuple[Comparison, ...]:
        """The policy against each of the others."""
        a = self.subject
        return tuple(compare(a.label, a.records, b.label, b.records) for b in self.beside)

    @cached_property
    def failed(self) -> tuple[FailureGroup, ...]:
        """Its failures on the episodes on which success is stated."""
        return tuple(failure_groups(self.subject.plain))

    def cheat(self, records: Sequence[Record], suite: str, task: str) -> BestCheat | None:
        """The best cheat of a task on the splits that were played."""
        splits = {name_of(r).split for r in records if (name_of(r).suite, name_of(r).task) == (suite, task)}
        found = [self.cheats[key] for split in sorted(splits) if (key := (suite, task, split)) in self.cheats and self.cheats[key].name]
        return max(found, key=lambda one: one.rate, default=None)


def suites_of(arm: Contestant) -> list[str]:
    """The suites of its episodes."""
    return list(dict.fromkeys(name_of(r).suite for r in arm.records))


def said(t: Tally) -> str:
    """A rate with its interval: "83 % (95 % interval 76 to 89 %)"."""
    low, high = t.interval
    return f"{percent(t.rate)} (95 % interval {100 * low:.0f} to {100 * high:.0f} %)"


def _short(one: Sum) -> str:
    low, high = one.tally.interval
    return f"{one.label} ({percent(one.tally.rate)}, {100 * low:.0f} to {100 * high:.0f} %)"


def _gap(one: PerturbationCost) -> str:
    d = one.difference
    return f"{one.perturbation} ({points(d.difference)} points, {points(d.interval[0])} to {points(d.interval[1])})"


def _some(words: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    rest = len(words) - NAMED
    return listed([*words[:NAMED], f"{rest} more"] if rest > 1 else list(words))


def _tasks(arm: Contestant) -> list[Sum]:
    return by(arm.plain, *(("suite", "task") if len(suites_of(arm)) > 1 else ("task",)))


# ------------------------------------------------------------------------------------------------ abstract


def abstract(e: PolicyEvidence) -> list[str]:
    """The whole of it in a few sentences."""
    arm, t = e.subject, tally(e.subject.plain)
    if not t.episodes:
        return [f"No episode of {arm.label} was played to its end: {plural(t.errors, 'error')}."]
    tasks = _tasks(arm)
    kind = "perturbed episode" if arm.perturbed_only else "episode"
    first = f"{arm.label} succeeds in {said(t)} of {plural(t.episodes, kind)} of {plural(len(tasks), 'task')} of {listed(suites_of(arm))}."
    found = [first, _extremes(arm), _standing(e), *_robustness(e)]
    if e.failed:
        most, lost = e.failed[0], sum(group.episodes for group in e.failed)
        found.append(f"Of {plural(lost, 'failure')}, {_most(most, lost)}.")
    return [text for text in [*found, _errors(arm, t)] if text]


def _extremes(arm: Contestant) -> str:
    """Where success is highest and lowest: among suites, levels or splits."""
    for key, words in (("suite", ""), ("level", "level "), ("split", "split ")):
        sums = [s for s in by(arm.plain, key) if s.tally.episodes and s.label]
        if len(sums) > 1:
            worst, best = min(sums, key=lambda s: s.tally.rate), max(sums, key=lambda s: s.tally.rate)
            if worst.tally.rate == best.tally.rate:
                return f"Success is the same in every {key}."
            return f"Success is highest in {words}{_short(best)} and lowest in {words}{_short(worst)}."
    return ""


def _standing(e: PolicyEvidence) -> str:
    """How far it is from each of the others."""
    gaps = []
    for c in e.compared:
        d = c.overall.difference
        if d.pairs:
            low, high = (points(v) for v in d.interval)
            unsure = "" if d.p < LEVEL else ", not significant"
            gaps.append(f"{points(d.difference)} points against {c.name_b} ({low} to {high}{unsure})")
    return f"On the same episodes, the difference is {_some(gaps)}." if gaps else ""


def _robustness(e: PolicyEvidence) -> list[str]:
    """What perturbations did that they should not have, or that none did."""
    told = [c for c in e.costs if c.difference.pairs]
    if not told:
        return []
    suffers, survives = ([c for c in told if c.flagged and c.plausible is kind] for kind in (True, False))
    found = []
    if suffers:
        found.append(f"It loses success to what should not matter: {_some([_gap(c) for c in suffers])}.")
    elif any(c.plausible for c in told):
        found.append(f"No significant cost of {plural(sum(bool(c.plausible) for c in told), 'perturbation')} that should not matter.")
    if survives:
        kept = [f"{c.perturbation} ({percent(c.difference.rate_a)})" for c in survives]
        found.append(f"It still succeeds where what the task needs is taken away: {_some(kept)}.")
    return found


def _most(group: FailureGroup, lost: int) -> str:
    share = f"{group.episodes} ({percent(group.episodes / lost)})"
    if group.how == "wrong answer":
        return f"{share} are wrong answers in {group.task}"
    return f"the most frequent kind, {share}, is in {group.task}, where this was {group.how}: “{group.words}”"


def _errors(arm: Contestant, t: Tally) -> str:
    errors = sum(r.outcome == "error" for r in arm.records)
    return f"{plural(errors, 'episode')} ended in an error, and {'is' if errors == 1 else 'are'} not counted." if errors else ""


# ------------------------------------------------------------------------------------------------ set-up


def setup(e: PolicyEvidence) -> list[str]:
    """What was played, by whom, under which standards."""
    arm, info = e.subject, e.subject.run.info
    parts = [played_words(arm, suite) for suite in suites_of(arm)]
    perturbed = [r for r in arm.records if perturbation_of(r)]
    episodes = [f"{arm.label} played {listed(parts)}."]
    if perturbed and not arm.perturbed_only:
        kinds = list(dict.fromkeys(map(perturbation_of, perturbed)))
        episodes.append(
            f"{plural(len(perturbed), 'episode')} of these {'is' if len(perturbed) == 1 else 'are'} perturbed, by {listed(kinds)}; success"
            " is stated on the others, and perturbed ones are set against the same episodes without."
        )
    if arm.mode != "vanilla":
        planner = f", with the planner {arm.run.plan.planner}" if arm.run.plan.planner else ""
        episodes.append(f"It was played in the mode {arm.mode}{planner}.")
    if e.beside:
        episodes.append(f"Beside it {'stands' if len(e.beside) == 1 else 'stand'} {listed([one.label for one in e.beside])}.")
    machine: Any = info.get("machine") or {}
    versions = {"etude": machine.get("etude"), "Python": machine.get("python"), **(machine.get("packages") or {})}
    standards = [
        f"Episodes follow the protocol {info.get('protocol')}; an episode’s name fixes its scene, goal and instruction.",
        f"Pictures are drawn by {info.get('renderer')}." if info.get("renderer") else "",
        f"Machine: {machine_words(machine)}." if machine_words(machine) else "",
        f"Versions: {', '.join(f'{name} {version}' for name, version in versions.items() if version)}.",
        time_words(arm),
    ]
    statistics = (
        "Rates carry 95 % Wilson intervals; where several tasks are pooled, whole tasks are resampled. Differences are paired by episode,"
        " with Newcombe’s interval and an exact McNemar p, after Holm where many are looked at together. Errors are the machine’s and are"
        " counted separately."
    )
    contract = contract_words((info.get("contract") or {}).get("policy") or {})
    converted = [text for texts in (info.get("converted") or {}).values() for text in texts]
    policy = [f"The policy {contract}." if contract else "", f"Converted for it: {'; '.join(converted)}." if converted else ""]
    return [" ".join(filter(None, texts)) for texts in (episodes, policy, standards, [statistics])]


# ------------------------------------------------------------------------------------------------ results


def results(e: PolicyEvidence, see: See) -> list[str]:
    """Success by level and task."""
    arm, t = e.subject, tally(e.subject.plain)
    if not t.episodes:
        return []
    tasks = [s for s in _tasks(arm) if s.tally.episodes]
    whole = f"Success is {said(t)}: {t.successes:,} of {plural(t.episodes, 'episode')}{see('levels')}. {_extremes(arm)}".strip()
    always, never = ([s.label for s in tasks if s.tally.rate == rate] for rate in (1.0, 0.0))
    counts = []
    if len(tasks) > 1:
        if always:
            counts.append(f"{len(always)} of {plural(len(tasks), 'task')} succeed in every episode")
        if never:
            counts.append(f"{len(never)} in none ({_some(never)})" if always else f"{len(never)} of {len(tasks)} tasks in none")
        between = sorted((s for s in tasks if 0 < s.tally.rate < 1), key=lambda s: s.tally.rate)
        text = "; ".join(counts) + "." if counts else ""
        if between:
            text += f" {'In between, it' if counts else 'It'} is weakest at {_some([_short(s) for s in between[:NAMED]])}."
        return [whole, f"{text.strip()} {_weakest_end(see)}".strip(), *_above_cheats(e), *_understood(e)]
    return [whole, *_above_cheats(e), *_understood(e)]


def _weakest_end(see: See) -> str:
    return f"All tasks are in{see('tasks').replace(' (', ' ').rstrip(')')}." if see("tasks") else ""


def _above_cheats(e: PolicyEvidence) -> list[str]:
    """In which tasks the policy is no better than the best cheat."""
    audited, open_ = 0, []
    for s in by(e.subject.plain, "suite", "task"):
        suite, task = (value for _, value in s.keys)
        cheat = e.cheat(e.subject.plain, suite, task)
        if cheat is None or not s.tally.episodes:
            continue
        audited += 1
        if s.tally.interval[0] <= cheat.rate:
            open_.append(task)
    if not audited:
        return []
    if not open_:
        return [f"In every one of {plural(audited, 'audited task')}, all of the interval lies above what the best cheat reaches."]
    return [
        f"In {len(open_)} of {plural(audited, 'audited task')} the interval does not lie above what the best cheat reaches, so that these"
        f" episodes do not show the ability: {_some(open_)}."
    ]


def _understood(e: PolicyEvidence) -> list[str]:
    told = [
        f.words for f in e.understood if f.understood in ("yes", "in part", "no") and f.against not in {c.perturbation for c in e.costs}
    ]
    return [" ".join(told[:NAMED])] if told else []


def beside(e: PolicyEvidence, see: See) -> list[str]:
    """The verdict against each of the others, on the same episodes."""
    texts = [f"{c.verdict}{' Left out: ' + listed(c.left_out) + '.' if c.left_out else ''}" for c in e.compared]
    return [f"Only episodes that both have played are compared{see('beside')}.", *texts] if texts else []


def perturbations(e: PolicyEvidence, see: See) -> list[str]:
    """What each perturbation did, in a sentence each."""
    if not e.costs:
        return []
    lead = (
        f"Each perturbed episode is set against the same one without{see('costs')}. What should not matter has to leave success as it is;"
        " what the task cannot be solved without has to destroy it."
    )
    return [lead, *(f"{c.perturbation}: {c.words[0].lower()}{c.words[1:]}" for c in e.costs)]


# ------------------------------------------------------------------------------------------------ failures


def failures(e: PolicyEvidence, see: See) -> list[str]:
    """All failures, by where and how they happened."""
    arm = e.subject
    lost = sum(group.episodes for group in e.failed)
    perturbed = [] if arm.perturbed_only else [r for r in arm.records if perturbation_of(r) and r.outcome == "failure"]
    errors = sum(r.outcome == "error" for r in arm.records)
    found = []
    if lost:
        ways: dict[str, int] = {}
        for group in e.failed:
            ways[group.how] = ways.get(group.how, 0) + group.episodes
        told = listed([f"{count} {how}" for how, count in sorted(ways.items(), key=lambda item: -item[1])])
        found.append(
            f"{plural(lost, 'episode')} failed. By the part of the goal that failed first: {told}{see('failed')}; "
            f"{_most(e.failed[0], lost)}."
        )
        found += _progress(arm)
    else:
        found.append("No unperturbed episode failed." if not arm.perturbed_only else "No episode failed.")
    if perturbed:
        kinds: dict[str, int] = {}
        for r in perturbed:
            kinds[perturbation_of(r)] = kinds.get(perturbation_of(r), 0) + 1
        found.append(
            f"{plural(len(perturbed), 'perturbed episode')} failed besides: {listed([f'{n} under {name}' for name, n in kinds.items()])}."
        )
    if errors:
        found.append(f"{plural(errors, 'episode')} could not be played to the end{see('errors')}.")
    return found


def _progress(arm: Contestant) -> list[str]:
    failed = [r for r in arm.plain if r.outcome == "failure" and r.subgoals]
    if not failed:
        return []
    mean = sum(r.progress for r in failed) / len(failed)
    return [f"Failed episodes ended at {percent(mean)} of the way on average, by the goal’s own measure of progress."]


# ------------------------------------------------------------------------------------------------ limits


def limits(e: PolicyEvidence) -> list[str]:
    """What the numbers do not show, as far as the runs themselves tell."""
    arm = e.subject
    t, tasks = tally(arm.plain), [s for s in _tasks(arm) if s.tally.episodes]
    found = [_coverage(arm, suite) for suite in suites_of(arm)]
    found += [_trained_on(arm, suite) for suite in suites_of(arm)]
    if tasks:
        fewest = min(tasks, key=lambda s: s.tally.episodes)
        low, high = fewest.tally.interval
        found.append(
            f"A task was played {fewest.tally.episodes} times at least: with so many episodes, a rate of {percent(fewest.tally.rate)} is"
            f" known to lie between {100 * low:.0f} and {100 * high:.0f} %. Do not rank policies by single tasks."
        )
    if len(tasks) > 1:
        found.append(f"The pooled interval is about {'these' if len(tasks) > 3 else 'so few'} tasks as a sample of their kind" + (
            "." if len(tasks) > 3 else ", and still too narrow with three tasks or fewer."
        ))  # fmt: skip
    found.append(_not_varied(e))
    if not e.beside:
        found.append("No other policy stands beside it: whether these rates are high or low is not told here.")
    if knows_the_state(arm.run):
        found.append("The policy is given the true state: this is a yardstick, not a result of seeing and reading.")
    if e.subject.run.missing:
        found.append(f"{plural(len(arm.run.missing), 'planned episode')} of this run are not played yet.")
    if t.errors:
        found.append(f"{plural(t.errors, 'unperturbed episode')} ended in errors; were all of them failures, success would be"
                     f" {percent(t.successes / max(1, t.episodes + t.errors))}.")  # fmt: skip
    if arm.run.mixed:
        found.append(f"Not one policy: {arm.run.mixed}.")
    found.append("All of it is simulated; nothing is said about a real robot, and numbers are not those of an original benchmark.")
    return [text for text in found if text]


def _coverage(arm: Contestant, suite: str) -> str:
    played = {name_of(r).task for r in arm.records if name_of(r).suite == suite}
    every = len(arm.run.tasks(suite))
    return f"{len(played)} of the {every} tasks of {suite} were played." if len(played) < every else ""


def _trained_on(arm: Contestant, suite: str) -> str:
    splits = dict.fromkeys(name_of(r).split for r in arm.records if name_of(r).suite == suite)
    known = [split for split in splits if arm.run.purpose(suite, split) == "training"]
    return f"{suite}: {listed(known)} is for training, so that a policy may have seen these very episodes." if known else ""


def _not_varied(e: PolicyEvidence) -> str:
    if not e.costs:
        return "No perturbation was played: nothing is said about what the policy depends on."
    thin = [c.perturbation for c in e.costs if c.difference.pairs < FEWEST_PAIRS]
    return f"Fewer than {FEWEST_PAIRS} pairs were played under {listed(thin)}: too few to say much." if thin else ""


def again(e: PolicyEvidence) -> list[str]:
    """How to make these numbers."""
    plan = e.subject.run.plan
    return [f"The plan has the digest {plan.digest}; these commands play the same episodes anywhere, and write this page."]
