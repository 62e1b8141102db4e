"""``deltavec search``, ``similar``, ``keywords`` and ``explain``: answers with their reasons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deltavec.cli import options, printing
from deltavec.cli.inputs import open_collection

if TYPE_CHECKING:
    from rich.text import Text

    from deltavec.collection.answers import Hit, SearchExplanation
    from deltavec.collection.collection import Collection
    from deltavec.collection.query import Query
    from deltavec.core.explain import Explanation, WordShare
    from deltavec.search.topk import TopDocuments


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
        printing.print_json(as_record(explanation))
        return
    from rich.text import Text

    out = printing.console()
    out.print(Text.assemble("cosine ", (printing.signed(explanation.cosine), "bold"), "\n"))
    for name in "ab":
        shares, offset, unknown = (
            getattr(explanation, f"{part}_{name}") for part in ("words", "offset", "unknown")
        )
        rows: list[list[Any]] = [
            [*map(printing.plain, row)] for row in share_rows(shares, offset, words)
        ]
        rows.append(["[bold]cosine", "", printing.signed(explanation.cosine)])
        shown = printing.table([f"text {name.upper()}", ">times", ">share"], rows)
        out.print(shown, "")
        if unknown:
            line = f"Not known in {name.upper()}: {printing.word_list(unknown)}\n"
            out.print(Text(line))
    if explanation.pairs:
        strongest = [(one.word_a, one.word_b, one.share) for one in explanation.pairs]
        rows = [[*map(printing.plain, pair), printing.signed(share)] for *pair, share in strongest]
        out.print(printing.table(["in A", "in B", ">share"], rows))
    printing.print_next("index", "build", model, "CORPUS", "-o", model.with_suffix(".idx"))


def as_record(explanation: Explanation) -> dict[str, object]:
    """The explanation as plain objects and lists."""
    record = asdict(explanation)
    for name in ("words_a", "words_b", "pairs"):
        record[name] = [item._asdict() for item in getattr(explanation, name)]
    return record


def share_rows(
    shares: Sequence[WordShare], offset: float, words: int
) -> list[tuple[str, str, str]]:
    """The strongest words, then the others and the offset summed up."""
    strongest = sorted(shares, key=lambda word: -abs(word.share))
    listed, others = strongest[:words], strongest[words:]
    rows = [
        (word.word, f"{word.occurrences:,}", printing.signed(word.share))
        for word in sorted(listed, key=lambda word: -word.share)
    ]
    if others:
        name = printing.plural(len(others), "other word")
        times = f"{sum(word.occurrences for word in others):,}"
        rows.append((name, times, printing.signed(sum(word.share for word in others))))
    if offset:
        rows.append(("minus corpus center", "", printing.signed(offset)))
    return rows or [("no known word", "", printing.signed(0.0))]


WORDS = 6  # of an explanation
NEAR = 2  # words of a document, for each of the query
PAIRS = 10  # of related words, that an explanation is made from
INDENT = "    "
MATCHED = 0.05  # of the score: a word that adds as much is marked
LONGEST_SEARCHED = 200_000  # characters; of a longer text the beginning is shown


def search(
    collection: Path,
    query: options.Text,
    *,
    k: int = 10,
    explain: bool = False,
    filter: options.OptionalText = None,
    by: options.SearchWay | None = None,
    broad: bool = False,
    length: int = 240,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Search a collection by BM25 and embeddings, and see why.

    Any text will do, from a word to a page. Words count in all their forms; -word leaves out
    documents that contain it. A query without known words finds nothing.

    Parameters
    ----------
    query : "QUERY"
        What to look for.

    Examples
    --------
    deltavec search reviews.idx "a quiet room by the sea" -k 5
    deltavec search reviews.idx "a quiet room" --explain --filter "rating >= 4"
    deltavec search reviews.idx "quiet room -street" --by keyword
    """
    from deltavec.collection.query import suggestions

    opened = open_collection(collection, trust)
    parsed = replace(opened.query(query, k, by=by, filter=filter), broad=broad)
    best = opened.best([parsed])[0]
    hits = load_hits(opened, best, parsed, None if as_json else length, explain)
    unknown = parsed.unknown
    suggested = suggestions(unknown, opened.model.vocabulary)
    if as_json:
        record = {"collection": collection, "query": query, "filter": filter, "by": parsed.by}
        said = {"unknown_words": unknown, "suggestions": suggested}
        printing.print_json({**record, **said, "found": as_records(hits)})
        return
    if not hits:
        filtered = "No document matches the filter, or the" if filter is not None else "The"
        nothing = f"{filtered} query has no words that can be searched for."
        typer.echo(f"No results. {unknown_line(unknown, suggested) if unknown else nothing}")
        return
    print_hits(hits)
    if unknown:
        typer.echo(f"\n{unknown_line(unknown, suggested)}")
    asked = ("similar", collection, hits[0].id) if explain else ("search", collection, query)
    printing.print_next(*asked, "--explain")


def unknown_line(unknown: Sequence[str], suggested: Mapping[str, Sequence[str]]) -> str:
    """The words of a query that are out of vocabulary, and what may have been meant."""
    meant = " ".join(f"Did you mean {printing.word_list(known)}?" for known in suggested.values())
    name = "Unknown word" if len(unknown) == 1 else "Unknown words"
    return f"{name}: {printing.word_list(unknown)}. {meant}".rstrip()


def similar(
    collection: Path,
    id: options.Text,
    *,
    k: int = 10,
    explain: bool = False,
    filter: options.OptionalText = None,
    length: int = 240,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Find the documents most similar to one of them.

    Examples
    --------
    deltavec similar reviews.idx 14 -k 5 --explain
    """
    opened = open_collection(collection, trust)
    row, text = opened.row(id), opened.text(id)
    query = opened.vector_query(opened.index.take([row])[0], k, row=row, filter=filter)
    best = opened.best([query])[0]
    # Stored vectors are float32: shares of the exact one add up to the cosine more closely.
    exact = replace(query, vector=opened.model.decompose(text).vector)
    hits = load_hits(opened, best, exact, None if as_json else length, explain)
    if as_json:
        record = {"collection": collection, "id": id, "text": text, "filter": filter}
        printing.print_json({**record, "found": as_records(hits)})
        return
    start = f"Similar to {printing.visible(id)}: {printing.shortened(text, length)}\n"
    printing.console().print(start, markup=False)
    if hits:
        print_hits(hits)
        printing.print_next("similar", collection, hits[0].id, "--explain")
    else:
        other = "there is no other" if filter is None else "no other matches the filter"
        typer.echo(f"No results. The document has no known words, or {other}.")


def keywords(
    collection: Path, id: options.Text, *, n: int = 10, trust: bool = False, as_json: bool = False
) -> None:
    """Show the keywords of a document.

    A word's share is its part of the document's vector; the shares of all words sum to 1, and a
    word that points away from the vector has a negative share.

    Parameters
    ----------
    n : N >= 1, -n
        Number of words to show.

    Examples
    --------
    deltavec keywords reviews.idx 14
    """
    found = open_collection(collection, trust).keywords(id, n)
    if as_json:
        words = [word._asdict() for word in found]
        printing.print_json({"collection": collection, "id": id, "keywords": words})
        return
    if not found:
        typer.echo("The document has no known words.")
        return
    rows = [(printing.plain(word), printing.signed(share)) for word, share in found]
    printing.console().print(printing.table(["word", ">share"], rows))
    printing.print_next("similar", collection, id, "--explain")


def load_hits(
    collection: Collection, best: TopDocuments, query: Query, length: int | None, explain: bool
) -> list[Hit]:
    """The documents found for a query, with excerpts and explanations if asked for."""
    pairs = PAIRS if explain else None
    return collection.hits(best, query, length=length, longest=LONGEST_SEARCHED, pairs=pairs)


def print_hits(hits: Sequence[Hit]) -> None:
    """Print documents one below the other: rank, score, id, text, columns, explanation."""
    from rich.text import Text

    out = printing.console()
    width = max(out.width, 20)
    for rank, hit in enumerate(hits, 1):
        if rank > 1:
            out.print()
        score = (f"{hit.score:6.2f}  ", "bold")
        head = Text.assemble(f"{rank:2}. ", score, printing.plain(hit.id, width - 14))
        out.print(head, soft_wrap=True)
        columns = " | ".join(f"{name}: {cell(value)}" for name, value in hit.columns.items())
        below = (Text(printing.visible(columns), "dim"), Text(printing.visible(why_line(hit))))
        for text in filter(None, (marked_text(hit), *below)):
            for row in text.wrap(out, width - len(INDENT)):
                row.rstrip()
                out.print(Text.assemble(INDENT, row), soft_wrap=True)


def marked_text(hit: Hit) -> Text:
    """The excerpt in one line, with the words that add most to the score in bold."""
    from rich.text import Text

    begin, excerpt = hit.excerpt.begin, hit.excerpt.text
    line = Text("... " if begin else "")
    for text, share in hit.excerpt.pieces or [(excerpt, None)]:
        strong = share is not None and hit.score > 0 and share >= MATCHED * hit.score
        line.append(printing.visible(re.sub(r"\s+", " ", text)), "bold" if strong else "")
    line.rstrip()
    end = begin + len(excerpt)
    if excerpt and end < len(hit.text):
        within_word = not any(map(str.isspace, hit.text[end - 1 : end + 1]))
        if within_word and " " in line.plain:
            line.right_crop(len(line.plain) - line.plain.rindex(" "))
        line.append(" ...")
    return line


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
    if hit.why.by != "semantic":
        return query_line(hit.why)
    rows = share_rows(hit.contributions.words, hit.contributions.offset, WORDS)
    return "why: " + ", ".join(f"{printing.plain(word)} {share}" for word, _, share in rows)


def query_line(why: SearchExplanation) -> str:
    """The words of the query, each with its signed share; they add up to the score.

    Those that the document contains come first; the others name the document's related words.
    """
    strongest = sorted(why.words, key=lambda word: -abs(word.share))
    parts: dict[str, list[str]] = {"matched": [], "semantic": []}
    for one in strongest[:WORDS]:
        near = [str(printing.plain(pair.word_b)) for pair in why.near if pair.word_a == one.word]
        related = f" ({', '.join(near[:NEAR])})" if near and not one.keyword else ""
        shown = f"{printing.plain(one.word)} {one.share:.2f}{related}"
        parts["matched" if one.keyword else "semantic"].append(shown)
    if others := strongest[WORDS:]:
        rest = sum(word.share for word in others)
        parts["semantic"].append(f"{printing.plural(len(others), 'other word')} {rest:.2f}")
    if why.center:
        parts["semantic"].append(f"corpus center {why.center:.2f}")
    return "; ".join(f"{name}: {', '.join(words)}" for name, words in parts.items() if words)


def as_records(hits: Sequence[Hit]) -> list[dict[str, object]]:
    """The documents as JSON objects, with all their words if explained."""
    from deltavec.io.output.tables import json_value

    return [
        {"id": hit.id, "score": hit.score, "text": hit.text, "columns": json_value(hit.columns)}
        | explanation_record(hit)
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
