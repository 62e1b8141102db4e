"""``deltavec duplicates`` and ``similar-pairs``: shared text, and high cosines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deltavec.cli import options, printing
from deltavec.cli.inputs import open_collection, open_corpus, require_file, require_other_file
from deltavec.cli.progress import stages
from deltavec.errors import InputError

if TYPE_CHECKING:
    from rich.text import Text

    from deltavec.collection.collection import Collection
    from deltavec.collection.overlap import Example, Overlap, Report
    from deltavec.io.corpus.corpus import Corpus
    from deltavec.search import Duplicates

MEMBERS = 5  # shown of the largest group
MANY = 0.05  # of the documents
LENGTH = 400  # characters shown of a document


def duplicates(
    collection: Path,
    *,
    threshold: float = 0.5,
    keep: str = "first",
    output: Path | None = None,
    table: Path | None = None,
    write_unique: Path | None = None,
    yes: bool = False,
    corpus: str | None = None,
    against: str | None = None,
    against_id_column: str | None = None,
    matches: int = 5,
    threads: int | None = None,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Find near-duplicates, or overlap with another corpus.

    Two documents are duplicates if at least half of the longer text is in the other one; rare
    words and numbers count more. The report shows what each threshold finds, a clear pair, the
    pair that shares least, and the largest group. A document is removed if a kept document before
    it is a duplicate. With --against, a document also counts if four fifths of it are inside a
    longer one. --json lists all pairs.

    For documents about the same thing in other words, see `deltavec similar-pairs`.

    Parameters
    ----------
    threshold : SHARE, -t
        Least share of the longer text that both have, above 0.
    keep : WHICH
        Which document stays: first or longest.
    output : PAIRS.parquet, -o
        Write all pairs: a, b, shared, contained.
    table : FILE
        Write a row per document: id, group, keep, representative, shared, why (with --against:
        id, match, shared, contained). A .csv, .tsv, .jsonl or .parquet file.
    write_unique : FILE
        Write the deduplicated documents: id, text and kept columns.
    yes
        With --write-unique: write even if more than 5 % would go.
    corpus : CORPUS
        With --write-unique: take rows with all columns from this corpus.
    against : OTHER
        Find overlap with OTHER, a corpus or a collection, instead.
    against_id_column : NAME
        The id column of OTHER.
        Default: row numbers, from 0
    matches : N >= 0
        With --against: how many documents to show, the closest first.

    Examples
    --------
    deltavec duplicates reviews.idx
    deltavec duplicates reviews.idx --threshold 0.7 --table groups.csv
    deltavec duplicates reviews.idx --write-unique clean.parquet --yes
    deltavec duplicates reviews.idx --against reviews.csv --table leaked.csv
    """
    alone, no_file = against is None, write_unique is None
    for option, held, expected in (
        ("threshold", 0 < threshold <= 1, f"expected a share above 0, up to 1, got {threshold:g}"),
        ("keep", keep in ("first", "longest"), f"expected first or longest, got {keep}"),
        ("corpus", not corpus or not no_file, "only with --write-unique"),
        ("against-id-column", not against_id_column or not alone, "only with --against"),
        ("output", alone or not output, "pairs are of one collection; with --against use --table"),
    ):
        printing.require_usage(held, f"'--{option}'", expected)
    require_files(output, table, write_unique, [corpus, against])
    with stages("opening the collection") as work:
        from deltavec.collection.overlap import THRESHOLDS, duplicate_report
        from deltavec.io.output.tables import writing_table

        opened = open_collection(collection, trust)
        about = {"collection": collection, "against": against}
        found: Any = None  # Overlap or Duplicates
        report: Report | None = None
        work.begin("comparing texts")
        if against is not None:
            other = open_other(against)
            found = opened.against(other, threshold, id_column=against_id_column, threads=threads)
        else:
            least = min(threshold, THRESHOLDS[0])
            wide = opened.duplicates(least, keep=keep, threads=threads, on_progress=work.reach)
            report, found = duplicate_report(wide, threshold), wide.at(threshold)
        if output is not None:
            found.write(output)
        if table is not None:
            with writing_table(table, found.table.schema) as write:
                write(found.table)
    share = len(found.removed) / max(1, len(opened))
    if not as_json:
        if report is not None:
            print_report(opened, found, report)
        else:
            print_overlap(opened, found, matches)
        for path in filter(None, (output, table)):
            typer.echo(f"\nsaved {path}")
    left = None
    if write_unique is not None:
        if share > MANY and not yes:
            raise InputError(
                f"{share:.1%} of the documents would go, so {write_unique} was not written: look "
                "at the pairs, then raise --threshold, or add --yes"
            )
        left = opened.write_without(found.removed, write_unique, corpus=corpus)
        if not as_json:
            typer.echo(f"\n{left:,} of {len(opened):,} documents are left\n\nsaved {write_unique}")
    elif not as_json and len(found.removed):
        printing.print_next("duplicates", collection, "--write-unique", "unique.parquet", "--yes")
    if as_json:
        files = {"table": table, "unique": write_unique, "documents_left": left, "output": output}
        printing.print_json({**about, **as_record(found, report, listed=output is None), **files})


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


def as_record(
    found: Duplicates | Overlap, report: Report | None, *, listed: bool
) -> dict[str, object]:
    """What was found, as plain objects; without pairs that a file holds."""
    record: dict[str, object] = {
        "threshold": found.threshold,
        "documents_removed": len(found.removed),
    }
    if report is None:
        return record | {"matches": found.table.to_pylist()}
    record |= {
        "pairs_found": len(found),
        "thresholds": [step._asdict() for step in report.steps],
        "documents": found.table.to_pylist(),
    }
    if listed:
        columns = found.pairs._asdict()  # type: ignore[union-attr]
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        record["pairs"] = [dict(zip(columns, row, strict=True)) for row in rows]
    return record


def print_report(collection: Collection, found: Duplicates, report: Report) -> None:
    """Print what the thresholds find, two pairs, and the largest group."""
    from rich.text import Text

    out = printing.console()
    for step in report.steps:
        mark = ">" if step.threshold == found.threshold else " "
        gone = f"{printing.plural(step.removed, 'document')} would go"
        out.print(f"{mark} {step.threshold:<5g} {printing.plural(step.pairs, 'pair')}, {gone}")
    print_pair(collection, "a clear pair", report.clear)
    print_pair(collection, "the pair that shares least", report.border)
    if report.largest:
        size = printing.plural(len(report.largest), "document")
        out.print(Text(f"\nthe largest group, {size}", "bold"))
        print_texts(collection, report.largest[:MEMBERS])
        if len(report.largest) > MEMBERS:
            out.print(f"  and {len(report.largest) - MEMBERS:,} more")
    share = len(found.removed) / max(1, len(collection))
    if share > MANY:
        out.print(
            f"\n[bold]{share:.1%} of the documents would go[/bold]: look at some pairs before you "
            "remove them; for titles and notices use --threshold 0.7"
        )


def print_pair(collection: Collection, what: str, pair: Example | None) -> None:
    """Print two documents, the text that both have in bold."""
    from rich.text import Text

    from deltavec.search.shingles import shared_spans

    if pair is None:
        return
    out = printing.console()
    part = f"shared {pair.shared:.2f}, contained {pair.contained:.2f}"
    out.print(Text.assemble("\n", (what, "bold"), f": {part}"))
    texts = collection.documents([pair.a, pair.b]).column("text").to_pylist()
    for id, text, spans in zip((pair.a, pair.b), texts, shared_spans(*texts), strict=True):
        shown = Text(printing.visible(re.sub(r"\s", " ", text[:LENGTH])))
        for begin, end in spans:
            shown.stylize("bold", begin, end)
        print_text(id, shown)


def print_overlap(collection: Collection, found: Overlap, most: int) -> None:
    """Print how many documents have a match, and some of them, those that share most first."""
    from rich.text import Text

    out = printing.console()
    shared = int((found.table["shared"].to_numpy() >= found.threshold).sum())
    ours = f"{printing.plural(len(found), 'document')} of {len(collection):,}"
    out.print(
        f"{ours} in {found.documents:,} others: {shared:,} share {found.threshold:g} or more, "
        f"{len(found) - shared:,} are part of a longer text"
    )
    for row in found.table.sort_by([("shared", "descending")]).slice(0, most).to_pylist():
        part = f"shared {row['shared']:.2f}, contained {row['contained']:.2f}"
        out.print(Text.assemble("\n", part, ", in ", printing.plain(row["match"], 24)))
        print_texts(collection, [row["id"]])
    if len(found) > most:
        out.print(f"\nand {len(found) - most:,} more")


def print_texts(collection: Collection, ids: list[str]) -> None:
    """Print the beginnings of documents."""
    table = collection.documents(ids)
    for id, text in zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True):
        print_text(id, printing.shortened(text, 200))


def print_text(id: str, text: Text | str) -> None:
    """Print the id and the text of a document in one line."""
    from rich.text import Text

    out = printing.console()
    line = Text.assemble("  ", printing.plain(id, 24), "  ", text)
    line.truncate(max(out.width, 20), overflow="ellipsis")
    out.print(line, soft_wrap=True)


def similar_pairs(
    collection: Path,
    *,
    output: Path,
    threshold: float = 0.95,
    threads: int | None = None,
    trust: bool = False,
) -> None:
    """Write all pairs of documents with a high cosine similarity.

    They need not share any text: to remove copies, use `deltavec duplicates`.

    Parameters
    ----------
    output : PAIRS.parquet, -o
        The pairs: a, b, score.
    threshold : COSINE, -t
        Least cosine similarity, above 0.

    Examples
    --------
    deltavec similar-pairs reviews.idx --threshold 0.98 -o pairs.parquet
    """
    expected = f"expected a cosine above 0, up to 1, got {threshold:g}"
    printing.require_usage(0 < threshold <= 1, "'--threshold' / '-t'", expected)
    require_file(output, [".parquet"])
    with stages("opening the collection") as work:
        from deltavec.search import write_similar_pairs

        opened = open_collection(collection, trust)
        work.begin("comparing all pairs")
        count = write_similar_pairs(
            output,
            opened.index.vectors,
            threshold,
            ids=opened.ids,
            threads=threads,
            on_progress=work.reach,
        )
    typer.echo(f"{printing.plural(count, 'pair')} at or above {threshold:g}\n\nsaved {output}")
    printing.print_next("duplicates", collection)
