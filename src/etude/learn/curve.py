"""The curve of a training run: losses, success and throughput as lines of JSON, and as a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from etude.evaluation.store import write_whole
from etude.names import decode, encode, parse_json
from etude.report import charts
from etude.report.markup import esc, fold, section
from etude.report.page import document

CURVE, PAGE = "curve.jsonl", "curve.html"
SHOWN = 300  # points of a line on the page


@dataclass(frozen=True)
class CurvePoint:
    """A line of the curve: means since the last one.

    ``episodes``: distinct ones so far; ``seen``: how often each was drawn, on average. ``seconds``: of training, without validation.
    ``drawn_rate`` and ``fresh_rate``: episodes drawn, and delivered by the stream, in a second; ``waited``: the share of the time that
    training waited for demonstrations; ``idle``: that in which the GPU computed nothing, where its driver tells. ``left``: seconds to the
    end. ``success``: of so many held-out episodes that were played with the averaged weights (``validated``).
    """

    step: int
    loss: float
    axes: tuple[float, ...]
    rate: float
    episodes: int
    seen: float
    seconds: float
    drawn_rate: float
    fresh_rate: float
    workers: int
    waited: float
    idle: float | None
    left: float
    success: float | None = None
    validated: int = 0

    def told(self, steps: int | None) -> str:
        """As a line of progress; ``steps`` is how many there will be, where that is known."""
        parts = [
            f"step {self.step}{f' of {steps}' if steps else ''}: loss {self.loss:.3f} ({' '.join(f'{a:.2f}' for a in self.axes)})",
            *([f"success {100 * self.success:.0f} % of {self.validated}"] if self.success is not None else []),
            f"{self.episodes} episodes seen {self.seen:.1f} times",
            f"{self.drawn_rate:.0f} drawn/s, {self.fresh_rate:.1f} fresh/s from {self.workers} workers",
            f"waited {100 * self.waited:.0f} %" + (f", GPU idle {100 * self.idle:.0f} %" if self.idle is not None else ""),
            f"{_clock(self.seconds)} gone, {_clock(self.left)} left",
        ]
        return "; ".join(parts)


class Curve:
    """The curve in a run's folder. Points after ``step`` are forgotten: they were made after the state that is resumed from."""

    def __init__(self, folder: Path, step: int) -> None:
        self._path = folder / CURVE
        self.points = [point for point in read_curve(folder) if point.step <= step]
        self._write()

    def add(self, point: CurvePoint) -> None:
        """One more point; one of the same step takes the place of the last."""
        if self.points and self.points[-1].step == point.step:
            self.points[-1] = point
            self._write()
            return
        self.points.append(point)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(_line(point))

    def _write(self) -> None:
        write_whole(self._path, "".join(map(_line, self.points)))


def _line(point: CurvePoint) -> str:
    return json.dumps(encode(point)) + "\n"


def read_curve(folder: Path) -> list[CurvePoint]:
    """The points of a run; none where it has not begun. A last line that was cut off is none."""
    path = folder / CURVE
    lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
    return [decode(CurvePoint, parse_json(line), str(path)) for line in lines]


def measured(points: Sequence[CurvePoint]) -> dict[str, Any]:
    """What a run was measured to do: means over its time; episodes a second by workers, for they may have changed."""
    spans = [new.seconds - (old.seconds if old else 0.0) for old, new in zip([None, *points], points, strict=False)]
    parts = list(zip(points, spans, strict=True))
    last = points[-1]

    def mean(values: Sequence[tuple[float | None, float]]) -> float | None:
        known = [(value, span) for value, span in values if value is not None and span > 0]
        return sum(v * s for v, s in known) / sum(s for _, s in known) if known else None

    return {
        "steps": last.step,
        "seconds": last.seconds,
        "episodes": last.episodes,
        "seen": last.seen,
        "episodes_drawn_per_second": mean([(p.drawn_rate, s) for p, s in parts]),
        "stream_episodes_per_second_by_workers": {
            str(team): mean([(p.fresh_rate, s) for p, s in parts if p.workers == team]) for team in sorted({p.workers for p in points})
        },
        "waited": mean([(p.waited, s) for p, s in parts]),
        "gpu_idle": mean([(p.idle, s) for p, s in parts]),
        "success": next((p.success for p in reversed(points) if p.success is not None), None),
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------ page


def write_page(folder: Path, points: Sequence[CurvePoint], recipe: Any) -> None:
    """The curve as a page of its own in the run's folder."""
    last = points[-1]
    success = [(p.step, p.success) for p in points if p.success is not None]
    panels = [
        _panel("Loss", [(p.step, p.loss) for p in points], last.step, max(p.loss for p in points), "{:.2f}"),
        _panel("Success on held-out training episodes, played with the averaged weights", success, last.step, 1.0, "{:.0%}"),
        _panel("Distinct episodes so far", [(p.step, float(p.episodes)) for p in points], last.step, float(last.episodes), "{:.0f}"),
        _panel("Share of the time waited for demonstrations", [(p.step, p.waited) for p in points], last.step, 1.0, "{:.0%}"),
        _panel("GPU idle", [(p.step, p.idle) for p in points if p.idle is not None], last.step, 1.0, "{:.0%}"),
    ]
    numbers = "".join(f"<tr><td>{esc(name)}</td><td>{esc(_shown(value))}</td></tr>" for name, value in measured(points).items())
    name = recipe["data"]["source"]["suite"]
    head = f'<header><p class="eyebrow">etude · training</p><h1>{esc(folder.resolve().name)}</h1><p>{esc(last.told(None))}</p></header>'
    body = section("curves", "Curves", "Over steps, each from 0.", f'<div class="panels">{"".join(panels)}</div>')
    body += section("measured", "Measured", "", f"<table><tbody>{numbers}</tbody></table>")
    body += section("recipe", "Recipe", "", fold("all of it", f"<pre>{esc(json.dumps(recipe, indent=1))}</pre>"))
    style = resources.files("etude.report").joinpath("evaluation.css").read_text(encoding="utf-8")
    write_whole(folder / PAGE, document(f"etude: training on {name}", f"{head}<main>{body}</main>", style))


def _panel(title: str, points: Sequence[tuple[int, float]], steps: int, most: float, form: str) -> str:
    if not points:
        return ""
    thin = [points[k * (len(points) - 1) // (SHOWN - 1)] for k in range(SHOWN)] if len(points) > SHOWN else points
    label = f"{title}: {form.format(points[-1][1])} at step {points[-1][0]}"
    chart = charts.line(label, [(step / max(1, steps), value / (most or 1.0)) for step, value in thin])
    upright = "".join(f"<span>{esc(form.format(share * most))}</span>" for share in (1.0, 0.5, 0.0))
    sides = f'<div class="upright" aria-hidden="true">{upright}</div>{chart}{charts.axis(("0", str(steps // 2), str(steps)))}'
    return f'<figure class="panel"><figcaption>{esc(label)}</figcaption><div class="profile">{sides}</div></figure>'


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_shown(part)} with {key}" for key, part in value.items())
    return "not known" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
