"""``deltavec similar``: the documents most alike to one of a collection."""

from __future__ import annotations

import typer

from deltavec.cli import options
from deltavec.cli.collections import Explain, Filter, Folder, Id, K, Length, opened
from deltavec.cli.printing import print_json, visible

EXAMPLES = ("deltavec similar reviews.idx 14 -k 5 --explain",)


def similar(
    collection: Folder,
    id: Id,
    k: K = 10,
    explain: Explain = False,
    filter: Filter = None,
    length: Length = 240,
    as_json: options.AsJson = False,
) -> None:
    """Find the documents most alike to one of the collection."""
    from deltavec.cli.found import as_records, explanations, print_found, shortened

    searched = opened(collection)
    found = searched.similar(id, k, filter=filter)
    text = searched.text(id)
    why = explanations(searched, text, found, explain)
    if as_json:
        record = {"collection": collection, "id": id, "text": text, "filter": filter}
        print_json({**record, "found": as_records(found, why)})
        return
    typer.echo(f"Like {visible(id)}: {shortened(text, length)}\n")
    if found:
        print_found(found, why, length)
    elif filter is not None:
        typer.echo("Nothing found: no other document fulfils the filter, or it has no known words.")
    else:
        typer.echo("Nothing found: the document has no known words, or there is no other.")
