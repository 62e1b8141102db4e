"""``deltavec search``: the documents most alike to a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.collections import Explain, Filter, Folder, K, Length, opened
from deltavec.cli.printing import plain, print_json

if TYPE_CHECKING:
    from deltavec.core.model import EmbeddingModel

EXAMPLES = (
    'deltavec search reviews.idx "a quiet room by the sea" -k 5',
    'deltavec search reviews.idx "a quiet room" --explain --filter "rating >= 4"',
)


def search(
    collection: Folder,
    query: Annotated[
        str, typer.Argument(metavar='"QUERY"', show_default=False, help="What to look for.")
    ],
    k: K = 10,
    explain: Explain = False,
    filter: Filter = None,
    length: Length = 240,
    as_json: options.AsJson = False,
) -> None:
    """Find the documents most alike to a query, and say why.

    The query is embedded with the collection's model; any text will do, from a word to a page. A
    query without known words finds nothing.
    """
    from deltavec.cli.found import as_records, explanations, print_found

    searched = opened(collection)
    found = searched.search(query, k, filter=filter)
    unknown = unknown_words(searched.model, query)
    why = explanations(searched, query, found, explain)
    if as_json:
        print_json(
            {
                "collection": collection,
                "query": query,
                "filter": filter,
                "unknown_words": unknown,
                "found": as_records(found, why),
            }
        )
        return
    if not found:
        typer.echo(nothing_found(unknown, filter))
        return
    print_found(found, why, length)
    if unknown:
        typer.echo(f"\nNot known in the query: {listed(unknown)}")


def unknown_words(model: EmbeddingModel, query: str) -> list[str]:
    """The words of a query that have no vector, each once."""
    return [word for word in dict.fromkeys(model.words(query)) if word not in model.vocabulary]


def nothing_found(unknown: Sequence[str], filter: str | None) -> str:
    """Why nothing was found."""
    if filter is not None and not unknown:
        return "Nothing found: no document fulfils the filter, or the query has no known words."
    if unknown:
        return f"Nothing found: not known are {listed(unknown)}"
    return "Nothing found: the query has no known words."


def listed(words: Sequence[str]) -> str:
    """Words in a line, the first of many."""
    more = f" and {len(words) - 20:,} more" if len(words) > 20 else ""
    return ", ".join(str(plain(word)) for word in words[:20]) + more
