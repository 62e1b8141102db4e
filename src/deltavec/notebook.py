"""What a notebook shows: explanations as shaded texts and as bars, what was found as tables.

Colors are see-through, so that the text keeps the notebook's own color, light or dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltavec.core.explain import Explanation, WordShare

# Blue and orange, which color-blind people tell apart.
PULLS, PUSHES = "38, 139, 210", "220, 100, 40"
STRONGEST = 0.6  # how opaque the color of the largest share is
WORDS_SHOWN = 400
LONGEST = 24  # characters of a word beside its bar
STYLE = "max-width: 48em; line-height: 1.7"
TABLE = "border-collapse: collapse; margin: .3em 0"
CELL = "padding: 0 1.2em 0 0; text-align: left"
NUMBER = "padding: 0 .6em; text-align: right; font-variant-numeric: tabular-nums"


def explanation_html(explanation: Explanation) -> str:
    """The explanation as HTML; the texts are escaped."""
    everything = (*explanation.words_a, *explanation.words_b)
    largest = max((abs(word.share) for word in everything), default=0.0)
    shown = [(pair.word_a, pair.word_b, f"{pair.share:+.3f}") for pair in explanation.pairs]
    pairs = table("Pairs of words", ("in A", "in B", "share"), shown) if shown else ""
    legend = f"{swatch(PULLS)} pulls together {swatch(PUSHES)} pushes apart"
    parts = [
        f'<div style="{STYLE}"><p>cosine <b>{explanation.cosine:+.3f}</b> &nbsp; {legend}</p>',
        shaded("A", explanation.text_a, explanation.words_a, explanation.offset_a, largest),
        shaded("B", explanation.text_b, explanation.words_b, explanation.offset_b, largest),
        pairs,
        "</div>",
    ]
    return "".join(parts)


def shaded(
    name: str, text: Sequence[str], words: Sequence[WordShare], offset: float, largest: float
) -> str:
    """A text whose words have the color of their share; one without a vector is grey."""
    shares = {word.word: word.share for word in words}
    spans = [span(word, shares.get(word), largest) for word in text[:WORDS_SHOWN]]
    if len(text) > WORDS_SHOWN:
        spans.append(f"<i>and {len(text) - WORDS_SHOWN:,} more words</i>")
    if offset:
        spans.append(f"<i>(minus the corpus' center: {offset:+.3f})</i>")
    return f"<p><b>{name}</b> {' '.join(spans) or '<i>no words</i>'}</p>"


def span(word: str, share: float | None, largest: float) -> str:
    """A word in the color of its share, which is told when it is pointed at."""
    if share is None:
        return f'<span style="opacity: .6" title="not known">{escape(word)}</span>'
    opacity = STRONGEST * abs(share) / largest if largest else 0.0
    color = PULLS if share >= 0 else PUSHES
    style = f"background: rgba({color}, {opacity:.2f}); border-radius: 3px; padding: 0 2px"
    return f'<span style="{style}" title="{share:+.4f}">{escape(word)}</span>'


def swatch(color: str) -> str:
    """A small patch of a color, for the legend."""
    return (
        f'<span style="display: inline-block; width: .8em; height: .8em; border-radius: 2px; '
        f'background: rgba({color}, {STRONGEST})"></span>'
    )


def table(
    title: str, names: tuple[str, ...], rows: list[tuple[Any, ...]], hidden: bool = False
) -> str:
    """An HTML table; whatever is in it is text, never markup."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    more = "<p>Not all are shown.</p>" if hidden else ""
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{more}"
    )
