"""Documents that were found: as text for people, as records for programs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from deltavec.cli.commands.explain import share_rows
from deltavec.cli.printing import console, counted, plain, signed, visible
from deltavec.collection.excerpts import Excerpt, excerpt, spans
from deltavec.collection.json_values import json_value
from deltavec.collection.why import document_shares
from deltavec.core.explain import Shares, Vector, shares

if TYPE_CHECKING:
    from rich.text import Text

    from deltavec.collection import Collection, Found
    from deltavec.collection.query import Query
    from deltavec.collection.why import SearchExplanation
    from deltavec.core.model import EmbeddingModel

WORDS = 6  # that say why
NEAR = 2  # words of a document, for each of the query
INDENT = "    "
MATCHED = 0.05  # of the cosine: a word that adds as much is marked
LONGEST_SEARCHED = 200_000  # characters; of a longer text the beginning is shown


class Why(NamedTuple):
    """Why a document was found: in a line for people, as entries for programs."""

    line: str
    entries: dict[str, object]


def explanations(
    model: EmbeddingModel, asked: Vector, found: Sequence[Found], wanted: bool
) -> list[Why | None]:
    """What the words of each document add to its cosine with the vector asked for, if wanted."""
    return [why_near(shares(model.decompose(one.text), asked)) if wanted else None for one in found]


def explanations_of_search(
    collection: Collection, query: str, found: Sequence[Found], by: str | None, wanted: bool
) -> list[Why | None]:
    """Why each document was found by a query, if that is wanted."""
    if collection.way(by) == "semantic":
        model = collection.model
        return explanations(model, model.decompose(query).vector, found, wanted)
    return [why_found(collection.why(query, one.id, by=by)) if wanted else None for one in found]


def excerpts(
    collection: Collection, query: Query, found: Sequence[Found], length: int
) -> list[Excerpt]:
    """Of each text the stretch with the words that it was found by."""
    model = collection.model
    shown = []
    for one in found:
        if len(one.text) > LONGEST_SEARCHED:
            beginning = one.text[:length]
            shown.append(Excerpt(0, beginning, [(beginning, None)]))
            continue
        words = spans(one.text, model.tokenizer)
        near = shares(model.decompose(one.text), query.vector).by_word
        row = collection.row(one.id)
        added = document_shares(query, collection.words, row, model.tokenize(one.text), near)
        shown.append(excerpt(one.text, words, added, length))
    return shown


def print_found(
    found: Sequence[Found], shown: Sequence[Excerpt], why: Sequence[Why | None]
) -> None:
    """Print documents one below the other: place, cosine, id, text, columns, words."""
    from rich.text import Text

    out = console()
    width = max(out.width, 20)
    for place, (one, stretch, explanation) in enumerate(zip(found, shown, why, strict=True), 1):
        if place > 1:
            out.print()
        score = (f"{signed(one.score)}  ", "bold")
        out.print(Text.assemble(f"{place:2}  ", score, plain(one.id, width - 14)), soft_wrap=True)
        text = marked(one, stretch)
        for part in text.wrap(out, width - len(INDENT)) if text else ():
            part.rstrip()
            out.print(Text.assemble(INDENT, part), soft_wrap=True)
        lines: list[tuple[str, str]] = []
        if one.columns:
            lines += [(line, "dim") for line, _ in wrapped(columns_line(one.columns), width)]
        if explanation is not None:
            lines += wrapped(explanation.line, width)
        for line, style in lines:
            out.print(Text(line, style), soft_wrap=True)


def marked(one: Found, stretch: Excerpt) -> Text:
    """The stretch of a text in one line, the words in bold that it was found by."""
    from rich.text import Text

    line = Text("... " if stretch.begin else "")
    for text, share in stretch.pieces:
        strong = share is not None and one.score > 0 and share >= MATCHED * one.score
        line.append(visible(re.sub(r"\s+", " ", text)), "bold" if strong else "")
    line.rstrip()
    end = stretch.begin + len(stretch.text)
    if stretch.text and end < len(one.text):
        within_word = not any(map(str.isspace, one.text[end - 1 : end + 1]))
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


def why_near(explanation: Shares) -> Why:
    """The words of the document found, each with its signed share; they add up to the cosine."""
    rows = share_rows(explanation.words, explanation.offset, WORDS)
    line = "why: " + ", ".join(f"{plain(word)} {share}" for word, _, share in rows)
    words = [word._asdict() for word in explanation.words]
    return Why(visible(line), {"words": words, "offset": explanation.offset})


def why_found(explanation: SearchExplanation) -> Why:
    """The words of the query, each with its signed share; they add up to the score.

    Those that the document holds come first; those that it only means name the words it has.
    """
    strongest = sorted(explanation.words, key=lambda word: -abs(word.share))
    listed, others = strongest[:WORDS], strongest[WORDS:]
    there = [f"{plain(word.word)} {signed(word.share)}" for word in listed if word.keyword]
    meant = [
        f"{plain(word.word)} {signed(word.share)}{near_words(explanation, word.word)}"
        for word in listed
        if not word.keyword
    ]
    if others:
        rest = sum(word.share for word in others)
        meant.append(f"{counted(len(others), 'other word')} {signed(rest)}")
    if explanation.centre:
        meant.append(f"minus corpus centre {signed(explanation.centre)}")
    parts = [f"it has {', '.join(there)}"] if there else []
    parts += [f"in meaning {', '.join(meant)}"] if meant else []
    words = [{**word._asdict(), "share": word.share} for word in explanation.words]
    entries = {
        "words": words,
        "offset": explanation.centre,
        "matched": list(explanation.matched),
        "near": [pair._asdict() for pair in explanation.near],
    }
    return Why(visible("why: " + "; ".join(parts)), entries)


def near_words(explanation: SearchExplanation, word: str) -> str:
    """The words of the document that are nearest to one of the query, in brackets."""
    near = [str(plain(pair.word_b)) for pair in explanation.near if pair.word_a == word]
    return f" ({', '.join(near[:NEAR])})" if near else ""


def as_records(found: Sequence[Found], why: Sequence[Why | None]) -> list[dict[str, object]]:
    """The documents as plain objects, with all their words if explained."""
    records = []
    for one, explanation in zip(found, why, strict=True):
        record: dict[str, object] = {
            "id": one.id,
            "score": one.score,
            "text": one.text,
            "columns": {name: json_value(value) for name, value in one.columns.items()},
        }
        records.append(record | (explanation.entries if explanation else {}))
    return records
