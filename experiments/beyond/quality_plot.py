"""Plots of the benchmarks page as SVG: quality against speed, and bars of search quality.

The figure has a ground of its own and follows a dark page by ``prefers-color-scheme``: letters
and ground change together, so that it can be read wherever it stands.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 58, 44, 34, 52
LINE = 16  # between two names
LETTER = 6.6

STYLE = """
.ground{fill:#fff}.text{fill:#222}.faint{fill:#666}.grid{stroke:#ddd}
.ours{fill:#c2410c}.paper{fill:#1d4ed8}.sparse{fill:#4d7c0f}.other{fill:#7e22ce}
.lead{stroke:#999}
@media (prefers-color-scheme:dark){
.ground{fill:#16181d}.text{fill:#e6e6e6}.faint{fill:#a0a0a0}.grid{stroke:#33363d}
.ours{fill:#fb923c}.paper{fill:#7aa2ff}.sparse{fill:#a3d65c}.other{fill:#d19bff}
.lead{stroke:#777}}
text{font:13px system-ui,sans-serif}.small{font-size:12px}.strong{font-weight:600}
"""

SHOWN = {
    "spectral": ("deltavec", "ours"),
    "unit-sum, word2vec": ("unit-sum, word2vec", "paper"),
    "idf-delta-pca, word2vec": ("idf-delta-pca, word2vec", "paper"),
    "idf-delta-pca, ppmi": ("idf-delta-pca, ppmi", "paper"),
    "sparse tf-idf": ("sparse tf-idf", "sparse"),
    "sparse tf-idf, idf squared": ("sparse tf-idf, idf squared", "sparse"),
    "LSA 300": ("LSA", "sparse"),
    "doc2vec": ("doc2vec", "other"),
    "potion-base-8M": ("potion-base-8M", "other"),
    "MiniLM": ("MiniLM", "other"),
}


class Dot(NamedTuple):
    """A method on the plane."""

    x: float
    y: float
    name: str
    kind: str


def drawn(speed: dict[str, Any], quality: dict[str, float]) -> str:
    """The figure for the methods whose speed and quality are both known."""
    shown = [name for name in SHOWN if name in speed and name in quality]
    rates = {name: float(speed[name]["documents_per_second"]) for name in shown}
    low = math.floor(math.log10(min(rates.values())))
    high = math.ceil(math.log10(max(rates.values())))
    bottom = math.floor(20 * min(quality[name] for name in shown)) / 20
    top = math.ceil(20 * max(quality[name] for name in shown)) / 20

    def across(rate: float) -> float:
        share = (math.log10(rate) - low) / (high - low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(area: float) -> float:
        return HEIGHT - BOTTOM - (area - bottom) / (top - bottom) * (HEIGHT - TOP - BOTTOM)

    dots = [Dot(across(rates[name]), up(quality[name]), *SHOWN[name]) for name in shown]
    steps = range(round(20 * bottom), round(20 * top) + 1)
    parts = [
        *(across_line(up(step / 20), f"{step / 20:.2f}".lstrip("0")) for step in steps),
        *(up_line(across(10.0**power), f"{10**power:,}") for power in range(low, high + 1)),
        *marks(dots),
        text(
            LEFT, 20, "ROC AUC, single reviews (mean of hotels, restaurants, attractions)", "text"
        ),
        text(WIDTH - RIGHT, HEIGHT - 10, "documents embedded a second", "text", "end"),
    ]
    return figure("Quality against speed of ten ways to embed documents", HEIGHT, parts)


def bars(values: dict[str, float]) -> str:
    """Mean nDCG@10 of search engines as horizontal bars, best first; deltavec stands out."""
    names = sorted(values, key=lambda name: -values[name])
    left, row = 220, 34
    scale = (WIDTH - left - 80) / max(values.values())
    parts = [text(left, 22, "nDCG@10, mean of Cranfield, CACM, Medline and NPL", "text")]
    for number, name in enumerate(names):
        y, ours = 38 + number * row, name == "deltavec"
        wide = values[name] * scale
        parts += [
            text(left - 10, y + 16, name, "text strong" if ours else "text", "end"),
            (
                f'<rect class="{"ours" if ours else "paper"}" x="{left}" y="{y}" '
                f'width="{wide:.1f}" height="22" rx="3"/>'
            ),
            text(left + wide + 8, y + 16, f"{values[name]:.3f}".lstrip("0"), "text"),
        ]
    return figure("Search quality of eight engines", 50 + len(names) * row, parts)


def figure(title: str, height: int, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{title}">'
        f"<style>{STYLE}</style>"
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="6"/>{"".join(parts)}</svg>\n'
    )


def text(x: float, y: float, words: str, classes: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}" text-anchor="{anchor}">{words}</text>'


def across_line(y: float, label: str) -> str:
    return (
        f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        f"{text(LEFT - 8, y + 4, label, 'faint small', 'end')}"
    )


def up_line(x: float, label: str) -> str:
    return (
        f'<path class="grid" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>'
        f"{text(x, HEIGHT - BOTTOM + 18, label, 'faint small', 'middle')}"
    )


def marks(dots: list[Dot]) -> list[str]:
    """Dots with their names, which keep out of each other's way."""
    taken: list[tuple[float, float, float]] = []
    parts = []
    for dot in sorted(dots, key=lambda dot: dot.y):
        wide = LETTER * len(dot.name) + 12
        covers = any(abs(one.y - dot.y) < LINE and 0 < one.x - dot.x < wide for one in dots)
        to_the_left = covers or dot.x + wide > WIDTH - RIGHT
        begin = dot.x - wide if to_the_left else dot.x
        y = dot.y
        while any(
            abs(y - other) < LINE and begin < end and first < begin + wide
            for first, end, other in taken
        ):
            y += 2
        taken.append((begin, begin + wide, y))
        side = -10 if to_the_left else 10
        strong = " strong" if dot.kind == "ours" else ""
        if abs(y - dot.y) > 4:
            end = f"{dot.x + side * 0.8:.1f} {y:.1f}"
            parts.append(f'<path class="lead" d="M{dot.x:.1f} {dot.y:.1f}L{end}"/>')
        parts += [
            f'<circle class="{dot.kind}" cx="{dot.x:.1f}" cy="{dot.y:.1f}" r="5"/>',
            text(dot.x + side, y + 4, dot.name, f"text{strong}", "end" if to_the_left else "start"),
        ]
    return parts
