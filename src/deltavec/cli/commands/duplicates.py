"""``deltavec duplicates``: near-duplicates in a collection, or overlap with other documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deltavec.cli import options
from deltavec.cli.failures import require_usage
from deltavec.cli.inputs import open_collection, open_corpus
from deltavec.cli.outputs import require_file, require_other_file
from deltavec.cli.printing import console, plain, plural, print_json, shortened
from deltavec.cli.progress import stages

if TYPE_CHECKING:
    from deltavec.collection import Collection
    from deltavec.collection.overlap import Overlap, Step
    from deltavec.io.corpus.corpus import Corpus
    from deltavec.search import Duplicates

MEMBERS = 5  # shown of each group


def duplicates(
    collection: options.Collection,
    threshold: float = options.option(
        "COSINE", "Least cosine similarity, above 0.", "--threshold", "-t", default=True, value=0.95
    ),
    output: Path | None = options.output(
        "PAIRS.parquet", "Write all pairs to a parquet file, as they are found.", value=None
    ),
    table: Path | None = options.option(
        "FILE",
        "Write a row per document: id, group, keep, representative, score (with --against: id, "
        "match, score). A .csv, .tsv, .jsonl or .parquet file.",
        value=None,
    ),
    write_unique: Path | None = options.option(
        "FILE", "Write the deduplicated documents: id, text and kept columns.", value=None
    ),
    corpus: str | None = options.option(
        "CORPUS", "With --write-unique: take rows with all columns from this corpus.", value=None
    ),
    against: str | None = options.option(
        "OTHER", "Find overlap with OTHER, a corpus or a collection, instead.", value=None
    ),
    against_id_column: str | None = options.option(
        "NAME", "The id column of OTHER.", default="row numbers, from 0", value=None
    ),
    report: bool = typer.Option(
        False, "--report", help="Only show counts and examples at several thresholds."
    ),
    groups: int = options.count("How many groups to show, largest first.", least=0, value=20),
    threads: options.Threads = None,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Find near-duplicates in a collection, or overlap with a corpus.

    Finds all pairs with a cosine similarity of at least the threshold. Documents linked by pairs
    form a group; its representative is the document most similar to the others. Deduplication
    keeps the first: a document is removed if a kept document before it is a duplicate. --json
    lists all groups, and all pairs unless they are written to a file.

    Examples
    --------
    deltavec duplicates reviews.idx --threshold 0.99
    deltavec duplicates reviews.idx --report
    deltavec duplicates reviews.idx --table groups.csv --write-unique clean.parquet
    deltavec duplicates reviews.idx --against reviews.csv --table known.csv
    """
    expected = f"expected a cosine above 0, up to 1, got {threshold:g}"
    require_usage(0 < threshold <= 1, "'--threshold' / '-t'", expected)
    written = [path for path in (output, table, write_unique) if path is not None]
    require_usage(not (report and written), "'--report'", "writes nothing: leave out the files")
    with_unique = corpus is None or write_unique is not None
    require_usage(with_unique, "'--corpus'", "only with --write-unique")
    with_other = against_id_column is None or against is not None
    require_usage(with_other, "'--against-id-column'", "only with --against")
    expected = "pairs are of one collection; with --against use --table"
    require_usage(against is None or output is None, "'--output'", expected)
    require_files(output, table, write_unique, [corpus, against])
    with stages("opening the collection") as work:
        from deltavec.collection.overlap import THRESHOLDS, Overlap, duplicate_steps, overlap_steps
        from deltavec.io.output.tables import writing_table

        opened = open_collection(collection, trust)
        about = {"collection": collection, "against": against}
        how: Any = {"threads": threads, "on_progress": work.reach}
        found: Any = None  # Overlap or Duplicates
        steps: list[Step] = []
        if against is not None:
            other = open_other(against)
            work.begin("comparing with the other documents")
            least = THRESHOLDS[0] if report else threshold
            found = opened.against(other, least, id_column=against_id_column, threads=threads)
            steps = overlap_steps(opened, found) if report else []
        else:
            work.begin("comparing all pairs")
            if report:
                steps = duplicate_steps(opened, **how)
            else:
                found = opened.duplicates(threshold, output=output, **how)
        if table is not None:
            work.begin("writing the table")
            with writing_table(table, found.table.schema) as write:
                write(found.table)
        left = None
        if write_unique is not None:
            work.begin("writing what is left")
            left = opened.write_without(found.removed, write_unique, corpus=corpus)
    if report:
        print_steps(steps, as_json, about)
        return
    if as_json:
        files = {"table": table, "unique": write_unique, "documents_left": left}
        print_json({**about, **as_record(found, listed=table is None), **files})
        return
    if isinstance(found, Overlap):
        print_overlap(opened, found, groups)
    else:
        print_groups(opened, found, groups)
    if left is not None:
        typer.echo(f"\n{left:,} of {len(opened):,} documents are left")
    for path in written:
        typer.echo(f"\nsaved {path}")


def require_files(
    output: Path | None, table: Path | None, unique: Path | None, sources: list[str | None]
) -> None:
    """Raise an error if a file cannot be written, or is one of the sources."""
    from deltavec.io.output.tables import WRITERS

    if output is not None:
        require_file(output, [".parquet"])
    for path, name in ((table, "'--table'"), (unique, "'--write-unique'")):
        if path is not None:
            require_file(path, WRITERS, name)
            for source in filter(None, sources):
                require_other_file(path, source)


def open_other(source: str) -> Collection | Corpus:
    """The other documents: a collection, or a corpus."""
    from deltavec.collection.manifest import COLLECTION_FOLDER

    if (Path(source) / COLLECTION_FOLDER.manifest).is_file():
        return open_collection(Path(source))
    return open_corpus(source, options.CorpusOptions())


def as_record(found: Duplicates | Overlap, *, listed: bool) -> dict[str, object]:
    """Groups and pairs, or matches, as plain objects; without those that a file holds."""
    from deltavec.collection.overlap import Overlap

    if isinstance(found, Overlap):
        about = {"threshold": found.threshold, "others": found.documents, "found": len(found)}
        return about | ({"matches": found.table.to_pylist()} if listed else {})
    record: dict[str, object] = {
        "threshold": found.threshold,
        "pairs_found": found.count,
        "documents_removed": len(found.removed),
        "groups": [
            {"representative": str(one), "ids": group.tolist()}
            for one, group in zip(found.representatives, found.groups, strict=True)
        ],
        "output": found.output,
    }
    if found.output is None:
        rows = zip(*(column.tolist() for column in found.pairs), strict=True)
        record["pairs"] = [dict(zip(("a", "b", "score"), row, strict=True)) for row in rows]
    return record


def print_groups(collection: Collection, found: Duplicates, most: int) -> None:
    """Print the largest groups and the beginnings of some of their documents."""
    from rich.text import Text

    out = console()
    pairs = plural(found.count, "pair")
    out.print(f"{pairs} at or above {found.threshold:g}, in {plural(len(found.groups), 'group')}")
    shown = zip(found.representatives[:most], found.groups[:most], strict=True)
    for representative, group in shown:
        out.print()
        out.print(Text(f"{plural(len(group), 'document')}", "bold"))
        members = [representative, *(one for one in group if one != representative)][:MEMBERS]
        print_texts(collection, [str(one) for one in members])
        if len(group) > MEMBERS:
            out.print(f"  and {len(group) - MEMBERS:,} more")
    if len(found.groups) > most:
        out.print(f"\nand {plural(len(found.groups) - most, 'group')} more")


def print_overlap(collection: Collection, found: Overlap, most: int) -> None:
    """Print how many documents have a match, and some of them, the most similar first."""
    from rich.text import Text

    out = console()
    out.print(
        f"{plural(len(found), 'document')} of {len(collection):,} at or above "
        f"{found.threshold:g} among {plural(found.documents, 'other')}"
    )
    for row in found.table.sort_by([("score", "descending")]).slice(0, most).to_pylist():
        out.print(Text.assemble(f"\n{row['score']:.3f}  like ", plain(row["match"], 24)))
        print_texts(collection, [row["id"]])
    if len(found) > most:
        out.print(f"\nand {len(found) - most:,} more")


def print_texts(collection: Collection, ids: list[str]) -> None:
    """Print the beginnings of documents."""
    table = collection.documents(ids)
    for id, text in zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True):
        print_beginning(id, text)


def print_beginning(id: str, text: str) -> None:
    """Print an id and the beginning of a text in a line."""
    from rich.text import Text

    out = console()
    line = Text.assemble("  ", plain(id, 24), "  ", shortened(text, 200))
    line.truncate(max(out.width, 20), overflow="ellipsis")
    out.print(line, soft_wrap=True)


def print_steps(steps: list[Step], as_json: bool, about: Mapping[str, object]) -> None:
    """Print what each threshold finds, and the least similar pair at it."""
    if as_json:
        rows = [
            {**step._asdict(), "example": step.example and step.example._asdict()} for step in steps
        ]
        print_json({**about, "thresholds": rows})
        return
    out = console()
    what = "matches" if about["against"] is not None else "pairs"
    for step in steps:
        out.print(
            f"[bold]{step.threshold:<6g}[/bold] {step.pairs:,} {what}, "
            f"{plural(step.removed, 'document')} would go"
        )
        if step.example is not None:
            out.print(f"  only just, at {step.example.score:.3f}:")
            print_beginning(step.example.a, step.example.text_a)
            print_beginning(step.example.b, step.example.text_b)
