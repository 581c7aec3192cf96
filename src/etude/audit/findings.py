"""What an audit found, as one value: a row for each task, broken episodes, leaks, and every cheat's score behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from etude.audit.degenerate import BrokenEpisode
from etude.audit.leaks import Leak
from etude.audit.scoring import CheatScore, corrected
from etude.suites.suite import Suite

DIGITS = 4
ALONE = "nothing to choose in any episode: motion alone is tested"


@dataclass(frozen=True)
class AuditRow:
    """One task: chance, the best cheat and what it may reach, the oracle where it was played. ``reason`` is why it is as it is."""

    task: str
    split: str
    chance: float
    cheat: str
    cheat_rate: float
    interval: tuple[float, float]
    oracle: float | None
    bound: float
    ok: bool
    reason: str

    def to_data(self) -> dict[str, Any]:
        """As plain JSON data."""
        return {
            "task": self.task, "split": self.split, "chance": self.chance, "cheat": self.cheat, "cheat_rate": self.cheat_rate,
            "interval": list(self.interval), "oracle": self.oracle, "bound": self.bound, "ok": self.ok, "reason": self.reason,
        }  # fmt: skip


@dataclass(frozen=True)
class Audit:
    """All that was found in a suite."""

    suite: str
    rows: tuple[AuditRow, ...]
    scores: tuple[CheatScore, ...]
    degenerate: tuple[BrokenEpisode, ...]
    leaks: tuple[Leak, ...]

    @property
    def ok(self) -> bool:
        """Is nothing wrong?"""
        return all(row.ok for row in self.rows) and not self.degenerate and not self.leaks

    def to_data(self) -> dict[str, Any]:
        """In the form of ``etude audit --json``."""
        return {
            "suite": self.suite,
            "rows": [row.to_data() for row in self.rows],
            "degenerate": [{"episode": one.episode, "what": one.what} for one in self.degenerate],
            "leaks": [{"what": one.what, "examples": list(one.examples)} for one in self.leaks],
            "ok": self.ok,
        }


def judged(
    suite: Suite,
    chances: Mapping[tuple[str, str], float],
    scores: Sequence[CheatScore],
    broken: Sequence[BrokenEpisode],
    leaks: Sequence[Leak],
    oracle: Mapping[tuple[str, str], tuple[int, int]],
) -> Audit:
    """The verdict: cheats are tested against chance, with one correction over the whole suite."""
    tested = corrected(scores)
    by_task = {key: [s for s in tested if (s.task, s.split) == key] for key in chances}
    rows = tuple(_row(suite, key, chance, by_task[key], oracle.get(key)) for key, chance in chances.items())
    return Audit(suite.name, rows, tuple(tested), tuple(dict.fromkeys(broken)), tuple(leaks))


def _row(suite: Suite, key: tuple[str, str], chance: float, scores: Sequence[CheatScore], oracle: tuple[int, int] | None) -> AuditRow:
    conceded = {one.cheat: one.reason for one in suite.exceptions if one.task == key[0]}
    above = [s for s in scores if s.above]
    wrong = [s for s in above if s.cheat not in conceded]
    best = max(wrong or above or scores, key=lambda s: (s.rate - s.bound, s.rate), default=None)
    solved = None if oracle is None else round(oracle[0] / oracle[1], DIGITS)
    if best is None:
        return AuditRow(*key, round(chance, DIGITS), "", 0.0, (0.0, 1.0), solved, round(chance, DIGITS), True, ALONE)
    if wrong:
        reason = f"{best.cheat}: {best.right:g} of {best.episodes}, p = {best.adjusted:.1e}"
        reason += f"; also {', '.join(s.cheat for s in wrong if s is not best)}" if len(wrong) > 1 else ""
    else:
        reason = conceded.get(best.cheat, "") if above else ALONE if chance >= 1 else ""
    low, high = best.interval
    return AuditRow(
        *key, round(chance, DIGITS), best.cheat, round(best.rate, DIGITS), (round(low, DIGITS), round(high, DIGITS)), solved,
        round(best.bound, DIGITS), not wrong, reason,
    )  # fmt: skip
