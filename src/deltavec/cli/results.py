"""Search results: as text for people, as records for programs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deltavec.cli.commands.explain import share_rows
from deltavec.cli.printing import console, counted, plain, signed, visible
from deltavec.collection.json_values import json_value

if TYPE_CHECKING:
    from rich.text import Text

    from deltavec.collection import Collection
    from deltavec.collection.answers import Hit, SearchExplanation
    from deltavec.collection.query import Query
    from deltavec.core.explain import Shares
    from deltavec.search.hybrid.search import TopDocuments

WORDS = 6  # of an explanation
NEAR = 2  # words of a document, for each of the query
PAIRS = 10  # of related words, that an explanation is made from
INDENT = "    "
MATCHED = 0.05  # of the score: a word that adds as much is marked
LONGEST_SEARCHED = 200_000  # characters; of a longer text the beginning is shown


def load_hits(
    collection: Collection, best: TopDocuments, query: Query, length: int | None, explain: bool
) -> list[Hit]:
    """The documents found for a query, with excerpts and explanations if asked for."""
    pairs = PAIRS if explain else None
    return collection.hits(best, query, length=length, longest=LONGEST_SEARCHED, pairs=pairs)


def print_hits(hits: Sequence[Hit]) -> None:
    """Print documents one below the other: rank, score, id, text, columns, explanation."""
    from rich.text import Text

    out = console()
    width = max(out.width, 20)
    for rank, hit in enumerate(hits, 1):
        if rank > 1:
            out.print()
        score = (f"{signed(hit.score)}  ", "bold")
        out.print(Text.assemble(f"{rank:2}  ", score, plain(hit.id, width - 14)), soft_wrap=True)
        text = marked_text(hit)
        for part in text.wrap(out, width - len(INDENT)) if text else ():
            part.rstrip()
            out.print(Text.assemble(INDENT, part), soft_wrap=True)
        lines: list[tuple[str, str]] = []
        if hit.columns:
            lines += [(line, "dim") for line, _ in wrapped(columns_line(hit.columns), width)]
        lines += wrapped(visible(why_line(hit)), width)
        for line, style in lines:
            out.print(Text(line, style), soft_wrap=True)


def marked_text(hit: Hit) -> Text:
    """The excerpt in one line, with the words that add most to the score in bold."""
    from rich.text import Text

    begin, excerpt = hit.excerpt.begin, hit.excerpt.text
    line = Text("... " if begin else "")
    for text, share in hit.excerpt.pieces or [(excerpt, None)]:
        strong = share is not None and hit.score > 0 and share >= MATCHED * hit.score
        line.append(visible(re.sub(r"\s+", " ", text)), "bold" if strong else "")
    line.rstrip()
    end = begin + len(excerpt)
    if excerpt and end < len(hit.text):
        within_word = not any(map(str.isspace, hit.text[end - 1 : end + 1]))
        if within_word and " " in line.plain:
            line.right_crop(len(line.plain) - line.plain.rindex(" "))
        line.append(" ...")
    return line


def wrapped(text: str, width: int) -> list[tuple[str, str]]:
    """The text in lines that fit, with a place for a style beside each."""
    lines = textwrap.wrap(text, width, initial_indent=INDENT, subsequent_indent=INDENT)
    return [(line, "") for line in lines]


def shortened(text: str, length: int) -> str:
    """The beginning of a text, in one line and without what steers a terminal."""
    line = visible(" ".join(text[: length + 1].split()))
    if len(text) <= length:
        return line
    return f"{line[:length].rstrip()} ..." if length else ""


def columns_line(columns: Mapping[str, Any]) -> str:
    """The columns of a document in one line."""
    shown = [f"{name}: {cell(value)}" for name, value in columns.items()]
    return visible(" | ".join(shown))


def cell(value: object) -> str:
    """A value of a column, cut if it is long; a dash for one that is missing."""
    text = "-" if value is None else " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def why_line(hit: Hit) -> str:
    """Why a document was found, in a line; empty if it is not explained.

    A semantic search names words of the document, since the whole query is compared with it.
    """
    if hit.why is None or hit.contributions is None:
        return ""
    if hit.why.by == "semantic":
        return document_line(hit.contributions)
    return query_line(hit.why)


def document_line(contributions: Shares) -> str:
    """The words of the document, each with its signed share; they add up to the cosine."""
    rows = share_rows(contributions.words, contributions.offset, WORDS)
    return "why: " + ", ".join(f"{plain(word)} {share}" for word, _, share in rows)


def query_line(why: SearchExplanation) -> str:
    """The words of the query, each with its signed share; they add up to the score.

    Those that the document contains come first; the others name the document's related words.
    """
    strongest = sorted(why.words, key=lambda word: -abs(word.share))
    listed, others = strongest[:WORDS], strongest[WORDS:]
    there = [f"{plain(word.word)} {signed(word.share)}" for word in listed if word.keyword]
    meant = [
        f"{plain(word.word)} {signed(word.share)}{near_words(why, word.word)}"
        for word in listed
        if not word.keyword
    ]
    if others:
        rest = sum(word.share for word in others)
        meant.append(f"{counted(len(others), 'other word')} {signed(rest)}")
    if why.center:
        meant.append(f"minus corpus center {signed(why.center)}")
    parts = [f"it has {', '.join(there)}"] if there else []
    parts += [f"in meaning {', '.join(meant)}"] if meant else []
    return "why: " + "; ".join(parts)


def near_words(why: SearchExplanation, word: str) -> str:
    """The words of the document that are most related to one of the query, in brackets."""
    near = [str(plain(pair.word_b)) for pair in why.near if pair.word_a == word]
    return f" ({', '.join(near[:NEAR])})" if near else ""


def as_records(hits: Sequence[Hit]) -> list[dict[str, object]]:
    """The documents as JSON objects, with all their words if explained."""
    return [
        {
            "id": hit.id,
            "score": hit.score,
            "text": hit.text,
            "columns": {name: json_value(value) for name, value in hit.columns.items()},
            **explanation_record(hit),
        }
        for hit in hits
    ]


def explanation_record(hit: Hit) -> dict[str, object]:
    """The explanation of a hit as JSON entries; empty if it is not explained."""
    why, contributions = hit.why, hit.contributions
    if why is None or contributions is None:
        return {}
    if why.by == "semantic":
        words = [word._asdict() for word in contributions.words]
        return {"words": words, "offset": contributions.offset}
    return {
        "words": [{**word._asdict(), "share": word.share} for word in why.words],
        "offset": why.center,
        "matched": list(why.matched),
        "near": [pair._asdict() for pair in why.near],
    }
