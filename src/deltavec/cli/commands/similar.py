"""``deltavec similar``: the documents most similar to one of a collection."""

from __future__ import annotations

from dataclasses import replace

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
    from deltavec.cli.results import as_records, load_hits, print_hits, shortened
    from deltavec.collection import open_collection

    opened = open_collection(collection, verify=False, trust=trust)
    row, text = opened.row(id), opened.text(id)
    query = opened.vector_query(opened.index.vectors[row], k, excluded=row)
    best = opened.best([query], filter=filter)[0]
    # Stored vectors are float32: shares of the exact one add up to the cosine more closely.
    exact = replace(query, vector=opened.model.decompose(text).vector)
    hits = load_hits(opened, best, exact, None if as_json else length, explain)
    if as_json:
        record = {"collection": collection, "id": id, "text": text, "filter": filter}
        print_json({**record, "found": as_records(hits)})
        return
    typer.echo(f"Like {visible(id)}: {shortened(text, length)}\n")
    if hits:
        print_hits(hits)
    elif filter is not None:
        typer.echo("Nothing found: no other document fulfils the filter, or it has no known words.")
    else:
        typer.echo("Nothing found: the document has no known words, or there is no other.")
