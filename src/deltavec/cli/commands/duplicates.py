"""``deltavec duplicates``: documents of a collection that say nearly the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltavec.cli import options
from deltavec.cli.outputs import require_file, require_other_file
from deltavec.cli.printing import print_json
from deltavec.cli.progress import stages

if TYPE_CHECKING:
    import pyarrow as pa

    from deltavec.collection.duplicates.overlap import Overlap
    from deltavec.collection.duplicates.report import Step
    from deltavec.search import Duplicates

EXAMPLES = (
    "deltavec duplicates reviews.idx --threshold 0.99",
    "deltavec duplicates reviews.idx --report",
    "deltavec duplicates reviews.idx --table groups.csv --write-unique clean.parquet",
    "deltavec duplicates reviews.idx --against reviews.csv --table known.csv",
)


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
    table: Annotated[
        Path | None,
        options.option(
            "FILE",
            "Write what becomes of each document (id, group, keep, representative, score; with "
            "--against id, match, score) to a .csv, .tsv, .jsonl or .parquet file.",
        ),
    ] = None,
    write_unique: Annotated[
        Path | None,
        options.option(
            "FILE",
            "Write the documents that are left without duplicates to a .csv, .tsv, .jsonl or "
            ".parquet file: id, text and the columns kept.",
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        options.option(
            "CORPUS",
            "What the collection was built from, for --write-unique: its rows are written with "
            "all their columns.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        options.option(
            "OTHER",
            "Find what is in OTHER too, a corpus or a collection, instead of what is here twice.",
        ),
    ] = None,
    against_id_column: Annotated[
        str | None,
        options.option("NAME", "The column of OTHER that holds ids.", default="rows, from 0 on"),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report", help="Show how many there are at which threshold, with examples, no more."
        ),
    ] = False,
    groups: Annotated[int, options.count("How many groups to show, largest first.", least=0)] = 20,
    threads: options.Threads = None,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Find documents that say nearly the same, here or in another corpus.

    All pairs with a cosine of at least the threshold are found. Documents that pairs link make
    a group, and the one most alike to the others stands for it. Of duplicates the first stays: a
    document goes if one before it that stays is as alike. With --json all groups are listed, and
    all pairs unless they go to a file.
    """
    if not 0 < threshold <= 1:
        raise typer.BadParameter(
            f"expected a cosine above 0, up to 1, got {threshold:g}",
            param_hint="'--threshold' / '-t'",
        )
    require_sense(output, table, write_unique, corpus, against, against_id_column, report)
    with stages("opening the collection") as work:
        from deltavec.collection import open_collection
        from deltavec.collection.duplicates.report import (
            THRESHOLDS,
            duplicate_steps,
            overlap_steps,
        )

        opened = open_collection(collection, verify=False, trust=trust)
        steps: list[Step] = []
        found: Duplicates | Overlap | None = None
        if against is not None:
            other = other_documents(against)
            work.begin("comparing with the others")
            least = THRESHOLDS[0] if report else threshold
            found = opened.against(other, least, id_column=against_id_column, threads=threads)
            steps = overlap_steps(opened, found) if report else []
        else:
            work.begin("comparing all pairs")
            how: Any = {"threads": threads, "on_progress": work.reach}
            if report:
                steps = duplicate_steps(opened, **how)
            else:
                found = opened.duplicates(threshold, output=output, **how)
        if found is not None and table is not None:
            work.begin("writing the table")
            save(found.table, table)
        left = None
        if found is not None and write_unique is not None:
            work.begin("writing what is left")
            left = opened.write_without(found.removed, write_unique, corpus=corpus)
    from deltavec.cli.commands import duplicates_report as shown

    about = {"collection": collection, "against": against}
    if found is None or report:
        shown.print_steps(steps, as_json, about)
        return
    if as_json:
        written = {"table": table, "unique": write_unique, "documents_left": left}
        print_json({**about, **shown.as_record(found, listed=table is None), **written})
        return
    shown.print_found(opened, found, groups)
    if left is not None:
        typer.echo(f"\n{left:,} of {len(opened):,} documents are left")
    for path in (output, table, write_unique):
        if path is not None:
            typer.echo(f"\nsaved {path}")


def require_sense(
    output: Path | None,
    table: Path | None,
    write_unique: Path | None,
    corpus: str | None,
    against: str | None,
    against_id_column: str | None,
    report: bool,
) -> None:
    """Refuse options that do not go together, and files that cannot be written."""
    from deltavec.io.output.tables import WRITERS

    if report and (output or table or write_unique):
        raise typer.BadParameter("writes nothing: leave out the files", param_hint="'--report'")
    if corpus is not None and write_unique is None:
        raise typer.BadParameter("only with --write-unique", param_hint="'--corpus'")
    if against is None and against_id_column is not None:
        raise typer.BadParameter("only with --against", param_hint="'--against-id-column'")
    if against is not None and output is not None:
        raise typer.BadParameter(
            "pairs are of one collection; with --against use --table", param_hint="'--output'"
        )
    if output is not None:
        require_file(output, [".parquet"])
    for path, name in ((table, "'--table'"), (write_unique, "'--write-unique'")):
        if path is not None:
            require_file(path, WRITERS, name)
            for source in (corpus, against):
                if source is not None:
                    require_other_file(path, source)


def other_documents(against: str) -> Any:
    """The other corpus, or the other collection if the path is one's."""
    from deltavec.cli.corpora import open_corpus
    from deltavec.collection import open_collection
    from deltavec.collection.folder import COLLECTION_FOLDER

    if (Path(against) / COLLECTION_FOLDER.description).is_file():
        return open_collection(against, verify=False)
    return open_corpus(against, None, None, None, None)


def save(rows: pa.Table, path: Path) -> None:
    """Write a table to a file."""
    from deltavec.io.output.tables import writing_table

    with writing_table(path, rows.schema) as write:
        write(rows)
