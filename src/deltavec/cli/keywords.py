"""``deltavec keywords``: the words that a document is about."""

from __future__ import annotations

from typing import Annotated

import typer

from deltavec.cli import options
from deltavec.cli.collections import Folder, Id, opened
from deltavec.cli.printing import console, plain, print_json

EXAMPLES = ("deltavec keywords reviews.idx 14",)


def keywords(
    collection: Folder,
    id: Id,
    n: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many words to show.")] = 10,
    as_json: options.AsJson = False,
) -> None:
    """Show the words that a document is about.

    A word's share is what it adds to the document's own direction; the shares of all its words
    add up to 1, and one that pulls elsewhere is negative.
    """
    found = opened(collection).keywords(id, n)
    if as_json:
        print_json(
            {"collection": collection, "id": id, "keywords": [word._asdict() for word in found]}
        )
        return
    if not found:
        typer.echo("The document has no known words.")
        return

    from rich import box
    from rich.table import Table

    from deltavec.cli.explain import signed

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("word", min_width=12)
    table.add_column("share", justify="right")
    for word, share in found:
        table.add_row(plain(word), signed(share))
    console().print(table)
