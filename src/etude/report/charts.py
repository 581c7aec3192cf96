"""Small charts as inline SVG. Their places are percentages of the width, so that they fit a phone and a poster without becoming blurred
or small; text stays in HTML beside them. Colours come from the page's style by class name.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

MARKS = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",  # circle
    "M-4 -4H4V4H-4Z",  # square
    "M0 -5.6L5.6 0L0 5.6L-5.6 0Z",  # diamond
    "M0 -5.2L5 3.8H-5Z",  # triangle
)
LANE = 16
"""Height of one row of a chart in pixels."""


def place(fraction: float) -> str:
    """A fraction of the width as a coordinate."""
    return f"{100 * min(1.0, max(0.0, fraction)):.2f}".rstrip("0").rstrip(".") + "%"


def colour_class(number: int) -> str:
    """The class that carries the colour of the arm with this number: colours repeat after eight, marks after four."""
    return f"c{number % 8}"


def mark(number: int, x: str = "50%", y: float = LANE / 2) -> str:
    """The mark of an arm, centred at (x, y); shapes differ so that colour is not needed to tell arms apart."""
    shape = MARKS[(number + number // 8) % len(MARKS)]  # an arm that shares a colour has another shape
    return f'<svg x="{x}" y="{y:g}" overflow="visible"><path class="mark {colour_class(number)}" d="{shape}"/></svg>'


def key(number: int) -> str:
    """The mark alone, for legends."""
    return f'<svg class="key" width="14" height="14" aria-hidden="true">{mark(number, "50%", 7)}</svg>'


def _svg(label: str, height: float, *parts: str, kind: str = "") -> str:
    words = html.escape(label, quote=True)
    return f'<svg class="chart {kind}" role="img" aria-label="{words}" width="100%" height="{height:g}">{"".join(parts)}</svg>'


def _grid(height: float, at: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0), strong: float | None = None) -> str:
    return "".join(
        f'<line class="grid{" zero" if x == strong else ""}" x1="{place(x)}" x2="{place(x)}" y1="0" y2="{height:g}"/>' for x in at
    )


def _whisker(low: float, high: float, y: float, number: int) -> str:
    return f'<line class="whisker {colour_class(number)}" x1="{place(low)}" x2="{place(high)}" y1="{y:g}" y2="{y:g}"/>' + "".join(
        f'<line class="whisker end {colour_class(number)}" x1="{place(x)}" x2="{place(x)}" y1="{y - 3:g}" y2="{y + 3:g}"/>'
        for x in (low, high)
    )


def dot(label: str, number: int, rate: float, interval: tuple[float, float], height: float = LANE) -> str:
    """A rate from 0 to 1 as a mark with the whiskers of its interval."""
    middle = height / 2
    return _svg(label, height, _grid(height), _whisker(*interval, middle, number), mark(number, place(rate), middle))


def bar(label: str, number: int, rate: float, interval: tuple[float, float], height: float = 14) -> str:
    """A rate from 0 to 1 as a bar with the whiskers of its interval."""
    middle = height / 2
    return _svg(
        label,
        height,
        f'<rect class="track" width="100%" height="{height:g}" rx="2"/>',
        f'<rect class="bar {colour_class(number)}" width="{place(rate)}" height="{height:g}" rx="2"/>',
        f'<line class="ink" x1="{place(interval[0])}" x2="{place(interval[1])}" y1="{middle:g}" y2="{middle:g}"/>',
        "".join(f'<line class="ink" x1="{place(x)}" x2="{place(x)}" y1="{middle - 3.5:g}" y2="{middle + 3.5:g}"/>' for x in interval),
    )


def share(label: str, number: int, rate: float) -> str:
    """A plain thin bar from 0 to 1."""
    return _svg(
        label,
        8,
        '<rect class="track" width="100%" height="8" rx="2"/>',
        f'<rect class="bar {colour_class(number)}" width="{place(rate)}" height="8" rx="2"/>',
    )


def cost(label: str, number: int, control: float, rate: float, interval: tuple[float, float], kind: str) -> str:
    """A bar from the control's rate to the perturbed one. The whiskers hold the difference: they are drawn from the control on.

    ``kind`` is the class that colours the bar.
    """
    left, right = sorted((control, rate))
    low, high = (control + d for d in interval)
    middle = LANE / 2
    return _svg(
        label,
        LANE,
        _grid(LANE),
        f'<rect class="cost {kind}" x="{place(left)}" y="3" width="{place(right - left)}" height="{LANE - 6}"/>',
        _whisker(low, high, middle, number),
        f'<line class="control" x1="{place(control)}" x2="{place(control)}" y1="0" y2="{LANE}"/>',
        mark(number, place(rate)),
    )


def difference(label: str, gap: float, interval: tuple[float, float], kind: str, reach: float = 1.0) -> str:
    """A difference of rates, from −``reach`` to ``reach``, with its interval and a line at none."""

    def at(value: float) -> float:
        return 0.5 + 0.5 * value / reach

    x, middle = [place(at(v)) for v in interval], LANE / 2
    return _svg(
        label,
        LANE,
        _grid(LANE, (0.0, 0.5, 1.0), strong=0.5),
        f'<line class="whisker {kind}" x1="{x[0]}" x2="{x[1]}" y1="{middle:g}" y2="{middle:g}"/>',
        "".join(f'<line class="whisker end {kind}" x1="{v}" x2="{v}" y1="{middle - 3:g}" y2="{middle + 3:g}"/>' for v in x),
        f'<svg x="{place(at(gap))}" y="{middle:g}" overflow="visible"><path class="mark {kind}" d="{MARKS[0]}"/></svg>',
    )


def stack(label: str, parts: Sequence[tuple[str, float]], height: float = 14) -> str:
    """Shares of a whole, one after the other: (class, fraction)."""
    drawn, start = [], 0.0
    for kind, fraction in parts:
        if fraction > 0:
            drawn.append(f'<rect class="{kind}" x="{place(start)}" width="{place(fraction)}" height="{height:g}"/>')
        start += fraction
    return _svg(label, height, '<rect class="track" width="100%" height="100%"/>', *drawn, kind="stack")


FEW = 30  # points of a line that each can have a dot
DASHES = ("", "7 4", "2 3", "9 3 2 3")


def profile(label: str, curves: Sequence[tuple[int, Sequence[float]]], height: float = 190) -> str:
    """For each arm the share of its tasks (upwards) that reach at least a success rate (to the right), as a falling staircase."""
    drawn = []
    for number, rates in curves:
        path, left = "M0 0", len(rates)
        for rate in sorted(rates):
            path += f"H{100 * rate:.6g}"
            left -= 1
            path += f"V{100 * (1 - left / len(rates)):.6g}"
        dash = DASHES[(number + number // 8) % len(DASHES)]
        drawn.append(f'<path class="curve {colour_class(number)} arm-{number}" d="{path}" stroke-dasharray="{dash or "none"}"/>')
    return _square(label, "".join(drawn), height)


def line(label: str, points: Sequence[tuple[float, float]], height: float = 190) -> str:
    """A line through points whose places are fractions of the width (to the right) and of the height (upwards); few have dots."""
    places = [f"{100 * x:.4g} {100 * (1 - min(1.0, max(0.0, y))):.4g}" for x, y in points]
    drawn = f'<path class="curve {colour_class(0)}" d="M{"L".join(places)}"/>'
    if len(points) <= FEW:
        dots = "".join(f"M{place}h0" for place in places)
        drawn += f'<path class="curve {colour_class(0)}" d="{dots}" stroke-linecap="round" style="stroke-width: 6"/>'
    return _square(label, drawn, height)


def _square(label: str, drawn: str, height: float) -> str:
    """Paths over a grid, in hundredths of width and height."""
    ticks = (0, 25, 50, 75, 100)
    grid = "".join(f'<path class="grid" vector-effect="non-scaling-stroke" d="M{x} 0V100M0 {x}H100"/>' for x in ticks)
    words = html.escape(label, quote=True)
    return (
        f'<svg class="chart" role="img" aria-label="{words}" width="100%" height="{height:g}" viewBox="0 0 100 100"'
        f' preserveAspectRatio="none">{grid}{drawn}</svg>'
    )


def axis(labels: Sequence[str] = ("0", "25", "50", "75", "100 %"), kind: str = "") -> str:
    """Numbers below a chart, spread from its left end to its right end."""
    return f'<div class="axis {kind}" aria-hidden="true">{"".join(f"<span>{html.escape(text)}</span>" for text in labels)}</div>'
