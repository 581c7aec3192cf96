"""Tasks as pictures: operators in layers, the answer on top, the frames that are looked at below.

SVG for pages and papers, PNG for the rest.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from etude.decisions.graph import DecisionGraph
from etude.decisions.networks import Edge, nodes_and_edges
from etude.decisions.trial import Placed
from etude.report.page import colours
from etude.report.pictures import Picture

SIZE, SMALL = 14, 11  # of letters, in pixels
HEIGHT, PAD, GAP, RISE, MARGIN = 30, 10, 22, 46, 16  # of boxes, beside words, between boxes, between layers, around everything
SWEEPS = 12
INK, LINE = (colours()[name] for name in ("ink", "soft"))


@dataclass(frozen=True)
class GraphBox:
    """A node: the middle of its box, its width, its words and its colour."""

    x: float
    y: float
    width: float
    words: str
    colour: str


@dataclass(frozen=True)
class GraphLine:
    """An edge through some points, with words at its upper end where its role must be told."""

    points: tuple[tuple[float, float], ...]
    words: str


@dataclass(frozen=True)
class GraphDrawing:
    """A picture as data, in pixels; ``title`` is written above it."""

    width: float
    height: float
    boxes: tuple[GraphBox, ...]
    lines: tuple[GraphLine, ...]
    titles: tuple[tuple[float, float, str], ...] = ()


def draw_task(task: DecisionGraph, start: int = 0) -> GraphDrawing:
    """A task as a drawing; frames are counted from ``start``."""
    nodes, edges = nodes_and_edges(task)
    layout = _Layout([node.label(start + task.frames) for node in nodes], edges)
    boxes = tuple(
        GraphBox(x, y, width, words, node.colour)
        for node, (x, y), width, words in zip(nodes, layout.places, layout.widths, layout.words, strict=False)
    )
    lines = tuple(
        GraphLine(tuple(points), nodes[edge.target].edge_label(edge.role))
        for edge, points in zip(edges, layout.routes(len(nodes)), strict=True)
    )
    return GraphDrawing(layout.width, layout.height, boxes, lines)


def draw_tasks(tasks: Sequence[Placed]) -> GraphDrawing:
    """All tasks of a trial side by side."""
    if len(tasks) == 1:
        return draw_task(tasks[0].task, tasks[0].start)
    drawn = [draw_task(placed.task, placed.start) for placed in tasks]
    boxes: list[GraphBox] = []
    lines: list[GraphLine] = []
    titles = []
    left, top = 0.0, 24.0
    for k, (placed, one) in enumerate(zip(tasks, drawn, strict=True)):
        title = f"task {k + 1}" + ("" if placed.after is None else f", if the answer to task {placed.after + 1} is {placed.given}")
        boxes += [replace(b, x=b.x + left, y=b.y + top) for b in one.boxes]
        lines += [replace(line, points=tuple((x + left, y + top) for x, y in line.points)) for line in one.lines]
        titles.append((left + MARGIN, top, title))
        left += max(one.width, _length(title, SIZE) + 2 * MARGIN)
    return GraphDrawing(left, max(one.height for one in drawn) + top, tuple(boxes), tuple(lines), tuple(titles))


# ------------------------------------------------------------------------------------------------ layers


class _Layout:
    """Boxes in layers: each below everything it is an input of. Edges that pass a layer have a place of their own there."""

    def __init__(self, words: list[str], edges: Sequence[Edge]) -> None:
        self.words = words
        self.widths = [_length(w, SIZE) + 2 * PAD for w in words]
        depth = [0] * len(words)
        for edge in sorted(edges, key=lambda e: e.target):  # nodes come before their inputs
            depth[edge.source] = max(depth[edge.source], depth[edge.target] + 1)
        self._chains: list[list[int]] = []
        for edge in edges:
            chain = [edge.target]
            for level in range(depth[edge.target] + 1, depth[edge.source]):
                chain.append(len(depth))
                depth.append(level)
                self.widths.append(0.0)
            self._chains.append([*chain, edge.source])
        self._above: list[list[int]] = [[] for _ in depth]
        self._below: list[list[int]] = [[] for _ in depth]
        for chain in self._chains:
            for upper, lower in pairwise(chain):
                self._above[lower].append(upper)
                self._below[upper].append(lower)
        self._layers = self._ordered(depth)
        xs = self._spread()
        left = min(x - w / 2 for x, w in zip(xs, self.widths, strict=True))
        self.places = [(x - left + MARGIN, MARGIN + HEIGHT / 2 + d * (HEIGHT + RISE)) for x, d in zip(xs, depth, strict=True)]
        self.width = max(x + w / 2 for (x, _), w in zip(self.places, self.widths, strict=True)) + MARGIN
        self.height = max(y for _, y in self.places) + HEIGHT / 2 + MARGIN

    def _ordered(self, depth: Sequence[int]) -> list[list[int]]:
        """The order within every layer: as the graph is read, then by the middle of the neighbours, as long as fewer lines cross."""
        layers: list[list[int]] = [[] for _ in range(max(depth) + 1)]
        seen: set[int] = set()

        def visit(k: int) -> None:
            if k not in seen:
                seen.add(k)
                layers[depth[k]].append(k)
                for part in self._below[k]:
                    visit(part)

        visit(0)
        best, fewest = [list(layer) for layer in layers], self._crossings(layers)
        for sweep in range(SWEEPS):
            down = sweep % 2 == 0
            for layer, fixed in zip(*((layers[1:], layers) if down else (layers[-2::-1], layers[::-1])), strict=False):
                place = {k: i for i, k in enumerate(fixed)}
                beside = self._above if down else self._below
                middle = {k: _mean([place[n] for n in beside[k]], i) for i, k in enumerate(layer)}
                layer.sort(key=lambda k: middle[k])
            count = self._crossings(layers)
            if count < fewest:
                best, fewest = [list(layer) for layer in layers], count
        return best

    def _crossings(self, layers: Sequence[Sequence[int]]) -> int:
        total = 0
        for upper, lower in pairwise(layers):
            place = {k: i for i, k in enumerate(lower)}
            ends = [place[n] for k in upper for n in sorted(self._below[k], key=lambda n: place[n])]
            total += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
        return total

    def _spread(self) -> list[float]:
        """Across: every box as near to the middle of its neighbours as those beside it allow."""
        xs = [0.0] * len(self.widths)
        for layer in self._layers:
            self._place(layer, xs, [0.0] * len(layer))
        for sweep in range(2 * SWEEPS):
            for layer in self._layers[:: 1 if sweep % 2 else -1]:
                beside = [(self._above if sweep % 2 else self._below)[k] or [k] for k in layer]
                self._place(layer, xs, [_mean([xs[n] for n in near], 0.0) for near in beside])
        return xs

    def _place(self, layer: Sequence[int], xs: list[float], wanted: Sequence[float]) -> None:
        """The places nearest to those that are wanted (least squares) that keep the order and the gaps."""
        offsets = [0.0]
        for a, b in pairwise(layer):
            offsets.append(offsets[-1] + (self.widths[a] + self.widths[b]) / 2 + GAP)
        blocks: list[tuple[float, int]] = []  # mean and count: runs of boxes that touch
        for value in (w - o for w, o in zip(wanted, offsets, strict=True)):
            blocks.append((value, 1))
            while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
                (m, n), (p, q) = blocks[-2:]
                blocks[-2:] = [((m * n + p * q) / (n + q), n + q)]
        flat = [mean for mean, count in blocks for _ in range(count)]
        for k, value, offset in zip(layer, flat, offsets, strict=True):
            xs[k] = value + offset

    def routes(self, count: int) -> list[list[tuple[float, float]]]:
        """Every edge as points, from the bottom of the upper box to the top of the lower one; ends on one box lie side by side."""
        found = []
        for chain in self._chains:
            points = []
            for i, k in enumerate(chain):
                x, y = self.places[k]
                if k >= count:
                    points += [(x, y - HEIGHT / 2), (x, y + HEIGHT / 2)]
                elif i == 0:
                    points.append((x + self._shift(k, chain[1]), y + HEIGHT / 2))
                else:
                    points.append((x, y - HEIGHT / 2))
            found.append(points)
        return found

    def _shift(self, upper: int, lower: int) -> float:
        ends = sorted(self._below[upper], key=lambda k: self.places[k][0])
        return (ends.index(lower) - (len(ends) - 1) / 2) * self.widths[upper] / (len(ends) + 1)


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _length(words: str, size: int) -> float:
    return float(ImageFont.load_default(size).getlength(words))


# ------------------------------------------------------------------------------------------------ on paper


def svg(drawing: GraphDrawing) -> str:
    """The drawing as SVG."""
    w, h = round(drawing.width), round(drawing.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" font-family="sans-serif" '
        f'font-size="{SIZE}" text-anchor="middle" fill="{INK}"><rect width="{w}" height="{h}" fill="#fff"/>'
    ]
    for line in drawing.lines:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line.points)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{LINE}" stroke-width="1.4"/>')
    for box in drawing.boxes:
        left, top, words = box.x - box.width / 2, box.y - HEIGHT / 2, html.escape(box.words)
        parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{HEIGHT}" rx="6" fill="{box.colour}" ')
        parts.append(f'stroke="{LINE}"/><text x="{box.x:.1f}" y="{box.y + SIZE * 0.36:.1f}" textLength="{box.width - 2 * PAD:.1f}" ')
        parts.append(f'lengthAdjust="spacingAndGlyphs">{words}</text>')
    for x, y, words in _labels(drawing.lines):
        parts.append(
            f'<text x="{x:.1f}" y="{y + SMALL * 0.36:.1f}" font-size="{SMALL}" stroke="#fff" stroke-width="4" paint-order="stroke">'
        )
        parts.append(f"{html.escape(words)}</text>")
    for x, y, words in drawing.titles:
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="start" font-weight="bold">{html.escape(words)}</text>')
    return "".join([*parts, "</svg>\n"])


def png(drawing: GraphDrawing, scale: int = 2) -> Picture:
    """The drawing as a picture (H, W, 3) with ``scale`` pixels for each of its own."""
    fine = 2  # lines are drawn larger and made smaller, for smooth edges
    s = scale * fine
    image = Image.new("RGB", (round(drawing.width) * s, round(drawing.height) * s), "#fff")
    pen = ImageDraw.Draw(image)
    large, small = ImageFont.load_default(SIZE * s), ImageFont.load_default(SMALL * s)
    for line in drawing.lines:
        pen.line([(x * s, y * s) for x, y in line.points], LINE, round(1.4 * s), "curve")
    for box in drawing.boxes:
        corner = (box.x - box.width / 2) * s, (box.y - HEIGHT / 2) * s, (box.x + box.width / 2) * s, (box.y + HEIGHT / 2) * s
        pen.rounded_rectangle(corner, 6 * s, box.colour, LINE, s)
        pen.text((box.x * s, box.y * s), box.words, INK, large, "mm")
    for x, y, words in _labels(drawing.lines):
        pen.text((x * s, y * s), words, INK, small, "mm", stroke_width=2 * s, stroke_fill="#fff")
    for x, y, words in drawing.titles:
        pen.text((x * s, y * s), words, INK, large, "ls")
    return np.asarray(image.resize((image.width // fine, image.height // fine), Image.Resampling.LANCZOS))


def _labels(lines: Iterable[GraphLine]) -> list[tuple[float, float, str]]:
    """Words a third of the way down the first stretch of a line."""
    found = []
    for line in lines:
        (x0, y0), (x1, y1) = line.points[:2]
        if line.words:
            found.append((x0 + (x1 - x0) * 0.4, y0 + (y1 - y0) * 0.4, line.words))
    return found
