"""``deltavec search``: the documents that match a query best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.printing import print_json, word_list

if TYPE_CHECKING:
    from deltavec.core.model import EmbeddingModel

EXAMPLES = (
    'deltavec search reviews.idx "a quiet room by the sea" -k 5',
    'deltavec search reviews.idx "a quiet room" --explain --filter "rating >= 4"',
    'deltavec search reviews.idx "quiet room -street" --by keyword',
)
CORRECTED = 5  # unknown words for which known ones are looked for


def search(
    collection: options.Collection,
    query: Annotated[str, options.argument('"QUERY"', "What to look for.")],
    k: options.K = 10,
    explain: options.Explain = False,
    filter: options.Filter = None,
    by: options.By = None,
    length: options.Length = 240,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Find the documents that match a query best, by BM25 and embeddings, and say why.

    Any text will do, from a word to a page. Words count in all their forms; -word leaves out
    documents that contain it. A query without known words finds nothing.
    """
    from deltavec.cli.results import as_records, load_hits, print_hits
    from deltavec.collection import open_collection

    opened = open_collection(collection, verify=False, trust=trust)
    parsed = opened.query(query, k, by=by)
    best = opened.best([parsed], filter=filter)[0]
    hits = load_hits(opened, best, parsed, None if as_json else length, explain)
    unknown = parsed.unknown
    suggested = suggestions(opened.model, unknown)
    if as_json:
        print_json(
            {
                "collection": collection,
                "query": query,
                "filter": filter,
                "by": parsed.by,
                "unknown_words": unknown,
                "suggestions": suggested,
                "found": as_records(hits),
            }
        )
        return
    if not hits:
        typer.echo(nothing_found(with_suggestions(unknown, suggested), filter))
        return
    print_hits(hits)
    if unknown:
        typer.echo(f"\nNot known in the query: {with_suggestions(unknown, suggested)}")


def suggestions(model: EmbeddingModel, unknown: Sequence[str]) -> dict[str, list[str]]:
    """For unknown words the known ones that are spelled nearly so."""
    from deltavec.collection.spelling import suggest

    near = {word: suggest(word, model.vocabulary) for word in unknown[:CORRECTED]}
    return {word: known for word, known in near.items() if known}


def with_suggestions(unknown: Sequence[str], suggested: Mapping[str, Sequence[str]]) -> str:
    """The unknown words in a line, and what may have been meant."""
    meant = [word_list(known) for known in suggested.values()]
    return word_list(unknown) + (f"; did you mean {', '.join(meant)}?" if meant else "")


def nothing_found(unknown: str, filter: str | None) -> str:
    """Why nothing was found."""
    if filter is not None and not unknown:
        return "Nothing found: no document fulfils the filter, or the query has no known words."
    if unknown:
        return f"Nothing found: not known are {unknown}"
    return "Nothing found: the query has no known words."
