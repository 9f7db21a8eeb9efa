"""A line chart as SVG, both axes logarithmic: enough to see how something grows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

WIDTH, HEIGHT, MARGIN = 560, 340, 60
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b")


def line_chart(title: str, unit: str, series: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Return an SVG of (n, value) points, a line a series."""
    points = [point for line in series.values() for point in line if point[1] > 0]
    if not points:
        return ""
    xs, ys = ([math.log10(point[axis]) for point in points] for axis in (0, 1))
    left, right = math.floor(min(xs)), math.ceil(max(xs))
    low, high = math.floor(min(ys)), math.ceil(max(ys))

    def at(point: tuple[float, float]) -> tuple[float, float]:
        x = MARGIN + (math.log10(point[0]) - left) / max(1, right - left) * (WIDTH - 2 * MARGIN)
        y = HEIGHT - MARGIN - (math.log10(point[1]) - low) / max(1, high - low) * (HEIGHT - 2 * MARGIN)
        return round(x, 1), round(y, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{WIDTH / 2}" y="20" text-anchor="middle" font-size="14">{title}</text>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 14}" text-anchor="middle">memories</text>',
        f'<text x="14" y="36">{unit}</text>',
    ]
    for power in range(left, right + 1):
        x, _ = at((10.0**power, 10.0**low))
        parts.append(f'<line x1="{x}" y1="{MARGIN}" x2="{x}" y2="{HEIGHT - MARGIN}" stroke="#ddd"/>')
        parts.append(f'<text x="{x}" y="{HEIGHT - MARGIN + 16}" text-anchor="middle">{10**power:,}</text>')
    for power in range(low, high + 1):
        _, y = at((10.0**left, 10.0**power))
        parts.append(f'<line x1="{MARGIN}" y1="{y}" x2="{WIDTH - MARGIN}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{MARGIN - 6}" y="{y + 4}" text-anchor="end">{10.0**power:g}</text>')
    for number, (name, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x},{y}" for x, y in map(at, sorted(line)))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in map(at, line)]
        parts.append(f'<text x="{MARGIN + 8}" y="{MARGIN + 14 * (number + 1)}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
