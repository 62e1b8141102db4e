"""``deltavec duplicates``: documents of a collection that say nearly the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.outputs import require_file
from deltavec.cli.printing import console, counted, plain, print_json
from deltavec.cli.progress import stages

if TYPE_CHECKING:
    from deltavec.collection import Collection
    from deltavec.search import Duplicates

EXAMPLES = (
    "deltavec duplicates reviews.idx --threshold 0.99",
    "deltavec duplicates reviews.idx -o pairs.parquet",
)
MEMBERS = 5  # of a group that are shown


def duplicates(
    collection: options.Collection,
    threshold: Annotated[
        float,
        options.option("COSINE", "How alike, above 0 up to 1.", "--threshold", "-t", default=True),
    ] = 0.95,
    output: Annotated[
        Path | None,
        options.output("PAIRS.parquet", "Write all pairs to a parquet file, as they are found."),
    ] = None,
    groups: Annotated[int, options.count("How many groups to show, largest first.", least=0)] = 20,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Find documents that say nearly the same.

    All pairs with a cosine of at least the threshold are found. Documents that pairs link make
    a group, and the one most alike to the others stands for it. With --json all groups are listed,
    and all pairs unless they go to a file.
    """
    if not 0 < threshold <= 1:
        raise typer.BadParameter(
            f"expected a cosine above 0, up to 1, got {threshold:g}",
            param_hint="'--threshold' / '-t'",
        )
    if output is not None:
        require_file(output, [".parquet"])
    with stages("opening the collection") as work:
        from deltavec.collection import open_collection

        opened = open_collection(collection, verify=False)
        work.begin("comparing all pairs")
        found = opened.duplicates(threshold, threads=threads, on_progress=work.reach, output=output)
    if as_json:
        print_json({"collection": collection, **as_record(found)})
        return
    print_groups(opened, found, groups)
    if output is not None:
        typer.echo(f"\nsaved {output}")


def as_record(found: Duplicates) -> dict[str, object]:
    """The groups and, unless a file holds them, the pairs, as plain objects."""
    record: dict[str, object] = {
        "threshold": found.threshold,
        "pairs_found": found.count,
        "groups": [
            {"representative": str(one), "ids": group.tolist()}
            for one, group in zip(found.representatives, found.groups, strict=True)
        ],
        "output": found.output,
    }
    if found.output is None:
        a, b, score = (column.tolist() for column in found.pairs)
        record["pairs"] = [
            {"a": one, "b": other, "score": cosine}
            for one, other, cosine in zip(a, b, score, strict=True)
        ]
    return record


def print_groups(collection: Collection, found: Duplicates, most: int) -> None:
    """Print the largest groups, and the beginnings of some of their documents."""
    from rich.text import Text

    from deltavec.cli.results import shortened

    out = console()
    pairs = counted(found.count, "pair")
    out.print(f"{pairs} at or above {found.threshold:g}, in {counted(len(found.groups), 'group')}")
    shown = zip(found.representatives[:most], found.groups[:most], strict=True)
    for representative, group in shown:
        out.print()
        out.print(Text(f"{counted(len(group), 'document')}", "bold"))
        members = [representative, *(one for one in group if one != representative)][:MEMBERS]
        table = collection.documents([str(one) for one in members])
        for id, text in zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True):
            line = Text.assemble("  ", plain(id, 24), "  ", shortened(text, 200))
            line.truncate(max(out.width, 20), overflow="ellipsis")
            out.print(line, soft_wrap=True)
        if len(group) > MEMBERS:
            out.print(f"  and {len(group) - MEMBERS:,} more")
    if len(found.groups) > most:
        out.print(f"\nand {counted(len(found.groups) - most, 'group')} more")
