"""``deltavec similar``: the documents most alike to one of a collection."""

from __future__ import annotations

import typer

from deltavec.cli import options
from deltavec.cli.printing import print_json, visible

EXAMPLES = ("deltavec similar reviews.idx 14 -k 5 --explain",)


def similar(
    collection: options.Collection,
    id: options.DocumentId,
    k: options.K = 10,
    explain: options.Explain = False,
    filter: options.Filter = None,
    length: options.Length = 240,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Find the documents most alike to one of the collection."""
    from deltavec.cli.results import (
        as_records,
        excerpts,
        explanations,
        print_found,
        shortened,
    )
    from deltavec.collection import open_collection

    opened = open_collection(collection, verify=False, trust=trust)
    found = opened.similar(id, k, filter=filter)
    text = opened.text(id)
    asked = opened.model.decompose(text).vector
    why = explanations(opened.model, asked, found, explain)
    if as_json:
        record = {"collection": collection, "id": id, "text": text, "filter": filter}
        print_json({**record, "found": as_records(found, why)})
        return
    typer.echo(f"Like {visible(id)}: {shortened(text, length)}\n")
    if found:
        query = opened.read([], "semantic").towards(asked)
        print_found(found, excerpts(opened, query, found, length), why)
    elif filter is not None:
        typer.echo("Nothing found: no other document fulfils the filter, or it has no known words.")
    else:
        typer.echo("Nothing found: the document has no known words, or there is no other.")
