"""``deltavec explain``: which words make two texts similar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from deltavec.cli import options
from deltavec.cli.printing import (
    console,
    plain,
    plural,
    print_json,
    print_next,
    signed,
    table,
    word_list,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from deltavec.core.explain import Explanation, WordPair, WordShare


def explain(
    model: Path,
    text_a: options.Text,
    text_b: options.Text,
    *,
    words: int = 10,
    pairs: int = 10,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Show which words make two texts similar.

    Each word adds its share to the cosine; the shares of a text sum to the cosine. --json lists
    all words.

    Parameters
    ----------
    text_a : "TEXT A"
        A document.
    text_b : "TEXT B"
        Another.
    words : N >= 1
        Number of words to list per text.
    pairs : N >= 0
        Number of word pairs to list.

    Examples
    --------
    deltavec explain reviews.dv "a quiet room by the sea" "calm, with a view"
    """
    from deltavec.io.artifacts.model import load

    explanation = load(model, trust=trust).explain(text_a, text_b, pairs=pairs)
    if as_json:
        print_json(as_record(explanation))
        return
    out = console()
    # What is left of the line for a word, beside its numbers and those of the other text.
    longest = min(32, max(8, (out.width - 37) // 2))
    for part in readable(explanation, words, longest):
        out.print(part)
    print_next("index", "build", model, "CORPUS", "-o", model.with_suffix(".idx"))


def as_record(explanation: Explanation) -> dict[str, object]:
    """The explanation as plain objects and lists."""
    record = asdict(explanation)
    for name in ("words_a", "words_b", "pairs"):
        record[name] = [item._asdict() for item in getattr(explanation, name)]
    return record


def readable(explanation: Explanation, words: int, longest: int) -> list[RenderableType]:
    """The explanation for people: the cosine, shares side by side, pairs, and what is unknown."""
    from rich.text import Text

    parts: list[RenderableType] = [
        Text.assemble("cosine ", (signed(explanation.cosine), "bold")),
        Text(""),
        side_by_side(explanation, words, longest),
    ]
    if explanation.pairs:
        title = Text("Words that pull them together")
        parts += [Text(""), title, Text(""), pair_table(explanation.pairs, longest)]
    for name, unknown in (("A", explanation.unknown_a), ("B", explanation.unknown_b)):
        if unknown:
            parts += [Text(""), Text(f"Not known in {name}: {word_list(unknown)}")]
    return parts


def side_by_side(explanation: Explanation, words: int, longest: int) -> Table:
    """The shares of both texts, each column adding up to the cosine."""
    shown = table(["text A", ">times", ">share", "text B", ">times", ">share"])
    shown.show_footer = True
    for number, column in enumerate(shown.columns):
        column.footer = ("cosine", "", signed(explanation.cosine))[number % 3]
        column.min_width = min(20, longest) if number % 3 == 0 else None
    left = share_rows(explanation.words_a, explanation.offset_a, words)
    right = share_rows(explanation.words_b, explanation.offset_b, words)
    for number in range(max(len(left), len(right))):
        cells = [side[number] if number < len(side) else ("", "", "") for side in (left, right)]
        shown.add_row(*(plain(cell, longest) for side in cells for cell in side))
    return shown


def share_rows(
    shares: Sequence[WordShare], offset: float, words: int
) -> list[tuple[str, str, str]]:
    """The strongest words, then the others and the offset summed up."""
    strongest = sorted(shares, key=lambda word: -abs(word.share))
    listed, others = strongest[:words], strongest[words:]
    rows = [
        (word.word, f"{word.occurrences:,}", signed(word.share))
        for word in sorted(listed, key=lambda word: -word.share)
    ]
    if others:
        name = plural(len(others), "other word")
        times = f"{sum(word.occurrences for word in others):,}"
        rows.append((name, times, signed(sum(word.share for word in others))))
    if offset:
        rows.append(("minus corpus center", "", signed(offset)))
    return rows or [("no known word", "", signed(0.0))]


def pair_table(pairs: Sequence[WordPair], longest: int) -> Table:
    """A word of each text, and what the two add to the cosine together."""
    return table(
        ["in A", "in B", ">share"],
        [
            (plain(pair.word_a, longest), plain(pair.word_b, longest), signed(pair.share))
            for pair in pairs
        ],
    )
