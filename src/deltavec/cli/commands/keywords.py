"""``deltavec keywords``: the words that a document is about."""

from __future__ import annotations

from typing import Annotated

import typer

from deltavec.cli import options
from deltavec.cli.printing import console, empty_table, plain, print_json, signed

EXAMPLES = ("deltavec keywords reviews.idx 14",)


def keywords(
    collection: options.Collection,
    id: options.DocumentId,
    n: Annotated[int, options.count("How many words to show.", "-n")] = 10,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Show the words that a document is about.

    A word's share is what it adds to the document's own direction; the shares of all its words
    add up to 1, and one that pulls elsewhere is negative.
    """
    from deltavec.collection import open_collection

    found = open_collection(collection, verify=False, trust=trust).keywords(id, n)
    if as_json:
        print_json(
            {"collection": collection, "id": id, "keywords": [word._asdict() for word in found]}
        )
        return
    if not found:
        typer.echo("The document has no known words.")
        return
    table = empty_table()
    table.add_column("word", min_width=12)
    table.add_column("share", justify="right")
    for word, share in found:
        table.add_row(plain(word), signed(share))
    console().print(table)
