"""``deltavec keywords``: the words that a document is about."""

from __future__ import annotations

import typer

from deltavec.cli import options
from deltavec.cli.printing import console, empty_table, plain, print_json, signed

EXAMPLES = ("deltavec keywords reviews.idx 14",)


def keywords(
    collection: options.Collection,
    id: options.DocumentId,
    n: int = options.count("Number of words to show.", "-n", value=10),
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Show the words that a document is about.

    A word's share is its part of the document's vector; the shares of all words sum to 1, and a
    word that points away from the vector has a negative share.
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
