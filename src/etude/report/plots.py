"""Plots that stand alone, as SVG files: bars, courses of many numbers, and boxes of distributions."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from etude.report.page import colours

_PAGES = colours()
INK, SOFT, GRID = (_PAGES[name] for name in ("ink", "soft", "line"))
COLOURS = tuple(_PAGES[f"c{k}"] for k in range(8))
HIGH, GROUP, LEFT, TOP, FOOT = 180, 84, 52, 44, 30  # of a panel, of what stands side by side, and margins, in pixels
LETTER = 6.2  # width of one of 11 pixels
ACROSS, WIDE, LOW = 4, 190, 110  # panels of courses in a row, and their size
TICKS = 5


@dataclass(frozen=True)
class BoxSummary:
    """Some numbers as a box: its quartiles, and whiskers to the farthest of them within one and a half times its length."""

    label: str
    group: str
    count: int
    least: float
    low: float
    median: float
    high: float
    most: float
    outside: tuple[float, ...]

    @classmethod
    def of(cls, label: str, group: str, values: Sequence[float]) -> BoxSummary:
        """Of at least one number."""
        low, median, high = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
        reach = 1.5 * (high - low)
        within = [v for v in values if low - reach <= v <= high + reach]
        outside = tuple(sorted(v for v in values if not low - reach <= v <= high + reach))
        return cls(label, group, len(values), min(within), low, median, high, max(within), outside)


def bars(title: str, unit: str, rows: Sequence[tuple[str, float]]) -> str:
    """A bar for each label, with its number above it."""
    top = ceiling(max((value for _, value in rows), default=1.0))
    group = max(GROUP, round(LETTER * max((len(label) for label, _ in rows), default=0)) + 12)
    parts = _frame(title, unit, group * len(rows), top)
    for k, (label, value) in enumerate(rows):
        x, tall = LEFT + group * (k + 0.5), HIGH * value / top
        parts.append(f'<rect x="{x - 16:.1f}" y="{TOP + HIGH - tall:.1f}" width="32" height="{tall:.1f}" fill="{COLOURS[0]}"/>')
        parts.append(_text(x, TOP + HIGH - tall - 4, f"{value:.3g}" if value < 100 else f"{value:.0f}"))
        parts.append(_text(x, TOP + HIGH + 16, label))
    return _whole(parts, title, group * len(rows))


def boxes(title: str, unit: str, found: Sequence[BoxSummary]) -> str:
    """A box for each distribution, those with one label side by side, in the colours of their groups."""
    labels, groups = (list(dict.fromkeys(names)) for names in ([b.label for b in found], [b.group for b in found]))
    top = ceiling(max((max(b.most, *b.outside, 0.0) for b in found), default=1.0))
    pitch = 40
    wide = max(GROUP, pitch * len(groups) + 16, round(LETTER * max(map(len, labels), default=0)) + 12)
    parts = _frame(title, unit, wide * len(labels), top)

    def at(value: float) -> str:
        return f"{TOP + HIGH * (1 - value / top):.1f}"

    for one in found:
        colour = COLOURS[groups.index(one.group) % len(COLOURS)]
        x = LEFT + wide * (labels.index(one.label) + 0.5) + pitch * (groups.index(one.group) - (len(groups) - 1) / 2)
        tip = html.escape(f"{one.label}, {one.group}: {one.count}, median {one.median:.3g}")
        parts.append(f'<g stroke="{colour}" fill="none"><title>{tip}</title>')
        parts.append(f'<path d="M{x:.1f} {at(one.least)}V{at(one.low)}M{x:.1f} {at(one.high)}V{at(one.most)}"/>')
        parts += [f'<path d="M{x - 6:.1f} {at(v)}h12"/>' for v in (one.least, one.most)]
        tall = HIGH * (one.high - one.low) / top
        parts.append(f'<rect x="{x - 13:.1f}" y="{at(one.high)}" width="26" height="{tall:.1f}" fill="{colour}" fill-opacity="0.25"/>')
        parts.append(f'<path d="M{x - 13:.1f} {at(one.median)}h26" stroke-width="2.5"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{at(v)}" r="2"/>' for v in one.outside]
        parts.append("</g>")
    parts += [_text(LEFT + wide * (k + 0.5), TOP + HIGH + 16, label) for k, label in enumerate(labels)]
    for k, group in enumerate(groups):
        y = TOP + HIGH + FOOT + 16 * k
        parts.append(f'<rect x="{LEFT}" y="{y}" width="10" height="10" fill="{COLOURS[k % len(COLOURS)]}"/>')
        parts.append(_text(LEFT + 16, y + 9, group, "start"))
    return _whole(parts, title, wide * len(labels), 16 * len(groups))


def courses(title: str, names: Sequence[str], found: NDArray[np.float64]) -> str:
    """Many courses (E, points, A): a panel for each of A numbers, a line for each of E episodes, from its beginning to its end."""
    down = math.ceil(len(names) / ACROSS)
    across, pitch, row = min(ACROSS, len(names)), WIDE + 58, LOW + 46
    width, height = LEFT + pitch * across, TOP + row * down
    parts = [_text(12, 20, title, "start", bold=True)]
    for k, name in enumerate(names):
        x, y = LEFT + pitch * (k % ACROSS), TOP + row * (k // ACROSS) + 8
        low, high = float(found[..., k].min()), float(found[..., k].max())
        span = high - low or 1.0
        parts.append(f'<rect x="{x}" y="{y}" width="{WIDE}" height="{LOW}" fill="none" stroke="{GRID}"/>{_text(x, y - 5, name, "start")}')
        parts += [_text(x - 4, y + 9, f"{high:.2g}", "end"), _text(x - 4, y + LOW, f"{low:.2g}", "end")]
        steps = np.linspace(x, x + WIDE, found.shape[1])
        lines = []
        for course in found[..., k]:
            heights = y + LOW * (1 - (course - low) / span)
            lines.append("M" + "L".join(f"{a:.0f} {b:.0f}" for a, b in zip(steps, heights, strict=True)))
        opacity = max(0.15, min(0.8, 6 / len(found)))
        parts.append(f'<path d="{"".join(lines)}" fill="none" stroke="{COLOURS[0]}" stroke-opacity="{opacity:.2f}"/>')
    return _svg(parts, max(width, round(LETTER * len(title) * 1.15) + 24), height)


def ceiling(most: float) -> float:
    """A round number that nothing is above: 1, 2, 2.5 or 5 times a power of ten."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= most)


def _frame(title: str, unit: str, width: float, top: float) -> list[str]:
    parts = [_text(12, 20, title, "start", bold=True), _text(12, TOP - 8, unit, "start")]
    for k in range(TICKS):
        y = TOP + HIGH * (1 - k / (TICKS - 1))
        parts.append(f'<path d="M{LEFT} {y:.1f}H{LEFT + width:.1f}" stroke="{GRID}"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{top * k / (TICKS - 1):.3g}", "end"))
    return parts


def _whole(parts: Sequence[str], title: str, width: float, more: float = 0.0) -> str:
    return _svg(parts, max(LEFT + width + 16, LETTER * len(title) * 1.15 + 24), TOP + HIGH + FOOT + more)


def _svg(parts: Sequence[str], width: float, height: float) -> str:
    w, h = round(width), round(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" font-family="sans-serif" font-size="11"'
        f' fill="{INK}"><rect width="{w}" height="{h}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _text(x: float, y: float, words: str, anchor: str = "middle", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}>{html.escape(words)}</text>'
