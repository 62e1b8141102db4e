"""``deltavec cluster``: a collection in groups of like documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.collections import Folder, opened
from deltavec.cli.outputs import checked_file
from deltavec.cli.printing import console, plain, print_json
from deltavec.cli.progress import stages

if TYPE_CHECKING:
    from deltavec.collection import Clusters, Collection

EXAMPLES = (
    "deltavec cluster reviews.idx -n 4",
    "deltavec cluster reviews.idx -n 4 -o clusters.csv",
)
SUFFIXES = (".csv", ".parquet")


def cluster(
    collection: Folder,
    n: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many groups.")] = 20,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            show_default=False,
            help="Write the group of each document to a .csv or .parquet file.",
        ),
    ] = None,
    words: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many words name a group.")
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="For the random part.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Part a collection into groups of like documents.

    Each group is named by the words that pull its members together: those that add most to
    their mean cosine with the group's direction, beyond what they add for any document. Of a
    group with more than 100 members, 100 drawn ones are looked at.
    """
    if output is not None:
        checked_file(output, SUFFIXES)
    with stages("opening the collection") as work:
        parted = opened(collection)
        work.begin("clustering")
        found = parted.cluster(n, seed=seed, words=words)
        if output is not None:
            work.begin("writing")
            write_labels(parted, found, output)
    if as_json:
        print_json(
            {
                "collection": collection,
                "documents_without_vector": parted.description.zero_rows,
                "clusters": records(found),
                "output": output,
            }
        )
        return
    print_clusters(found)
    if parted.description.zero_rows:
        typer.echo(f"\n{parted.description.zero_rows:,} documents without a vector are in none.")
    if output is not None:
        typer.echo(f"\nsaved {output}")


def records(found: Clusters) -> list[dict[str, object]]:
    """The groups as plain objects."""
    return [
        {
            "cluster": number,
            "documents": found.sizes[number],
            "words": found.names[number],
            "central_id": found.central_ids[number],
            "cohesion": found.cohesion[number],
        }
        for number in range(len(found))
    ]


def print_clusters(found: Clusters) -> None:
    """Print a line for each group."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("#", justify="right")
    table.add_column("documents", justify="right")
    table.add_column("cosine", justify="right", style="dim")
    table.add_column("words")
    table.add_column("central id")
    for number in range(len(found)):
        table.add_row(
            f"{number}",
            f"{found.sizes[number]:,}",
            f"{found.cohesion[number]:.2f}",
            plain(", ".join(found.names[number]), 60),
            plain(found.central_ids[number], 24),
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
