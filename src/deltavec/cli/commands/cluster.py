"""``deltavec cluster``: a collection in groups of like documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltavec.cli import options
from deltavec.cli.outputs import require_file
from deltavec.cli.printing import console, empty_table, plain, print_json
from deltavec.cli.progress import stages

if TYPE_CHECKING:
    from deltavec.collection import Clusters, Collection

EXAMPLES = (
    "deltavec cluster reviews.idx -n 4",
    "deltavec cluster reviews.idx -n 4 -o clusters.csv",
)
SUFFIXES = (".csv", ".parquet")


def cluster(
    collection: options.Collection,
    n: Annotated[int, options.count("How many groups.", "-n")] = 20,
    output: Annotated[
        Path | None,
        options.output("FILE", "Write the group of each document to a .csv or .parquet file."),
    ] = None,
    words: Annotated[int, options.count("How many words name a group.")] = 5,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
) -> None:
    """Part a collection into groups of like documents.

    Each group is named by the words that pull its members together: those that add most to
    their mean cosine with the group's direction, beyond what they add for any document. Of a
    group with more than 100 members, 100 drawn ones are looked at.
    """
    if output is not None:
        require_file(output, SUFFIXES)
    with stages("opening the collection") as work:
        from deltavec.collection import open_collection

        opened = open_collection(collection, verify=False)
        work.begin("clustering")
        found = opened.cluster(n, seed=seed, words=words)
        if output is not None:
            work.begin("writing")
            write_labels(opened, found, output)
    groups = records(found)
    if as_json:
        print_json(
            {
                "collection": collection,
                "documents_without_vector": opened.description.zero_rows,
                "clusters": groups,
                "output": output,
            }
        )
        return
    print_clusters(groups)
    if opened.description.zero_rows:
        typer.echo(f"\n{opened.description.zero_rows:,} documents without a vector are in none.")
    if output is not None:
        typer.echo(f"\nsaved {output}")


def records(found: Clusters) -> list[dict[str, Any]]:
    """The groups as plain objects."""
    names = ("cluster", "documents", "words", "central_id", "cohesion")
    columns = (range(len(found)), found.sizes, found.names, found.central_ids, found.cohesion)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def print_clusters(groups: Sequence[Mapping[str, Any]]) -> None:
    """Print a line for each group."""
    table = empty_table()
    table.add_column("#", justify="right")
    table.add_column("documents", justify="right")
    table.add_column("cosine", justify="right", style="dim")
    table.add_column("words")
    table.add_column("central id")
    for group in groups:
        table.add_row(
            f"{group['cluster']}",
            f"{group['documents']:,}",
            f"{group['cohesion']:.2f}",
            plain(", ".join(group["words"]), 60),
            plain(group["central_id"], 24),
        )
    console().print(table)


def write_labels(collection: Collection, found: Clusters, output: Path) -> None:
    """Write id and group of each document; none for one without a vector."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    from deltavec.io.files import replacing

    labels = pa.array(found.labels, mask=found.labels < 0)
    table = pa.table({"id": collection.ids, "cluster": labels})
    with replacing(output) as temporary:
        if output.suffix.lower() == ".csv":
            csv.write_csv(table, temporary)
        else:
            parquet.write_table(table, temporary)
