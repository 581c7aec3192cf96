"""Figures of papers as SVG: bars, lines or boxes, a panel for each block, a colour for everybody.

What the paper does not print is not drawn.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from etude.report.page import colours
from etude.report.plots import BoxSummary, boxes, ceiling

if TYPE_CHECKING:
    from etude.papers.filling import FilledLine, FilledTable

_PAGES = colours()
COLOURS = tuple(_PAGES[f"c{k}"] for k in range(8))
INK, GRID = _PAGES["ink"], _PAGES["line"]
PANEL, GROUP, BAR = 200, 46, 11  # height of a panel, least width of a group of bars, width of a bar
LEFT, TOP, GAP, LEGEND, LETTER = 46, 40, 52, 16, 6.2  # margins; height of a line of the legend; width of a letter of 11 pixels


def drawing(filled: FilledTable) -> str:
    """The figure as a picture that needs nothing else."""
    table, title = filled.table, f"{filled.table.number}. {filled.table.title}"
    if table.drawn == "boxes":
        return boxes(title, "", _summaries(filled))
    drawn = [line for line in filled.lines if not line.unprinted]
    series = list(dict.fromkeys(line.label for line in drawn))
    unprinted = dict.fromkeys(line.label for line in filled.lines if line.unprinted)
    legend = [*series, *([f"not printed in the paper: {', '.join(unprinted)}"] if unprinted else [])]
    longest = max(map(len, table.columns))
    slant = longest > 9
    group = max(GROUP, BAR * (len(series) + 1), 0 if slant else round(LETTER * longest + 8))
    pitch = PANEL + GAP + (round(LETTER * longest * 0.72) if slant else 0)
    width = max(LEFT + group * len(table.columns) + 24, round(LETTER * max(map(len, [title, *legend])) * 1.15) + LEFT)
    height = TOP + pitch * len(table.blocks) + LEGEND * len(legend) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11" fill="{INK}"><rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="20" font-weight="bold">{html.escape(title)}</text>',
    ]
    for k, block in enumerate(table.blocks):
        y, top = TOP + pitch * k + 18, _ceiling(filled, block.title)
        parts.append(f'<text x="{LEFT}" y="{y - 6}">{html.escape(block.title)}</text>')
        parts += _axes(table.columns, y, group, top, slant)
        for line in drawn:
            if line.block == block.title:
                draw = _bars if table.drawn == "bars" else _curve
                parts += draw(line, series.index(line.label), len(series), y, group, top)
    for k, label in enumerate(legend):
        y = TOP + pitch * len(table.blocks) + LEGEND * k
        if k < len(series):
            parts.append(f'<rect x="{LEFT}" y="{y}" width="10" height="10" fill="{_colour(k)}"/>')
        parts.append(f'<text x="{LEFT + 16}" y="{y + 9}">{html.escape(label)}</text>')
    return "".join([*parts, "</svg>\n"])


def _summaries(filled: FilledTable) -> list[BoxSummary]:
    """Of the distributions in its lines, those of one column side by side."""
    several = len({line.label for line in filled.lines if line.spreads}) > 1
    found = []
    for line in filled.lines:
        group = f"{line.block}, {line.label}" if several else line.block
        found += [BoxSummary.of(name, group, own) for name, own in zip(filled.table.columns, line.spreads, strict=False) if own]
    return found


def _ceiling(filled: FilledTable, title: str) -> float:
    """The top of the scale: 100 for percentages, 1 for shares, else a round number above everything in the panel."""
    most = _most(filled.lines)
    for whole in (1.0, 100.0):
        if most <= whole and (whole == 1.0) == (filled.table.digits >= 2):
            return whole
    return ceiling(_most([line for line in filled.lines if line.block == title]))


def _most(lines: Sequence[FilledLine]) -> float:
    return max((float(v) for line in lines for v in line.values if isinstance(v, float | int)), default=1.0)


def _axes(columns: tuple[str, ...], y: float, group: float, top: float, slant: bool) -> list[str]:
    right = LEFT + group * len(columns)
    parts = []
    for k in range(5):
        at = y + PANEL * (1 - k / 4)
        parts.append(f'<path d="M{LEFT} {at:.1f}H{right:.1f}" stroke="{GRID}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{top * k / 4:.{2 if top <= 1 else 0}f}</text>')
    for k, name in enumerate(columns):
        x, at = LEFT + group * (k + 0.5), y + PANEL + 14
        turned = f' transform="rotate(-40 {x:.1f} {at})" text-anchor="end"' if slant else ' text-anchor="middle"'
        parts.append(f'<text x="{x:.1f}" y="{at}"{turned}>{html.escape(name)}</text>')
    return parts


def _bars(line: FilledLine, number: int, count: int, y: float, group: float, top: float) -> list[str]:
    parts = []
    for k, value in enumerate(line.values):
        if isinstance(value, float | int):
            x = LEFT + group * (k + 0.5) + BAR * (number - count / 2)
            tall = max(PANEL * value / top, 1.0)
            tip = html.escape(f"{line.label}: {value:g}")
            box = f'x="{x:.1f}" y="{y + PANEL - tall:.1f}" width="{BAR - 2}" height="{tall:.1f}"'
            parts.append(f'<rect {box} fill="{_colour(number)}"><title>{tip}</title></rect>')
    return parts


def _curve(line: FilledLine, number: int, count: int, y: float, group: float, top: float) -> list[str]:
    """A mark for each number; lines join neighbours only, because nothing was measured between others."""
    points = {
        k: (LEFT + group * (k + 0.5), y + PANEL * (1 - value / top))
        for k, value in enumerate(line.values)
        if isinstance(value, float | int)
    }
    path = "".join(f"{'L' if k - 1 in points else 'M'}{x:.1f} {at:.1f}" for k, (x, at) in points.items())
    marks = "".join(f'<circle cx="{x:.1f}" cy="{at:.1f}" r="3.5" fill="{_colour(number)}"/>' for x, at in points.values())
    return [f'<path d="{path}" fill="none" stroke="{_colour(number)}" stroke-width="2"/>{marks}'] if points else []


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
