"""``deltavec index``: build a collection, and change it.

A change is atomic: an interrupted command changes nothing. A running ``deltavec serve`` serves the
new version within a second.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from deltavec.cli import inputs, options
from deltavec.cli.printing import collection_facts, plural, print_result, require_usage
from deltavec.cli.progress import stages
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.cli.progress import Stages
    from deltavec.collection.collection import Collection
    from deltavec.io.corpus.corpus import Corpus

VectorType = StrEnum("VectorType", ["float32", "float16"])
StoreFormat = StrEnum("StoreFormat", ["parquet", "pgvector", "qdrant", "lancedb", "opensearch"])


def build(
    sources: list[str],
    *,
    output: Path,
    id_column: str | None = None,
    keep: list[str] | None = None,
    title: str | None = None,
    files: options.CorpusOptions = options.CorpusOptions(),
    collection_model: bool = True,
    stems: bool = True,
    dtype: VectorType = VectorType.float32,
    with_map: bool = False,
    threads: int | None = None,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Build a collection: documents and their vectors, to search.

    Stores texts, ids, chosen columns, vectors and the model. Without a model, one is fitted on the
    documents first. An existing collection is replaced atomically.

    Parameters
    ----------
    sources : [MODEL.dv] CORPUS
        Perhaps a model, which is fitted otherwise, and the documents: a .txt, .csv, .tsv,
        .jsonl, .parquet or .xlsx file, a folder, or a quoted pattern.
    output : REVIEWS.idx, -o
        The folder to write the collection to.
    keep : COLUMNS
        Columns to store, to show and to filter by: rating,city; repeatable.
    title : COLUMN
        Column of titles, which go before the texts and count twice.
    collection_model
        Adapt the model to these documents first, in an extra pass.
    dtype
        How vectors are stored: float16 takes half the room, and rounds.
    with_map : --map/--no-map
        Compute the map now, not at the first `deltavec serve`.

    Examples
    --------
    deltavec index build reviews.csv --keep rating -o reviews.idx
    deltavec index build reviews.dv reviews.csv --id-column id -o named.idx
    """
    require_usage(len(sources) <= 2, "'[MODEL.dv] CORPUS'", "expected a model and one corpus")
    *models, corpus = sources
    with stages("starting") as work:
        from deltavec.collection.build import build_collection
        from deltavec.collection.manifest import COLLECTION_FOLDER

        with inputs.lock_folder(output, COLLECTION_FOLDER):
            if models:
                model = Path(models[0])
                loaded, documents = inputs.open_for_model(model, trust, corpus, files, work)
            else:
                inputs.require_rereadable(corpus)
                loaded, documents = None, inputs.open_corpus(corpus, files)
            built = build_collection(
                loaded,
                documents,
                output,
                id_column=id_column,
                keep=split_names(keep or [], documents),
                title=title,
                threads=threads,
                on_progress=work.report,
                on_stage=work.begin,
                as_collection=collection_model,
                stems=stems,
                dtype=dtype.value,
            )
            if with_map:
                built = built.with_map(threads=threads, on_stage=work.begin, on_progress=work.reach)
    report(built, output, work, as_json)


def report(
    collection: Collection, folder: Path, work: Stages, as_json: bool, **changed: int
) -> None:
    """Print how many documents have changed, and facts about the collection as it is now."""
    info = collection.info()
    facts = {name: plural(count, "document") for name, count in changed.items()}
    then = ("index", "refit", folder) if info["refit_due"] else ("serve", folder, "--open")
    record = {"collection": folder, **changed, **info}
    print_result(as_json, record, facts | collection_facts(info), work, saved=folder, then=then)


def split_names(given: Sequence[str], corpus: Corpus) -> list[str]:
    """The columns that an option names; commas separate several."""
    if not given:
        return []
    columns = corpus.columns
    names = [name for one in given for name in ([one] if one in columns else one.split(","))]
    return [name for name in dict.fromkeys(map(str.strip, names)) if name]


def add(
    collection: Path,
    corpus: str,
    *,
    files: options.CorpusOptions = options.CorpusOptions(),
    update: bool = False,
    purge: bool = False,
    threads: int | None = None,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Add documents to a collection.

    They need the id column and the kept columns of the collection. The model stays the same:
    `deltavec info` shows its coverage of the new text, and whether a new fit is due. An interrupted
    command changes nothing. A running `deltavec serve` sees the change within a second.

    Parameters
    ----------
    update
        Replace documents that have the same id; otherwise an error.

    Examples
    --------
    deltavec index add reviews.idx new.csv
    deltavec index add named.idx reviews.csv --update
    """
    with stages("opening the collection") as work:
        before = inputs.open_collection(collection, trust)
        documents = inputs.open_corpus(corpus, files, expected=before.description.text_column)
        work.begin("embedding")
        after = before.add(
            documents, update=update, purge=purge, threads=threads, on_progress=work.report
        )
    added, updated = (
        len(after) - len(before),
        after.description.removed - before.description.removed,
    )
    report(after, collection, work, as_json, added=added, updated=updated)


def remove(
    collection: Path,
    ids: list[str] | None = None,
    *,
    source: str | None = None,
    filter: str | None = None,
    missing_ok: bool = False,
    purge: bool = False,
    threads: int | None = None,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Remove documents from a collection, by ids or by a filter.

    They are marked as deleted, and their data leaves the disk when files are merged: by later
    changes, by `deltavec index compact`, or at once with --purge. An interrupted command changes
    nothing. A running `deltavec serve` sees the change within a second.

    Parameters
    ----------
    ids : ID
        The ids of documents.
    source : FILE, --from
        A file of ids, one per line; - for standard input.
    filter : CONDITION, -f
        Remove the documents that match, instead of ids.
    missing_ok
        Ignore missing ids; otherwise nothing is removed.

    Examples
    --------
    deltavec index remove named.idx 3 14
    deltavec index remove reviews.idx --filter "rating < 2"
    deltavec index remove named.idx --from gone.txt
    """
    named = [options.decode_text(one) or "" for one in ids or []]
    named += read_ids(source) if source is not None else []
    filter = options.decode_text(filter)
    if bool(named or source is not None) == (filter is not None):
        given = "both" if filter is not None else "neither"
        raise InputError(f"expected ids (ID, --from) or a filter (--filter), got {given}")
    with stages("opening the collection") as work:
        before = inputs.open_collection(collection, trust)
        work.begin("removing")
        after = before.remove(
            None if filter else named, filter=filter, missing_ok=missing_ok, purge=purge,
            threads=threads,
        )  # fmt: skip
    removed = after.description.removed - before.description.removed
    report(after, collection, work, as_json, removed=removed)


def read_ids(source: str) -> list[str]:
    """The ids in a file, one per line; empty lines are skipped, and JSON strings are decoded."""
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        lines = [line for line in data.decode("utf-8-sig").splitlines() if line]
        return [json.loads(one) if one[0] == one[-1] == '"' != one else one for one in lines]
    except json.JSONDecodeError as error:
        raise InputError(f"{source}: expected JSON between quotes, got {error.doc!r:.60}") from None
    except OSError as error:
        raise InputError(f"{source}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise InputError(f"{source}: expected a file of ids in UTF-8, one per line") from None


def compact(collection: Path, *, as_json: bool = False) -> None:
    """Merge all segments into one, without deleted documents.

    Seldom needed: changes merge small segments. Afterwards nothing of removed documents is left on
    disk, and searches are a little faster. An interrupted command changes nothing.

    Examples
    --------
    deltavec index compact reviews.idx
    """
    with stages("opening the collection") as work:
        before = inputs.open_collection(collection)
        work.begin("merging files")
        after = before.compact()
    was, info = before.info(), after.info()
    names = ("segments", "documents_deleted", "document_bytes")
    facts = {name.replace("_", " "): f"{was[name]:,} before, {info[name]:,} now" for name in names}
    record = {"collection": collection, **{f"{name}_before": was[name] for name in names}, **info}
    print_result(as_json, record, facts, work, saved=collection)


def backup(collection: Path, *, output: Path, as_json: bool = False) -> None:
    """Copy a collection at one moment, while others write to it.

    Files are hard links where the file system allows it, which takes no time and no room. A
    collection at the output is replaced atomically.

    Parameters
    ----------
    output : BACKUP.idx, -o
        The folder to write the copy to.

    Examples
    --------
    deltavec index backup reviews.idx -o backup.idx
    """
    with stages("copying") as work:
        from deltavec.collection.manifest import backup as copy
        from deltavec.collection.manifest import load_manifest

        linked = copy(collection, output)
        documents = load_manifest(output).documents
    record = {"collection": collection, "output": output, "documents": documents, "linked": linked}
    facts = {"documents": f"{documents:,}", "files": "hard links" if linked else "copies"}
    print_result(as_json, record, facts, work, saved=output, then=("info", output))


def refit(
    collection: Path, *, threads: int | None = None, trust: bool = False, as_json: bool = False
) -> None:
    """Fit a new model on the documents of a collection.

    For a collection whose documents have changed: `deltavec info` says when it is due. The old
    version is served until the new one is complete. Documents that are added while the model is
    fitted are kept. An interrupted command changes nothing.

    Examples
    --------
    deltavec index refit reviews.idx
    """
    with stages("opening the collection") as work:
        before = inputs.open_collection(collection, trust)
        after = before.refit(threads=threads, on_progress=work.report, on_stage=work.begin)
    report(after, collection, work, as_json)


def export(
    collection: Path,
    target: options.Text,
    *,
    format: StoreFormat = StoreFormat.parquet,
    name: str = "documents",
    encoder: Path | None = None,
    trust: bool = False,
    as_json: bool = False,
) -> None:
    """Export documents to a database that ranks as search does.

    Documents become sparse and dense vectors, whose inner products add up to the score.
    A table of this name that deltavec wrote is replaced. `serve --encoder` encodes queries over
    HTTP, `dv.load_query_encoder` in Python.

    Parameters
    ----------
    target : TARGET
        A folder (parquet, opensearch, lancedb), or the address of a database.
    format
        The kind of store.
    name : NAME
        The name of the table, index or collection there.
    encoder : FOLDER
        Where to write what encodes queries; files have it inside.

    Examples
    --------
    deltavec index export reviews.idx reviews-parquet
    deltavec index export reviews.idx postgresql://localhost/db --format pgvector --encoder r.query
    """
    with stages("opening the collection") as work:
        opened = inputs.open_collection(collection, trust)
        work.begin("exporting")
        made = opened.export(target, format.value, name=name, encoder=encoder)
    record = {"output": target, "format": format.value, "name": name, "documents": made.documents}
    facts = {"documents": f"{made.documents:,}", "terms": f"{made.terms:,}"}
    print_result(as_json, record, facts, work)
